/*
 * runtime.c - finders of triage: locks, terminated threads, thread pools, ThreadLocals, finalizers, open files, memory
 * outside of the heap.
 */
#include "query/triage/finders.h"

#include "base/list.h"
#include "base/map.h"

#include <inttypes.h>
#include <stdio.h>

#define REFERRERS_MOST 256u

/* ---- threads that wait for one lock ---- */

#define WAITERS_REPORTED 3u /* minimum number of threads that wait for one owner */

typedef struct lock {
    hdx_addr address;
    uint64_t waiters;
    hdx_text class, owner;
} lock;

typedef struct locks {
    HDX_LIST(lock) list;
    hdx_map        places; /* address -> index in the list */
    hdx_buffer     ring;   /* names of threads of the first deadlock */
    uint64_t       first_ring, in_ring;
} locks;

static hdx_code copy_text(hdx_triage *t, const hdx_cell *cell, hdx_text *out, hdx_error *err)
{
    *out = (hdx_text){ "", 0 };
    if (cell->kind != HDX_CELL_TEXT)
        return HDX_OK;
    const char *at = hdx_arena_copy(t->arena, cell->as.text.at, cell->as.text.len);
    if (at == NULL)
        return hdx_no_memory(err, "a name", cell->as.text.len);
    *out = (hdx_text){ at, cell->as.text.len };
    return HDX_OK;
}

enum { WAITER, LOCK, LOCK_CLASS, OWNER, DEADLOCK };

static hdx_code count_waiter(hdx_triage *t, locks *l, const hdx_cell *const *row, hdx_error *err)
{
    bool     fresh;
    hdx_code code = HDX_OK;
    if (row[DEADLOCK]->kind == HDX_CELL_UINT &&
        (l->in_ring == 0 || hdx_triage_number(row[DEADLOCK]) == l->first_ring)) {
        l->first_ring = hdx_triage_number(row[DEADLOCK]);
        if (l->in_ring++ < 4) {
            hdx_buffer_text(&l->ring, l->in_ring == 1 ? "\"" : ", \"");
            hdx_triage_put_text(&l->ring, row[WAITER]);
            hdx_buffer_text(&l->ring, "\"");
        }
    }
    if (row[LOCK]->kind != HDX_CELL_ADDRESS || row[OWNER]->kind != HDX_CELL_TEXT)
        return HDX_OK;
    uint64_t *place = hdx_map_put(&l->places, row[LOCK]->as.address, &fresh);
    if (place == NULL || !hdx_mem_room(t->q.mem, (void **)&l->list.at, &l->list.capacity, l->list.count, sizeof(lock)))
        return hdx_no_memory(err, "locks", l->list.count * sizeof(lock));
    if (fresh) {
        lock *new = &l->list.at[ *place = l->list.count++];
        *new = (lock){ .address = row[LOCK]->as.address };
        if ((code = copy_text(t, row[LOCK_CLASS], &new->class, err)) == HDX_OK)
            code = copy_text(t, row[OWNER], &new->owner, err);
    }
    l->list.at[*place].waiters++;
    return code;
}

static hdx_code report_locks(hdx_triage *t, const locks *l, hdx_error *err)
{
    const lock *most = NULL;
    hdx_code    code = HDX_OK;
    if (l->in_ring > 0) {
        hdx_buffer b = hdx_buffer_of(t->q.mem);
        hdx_buffer_text(&b, "deadlock: threads ");
        hdx_buffer_put(&b, l->ring.at, l->ring.len);
        hdx_buffer_text(&b, l->in_ring > 4 ? " and others wait for each other" : " wait for each other");
        b.failed = b.failed || l->ring.failed;
        code = hdx_triage_report(t, "deadlock", hdx_cell_null(), "threads", &b, err);
    }
    for (uint64_t i = 0; i < l->list.count; i++)
        if (l->list.at[i].waiters >= WAITERS_REPORTED && (most == NULL || l->list.at[i].waiters > most->waiters))
            most = &l->list.at[i];
    if (code != HDX_OK || most == NULL)
        return code;
    const hdx_cell class = hdx_cell_text(most->class), owner = hdx_cell_text(most->owner);
    hdx_buffer b = hdx_buffer_of(t->q.mem);
    hdx_triage_put_count(&b, most->waiters, "thread waits", "threads wait");
    hdx_buffer_text(&b, " for the same ");
    hdx_triage_put_text(&b, &class);
    hdx_buffer_text(&b, " that thread \"");
    hdx_triage_put_text(&b, &owner);
    hdx_buffer_text(&b, "\" has");
    return hdx_triage_report(t, "waiting", hdx_cell_null(), "threads --sort owner", &b, err);
}

