/*
 * order.c - the order of the passes after the first one. Each pass gets its input as const; its results are stored in
 * hdx_pass, the manifest and the tables here.
 *
 * Steps are started, measured and saved here, and tasks of a step run in parallel.
 */
#include "making/checkpoint.h"

#include <stdlib.h>
#include <stdio.h>

#define TRANSPOSING (4ull << 20)  /* sums by block, values carried from range to range */
#define LINKS_READY (16ull << 20) /* bytes kept ready for semidominators */
#define AGAIN       3000000000ull /* ns: shorter work, or below twice its saving, is not saved; */
#define AGAIN_LAST  8u            /* times as much before the last step, which takes about a twentieth of the time */

/* Bits of a hdx_referenced. */
static void free_referenced(hdx_pass *p, hdx_referenced *r)
{
    const uint64_t bytes = hdx_bits_words(p->b->tables.objects) * 8;
    hdx_mem_put(&p->b->work.mem, r->once, bytes);
    hdx_mem_put(&p->b->work.mem, r->many, bytes);
    r->once = r->many = NULL;
}

static void free_lists(hdx_pass *p)
{
    hdx_packed_free(&p->objects.outbound, &p->b->work.mem);
    free_referenced(p, &p->referenced);
    free_referenced(p, &p->listed);
}

static void free_sums(hdx_pass *p)
{
    hdx_numbered *n = &p->numbered;
    hdx_mem_put(&p->b->work.mem, n->numbers, n->numbers_bytes);
    hdx_mem_put(&p->b->work.mem, n->sums, n->sums_bytes);
    n->numbers = n->sums = NULL;
}

static void free_passes(hdx_pass *p)
{
    hdx_work          *w = &p->b->work;
    hdx_mem           *mem = &w->mem;
    hdx_referrer_file *referrers = &p->inbound.referrers;
    const uint64_t     words = hdx_bits_words(p->b->tables.objects);
    hdx_spill_close(w, &p->columns.spill);
    hdx_entries_free(&p->columns.entries);
    free_lists(p);
    hdx_ints_close(p->class_file);
    hdx_ints_close(p->size_file);
    hdx_temp_close(&p->search.file);
    hdx_mem_put(mem, p->search.live, words * 8);
    hdx_mem_put(mem, p->search.is_root, words * 8);
    hdx_mem_put(mem, p->search.special, words * 8);
    hdx_temp_close(&referrers->file);
    hdx_mem_put(mem, referrers->chunks, referrers->capacity * sizeof *referrers->chunks);
    if (!p->progress.predecessor_files) {
        hdx_temp_remove(&p->predecessors.file);
        hdx_temp_remove(&p->instances.file);
    }
    hdx_temp_close(&p->predecessors.file);
    hdx_temp_close(&p->instances.file);
    hdx_temp_close(&p->idoms);
    free_sums(p);
}

/* Enters the file of a pass, if it wrote one. */
static void note_file(hdx_pass *p, hdx_kind kind, const hdx_index_file *file)
{
    assert(kind < HDX_KINDS); /* M4 */
    if (file->bytes > 0)
        hdx_manifest_file_written(p->b, kind, file);
}

/* ---- columns ---- */
static hdx_code do_addresses(void *context, hdx_error *err)
{
    hdx_build     *b = context;
    hdx_index_file file;
    hdx_code       code = hdx_addresses_write(&b->work.place, HDX_KIND_ADDRESS, b->tables.lookup.ids, &file, err);
    if (code == HDX_OK)
        hdx_manifest_file_written(b, HDX_KIND_ADDRESS, &file);
    return code;
}

static hdx_code do_sizes(void *context, hdx_error *err)
{
    hdx_build *b = context;
    return hdx_classes_size(&b->work, &b->tables, err);
}

