/*
 * retained.c - what goes when some objects go (MAT 6.4), summed by class.
 *
 * One object: its subtree of dominators, unless that is most of the heap. Several: what the GC roots no longer reach
 * when these are not entered (mark.c), the objects themselves included, also when they are GC roots. Objects that are
 * garbage already retain nothing.
 */
#include "graph/graph.h"
#include "query/query.h"

#include <stdlib.h>

static const hdx_column columns[] = {
    HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME, "class of objects that would be gone"),
    HDX_COLUMN("objects", UNSIGNED, COUNT, 0, "how many of them"),
    HDX_COLUMN("shallow", UNSIGNED, BYTES, 0, "their own size, without what they refer to"),
};
static const hdx_column total_members[] = {
    HDX_COLUMN("objects", UNSIGNED, COUNT, 0, "objects that would be gone, those asked about included"),
    HDX_COLUMN("bytes", UNSIGNED, BYTES, 0, "bytes that would be free"),
};
static const hdx_column document[] = { HDX_NESTED("total", OBJECT, 0, "the retained set as a whole", total_members) };
static const hdx_form   form = { NULL, NULL, columns, HDX_COUNT(columns) };

typedef struct class_sum {
    uint32_t number;
    uint64_t objects, shallow;
} class_sum;

typedef struct sums {
    class_sum *at;
    uint32_t   classes;
    uint64_t   objects, bytes;
} sums;

static void add(sums *s, uint32_t c, uint64_t shallow)
{
    s->objects++;
    s->bytes += shallow;
    if (c < s->classes) {
        s->at[c].objects++;
        s->at[c].shallow += shallow;
    }
}

#define SOME 64u /* of the stack at a time, in no order: their look-ups wait for memory together */
static hdx_code subtree(hdx_ask *ask, hdx_id id, sums *s, hdx_error *err)
{
    hdx_ids  stack = hdx_ids_of(ask->q.mem);
    hdx_code code = hdx_ids_push(&stack, id, err);
    while (code == HDX_OK && stack.count > 0 && s->objects < hdx_graph_objects(ask->g)) { /* invariant 3 */
        hdx_id   some[SOME], child;
        unsigned n = 0;
        while (n < SOME && stack.count > 0)
            some[n++] = stack.at[--stack.count];
        for (unsigned i = 0; i < n && code == HDX_OK; i++) {
            hdx_refs refs;
            hdx_graph_ahead(ask->g, HDX_AHEAD_CLASS | HDX_AHEAD_LENGTH | HDX_AHEAD_OUTBOUND, some, n, i);
            add(s, hdx_graph_class_of(ask->g, some[i]), hdx_graph_shallow(ask->g, some[i]));
            hdx_graph_dominated(ask->g, some[i], &refs);
            while (code == HDX_OK && hdx_refs_next(&refs, &child))
                code = hdx_ids_push(&stack, child, err);
            if (code == HDX_OK)
                code = hdx_ask_turn(ask, err);
        }
    }
    hdx_ids_drop(&stack);
    return code;
}

static hdx_code unreached(hdx_ask *ask, const uint64_t *without, sums *s, hdx_error *err)
{
    uint64_t  n = hdx_graph_objects(ask->g), words = hdx_bits_words(n);
    uint64_t *seen = hdx_mem_array(ask->q.mem, words, sizeof *seen);
    hdx_code  code;
    if (seen == NULL)
        return hdx_no_memory(err, "marking", words * sizeof *seen);
    code = hdx_mark(&ask->q, without, seen, err);
    for (hdx_id first = 0; code == HDX_OK && first < n; first += HDX_RUN) {
        uint64_t live[HDX_RUN / 64], sizes[HDX_RUN], any = 0;
        uint32_t classes[HDX_RUN], here = (uint32_t)(n - first < HDX_RUN ? n - first : HDX_RUN);
        hdx_graph_read_live(ask->g, first, here, live);
        for (uint32_t w = 0; w < (here + 63) / 64; w++)
            any |= live[w] &= ~seen[first / 64 + w];
        if (any == 0)
            continue;
        hdx_graph_read_classes(ask->g, first, here, classes);
        hdx_graph_read_shallow(ask->g, first, here, sizes);
        for (uint32_t w = 0; w < (here + 63) / 64; w++)
            for (uint64_t bits = live[w]; bits != 0; bits &= bits - 1) {
                uint32_t i = w * 64 + (uint32_t)__builtin_ctzll(bits);
                if (i < here)
                    add(s, classes[i], sizes[i]);
            }
        if ((first / HDX_RUN & 255) == 255)
            code = hdx_ask_stopped(&ask->q, err);
    }
    hdx_mem_put(ask->q.mem, seen, words * sizeof *seen);
    return code;
}