hdx_code hdx_triage_waiting(hdx_triage *t, hdx_error *err)
{
    static const char *const columns[] = { "name", "lock", "waits_for", "owner", "deadlock", NULL };
    locks                    l = { .places = hdx_map_of(t->q.mem), .ring = hdx_buffer_of(t->q.mem) };
    hdx_asked                a;
    if (hdx_graph_summary_of(t->g)->threads > HDX_TRIAGE_MANY)
        return HDX_OK;
    hdx_code code = hdx_triage_ask(t, &hdx_question_threads, NULL, 0, columns, &a, err);
    while (code == HDX_OK && hdx_triage_next(&a))
        code = count_waiter(t, &l, a.cells, err);
    code = hdx_triage_end(&a, code, err);
    return code == HDX_OK ? report_locks(t, &l, err) : code;
}

/* ---- pools of threads ---- */

#define POOL_MANY 100u

/* Many threads of one name, or threads that retain much, usually wait for something that never happens. */
hdx_code hdx_triage_pools(hdx_triage *t, hdx_error *err)
{
    static const hdx_argument arguments[] = { { "by", "pool" } };
    static const char *const  columns[] = { "pool", "threads", "retained", NULL };
    hdx_asked                 a;
    uint64_t                  threads = 0, bytes = 0;
    hdx_text                  pool = { "", 0 };
    if (hdx_graph_summary_of(t->g)->threads > HDX_TRIAGE_MANY)
        return HDX_OK;
    hdx_code code = hdx_triage_ask(t, &hdx_question_threads, arguments, 1, columns, &a, err);
    while (code == HDX_OK && hdx_triage_next(&a)) {
        const uint64_t n = hdx_triage_number(a.cells[1]), kept = hdx_triage_number(a.cells[2]);
        if (n < 2 || (n < POOL_MANY && !hdx_triage_is_relevant(t, kept)) || (kept <= bytes && n <= threads))
            continue;
        threads = n;
        bytes = kept;
        code = copy_text(t, a.cells[0], &pool, err);
    }
    if ((code = hdx_triage_end(&a, code, err)) != HDX_OK || threads == 0)
        return code;
    const hdx_cell name = hdx_cell_text(pool);
    hdx_buffer     b = hdx_buffer_of(t->q.mem);
    hdx_triage_put_count(&b, threads, "thread is", "threads are");
    hdx_buffer_text(&b, " called \"");
    hdx_triage_put_text(&b, &name);
    hdx_buffer_text(&b, "\"; they retain ");
    hdx_triage_put_share(t, &b, bytes);
    return hdx_triage_report(t, "pool", hdx_cell_uint(bytes), "threads --by pool", &b, err);
}

/* ---- ThreadLocals ---- */

static bool is_many(const hdx_triage *t, const char *class_name)
{
    const hdx_class *c = hdx_graph_class_named(t->g, class_name);
    return c != NULL && c->live_instances > HDX_TRIAGE_MANY;
}

