/*
 * thread_pools.c - threads summed by their names without numbers: "http-worker-6" and "http-worker-17" belong to the
 * pool "http-worker-#".
 *
 * In:  names and states from the dump, what threads wait for (thread_waits.c), stacks and retained sizes of the index.
 * Out: a row per pool, the one with the largest retained size first, with the lock that most of its threads wait for.
 *      Threads that are GC roots retain disjoint sets of objects, so sums count each byte once.
 * Cost: 64 bytes per thread, and its name.
 */
#include "graph/graph.h"
#include "query/common/columns.h"
#include "query/common/labels.h"
#include "query/common/thread_facts.h"
#include "query/runtime/thread_waits.h"
#include "query/runtime/threads.h"
#include "query/query.h"

#include <stdlib.h>

enum { WAITING = 6, WAITS_FOR, LOCK, OWNER, OWNER_THREAD };
const hdx_column hdx_thread_pool_columns[HDX_THREAD_POOL_COLUMNS] = {
    HDX_COLUMN("pool", TEXT, NONE, HDX_COLUMN_NULLABLE,
               "common name of the threads, with # for each sequence of digits"),
    HDX_COLUMN("threads", UNSIGNED, COUNT, 0, "threads with such a name"),
    HDX_COLUMN("states", TEXT, NONE, HDX_COLUMN_NULLABLE, "number of threads in each state"),
    HDX_COLUMN("frames", UNSIGNED, COUNT, HDX_COLUMN_SPARE, "number of frames in their stacks"),
    HDX_COLUMN("retained", UNSIGNED, BYTES, 0, "sum of the bytes that they retain"),
    HDX_COLUMN("most_at", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE,
               "innermost method outside of the JDK in which most of them are, or the innermost method"),
    HDX_COLUMN("waiting", UNSIGNED, COUNT, HDX_COLUMN_NULLABLE,
               "threads of the pool that wait for the most frequent lock; null if none is parked"),
    HDX_COLUMN("waits_for", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE,
               "class of that lock or synchronizer (Thread.parkBlocker); of equally frequent ones, the one of lowest "
               "address"),
    HDX_COLUMN("lock", ADDRESS, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE, "address of that lock or synchronizer"),
    HDX_COLUMN("owner", TEXT, NONE, HDX_COLUMN_NULLABLE,
               "name of the thread that owns the lock or computes the result; null if unknown"),
    HDX_COLUMN("owner_thread", ADDRESS, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE, "address of that thread"),
};

static const char *const states[] = { "NEW", "RUNNABLE", "BLOCKED", "WAITING", "TIMED_WAITING", "TERMINATED" };
#define STATES 6u

typedef struct member {
    hdx_text         pool;
    bool             named;
    unsigned         state;           /* STATES: unknown */
    const hdx_frame *at;              /* NULL: no such frame */
    hdx_id           id, lock, owner; /* HDX_NO_ID: it waits for no lock, or the owner is unknown */
} member;

typedef struct pool {
    uint64_t         first, count, retained, frames;
    uint64_t         in[STATES + 1];
    const hdx_frame *most_at;
    uint64_t         waiting;
    hdx_id           lock, owner;
} pool;

typedef struct pools {
    hdx_ask           ask;
    hdx_thread_reader reader;
    hdx_ids           ids;
    hdx_arena         names;
    member           *members; /* one for each of `ids` */
    HDX_LIST(pool)    found;
} pools;

/* ---- one thread ---- */

bool hdx_thread_pool_name(const hdx_cell *name, hdx_arena *arena, hdx_text *out)
{
    const hdx_text text = name->kind == HDX_CELL_TEXT ? name->as.text : (hdx_text){ "", 0 };
    char          *to = hdx_arena_get(arena, (uint64_t)text.len + 1);
    uint32_t       len = 0;
    if (to == NULL)
        return false;
    for (uint32_t i = 0; i < text.len; i++) {
        const bool digit = text.at[i] >= '0' && text.at[i] <= '9';
        if (!digit || len == 0 || to[len - 1] != '#' || text.at[i - 1] < '0' || text.at[i - 1] > '9')
            to[len++] = digit ? '#' : text.at[i];
    }
    *out = (hdx_text){ to, len };
    return true;
}

static bool is_of_the_jdk(hdx_text class_name)
{
    static const char *const packages[] = { "java.", "javax.", "jdk.", "sun.", "com.sun." };
    for (size_t i = 0; i < sizeof packages / sizeof *packages; i++) {
        const size_t len = strlen(packages[i]);
        if (class_name.len > len && memcmp(class_name.at, packages[i], len) == 0)
            return true;
    }
    return false;
}

/* Returns the frame that describes best where a thread is: its work, or what it waits in. */
static const hdx_frame *telling_frame(const hdx_thread *thread)
{
    const hdx_frame *first = NULL;
    for (uint32_t i = 0; thread != NULL && i < thread->frame_count; i++) {
        if (!is_of_the_jdk(thread->frames[i].class_name))
            return &thread->frames[i];
        if (first == NULL && thread->frames[i].line != -3) /* a native method is rarely informative */
            first = &thread->frames[i];
    }
    return first;
}

