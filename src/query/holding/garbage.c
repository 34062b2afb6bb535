/*
 * garbage.c - unreachable objects: clusters of objects that refer to each other, the largest first, with their main
 * class and the live objects to which they refer.
 *
 *     roots  objects  shallow      %  object                 live  mostly
 *         1    4,003  96.0 KB  88.1%  java.util.HashMap        12  java.lang.String
 *
 * A cluster is a set of unreachable objects that references connect, in either direction. Its roots are the objects to
 * which no object in it refers, and one object of each cycle to which nothing outside the cycle refers. Live objects do
 * not refer to garbage, so only the garbage needs to be examined.
 *
 * Two searches follow outbound references. The first starts at each object that was not reached before, in id order,
 * and joins clusters on the way (union-find). The second processes those starts from the last to the first: a start
 * that a later one reaches is not a root; the others are roots, one per cycle (the last start of a search is not
 * reached from an earlier one, unless both are in one cycle). The objects that the second search reaches first from a
 * root are that root's share, and the root with the largest share represents the cluster.
 *
 * common/unreached.c classifies objects that are most likely not garbage.
 *
 * Cost: three bits per object of the heap, some 40 bytes per unreachable one; reads the outbound lists of these twice.
 */
#include "query/common/extras.h"
#include "query/common/columns.h"
#include "query/common/unreached.h"
#include "graph/graph.h"
#include "query/query.h"

#include <stdlib.h>

enum { ADDRESS, CLASS, LABEL, ROOTS, OBJECTS, SHALLOW, PERCENT, MOSTLY, LIVE, LIVE_CLASS, KIND, COLUMNS };
static const hdx_column columns[COLUMNS] = {
    [ADDRESS] = HDX_COLUMN("address", ADDRESS, NONE, 0,
                           "object that nothing in the cluster refers to; of several such objects, the one that leads "
                           "to most"),
    [CLASS] = HDX_CLASS_COLUMN(0),
    [LABEL] = HDX_LABEL_COLUMN,
    [ROOTS] = HDX_COLUMN("roots", UNSIGNED, COUNT, HDX_COLUMN_SPARE,
                         "objects, or cycles of objects, that nothing else in the cluster refers to"),
    [OBJECTS] = HDX_COLUMN("objects", UNSIGNED, COUNT, HDX_COLUMN_SUM, "objects in the cluster"),
    [SHALLOW] = HDX_COLUMN("shallow", UNSIGNED, BYTES, 0, "total shallow size of these objects"),
    [PERCENT] = HDX_COLUMN("percent", REAL, PERCENT, HDX_COLUMN_SHARE | HDX_COLUMN_SPARE,
                           "share of all unreachable bytes, in percent"),
    [MOSTLY] = HDX_COLUMN("mostly", TEXT, NONE, HDX_COLUMN_NULLABLE, "class that takes the most bytes of the cluster"),
    [LIVE] = HDX_COLUMN("live", UNSIGNED, COUNT, 0, "live objects that the cluster refers to, except class objects"),
    [LIVE_CLASS] = HDX_COLUMN("live_class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE,
                              "most frequent class of these live objects; null if there are none"),
    [KIND] = HDX_COLUMN("kind", TEXT, NONE, 0,
                        "garbage, or probably none: filler (of a collector), class field (java.lang.Class), archive "
                        "(CDS)"),
};
static const hdx_form   form = { NULL, NULL, columns, COLUMNS };
static const hdx_column total_members[] = {
    HDX_COLUMN("clusters", UNSIGNED, COUNT, 0, "clusters of unreachable objects"),
    HDX_COLUMN("unreachable_objects", UNSIGNED, COUNT, 0, "objects in all clusters"),
    HDX_COLUMN("unreachable_bytes", UNSIGNED, BYTES, 0, "total size of these objects"),
    HDX_COLUMN("filler_objects", UNSIGNED, COUNT, 0,
               "arrays among them that most likely fill gaps that a collector left"),
    HDX_COLUMN("filler_bytes", UNSIGNED, BYTES, 0, "total size of these arrays"),
    HDX_COLUMN("class_field_objects", UNSIGNED, COUNT, 0,
               "objects among them that a class object most likely holds, through a field that dumps lack"),
    HDX_COLUMN("class_field_bytes", UNSIGNED, BYTES, 0, "total size of these objects"),
    HDX_COLUMN("archive_objects", UNSIGNED, COUNT, 0,
               "objects among them that the JVM most likely holds for its archive of class data (CDS)"),
    HDX_COLUMN("archive_bytes", UNSIGNED, BYTES, 0, "total size of these objects"),
};
static const hdx_column document[] = { HDX_NESTED("total", OBJECT, 0, "totals of unreachable objects", total_members) };

