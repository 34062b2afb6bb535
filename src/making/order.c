/*
 * order.c - the order of the steps after the first pass. Steps are started, measured, saved and resumed here, for an
 * index and for a view.
 */
#include "making/steps.h"

#include <stdlib.h>
#include <stdio.h>

#define AGAIN      3000000000ull /* ns: shorter work, or below twice its saving, is not saved; */
#define AGAIN_LAST 8u            /* times as much before the last step, which takes about a twentieth of the time */

/* For each step: its name, its unit, and for which `until` it runs; by hdx_pass_name. */
static const struct pass {
    const char *name, *unit;
    hdx_code (*run)(hdx_pass *p, hdx_error *err);
    hdx_step          from, to;
    hdx_forecast_pass forecast;
} passes[] = {
    [HDX_PASS_COLUMNS] = { "columns", "bytes", hdx_step_columns, HDX_STEP_OBJECTS, HDX_STEP_DOMINATORS,
                           HDX_FORECAST_COLUMNS },
    [HDX_PASS_OBJECTS] = { "objects", "values", hdx_step_objects, HDX_STEP_OBJECTS, HDX_STEP_DOMINATORS,
                           HDX_FORECAST_OBJECTS },
    [HDX_PASS_REFERENCES] = { "references", "values", hdx_step_references, HDX_STEP_INBOUND, HDX_STEP_DOMINATORS,
                              HDX_FORECAST_REFERENCES },
    [HDX_PASS_DOMINATORS] = { "dominators", "objects", hdx_step_dominators, HDX_STEP_DOMINATORS, HDX_STEP_DOMINATORS,
                              HDX_FORECAST_DOMINATORS },
    [HDX_PASS_RETAINED] = { "retained", "values", hdx_step_retained, HDX_STEP_DOMINATORS, HDX_STEP_DOMINATORS,
                            HDX_FORECAST_RETAINED },
};
#define PASSES (sizeof passes / sizeof *passes)

static bool is_done(uint64_t done, hdx_pass_name pass) { return (done >> pass & 1) != 0; }

/* Removes what the readings of the dump have saved: a checkpoint replaces it. */
static void remove_saved(hdx_build *b)
{
    if (b->saving.has_columns)
        hdx_resume_remove(&b->work, HDX_RESUME_COLUMNS);
    if (b->saving.has_scan)
        hdx_resume_remove(&b->work, HDX_RESUME_SCAN);
    b->saving.has_columns = b->saving.has_scan = false;
}

/*
 * Removes what only earlier steps needed: its memory in the page cache is soon needed again. If it belongs to a
 * checkpoint, it is removed once the next one, which does not need it any more, is complete.
 */
static void remove_unneeded(hdx_pass *p, uint64_t done)
{
    if (p->b->saving.checkpointed)
        remove_saved(p->b);
    if (is_done(done, HDX_PASS_OBJECTS))
        hdx_spill_remove(&p->b->work, &p->columns.spill);
    if (is_done(done, HDX_PASS_REFERENCES) && p->progress.lists) {
        hdx_resume_remove(&p->b->work, HDX_RESUME_LISTS);
        p->progress.lists = false;
    }
    if (is_done(done, HDX_PASS_DOMINATORS)) {
        hdx_temp_remove(&p->inbound.referrers.file);
        p->inbound.referrers.count = 0;
    }
}

static uint64_t total_of(const hdx_pass *p, const struct pass *pass)
{
    const hdx_build *b = p->b;
    switch (pass->forecast) {
    case HDX_FORECAST_COLUMNS: return b->manifest.dump_size;
    case HDX_FORECAST_OBJECTS:
        return 6 * b->tables.objects + (p->until >= HDX_STEP_OUTBOUND ? b->tables.objects + p->columns.spill.edges : 0);
    case HDX_FORECAST_REFERENCES:
        return b->tables.objects + b->manifest.outbound_values +
               (p->until >= HDX_STEP_DOMINATORS ? 2 * b->tables.objects : 0);
    case HDX_FORECAST_DOMINATORS: return p->search.reached;
    default: return b->tables.objects;
    }
}

/*
 * Saves completed work unless repeating it is faster: saving the dominators, for example, takes a third of the time of
 * the next step.
 */