static unsigned state_of(const hdx_cell *state)
{
    unsigned i = 0;
    while (i < STATES && (state->kind != HDX_CELL_TEXT || !hdx_text_is(state->as.text, states[i])))
        i++;
    return i;
}

static hdx_code read_waits(pools *p, hdx_error *err)
{
    hdx_thread_waits waits = { .at = NULL };
    const hdx_code   code = hdx_thread_waits_find(&p->ask, &p->reader, &p->ids, &waits, err);
    for (uint64_t i = 0; code == HDX_OK && i < p->ids.count; i++) {
        p->members[i].lock = waits.at[i].blocker;
        p->members[i].owner = waits.at[i].owner;
    }
    return code;
}

static hdx_code read_members(pools *p, hdx_error *err)
{
    hdx_arena        arena = hdx_arena_of(p->ask.q.mem);
    hdx_thread_facts facts;
    struct hdx_near *near = hdx_graph_near_begin(p->ask.g);
    hdx_code         code = HDX_OK;
    for (uint64_t i = 0; code == HDX_OK && i < p->ids.count; i++) {
        member *m = &p->members[i];
        hdx_arena_empty(&arena);
        if ((code = hdx_thread_read(&p->reader, p->ids.at[i], &arena, &facts, err)) != HDX_OK)
            break;
        m->id = p->ids.at[i];
        m->named = facts.name.kind == HDX_CELL_TEXT;
        m->state = state_of(&facts.state);
        m->at = telling_frame(hdx_graph_thread_of(p->ask.g, m->id));
        code = !arena.refused && hdx_thread_pool_name(&facts.name, &p->names, &m->pool)
                   ? hdx_ask_check_cancel(&p->ask, err)
                   : hdx_no_memory(err, "names of threads", arena.size + p->names.size);
    }
    hdx_graph_near_end(near);
    return code;
}

/* ---- sums ---- */

static int compare_places(const hdx_frame *a, const hdx_frame *b)
{
    if (a == NULL || b == NULL)
        return (a == NULL) - (b == NULL);
    const int order = hdx_text_order(a->class_name, b->class_name);
    return order != 0 ? order : hdx_text_order(a->method, b->method);
}

static int in_pools(const void *a, const void *b)
{
    const member *x = a, *y = b;
    int           order = x->named - y->named;
    if (order == 0 && (order = hdx_text_order(x->pool, y->pool)) == 0 && (order = compare_places(x->at, y->at)) == 0)
        order = (x->id > y->id) - (x->id < y->id);
    return order;
}

static int by_lock(const void *a, const void *b)
{
    const member *x = a, *y = b;
    return (x->lock > y->lock) - (x->lock < y->lock);
}

/* Sorts the members of a pool by lock. Afterwards only the pool's name is read from them, which is the same for all. */
static void find_lock(member *first, pool *of)
{
    uint64_t run = 0;
    qsort(first, (size_t)of->count, sizeof *first, by_lock);
    for (const member *m = first; m < first + of->count; m++) {
        run = m > first && m->lock == m[-1].lock ? run + 1 : 1;
        if (m->lock != HDX_NO_ID && run > of->waiting) {
            of->waiting = run;
            of->lock = m->lock;
            of->owner = m->owner;
        }
    }
}