typedef struct cluster {
    hdx_id   root;
    uint64_t share; /* bytes that the root reaches first */
    uint64_t roots, first, count, bytes;
} cluster;

typedef struct sorter {
    hdx_ask           ask;
    uint64_t          objects, words, count, bytes; /* of the heap; of the garbage */
    uint64_t         *dead, *seen;                  /* bits by id */
    uint64_t         *rank;                         /* per word: index of its first object among the garbage */
    hdx_id           *ids;                          /* garbage by index; later sorted by cluster */
    uint64_t         *up;                           /* union-find over indexes; later the number of the cluster */
    hdx_ids           begun, stack;
    HDX_LIST(cluster) clusters;
    hdx_unreached     unreached;
    uint64_t          next;
} sorter;

/* ---- unreachable objects ---- */

static hdx_code find_dead(sorter *s, hdx_error *err)
{
    hdx_code code = HDX_OK;
    for (hdx_id first = 0; code == HDX_OK && first < s->objects; first += HDX_RUN) {
        uint64_t       live[HDX_RUN / 64];
        const uint32_t n = (uint32_t)(s->objects - first < HDX_RUN ? s->objects - first : HDX_RUN);
        hdx_graph_read_live(s->ask.g, first, n, live);
        for (uint32_t w = 0; w < (n + 63) / 64; w++) {
            const uint32_t here = n - w * 64;
            s->dead[first / 64 + w] = ~live[w] & (here >= 64 ? UINT64_MAX : (1ull << here) - 1);
        }
        if ((first / HDX_RUN & 255) == 255)
            code = hdx_ask_stopped(&s->ask.q, err);
    }
    for (uint64_t w = 0; w < s->words; w++) {
        s->rank[w] = s->count;
        s->count += (uint64_t)__builtin_popcountll(s->dead[w]);
    }
    return code;
}

static uint64_t index_of(const sorter *s, hdx_id id)
{
    return s->rank[id / 64] + (uint64_t)__builtin_popcountll(s->dead[id / 64] & ((1ull << (id & 63)) - 1));
}

static bool is_dead(const sorter *s, hdx_id id) { return id < s->objects && hdx_bits_test(s->dead, id); }

/* ---- clusters ---- */

static uint64_t representative(sorter *s, uint64_t place)
{
    while (s->up[place] != place)
        place = s->up[place] = s->up[s->up[place]];
    return place;
}

/* The lower index becomes the representative, so that the order of clusters is defined. */
static void join_clusters(sorter *s, uint64_t a, uint64_t b)
{
    a = representative(s, a);
    b = representative(s, b);
    s->up[a > b ? a : b] = a > b ? b : a;
}

/* Visits the unseen objects that can be reached from one object; *bytes: their size. */
static hdx_code search_from(sorter *s, hdx_id from, bool joins, uint64_t *bytes, hdx_error *err)
{
    hdx_code code = hdx_ids_push(&s->stack, from, err);
    hdx_bits_put(s->seen, from);
    *bytes = 0;
    while (code == HDX_OK && s->stack.count > 0) {
        const hdx_id id = s->stack.at[--s->stack.count];
        hdx_refs     refs;
        hdx_id       to;
        *bytes += hdx_graph_shallow(s->ask.g, id);
        hdx_graph_outbound(s->ask.g, id, HDX_ALL, &refs);
        while (code == HDX_OK && hdx_refs_next(&refs, &to)) {
            if (!is_dead(s, to))
                continue;
            if (joins)
                join_clusters(s, index_of(s, id), index_of(s, to));
            if (hdx_bits_set(s->seen, to))
                code = hdx_ids_push(&s->stack, to, err);
        }
        if (code == HDX_OK)
            code = hdx_ask_check_cancel(&s->ask, err);
    }
    s->stack.count = 0;
    return code;
}

