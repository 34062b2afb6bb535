/*
 * thread_waits.c - what threads wait for, its owner, and which threads wait for each other.
 *
 * A parked thread, including a virtual one, has its synchronizer in Thread.parkBlocker
 * (java.util.concurrent.locks.LockSupport). As in HotSpot's thread dumps (ThreadSnapshot::initialize in
 * services/threadService.cpp), the field counts while the state is WAITING or TIMED_WAITING. The owner of the blocker
 * is
 *
 *   of an AbstractOwnableSynchronizer  exclusiveOwnerThread; of a read-write lock held by readers, firstReader, the
 * only reader that the lock records of a FutureTask                    runner, the thread that computes it of anything
 * else                   unknown: a Condition, a latch or a semaphore belongs to no thread
 *
 * A thread at a monitor (state BLOCKED) has no blocker: dumps of HotSpot do not contain owners of monitors.
 *
 * Threads whose owners form a cycle are a deadlock, unless one of them stops waiting after a time (TIMED_WAITING). Each
 * thread has at most one owner, so following the owners from each thread, no thread twice, finds all cycles.
 *
 * Cost: reads each thread, and the blocker of a parked one; 32 bytes per thread.
 */
#include "query/runtime/thread_waits.h"
#include "graph/graph.h"
#include "query/common/labels.h"

#define THREAD     "java.lang.Thread"
#define OWNABLE    "java.util.concurrent.locks.AbstractOwnableSynchronizer"
#define READ_WRITE "java.util.concurrent.locks.ReentrantReadWriteLock$Sync"
#define FUTURE     "java.util.concurrent.FutureTask"

typedef struct waits {
    hdx_ask          *ask;
    const hdx_ids    *threads;
    hdx_thread_waits *out;
    hdx_fields        blocker;
    uint64_t         *next; /* by thread: index of its owner among the threads; NONE */
} waits;
#define NONE UINT64_MAX

static bool is_state(const hdx_cell *state, const char *name)
{
    return state->kind == HDX_CELL_TEXT && hdx_text_is(state->as.text, name);
}

static hdx_code find_owner(waits *w, hdx_thread_wait *wait, hdx_error *err)
{
    static const char *const owners[][2] = { { OWNABLE, "exclusiveOwnerThread" },
                                             { READ_WRITE, "firstReader" },
                                             { FUTURE, "runner" } };
    const hdx_code           code = hdx_fields_read(&w->blocker, w->ask->g, wait->blocker, err);
    for (size_t i = 0; code == HDX_OK && wait->owner == HDX_NO_ID && i < HDX_COUNT(owners); i++)
        wait->owner = hdx_fields_ref(&w->blocker, owners[i][0], owners[i][1]);
    return code;
}

/* Returns the index among the threads; NONE: not one of them. */
static uint64_t index_of(const waits *w, hdx_id thread)
{
    const uint64_t i = hdx_lower_bound(HDX_NUMBERS(w->threads->at, w->threads->count), thread);
    return i < w->threads->count && w->threads->at[i] == thread ? i : NONE;
}

static hdx_code read_all(waits *w, hdx_thread_reader *reader, hdx_error *err)
{
    hdx_arena        arena = hdx_arena_of(w->ask->q.mem);
    struct hdx_near *near = hdx_graph_near_begin(w->ask->g);
    hdx_code         code = HDX_OK;
    for (uint64_t i = 0; code == HDX_OK && i < w->threads->count; i++) {
        hdx_thread_wait *wait = &w->out->at[i];
        hdx_thread_facts facts;
        *wait = (hdx_thread_wait){ HDX_NO_ID, HDX_NO_ID, 0 };
        w->next[i] = NONE;
        hdx_arena_empty(&arena);
        if ((code = hdx_thread_read(reader, w->threads->at[i], &arena, &facts, err)) != HDX_OK)
            break;
        const bool timed = is_state(&facts.state, "TIMED_WAITING");
        if (timed || is_state(&facts.state, "WAITING"))
            wait->blocker = hdx_fields_ref(&reader->thread, THREAD, "parkBlocker");
        if (wait->blocker != HDX_NO_ID)
            code = find_owner(w, wait, err);
        if (code == HDX_OK && !timed && wait->owner != HDX_NO_ID)
            w->next[i] = index_of(w, wait->owner);
        if (code == HDX_OK)
            code = hdx_ask_check_cancel(w->ask, err);
    }
    hdx_graph_near_end(near);
    hdx_arena_free(&arena);
    return code;
}

