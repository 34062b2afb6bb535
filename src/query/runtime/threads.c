/*
 * threads.c - threads, their states, stacks and the objects that their frames hold.
 *
 * A thread is a live instance of java.lang.Thread or a subclass. Running threads have a THREAD_OBJ root (MAT 4.8, HPROF
 * 5.4), except virtual ones before JDK 22 (HPROF 5.4); the others were not started or have ended, and have no frames. A
 * local belongs to the frame that its root names; frame -1 means none. What a thread waits for is in thread_waits.c.
 */
#include "query/common/columns.h"
#include "graph/graph.h"
#include "query/common/frames.h"
#include "query/common/labels.h"
#include "query/common/thread_facts.h"
#include "query/runtime/loaders.h"
#include "query/runtime/thread_waits.h"
#include "query/runtime/threads.h"
#include "query/query.h"

#include <stdlib.h>

/* ---- columns ---- */

#define OF_THREAD                                                                                                      \
    HDX_COLUMN("address", ADDRESS, NONE, 0, "address of the thread object"),                                           \
        HDX_COLUMN("name", TEXT, NONE, HDX_COLUMN_NULLABLE, "name of the thread; null if the dump lacks it"),          \
        HDX_COLUMN("daemon", BOOL, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE,                                       \
                   "true if the thread does not keep the JVM running"),                                                \
        HDX_COLUMN("priority", SIGNED, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE,                                   \
                   "priority of the thread, from 1 to 10 in Java")
#define RETAINED                                                                                                       \
    HDX_COLUMN("retained", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE,                                                       \
               "retained size, including that of its locals; null if the thread is unreachable")
static const hdx_column local_item[] = { HDX_ITEM(ADDRESS, "object that the frame holds") };
static const hdx_column local_members[] = {
    HDX_COLUMN("address", ADDRESS, NONE, 0, "object that the frame holds"),
    HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE, "class of the object"),
    HDX_COLUMN("label", TEXT, NONE, HDX_COLUMN_NULLABLE, "label of the object"),
    HDX_RETAINED_COLUMN(0),
};
static const hdx_column frame_members[] = {
    HDX_COLUMN("method", TEXT, NONE, 0, "class, method and signature"),
    HDX_COLUMN("source", TEXT, NONE, HDX_COLUMN_NULLABLE, "source file"),
    HDX_COLUMN("line", SIGNED, NONE, HDX_COLUMN_NULLABLE, "line in the source file"),
    HDX_COLUMN("native", BOOL, NONE, 0, "true for a native method"),
    HDX_NESTED("locals", LIST, HDX_COLUMN_NULLABLE, "objects that the frame holds; null without --locals", local_item),
    HDX_NESTED("local_objects", LIST, HDX_COLUMN_NULLABLE, "classes and labels of these objects; null without --locals",
               local_members),
};
enum {
    ADDRESS,
    NAME,
    DAEMON,
    PRIORITY,
    STATE,
    WAITS_FOR,
    LOCK,
    OWNER,
    OWNER_THREAD,
    DEADLOCK,
    OUT_OF_MEMORY,
    VIRTUAL,
    CARRIER,
    CONTEXT_CLASS_LOADER,
    CONTEXT_LOADER,
    SHALLOW,
    RETAINS,
    FRAMES,
    COLUMNS
};
static const hdx_column columns[COLUMNS] = {
    OF_THREAD,
    [STATE] = HDX_COLUMN("state", TEXT, NONE, HDX_COLUMN_NULLABLE,
                         "state with its name in java.lang.Thread, such as RUNNABLE or WAITING"),
    [WAITS_FOR] = HDX_COLUMN(
        "waits_for", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE,
        "class of the lock or synchronizer that it is parked at (Thread.parkBlocker); null for threads at monitors"),
    [LOCK] = HDX_COLUMN("lock", ADDRESS, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE,
                        "address of that lock or synchronizer"),
    [OWNER] = HDX_COLUMN("owner", TEXT, NONE, HDX_COLUMN_NULLABLE,
                         "name of the thread that owns the lock or computes the result; null if unknown"),
    [OWNER_THREAD] =
        HDX_COLUMN("owner_thread", ADDRESS, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE, "address of that thread"),
    [DEADLOCK] = HDX_COLUMN("deadlock", UNSIGNED, NONE, HDX_COLUMN_NULLABLE,
                            "number, from 1, of the circle of threads that wait for each other; null if the thread is "
                            "in none"),
    [OUT_OF_MEMORY] = HDX_COLUMN("out_of_memory", BOOL, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE,
                                 "true if its OutOfMemoryError was being created when the dump was written; null if "
                                 "no thread created one"),
    [VIRTUAL] = HDX_COLUMN("virtual", BOOL, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE,
                           "true for a virtual thread; null in dumps without virtual threads"),
    [CARRIER] = HDX_COLUMN("carrier", ADDRESS, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE,
                           "for a virtual thread, the thread that currently runs it"),
    [CONTEXT_CLASS_LOADER] = HDX_COLUMN("context_class_loader", ADDRESS, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE,
                                        "context class loader of the thread"),
    [CONTEXT_LOADER] = HDX_COLUMN("context_loader", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE,
                                  "class of the context class loader, and its name if it has one"),
    [SHALLOW] = HDX_COLUMN("shallow", UNSIGNED, BYTES, HDX_COLUMN_SPARE, "shallow size of the thread object"),
    [RETAINS] = RETAINED,
    [FRAMES] = HDX_NESTED("frames", LIST, HDX_COLUMN_NULLABLE | HDX_COLUMN_WIDE,
                          "stack of the thread, innermost frame first; null without --stacks", frame_members),
};
static const hdx_column table_columns[] = {
    OF_THREAD,
    HDX_COLUMN("frames", UNSIGNED, COUNT, 0, "number of frames in its stack"),
    HDX_COLUMN("locals", UNSIGNED, COUNT, 0, "number of distinct objects that its frames hold"),
    RETAINED,
};
static const hdx_form forms[] = {
    { "by", "pool", hdx_thread_pool_columns, HDX_THREAD_POOL_COLUMNS },
    { NULL, NULL, columns, HDX_COUNT(columns) },
};
static const hdx_form table_form = { NULL, NULL, table_columns, HDX_COUNT(table_columns) };