static hdx_code find_clusters(sorter *s, hdx_error *err)
{
    hdx_code code = HDX_OK;
    uint64_t bytes;
    for (uint64_t i = 0; code == HDX_OK && i < s->count; i++)
        if (!hdx_bits_test(s->seen, s->ids[i]) && (code = search_from(s, s->ids[i], true, &bytes, err)) == HDX_OK) {
            s->bytes += bytes;
            code = hdx_ids_push(&s->begun, s->ids[i], err);
        }
    for (uint64_t i = 0; code == HDX_OK && i < s->count; i++) { /* the parent is lower and has its number already */
        if (s->up[i] != i) {
            s->up[i] = s->up[s->up[i]];
            continue;
        }
        if (!hdx_list_room(s->ask.q.mem, HDX_LIST_REF(&s->clusters)))
            return hdx_no_memory(err, "clusters", s->clusters.count * sizeof *s->clusters.at);
        s->clusters.at[s->clusters.count] = (cluster){ .root = HDX_NO_ID };
        s->up[i] = s->clusters.count++;
    }
    return code;
}

static hdx_code find_roots(sorter *s, hdx_error *err)
{
    hdx_code code = HDX_OK;
    memset(s->seen, 0, s->words * sizeof *s->seen);
    for (uint64_t i = s->begun.count; code == HDX_OK && i-- > 0;) {
        const hdx_id id = s->begun.at[i];
        uint64_t     bytes;
        if (hdx_bits_test(s->seen, id) || (code = search_from(s, id, false, &bytes, err)) != HDX_OK)
            continue;
        cluster *c = &s->clusters.at[s->up[index_of(s, id)]];
        c->roots++;
        if (c->root == HDX_NO_ID || bytes > c->share || (bytes == c->share && id < c->root)) {
            c->root = id;
            c->share = bytes;
        }
    }
    return code;
}

static int by_size(const void *a, const void *b)
{
    const cluster *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return (x->root > y->root) - (x->root < y->root);
}

/* Sorts ids by cluster, in id order within each; then sorts clusters by size. */
static hdx_code group_by_cluster(sorter *s, hdx_error *err)
{
    hdx_id  *by = hdx_mem_raw(s->ask.q.mem, s->count, sizeof *by);
    uint64_t first = 0;
    if (by == NULL)
        return hdx_no_memory(err, "clusters", s->count * sizeof *by);
    for (uint64_t i = 0; i < s->count; i++) {
        s->clusters.at[s->up[i]].count++;
        s->clusters.at[s->up[i]].bytes += hdx_graph_shallow(s->ask.g, s->ids[i]);
    }
    for (uint64_t c = 0; c < s->clusters.count; c++) {
        s->clusters.at[c].first = first;
        first += s->clusters.at[c].count;
        s->clusters.at[c].count = 0;
    }
    for (uint64_t i = 0; i < s->count; i++) {
        cluster *c = &s->clusters.at[s->up[i]];
        by[c->first + c->count++] = s->ids[i];
    }
    hdx_mem_put(s->ask.q.mem, s->ids, s->count * sizeof *s->ids);
    s->ids = by;
    if (s->clusters.count > 0)
        qsort(s->clusters.at, s->clusters.count, sizeof *s->clusters.at, by_size);
    return HDX_OK;
}

static hdx_code find_garbage(sorter *s, hdx_error *err)
{
    hdx_mem *mem = s->ask.q.mem;
    s->objects = hdx_graph_objects(s->ask.g);
    s->words = hdx_bits_words(s->objects);
    s->begun = s->stack = hdx_ids_of(mem);
    s->dead = hdx_mem_array(mem, s->words, sizeof *s->dead);
    s->seen = hdx_mem_array(mem, s->words, sizeof *s->seen);
    s->rank = hdx_mem_array(mem, s->words, sizeof *s->rank);
    if (s->dead == NULL || s->seen == NULL || s->rank == NULL)
        return hdx_no_memory(err, "garbage", 3 * s->words * sizeof *s->dead);
    hdx_code code = find_dead(s, err);
    if (code != HDX_OK)
        return code;
    s->ids = hdx_mem_raw(mem, s->count, sizeof *s->ids);
    s->up = hdx_mem_raw(mem, s->count, sizeof *s->up);
    if (s->ids == NULL || s->up == NULL)
        return hdx_no_memory(err, "garbage", 2 * s->count * sizeof *s->ids);
    for (uint64_t w = 0, i = 0; w < s->words; w++)
        for (uint64_t bits = s->dead[w]; bits != 0; bits &= bits - 1, i++) {
            s->ids[i] = w * 64 + (uint64_t)__builtin_ctzll(bits);
            s->up[i] = i;
        }
    if ((code = find_clusters(s, err)) == HDX_OK && (code = find_roots(s, err)) == HDX_OK &&
        (code = group_by_cluster(s, err)) == HDX_OK)
        code = hdx_graph_check(s->ask.g, err);
    return code;
}

