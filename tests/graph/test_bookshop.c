/*
 * test_bookshop.c - everything that the graph of examples/bookshop.hprof.gz says, as text: objects, references,
 * classes, values, labels, names. bookshop.txt has the checksum of each (support/checksums.h).
 */
#include "base/base.h"
#include "graph/graph.h"
#include "support/checksums.h"
#include "support/folder.h"
#include <heapdex/heapdex.h>

#include <criterion/criterion.h>
#include <pthread.h>

typedef unsigned long long ull;

static uint64_t put_summary(hdx_graph *g, hdx_buffer *b)
{
    const hdx_graph_summary *s = hdx_graph_summary_of(g);
    hdx_buffer_format(b, "%s %u %u %u %d %d %u %llu %s\n", s->version, s->id_size, s->reference_size, s->alignment,
                      s->compressed_oops, s->complete, s->step, (ull)s->created_ms, s->jvm);
    hdx_buffer_format(b, "%llu %llu %llu %llu %llu %llu %llu\n", (ull)s->objects, (ull)s->records, (ull)s->live_objects,
                      (ull)s->live_bytes, (ull)s->unreachable_objects, (ull)s->unreachable_bytes, (ull)s->references);
    hdx_buffer_format(b, "%llu %llu %llu %llu %llu %llu %llu %llu\n", (ull)s->classes, (ull)s->live_classes,
                      (ull)s->live_loaders, (ull)s->gc_roots, (ull)s->roots, (ull)s->threads,
                      (ull)s->dangling_references, (ull)s->dangling_roots);
    hdx_buffer_format(b, "%u %u %llu %llu %d %s %llu %u\n", s->dump_number, s->dumps_in_file, (ull)s->dump_size,
                      (ull)s->file_size, s->compression, s->dump_name, (ull)s->damage_count, s->warning_count);
    for (unsigned i = 0; i < 256; i++)
        hdx_buffer_format(b, "%llu %llu\n", (ull)s->top_records[i], (ull)s->sub_records[i]);
    return s->objects;
}

static uint64_t put_objects(hdx_graph *g, hdx_buffer *b)
{
    const uint64_t n = hdx_graph_objects(g);
    for (hdx_id id = 0; id < n; id++) {
        hdx_pos    pos = 7;
        const bool has = hdx_graph_position(g, id, &pos);
        hdx_buffer_format(b, "%llx %u %d %llu %llu %d %d %llu %d %llu %llu %llu\n", (ull)hdx_graph_address(g, id),
                          hdx_graph_class_of(g, id), (int)hdx_graph_kind(g, id), (ull)hdx_graph_shallow(g, id),
                          (ull)hdx_graph_length(g, id), hdx_graph_heap(g, id), has, has ? (ull)pos : 0,
                          hdx_graph_live(g, id), (ull)hdx_graph_retained(g, id), (ull)hdx_graph_dominator(g, id),
                          (ull)hdx_graph_nearest(g, id));
    }
    return n;
}

/* Runs of odd lengths, past the end too: what they say is what objects say, one by one. */
static uint64_t put_runs(hdx_graph *g, hdx_buffer *b)
{
    enum { RUN = 777 };
    const uint64_t  n = hdx_graph_objects(g);
    static uint64_t addresses[RUN], lengths[RUN], shallow[RUN], retained[RUN], positions[RUN], dominators[RUN],
        nearest[RUN], outbound[RUN], inbound[RUN], live[RUN / 64 + 1];
    static uint32_t classes[RUN];
    static uint8_t  kinds[RUN];
    static int32_t  heaps[RUN];
    for (hdx_id first = 0; first < n; first += RUN) {
        hdx_graph_read_addresses(g, first, RUN, addresses);
        hdx_graph_read_classes(g, first, RUN, classes);
        hdx_graph_read_kinds(g, first, RUN, kinds);
        hdx_graph_read_lengths(g, first, RUN, lengths);
        hdx_graph_read_shallow(g, first, RUN, shallow);
        hdx_graph_read_retained(g, first, RUN, retained);
        hdx_graph_read_positions(g, first, RUN, positions);
        hdx_graph_read_heaps(g, first, RUN, heaps);
        hdx_graph_read_live(g, first, RUN, live);
        hdx_graph_read_dominators(g, first, RUN, dominators);
        hdx_graph_read_nearest(g, first, RUN, nearest);
        hdx_graph_read_counts(g, first % 2 ? HDX_LIVE : HDX_ALL, first, RUN, outbound, inbound);
        for (unsigned i = 0; i < RUN; i++) {
            const hdx_id id = first + i;
            hdx_pos      pos;
            if (id >= n)
                continue;
            cr_assert(addresses[i] == hdx_graph_address(g, id) && classes[i] == hdx_graph_class_of(g, id) &&
                          kinds[i] == (uint8_t)hdx_graph_kind(g, id) && lengths[i] == hdx_graph_length(g, id) &&
                          shallow[i] == hdx_graph_shallow(g, id) && retained[i] == hdx_graph_retained(g, id),
                      "object %llu", (ull)id);
            cr_assert(positions[i] == (hdx_graph_position(g, id, &pos) ? pos + 1 : 0) &&
                          heaps[i] == hdx_graph_heap(g, id) && hdx_bits_test(live, i) == hdx_graph_live(g, id) &&
                          dominators[i] == hdx_graph_dominator(g, id) && nearest[i] == hdx_graph_nearest(g, id),
                      "object %llu", (ull)id);
            hdx_buffer_format(b, "%llu %llu\n", (ull)outbound[i], (ull)inbound[i]);
        }
    }
    return n;
}