/* ---- locals ---- */

static int by_thread(const void *a, const void *b)
{
    const hdx_frame_local *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->frame != y->frame)
        return x->frame < y->frame ? -1 : 1;
    return (x->object > y->object) - (x->object < y->object);
}

hdx_code hdx_locals_of(hdx_mem *mem, hdx_graph *g, hdx_frame_local **out, uint64_t *count, uint64_t *capacity,
                       hdx_error *err)
{
    uint64_t        n = 0, distinct = 0, used = 0;
    const hdx_root *roots = hdx_graph_roots(g, &n);
    if (roots == NULL)
        n = 0;
    for (uint64_t i = 0; i < n; i++)
        used += roots[i].thread != HDX_NO_ID;
    *capacity = used;
    *count = 0;
    hdx_frame_local *list = *out = hdx_mem_array(mem, used, sizeof *list);
    if (list == NULL)
        return hdx_no_memory(err, "locals", used * sizeof *list);
    used = 0;
    for (uint64_t i = 0; i < n; i++)
        if (roots[i].thread != HDX_NO_ID)
            list[used++] = (hdx_frame_local){ roots[i].thread, roots[i].frame, roots[i].object };
    if (used > 0)
        qsort(list, used, sizeof *list, by_thread);
    for (uint64_t i = 0; i < used; i++)
        if (distinct == 0 || by_thread(&list[i], &list[distinct - 1]) != 0)
            list[distinct++] = list[i];
    *count = distinct;
    return HDX_OK;
}

static bool is_before(const void *locals, uint64_t place, const void *wanted)
{
    return by_thread(&((const hdx_frame_local *)locals)[place], wanted) < 0;
}

uint64_t hdx_locals_first(const hdx_frame_local *locals, uint64_t count, hdx_id thread, int32_t frame)
{
    const hdx_frame_local key = { thread, frame, 0 };
    return hdx_partition(locals, 0, count, &key, is_before);
}

/* ---- rows ---- */

/* Rows are sorted by size, but facts are read in the order of the dump: this many threads at a time, few at first. */
#define BLOCK_FIRST 64u
#define BLOCK_MOST  4096u

