/*
 * passes.c - the order of the passes behind the first one.
 */
#include "build/checkpoint.h"
#include "build/kept.h"

#include <stdio.h>

#define TURNING (4ull << 20) /* sums by block, values carried from range to range */
#define AGAIN 3000000000ull  /* ns; less work than this, or than twice what keeping took, is done again; */
#define AGAIN_LAST 8u        /* so many times that in front of the last step, which takes about a twentieth of the time */

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
    hdx_tape_file_remove(&p->predecessors); /* no checkpoint has them */
    hdx_tape_file_remove(&p->members);
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

static hdx_code do_instances(void *context, hdx_error *err)
{
    hdx_pass *p = context;
    return p->width == 64 ? hdx_pass_instances_64(p, err) : hdx_pass_instances_32(p, err);
}

static hdx_code do_outbound(void *context, hdx_error *err) { return hdx_pass_write_outbound(context, err); }

static hdx_code do_referred(void *context, hdx_error *err)
{
    hdx_pass  *p = context;
    hdx_build *b = p->b;
    p->once = hdx_mem_array(&b->mem, hdx_bits_words(b->objects), 8);
    p->many = hdx_mem_array(&b->mem, hdx_bits_words(b->objects), 8);
    return p->once == NULL || p->many == NULL ? hdx_no_memory(err, "who is referred to", b->objects / 4)
                                              : hdx_packed_referred(&p->outbound, &b->tick, p->once, p->many, err);
}

/* The spill file has served, unless somebody may go on from before this step. The system takes its time with large files. */
static hdx_code do_remove_spill(void *context, hdx_error *err)
{
    hdx_pass *p = context;
    (void)err;
    if (!p->b->checkpointed) {
        p->taken_away = true;
        hdx_spill_remove(p->b, &p->spill);
    }
    return HDX_OK;
}

/* What comes from the lists as they were read: the index outbound, too. */
static hdx_code objects(hdx_pass *p, hdx_error *err)
{
    const bool     lists = p->until >= HDX_STEP_OUTBOUND;
    const hdx_task all[] = { { do_instances, p, 0 }, { do_remove_spill, p, 0 }, { do_outbound, p, 0 }, { do_referred, p, 0 } };
    hdx_code       code = hdx_pass_objects(p, lists, err);
    if (code == HDX_OK && (code = hdx_pass_open_columns(p, err)) == HDX_OK)
        code = hdx_run_tasks(p->b->threads, all, !lists ? 2 : p->until >= HDX_STEP_INBOUND ? 4 : 3, err);
    return code;
}

/* The searches are on one thread each, turning the lists round on those that are left: side by side where memory allows. */
static hdx_code references(hdx_pass *p, hdx_error *err)
{
    hdx_build     *b = p->b;
    const bool     searches = p->until >= HDX_STEP_DOMINATORS, wide = p->width == 64;
    /* what all of it takes in one range (inbound_wide.c) */
    const uint64_t words = hdx_bits_words(b->objects), many = hdx_bits_count(p->many, words), single = hdx_bits_count(p->once, words) - many;
    const uint64_t counts = hdx_turn_parts(b, single, many) * many;
    const uint64_t turning = (b->objects + counts + p->outbound.edges - single) * (p->width / 8) + words * p->width / 8 + TURNING;
    const bool     beside = searches && hdx_build_beside(b, p->width, turning);
    hdx_code       code = HDX_OK;
    p->room = beside ? turning : 0;
    if (searches && !beside)
        code = hdx_forecast_search(b, p->width, b->objects - single + b->root_count + b->class_count, err);
    if (searches && code == HDX_OK)
        code = wide ? hdx_pass_search_64(p, beside, err) : hdx_pass_search_32(p, beside, err);
    if (code == HDX_OK && !beside) {
        const uint64_t room = hdx_build_room(b), more = words * (8 + p->width / 8) + 2 * TURNING + room / 16; /* bits, ranks, records being written */
        p->room = room > 2 * more ? room - more : room / 2;
        code = wide ? hdx_pass_inbound_64(p, searches, err) : hdx_pass_inbound_32(p, searches, err);
    }
    free_lists(p);
    return code;
}

