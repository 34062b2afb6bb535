/* sweep.c - workers take the pieces of a range from an atomic counter. */
#include "query/common/sweep.h"

#include "base/first_error.h"
#include "base/workers.h"
#include "graph/graph.h"

typedef struct sweep {
    const hdx_query       *q;
    const hdx_sweep_range *r;
    hdx_sweep_piece       *work;
    void                  *context;
    _Atomic uint64_t       taken;
    hdx_first_error        fault;
} sweep;

static void take_pieces(void *context, unsigned worker)
{
    sweep           *s = context;
    hdx_error        err = { .offset = HDX_NOWHERE };
    uint64_t         from;
    struct hdx_near *near = s->r->near ? hdx_graph_near_begin(s->q->graph) : NULL;
    while (!hdx_first_error_any(&s->fault) && (from = atomic_fetch_add(&s->taken, s->r->piece)) < s->r->count) {
        const uint64_t to = from + hdx_least(s->r->count - from, s->r->piece);
        hdx_code       code = hdx_ask_stopped(s->q, &err);
        if (code == HDX_OK)
            code = s->work(s->context, from, to, worker, &err);
        hdx_first_error_put(&s->fault, code, &err);
    }
    hdx_graph_near_end(near);
}

hdx_code hdx_sweep(const hdx_query *q, const hdx_sweep_range *r, hdx_sweep_piece *work, void *context, hdx_error *err)
{
    sweep s = { .q = q, .r = r, .work = work, .context = context };
    hdx_workers_run(r->workers, take_pieces, &s);
    return hdx_first_error_take(&s.fault, err);
}