typedef struct thread_rows {
    hdx_ask           ask;
    hdx_thread_reader reader;
    hdx_ids           ids;
    uint64_t         *order; /* by row: index among ids */
    uint64_t          next;
    struct {
        hdx_thread_facts *facts; /* of the rows from `from` */
        uint64_t          from, count, room;
        hdx_arena         texts;
    } block;
    hdx_frame_local *locals;
    uint64_t         local_count, local_capacity;
    hdx_thread_waits waits; /* at NULL: not requested */
    hdx_id           owner; /* the thread whose name is in owner_name */
    hdx_arena        owner_name;
    hdx_cell         owner_cell;
    bool             stacks, with_locals, table, any_virtual, any_out_of_memory;
} thread_rows;

static void threads_close(void *state)
{
    thread_rows *t = state;
    hdx_mem_put(t->ask.q.mem, t->waits.at, t->ids.count * sizeof *t->waits.at);
    hdx_mem_put(t->ask.q.mem, t->order, t->ids.count * sizeof *t->order);
    hdx_mem_put(t->ask.q.mem, t->block.facts, t->block.room * sizeof *t->block.facts);
    hdx_arena_free(&t->block.texts);
    hdx_thread_reader_close(&t->reader);
    hdx_ids_drop(&t->ids);
    hdx_mem_put(t->ask.q.mem, t->locals, t->local_capacity * sizeof *t->locals);
    hdx_arena_free(&t->owner_name);
    free(t);
}

/* Returns the addresses of locals, and their descriptions. */
static hdx_code locals_cells(const thread_rows *t, hdx_id thread, int32_t frame, hdx_arena *arena, hdx_cell *addresses,
                             hdx_cell *objects, hdx_error *err)
{
    enum { MEMBERS = 4 };
    uint64_t first = hdx_locals_first(t->locals, t->local_count, thread, frame), end = first;
    hdx_code code = HDX_OK;
    while (end < t->local_count && t->locals[end].thread == thread && t->locals[end].frame == frame)
        end++;
    const uint64_t n = end - first;
    hdx_cell      *cells = hdx_arena_get(arena, 2 * n * sizeof *cells);
    hdx_member    *m = hdx_arena_get(arena, MEMBERS * n * sizeof *m);
    if (cells == NULL || m == NULL)
        return hdx_no_memory(err, "locals", n * (2 * sizeof *cells + MEMBERS * sizeof *m));
    for (uint64_t i = 0; code == HDX_OK && i < n; i++, m += MEMBERS) {
        const hdx_id id = t->locals[first + i].object;
        cells[i] = hdx_id_cell(t->ask.g, id);
        cells[n + i] = hdx_cell_object(m, MEMBERS);
        m[0] = (hdx_member){ "address", cells[i] };
        m[1] = (hdx_member){ "class", hdx_class_of_cell(t->ask.g, id) };
        m[2].key = "label";
        m[3] = (hdx_member){ "retained", hdx_retained_cell(t->ask.g, id) };
        code = hdx_label_cell(&t->ask.q, id, arena, &m[2].value, err);
    }
    *addresses = hdx_cell_list(cells, n);
    *objects = hdx_cell_list(cells + n, n);
    return code;
}

static hdx_code frame_cell(const thread_rows *t, hdx_id thread, uint32_t number, const hdx_frame *f, hdx_arena *arena,
                           hdx_cell *out, hdx_error *err)
{
    uint64_t    len = (uint64_t)f->class_name.len + 1 + f->method.len + f->signature.len;
    char       *method = hdx_arena_get(arena, len + 1);
    hdx_member *m = hdx_arena_get(arena, 6 * sizeof *m);
    hdx_cell    locals = hdx_cell_null(), objects = hdx_cell_null();
    if (method == NULL || m == NULL || len > UINT32_MAX)
        return hdx_no_memory(err, "frames", len);
    uint64_t n = f->class_name.len;
    if (n > 0)
        memcpy(method, f->class_name.at, n);
    method[n++] = '.';
    if (f->method.len > 0)
        memcpy(method + n, f->method.at, f->method.len);
    n += f->method.len;
    if (f->signature.len > 0)
        memcpy(method + n, f->signature.at, f->signature.len);
    if (t->with_locals && number <= INT32_MAX) {
        hdx_code code = locals_cells(t, thread, (int32_t)number, arena, &locals, &objects, err);
        if (code != HDX_OK)
            return code;
    }
    m[0] = (hdx_member){ "method", hdx_cell_text((hdx_text){ method, (uint32_t)len }) };
    m[1] = (hdx_member){ "source", f->source.len == 0 ? hdx_cell_null() : hdx_cell_text(f->source) };
    m[2] = (hdx_member){ "line", f->line > 0 ? hdx_cell_int(f->line) : hdx_cell_null() };
    m[3] = (hdx_member){ "native", hdx_cell_bool(f->line == -3) };
    m[4] = (hdx_member){ "locals", locals };
    m[5] = (hdx_member){ "local_objects", objects };
    *out = hdx_cell_object(m, 6);
    return HDX_OK;
}

