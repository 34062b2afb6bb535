/* test_stripped.c - what a dump holds no longer, by the policy of the tool that it went through. */
#include "graph/little_index.h"

#include "graph/inside.h"

static hdx_strip_policy policy;
static hdx_overlay_form view;

/* The manifest says so; called before each file is written. */
static void as_stripped(little_writer *w, hdx_kind next, uint64_t *values, uint64_t n)
{
    (void)next;
    (void)values;
    (void)n;
    w->m.stripping.policy = policy;
    w->m.stripping.overlay = view;
}

enum { BYTES, CHARS, INTS, EMPTY, ARRAYS };

typedef struct heap {
    little  *l;
    uint64_t arrays[ARRAYS];
    uint64_t boxes[8][2];                     /* 0 and another value */
    uint64_t text, empty, null, lost, number; /* Strings; one whose array is not in the dump; an Integer */
    uint64_t thread, old_thread, nameless, dangling;
    uint64_t letter, letters; /* a String of one character, and its array */
} heap;

static const struct {
    const char *name, *field;
    uint64_t    other;
} boxes[8] = { { "java.lang.Boolean", "value:Z", 1 },        { "java.lang.Character", "value:C", 'x' },
               { "java.lang.Float", "value:F", 0x3f800000 }, { "java.lang.Double", "value:D", 0x3ff0000000000000 },
               { "java.lang.Byte", "value:B", 0xff },        { "java.lang.Short", "value:S", 7 },
               { "java.lang.Integer", "value:I", 7 },        { "java.lang.Long", "value:J", 7 } };

static heap heap_of(hdx_strip_policy p, hdx_overlay_form v)
{
    heap    h = { .l = little_new() };
    little *l = h.l;
    policy = p;
    view = v;
    l->lie = as_stripped;
    const uint64_t string = little_class(l, "java.lang.String", l->object, "value:L hash:I");
    const uint64_t thread = little_class(l, "java.lang.Thread", l->object, "name:L");
    const uint64_t worker = little_class(l, "app.Worker", thread, "jobs:I");
    h.arrays[BYTES] = little_text(l, 'B', "bytes");
    h.arrays[CHARS] = little_text(l, 'C', "chars");
    h.arrays[INTS] = little_primitives(l, 'I', DUMP_VALUES(1, 2, 3), 3);
    h.arrays[EMPTY] = little_text(l, 'C', "");
    for (unsigned i = 0; i < 8; i++) {
        const uint64_t class = little_class(l, boxes[i].name, l->object, boxes[i].field);
        h.boxes[i][0] = little_instance(l, class, DUMP_VALUES(0));
        h.boxes[i][1] = little_instance(l, class, DUMP_VALUES(boxes[i].other));
    }
    h.text = little_instance(l, string, DUMP_VALUES(h.arrays[CHARS], 0));
    h.empty = little_instance(l, string, DUMP_VALUES(h.arrays[EMPTY], 0));
    h.letters = little_text(l, 'C', "x");
    h.letter = little_instance(l, string, DUMP_VALUES(h.letters, 0));
    h.null = little_instance(l, string, DUMP_VALUES(0, 0));
    h.lost = little_instance(l, string, DUMP_VALUES(0xdead0, 0));
    h.thread = little_instance(l, worker, DUMP_VALUES(3, h.text));
    h.old_thread = little_instance(l, thread, DUMP_VALUES(0));
    h.nameless = little_instance(l, thread, DUMP_VALUES(h.lost));
    h.dangling = little_instance(l, thread, DUMP_VALUES(0xdead0));
    little_root(l, HDX_ROOT_SYSTEM_CLASS, l->object, 0);
    little_open(l);
    return h;
}

static const struct {
    hdx_strip_policy policy;
    hdx_overlay_form view;
    bool             blank[ARRAYS]; /* bytes, chars, ints, empty */
    bool             boxes;
} policies[] = {
    { HDX_STRIP_NONE, HDX_OVERLAY_NONE, { false, false, false, false }, false },
    { HDX_STRIP_MATRIX, HDX_OVERLAY_NONE, { false, false, false, false }, false },
    { HDX_STRIP_KOOM, HDX_OVERLAY_NONE, { true, true, true, false }, false },
    { HDX_STRIP_TAILOR, HDX_OVERLAY_NONE, { true, true, false, false }, false },
    { HDX_STRIP_SHARK, HDX_OVERLAY_NONE, { true, true, true, false }, true },
    { HDX_STRIP_REDACTED, HDX_OVERLAY_NONE, { true, true, true, false }, true },
    { HDX_STRIP_UNKNOWN, HDX_OVERLAY_NONE, { false, false, false, false }, false },
};