static int by_shallow(const void *a, const void *b)
{
    const class_sum *x = a, *y = b;
    if (x->shallow != y->shallow)
        return x->shallow > y->shallow ? -1 : 1;
    if (x->objects != y->objects)
        return x->objects > y->objects ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static hdx_code answer(hdx_ask *ask, sums *s, hdx_rows **out, hdx_error *err)
{
    hdx_table *t;
    uint32_t   used = 0;
    hdx_code   code = hdx_table_in(ask->q.mem, columns, HDX_COUNT(columns), &t, err);
    if (code != HDX_OK)
        return code;
    for (uint32_t c = 0; c < s->classes; c++)
        if (s->at[c].objects > 0) {
            s->at[used] = s->at[c];
            s->at[used++].number = c;
        }
    if (used > 0)
        qsort(s->at, used, sizeof *s->at, by_shallow);
    for (uint32_t i = 0; code == HDX_OK && i < used; i++) {
        hdx_cell cells[3] = { hdx_class_cell(ask->g, s->at[i].number), hdx_cell_uint(s->at[i].objects),
                              hdx_cell_uint(s->at[i].shallow) };
        code = hdx_table_add(t, cells, err);
    }
    hdx_member *total = hdx_arena_get(hdx_table_arena(t), 2 * sizeof *total);
    if (code == HDX_OK && total == NULL)
        code = hdx_no_memory(err, "a total", 2 * sizeof *total);
    if (code == HDX_OK)
        code = hdx_graph_check(ask->g, err);
    if (code != HDX_OK) {
        hdx_table_free(t);
        return code;
    }
    total[0] = (hdx_member){ "objects", hdx_cell_uint(s->objects) };
    total[1] = (hdx_member){ "bytes", hdx_cell_uint(s->bytes) };
    if ((code = hdx_table_rows(t, out, err)) == HDX_OK &&
        ((code = hdx_rows_add_extra(*out, "total", hdx_cell_object(total, 2), err)) != HDX_OK ||
         (code = hdx_rows_set_title(*out, "Retained set", err)) != HDX_OK)) {
        hdx_rows_close(*out);
        *out = NULL;
    }
    return code;
}

static hdx_code sums_open(hdx_ask *ask, sums *s, hdx_error *err)
{
    *s = (sums){ NULL, 0, 0, 0 };
    (void)hdx_graph_classes(ask->g, &s->classes);
    s->at = hdx_mem_array(ask->q.mem, s->classes, sizeof *s->at);
    return s->at == NULL ? hdx_no_memory(err, "sums", s->classes * sizeof *s->at) : HDX_OK;
}

hdx_code hdx_query_retained(const hdx_query *q, const hdx_id *ids, size_t count, hdx_rows **out, hdx_error *err)
{
    hdx_ask  ask;
    sums     s;
    uint64_t n = hdx_graph_objects(q->graph), live = 0, words = hdx_bits_words(n);
    hdx_id   only = HDX_NO_ID;
    *out = NULL;
    hdx_code code = hdx_ask_begin(q, &ask, err);
    if (code != HDX_OK || (code = sums_open(&ask, &s, err)) != HDX_OK)
        return code;
    for (size_t i = 0; code == HDX_OK && i < count; i++) {
        if (ids[i] >= n)
            code =
                hdx_fail(err, HDX_NOT_FOUND, "", HDX_NOWHERE, "no object has the id %llu", (unsigned long long)ids[i]);
        else if (hdx_graph_live(q->graph, ids[i]) && ids[i] != only) {
            only = ids[i];
            live++;
        }
    }
    /*
     * the subtree of an object that keeps most of the heap is walked at random; what is left without it is little, and
     * the rest a run in order
     */
    const bool most = live == 1 && 2 * hdx_graph_retained(q->graph, only) > hdx_graph_summary_of(q->graph)->live_bytes;
    if (code == HDX_OK && live == 1 && !most) {
        code = subtree(&ask, only, &s, err);
    } else if (code == HDX_OK && live > 0) {
        uint64_t *without = hdx_mem_array(q->mem, words, sizeof *without);
        if (without == NULL)
            code = hdx_no_memory(err, "marking", words * sizeof *without);
        for (size_t i = 0; code == HDX_OK && i < count; i++)
            hdx_bits_put(without, ids[i]);
        if (code == HDX_OK)
            code = unreached(&ask, without, &s, err);
        hdx_mem_put(q->mem, without, words * sizeof *without);
    }
    if (code == HDX_OK)
        code = answer(&ask, &s, out, err);
    hdx_mem_put(q->mem, s.at, s.classes * sizeof *s.at);
    return hdx_say_nothing(code, out, err, "%s",
                           count == 1 ? "it is unreachable: nothing more would be free without it"
                                      : "all of them are unreachable: nothing more would be free");
}

hdx_code hdx_query_retained_class(const hdx_query *q, const char *class_pattern, bool subclasses, hdx_rows **out,
                                  hdx_error *err)
{
    hdx_ask   ask;
    sums      s;
    uint32_t *numbers = NULL;
    size_t    count = 0;
    uint64_t  words = hdx_bits_words(hdx_graph_objects(q->graph)), members = 0;
    *out = NULL;
    hdx_code code = hdx_ask_begin(q, &ask, err);
    if (code != HDX_OK ||
        (code = hdx_query_classes_named(q, class_pattern, subclasses, &numbers, &count, err)) != HDX_OK)
        return code;
    uint64_t *without = hdx_mem_array(q->mem, words, sizeof *without);
    if (without == NULL)
        code = hdx_no_memory(err, "marking", words * sizeof *without);
    if (code == HDX_OK && (code = sums_open(&ask, &s, err)) == HDX_OK) {
        for (size_t i = 0; code == HDX_OK && i < count; i++) {
            hdx_refs refs;
            hdx_id   id;
            hdx_graph_instances(q->graph, numbers[i], HDX_LIVE, &refs);
            while (code == HDX_OK && hdx_refs_next(&refs, &id)) {
                if (id < hdx_graph_objects(q->graph))
                    hdx_bits_put(without, id);
                members++;
                code = hdx_ask_turn(&ask, err);
            }
        }
        if (code == HDX_OK && members > 0)
            code = unreached(&ask, without, &s, err);
        if (code == HDX_OK)
            code = answer(&ask, &s, out, err);
        hdx_mem_put(q->mem, s.at, s.classes * sizeof *s.at);
    }
    hdx_mem_put(q->mem, without, words * sizeof *without);
    hdx_numbers_free(numbers);
    return hdx_say_nothing(code, out, err, "no instance is reachable%s",
                           subclasses ? "" : "; --subclasses adds those of subclasses");
}

static const hdx_parameter parameters[] = {
    { .name = "object",
      .kind = HDX_PARAMETER_OBJECTS,
      .flags = HDX_PARAMETER_REPEATED | HDX_PARAMETER_WORD | HDX_PARAMETER_EITHER,
      .value = "OBJECT",
      .sentence = "the objects that would be gone" },
    HDX_PARAMETER_OF_CLASS(HDX_PARAMETER_EITHER, "name, glob (* and ?) or /regular expression/"),
    { .name = "subclasses", .kind = HDX_PARAMETER_FLAG, .needs = "class", .sentence = "instances of subclasses too" },
};

static hdx_code open_retained(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    const char *pattern = hdx_argument_text(a, "class");
    hdx_id     *ids = NULL;
    size_t      count = 0;
    hdx_code    code;
    *out = NULL;
    if ((pattern != NULL) == (hdx_argument_text(a, "object") != NULL))
        return hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "'retained' takes objects or --class PATTERN, %s",
                        pattern != NULL ? "not both" : "and got neither");
    if (pattern != NULL)
        return hdx_query_retained_class(q, pattern, hdx_argument_flag(a, "subclasses"), out, err);
    if ((code = hdx_argument_objects(q, a, &ids, &count, err)) == HDX_OK)
        code = hdx_query_retained(q, ids, count, out, err);
    hdx_ids_free(ids);
    return code;
}

const hdx_question hdx_question_retained = {
    .declared = {
        .name = "retained",
        .flags = HDX_ANSWER_LONG | HDX_ANSWER_HEAP,
        .sentence = "what would be free if objects were gone together",
        .more = "--class takes all live instances of the matching classes, neither class objects nor subclasses "
                "unless asked.",
        .examples = { "heapdex retained app.hprof '#1234' thread:main", "heapdex retained app.hprof --class "
                                                                        "java.lang.String" },
        .forms = &form,
        .form_count = 1,
        .document = document,
        .document_count = HDX_COUNT(document),
        .parameters = parameters,
        .parameter_count = HDX_COUNT(parameters),
    },
    .open = open_retained,
};