hdx_code hdx_triage_thread_locals(hdx_triage *t, hdx_error *err)
{
    static const hdx_argument arguments[] = { { "by", "key" } };
    static const char *const  columns[] = { "field", "threads", "retained", NULL };
    hdx_asked                 a;
    uint64_t                  threads = 0, bytes = 0;
    hdx_text                  field = { "", 0 };
    if (is_many(t, "java.lang.ThreadLocal$ThreadLocalMap$Entry"))
        return HDX_OK;
    hdx_code code = hdx_triage_ask(t, &hdx_question_thread_locals, arguments, 1, columns, &a, err);
    while (code == HDX_OK && hdx_triage_next(&a)) {
        if (hdx_triage_number(a.cells[2]) <= bytes)
            continue;
        threads = hdx_triage_number(a.cells[1]);
        bytes = hdx_triage_number(a.cells[2]);
        code = copy_text(t, a.cells[0], &field, err);
    }
    if ((code = hdx_triage_end(&a, code, err)) != HDX_OK || !hdx_triage_is_relevant(t, bytes))
        return code;
    const hdx_cell name = hdx_cell_text(field);
    hdx_buffer     b = hdx_buffer_of(t->q.mem);
    hdx_buffer_text(&b, "the ThreadLocal ");
    hdx_triage_put_text(&b, &name);
    hdx_buffer_text(&b, field.len > 0 ? " has values in " : "has values in ");
    hdx_triage_put_count(&b, threads, "thread", "threads");
    hdx_buffer_text(&b, "; they retain ");
    hdx_triage_put_share(t, &b, bytes);
    return hdx_triage_report(t, "thread-local", hdx_cell_uint(bytes), "thread-locals --by key", &b, err);
}

/* ---- finalizers ---- */

#define QUEUED_MANY 100u

hdx_code hdx_triage_finalizers(hdx_triage *t, hdx_error *err)
{
    static const hdx_argument arguments[] = { { "by", "class" } };
    static const char *const  columns[] = { "class", "running", "queued", "queued_retained", NULL };
    hdx_asked                 a;
    uint64_t                  queued = 0, bytes = 0, running = 0, most = 0;
    hdx_text class = { "", 0 };
    if (is_many(t, "java.lang.ref.Finalizer"))
        return HDX_OK;
    hdx_code code = hdx_triage_ask(t, &hdx_question_finalizers, arguments, 1, columns, &a, err);
    while (code == HDX_OK && hdx_triage_next(&a)) {
        const uint64_t n = hdx_triage_number(a.cells[2]);
        running += hdx_triage_number(a.cells[1]);
        queued += n;
        bytes += hdx_triage_number(a.cells[3]);
        if (n > most) {
            most = n;
            code = copy_text(t, a.cells[0], &class, err);
        }
    }
    if ((code = hdx_triage_end(&a, code, err)) != HDX_OK || queued < QUEUED_MANY)
        return code;
    const hdx_cell name = hdx_cell_text(class);
    hdx_buffer     b = hdx_buffer_of(t->q.mem);
    hdx_triage_put_count(&b, queued, "object waits", "objects wait");
    hdx_buffer_text(&b, " for their finalizers, most of class ");
    hdx_triage_put_text(&b, &name);
    hdx_buffer_text(&b, running > 0 ? ", while one finalizer is running; they retain " : "; they retain ");
    hdx_triage_put_share(t, &b, bytes);
    return hdx_triage_report(t, "finalizers", hdx_cell_uint(bytes), "finalizers", &b, err);
}

/* ---- resources that were not closed ---- */

#define OPEN_MANY 64u

static bool is_standard_stream(const hdx_cell *number)
{
    return (number->kind == HDX_CELL_UINT && number->as.natural <= 2) ||
           (number->kind == HDX_CELL_INT && number->as.integer >= 0 && number->as.integer <= 2);
}

