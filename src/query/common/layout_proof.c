/*
 * layout_proof.c - derives the JVM's object layout from addresses and class records.
 *
 * MAT's sizes assume a header of an id and a reference, 12 or 16 bytes. A dump does not state the header size of its
 * JVM, but objects do not overlap: in address order no object ends after the next one begins. A layout that would make
 * objects overlap is refuted. Of the remaining layouts, the one that explains most distances is chosen, because objects
 * that were allocated one after the other are adjacent:
 *
 *     references  header
 *          4        12    compressed class pointers, the default
 *          4         8    compact object headers (JEP 450, JEP 519: JDK 24 and later)
 *          8        16    no compressed class pointers
 *          8        12    compressed class pointers (ZGC, heaps of more than 32 GB; JDK 15 and later)
 *          8         8    compact object headers
 *
 * An instance is never smaller than its header and its fields. It may be larger, because older JDKs leave gaps and a
 * JVM may add fields. Arrays do not refute the layout of 16 bytes: the offset of their elements changed in JDK 22
 * (JDK-8139457).
 *
 * Class records of HotSpot state the sum of the field widths as instance size; those of native images state the size in
 * the heap, with header and alignment (oracle/graal, HeapDumpWriter).
 *
 * Cost: at most 64 runs of 16,384 objects, spread over the heap; two numbers per class and layout.
 */
#include "graph/graph.h"
#include "query/common/layout_proof.h"

#define RUNS    64u
#define AT_ONCE (16u * HDX_RUN)

/* Sums the bytes of all fields of each class in one pass, superclasses first. */
static bool sum_fields(const hdx_class *classes, uint32_t count, unsigned reference_size, hdx_mem *mem, uint64_t *sums)
{
    uint32_t *path = hdx_mem_array(mem, count, sizeof *path);
    uint8_t  *done = hdx_mem_array(mem, count, 1);
    for (uint32_t first = 0; path != NULL && done != NULL && first < count; first++) {
        uint32_t depth = 0;
        for (uint32_t c = first; c < count && !done[c]; c = classes[c].super) {
            done[c] = 1;
            path[depth++] = c;
        }
        while (depth > 0) {
            const hdx_class *c = &classes[path[--depth]];
            uint64_t         bytes = c->super < count ? sums[c->super] : 0;
            for (uint32_t k = 0; k < c->field_count; k++)
                bytes += hdx_type_size(c->fields[k].type, reference_size);
            sums[path[depth]] = bytes;
        }
    }
    const bool ok = path != NULL && done != NULL;
    hdx_mem_put(mem, path, count * sizeof *path);
    hdx_mem_put(mem, done, count);
    return ok;
}

/* ---- addresses ---- */

typedef struct hypothesis {
    hdx_jvm        jvm;
    hdx_jvm_layout layout;
    uint64_t      *sizes;       /* of instances, by class */
    uint64_t       over, exact; /* numbers of objects that overlap the next one, and that end exactly where it begins */
} hypothesis;

#define HYPOTHESES 5u
static const struct {
    hdx_jvm_layout layout;
    uint32_t       reference_size;
} supposed[HYPOTHESES] = { { HDX_LAYOUT_CLASS_POINTERS, 4 },
                           { HDX_LAYOUT_COMPACT, 4 },
                           { HDX_LAYOUT_64BIT, 8 },
                           { HDX_LAYOUT_CLASS_POINTERS, 8 },
                           { HDX_LAYOUT_COMPACT, 8 } };

typedef struct prover {
    hdx_ask         *ask;
    const hdx_class *classes;
    uint32_t         count;
    hypothesis       of[HYPOTHESES];
} prover;

static void weigh(hypothesis *h, const hdx_class *c, hdx_object_kind kind, uint64_t length, uint64_t distance)
{
    const bool array = kind != HDX_INSTANCE;
    if (array && h->layout == HDX_LAYOUT_64BIT)
        return;
    const uint64_t size = array ? hdx_jvm_array_size(&h->jvm, c->element_type, length) : h->sizes[c->number];
    h->over += size > distance;
    h->exact += size == distance;
}

static hdx_code weigh_run(prover *p, hdx_id first, uint32_t n, hdx_error *err)
{
    hdx_addr       at[HDX_RUN + 1];
    uint32_t       numbers[HDX_RUN];
    uint8_t        kinds[HDX_RUN];
    uint64_t       lengths[HDX_RUN];
    const uint32_t more = first + n < hdx_graph_objects(p->ask->g) ? n + 1 : n;
    hdx_graph_read_addresses(p->ask->g, first, more, at);
    hdx_graph_read_classes(p->ask->g, first, n, numbers);
    hdx_graph_read_kinds(p->ask->g, first, n, kinds);
    hdx_graph_read_stored_lengths(p->ask->g, first, n, lengths);
    for (uint32_t i = 0; i + 1 < more; i++)
        if (kinds[i] != HDX_CLASS_OBJECT && numbers[i] < p->count && at[i] != 0 && at[i] < at[i + 1])
            for (unsigned h = 0; h < HYPOTHESES; h++)
                weigh(&p->of[h], &p->classes[numbers[i]], (hdx_object_kind)kinds[i], lengths[i], at[i + 1] - at[i]);
    return hdx_ask_stopped(&p->ask->q, err);
}