static hdx_code save(hdx_pass *p, uint64_t done, hdx_error *err)
{
    hdx_build     *b = p->b;
    const uint64_t begun = hdx_now_ns(), worked = begun - b->saving.saved_at,
                   again = is_done(done, HDX_PASS_DOMINATORS) ? AGAIN_LAST * AGAIN : AGAIN;
    if (!b->saving.every_step && (worked < again || worked < 2 * b->saving.saving_ns)) {
        if (!b->saving.checkpointed)
            remove_unneeded(p, done);
        return HDX_OK;
    }
    hdx_code code = b->index != NULL ? hdx_view_checkpoint_save(p, done, err) : hdx_checkpoint_save(p, done, 0, err);
    assert(p->wide != NULL && p->wide->width == p->width); /* M5 */
    p->progress.saved = done;
    p->progress.saved_tasks = 0;
    b->saving.saved_at = hdx_now_ns();
    b->saving.saving_ns = b->saving.saved_at - begun;
    if (code == HDX_OK)
        remove_unneeded(p, done);
    return code;
}

/* The manifest as before the current step, plus the results of its completed tasks. */
static hdx_manifest manifest_of(const hdx_pass *p, uint64_t tasks)
{
    const hdx_manifest *now = &p->b->manifest;
    hdx_manifest        m = p->progress.begun;
    for (unsigned kind = 0; kind < HDX_KINDS; kind++)
        if (hdx_checkpoint_makes(tasks, (hdx_kind)kind))
            m.files[kind] = now->files[kind];
    if ((tasks & HDX_TASK_COLUMNS) != 0)
        m.outbound_values = now->outbound_values;
    if ((tasks & HDX_TASK_SEARCH) != 0)
        m.references = now->references;
    if ((tasks & HDX_TASK_NEAREST) != 0)
        m.specials = now->specials;
    if ((tasks & HDX_TASK_TREE) != 0)
        m.dominators = now->dominators;
    return m;
}

/*
 * Writes to files what completed tasks have in memory. Tasks that are useful without are left as they are; tasks that
 * cannot be saved are repeated.
 */
static uint64_t save_tasks(hdx_pass *p, uint64_t done)
{
    uint64_t   tasks = atomic_load(&p->progress.tasks);
    const bool objects = is_done(done, HDX_PASS_OBJECTS),
               lists = objects ? !is_done(done, HDX_PASS_REFERENCES) : (tasks & HDX_TASK_COLUMNS) != 0;
    if (lists && p->objects.outbound.nodes > 0 && !p->progress.lists &&
        hdx_checkpoint_keep_lists(p, objects || (tasks & HDX_TASK_REFERENCED) != 0, NULL) != HDX_OK && !objects)
        tasks = 0;
    const bool served = (tasks & HDX_TASK_IDOMS) != 0; /* otherwise a shorter file was cut while it was read */
    if ((tasks & HDX_TASK_PREDECESSORS) != 0 && (served || p->predecessors.file.end != p->predecessors.end ||
                                                 hdx_temp_keep(&p->predecessors.file, NULL) != HDX_OK))
        tasks &= ~(uint64_t)HDX_TASK_PREDECESSORS;
    if ((tasks & HDX_TASK_CLASS_INSTANCES) != 0 &&
        (served || p->instances.file.end != p->instances.end || hdx_temp_keep(&p->instances.file, NULL) != HDX_OK))
        tasks &= ~(uint64_t)HDX_TASK_CLASS_INSTANCES;
    p->progress.predecessor_files = (tasks & (HDX_TASK_PREDECESSORS | HDX_TASK_CLASS_INSTANCES)) != 0;
    return tasks;
}

/* After a cancellation inside of a step: saves earlier steps that are not saved yet, and completed tasks. */
static void save_begun(hdx_pass *p, uint64_t done)
{
    hdx_build *b = p->b;
    if (done == 0 || !hdx_resume_is_worth(&b->work, &b->saving, HDX_CANCELLED))
        return;
    if (b->index != NULL) { /* a view saves complete steps only; the first one is reading the index */
        if (done != p->progress.saved && is_done(done, HDX_PASS_REFERENCES))
            (void)hdx_view_checkpoint_save(p, done, NULL);
        return;
    }
    const bool     had_lists = p->progress.lists;
    const uint64_t tasks = save_tasks(p, done);
    if (done == p->progress.saved && tasks == p->progress.saved_tasks && p->progress.lists == had_lists)
        return;
    hdx_manifest *now = malloc(sizeof *now); /* not on a small stack; without it the build resumes earlier */
    if (now == NULL)
        return;
    *now = b->manifest;
    b->manifest = manifest_of(p, tasks);
    (void)hdx_checkpoint_save(p, done, tasks, NULL);
    b->manifest = *now;
    free(now);
}

