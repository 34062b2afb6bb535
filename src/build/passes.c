/*
 * passes.c - the order of the passes behind the first one.
 */
#include "build/checkpoint.h"
#include "build/kept.h"

#include <stdio.h>

#define TURNING    (4ull << 20)  /* sums by block, values carried from range to range */
#define AGAIN      3000000000ull /* ns; less work than this, or than twice what keeping took, is done again; */
#define AGAIN_LAST 8u /* so many times that in front of the last step, which takes about a twentieth of the time */

static void free_lists(hdx_pass *p)
{
    hdx_mem       *mem = &p->b->mem;
    const uint64_t bytes = hdx_bits_words(p->b->objects) * 8;
    hdx_packed_free(&p->outbound, mem);
    hdx_mem_put(mem, p->once, bytes);
    hdx_mem_put(mem, p->many, bytes);
    p->once = p->many = NULL;
}

void hdx_pass_free_sums(hdx_pass *p)
{
    hdx_mem_put(&p->b->mem, p->numbers, p->numbers_bytes);
    hdx_mem_put(&p->b->mem, p->sums, p->sums_bytes);
    p->numbers = p->sums = NULL;
}

static void free_passes(hdx_pass *p)
{
    hdx_build     *b = p->b;
    hdx_mem       *mem = &b->mem;
    const uint64_t words = hdx_bits_words(b->objects);
    hdx_spill_close(b, &p->spill);
    hdx_entries_free(p);
    free_lists(p);
    hdx_mem_put(mem, p->holds_locals, words * 8);
    hdx_ints_close(p->class_file);
    hdx_ints_close(p->size_file);
    hdx_tape_file_close(&p->search);
    hdx_mem_put(mem, p->live, words * 8);
    hdx_mem_put(mem, p->is_root, words * 8);
    hdx_mem_put(mem, p->special, words * 8);
    hdx_tape_file_close(&p->referrer_file);
    hdx_mem_put(mem, p->chunks, p->chunk_capacity * sizeof *p->chunks);
    if (!p->tapes_kept) {
        hdx_tape_file_remove(&p->predecessors);
        hdx_tape_file_remove(&p->members);
    }
    hdx_tape_file_close(&p->predecessors);
    hdx_tape_file_close(&p->members);
    hdx_tape_file_close(&p->idoms);
    hdx_pass_free_sums(p);
}

static hdx_code do_addresses(void *context, hdx_error *err)
{
    hdx_build     *b = context;
    hdx_index_file file;
    hdx_code       code = hdx_addresses_write(&b->place, HDX_KIND_ADDRESS, b->ids, &file, err);
    if (code == HDX_OK)
        hdx_manifest_file_written(b, HDX_KIND_ADDRESS, &file);
    return code;
}

static hdx_code do_sizes(void *context, hdx_error *err) { return hdx_classes_size(context, err); }

static hdx_code columns(hdx_pass *p, hdx_error *err)
{
    hdx_build     *b = p->b;
    const hdx_task both[] = { { do_addresses, b, 0 }, { do_sizes, b, 0 } };
    hdx_code       code = hdx_pass_columns(p, p->until >= HDX_STEP_OUTBOUND, err);
    if (code == HDX_OK && (code = hdx_run_tasks(b->threads, both, 2, err)) == HDX_OK)
        code = hdx_build_dump_read(b, err);
    return code;
}

/* A task that an earlier build may have done, or one of these tasks makes of no use. */
static hdx_code once_only(hdx_pass *p, uint64_t task, hdx_code (*run)(hdx_pass *p, hdx_error *err), hdx_error *err)
{
    const hdx_code code = hdx_pass_has(p, task) ? HDX_OK : run(p, err);
    if (code == HDX_OK)
        hdx_pass_did(p, task);
    return code;
}

static hdx_code do_instances(void *context, hdx_error *err)
{
    hdx_pass *p = context;
    return once_only(p, HDX_TASK_INSTANCES, p->width == 64 ? hdx_pass_instances_64 : hdx_pass_instances_32, err);
}

static hdx_code do_outbound(void *context, hdx_error *err)
{
    return once_only(context, HDX_TASK_OUTBOUND, hdx_pass_write_outbound, err);
}

static hdx_code find_referred(hdx_pass *p, hdx_error *err)
{
    hdx_build *b = p->b;
    p->once = hdx_mem_array(&b->mem, hdx_bits_words(b->objects), 8);
    p->many = hdx_mem_array(&b->mem, hdx_bits_words(b->objects), 8);
    return p->once == NULL || p->many == NULL ? hdx_no_memory(err, "who is referred to", b->objects / 4)
                                              : hdx_packed_referred(&p->outbound, &b->tick, p->once, p->many, err);
}