/* ---- content and references of a cluster ---- */

/* Sums by class and finds the class with the largest sum; of equal sums, that with the lowest number. */
typedef struct most {
    hdx_map  sums;
    uint64_t best;
    uint32_t number;
} most;

static hdx_code add_to_class(most *m, uint32_t number, uint64_t n, hdx_error *err)
{
    bool      fresh;
    uint64_t *sum = hdx_map_put(&m->sums, number, &fresh);
    if (sum == NULL)
        return hdx_no_memory(err, "classes of a cluster", m->sums.count);
    *sum += n;
    if (*sum > m->best || (*sum == m->best && number < m->number)) {
        m->best = *sum;
        m->number = number;
    }
    return HDX_OK;
}

static hdx_code describe_cluster(sorter *s, const cluster *c, hdx_cell *cells, hdx_error *err)
{
    const bool of_live = hdx_column_wanted(&s->ask.q, LIVE) || hdx_column_wanted(&s->ask.q, LIVE_CLASS);
    most       own = { hdx_map_of(s->ask.q.mem), 0, HDX_NO_CLASS }, live = own;
    hdx_map    targets = hdx_map_of(s->ask.q.mem);
    hdx_code   code = HDX_OK;
    for (uint64_t i = 0; code == HDX_OK && i < c->count; i++) {
        const hdx_id id = s->ids[c->first + i];
        hdx_refs     refs;
        hdx_id       to;
        code = add_to_class(&own, hdx_graph_class_of(s->ask.g, id), hdx_graph_shallow(s->ask.g, id), err);
        hdx_graph_outbound(s->ask.g, id, HDX_ALL, &refs);
        while (code == HDX_OK && of_live && hdx_refs_next(&refs, &to)) {
            bool fresh = false;
            if (to >= s->objects || hdx_bits_test(s->dead, to) || hdx_graph_kind(s->ask.g, to) == HDX_CLASS_OBJECT)
                continue;
            if (hdx_map_put(&targets, to, &fresh) == NULL)
                code = hdx_no_memory(err, "references of a cluster", targets.count);
            else if (fresh)
                code = add_to_class(&live, hdx_graph_class_of(s->ask.g, to), 1, err);
        }
        if (code == HDX_OK)
            code = hdx_ask_check_cancel(&s->ask, err);
    }
    cells[MOSTLY] = hdx_class_cell(s->ask.g, own.number);
    cells[LIVE] = hdx_cell_uint(targets.count);
    cells[LIVE_CLASS] = hdx_class_cell(s->ask.g, live.number);
    hdx_map_free(&own.sums);
    hdx_map_free(&live.sums);
    hdx_map_free(&targets);
    return code;
}

static hdx_code garbage_next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    sorter  *s = state;
    hdx_code code = hdx_ask_check_cancel(&s->ask, err);
    (void)arena;
    if (code != HDX_OK)
        return code;
    if (s->next == s->clusters.count)
        return hdx_ask_end(&s->ask, more, err);
    const cluster *c = &s->clusters.at[s->next++];
    cells[ADDRESS] = hdx_id_cell(s->ask.g, c->root);
    cells[CLASS] = hdx_class_of_cell(s->ask.g, c->root);
    cells[LABEL] = hdx_cell_null();
    cells[ROOTS] = hdx_cell_uint(c->roots);
    cells[OBJECTS] = hdx_cell_uint(c->count);
    cells[SHALLOW] = hdx_cell_uint(c->bytes);
    cells[PERCENT] = hdx_cell_real(s->bytes == 0 ? 0 : 100.0 * (double)c->bytes / (double)s->bytes);
    cells[MOSTLY] = cells[LIVE] = cells[LIVE_CLASS] = hdx_cell_null();
    cells[KIND] = hdx_cell_string(hdx_unreached_name(hdx_unreached_kind_of(&s->unreached, c->root)));
    if (hdx_column_wanted(&s->ask.q, MOSTLY) || hdx_column_wanted(&s->ask.q, LIVE) ||
        hdx_column_wanted(&s->ask.q, LIVE_CLASS))
        code = describe_cluster(s, c, cells, err);
    *more = true;
    return code;
}