static hdx_code columns(hdx_pass *p, hdx_error *err)
{
    hdx_build     *b = p->b;
    const hdx_task both[] = { { do_addresses, b, 0 }, { do_sizes, b, 0 } };
    const bool     went_on = b->saving.has_columns;
    hdx_code       code =
        hdx_pass_columns(&b->work, &b->tables, &b->dump, &b->saving, p->until >= HDX_STEP_OUTBOUND, &p->columns, err);
    if (code != HDX_OK)
        return code;
    if (went_on && p->width == 32 && p->columns.spill.edges >= UINT32_MAX - 2)
        return hdx_resume_refuse(err);
    b->tables.sizing = p->columns.sizing;
    b->manifest.dangling_references = p->columns.dangling;
    code = hdx_run_tasks(b->work.threads, both, 2, err);
    return code == HDX_OK ? hdx_build_dump_read(b, err) : code;
}

/* ---- objects ---- */
/* Runs a task unless an earlier build has done it, or one of these tasks makes it unnecessary. */
static hdx_code once_only(hdx_pass *p, uint64_t task, hdx_code (*run)(hdx_pass *p, hdx_error *err), hdx_error *err)
{
    assert(task != 0 && (task & (task - 1)) == 0); /* M1: one */
    const hdx_code code = hdx_task_whole(&p->progress.tasks, task) ? HDX_OK : run(p, err);
    if (code == HDX_OK)
        hdx_task_done(&p->progress.tasks, task);
    return code;
}

static hdx_code find_instances(hdx_pass *p, hdx_error *err)
{
    hdx_index_file file;
    const hdx_code code = p->wide->instances(&p->b->work, &p->b->tables, &p->files, &file, err);
    if (code == HDX_OK)
        hdx_manifest_file_written(p->b, HDX_KIND_INSTANCES, &file);
    return code;
}

static hdx_code do_instances(void *context, hdx_error *err)
{
    return once_only(context, HDX_TASK_INSTANCES, find_instances, err);
}

static hdx_code write_outbound(hdx_pass *p, hdx_error *err)
{
    hdx_index_file file;
    const hdx_code code = hdx_pass_write_outbound(&p->b->work, &p->objects.outbound, &file, err);
    if (code == HDX_OK)
        hdx_manifest_file_written(p->b, HDX_KIND_OUTBOUND, &file);
    return code;
}

static hdx_code do_outbound(void *context, hdx_error *err)
{
    return once_only(context, HDX_TASK_OUTBOUND, write_outbound, err);
}

static hdx_code begin_referenced(hdx_pass *p, hdx_referenced *r, hdx_error *err)
{
    hdx_mem       *mem = &p->b->work.mem;
    const uint64_t objects = p->b->tables.objects;
    r->once = hdx_mem_array(mem, hdx_bits_words(objects), 8);
    r->many = hdx_mem_array(mem, hdx_bits_words(objects), 8);
    return r->once != NULL && r->many != NULL ? HDX_OK
                                              : hdx_no_memory(err, "the set of referenced objects", objects / 4);
}

static hdx_code find_referenced(hdx_pass *p, hdx_error *err)
{
    hdx_referenced *r = &p->referenced;
    const hdx_code  code = begin_referenced(p, r, err);
    return code != HDX_OK ? code : hdx_packed_referred(&p->objects.outbound, &p->b->work.tick, r->once, r->many, err);
}

static hdx_code do_referenced(void *context, hdx_error *err)
{
    return once_only(context, HDX_TASK_REFERENCED, find_referenced, err);
}

static hdx_code find_objects(hdx_pass *p, hdx_error *err)
{
    static const hdx_kind kinds[HDX_COLUMN_FILES] = { HDX_KIND_POSITION, HDX_KIND_CLASS, HDX_KIND_SIZE, HDX_KIND_HEAP };
    hdx_build            *b = p->b;
    const bool            lists = p->until >= HDX_STEP_OUTBOUND;
    const hdx_code        code = hdx_pass_objects(&b->work, &b->tables, &p->columns, lists, &p->objects, err);
    if (code != HDX_OK)
        return code;
    for (unsigned i = 0; i < HDX_COLUMN_FILES; i++)
        note_file(p, kinds[i], &p->objects.files[i]);
    if (lists)
        b->manifest.outbound_values = p->objects.outbound.edges;
    return HDX_OK;
}