/* Runs the steps after those that are done. */
static hdx_code run(hdx_pass *p, uint64_t done, hdx_error *err)
{
    hdx_build *b = p->b;
    hdx_code   code = HDX_OK;
    p->progress.saved = done;
    p->progress.saved_tasks = atomic_load(&p->progress.tasks);
    hdx_mem_want(&b->work.mem, 0); /* all threads have work */
    for (unsigned i = 0; i < PASSES && code == HDX_OK; i++) {
        const struct pass *pass = &passes[i];
        if (p->until < pass->from || p->until > pass->to || is_done(done, (hdx_pass_name)i))
            continue;
        /*
         * Passes that depend on objects only are checked first; references are counted by the second pass, and the
         * others are checked again then.
         */
        if ((pass->forecast <= HDX_FORECAST_OBJECTS || b->resumed != NULL || b->index != NULL) &&
            (code = hdx_forecast_check(&b->work, &b->tables, p->columns.spill.edges, pass->forecast, p->until, p->width,
                                       err)) != HDX_OK)
            break;
        assert(done >> i == 0 && (atomic_load(&p->progress.tasks) & ~hdx_checkpoint_tasks(done)) == 0); /* M1 */
        p->progress.begun = b->manifest;
        hdx_manifest_step_begin(b, pass->name, total_of(p, pass), pass->unit);
        if ((code = pass->run(p, err)) != HDX_OK) {
            if (code == HDX_CANCELLED)
                save_begun(p, done);
            break;
        }
        hdx_manifest_step_end(b);
        done |= 1ull << i;
        atomic_store(&p->progress.tasks, 0);
        if (i != HDX_PASS_RETAINED) /* after the last one the index is almost complete */
            code = save(p, done, err);
    }
    if (code == HDX_OK) {
        b->manifest.step = (uint32_t)p->until;
        hdx_spill_remove(&b->work, &p->columns.spill);
        hdx_temp_remove(&p->search.file);
        hdx_temp_remove(&p->inbound.referrers.file);
        hdx_temp_remove(&p->idoms);
        remove_saved(b);
    }
    return code;
}

/* Not on the stack: workers need more than some callers have. NULL: no memory. */
static hdx_pass *new_pass(hdx_build *b, hdx_error *err)
{
    hdx_pass *p = malloc(sizeof *p);
    if (p == NULL)
        (void)hdx_no_memory(err, "the steps of a build", sizeof *p);
    else
        *p = (hdx_pass){ .b = b };
    return p;
}

static void free_pass(hdx_pass *p)
{
    hdx_step_free_all(p);
    free(p);
}

hdx_code hdx_passes(hdx_build *b, unsigned width, hdx_error *err)
{
    hdx_pass *p = new_pass(b, err);
    if (p == NULL)
        return HDX_LIMIT;
    p->width = width;
    p->wide = hdx_wide_of(width);
    p->until = b->work.options->until == 0 ? HDX_STEP_DOMINATORS : b->work.options->until;
    const hdx_code code = run(p, 0, err);
    free_pass(p);
    return code;
}

static hdx_code read_outbound(hdx_pass *p, const hdx_cuts *cuts, hdx_error *err)
{
    void    *file;
    hdx_code code = hdx_build_file_open(p->b, HDX_KIND_OUTBOUND, &p->note, &file, err);
    if (code != HDX_OK)
        return code;
    code = hdx_pass_read_outbound(&p->b->work, &p->b->tables, &p->files, file, cuts, &p->objects.outbound, err);
    hdx_one_to_n_close(file);
    return code;
}

/* Restores in memory what the completed steps had there. */
static hdx_code restore(hdx_pass *p, uint64_t done, hdx_error *err)
{
    const bool objects = is_done(done, HDX_PASS_OBJECTS), references = is_done(done, HDX_PASS_REFERENCES);
    hdx_code   code = objects ? hdx_step_open_columns(p, err) : HDX_OK;
    p->search.references = p->b->manifest.references;
    p->search.specials = p->b->manifest.specials;
    p->search.gc_roots = p->b->manifest.gc_roots;
    if (code == HDX_OK && p->progress.lists && !references)
        code = hdx_checkpoint_take_lists(p, err);
    else if (code == HDX_OK && objects && !references && p->until >= HDX_STEP_INBOUND)
        code = read_outbound(p, &(hdx_cuts){ 0 }, err);
    if (code == HDX_OK && p->objects.outbound.nodes > 0 && p->referenced.once == NULL && objects)
        code = hdx_step_find_referenced(p, err);
    if (code == HDX_OK && is_done(done, HDX_PASS_DOMINATORS))
        code = hdx_step_count_live(p, err);
    return code;
}

