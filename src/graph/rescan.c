/*
 * rescan.c - reads the whole dump once more, in the order of the file, with ids.
 *
 * In:  the dump; addresses and positions of the index.
 * Out: roots, instances, object arrays and class objects, each on the thread that read it.
 * In a damaged dump an object may have two records; only the one that the index uses is passed on.
 * Cost: the survey and the walk of the hprof room (a compressed dump is inflated twice), and one address look-up per
 *       object.
 */
#include "graph/inside.h"
#include "graph/graph.h"

#define EVENTS 256u

typedef struct rescan {
    hdx_graph             *g;
    const hdx_dump_reader *reader;
    bool                   doubles; /* some objects may have two records */
    uint32_t               id_size;
    struct {
        hdx_value *at;
        uint64_t   capacity;
    } statics[HDX_WORKERS_MAX];
} rescan;

static hdx_code ignore_heap(void *context, unsigned worker, const hdx_event *events, size_t n, hdx_error *err)
{
    (void)context, (void)worker, (void)events, (void)n, (void)err;
    return HDX_OK;
}
static hdx_code ignore_top(void *context, const hdx_top *record, hdx_error *err)
{
    (void)context, (void)record, (void)err;
    return HDX_OK;
}
static hdx_code ignore_restart(void *context, hdx_error *err)
{
    (void)context, (void)err;
    return HDX_OK;
}
static hdx_code ignore_stretch(void *context, unsigned worker, uint64_t stretch, hdx_error *err)
{
    (void)context, (void)worker, (void)stretch, (void)err;
    return HDX_OK;
}

static bool is_object(uint8_t tag)
{
    return tag == HDX_SUB_INSTANCE || tag == HDX_SUB_OBJECT_ARRAY || tag == HDX_SUB_CLASS;
}

static bool is_root(uint8_t tag)
{
    return !is_object(tag) && tag != HDX_SUB_PRIMITIVE_ARRAY && tag != HDX_SUB_PRIMITIVE_ARRAY_NODATA &&
           tag != HDX_SUB_HEAP_DUMP_INFO;
}

static hdx_code class_object(rescan *r, unsigned worker, const hdx_event *e, hdx_id id, hdx_error *err)
{
    hdx_class_dump dump;
    if (!hdx_class_dump_cut((hdx_view){ e->body, e->body_len }, r->id_size, &dump))
        return HDX_OK; /* the survey reported the damage */
    uint32_t count = 0;
    uint64_t name;
    uint8_t  type;
    hdx_view bytes;
    while (hdx_class_static_next(&dump.statics, r->id_size, &name, &type, &bytes)) {
        if (!hdx_mem_room(NULL, (void **)&r->statics[worker].at, &r->statics[worker].capacity, count,
                          sizeof(hdx_value)))
            return hdx_no_memory(err, "statics", (uint64_t)count * sizeof(hdx_value));
        r->statics[worker].at[count++] = hdx_value_of(type, bytes.at, r->id_size);
    }
    return r->reader->class_object(r->reader->context, worker, id, dump.size - 1, r->statics[worker].at, count, err);
}

static hdx_code deliver(rescan *r, unsigned worker, const hdx_event *e, hdx_id id, hdx_error *err)
{
    const hdx_dump_reader *to = r->reader;
    hdx_pos                pos;
    if (id == HDX_NO_ID || (r->doubles && (!hdx_graph_position(r->g, id, &pos) || pos != e->pos)))
        return HDX_OK;
    if (e->tag == HDX_SUB_INSTANCE)
        return to->instance(to->context, worker, id, e->body, e->body_len, err);
    if (e->tag == HDX_SUB_OBJECT_ARRAY)
        return to->elements(to->context, worker, id, e->body_from, e->body, e->body_len / r->id_size, err);
    return class_object(r, worker, e, id, err);
}

static hdx_code events(void *context, unsigned worker, const hdx_event *at, size_t n, hdx_error *err)
{
    rescan  *r = context;
    hdx_addr addresses[EVENTS];
    hdx_id   ids[EVENTS];
    hdx_code code = HDX_OK;
    for (size_t done = 0, now; done < n && code == HDX_OK; done += now) {
        size_t objects = 0, next = 0;
        now = hdx_least(n - done, EVENTS);
        for (size_t i = done; i < done + now; i++)
            if (is_object(at[i].tag))
                addresses[objects++] = at[i].addr;
        hdx_graph_find_many(r->g, addresses, objects, ids);
        for (size_t i = done; i < done + now && code == HDX_OK; i++) {
            const hdx_event *e = &at[i];
            if (is_object(e->tag)) {
                code = deliver(r, worker, e, ids[next++], err);
            } else if (is_root(e->tag)) {
                hdx_dump_root root = { e->pos, e->addr, e->serial, e->tag };
                code = r->reader->root(r->reader->context, worker, &root, err);
            }
        }
    }
    return code;
}

hdx_code hdx_graph_rescan(hdx_graph *g, unsigned threads, const hdx_dump_reader *reader, hdx_ticker *tick,
                          hdx_error *err)
{
    hdx_source *source;
    hdx_survey  survey;
    hdx_code    code = hdx_graph_source(g, &source, err);
    if (code != HDX_OK)
        return code;
    rescan *r = hdx_mem_get(NULL, sizeof *r);
    if (r == NULL)
        return hdx_no_memory(err, "reading the dump", sizeof *r);
    threads = threads == 0 ? hdx_workers_default() : (unsigned)hdx_least(threads, HDX_WORKERS_MAX);
    r->g = g;
    r->reader = reader;
    r->doubles = g->m->damage_count + g->m->damage_more > 0;
    r->id_size = g->m->id_size;
    hdx_survey_options options = { .dump_number = g->m->dump_number, .threads = threads, .tick = tick };
    hdx_survey_sink    sink = { r, ignore_heap, ignore_top, ignore_restart };
    if ((code = hdx_hprof_survey(source, &options, &sink, &survey, err)) == HDX_OK) {
        hdx_walk_visitor visitor = { r, ignore_stretch, events, ignore_stretch };
        if (survey.head.id_size != r->id_size)
            code =
                hdx_fail(err, HDX_BAD_DUMP, g->dump, 0, "ids are %u bytes, but were %u when indexed: the dump changed",
                         survey.head.id_size, r->id_size);
        else
            code = hdx_hprof_walk(source, &survey, threads, &visitor, NULL, NULL, tick, err);
        hdx_survey_free(&survey);
    }
    for (unsigned i = 0; i < HDX_WORKERS_MAX; i++)
        hdx_mem_put(NULL, r->statics[i].at, r->statics[i].capacity * sizeof(hdx_value));
    hdx_mem_put(NULL, r, sizeof *r);
    return code;
}