static hdx_code open_columns(hdx_pass *p, hdx_error *err)
{
    void    *file;
    hdx_code code = hdx_build_file_open(p->b, HDX_KIND_CLASS, &p->note, &file, err);
    p->class_file = file;
    if (code != HDX_OK)
        return code;
    code = hdx_build_file_open(p->b, HDX_KIND_SIZE, &p->note, &file, err);
    p->size_file = file;
    p->files = (hdx_column_files){ p->class_file, p->size_file, &p->note };
    return code;
}

/* Makes what follows from the lists as they were read, and the index outbound. */
static hdx_code objects(hdx_pass *p, hdx_error *err)
{
    const bool     lists = p->until >= HDX_STEP_OUTBOUND;
    const hdx_task all[] = { { do_instances, p, 0 }, { do_outbound, p, 0 }, { do_referenced, p, 0 } };
    hdx_code       code = once_only(p, HDX_TASK_COLUMNS, find_objects, err);
    if (code == HDX_OK && (code = open_columns(p, err)) == HDX_OK)
        code = hdx_run_tasks(p->b->work.threads, all, !lists ? 1 : p->until >= HDX_STEP_INBOUND ? 3 : 2, err);
    return code;
}

/* ---- references ---- */
static hdx_code find_inbound(hdx_pass *p, hdx_error *err)
{
    const hdx_inbound_in in = { .outbound = &p->objects.outbound,
                                .referenced = &p->referenced,
                                .is_root = p->until >= HDX_STEP_DOMINATORS ? p->search.is_root : NULL,
                                .room = p->room };
    const hdx_code       code = p->wide->inbound(&p->b->work, &p->b->tables, &in, &p->inbound, err);
    if (code == HDX_OK)
        hdx_manifest_file_written(p->b, HDX_KIND_INBOUND, &p->inbound.file);
    return code;
}

static hdx_code do_inbound(void *context, hdx_error *err)
{
    return once_only(context, HDX_TASK_INBOUND, find_inbound, err);
}

static hdx_code search(hdx_pass *p, bool parallel, hdx_error *err)
{
    hdx_manifest       *m = &p->b->manifest;
    const hdx_task      inbound = { do_inbound, p, 0 };
    const hdx_search_in in = { .outbound = &p->objects.outbound,
                               .referenced = p->b->index != NULL ? &p->listed : &p->referenced,
                               .parallel = parallel ? &inbound : NULL };
    const hdx_code      code = p->wide->search(&p->b->work, &p->b->tables, &in, &p->progress.tasks, &p->search, err);
    m->gc_roots = p->search.gc_roots;
    if (hdx_task_whole(&p->progress.tasks, HDX_TASK_SEARCH))
        m->references = p->search.references;
    if (hdx_task_whole(&p->progress.tasks, HDX_TASK_NEAREST)) {
        m->specials = p->search.specials;
        note_file(p, HDX_KIND_SPECIAL, &p->search.special_file);
        note_file(p, HDX_KIND_NEAREST, &p->search.nearest_file);
    }
    return code;
}

/* Same for a view: lists are not transposed, because the index has that already (find_predecessors). */
static hdx_code search_view(hdx_pass *p, hdx_error *err)
{
    hdx_work      *w = &p->b->work;
    const uint64_t words = hdx_bits_words(p->b->tables.objects),
                   parents = p->b->tables.objects - hdx_bits_count(p->listed.once, words) +
                             hdx_bits_count(p->listed.many, words) + p->b->tables.root_count + p->b->tables.class_count;
    hdx_code code = hdx_forecast_search(w, p->width, parents, err);
    if (code == HDX_OK && (p->search.is_root = hdx_mem_array(&w->mem, words, 8)) == NULL)
        code = hdx_no_memory(err, "GC roots", words * 8);
    if (code == HDX_OK)
        code = search(p, false, err);
    hdx_packed_free(&p->objects.outbound, &w->mem);
    free_referenced(p, &p->listed);
    return code;
}