Test(stripped, arrays_lost_their_content_by_policy)
{
    for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
        heap       h = heap_of(policies[p].policy, policies[p].view);
        hdx_values v = { 0 };
        hdx_error  err;
        for (unsigned i = 0; i < ARRAYS; i++) {
            const hdx_id id = little_find(h.l, h.arrays[i]);
            cr_assert(eq(int, hdx_graph_elements(h.l->g, id, 0, 10, &v, &err), HDX_OK));
            cr_expect(eq(u64, v.count, i == INTS ? 3 : i == EMPTY ? 0 : 5));
            for (uint64_t k = 0; k < v.count; k++)
                cr_expect(eq(int, v.at[k].value.absent, policies[p].blank[i]), "policy %zu, array %u", p, i);
            cr_expect(eq(int, hdx_graph_text_absent(h.l->g, id), i == CHARS && policies[p].blank[CHARS]),
                      "policy %zu, array %u", p, i); /* a text: of a char[] alone */
        }
        hdx_values_free(&v);
        little_close(h.l);
    }
}

Test(stripped, boxes_of_0_may_have_held_anything)
{
    for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
        heap       h = heap_of(policies[p].policy, policies[p].view);
        hdx_values v = { 0 };
        hdx_error  err;
        for (unsigned i = 0; i < 8; i++)
            for (unsigned other = 0; other < 2; other++) {
                const hdx_id id = little_find(h.l, h.boxes[i][other]);
                hdx_value    one;
                bool         found;
                const bool   want = policies[p].boxes && other == 0;
                cr_assert(eq(int, hdx_graph_fields(h.l->g, id, &v, &err), HDX_OK));
                cr_expect(v.count == 1 && v.at[0].value.absent == want, "policy %zu, %s", p, boxes[i].name);
                cr_assert(eq(int, hdx_graph_field(h.l->g, id, NULL, "value", &one, &found, &err), HDX_OK));
                cr_expect(found && one.absent == want, "policy %zu, %s", p, boxes[i].name);
            }
        /* `hash` of a String is 0 and an int, and no box: it is what it was */
        cr_assert(eq(int, hdx_graph_fields(h.l->g, little_find(h.l, h.text), &v, &err), HDX_OK));
        cr_expect(v.count == 2 && !v.at[0].value.absent && !v.at[1].value.absent);
        hdx_values_free(&v);
        little_close(h.l);
    }
}

Test(stripped, texts_are_absent_where_their_array_is)
{
    for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
        heap       h = heap_of(policies[p].policy, policies[p].view);
        const bool any = policies[p].policy != HDX_STRIP_NONE, chars = policies[p].blank[CHARS];
        const struct {
            uint64_t object;
            bool     absent;
        } texts[] = { { h.letter, chars },    { h.letters, chars }, { h.text, chars },        { h.empty, false },
                      { h.null, false },      { h.lost, any },      { h.thread, chars },      { h.old_thread, false },
                      { h.nameless, any },    { h.dangling, any },  { h.boxes[6][0], false }, { h.l->object, false },
                      { h.l->objects, false } };
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
            cr_expect(eq(int, hdx_graph_text_absent(h.l->g, little_find(h.l, texts[i].object)), texts[i].absent),
                      "policy %zu, text %zu", p, i);
        cr_expect(not(hdx_graph_text_absent(h.l->g, hdx_graph_objects(h.l->g))));
        /* and is no text then, not an empty one */
        char     *text;
        size_t    len;
        bool      whole, is;
        hdx_error err;
        cr_assert(
            eq(int, hdx_graph_string(h.l->g, little_find(h.l, h.text), 9, &text, &len, &whole, &is, &err), HDX_OK));
        cr_expect(is == !chars && (chars ? text == NULL && len == 0 : strcmp(text, "chars") == 0), "policy %zu", p);
        hdx_text_free(text);
        cr_assert(
            eq(int, hdx_graph_string(h.l->g, little_find(h.l, h.empty), 9, &text, &len, &whole, &is, &err), HDX_OK));
        cr_expect(is && len == 0 && whole);
        hdx_text_free(text);
        little_close(h.l);
    }
}

/* A label would be the constant that a tool wrote there. */
Test(stripped, arrays_and_texts_have_no_labels)
{
    for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
        heap           h = heap_of(policies[p].policy, policies[p].view);
        const uint64_t objects[] = { h.arrays[BYTES], h.arrays[CHARS], h.text, h.thread };
        const bool     blank[] = { policies[p].blank[BYTES], policies[p].blank[CHARS], policies[p].blank[CHARS],
                                   policies[p].blank[CHARS] };
        for (unsigned i = 0; i < 4; i++) {
            char     *text;
            hdx_error err;
            cr_assert(eq(int, hdx_graph_label(h.l->g, little_find(h.l, objects[i]), &text, &err), HDX_OK));
            cr_expect(eq(int, text == NULL, blank[i]), "policy %zu, object %u", p, i);
            cr_expect(text == NULL || strcmp(text, i == 0 ? "bytes" : "chars") == 0);
            hdx_text_free(text);
        }
        little_close(h.l);
    }
}