static hdx_code do_referred(void *context, hdx_error *err)
{
    return once_only(context, HDX_TASK_REFERRED, find_referred, err);
}

static hdx_code find_objects(hdx_pass *p, hdx_error *err)
{
    return hdx_pass_objects(p, p->until >= HDX_STEP_OUTBOUND, err);
}

/* What comes from the lists as they were read: the index outbound, too. */
static hdx_code objects(hdx_pass *p, hdx_error *err)
{
    const bool     lists = p->until >= HDX_STEP_OUTBOUND;
    const hdx_task all[] = { { do_instances, p, 0 }, { do_outbound, p, 0 }, { do_referred, p, 0 } };
    hdx_code       code = once_only(p, HDX_TASK_COLUMNS, find_objects, err);
    if (code == HDX_OK && (code = hdx_pass_open_columns(p, err)) == HDX_OK)
        code = hdx_run_tasks(p->b->threads, all, !lists ? 1 : p->until >= HDX_STEP_INBOUND ? 3 : 2, err);
    return code;
}

static hdx_code find_inbound(hdx_pass *p, hdx_error *err)
{
    const bool searches = p->until >= HDX_STEP_DOMINATORS;
    return p->width == 64 ? hdx_pass_inbound_64(p, searches, err) : hdx_pass_inbound_32(p, searches, err);
}

hdx_code hdx_pass_do_inbound(void *context, hdx_error *err)
{
    return once_only(context, HDX_TASK_INBOUND, find_inbound, err);
}

/*
 * The searches are on one thread each, turning the lists round on those that are left: side by side where memory
 * allows.
 */
static hdx_code references(hdx_pass *p, hdx_error *err)
{
    hdx_build *b = p->b;
    const bool searches = p->until >= HDX_STEP_DOMINATORS, wide = p->width == 64;
    /* what all of it takes in one range (inbound_wide.c) */
    const uint64_t words = hdx_bits_words(b->objects), many = hdx_bits_count(p->many, words),
                   single = hdx_bits_count(p->once, words) - many;
    const uint64_t counts = hdx_turn_parts(b, single, many) * many;
    const uint64_t turning =
        (b->objects + counts + p->outbound.edges - single) * (p->width / 8) + words * p->width / 8 + TURNING;
    const bool beside = searches && hdx_build_beside(b, p->width, turning);
    hdx_code   code = HDX_OK;
    p->room = beside ? turning : 0;
    if (searches && !beside)
        code = hdx_forecast_search(b, p->width, b->objects - single + b->root_count + b->class_count, err);
    if (searches && code == HDX_OK)
        code = wide ? hdx_pass_search_64(p, beside, err) : hdx_pass_search_32(p, beside, err);
    if (code == HDX_OK && !beside) {
        const uint64_t room = hdx_build_room(b), more = words * (8 + p->width / 8) + 2 * TURNING +
                                                        room / 16; /* bits, ranks, records being written */
        p->room = room > 2 * more ? room - more : room / 2;
        code = hdx_pass_do_inbound(p, err);
    }
    if (code != HDX_CANCELLED) /* else they are kept */
        free_lists(p);
    return code;
}

static hdx_code do_numbers(void *context, hdx_error *err)
{
    hdx_pass *p = context;
    if (hdx_pass_has(p, HDX_TASK_IDOMS)) /* nobody asks for what leads there */
        return HDX_OK;
    return p->width == 64 ? hdx_pass_numbers_64(p, err) : hdx_pass_numbers_32(p, err);
}

static hdx_code find_predecessors(hdx_pass *p, hdx_error *err)
{
    const hdx_code code = p->width == 64 ? hdx_pass_predecessors_64(p, err) : hdx_pass_predecessors_32(p, err);
    p->predecessors_end = p->predecessors.end;
    return code;
}

static hdx_code find_members(hdx_pass *p, hdx_error *err)
{
    const hdx_code code = p->width == 64 ? hdx_pass_members_64(p, err) : hdx_pass_members_32(p, err);
    p->members_end = p->members.end;
    return code;
}

static hdx_code do_predecessors(void *context, hdx_error *err)
{
    hdx_pass *p = context;
    return hdx_pass_has(p, HDX_TASK_IDOMS) ? HDX_OK : once_only(p, HDX_TASK_PREDECESSORS, find_predecessors, err);
}

static hdx_code do_members(void *context, hdx_error *err)
{
    hdx_pass *p = context;
    return hdx_pass_has(p, HDX_TASK_IDOMS) ? HDX_OK : once_only(p, HDX_TASK_MEMBERS, find_members, err);
}