/* A thread without a THREAD_OBJ root has no frames in the dump. */
static hdx_code frames_cell(const thread_rows *t, hdx_id object, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    const hdx_thread *thread = hdx_graph_thread_of(t->ask.g, object);
    const uint32_t    count = thread == NULL ? 0 : thread->frame_count;
    hdx_code          code = HDX_OK;
    hdx_cell         *cells = hdx_arena_get(arena, count * sizeof *cells);
    if (cells == NULL)
        return hdx_no_memory(err, "frames", count * sizeof *cells);
    for (uint32_t i = 0; code == HDX_OK && i < count; i++)
        code = frame_cell(t, object, i, &thread->frames[i], arena, &cells[i], err);
    *out = hdx_cell_list(cells, count);
    return code;
}

static int ids(const void *a, const void *b)
{
    const hdx_id *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Counts the distinct objects that the thread's frames hold. */
static hdx_code count_locals(const thread_rows *t, hdx_id thread, hdx_arena *arena, uint64_t *count, hdx_error *err)
{
    uint64_t first = hdx_locals_first(t->locals, t->local_count, thread, INT32_MIN), end = first, n = 0;
    while (end < t->local_count && t->locals[end].thread == thread)
        end++;
    hdx_id *objects = hdx_arena_get(arena, (end - first) * sizeof *objects);
    if (objects == NULL)
        return hdx_no_memory(err, "locals", (end - first) * sizeof *objects);
    for (uint64_t i = first; i < end; i++)
        objects[i - first] = t->locals[i].object;
    qsort(objects, end - first, sizeof *objects, ids);
    for (uint64_t i = 0; i < end - first; i++)
        n += i == 0 || objects[i] != objects[i - 1];
    *count = n;
    return HDX_OK;
}

/* Many threads wait for the same one: its name is read once for consecutive rows. */
static hdx_code owner_cell(thread_rows *t, hdx_id owner, hdx_cell *out, hdx_error *err)
{
    hdx_code code = HDX_OK;
    if (owner != t->owner) {
        hdx_arena_empty(&t->owner_name);
        t->owner = HDX_NO_ID;
        if ((code = hdx_label_cell(&t->ask.q, owner, &t->owner_name, &t->owner_cell, err)) == HDX_OK)
            t->owner = owner;
    }
    *out = t->owner_cell;
    return code;
}

static hdx_code wait_cells(thread_rows *t, const hdx_thread_wait *w, hdx_arena *arena, hdx_cell *cells, hdx_error *err)
{
    hdx_cell name = hdx_cell_null();
    if (w->blocker != HDX_NO_ID) {
        cells[WAITS_FOR] = hdx_class_of_cell(t->ask.g, w->blocker);
        cells[LOCK] = hdx_id_cell(t->ask.g, w->blocker);
    }
    if (w->deadlock != 0)
        cells[DEADLOCK] = hdx_cell_uint(w->deadlock);
    if (w->owner == HDX_NO_ID)
        return HDX_OK;
    cells[OWNER_THREAD] = hdx_id_cell(t->ask.g, w->owner);
    const hdx_code code = owner_cell(t, w->owner, &name, err);
    if (code == HDX_OK && name.kind == HDX_CELL_TEXT)
        cells[OWNER] = hdx_text_cell(arena, name.as.text);
    return code;
}

static hdx_code table_cells(const thread_rows *t, hdx_id id, hdx_arena *arena, hdx_cell *cells, hdx_error *err)
{
    const hdx_thread *thread = hdx_graph_thread_of(t->ask.g, id);
    uint64_t          locals = 0;
    const hdx_code    code = count_locals(t, id, arena, &locals, err);
    cells[4] = hdx_cell_uint(thread == NULL ? 0 : thread->frame_count);
    cells[5] = hdx_cell_uint(locals);
    cells[6] = hdx_retained_cell(t->ask.g, id);
    return code;
}

/* Reads facts of the next rows in the order of their ids. */
static hdx_code read_block(thread_rows *t, hdx_error *err)
{
    hdx_mem       *mem = t->ask.q.mem;
    const uint64_t left = t->ids.count - t->next,
                   most = t->block.count == 0               ? BLOCK_FIRST
                          : t->block.count < BLOCK_MOST / 2 ? t->block.count * 2
                                                            : BLOCK_MOST,
                   n = left < most ? left : most;
    hdx_mem_put(mem, t->block.facts, t->block.room * sizeof *t->block.facts);
    t->block.from = t->next;
    t->block.count = t->block.room = n;
    hdx_arena_empty(&t->block.texts);
    hdx_pair *by_id = hdx_mem_array(mem, n, sizeof *by_id);
    if ((t->block.facts = hdx_mem_array(mem, n, sizeof *t->block.facts)) == NULL || by_id == NULL) {
        hdx_mem_put(mem, by_id, n * sizeof *by_id);
        return hdx_no_memory(err, "threads", n * sizeof *t->block.facts);
    }
    for (uint64_t i = 0; i < n; i++)
        by_id[i] = (hdx_pair){ t->ids.at[t->order[t->next + i]], i };
    hdx_sort_pairs(mem, by_id, n);
    struct hdx_near *near = hdx_graph_near_begin(t->ask.g);
    hdx_code         code = HDX_OK;
    for (uint64_t i = 0; code == HDX_OK && i < n; i++)
        if ((code = hdx_thread_read(&t->reader, by_id[i].first, &t->block.texts, &t->block.facts[by_id[i].second],
                                    err)) == HDX_OK)
            code = hdx_ask_stopped(&t->ask.q, err);
    hdx_graph_near_end(near);
    hdx_mem_put(mem, by_id, n * sizeof *by_id);
    return code;
}

static hdx_code threads_next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    thread_rows *t = state;
    hdx_code     code = hdx_ask_stopped(&t->ask.q, err);
    if (code != HDX_OK)
        return code;
    if (t->next == t->ids.count)
        return hdx_ask_end(&t->ask, more, err);
    if (t->next == t->block.from + t->block.count && (code = read_block(t, err)) != HDX_OK)
        return code;
    const hdx_thread_facts facts = t->block.facts[t->next - t->block.from];
    const uint64_t         place = t->order[t->next++];
    const hdx_id           id = t->ids.at[place];
    for (unsigned i = 0; i < (t->table ? HDX_COUNT(table_columns) : COLUMNS); i++)
        cells[i] = hdx_cell_null();
    cells[ADDRESS] = hdx_id_cell(t->ask.g, id);
    cells[NAME] = facts.name.kind == HDX_CELL_TEXT ? hdx_text_cell(arena, facts.name.as.text) : facts.name;
    cells[DAEMON] = facts.daemon;
    cells[PRIORITY] = facts.priority;
    *more = true;
    if (t->table)
        return table_cells(t, id, arena, cells, err);
    cells[STATE] = facts.state;
    if (t->any_out_of_memory)
        cells[OUT_OF_MEMORY] =
            hdx_cell_bool(hdx_frame_creating_out_of_memory(hdx_graph_thread_of(t->ask.g, id)) != NULL);
    if (t->any_virtual)
        cells[VIRTUAL] = hdx_cell_bool(facts.is_virtual);
    cells[CARRIER] = facts.carrier;
    cells[CONTEXT_CLASS_LOADER] = facts.context_class_loader;
    cells[SHALLOW] = hdx_cell_uint(hdx_graph_shallow(t->ask.g, id));
    cells[RETAINS] = hdx_retained_cell(t->ask.g, id);
    if (t->waits.at != NULL)
        code = wait_cells(t, &t->waits.at[place], arena, cells, err);
    if (code == HDX_OK && facts.context_class_loader.kind == HDX_CELL_ADDRESS &&
        hdx_column_wanted(&t->ask.q, CONTEXT_LOADER))
        code = hdx_loader_cell(&t->ask.q, facts.context_class_loader.as.address, arena, &cells[CONTEXT_LOADER], err);
    return code == HDX_OK && t->stacks ? frames_cell(t, id, arena, &cells[FRAMES], err) : code;
}