/* The searches use one thread each, the transposition of the lists all others: in parallel if memory allows. */
static hdx_code references(hdx_pass *p, hdx_error *err)
{
    hdx_work              *w = &p->b->work;
    const hdx_dump_tables *t = &p->b->tables;
    if (p->b->index != NULL)
        return search_view(p, err);
    const bool searches = p->until >= HDX_STEP_DOMINATORS;
    /* memory of the transposition in one range (inbound_wide.c) */
    assert(p->referenced.once != NULL && p->referenced.many != NULL); /* P5 */
    const uint64_t words = hdx_bits_words(t->objects), many = hdx_bits_count(p->referenced.many, words),
                   single = hdx_bits_count(p->referenced.once, words) - many;
    const uint64_t counts = hdx_transpose_parts(w->threads, single, many) * many;
    const uint64_t transposing = (t->objects + counts + p->objects.outbound.edges - single) * (p->width / 8) +
                                 words * p->width / 8 + TRANSPOSING;
    const bool parallel = searches && hdx_forecast_beside(w, p->width, transposing);
    hdx_code   code = HDX_OK;
    p->room = parallel ? transposing : 0;
    if (searches && !parallel)
        code = hdx_forecast_search(w, p->width, t->objects - single + t->root_count + t->class_count, err);
    if (searches && code == HDX_OK && p->search.is_root == NULL &&
        (p->search.is_root = hdx_mem_array(&w->mem, words, 8)) == NULL)
        code = hdx_no_memory(err, "GC roots", words * 8);
    if (searches && code == HDX_OK)
        code = search(p, parallel, err);
    if (code == HDX_OK && !parallel) {
        const uint64_t room = hdx_work_room(w), more = words * (8 + p->width / 8) + 2 * TRANSPOSING +
                                                       room / 16; /* bits, ranks, records being written */
        p->room = room > 2 * more ? room - more : room / 2;
        code = do_inbound(p, err);
    }
    if (code != HDX_CANCELLED) /* otherwise they are saved */
        free_lists(p);
    return code;
}

/* ---- dominators ---- */
/* At most: the records of referrers; the instances of classes whose object is not a root. */
static uint64_t predecessors_bytes(const hdx_pass *p)
{
    const uint64_t entries = p->inbound.referrers.entries;
    return (entries + entries / 2) * (p->width / 8);
}

static uint64_t instances_bytes(const hdx_pass *p)
{
    const hdx_dump_tables *t = &p->b->tables;
    uint64_t               ids = 0;
    for (uint32_t i = 0; i < t->class_count; i++)
        if (!hdx_bits_test(p->search.is_root, t->classes[i].id) && !hdx_add(ids, t->classes[i].instances, &ids))
            ids = t->objects;
    ids = ids < t->objects ? ids : t->objects; /* each belongs to one class, whatever a checkpoint's classes contain */
    return (ids + 3 * (uint64_t)t->class_count) * (p->width / 8);
}

/*
 * In memory if there is room. A resumed build may be stopped again: it uses files, because memory is released while it
 * is read.
 */
static hdx_code open_predecessors(hdx_pass *p, hdx_error *err)
{
    hdx_work      *w = &p->b->work;
    const uint64_t id = p->width / 8, entries = p->inbound.referrers.entries, reached = p->search.reached;
    assert(p->search.is_root != NULL); /* P5 */
    const uint64_t predecessors = predecessors_bytes(p), instances = instances_bytes(p);
    /* At the same time there are lists of one range, then links (predecessors_wide.c, dominators_wide.c). */
    const uint64_t lists = (reached + entries + entries / 3) * id, links = 2 * reached * id;
    const uint64_t others = lists > links ? lists : links;
    const bool     stays = p->b->resumed != NULL;
    hdx_code       code = HDX_OK;
    if (!hdx_task_whole(&p->progress.tasks, HDX_TASK_PREDECESSORS))
        code =
            stays ? hdx_temp_create(w, "predecessors.tmp", &p->predecessors.file, err)
                  : hdx_temp_begin(w, "predecessors.tmp", predecessors, others + instances, &p->predecessors.file, err);
    if (code == HDX_OK && !hdx_task_whole(&p->progress.tasks, HDX_TASK_CLASS_INSTANCES))
        code = stays ? hdx_temp_create(w, "class_instances.tmp", &p->instances.file, err)
                     : hdx_temp_begin(w, "class_instances.tmp", instances, others, &p->instances.file, err);
    return code;
}