/* Reports the most frequent kind of open resource, without those of the JDK and of class loaders. */
hdx_code hdx_triage_open_files(hdx_triage *t, hdx_error *err)
{
    static const char *const columns[] = { "kind", "class_path", "number", NULL };
    struct {
        char     name[24];
        uint64_t count;
    } kinds[16] = { { "", 0 } };
    hdx_asked a;
    unsigned  known = 0, best = 0;
    if (is_many(t, "java.io.FileDescriptor"))
        return HDX_OK;
    hdx_code code = hdx_triage_ask(t, &hdx_question_open_files, NULL, 0, columns, &a, err);
    while (code == HDX_OK && hdx_triage_next(&a)) {
        unsigned k = 0;
        if (a.cells[0]->kind != HDX_CELL_TEXT || (a.cells[1]->kind == HDX_CELL_BOOL && a.cells[1]->as.boolean) ||
            is_standard_stream(a.cells[2]))
            continue;
        while (k < known && !hdx_text_is(a.cells[0]->as.text, kinds[k].name))
            k++;
        if (k == HDX_COUNT(kinds))
            continue;
        if (k == known)
            (void)snprintf(kinds[known++].name, sizeof kinds[0].name, "%.*s", (int)a.cells[0]->as.text.len,
                           a.cells[0]->as.text.at);
        best = ++kinds[k].count > kinds[best].count ? k : best;
    }
    if ((code = hdx_triage_end(&a, code, err)) != HDX_OK || kinds[best].count < OPEN_MANY)
        return code;
    hdx_buffer b = hdx_buffer_of(t->q.mem);
    hdx_triage_put_count(&b, kinds[best].count, "object", "objects");
    hdx_buffer_format(&b, " of kind \"%s\" that the program opened are not closed", kinds[best].name);
    return hdx_triage_report(t, "open-files", hdx_cell_null(), "open-files", &b, err);
}

/* ---- memory outside of the heap ---- */

hdx_code hdx_triage_outside(hdx_triage *t, hdx_error *err)
{
    static const hdx_argument arguments[] = { { "by", "kind" } };
    static const char *const  columns[] = { "kind", "buffers", "capacity", NULL };
    const hdx_class          *c = hdx_graph_class_named(t->g, "java.nio.DirectByteBuffer");
    hdx_asked                 a;
    uint64_t                  mapped = 0, rest = 0, pieces = 0;
    if (c != NULL && c->live_instances > HDX_TRIAGE_MANY)
        return HDX_OK;
    hdx_code code = hdx_triage_ask(t, &hdx_question_direct_buffers, arguments, 1, columns, &a, err);
    while (code == HDX_OK && hdx_triage_next(&a)) {
        if (hdx_text_is(a.cells[0]->as.text, "array") || hdx_text_is(a.cells[0]->as.text, "freed") ||
            hdx_text_is(a.cells[0]->as.text, "image"))
            continue;
        *(hdx_text_is(a.cells[0]->as.text, "mapped") ? &mapped : &rest) += hdx_triage_number(a.cells[2]);
        pieces += hdx_triage_number(a.cells[1]);
    }
    if ((code = hdx_triage_end(&a, code, err)) != HDX_OK || !hdx_triage_is_relevant(t, mapped + rest))
        return code;
    hdx_buffer b = hdx_buffer_of(t->q.mem);
    hdx_triage_put_count(&b, pieces, "buffer has", "buffers have");
    hdx_buffer_text(&b, " memory outside of the heap: ");
    if (rest > 0)
        hdx_triage_put_size(&b, rest);
    if (mapped > 0) {
        hdx_buffer_text(&b, rest > 0 ? ", and " : "");
        hdx_triage_put_size(&b, mapped);
        hdx_buffer_text(&b, " of files");
    }
    hdx_buffer_text(&b, "; live objects take ");
    hdx_triage_put_size(&b, t->live);
    return hdx_triage_report(t, "outside", hdx_cell_uint(mapped + rest), "direct-buffers", &b, err);
}

/* ---- terminated threads and their queues ---- */

#define TERMINATED 2 /* in jdk.internal.misc.VM: JVMTI_THREAD_STATE_TERMINATED */