static hdx_code add_totals(hdx_code code, const sorter *s, hdx_rows **out, hdx_error *err)
{
    const hdx_unreached *u = &s->unreached;
    const uint64_t       numbers[] = { s->clusters.count,
                                       s->count,
                                       s->bytes,
                                       u->objects[HDX_UNREACHED_FILLER],
                                       u->bytes[HDX_UNREACHED_FILLER],
                                       u->objects[HDX_UNREACHED_CLASS_FIELD],
                                       u->bytes[HDX_UNREACHED_CLASS_FIELD],
                                       u->objects[HDX_UNREACHED_ARCHIVE],
                                       u->bytes[HDX_UNREACHED_ARCHIVE] };
    return hdx_extras_add_numbers(code, out, "total", total_members, HDX_COUNT(numbers), numbers, err);
}

/* This notice precedes the rows, because any of them may be reachable if the dump lacks locals. */
static void warn_lacking_locals(const sorter *s)
{
    if (hdx_lacks_locals(hdx_graph_summary_of(s->ask.g)) && s->ask.q.notice != NULL)
        s->ask.q.notice(s->ask.q.notice_context,
                        "the dump has stacks but lacks locals and JNI roots; objects that only those hold count as "
                        "unreachable");
}

static hdx_code open_garbage(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    (void)a;
    *out = NULL;
    sorter *s = hdx_mem_get(q->mem, sizeof *s);
    if (s == NULL)
        return hdx_no_memory(err, "garbage", sizeof *s);
    hdx_code code = hdx_ask_begin(q, &s->ask, err);
    if (code != HDX_OK || (code = find_garbage(s, err)) != HDX_OK ||
        (code = hdx_unreached_open(&s->ask, &s->unreached, err)) != HDX_OK)
        return code;
    warn_lacking_locals(s);
    hdx_rows_maker maker = { columns, COLUMNS, s, garbage_next, NULL, s->clusters.count };
    if ((code = hdx_rows_make_in(q->mem, &maker, out, err)) == HDX_OK)
        code = add_totals(code, s, out, err);
    if (code == HDX_OK)
        hdx_rows_set_wanted(*out, q->wanted.columns);
    if (code == HDX_OK && hdx_column_wanted(q, LABEL))
        code = hdx_query_labels(q, false, out, err);
    return hdx_rows_explain_empty(code, out, err, "all objects of the dump are reachable");
}

const hdx_question hdx_question_garbage = {
    .declared = {
        .name = "garbage",
        .flags = HDX_ANSWER_LONG | HDX_ANSWER_HEAP | HDX_ANSWER_VALUES,
        .sentence = "unreachable objects in clusters of connected objects, the largest first",
        .more = "A cluster consists of unreachable objects that refer to each other. It stays in the heap until the "
                "next collection. Its root, the class with the most bytes and the live objects that it refers to "
                "suggest what it was. Some clusters are most likely no garbage: int[] without referrers fill gaps "
                "that a collector left (fillers); HotSpot dumps omit fields of java.lang.Class such as classValueMap "
                "and reflectionData; dumps by jhsdb lack the root of the archive of class data (CDS). The column kind "
                "distinguishes them. Totals by class: heapdex histogram DUMP --reachable garbage.",
        .examples = { "heapdex garbage app.hprof --limit 5", "heapdex garbage app.hprof --where 'objects > 100'" },
        .forms = &form,
        .form_count = 1,
        .document = document,
        .document_count = HDX_COUNT(document),
    },
    .open = open_garbage,
};