static hdx_code do_numbers(void *context, hdx_error *err)
{
    hdx_pass *p = context;
    if (hdx_task_whole(&p->progress.tasks, HDX_TASK_IDOMS)) /* the results of these tasks are no longer needed */
        return HDX_OK;
    const hdx_code code = p->wide->numbers(&p->b->work, &p->search, &p->numbered, err);
    return code == HDX_OK ? open_predecessors(p, err) : code;
}

static hdx_code find_predecessors(hdx_pass *p, hdx_error *err)
{
    const hdx_referrers referrers =
        p->b->index != NULL ? hdx_referrers_listed(&p->referrers) : hdx_referrers_kept(&p->inbound.referrers);
    const hdx_code code =
        p->wide->predecessors(&p->b->work, &p->search, &referrers, &p->numbered, &p->predecessors, err);
    p->predecessors.end = p->predecessors.file.end;
    return code;
}

static hdx_code find_class_instances(hdx_pass *p, hdx_error *err)
{
    hdx_build *b = p->b;
    void      *file = NULL;
    hdx_code   code = hdx_build_file_open(b, HDX_KIND_INSTANCES, &p->note, &file, err);
    if (code != HDX_OK)
        return code;
    const hdx_instances_in in = { &p->search, &p->numbered, file, &p->note };
    code = p->wide->class_instances(&b->work, &b->tables, &in, &p->instances, err);
    p->instances.end = p->instances.file.end;
    hdx_one_to_n_close(file);
    return code;
}

static hdx_code do_predecessors(void *context, hdx_error *err)
{
    hdx_pass *p = context;
    return hdx_task_whole(&p->progress.tasks, HDX_TASK_IDOMS)
               ? HDX_OK
               : once_only(p, HDX_TASK_PREDECESSORS, find_predecessors, err);
}

static hdx_code do_class_instances(void *context, hdx_error *err)
{
    hdx_pass *p = context;
    return hdx_task_whole(&p->progress.tasks, HDX_TASK_IDOMS)
               ? HDX_OK
               : once_only(p, HDX_TASK_CLASS_INSTANCES, find_class_instances, err);
}

/* Prepares the next step while one thread finds semidominators, if memory allows. */
static hdx_code do_prepare(void *context, hdx_error *err)
{
    hdx_pass     *p = context;
    hdx_build    *b = p->b;
    hdx_numbered *n = &p->numbered;
    n->unit = hdx_pass_size_unit(&b->tables);
    if (hdx_task_whole(&p->progress.tasks, HDX_TASK_IDOMS))
        return HDX_OK;
    if (!hdx_temp_trim(&p->predecessors.file) || !hdx_temp_trim(&p->instances.file))
        return hdx_no_memory(err, "predecessors", p->predecessors.file.end);
    /*
     * Sizes are known by class, but not by object, nor how many objects are live. Sums of 4 bytes nearly always
     * suffice; otherwise they are computed again.
     */
    assert(n->unit > 0 && (n->unit & (n->unit - 1)) == 0); /* P7 */
    n->narrow = b->tables.dump_size / n->unit < UINT32_MAX / 2;
    const uint64_t each = 2ull * (p->width / 8) + (n->narrow ? 4 : 8); /* two numbers for semidominators, a sum */
    if (b->work.threads > 1 && hdx_work_room(&b->work) / each > p->search.reached)
        return p->wide->begin_sums(&b->work, &p->search, n, err);
    free_sums(p);
    return HDX_OK;
}