hdx_code hdx_passes_resume(hdx_build *b, hdx_error *err)
{
    hdx_pass                *p = new_pass(b, err);
    const hdx_index_options *options = b->work.options;
    uint64_t                 done = 0;
    char                     line[200];
    hdx_code                 code = p != NULL ? hdx_checkpoint_load(p, &done, err) : HDX_LIMIT;
    if (p == NULL)
        return code;
    p->wide = hdx_wide_of(p->width);
    if (code == HDX_OK)
        code = restore(p, done, err);
    if (code == HDX_OK && options->notice != NULL) {
        const char *last = passes[63 - __builtin_clzll(done | 1)].name;
        (void)snprintf(line, sizeof line, "resuming an earlier build after its step %s", last);
        options->notice(options->notice_context, line);
    }
    if (code == HDX_OK)
        code = run(p, done, err);
    free_pass(p);
    return code;
}

/* ---- a view ---- */
static hdx_code write_cuts(hdx_pass *p, hdx_pair *cuts, uint64_t count, hdx_error *err)
{
    hdx_manifest  *m = &p->b->manifest;
    hdx_index_file files[HDX_CUT_KINDS];
    if (count == 0)
        return HDX_OK;
    const hdx_code code = hdx_pass_write_cuts(&p->b->work, cuts, count, files, &m->cut_from, &m->cut_to, err);
    m->cut_references = count;
    for (unsigned i = 0; i < HDX_CUT_KINDS && code == HDX_OK; i++)
        hdx_manifest_file_written(p->b, (hdx_kind)(HDX_KIND_CUT_FROM + i), &files[i]);
    return code;
}

static hdx_code read_without_cuts(hdx_pass *p, hdx_error *err)
{
    hdx_cuts cuts = { .count = p->b->manifest.cut_references };
    void    *from = NULL, *of = NULL;
    hdx_code code = HDX_OK;
    if (cuts.count > 0 && (code = hdx_build_file_open(p->b, HDX_KIND_CUT_FROM, &p->note, &from, err)) == HDX_OK)
        code = hdx_build_file_open(p->b, HDX_KIND_CUT, &p->note, &of, err);
    cuts.from = from;
    cuts.of = of;
    if (code == HDX_OK && (code = read_outbound(p, &cuts, err)) == HDX_NOT_FOUND) /* no build writes this */
        code = hdx_note_check(&p->note, err) != HDX_OK
                   ? HDX_DAMAGED
                   : hdx_fail(err, HDX_DAMAGED, "outbound", HDX_NOWHERE, "list contents differ from what was written");
    hdx_one_to_n_close(of);
    hdx_ranks_close(from);
    return code;
}

static hdx_code find_listed(hdx_pass *p, hdx_error *err)
{
    void    *inbound;
    hdx_code code = hdx_step_begin_referenced(p, &p->listed, err);
    if (code != HDX_OK || (code = hdx_build_file_open(p->b, HDX_KIND_INBOUND, &p->note, &inbound, err)) != HDX_OK)
        return code;
    hdx_pass_referenced(&p->b->work, inbound, &p->listed);
    hdx_one_to_n_close(inbound);
    return hdx_note_check(&p->note, err);
}

/* Same without the excluded references, which are transposed by now: target, source. */
static hdx_code find_holding(hdx_pass *p, const hdx_pair *cuts, uint64_t count, hdx_error *err)
{
    hdx_referenced *r = &p->referenced;
    const uint64_t  bytes = hdx_bits_words(p->b->tables.objects) * 8;
    void           *inbound = NULL;
    hdx_code        code = hdx_step_begin_referenced(p, r, err);
    if (code != HDX_OK || (code = hdx_build_file_open(p->b, HDX_KIND_INBOUND, &p->note, &inbound, err)) != HDX_OK)
        return code;
    memcpy(r->once, p->listed.once, bytes);
    memcpy(r->many, p->listed.many, bytes);
    for (uint64_t i = 0, end; i < count; i = end) {
        const uint64_t target = cuts[i].first;
        uint64_t       first, length;
        for (end = i; end < count && cuts[end].first == target; end++) {
        }
        hdx_one_to_n_list(inbound, target, &first, &length);
        const uint64_t left = length > end - i ? length - (end - i) : 0, bit = 1ull << target % 64;
        r->once[target / 64] = left > 0 ? r->once[target / 64] : r->once[target / 64] & ~bit;
        r->many[target / 64] = left > 1 ? r->many[target / 64] : r->many[target / 64] & ~bit;
    }
    hdx_one_to_n_close(inbound);
    return hdx_note_check(&p->note, err);
}

