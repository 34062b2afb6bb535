/*
 * steps.c - the steps of a build after the first pass: columns, objects, references, dominators, retained sizes. Each
 * passes its input as const to the passes that compute it, and stores their results in hdx_pass, the manifest and the
 * tables. Tasks of a step run in parallel.
 */
#include "making/steps.h"

#include <stdlib.h>

#define TRANSPOSING (4ull << 20)  /* sums by block, values carried from range to range */
#define LINKS_READY (16ull << 20) /* bytes kept ready for semidominators */

void hdx_step_free_referenced(hdx_pass *p, hdx_referenced *r)
{
    const uint64_t bytes = hdx_bits_words(p->b->tables.objects) * 8;
    hdx_mem_put(&p->b->work.mem, r->once, bytes);
    hdx_mem_put(&p->b->work.mem, r->many, bytes);
    r->once = r->many = NULL;
}

static void free_lists(hdx_pass *p)
{
    hdx_packed_free(&p->objects.outbound, &p->b->work.mem);
    hdx_step_free_referenced(p, &p->referenced);
    hdx_step_free_referenced(p, &p->listed);
}

static void free_sums(hdx_pass *p)
{
    hdx_numbered *n = &p->numbered;
    hdx_mem_put(&p->b->work.mem, n->numbers, n->numbers_bytes);
    hdx_mem_put(&p->b->work.mem, n->sums, n->sums_bytes);
    n->numbers = n->sums = NULL;
}

void hdx_step_free_all(hdx_pass *p)
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

hdx_code hdx_step_columns(hdx_pass *p, hdx_error *err)
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

hdx_code hdx_step_begin_referenced(hdx_pass *p, hdx_referenced *r, hdx_error *err)
{
    hdx_mem       *mem = &p->b->work.mem;
    const uint64_t objects = p->b->tables.objects;
    r->once = hdx_mem_array(mem, hdx_bits_words(objects), 8);
    r->many = hdx_mem_array(mem, hdx_bits_words(objects), 8);
    return r->once != NULL && r->many != NULL ? HDX_OK
                                              : hdx_no_memory(err, "the set of referenced objects", objects / 4);
}

hdx_code hdx_step_find_referenced(hdx_pass *p, hdx_error *err)
{
    hdx_referenced *r = &p->referenced;
    const hdx_code  code = hdx_step_begin_referenced(p, r, err);
    return code != HDX_OK ? code : hdx_packed_referred(&p->objects.outbound, &p->b->work.tick, r->once, r->many, err);
}

static hdx_code do_referenced(void *context, hdx_error *err)
{
    return once_only(context, HDX_TASK_REFERENCED, hdx_step_find_referenced, err);
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

hdx_code hdx_step_open_columns(hdx_pass *p, hdx_error *err)
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
hdx_code hdx_step_objects(hdx_pass *p, hdx_error *err)
{
    const bool     lists = p->until >= HDX_STEP_OUTBOUND;
    const hdx_task all[] = { { do_instances, p, 0 }, { do_outbound, p, 0 }, { do_referenced, p, 0 } };
    hdx_code       code = once_only(p, HDX_TASK_COLUMNS, find_objects, err);
    if (code == HDX_OK && (code = hdx_step_open_columns(p, err)) == HDX_OK)
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
    hdx_step_free_referenced(p, &p->listed);
    return code;
}

/* The searches use one thread each, the transposition of the lists all others: in parallel if memory allows. */
hdx_code hdx_step_references(hdx_pass *p, hdx_error *err)
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
    const bool parallel = searches && hdx_forecast_search_fits(w, p->width, transposing);
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
        p->b->index != NULL ? hdx_referrers_listed(&p->referrers) : hdx_referrers_in_file(&p->inbound.referrers);
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

hdx_code hdx_step_count_live(hdx_pass *p, hdx_error *err)
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

static hdx_code do_count(void *context, hdx_error *err) { return hdx_step_count_live(context, err); }

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

hdx_code hdx_step_dominators(hdx_pass *p, hdx_error *err)
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
hdx_code hdx_step_retained(hdx_pass *p, hdx_error *err)
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