/*
 * Most memory of the next step in addition to existing sums and numbers: those, nodes, and dominators of special
 * objects.
 */
static uint64_t retained_bytes(const hdx_pass *p)
{
    const uint64_t id = p->width / 8, sums = p->numbered.sums != NULL ? 0 : p->b->tables.objects * (id + 8);
    return sums + p->search.reached * id + 4 * p->search.specials * id;
}

/* One thread finds semidominators and touches page after page: idle threads prepare these pages. */
static hdx_code find_idoms(hdx_pass *p, hdx_error *err)
{
    const hdx_dominators_in in = { &p->search, &p->predecessors, &p->instances, retained_bytes(p) };
    hdx_work               *w = &p->b->work;
    if (w->threads > 1 && w->mem.limit == 0)
        hdx_mem_want(&w->mem, LINKS_READY);
    const hdx_code code = p->wide->dominators(w, &in, &p->idoms, err);
    hdx_mem_want(&w->mem, 0);
    return code;
}

static hdx_code do_dominators(void *context, hdx_error *err)
{
    return once_only(context, HDX_TASK_IDOMS, find_idoms, err);
}

/* The idle work of the pool while dominators are found: prepares memory while it is wanted. */
static hdx_code do_help(void *context, hdx_error *err)
{
    (void)err;
    hdx_mem_help(&((hdx_pass *)context)->b->work.mem, true);
    return HDX_OK;
}

/* Enters counts of live objects into the tables and the manifest. */
static void take_live(hdx_build *b, const hdx_search *search, const hdx_live *live)
{
    hdx_dump_tables *t = &b->tables;
    hdx_manifest    *m = &b->manifest;
    assert(live->all.objects == t->objects); /* P10 */
    for (uint32_t i = 0; i < t->class_count; i++) {
        const hdx_tally *of = &live->classes[i];
        t->classes[i].instances = of->objects;
        t->classes[i].bytes = of->bytes;
        t->classes[i].live_instances = of->live_objects;
        t->classes[i].live_bytes = of->live_bytes;
    }
    for (uint64_t i = 0; i < t->heap_count; i++) {
        const hdx_tally *of = &live->heaps[i];
        t->heaps[i].objects = of->objects;
        t->heaps[i].bytes = of->bytes;
        t->heaps[i].live_objects = of->live_objects;
        t->heaps[i].live_bytes = of->live_bytes;
    }
    m->live_objects = search->reached;
    m->live_bytes = live->all.live_bytes;
    m->unreachable_objects = t->objects - search->reached;
    m->unreachable_bytes = live->all.bytes - live->all.live_bytes;
    m->all_references = t->objects + m->outbound_values;
    m->classes = t->class_count;
    m->live_classes = live->live_classes;
    m->live_loaders = live->live_loaders;
}

static hdx_code count_live(hdx_pass *p, hdx_error *err)
{
    hdx_build    *b = p->b;
    hdx_numbered *n = &p->numbered;
    hdx_live      live = { 0 };
    void         *heaps = NULL;
    hdx_code code = b->tables.heap_count == 0 ? HDX_OK : hdx_build_file_open(b, HDX_KIND_HEAP, &p->note, &heaps, err);
    const hdx_live_in in = { .files = &p->files, .heaps = heaps, .search = &p->search, .numbered = n, .wide = p->wide };
    if (code == HDX_OK)
        code = hdx_pass_count_live(&b->work, &b->tables, &in, &live, err);
    hdx_ints_close(heaps);
    if (code == HDX_OK) {
        take_live(b, &p->search, &live);
        if (n->narrow && live.all.live_bytes / n->unit >= UINT32_MAX) /* some sum may not fit */
            free_sums(p);
    }
    hdx_live_free(&b->work, &b->tables, &live);
    return code;
}

static hdx_code do_count(void *context, hdx_error *err) { return count_live(context, err); }