/* `seen`: 1 + the thread from which a thread was first reached; a walk that meets a thread of its own is a cycle. */
static hdx_code find_cycles(waits *w, hdx_error *err)
{
    const uint64_t n = w->threads->count;
    uint64_t      *seen = hdx_mem_array(w->ask->q.mem, n, sizeof *seen);
    if (seen == NULL)
        return hdx_no_memory(err, "threads", n * sizeof *seen);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t at = i;
        for (; at != NONE && seen[at] == 0; at = w->next[at])
            seen[at] = i + 1;
        if (at == NONE || seen[at] != i + 1 || w->out->at[at].deadlock != 0)
            continue;
        w->out->deadlocks++;
        for (; w->out->at[at].deadlock == 0; at = w->next[at])
            w->out->at[at].deadlock = w->out->deadlocks;
    }
    hdx_mem_put(w->ask->q.mem, seen, n * sizeof *seen);
    return HDX_OK;
}

hdx_code hdx_thread_waits_find(hdx_ask *ask, hdx_thread_reader *reader, const hdx_ids *threads, hdx_thread_waits *out,
                               hdx_error *err)
{
    hdx_mem *mem = ask->q.mem;
    waits    w = { .ask = ask, .threads = threads, .out = out };
    *out = (hdx_thread_waits){ .at = hdx_mem_array(mem, threads->count, sizeof *out->at) };
    w.next = hdx_mem_array(mem, threads->count, sizeof *w.next);
    if (out->at == NULL || w.next == NULL)
        return hdx_no_memory(err, "threads", threads->count * (sizeof *out->at + sizeof *w.next));
    hdx_code code = read_all(&w, reader, err);
    if (code == HDX_OK)
        code = find_cycles(&w, err);
    hdx_fields_close(&w.blocker);
    hdx_mem_put(mem, w.next, threads->count * sizeof *w.next);
    return code;
}

/* ---- messages ---- */

#define CYCLES_MOST  3u /* cycles that are listed, with at most THREADS threads each */
#define THREADS_MOST 6u

static hdx_code add_name(const hdx_query *q, hdx_id thread, hdx_buffer *text, hdx_error *err)
{
    hdx_arena      arena = hdx_arena_of(q->mem);
    hdx_cell       name = hdx_cell_null();
    const hdx_code code = hdx_label_cell(q, thread, &arena, &name, err);
    if (name.kind == HDX_CELL_TEXT)
        hdx_buffer_format(text, "\"%.*s\"", (int)name.as.text.len, name.as.text.at);
    else
        hdx_buffer_format(text, "0x%llx", (unsigned long long)hdx_graph_address(q->graph, thread));
    hdx_arena_free(&arena);
    return code;
}

/* Lists the threads of a cycle from the one with the least id, along the owners. */
static hdx_code add_cycle(const hdx_query *q, const hdx_ids *threads, const hdx_thread_waits *w, uint64_t first,
                          hdx_buffer *text, hdx_error *err)
{
    uint64_t at = first;
    hdx_code code = add_name(q, threads->at[first], text, err);
    for (unsigned n = 1; code == HDX_OK; n++) {
        at = hdx_lower_bound(HDX_NUMBERS(threads->at, threads->count), w->at[at].owner);
        hdx_buffer_text(text, n == 1 ? " waits for " : ", which waits for ");
        if (n == THREADS_MOST && at != first) {
            hdx_buffer_text(text, "...");
            break;
        }
        code = add_name(q, threads->at[at], text, err);
        if (at == first)
            break;
    }
    return code;
}

hdx_code hdx_thread_waits_say(const hdx_query *q, const hdx_ids *threads, const hdx_thread_waits *w, hdx_buffer *text,
                              hdx_error *err)
{
    uint32_t said = 0;
    hdx_code code = HDX_OK;
    for (uint64_t i = 0; code == HDX_OK && i < threads->count && said < w->deadlocks && said < CYCLES_MOST; i++)
        if (w->at[i].deadlock == said + 1) {
            hdx_buffer_text(text, said == 0 ? "Deadlock: " : "\nDeadlock: ");
            code = add_cycle(q, threads, w, i, text, err);
            said++;
        }
    if (w->deadlocks > said)
        hdx_buffer_format(text, "\n%u more deadlocks", w->deadlocks - said);
    return code != HDX_OK || !text->failed ? code : hdx_no_memory(err, "a title", text->len);
}