/*
 * Provides what the steps before `references` leave in a build of an index. Later steps of a view have saved their own
 * results.
 */
static hdx_code begin_view(hdx_pass *p, uint64_t done, hdx_pair *cuts, uint64_t cut_count, hdx_error *err)
{
    hdx_dump_tables *t = &p->b->tables;
    hdx_code         code = write_cuts(p, cuts, cut_count, err);
    if (code != HDX_OK || (code = hdx_step_open_columns(p, err)) != HDX_OK)
        return code;
    t->class_class = (uint32_t)hdx_ints_get(p->class_file, t->classes[0].id); /* of any class object */
    t->loader_class = (uint32_t)hdx_ints_get(p->class_file, 0);               /* of the boot loader */
    if ((code = hdx_note_check(&p->note, err)) != HDX_OK || is_done(done, HDX_PASS_DOMINATORS))
        return code != HDX_OK ? code : hdx_step_count_live(p, err);
    if (!is_done(done, HDX_PASS_REFERENCES))
        code = read_without_cuts(p, err);
    if (code == HDX_OK && (code = find_listed(p, err)) == HDX_OK)
        code = find_holding(p, cuts, cut_count, err);
    if (is_done(done, HDX_PASS_REFERENCES))
        hdx_step_free_referenced(p, &p->listed);
    return code;
}

static hdx_code clear_folder(const hdx_work *w, hdx_error *err)
{
    int rc = hdx_place_clear(w->io, w->folder);
    if (rc >= 0)
        rc = w->io->mkdir(w->io, w->folder);
    return rc >= 0 ? HDX_OK : hdx_fail(err, HDX_IO, w->folder, HDX_NOWHERE, "cannot delete it: %s", strerror(-rc));
}

/* Continues after the last step that an earlier build of the view completed. *done: the completed steps. */
static hdx_code find_begun(hdx_pass *p, uint64_t *done, hdx_error *err)
{
    hdx_build               *b = p->b;
    const hdx_index_options *options = b->work.options;
    char                     line[200];
    const uint64_t           before = *done;
    hdx_code                 code = hdx_view_checkpoint_take(p, done, err);
    if (code == HDX_NOT_FOUND)
        return clear_folder(&b->work, err);
    if (code == HDX_OK && *done != before && options->notice != NULL) {
        (void)snprintf(line, sizeof line, "resuming an earlier build of the view after its step %s",
                       passes[63 - __builtin_clzll(*done)].name);
        options->notice(options->notice_context, line);
    }
    return code;
}

hdx_code hdx_passes_view(hdx_build *b, unsigned width, hdx_pair *cuts, uint64_t cut_count, hdx_error *err)
{
    const uint64_t edges = b->manifest.outbound_values;
    uint64_t       done = 1u << HDX_PASS_COLUMNS | 1u << HDX_PASS_OBJECTS;
    hdx_pass      *p = new_pass(b, err);
    if (p == NULL)
        return HDX_LIMIT;
    p->width = width;
    p->wide = hdx_wide_of(width);
    p->until = HDX_STEP_DOMINATORS;
    hdx_code   code = find_begun(p, &done, err);
    const bool fresh = !is_done(done, HDX_PASS_REFERENCES);
    p->columns.spill.edges = edges;
    if (code == HDX_OK && fresh &&
        (code = hdx_forecast_check(&b->work, &b->tables, edges, HDX_FORECAST_REFERENCES, p->until, width, err)) ==
            HDX_OK)
        hdx_manifest_step_begin(b, "outbound", 2 * b->tables.objects, "objects");
    if (code == HDX_OK)
        code = begin_view(p, done, cuts, cut_count, err);
    if (code == HDX_OK) {
        if (fresh)
            hdx_manifest_step_end(b);
        code = run(p, done, err);
    }
    free_pass(p);
    return code;
}