/* Sorts roots by object, as in the catalog, which the next step begins; the searches needed the order of the file. */
static hdx_code do_roots(void *context, hdx_error *err)
{
    hdx_build *b = ((hdx_pass *)context)->b;
    (void)err;
    hdx_build_sort_roots(&b->work, &b->tables);
    return HDX_OK;
}

/* For a view: opens the inbound lists of its index, without excluded references. */
static hdx_code open_listed(hdx_pass *p, hdx_error *err)
{
    hdx_listed *l = &p->referrers;
    void       *inbound = NULL, *to = NULL, *by = NULL;
    hdx_code    code = hdx_build_file_open(p->b, HDX_KIND_INBOUND, &p->note, &inbound, err);
    if (code == HDX_OK && p->b->manifest.cut_references > 0 &&
        (code = hdx_build_file_open(p->b, HDX_KIND_CUT_TO, &p->note, &to, err)) == HDX_OK)
        code = hdx_build_file_open(p->b, HDX_KIND_CUT_BY, &p->note, &by, err);
    l->inbound = inbound;
    l->cuts = (hdx_cuts){ .from = to, .of = by };
    l->holding = p->referenced;
    l->is_root = p->search.is_root;
    l->note = &p->note;
    if (code == HDX_OK)
        code = hdx_pass_listed(&p->b->work, &p->b->tables, l, err);
    p->inbound.referrers.entries = atomic_load(&l->entries);
    return code;
}

static void close_listed(hdx_pass *p)
{
    hdx_listed *l = &p->referrers;
    hdx_one_to_n_close((hdx_one_to_n *)(uintptr_t)l->inbound);
    hdx_ranks_close((hdx_ranks *)(uintptr_t)l->cuts.from);
    hdx_one_to_n_close((hdx_one_to_n *)(uintptr_t)l->cuts.of);
    hdx_listed_free(&p->b->work, l);
    l->inbound = NULL;
    l->cuts = (hdx_cuts){ 0 };
}

static hdx_code dominators(hdx_pass *p, hdx_error *err)
{
    enum { NUMBERS, ROOTS, PREDECESSORS, INSTANCES, PREPARE, DOMINATORS, COUNT, HELP, TASKS };
    const hdx_task all[TASKS] = {
        [NUMBERS] = { do_numbers, p, 0 },
        [ROOTS] = { do_roots, p, 0 },
        [PREDECESSORS] = { do_predecessors, p, 1u << NUMBERS },
        [INSTANCES] = { do_class_instances, p, 1u << NUMBERS },
        [PREPARE] = { do_prepare, p, 1u << PREDECESSORS | 1u << INSTANCES },
        [DOMINATORS] = { do_dominators, p, 1u << PREPARE },
        [COUNT] = { do_count, p, 1u << PREPARE },
        [HELP] = { do_help, p, 1u << PREPARE },
    };
    hdx_code code = p->b->index != NULL ? open_listed(p, err) : HDX_OK;
    if (code == HDX_OK)
        code = hdx_run_tasks(p->b->work.threads, all, TASKS, err);
    if (p->b->index != NULL)
        close_listed(p);
    return code;
}

/* ---- retained ---- */
static hdx_code do_sums(void *context, hdx_error *err)
{
    hdx_pass     *p = context;
    hdx_build    *b = p->b;
    hdx_numbered *n = &p->numbered;
    hdx_code      code = HDX_OK;
    if (hdx_task_whole(&p->progress.tasks, HDX_TASK_RETAINED))
        return HDX_OK;
    if (n->sums == NULL) {
        n->unit = hdx_pass_size_unit(&b->tables);
        n->narrow = b->manifest.live_bytes / n->unit < UINT32_MAX;
        code = p->wide->sums(&b->work, &b->tables, &p->files, &p->search, n, err);
    }
    return code != HDX_OK ? code : p->wide->retained(&b->work, &p->search, &p->idoms, n, err);
}