static uint64_t put_refs(hdx_graph *g, hdx_buffer *b, bool inbound, hdx_refs_scope scope)
{
    const uint64_t n = hdx_graph_objects(g);
    uint64_t       all = 0;
    for (hdx_id id = 0; id < n; id++) {
        hdx_refs refs;
        hdx_id   other;
        uint64_t count = 0;
        if (inbound)
            hdx_graph_inbound(g, id, scope, &refs);
        else
            hdx_graph_outbound(g, id, scope, &refs);
        for (; hdx_refs_next(&refs, &other); count++)
            hdx_buffer_format(b, "%llu ", (ull)other);
        cr_assert(count == (inbound ? hdx_graph_inbound_count(g, id, scope) : hdx_graph_outbound_count(g, id, scope)),
                  "object %llu", (ull)id);
        hdx_buffer_text(b, "\n");
        all += count;
    }
    return all;
}

static uint64_t put_dominated(hdx_graph *g, hdx_buffer *b)
{
    const uint64_t n = hdx_graph_objects(g);
    uint64_t       all = 0;
    for (hdx_id i = 0; i <= n; i++) {
        hdx_refs     refs;
        hdx_id       other;
        const hdx_id id = i == n ? HDX_VIRTUAL_ROOT : i;
        hdx_graph_dominated(g, id, &refs);
        for (; hdx_refs_next(&refs, &other); all++) {
            cr_assert(hdx_graph_dominator(g, other) == id);
            hdx_buffer_format(b, "%llu ", (ull)other);
        }
        hdx_buffer_text(b, "\n");
    }
    return all;
}

static uint64_t put_classes(hdx_graph *g, hdx_buffer *b)
{
    uint32_t         count;
    const hdx_class *classes = hdx_graph_classes(g, &count);
    for (uint32_t i = 0; i < count; i++) {
        const hdx_class *c = &classes[i];
        hdx_text         label;
        char             name[400];
        cr_assert(hdx_graph_class(g, i) == c);
        (void)snprintf(name, sizeof name, "%.*s", (int)c->name.len, c->name.at);
        const hdx_class *named = hdx_graph_class_named(g, name);
        cr_assert(named != NULL && hdx_text_same(named->name, c->name));
        cr_assert(c->id == HDX_NO_ID || hdx_graph_class_object(g, c->id) == c, "%s", name);
        cr_assert(hdx_graph_class_label(g, c, &label, NULL) == HDX_OK);
        hdx_buffer_format(b, "%s %llx %llu %u %u %llx %llx %llx %d %u %u %u", name, (ull)c->address, (ull)c->id,
                          c->number, c->super, (ull)c->super_address, (ull)c->loader, (ull)(c->signers ^ c->domain),
                          (int)c->kind, c->element_type, c->flags, c->stated_size);
        hdx_buffer_format(b, " %llu %llu %llu %llu %llu %llu", (ull)c->instance_size, (ull)c->class_shallow,
                          (ull)c->instances, (ull)c->live_instances, (ull)c->bytes, (ull)c->live_bytes);
        for (uint32_t k = 0; k < c->field_count; k++)
            hdx_buffer_format(b, " %.*s:%u", (int)c->fields[k].name.len, c->fields[k].name.at, c->fields[k].type);
        for (uint32_t k = 0; k < c->static_count; k++)
            hdx_buffer_format(b, " %.*s=%u", (int)c->statics[k].name.len, c->statics[k].name.at, c->statics[k].type);
        for (uint32_t k = 0; k < count; k += 13)
            hdx_buffer_text(b, hdx_class_extends(g, i, k) ? " y" : " n");
        hdx_buffer_text(b, "\n");
    }
    return count;
}