/* The export table has only threads with a root. */
static hdx_code list_threads(thread_rows *t, hdx_error *err)
{
    uint64_t          count = 0;
    const hdx_thread *threads = t->table ? hdx_graph_threads(t->ask.g, &count) : NULL;
    hdx_code          code = t->table ? HDX_OK : hdx_threads_of(&t->ask, &t->ids, err);
    for (uint64_t i = 0; code == HDX_OK && threads != NULL && i < count; i++)
        code = hdx_ids_push(&t->ids, threads[i].object, err);
    for (uint64_t i = 0; i < t->ids.count && !t->any_virtual; i++)
        t->any_virtual = hdx_thread_is_virtual(&t->reader, t->ids.at[i]);
    for (uint64_t i = 0; i < t->ids.count && !t->any_out_of_memory; i++)
        t->any_out_of_memory = hdx_frame_creating_out_of_memory(hdx_graph_thread_of(t->ask.g, t->ids.at[i])) != NULL;
    return code;
}

/* Platform threads come before virtual ones, both by retained size; the table is sorted by address. */
static hdx_code put_in_order(thread_rows *t, hdx_error *err)
{
    hdx_mem  *mem = t->ask.q.mem;
    uint64_t  n = t->ids.count, used = 0;
    hdx_pair *pairs = hdx_mem_array(mem, n, sizeof *pairs);
    if ((t->order = hdx_mem_array(mem, n, sizeof *t->order)) == NULL || pairs == NULL) {
        hdx_mem_put(mem, pairs, n * sizeof *pairs);
        return hdx_no_memory(err, "threads", n * (sizeof *pairs + sizeof *t->order));
    }
    for (unsigned is_virtual = 0; is_virtual < 2; is_virtual++) {
        uint64_t count = 0;
        for (uint64_t i = 0; i < n; i++)
            if ((!t->table && hdx_thread_is_virtual(&t->reader, t->ids.at[i])) == (is_virtual == 1))
                pairs[count++] = (hdx_pair){ t->table ? 0 : ~hdx_graph_retained(t->ask.g, t->ids.at[i]), i };
        hdx_sort_pairs(mem, pairs, count);
        for (uint64_t i = 0; i < count; i++)
            t->order[used++] = pairs[i].second;
    }
    hdx_mem_put(mem, pairs, n * sizeof *pairs);
    return HDX_OK;
}