static hdx_code do_write_retained(void *context, hdx_error *err)
{
    hdx_pass *p = context;
    if (hdx_task_whole(&p->progress.tasks, HDX_TASK_RETAINED))
        return HDX_OK;
    assert(p->numbered.sums != NULL); /* P6 */
    const hdx_code code = p->wide->write_retained(&p->b->work, &p->numbered, &p->retained, err);
    if (code == HDX_OK) {
        hdx_manifest_file_written(p->b, HDX_KIND_RETAINED, &p->retained);
        hdx_task_done(&p->progress.tasks, HDX_TASK_RETAINED);
    }
    free_sums(p);
    return code;
}

static hdx_code find_tree(hdx_pass *p, hdx_error *err)
{
    const hdx_code code = p->wide->tree(&p->b->work, &p->search, &p->idoms, &p->tree, err);
    if (code != HDX_OK)
        return code;
    hdx_manifest_file_written(p->b, HDX_KIND_DOMINATOR, &p->tree.dominator);
    hdx_manifest_file_written(p->b, HDX_KIND_DOMINATORS, &p->tree.dominators);
    hdx_manifest_file_written(p->b, HDX_KIND_DOMINATED, &p->tree.dominated);
    p->b->manifest.dominators = p->tree.count;
    return HDX_OK;
}

static hdx_code do_tree(void *context, hdx_error *err) { return once_only(context, HDX_TASK_TREE, find_tree, err); }

static hdx_code do_catalog(void *context, hdx_error *err)
{
    return hdx_build_catalog_begin(((hdx_pass *)context)->b, err);
}

/* On one thread, one task at a time: sums are freed before dominators need their room. */
static hdx_code retained(hdx_pass *p, hdx_error *err)
{
    enum { CATALOG, SUMS, WRITE_RETAINED, TREE, TASKS };
    const hdx_task all[TASKS] = {
        [CATALOG] = { do_catalog, p, 0 },
        [SUMS] = { do_sums, p, 0 },
        [WRITE_RETAINED] = { do_write_retained, p, 1u << SUMS },
        [TREE] = { do_tree, p, 0 },
    };
    hdx_work *w = &p->b->work;
    return hdx_run_tasks(hdx_work_room(w) > retained_bytes(p) ? w->threads : 1, all, TASKS, err);
}

/* For each step: its name, its unit, and for which `until` it runs; by hdx_pass_name. */
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
    free_passes(p);
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
    hdx_code   code = objects ? open_columns(p, err) : HDX_OK;
    p->search.references = p->b->manifest.references;
    p->search.specials = p->b->manifest.specials;
    p->search.gc_roots = p->b->manifest.gc_roots;
    if (code == HDX_OK && p->progress.lists && !references)
        code = hdx_checkpoint_take_lists(p, err);
    else if (code == HDX_OK && objects && !references && p->until >= HDX_STEP_INBOUND)
        code = read_outbound(p, &(hdx_cuts){ 0 }, err);
    if (code == HDX_OK && p->objects.outbound.nodes > 0 && p->referenced.once == NULL && objects)
        code = find_referenced(p, err);
    if (code == HDX_OK && is_done(done, HDX_PASS_DOMINATORS))
        code = count_live(p, err);
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
    hdx_code code = begin_referenced(p, &p->listed, err);
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
    hdx_code        code = begin_referenced(p, r, err);
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
    if (code != HDX_OK || (code = open_columns(p, err)) != HDX_OK)
        return code;
    t->class_class = (uint32_t)hdx_ints_get(p->class_file, t->classes[0].id); /* of any class object */
    t->loader_class = (uint32_t)hdx_ints_get(p->class_file, 0);               /* of the boot loader */
    if ((code = hdx_note_check(&p->note, err)) != HDX_OK || is_done(done, HDX_PASS_DOMINATORS))
        return code != HDX_OK ? code : count_live(p, err);
    if (!is_done(done, HDX_PASS_REFERENCES))
        code = read_without_cuts(p, err);
    if (code == HDX_OK && (code = find_listed(p, err)) == HDX_OK)
        code = find_holding(p, cuts, cut_count, err);
    if (is_done(done, HDX_PASS_REFERENCES))
        free_referenced(p, &p->listed);
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