static uint64_t put_instances(hdx_graph *g, hdx_buffer *b, hdx_refs_scope scope)
{
    uint32_t count;
    uint64_t all = 0;
    (void)hdx_graph_classes(g, &count);
    for (uint32_t i = 0; i <= count; i++) { /* one more than there are */
        hdx_refs refs;
        hdx_id   id;
        hdx_graph_instances(g, i, scope, &refs);
        for (; hdx_refs_next(&refs, &id); all++)
            hdx_buffer_format(b, "%llu ", (ull)id);
        hdx_buffer_text(b, "\n");
    }
    return all;
}

static uint64_t put_roots(hdx_graph *g, hdx_buffer *b)
{
    uint64_t        count, of;
    const hdx_root *roots = hdx_graph_roots(g, &count);
    for (uint64_t i = 0; i < count; i++)
        hdx_buffer_format(b, "%llu %d %llu\n", (ull)roots[i].object, (int)roots[i].type, (ull)roots[i].thread);
    for (hdx_id id = 0; id < hdx_graph_objects(g); id++) {
        hdx_root some[2];
        cr_assert(hdx_graph_roots_of(g, id, some, 2, &of, NULL) == HDX_OK);
        hdx_buffer_format(b, "%llu", (ull)of);
        for (uint64_t i = 0; i < of && i < 2; i++)
            hdx_buffer_format(b, " %d %llu", (int)some[i].type, (ull)some[i].thread);
    }
    return count;
}

static uint64_t put_threads(hdx_graph *g, hdx_buffer *b)
{
    uint64_t          count;
    const hdx_thread *threads = hdx_graph_threads(g, &count);
    for (uint64_t i = 0; i < count; i++) {
        hdx_buffer_format(b, "%llu\n", (ull)threads[i].object);
        for (uint32_t k = 0; k < threads[i].frame_count; k++) {
            const hdx_frame *f = &threads[i].frames[k];
            hdx_buffer_format(b, "  %.*s %.*s %.*s %.*s %d\n", (int)f->class_name.len, f->class_name.at,
                              (int)f->method.len, f->method.at, (int)f->signature.len, f->signature.at,
                              (int)f->source.len, f->source.at, f->line);
        }
    }
    return count;
}

static void put_values(hdx_buffer *b, const hdx_values *v)
{
    for (uint64_t i = 0; i < v->count; i++) {
        const hdx_field_value *f = &v->at[i];
        hdx_buffer_format(b, " %.*s/%u:%u%s", (int)f->name.len, f->name.at, f->owner, f->value.type,
                          f->value.absent ? "!" : "=");
        if (f->value.absent)
            continue;
        switch (f->value.type) {
        case 2: hdx_buffer_format(b, "%llx", (ull)f->value.as.address); break;
        case 4: hdx_buffer_format(b, "%d", f->value.as.boolean); break;
        case 5: hdx_buffer_format(b, "%u", f->value.as.character); break;
        case 6: hdx_buffer_format(b, "%a", (double)f->value.as.single); break;
        case 7: hdx_buffer_format(b, "%a", f->value.as.real); break;
        default: hdx_buffer_format(b, "%lld", (long long)f->value.as.integer); break;
        }
    }
    hdx_buffer_text(b, "\n");
}

enum { FIELDS, STATICS, ELEMENTS };