static hdx_code has_ended(hdx_triage *t, hdx_id thread, bool *out, hdx_error *err)
{
    int64_t  state = 0;
    hdx_code code = hdx_fields_read(&t->fields, t->g, thread, err);
    *out = code == HDX_OK && (hdx_fields_number(&t->fields, NULL, "threadStatus", &state)) && (state & TERMINATED) != 0;
    if (code == HDX_OK && !*out) {
        const hdx_id holder = hdx_fields_ref(&t->fields, "java.lang.Thread", "holder"); /* JDK 19 and later */
        if (holder != HDX_NO_ID && (code = hdx_fields_read(&t->fields, t->g, holder, err)) == HDX_OK)
            *out = hdx_fields_number(&t->fields, NULL, "threadStatus", &state) && (state & TERMINATED) != 0;
    }
    return code;
}

/* Finds the queue with the most bytes among those to which the object refers. */
static void heaviest_queue(hdx_triage *t, hdx_id of, const hdx_class *queues, hdx_id *best)
{
    hdx_refs refs;
    hdx_id   to;
    hdx_graph_outbound(t->g, of, HDX_LIVE, &refs);
    for (unsigned n = 0; n < REFERRERS_MOST && hdx_refs_next(&refs, &to); n++)
        if (hdx_class_extends(t->g, hdx_graph_class_of(t->g, to), queues->number) &&
            (*best == HDX_NO_ID || hdx_graph_retained(t->g, to) > hdx_graph_retained(t->g, *best)))
            *best = to;
}

hdx_code hdx_triage_ended(hdx_triage *t, hdx_error *err)
{
    const hdx_class *queues = hdx_graph_class_named(t->g, "java.util.AbstractQueue");
    hdx_ids          threads = hdx_ids_of(t->q.mem);
    hdx_id           best = HDX_NO_ID, whose = HDX_NO_ID;
    if (queues == NULL || hdx_graph_summary_of(t->g)->threads > HDX_TRIAGE_MANY)
        return HDX_OK;
    hdx_code code = hdx_threads_of(&t->ask, &threads, err);
    for (uint64_t i = 0; code == HDX_OK && i < threads.count && i < HDX_TRIAGE_MANY; i++) {
        bool     ended;
        hdx_refs refs;
        hdx_id   from, before = best;
        if ((code = has_ended(t, threads.at[i], &ended, err)) != HDX_OK || !ended)
            continue;
        heaviest_queue(t, threads.at[i], queues, &best);
        hdx_graph_inbound(t->g, threads.at[i], HDX_LIVE, &refs);
        for (unsigned n = 0; n < REFERRERS_MOST && hdx_refs_next(&refs, &from); n++)
            heaviest_queue(t, from, queues, &best);
        if (best != before)
            whose = threads.at[i];
        code = hdx_ask_check_cancel(&t->ask, err);
    }
    const uint64_t bytes = best == HDX_NO_ID ? 0 : hdx_graph_retained(t->g, best);
    if (code != HDX_OK || !hdx_triage_is_relevant(t, bytes))
        return code;
    hdx_cell   name = hdx_cell_null();
    hdx_buffer b = hdx_buffer_of(t->q.mem), next = hdx_buffer_of(t->q.mem);
    code = hdx_label_cell(&t->q, whose, t->arena, &name, err);
    hdx_buffer_text(&b, "thread \"");
    hdx_triage_put_text(&b, &name);
    const hdx_cell class = hdx_class_of_cell(t->g, best);
    hdx_buffer_text(&b, "\" has ended, but its ");
    hdx_triage_put_text(&b, &class);
    hdx_buffer_text(&b, " still retains ");
    hdx_triage_put_share(t, &b, bytes);
    hdx_buffer_format(&next, "path 0x%" PRIx64, hdx_graph_address(t->g, best));
    if (code == HDX_OK && next.failed)
        code = hdx_no_memory(err, "a command", next.len);
    return code == HDX_OK ? hdx_triage_report(t, "ended-thread", hdx_cell_uint(bytes), next.at, &b, err) : code;
}