/* What the next step begins with is made beside semidominators, which are found on one thread, where memory allows. */
static hdx_code do_keep(void *context, hdx_error *err)
{
    hdx_pass  *p = context;
    hdx_build *b = p->b;
    if (hdx_pass_has(p, HDX_TASK_IDOMS))
        return HDX_OK;
    if (!hdx_tape_trim(&p->predecessors) || !hdx_tape_trim(&p->members))
        return hdx_no_memory(err, "predecessors", p->predecessors.end);
    p->size_unit = hdx_pass_size_unit(b);
    /*
     * sizes by class are known; by object, and how many live, they are not: nearly always sums of 4 bytes do, and else
     * they are made again
     */
    p->narrow = b->manifest.dump_size / p->size_unit < UINT32_MAX / 2;
    const uint64_t each = 2ull * (p->width / 8) + (p->narrow ? 4 : 8); /* two numbers for semidominators, a sum */
    if (b->threads > 1 && hdx_build_room(b) / each > p->reached)
        return p->width == 64 ? hdx_pass_begin_sums_64(p, err) : hdx_pass_begin_sums_32(p, err);
    hdx_pass_free_sums(p);
    return HDX_OK;
}

static hdx_code do_dominators(void *context, hdx_error *err)
{
    hdx_pass *p = context;
    return once_only(p, HDX_TASK_IDOMS, p->width == 64 ? hdx_pass_dominators_64 : hdx_pass_dominators_32, err);
}

/* Who has nothing to do while dominators are found. */
static hdx_code do_help(void *context, hdx_error *err)
{
    (void)err;
    hdx_mem_help(&((hdx_pass *)context)->b->mem, true);
    return HDX_OK;
}

static hdx_code do_count(void *context, hdx_error *err) { return hdx_pass_count_live(context, err); }

/* The order of the file was for the searches; the catalog, which the next step begins, has them by object. */
static hdx_code do_roots(void *context, hdx_error *err)
{
    (void)err;
    hdx_build_sort_roots(((hdx_pass *)context)->b);
    return HDX_OK;
}

static hdx_code dominators(hdx_pass *p, hdx_error *err)
{
    enum { NUMBERS, ROOTS, PREDECESSORS, MEMBERS, KEEP, DOMINATORS, COUNT, HELP, TASKS };
    const hdx_task all[TASKS] = {
        [NUMBERS] = { do_numbers, p, 0 },
        [ROOTS] = { do_roots, p, 0 },
        [PREDECESSORS] = { do_predecessors, p, 1u << NUMBERS },
        [MEMBERS] = { do_members, p, 1u << NUMBERS },
        [KEEP] = { do_keep, p, 1u << PREDECESSORS | 1u << MEMBERS },
        [DOMINATORS] = { do_dominators, p, 1u << KEEP },
        [COUNT] = { do_count, p, 1u << KEEP },
        [HELP] = { do_help, p, 1u << KEEP },
    };
    return hdx_run_tasks(p->b->threads, all, TASKS, err);
}

static hdx_code retained(hdx_pass *p, hdx_error *err)
{
    return p->width == 64 ? hdx_pass_retained_64(p, err) : hdx_pass_retained_32(p, err);
}

/* What each step is called, what it counts, and which `until` wants it; by hdx_pass_name. */
static const struct pass {
    const char *name, *unit;
    hdx_code (*run)(hdx_pass *p, hdx_error *err);
    hdx_step          from, to;
    hdx_forecast_pass forecast;
} passes[] = {
    [HDX_PASS_COLUMNS] = { "columns", "bytes", columns, HDX_STEP_OBJECTS, HDX_STEP_DOMINATORS, HDX_FORECAST_COLUMNS },
    [HDX_PASS_OBJECTS] = { "objects", "values", objects, HDX_STEP_OBJECTS, HDX_STEP_DOMINATORS, HDX_FORECAST_OBJECTS },
    [HDX_PASS_REFERENCES] = { "references", "values", references, HDX_STEP_INBOUND, HDX_STEP_DOMINATORS,
                              HDX_FORECAST_REFERENCES },
    [HDX_PASS_DOMINATORS] = { "dominators", "objects", dominators, HDX_STEP_DOMINATORS, HDX_STEP_DOMINATORS,
                              HDX_FORECAST_DOMINATORS },
    [HDX_PASS_RETAINED] = { "retained", "values", retained, HDX_STEP_DOMINATORS, HDX_STEP_DOMINATORS,
                            HDX_FORECAST_RETAINED },
};
#define PASSES (sizeof passes / sizeof *passes)