static hdx_code weigh_all(prover *p, hdx_error *err)
{
    const uint64_t n = hdx_graph_objects(p->ask->g), apart = n / RUNS > AT_ONCE ? n / RUNS : AT_ONCE;
    hdx_code       code = HDX_OK;
    for (hdx_id from = 0; code == HDX_OK && from < n; from += apart)
        for (hdx_id at = from; code == HDX_OK && at < n && at < from + AT_ONCE; at += HDX_RUN)
            code = weigh_run(p, at, (uint32_t)hdx_least(n - at, HDX_RUN), err);
    return code;
}

static hdx_code suppose(prover *p, const hdx_graph_summary *s, hdx_error *err)
{
    hdx_mem *mem = p->ask->q.mem;
    for (unsigned i = 0; i < HYPOTHESES; i++) {
        hypothesis *h = &p->of[i];
        h->layout = supposed[i].layout;
        h->jvm = hdx_jvm_of(h->layout, supposed[i].reference_size, s->alignment, p->classes, p->count);
        h->sizes = hdx_mem_array(mem, p->count, sizeof *h->sizes);
        if (h->sizes == NULL || !sum_fields(p->classes, p->count, h->jvm.reference_size, mem, h->sizes))
            return hdx_no_memory(err, "sizes of classes", p->count * sizeof *h->sizes);
        for (uint32_t c = 0; c < p->count; c++)
            h->sizes[c] = hdx_round_up(h->jvm.header + h->sizes[c], s->alignment);
    }
    return HDX_OK;
}

/*
 * Chooses the layout that no address refutes and that fits most distances. Does nothing unless MAT's layout is refuted.
 */
static void conclude(const prover *p, const hdx_graph_summary *s, hdx_layout_proof *out)
{
    const hypothesis *mat = &p->of[s->reference_size == 4 ? 0 : 2], *best = NULL;
    for (unsigned i = 0; i < HYPOTHESES; i++) {
        const hypothesis *h = &p->of[i];
        /* MAT 2.1 proves the reference size separately */
        const bool likely = h->jvm.reference_size == s->reference_size;
        if (h->over == 0 && (best == NULL || h->exact > best->exact || (h->exact == best->exact && likely)))
            best = h;
    }
    if (mat->over == 0 || best == NULL || best->exact == 0 || best->jvm.reference_size != s->reference_size)
        return;
    *out = (hdx_layout_proof){ hdx_jvm_layout_name(best->layout), best->jvm.header };
}

hdx_code hdx_layout_proof_of(hdx_ask *ask, hdx_layout_proof *out, hdx_error *err)
{
    const hdx_graph_summary *s = hdx_graph_summary_of(ask->g);
    prover                   p = { .ask = ask };
    bool                     stated = false;
    hdx_code                 code;
    *out = (hdx_layout_proof){ 0 };
    if (strcmp(s->version, "1.0.3") == 0) /* Android dumps state sizes, and those are used */
        return HDX_OK;
    if ((p.classes = hdx_graph_classes(ask->g, &p.count)) == NULL)
        return hdx_graph_check(ask->g, err);
    if ((code = hdx_sizes_are_stated(s, p.classes, p.count, ask->q.mem, &stated, &out->header, err)) != HDX_OK)
        return code;
    if (stated) {
        out->layout = HDX_LAYOUT_STATED;
        return HDX_OK;
    }
    if (s->id_size == 4) /* with 4-byte ids MAT also uses headers of 8 bytes */
        return HDX_OK;
    if ((code = suppose(&p, s, err)) == HDX_OK && (code = weigh_all(&p, err)) == HDX_OK)
        conclude(&p, s, out);
    for (unsigned i = 0; i < HYPOTHESES; i++)
        hdx_mem_put(ask->q.mem, p.of[i].sizes, p.of[i].sizes == NULL ? 0 : p.count * sizeof *p.of[i].sizes);
    return code;
}

/* ---- class records ---- */

hdx_code hdx_sizes_are_stated(const hdx_graph_summary *s, const hdx_class *classes, uint32_t count, hdx_mem *mem,
                              bool *out, uint32_t *header, hdx_error *err)
{
    uint64_t  *written = hdx_mem_array(mem, count, sizeof *written), *least = hdx_mem_array(mem, count, sizeof *least);
    uint64_t   larger = 0, equal = 0, smaller = 0, room = UINT64_MAX;
    const bool ok = written != NULL && least != NULL && sum_fields(classes, count, s->id_size, mem, written) &&
                    sum_fields(classes, count, 4, mem, least);
    *out = false;
    *header = 0;
    for (uint32_t c = 0; ok && c < count; c++) {
        const hdx_class *of = &classes[c];
        if (of->kind != HDX_INSTANCE || of->instances == 0 || (of->flags & HDX_CLASS_INVENTED) != 0)
            continue;
        smaller += of->stated_size < least[c];
        equal += of->stated_size == written[c];
        larger += of->stated_size > written[c];
        if (of->stated_size >= least[c])
            room = hdx_least(room, of->stated_size - least[c]);
    }
    /* A damaged record may state anything, and with 4-byte references a few sums are equal by chance. */
    if (larger > 0 && smaller == 0 && equal < larger && room >= 4 && strcmp(s->version, "1.0.3") != 0) {
        *out = true;
        *header = room < 16 ? (uint32_t)room : 16;
    }
    hdx_mem_put(mem, written, count * sizeof *written);
    hdx_mem_put(mem, least, count * sizeof *least);
    return ok ? HDX_OK : hdx_no_memory(err, "stated sizes", 2 * count * sizeof *written);
}