static bool wants_waits(const hdx_query *q)
{
    bool wants = false;
    for (unsigned i = WAITS_FOR; i <= DEADLOCK; i++)
        wants |= hdx_column_wanted(q, i);
    return wants;
}

/* The title of the table reports deadlocks. */
static hdx_code report_deadlocks(const hdx_query *q, const hdx_ids *ids, const hdx_thread_waits *waits, hdx_rows **out,
                                 hdx_error *err)
{
    hdx_buffer text = hdx_buffer_of(q->mem);
    hdx_code   code = hdx_thread_waits_say(q, ids, waits, &text, err);
    if (code == HDX_OK && text.len > 0)
        code = hdx_rows_set_title(*out, text.at, err);
    hdx_buffer_free(&text);
    if (code != HDX_OK) {
        hdx_rows_close(*out);
        *out = NULL;
    }
    return code;
}

typedef struct thread_options {
    bool stacks, locals, table;
} thread_options;

static hdx_code make_rows(const hdx_query *q, const thread_options *w, hdx_rows **out, hdx_error *err)
{
    hdx_ask ask;
    *out = NULL;
    hdx_code code = hdx_ask_begin(q, &ask, err);
    if (code != HDX_OK)
        return code;
    thread_rows *t = calloc(1, sizeof *t);
    if (t == NULL)
        return hdx_no_memory(err, "threads", sizeof *t);
    t->ask = ask;
    t->ids = hdx_ids_of(q->mem);
    t->owner = HDX_NO_ID;
    t->owner_name = t->block.texts = hdx_arena_of(q->mem);
    t->stacks = w->stacks || w->locals; /* locals are shown with their frames */
    t->with_locals = w->locals;
    t->table = w->table;
    if ((code = hdx_thread_reader_open(&ask.q, &t->reader, err)) == HDX_OK)
        code = list_threads(t, err);
    if (code == HDX_OK)
        code = put_in_order(t, err);
    if (code == HDX_OK && (w->locals || w->table))
        code = hdx_locals_of(q->mem, ask.g, &t->locals, &t->local_count, &t->local_capacity, err);
    if (code == HDX_OK && !w->table && wants_waits(q))
        code = hdx_thread_waits_find(&t->ask, &t->reader, &t->ids, &t->waits, err);
    if (code == HDX_OK)
        code = hdx_graph_check(ask.g, err);
    if (code != HDX_OK) {
        threads_close(t);
        return code;
    }
    const hdx_rows_maker maker = { w->table ? table_columns : columns,
                                   w->table ? HDX_COUNT(table_columns) : COLUMNS,
                                   t,
                                   threads_next,
                                   threads_close,
                                   t->ids.count };
    code = hdx_rows_make_in(q->mem, &maker, out, err);
    if (code == HDX_OK && t->waits.deadlocks > 0)
        code = report_deadlocks(&ask.q, &t->ids, &t->waits, out, err);
    return hdx_rows_explain_empty(code, out, err, "no threads in the dump");
}