static bool is_done(uint64_t done, hdx_pass_name pass) { return (done >> pass & 1) != 0; }

/* What the readings of the dump have kept: with a checkpoint nobody goes on from there. */
static void remove_kept(hdx_build *b)
{
    if (b->kept_columns)
        hdx_kept_remove(b, HDX_KEPT_COLUMNS);
    if (b->kept_scan)
        hdx_kept_remove(b, HDX_KEPT_SCAN);
    b->kept_columns = b->kept_scan = false;
}

/* What only earlier steps needed: its memory in the page cache is soon used again. With a checkpoint it goes when the
   next one stands, which does not need it any more. */
static void drop_served(hdx_pass *p, uint64_t done)
{
    if (p->b->checkpointed)
        remove_kept(p->b);
    if (is_done(done, HDX_PASS_OBJECTS))
        hdx_spill_remove(p->b, &p->spill);
    if (is_done(done, HDX_PASS_REFERENCES) && p->lists_kept) {
        hdx_kept_remove(p->b, HDX_KEPT_LISTS);
        p->lists_kept = false;
    }
    if (is_done(done, HDX_PASS_DOMINATORS)) {
        hdx_tape_file_remove(&p->referrer_file);
        p->chunk_count = 0;
    }
}

static uint64_t total_of(const hdx_pass *p, const struct pass *pass)
{
    const hdx_build *b = p->b;
    switch (pass->forecast) {
    case HDX_FORECAST_COLUMNS: return b->manifest.dump_size;
    case HDX_FORECAST_OBJECTS:
        return 6 * b->objects + (p->until >= HDX_STEP_OUTBOUND ? b->objects + p->spill.edges : 0);
    case HDX_FORECAST_REFERENCES:
        return b->objects + b->manifest.outbound_values + (p->until >= HDX_STEP_DOMINATORS ? 2 * b->objects : 0);
    case HDX_FORECAST_DOMINATORS: return p->reached;
    default: return b->objects;
    }
}

/*
 * Keeps what is done, but for what is soon done again: keeping the dominators, say, takes a third of the time of the
 * step behind them.
 */
static hdx_code save(hdx_pass *p, uint64_t done, hdx_error *err)
{
    hdx_build     *b = p->b;
    const uint64_t begun = hdx_now_ns(), worked = begun - b->saved_at,
                   again = is_done(done, HDX_PASS_DOMINATORS) ? AGAIN_LAST * AGAIN : AGAIN;
    if (!b->every_step && (worked < again || worked < 2 * b->saving_ns)) {
        if (!b->checkpointed)
            drop_served(p, done);
        return HDX_OK;
    }
    hdx_code code = hdx_checkpoint_save(p, done, 0, err);
    p->saved = done;
    p->saved_tasks = 0;
    b->saved_at = hdx_now_ns();
    b->saving_ns = b->saved_at - begun;
    if (code == HDX_OK)
        drop_served(p, done);
    return code;
}