static uint64_t put_all_values(hdx_graph *g, hdx_buffer *b, int which)
{
    static const char *const wanted[] = { "hash", "value", "next", "name", "size", "no such" };
    uint64_t                 all = 0;
    hdx_values               v = { 0 };
    for (hdx_id id = 0; id < hdx_graph_objects(g); id++) {
        const hdx_object_kind kind = hdx_graph_kind(g, id);
        hdx_code              code = HDX_OK;
        v.count = 0;
        if (which == FIELDS && kind == HDX_INSTANCE) {
            code = hdx_graph_fields(g, id, &v, NULL);
            for (unsigned i = 0; i < sizeof wanted / sizeof *wanted && id % 5 == 0; i++) {
                hdx_value value = { .type = 0 };
                bool      found;
                cr_assert(hdx_graph_field(g, id, NULL, wanted[i], &value, &found, NULL) == HDX_OK);
                hdx_buffer_format(b, "%d %u ", found, value.type);
            }
        } else if (which == STATICS && kind == HDX_CLASS_OBJECT)
            code = hdx_graph_statics(g, id, &v, NULL);
        else if (which == ELEMENTS && (kind == HDX_OBJECT_ARRAY || kind == HDX_PRIMITIVE_ARRAY))
            code = hdx_graph_elements(g, id, id % 3, id % 7 == 0 ? 1000 : 9, &v, NULL);
        cr_assert(code == HDX_OK, "object %llu", (ull)id);
        put_values(b, &v);
        all += v.count;
    }
    hdx_values_free(&v);
    return all;
}

/* One by one, and many together out of order: the same. */
static uint64_t put_labels(hdx_graph *g, hdx_buffer *b)
{
    enum { MANY = 100 };
    const uint64_t n = hdx_graph_objects(g);
    uint64_t       all = 0;
    for (hdx_id first = 0; first < n; first += MANY) {
        hdx_id   ids[MANY];
        char    *texts[MANY];
        unsigned count = 0;
        for (; count < MANY && first + count < n; count++)
            ids[count] = first + (count * 37 % MANY + first < n ? count * 37 % MANY : count);
        cr_assert(hdx_graph_labels(g, ids, count, texts, NULL) == HDX_OK);
        for (unsigned i = 0; i < count; i++) {
            char *text;
            cr_assert(hdx_graph_label(g, ids[i], &text, NULL) == HDX_OK);
            cr_assert((text == NULL) == (texts[i] == NULL) && (text == NULL || strcmp(text, texts[i]) == 0),
                      "object %llu", (ull)ids[i]);
            hdx_buffer_format(b, "%llu %s\n", (ull)ids[i], text == NULL ? "-" : text);
            all += text != NULL;
            hdx_text_free(text);
            hdx_text_free(texts[i]);
        }
    }
    return all;
}

static uint64_t put_strings(hdx_graph *g, hdx_buffer *b)
{
    uint64_t all = 0;
    for (hdx_id id = 0; id < hdx_graph_objects(g); id++) {
        char  *text;
        size_t len;
        bool   whole, is_string;
        cr_assert(hdx_graph_string(g, id, id % 40, &text, &len, &whole, &is_string, NULL) == HDX_OK);
        if (is_string) {
            hdx_buffer_format(b, "%zu %d ", len, whole);
            hdx_buffer_put(b, text, len);
            hdx_buffer_text(b, "\n");
            all++;
        }
        cr_assert(hdx_graph_text_absent(g, id) == false);
        hdx_text_free(text);
    }
    return all;
}

static bool put_reference(void *context, const hdx_named_ref *ref)
{
    hdx_buffer_format(context, " %llu %s %s %u", (ull)ref->target, hdx_ref_kind_name(ref->kind), ref->name, ref->owner);
    return strcmp(ref->name, "next") != 0; /* the last that is wanted */
}

static uint64_t put_references(hdx_graph *g, hdx_buffer *b)
{
    for (hdx_id id = 0; id < hdx_graph_objects(g); id++) {
        cr_assert(hdx_graph_named_refs(g, id, HDX_NO_ID, put_reference, b, NULL) == HDX_OK);
        hdx_buffer_text(b, "\n");
        cr_assert(hdx_graph_named_refs(g, id, id / 2, put_reference, b, NULL) == HDX_OK);
        hdx_buffer_text(b, "\n");
    }
    return hdx_graph_objects(g);
}

/* Workers deliver in any order: sums of what each says. */
typedef struct sums {
    pthread_mutex_t lock;
    uint64_t        roots, instances, elements, classes, counts[4];
} sums;