static int heaviest_first(const void *a, const void *b)
{
    const pool *x = a, *y = b;
    if (x->retained != y->retained)
        return x->retained > y->retained ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static hdx_code sum_up(pools *p, hdx_error *err)
{
    uint64_t run = 0, most = 0;
    for (uint64_t i = 0; i < p->ids.count; i++) {
        const member     *m = &p->members[i];
        const bool        fresh = i == 0 || m->named != m[-1].named || hdx_text_order(m->pool, m[-1].pool) != 0;
        const hdx_thread *thread = hdx_graph_thread_of(p->ask.g, m->id);
        if (fresh && !hdx_list_room(p->ask.q.mem, HDX_LIST_REF(&p->found)))
            return hdx_no_memory(err, "pools", (p->found.count + 1) * sizeof(pool));
        if (fresh) {
            p->found.at[p->found.count++] = (pool){ .first = i };
            most = 0;
        }
        pool *of = &p->found.at[p->found.count - 1];
        run = fresh || compare_places(m->at, m[-1].at) != 0 ? 1 : run + 1;
        if (m->at != NULL && run > most) {
            most = run;
            of->most_at = m->at;
        }
        of->count++;
        of->in[m->state]++;
        of->retained += hdx_graph_retained(p->ask.g, m->id);
        of->frames += thread == NULL ? 0 : thread->frame_count;
    }
    for (uint64_t i = 0; i < p->found.count; i++)
        find_lock(&p->members[p->found.at[i].first], &p->found.at[i]);
    if (p->found.count > 0)
        qsort(p->found.at, (size_t)p->found.count, sizeof(pool), heaviest_first);
    return HDX_OK;
}

/* Returns "WAITING 12, RUNNABLE 3": the most frequent state first. */
static hdx_cell states_cell(const pool *of, hdx_buffer *text, hdx_arena *arena)
{
    bool said[STATES] = { false };
    hdx_buffer_clear(text);
    for (unsigned n = 0; n < STATES; n++) {
        unsigned best = STATES;
        for (unsigned i = 0; i < STATES; i++)
            if (!said[i] && of->in[i] > 0 && (best == STATES || of->in[i] > of->in[best]))
                best = i;
        if (best == STATES)
            break;
        said[best] = true;
        hdx_buffer_format(text, "%s%s %llu", text->len > 0 ? ", " : "", states[best], (unsigned long long)of->in[best]);
    }
    return text->len == 0 ? hdx_cell_null() : hdx_text_cell(arena, (hdx_text){ text->at, (uint32_t)text->len });
}

static hdx_code wait_cells(pools *p, const pool *of, hdx_arena *arena, hdx_cell *cells, hdx_error *err)
{
    if (of->waiting == 0)
        return HDX_OK;
    cells[WAITING] = hdx_cell_uint(of->waiting);
    cells[WAITS_FOR] = hdx_class_of_cell(p->ask.g, of->lock);
    cells[LOCK] = hdx_id_cell(p->ask.g, of->lock);
    if (of->owner == HDX_NO_ID)
        return HDX_OK;
    cells[OWNER_THREAD] = hdx_id_cell(p->ask.g, of->owner);
    return hdx_label_cell(&p->ask.q, of->owner, arena, &cells[OWNER], err);
}

static hdx_code add_rows(pools *p, hdx_table *table, hdx_error *err)
{
    hdx_buffer text = hdx_buffer_of(p->ask.q.mem);
    hdx_arena *arena = hdx_table_arena(table);
    hdx_code   code = HDX_OK;
    for (uint64_t i = 0; code == HDX_OK && i < p->found.count; i++) {
        const pool   *of = &p->found.at[i];
        const member *first = &p->members[of->first];
        hdx_cell      cells[HDX_THREAD_POOL_COLUMNS];
        for (unsigned k = 0; k < HDX_THREAD_POOL_COLUMNS; k++)
            cells[k] = hdx_cell_null();
        if (first->named)
            cells[0] = hdx_text_cell(arena, first->pool);
        cells[1] = hdx_cell_uint(of->count);
        cells[2] = states_cell(of, &text, arena);
        bool refused = text.failed;
        cells[3] = hdx_cell_uint(of->frames);
        cells[4] = hdx_cell_uint(of->retained);
        if (of->most_at != NULL) {
            hdx_buffer_clear(&text);
            hdx_buffer_put(&text, of->most_at->class_name.at, of->most_at->class_name.len);
            hdx_buffer_text(&text, ".");
            hdx_buffer_put(&text, of->most_at->method.at, of->most_at->method.len);
            cells[5] = hdx_text_cell(arena, (hdx_text){ text.at, (uint32_t)text.len });
        }
        refused |= text.failed;
        code = refused ? hdx_no_memory(err, "pools", text.len) : wait_cells(p, of, arena, cells, err);
        if (code == HDX_OK)
            code = hdx_table_add(table, cells, err);
    }
    return code;
}

static hdx_code read_and_sum_up(pools *p, hdx_error *err)
{
    hdx_code code = hdx_thread_reader_open(&p->ask.q, &p->reader, err);
    if (code != HDX_OK || (code = hdx_threads_of(&p->ask, &p->ids, err)) != HDX_OK)
        return code;
    if ((p->members = hdx_mem_array(p->ask.q.mem, p->ids.count, sizeof *p->members)) == NULL)
        return hdx_no_memory(err, "threads", p->ids.count * sizeof *p->members);
    if ((code = read_members(p, err)) != HDX_OK || (code = read_waits(p, err)) != HDX_OK)
        return code;
    if (p->ids.count > 0)
        qsort(p->members, (size_t)p->ids.count, sizeof *p->members, in_pools);
    return sum_up(p, err);
}

hdx_code hdx_thread_pools(const hdx_query *q, hdx_rows **out, hdx_error *err)
{
    pools      p = { .names = hdx_arena_of(q->mem), .ids = hdx_ids_of(q->mem) };
    hdx_table *table = NULL;
    *out = NULL;
    hdx_code code = hdx_ask_begin(q, &p.ask, err);
    if (code != HDX_OK)
        return code;
    code = read_and_sum_up(&p, err);
    hdx_thread_reader_close(&p.reader);
    if (code == HDX_OK)
        code = hdx_table_in(q->mem, hdx_thread_pool_columns, HDX_THREAD_POOL_COLUMNS, &table, err);
    if (code == HDX_OK && (code = add_rows(&p, table, err)) == HDX_OK)
        code = hdx_graph_check(p.ask.g, err);
    if (code != HDX_OK) {
        hdx_table_free(table);
        return code;
    }
    return hdx_rows_explain_empty(hdx_table_rows(table, out, err), out, err, "no threads in the dump");
}