/* As it was before the step at hand, with what its whole tasks have made. */
static hdx_manifest manifest_of(const hdx_pass *p, uint64_t tasks)
{
    const hdx_manifest *now = &p->b->manifest;
    hdx_manifest        m = p->begun;
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
 * What whole tasks hold in memory goes to files. Those that are worth something without are left; what cannot be kept
 * is done again.
 */
static uint64_t keep_tasks(hdx_pass *p, uint64_t done)
{
    uint64_t   tasks = atomic_load(&p->tasks);
    const bool objects = is_done(done, HDX_PASS_OBJECTS),
               lists = objects ? !is_done(done, HDX_PASS_REFERENCES) : (tasks & HDX_TASK_COLUMNS) != 0;
    if (lists && p->outbound.nodes > 0 && !p->lists_kept &&
        hdx_checkpoint_keep_lists(p, objects || (tasks & HDX_TASK_REFERRED) != 0, NULL) != HDX_OK && !objects)
        tasks = 0;
    const bool served = (tasks & HDX_TASK_IDOMS) != 0; /* else one that is shorter by now was cut while it was read */
    if ((tasks & HDX_TASK_PREDECESSORS) != 0 &&
        (served || p->predecessors.end != p->predecessors_end || hdx_tape_keep(&p->predecessors, NULL) != HDX_OK))
        tasks &= ~(uint64_t)HDX_TASK_PREDECESSORS;
    if ((tasks & HDX_TASK_MEMBERS) != 0 &&
        (served || p->members.end != p->members_end || hdx_tape_keep(&p->members, NULL) != HDX_OK))
        tasks &= ~(uint64_t)HDX_TASK_MEMBERS;
    p->tapes_kept = (tasks & (HDX_TASK_PREDECESSORS | HDX_TASK_MEMBERS)) != 0;
    return tasks;
}

/* Told to stop inside a step: what was done before it and is not kept yet, and its tasks that are whole. */
static void save_begun(hdx_pass *p, uint64_t done)
{
    hdx_build *b = p->b;
    if (done == 0 || !hdx_kept_is_worth(b, HDX_CANCELLED))
        return;
    const bool     had_lists = p->lists_kept;
    const uint64_t tasks = keep_tasks(p, done);
    if (done == p->saved && tasks == p->saved_tasks && p->lists_kept == had_lists)
        return;
    const hdx_manifest now = b->manifest;
    b->manifest = manifest_of(p, tasks);
    (void)hdx_checkpoint_save(p, done, tasks, NULL);
    b->manifest = now;
}

/* Behind the steps done. */
static hdx_code run(hdx_pass *p, uint64_t done, hdx_error *err)
{
    hdx_build *b = p->b;
    hdx_code   code = HDX_OK;
    p->saved = done;
    p->saved_tasks = atomic_load(&p->tasks);
    hdx_mem_want(&b->mem, 0); /* all threads have work */
    for (unsigned i = 0; i < PASSES && code == HDX_OK; i++) {
        const struct pass *pass = &passes[i];
        if (p->until < pass->from || p->until > pass->to || is_done(done, (hdx_pass_name)i))
            continue;
        /*
         * what follows from objects alone is known at first; references are counted by the second pass, and then asked
         * again
         */
        if ((pass->forecast <= HDX_FORECAST_OBJECTS || b->resumed != NULL) &&
            (code = hdx_forecast_check(b, p->spill.edges, pass->forecast, p->until, p->width, err)) != HDX_OK)
            break;
        p->begun = b->manifest;
        hdx_manifest_step_begin(b, pass->name, total_of(p, pass), pass->unit);
        if ((code = pass->run(p, err)) != HDX_OK) {
            if (code == HDX_CANCELLED)
                save_begun(p, done);
            break;
        }
        hdx_manifest_step_end(b);
        done |= 1ull << i;
        atomic_store(&p->tasks, 0);
        if (i != HDX_PASS_RETAINED) /* behind the last one the index is whole in a moment */
            code = save(p, done, err);
    }
    if (code == HDX_OK) {
        b->manifest.step = (uint32_t)p->until;
        hdx_spill_remove(b, &p->spill);
        hdx_tape_file_remove(&p->search);
        hdx_tape_file_remove(&p->referrer_file);
        hdx_tape_file_remove(&p->idoms);
        remove_kept(b);
    }
    return code;
}

hdx_code hdx_passes(hdx_build *b, unsigned width, hdx_error *err)
{
    hdx_pass p = { .b = b, .width = width, .until = b->options->until == 0 ? HDX_STEP_DOMINATORS : b->options->until };
    hdx_code code = run(&p, 0, err);
    free_passes(&p);
    return code;
}

hdx_code hdx_passes_resume(hdx_build *b, hdx_error *err)
{
    hdx_pass p = { .b = b };
    uint64_t done = 0;
    char     line[200];
    hdx_code code = hdx_checkpoint_load(&p, &done, err);
    if (code == HDX_OK && is_done(done, HDX_PASS_OBJECTS))
        code = hdx_pass_open_columns(&p, err);
    if (code == HDX_OK && p.lists_kept && !is_done(done, HDX_PASS_REFERENCES))
        code = hdx_checkpoint_take_lists(&p, err);
    else if (code == HDX_OK && is_done(done, HDX_PASS_OBJECTS) && !is_done(done, HDX_PASS_REFERENCES) &&
             p.until >= HDX_STEP_INBOUND)
        code = hdx_pass_read_outbound(&p, err);
    if (code == HDX_OK && p.outbound.nodes > 0 && p.once == NULL && is_done(done, HDX_PASS_OBJECTS))
        code = find_referred(&p, err);
    if (code == HDX_OK && is_done(done, HDX_PASS_DOMINATORS))
        code = hdx_pass_count_live(&p, err);
    if (code == HDX_OK && b->options->notice != NULL) {
        const char *last = passes[63 - __builtin_clzll(done | 1)].name;
        (void)snprintf(line, sizeof line, "an earlier build got as far as the step %s: going on behind it", last);
        b->options->notice(b->options->notice_context, line);
    }
    if (code == HDX_OK)
        code = run(&p, done, err);
    free_passes(&p);
    return code;
}