static hdx_code do_numbers(void *context, hdx_error *err)
{
    hdx_pass *p = context;
    return p->width == 64 ? hdx_pass_numbers_64(p, err) : hdx_pass_numbers_32(p, err);
}

static hdx_code do_predecessors(void *context, hdx_error *err)
{
    hdx_pass *p = context;
    return p->width == 64 ? hdx_pass_predecessors_64(p, err) : hdx_pass_predecessors_32(p, err);
}

static hdx_code do_members(void *context, hdx_error *err)
{
    hdx_pass *p = context;
    return p->width == 64 ? hdx_pass_members_64(p, err) : hdx_pass_members_32(p, err);
}

/* What the next step begins with is made beside semidominators, which are found on one thread, where memory allows. */
static hdx_code do_keep(void *context, hdx_error *err)
{
    hdx_pass  *p = context;
    hdx_build *b = p->b;
    if (!hdx_tape_trim(&p->predecessors) || !hdx_tape_trim(&p->members))
        return hdx_no_memory(err, "predecessors", p->predecessors.end);
    p->size_unit = hdx_pass_size_unit(b);
    /* sizes by class are known; by object, and how many live, they are not: nearly always sums of 4 bytes do, and else they are made again */
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
    return p->width == 64 ? hdx_pass_dominators_64(p, err) : hdx_pass_dominators_32(p, err);
}

/* Unless somebody may go on from before this step. */
static hdx_code do_remove_referrers(void *context, hdx_error *err)
{
    hdx_pass *p = context;
    (void)err;
    if (!p->b->checkpointed) {
        p->taken_away = true;
        hdx_tape_file_remove(&p->referrer_file);
    }
    return HDX_OK;
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
    enum { NUMBERS, ROOTS, PREDECESSORS, MEMBERS, KEEP, DOMINATORS, COUNT, REMOVE, HELP, TASKS };
    const hdx_task all[TASKS] = {
        [NUMBERS] = { do_numbers, p, 0 },
        [ROOTS] = { do_roots, p, 0 },
        [PREDECESSORS] = { do_predecessors, p, 1u << NUMBERS },
        [MEMBERS] = { do_members, p, 1u << NUMBERS },
        [KEEP] = { do_keep, p, 1u << PREDECESSORS | 1u << MEMBERS },
        [DOMINATORS] = { do_dominators, p, 1u << KEEP },
        [COUNT] = { do_count, p, 1u << KEEP },
        [REMOVE] = { do_remove_referrers, p, 1u << KEEP },
        [HELP] = { do_help, p, 1u << KEEP },
    };
    return hdx_run_tasks(p->b->threads, all, TASKS, err);
}

static hdx_code retained(hdx_pass *p, hdx_error *err) { return p->width == 64 ? hdx_pass_retained_64(p, err) : hdx_pass_retained_32(p, err); }

/* What each step is called, what it counts, and which `until` wants it; by hdx_pass_name. */
static const struct pass {
    const char       *name, *unit;
    hdx_code (*run)(hdx_pass *p, hdx_error *err);
    hdx_step          from, to;
    hdx_forecast_pass forecast;
} passes[] = {
    [HDX_PASS_COLUMNS] = { "columns", "bytes", columns, HDX_STEP_OBJECTS, HDX_STEP_DOMINATORS, HDX_FORECAST_COLUMNS },
    [HDX_PASS_OBJECTS] = { "objects", "values", objects, HDX_STEP_OBJECTS, HDX_STEP_DOMINATORS, HDX_FORECAST_OBJECTS },
    [HDX_PASS_REFERENCES] = { "references", "values", references, HDX_STEP_INBOUND, HDX_STEP_DOMINATORS, HDX_FORECAST_REFERENCES },
    [HDX_PASS_DOMINATORS] = { "dominators", "objects", dominators, HDX_STEP_DOMINATORS, HDX_STEP_DOMINATORS, HDX_FORECAST_DOMINATORS },
    [HDX_PASS_RETAINED] = { "retained", "values", retained, HDX_STEP_DOMINATORS, HDX_STEP_DOMINATORS, HDX_FORECAST_RETAINED },
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

/* What only earlier steps needed: its memory in the page cache is soon used again. With a checkpoint it goes when the next one stands, which does not
   need it any more. */
static void drop_served(hdx_pass *p, uint64_t done)
{
    if (p->b->checkpointed)
        remove_kept(p->b);
    if (is_done(done, HDX_PASS_OBJECTS))
        hdx_spill_remove(p->b, &p->spill);
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
    case HDX_FORECAST_OBJECTS: return 6 * b->objects + (p->until >= HDX_STEP_OUTBOUND ? b->objects + p->spill.edges : 0);
    case HDX_FORECAST_REFERENCES: return b->objects + b->manifest.outbound_values + (p->until >= HDX_STEP_DOMINATORS ? 2 * b->objects : 0);
    case HDX_FORECAST_DOMINATORS: return p->reached;
    default: return b->objects;
    }
}