static uint64_t add(sums *s, uint64_t *to, unsigned kind, uint64_t a, uint64_t b, const void *bytes, size_t len)
{
    (void)pthread_mutex_lock(&s->lock);
    s->counts[kind]++;
    *to += hdx_mix64(a ^ hdx_mix64(b ^ hdx_mix64(hdx_crc32c(0, bytes, len))));
    (void)pthread_mutex_unlock(&s->lock);
    return 0;
}
static hdx_code on_root(void *context, unsigned worker, const hdx_dump_root *r, hdx_error *err)
{
    sums *s = context;
    (void)err;
    cr_assert(worker < 4);
    add(s, &s->roots, 0, r->pos ^ (uint64_t)r->tag << 50, r->object ^ (uint64_t)r->serial << 50, "", 0);
    return HDX_OK;
}
static hdx_code on_instance(void *context, unsigned worker, hdx_id id, const uint8_t *bytes, uint32_t len,
                            hdx_error *err)
{
    sums *s = context;
    (void)err;
    cr_assert(worker < 4);
    add(s, &s->instances, 1, id, len, bytes, len);
    return HDX_OK;
}
static hdx_code on_elements(void *context, unsigned worker, hdx_id id, uint64_t from, const uint8_t *ids,
                            uint64_t count, hdx_error *err)
{
    sums *s = context;
    (void)err;
    cr_assert(worker < 4);
    for (uint64_t i = 0; i < count; i++) /* however it is cut into pieces */
        add(s, &s->elements, 2, id, from + i, ids + i * 8, 8);
    return HDX_OK;
}
static hdx_code on_class(void *context, unsigned worker, hdx_id id, uint64_t size, const hdx_value *statics,
                         uint32_t count, hdx_error *err)
{
    sums    *s = context;
    uint64_t values = count;
    (void)err;
    cr_assert(worker < 4);
    for (uint32_t i = 0; i < count; i++)
        values = hdx_mix64(values ^ statics[i].type ^ (statics[i].type == 2 ? statics[i].as.address : 0));
    add(s, &s->classes, 3, id ^ size << 40, values, "", 0);
    return HDX_OK;
}

static uint64_t put_reread(hdx_graph *g, hdx_buffer *b)
{
    for (unsigned threads = 1; threads <= 4; threads += 3) {
        sums            s = { .lock = PTHREAD_MUTEX_INITIALIZER };
        hdx_dump_reader reader = { &s, on_root, on_instance, on_elements, on_class };
        cr_assert(hdx_graph_rescan(g, threads, &reader, NULL, NULL) == HDX_OK);
        hdx_buffer_format(b, "%llx %llx %llx %llx %llu %llu %llu %llu\n", (ull)s.roots, (ull)s.instances,
                          (ull)s.elements, (ull)s.classes, (ull)s.counts[0], (ull)s.counts[1], (ull)s.counts[2],
                          (ull)s.counts[3]);
    }
    return 2;
}

static uint64_t put_found(hdx_graph *g, hdx_buffer *b)
{
    enum { MANY = 64 };
    const uint64_t n = hdx_graph_objects(g);
    uint64_t       all = 0;
    for (hdx_id first = 0; first < n; first += MANY / 2) {
        hdx_addr addresses[MANY];
        hdx_id   ids[MANY], id;
        for (unsigned i = 0; i < MANY; i++)
            addresses[i] = i % 2 ? hdx_graph_address(g, first + i / 2) : hdx_graph_address(g, first + i / 2) + i % 9;
        hdx_graph_find_many(g, addresses, MANY, ids);
        for (unsigned i = 0; i < MANY; i++) {
            const bool there = hdx_graph_find(g, addresses[i], &id);
            cr_assert(ids[i] == (there ? id : HDX_NO_ID), "0x%llx", (ull)addresses[i]);
            hdx_buffer_format(b, "%llu\n", (ull)ids[i]);
            all += there;
        }
    }
    return all;
}