hdx_code hdx_query_threads(const hdx_query *q, bool stacks, bool locals, hdx_rows **out, hdx_error *err)
{
    return make_rows(q, &(thread_options){ .stacks = stacks, .locals = locals }, out, err);
}

static hdx_code open_threads(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    if (hdx_argument_choice(a, "by") == 0)
        return hdx_thread_pools(q, out, err);
    const thread_options w = { .stacks = hdx_column_named(q, FRAMES) || /* naming the column requests it */
                                         hdx_argument_flag(a, "stacks"),
                               .locals = hdx_argument_flag(a, "locals") };
    return make_rows(q, &w, out, err);
}

static const hdx_parameter parameters[] = {
    { .name = "stacks", .kind = HDX_PARAMETER_FLAG, .excludes = "by", .sentence = "show the frames of each thread" },
    { .name = "locals",
      .kind = HDX_PARAMETER_FLAG,
      .excludes = "by",
      .sentence = "show the objects that each frame holds" },
    { .name = "by",
      .kind = HDX_PARAMETER_CHOICE,
      .value = "KEY",
      .choices = "pool",
      .sentence = "one row per pool: threads whose names differ only in numbers" },
};

const hdx_question hdx_question_threads = {
    .declared = {
        .name = "threads",
        .flags = HDX_ANSWER_LONG | HDX_ANSWER_HEAP | HDX_ANSWER_VALUES,
        .sentence = "threads, their stacks and what they retain",
        .more = "--stacks adds the frames, innermost first; --locals adds the objects that each frame holds. Virtual "
                "threads come after platform threads (dumps of JDK 19 to 21 lack their stacks), followed by threads "
                "that were not started or have ended; --sort address sorts by address. A parked thread has the object "
                "that it waits for and, for locks, the owner; threads that wait for each other have the number of "
                "their deadlock. Dumps do not contain owners of monitors. --by pool sums threads whose names differ "
                "only in numbers, and shows the lock that most threads of the pool wait for and its owner.",
        .examples = { "heapdex threads app.hprof --where 'owner != null'",
                      "heapdex threads app.hprof --stacks --locals --where 'name = main'" },
        .forms = forms,
        .form_count = HDX_COUNT(forms),
        .parameters = parameters,
        .parameter_count = HDX_COUNT(parameters),
    },
    .open = open_threads,
};

static hdx_code open_table(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    (void)a;
    return make_rows(q, &(thread_options){ .table = true }, out, err);
}

const hdx_question hdx_table_of_threads = {
    .declared = { .name = "threads",
                  .flags = HDX_ANSWER_HEAP,
                  .sentence = "threads, with the number of frames and locals in their stacks",
                  .more = "",
                  .forms = &table_form,
                  .form_count = 1 },
    .open = open_table,
};
