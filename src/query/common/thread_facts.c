/*
 * thread_facts.c - reads the fields of a thread.
 *
 * Name, priority and state are fields of the thread, since JDK 19 partly of its `holder` (HPROF 6). A virtual thread
 * has none of them: its state is a number whose meaning differs between JDKs. The static fields of its class name these
 * numbers, so they are read from the dump.
 */
#include "graph/graph.h"
#include "query/common/fields.h"
#include "query/common/labels.h"
#include "query/common/thread_facts.h"
#include "query/query.h"

#define THREAD  "java.lang.Thread"
#define HOLDER  THREAD "$FieldHolder"
#define VIRTUAL "java.lang.VirtualThread"

/*
 * Follows java.lang.VirtualThread.threadState of JDK 19 to 25; mounted threads and those in transition count as
 * running.
 */
static const struct {
    const char *name, *state;
} virtual_states[] = {
    { "NEW", "NEW" },
    { "STARTED", "RUNNABLE" },
    { "RUNNABLE", "RUNNABLE" },
    { "RUNNING", "RUNNABLE" },
    { "PARKING", "RUNNABLE" },
    { "PARKED", "WAITING" },
    { "PINNED", "WAITING" },
    { "TIMED_PARKING", "RUNNABLE" },
    { "TIMED_PARKED", "TIMED_WAITING" },
    { "TIMED_PINNED", "TIMED_WAITING" },
    { "UNPARKED", "RUNNABLE" },
    { "YIELDING", "RUNNABLE" },
    { "YIELDED", "RUNNABLE" },
    { "BLOCKING", "BLOCKED" },
    { "BLOCKED", "BLOCKED" },
    { "UNBLOCKED", "RUNNABLE" },
    { "WAITING", "RUNNABLE" },
    { "WAIT", "WAITING" },
    { "TIMED_WAITING", "RUNNABLE" },
    { "TIMED_WAIT", "TIMED_WAITING" },
    { "TERMINATED", "TERMINATED" },
};
#define SUSPENDED 0x100 /* a flag in VirtualThread.state, in addition to the value */

/*
 * java.lang.Thread.State from the bits of threadStatus (JVMTI thread states, as sun.misc.VM.toThreadState reads them).
 */
static const char *state_name(int64_t status)
{
    if (status & 0x0004)
        return "RUNNABLE";
    if (status & 0x0400)
        return "BLOCKED";
    if (status & 0x0010)
        return "WAITING";
    if (status & 0x0020)
        return "TIMED_WAITING";
    if (status & 0x0002)
        return "TERMINATED";
    return status & 0x0001 ? "RUNNABLE" : "NEW";
}

hdx_code hdx_thread_reader_open(const hdx_query *q, hdx_thread_reader *out, hdx_error *err)
{
    *out = (hdx_thread_reader){ .q = *q, .virtuals = HDX_NO_CLASS };
    const hdx_class *top = hdx_graph_class_named(q->graph, "java.lang.BaseVirtualThread"),
                    *c = hdx_graph_class_named(q->graph, VIRTUAL);
    if (c == NULL)
        return HDX_OK;
    out->virtuals = top != NULL ? top->number : c->number;
    const hdx_code code = hdx_fields_read(&out->thread, q->graph, c->id, err);
    for (size_t i = 0; code == HDX_OK && i < sizeof virtual_states / sizeof *virtual_states; i++)
        if (hdx_fields_number(&out->thread, VIRTUAL, virtual_states[i].name, &out->states[out->state_count].value))
            out->states[out->state_count++].state = virtual_states[i].state;
    return code;
}

void hdx_thread_reader_close(hdx_thread_reader *r)
{
    hdx_fields_close(&r->thread);
    hdx_fields_close(&r->holder);
}

bool hdx_thread_is_virtual(const hdx_thread_reader *r, hdx_id thread)
{
    return r->virtuals != HDX_NO_CLASS &&
           hdx_class_extends(r->q.graph, hdx_graph_class_of(r->q.graph, thread), r->virtuals);
}

/* Reads a field that java.lang.Thread or, since JDK 19, its holder declares; fields of subclasses do not count. */
static bool thread_number(const hdx_thread_reader *r, const char *name, int64_t *out)
{
    return hdx_fields_number(&r->thread, THREAD, name, out) || hdx_fields_number(&r->holder, HOLDER, name, out);
}

static const char *virtual_state(const hdx_thread_reader *r)
{
    int64_t value;
    if (hdx_fields_number(&r->thread, VIRTUAL, "state", &value))
        for (unsigned i = 0; i < r->state_count; i++)
            if (r->states[i].value == (value & ~(int64_t)SUSPENDED))
                return r->states[i].state;
    return NULL;
}

static void read_facts(const hdx_thread_reader *r, bool runs, hdx_thread_facts *out)
{
    int64_t          value;
    const hdx_value *loader = hdx_fields_value(&r->thread, THREAD, "contextClassLoader"),
                    *carrier = hdx_fields_value(&r->thread, VIRTUAL, "carrierThread");
    if (thread_number(r, "daemon", &value))
        out->daemon = hdx_cell_bool(value != 0);
    if (thread_number(r, "priority", &value))
        out->priority = hdx_cell_int(value);
    if (thread_number(r, "threadStatus", &value))
        out->state = hdx_cell_string(state_name(value));
    else if (!runs && !out->is_virtual &&
             (thread_number(r, "started", &value) || thread_number(r, "hasBeenStarted", &value)))
        out->state = hdx_cell_string(value != 0 ? "TERMINATED" : "NEW"); /* ART, Dalvik */
    if (loader != NULL && loader->type == 2 && loader->as.address != 0)
        out->context_class_loader = hdx_cell_address(loader->as.address);
    if (!out->is_virtual)
        return;
    if (carrier != NULL && carrier->type == 2 && carrier->as.address != 0)
        out->carrier = hdx_cell_address(carrier->as.address);
    if (out->state.kind == HDX_CELL_NULL)
        out->state = hdx_cell_string(virtual_state(r));
    /* Thread.ofVirtual: all virtual threads are daemons */
    if (out->daemon.kind == HDX_CELL_NULL && r->thread.v.count > 0) {
        out->daemon = hdx_cell_bool(true);
        out->priority = hdx_cell_int(5);
    }
}

hdx_code hdx_thread_read(hdx_thread_reader *r, hdx_id thread, hdx_arena *arena, hdx_thread_facts *out, hdx_error *err)
{
    hdx_graph     *g = r->q.graph;
    const hdx_cell none = hdx_cell_null();
    *out = (hdx_thread_facts){ none, none, none, none, none, none, hdx_thread_is_virtual(r, thread) };
    hdx_code code = hdx_label_cell(&r->q, thread, arena, &out->name, err);
    if (code == HDX_OK)
        code = hdx_fields_read(&r->thread, g, thread, err);
    if (code == HDX_OK)
        code = hdx_fields_read(&r->holder, g, hdx_fields_ref(&r->thread, THREAD, "holder"), err);
    if (code == HDX_OK)
        read_facts(r, hdx_graph_thread_of(g, thread) != NULL, out);
    return code;
}