/* Keeps what is done, but for what is soon done again: keeping the dominators, say, takes a third of the time of the step behind them. */
static hdx_code save(hdx_pass *p, uint64_t done, hdx_error *err)
{
    hdx_build     *b = p->b;
    const uint64_t begun = hdx_now_ns(), worked = begun - b->saved_at, again = is_done(done, HDX_PASS_DOMINATORS) ? AGAIN_LAST * AGAIN : AGAIN;
    if (!b->every_step && (worked < again || worked < 2 * b->saving_ns)) {
        if (!b->checkpointed)
            drop_served(p, done);
        return HDX_OK;
    }
    hdx_code code = hdx_checkpoint_save(p, done, err);
    p->saved = done;
    b->saved_at = hdx_now_ns();
    b->saving_ns = b->saved_at - begun;
    if (code == HDX_OK)
        drop_served(p, done);
    return code;
}

/* Told to stop inside a step: what was done before it and is not kept yet. The step may have made files, which are not among those. */
static void save_begun(hdx_pass *p, uint64_t done)
{
    hdx_build *b = p->b;
    if (done == 0 || done == p->saved || p->taken_away || !hdx_kept_is_worth(b, HDX_CANCELLED))
        return;
    const hdx_manifest now = b->manifest;
    b->manifest = p->begun;
    (void)hdx_checkpoint_save(p, done, NULL);
    b->manifest = now;
}

/* Behind the steps done. */
static hdx_code run(hdx_pass *p, uint64_t done, hdx_error *err)
{
    hdx_build *b = p->b;
    hdx_code   code = HDX_OK;
    p->saved = done;
    hdx_mem_want(&b->mem, 0); /* all threads have work */
    for (unsigned i = 0; i < PASSES && code == HDX_OK; i++) {
        const struct pass *pass = &passes[i];
        if (p->until < pass->from || p->until > pass->to || is_done(done, (hdx_pass_name)i))
            continue;
        /* what follows from objects alone is known at first; references are counted by the second pass, and then asked again */
        if ((pass->forecast <= HDX_FORECAST_OBJECTS || b->resumed != NULL) &&
            (code = hdx_forecast_check(b, p->spill.edges, pass->forecast, p->until, p->width, err)) != HDX_OK)
            break;
        p->begun = b->manifest;
        p->taken_away = false;
        hdx_manifest_step_begin(b, pass->name, total_of(p, pass), pass->unit);
        if ((code = pass->run(p, err)) != HDX_OK) {
            if (code == HDX_CANCELLED)
                save_begun(p, done);
            break;
        }
        hdx_manifest_step_end(b);
        done |= 1ull << i;
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
    if (code == HDX_OK && is_done(done, HDX_PASS_OBJECTS) && !is_done(done, HDX_PASS_REFERENCES) && p.until >= HDX_STEP_INBOUND)
        code = hdx_pass_read_outbound(&p, err);
    if (code == HDX_OK && p.outbound.nodes > 0)
        code = do_referred(&p, err);
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