static uint64_t put_out_of_range(hdx_graph *g, hdx_buffer *b)
{
    const uint64_t n = hdx_graph_objects(g);
    const hdx_id   ids[] = { n, n + 1, n + 1000000, HDX_VIRTUAL_ROOT, HDX_NO_ID };
    hdx_id         id;
    hdx_pos        pos;
    for (unsigned i = 0; i < sizeof ids / sizeof *ids; i++) {
        hdx_refs refs;
        hdx_buffer_format(
            b, "%llx %u %llu %llu %d %d %d %llu %llx %llx\n", (ull)hdx_graph_address(g, ids[i]),
            hdx_graph_class_of(g, ids[i]), (ull)hdx_graph_shallow(g, ids[i]), (ull)hdx_graph_length(g, ids[i]),
            hdx_graph_heap(g, ids[i]), hdx_graph_position(g, ids[i], &pos), hdx_graph_live(g, ids[i]),
            (ull)hdx_graph_retained(g, ids[i]), (ull)hdx_graph_dominator(g, ids[i]), (ull)hdx_graph_nearest(g, ids[i]));
        hdx_graph_outbound(g, ids[i], HDX_ALL, &refs);
        cr_expect(hdx_refs_next(&refs, &id) == false);
        hdx_graph_inbound(g, ids[i], HDX_ALL, &refs);
        cr_expect(hdx_refs_next(&refs, &id) == false);
        cr_expect(hdx_graph_outbound_count(g, ids[i], HDX_ALL) == 0 &&
                  hdx_graph_inbound_count(g, ids[i], HDX_ALL) == 0);
    }
    hdx_buffer_format(b, "%d %d\n", hdx_graph_class(g, 100000) == NULL, hdx_graph_class_named(g, "no such") == NULL);
    return 5;
}

static uint64_t text_of(void *context, const char *ask, hdx_buffer *b)
{
    hdx_graph           *g = context;
    const char          *scope_name = strchr(ask, ' ');
    const hdx_refs_scope scope = scope_name == NULL || strcmp(scope_name, " live") == 0 ? HDX_LIVE
                                 : strcmp(scope_name, " all") == 0                      ? HDX_ALL
                                                                                        : HDX_GARBAGE;
    if (strcmp(ask, "summary") == 0)
        return put_summary(g, b);
    if (strcmp(ask, "objects") == 0)
        return put_objects(g, b);
    if (strcmp(ask, "runs") == 0)
        return put_runs(g, b);
    if (strncmp(ask, "outbound", 8) == 0)
        return put_refs(g, b, false, scope);
    if (strncmp(ask, "inbound", 7) == 0)
        return put_refs(g, b, true, scope);
    if (strcmp(ask, "dominated") == 0)
        return put_dominated(g, b);
    if (strcmp(ask, "classes") == 0)
        return put_classes(g, b);
    if (strncmp(ask, "instances", 9) == 0)
        return put_instances(g, b, scope);
    if (strcmp(ask, "roots") == 0)
        return put_roots(g, b);
    if (strcmp(ask, "threads") == 0)
        return put_threads(g, b);
    if (strcmp(ask, "fields") == 0)
        return put_all_values(g, b, FIELDS);
    if (strcmp(ask, "statics") == 0)
        return put_all_values(g, b, STATICS);
    if (strcmp(ask, "elements") == 0)
        return put_all_values(g, b, ELEMENTS);
    if (strcmp(ask, "labels") == 0)
        return put_labels(g, b);
    if (strcmp(ask, "strings") == 0)
        return put_strings(g, b);
    if (strcmp(ask, "references") == 0)
        return put_references(g, b);
    if (strcmp(ask, "reread") == 0)
        return put_reread(g, b);
    if (strcmp(ask, "found") == 0)
        return put_found(g, b);
    cr_assert(strcmp(ask, "out of range") == 0, "%s", ask);
    return put_out_of_range(g, b);
}

Test(bookshop, is_read_as_before)
{
    static const char dump[] = HDX_TREE "/examples/bookshop.hprof.gz";
    char              folder[TEST_FOLDER], index[64];
    hdx_graph        *g;
    hdx_index_report  report;
    hdx_error         err;
    test_folder_make(folder, "bookshop");
    (void)snprintf(index, sizeof index, "%s/a.hdx", folder);
    const hdx_index_options options = { .dump = dump, .index_dir = index, .threads = 1 };
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
    cr_assert(hdx_graph_open(index, dump, &g, &err) == HDX_OK, "%s", err.message);
    checksums_check(HDX_TREE "/tests/graph/bookshop.txt", text_of, g);
    cr_expect(hdx_graph_check(g, &err) == HDX_OK, "%s", err.message);
    hdx_graph_close(g);
    test_folder_remove(folder);
}
