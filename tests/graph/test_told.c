/*
 * test_told.c - all that is told of a little heap (dossier.h): as it is, and with one number of its index, its catalog
 * or its dump that is not so. told.txt has the checksums (support/checksums.h); what it is about stands on each line:
 *
 *     shapes narrow            as it is, with ids of 4 bytes
 *     ints class 3             each number of the index `class` in turn is 3; "n1" is one more than there are objects
 *     edges inbound            a reference more or less in this index alone
 *     special                  each object in turn is special, or is no longer
 *     manifest classes         a number of the manifest, a little more, less, none and very many
 *     class super              of each class in turn
 *     root object, thread      of each root in turn
 *     dump, cut                each byte of its records in turn is another; it ends there
 */
#include "graph/shapes.h"

#include "graph/dossier.h"

#include "support/checksums.h"

#include <stddef.h>

/* What the index being written says that is not so. */
static struct {
    char     what[16], name[24];
    hdx_kind kind;
    uint64_t at, value;
    bool     done; /* there was such a place */
} lie;

static uint64_t value_of(const little_writer *w, const char *word)
{
    return word[0] == 'n' ? w->n + strtoull(word + 1, NULL, 10) : strtoull(word, NULL, 0);
}

static void change_edge(little_writer *w, hdx_kind next)
{
    static const uint8_t pairs[][2] = { { 5, 1 }, { 14, 15 }, { 20, 3 }, { 3, 20 }, { 24, 9 }, { 2, 28 }, { 28, 2 } };
    if (lie.at >= sizeof pairs / sizeof *pairs || (next != lie.kind && next != lie.kind + 1))
        return;
    const unsigned  from = pairs[lie.at][0], to = pairs[lie.at][1], other = from + 8;
    static unsigned was;
    if (lie.kind == HDX_KIND_INSTANCES && next == lie.kind) {
        was = w->class_of[other];
        w->class_of[other] = little_id(w->l, lie.at % 2 == 0 ? w->l->ints : w->l->class);
    } else if (lie.kind == HDX_KIND_INSTANCES) {
        w->class_of[other] = was;
    } else if (lie.kind == HDX_KIND_DOMINATED && next == lie.kind) {
        w->dominator[other] = lie.at % 2 == 0 ? 1 : w->dominator[to];
    } else {
        w->edge[from][to] = !w->edge[from][to];
    }
    lie.done = true;
}

static const struct {
    const char *name;
    size_t      at;
    bool        wide;
} manifest_numbers[] = {
#define NUMBER(field)                                                                                                  \
    {                                                                                                                  \
#field, offsetof(hdx_manifest, field), sizeof(((hdx_manifest *)0)->field) == 8                                 \
    }
    NUMBER(id_size),      NUMBER(reference_size), NUMBER(alignment), NUMBER(objects),
    NUMBER(live_objects), NUMBER(live_bytes),     NUMBER(classes),   NUMBER(unreachable_objects),
    NUMBER(references),   NUMBER(gc_roots),       NUMBER(specials),  NUMBER(unreachable_bytes),
    NUMBER(dominators),   NUMBER(step),           NUMBER(dump_size), NUMBER(dump_number),
    NUMBER(file_size),    NUMBER(compression),
#undef NUMBER
};

static void change_manifest(little_writer *w)
{
    for (size_t i = 0; i < sizeof manifest_numbers / sizeof *manifest_numbers; i++) {
        if (strcmp(lie.name, manifest_numbers[i].name) != 0)
            continue;
        uint64_t     now = 0;
        void        *at = (char *)&w->m + manifest_numbers[i].at;
        const size_t size = manifest_numbers[i].wide ? 8 : 4;
        memcpy(&now, at, size);
        const uint64_t is[] = { now + 1,    now - 1,        0,          1,    2,        4,       8, 256, 257,
                                UINT64_MAX, UINT64_MAX / 4, 1ull << 34, w->n, w->n - 1, w->n + 1 };
        lie.done = lie.at < sizeof is / sizeof *is;
        if (lie.done)
            memcpy(at, &is[lie.at], size);
    }
}

static void change_class(little_writer *w)
{
    const uint64_t values[] = { 0, 1, w->m.classes - 1, w->m.classes, w->n - 1, w->n, HDX_NO_CLASS, 5, 12 },
                   number = lie.at / 9, value = values[lie.at % 9];
    hdx_class *c = &w->classes[number];
    lie.done = number < w->m.classes;
    if (!lie.done)
        return;
    if (strcmp(lie.name, "super") == 0)
        c->super = (uint32_t)value;
    else if (strcmp(lie.name, "id") == 0)
        c->id = value;
    else if (strcmp(lie.name, "kind") == 0)
        c->kind = (hdx_object_kind)value;
    else if (strcmp(lie.name, "element") == 0)
        c->element_type = (uint8_t)value;
    else if (strcmp(lie.name, "counts") == 0)
        *(lie.at % 4 == 0   ? &c->instances
          : lie.at % 4 == 1 ? &c->live_instances
          : lie.at % 4 == 2 ? &c->bytes
                            : &c->live_bytes) += 1;
    else
        c->address = value;
}

static int by_root(const void *a, const void *b)
{
    const hdx_root *x = a, *y = b;
    const int       order = little_by_object(a, b);
    return order != 0 ? order : x->thread < y->thread ? -1 : x->thread > y->thread;
}

static void change_root(little_writer *w)
{
    const uint64_t values[] = { 0, w->n - 1, w->n, w->n + 1, HDX_NO_ID }, i = lie.at / 5;
    lie.done = i < w->l->root_count;
    if (!lie.done)
        return;
    if (strcmp(lie.name, "object") == 0)
        w->l->roots[i].object = values[lie.at % 5];
    else if (strcmp(lie.name, "thread") == 0)
        w->l->roots[i].thread = values[lie.at % 5];
    else
        w->l->roots[i].type = (hdx_root_type)(values[lie.at % 5] % HDX_ROOT_TYPES);
    qsort(w->l->roots, w->l->root_count, sizeof *w->l->roots, by_root); /* the catalog takes no others */
}

static void tell(little_writer *w, hdx_kind next, uint64_t *values, uint64_t n)
{
    if (strcmp(lie.what, "edges") == 0)
        change_edge(w, next);
    if (strcmp(lie.what, "special") == 0 && next == HDX_KIND_SPECIAL && lie.at < w->n) {
        little_special[lie.at] = !little_special[lie.at];
        lie.done = true;
    }
    if (strcmp(lie.what, "ints") == 0 && next == lie.kind && lie.at < n) {
        values[lie.at] = value_of(w, lie.name);
        lie.done = true;
    }
    if (next != HDX_KINDS)
        return;
    if (strcmp(lie.what, "manifest") == 0)
        change_manifest(w);
    if (strcmp(lie.what, "class") == 0)
        change_class(w);
    if (strcmp(lie.what, "root") == 0)
        change_root(w);
    if (strcmp(lie.what, "cut") == 0)
        w->m.file_size = lie.value;
}

static void open_and_say(little *l, bool sound, hdx_buffer *b)
{
    hdx_error err = { 0 };
    hdx_code  code = hdx_graph_open(l->index, l->dump, &l->g, &err);
    say_code(b, "open", code, &err);
    if (code == HDX_OK)
        say_all(l->g, sound, b);
    hdx_graph_close(l->g);
    l->g = NULL;
}

/* Places lie.at = 0 .. in turn, until there is none; `step` leaves some out. */
static uint64_t say_lies(hdx_buffer *b, uint64_t from, uint64_t step)
{
    uint64_t lies = 0;
    for (lie.at = from;; lie.at += step) {
        little *l = shapes(8);
        l->lie = tell;
        lie.done = false;
        little_write(l);
        if (lie.done) {
            hdx_buffer_format(b, "---- %llu", (unsigned long long)lie.at);
            open_and_say(l, false, b);
            without_folder(b, l->folder);
            lies++;
        }
        const bool last = !lie.done;
        little_close(l);
        if (last)
            return lies;
    }
}

/* The dump is changed where a record lies, and only what is read from there is told. */
static void say_one(little *l, unsigned i, hdx_buffer *b)
{
    hdx_graph *g;
    hdx_error  err = { 0 };
    hdx_values v = { 0 };
    cr_assert(hdx_graph_open(l->index, l->dump, &g, &err) == HDX_OK, "%s", err.message);
    say_content(g, i, &v, b);
    hdx_values_free(&v);
    hdx_graph_close(g);
}

/* One byte of object i's record is another, or the file ends there. */
static void say_changed_dump(little *l, unsigned i, uint64_t at, bool cut, hdx_buffer *b)
{
    size_t         len;
    const uint8_t *bytes = dump_maker_bytes(l->m, &len);
    uint8_t       *other = malloc(len);
    memcpy(other, bytes, len);
    if (cut) { /* and the index says that it is as long as that */
        lie.value = at;
        l = shapes(8);
        l->lie = tell;
        little_write(l);
    } else {
        other[at] ^= 0x11;
    }
    dump_maker_save_bytes(l->dump, other, cut ? at : len);
    say_one(l, i, b);
    without_folder(b, l->folder);
    if (cut)
        little_close(l);
    free(other);
}

static uint64_t say_changed_dumps(hdx_buffer *b, bool cut)
{
    uint64_t told = 0;
    size_t   len;
    little  *l = shapes(8);
    little_write(l);
    (void)dump_maker_bytes(l->m, &len);
    const uint64_t heap = dump_maker_heap_at(l->m);
    for (unsigned i = 5; i < l->count; i++) {
        const uint64_t from = heap + l->at[i].mark;
        for (uint64_t at = from; l->at[i].mark != UINT64_MAX && at < from + 64 && at < len; at += cut ? 11 : 3, told++)
            say_changed_dump(l, i, at, cut, b);
    }
    little_close(l);
    return told;
}

static uint64_t text_of(void *context, const char *ask, hdx_buffer *b)
{
    char kind[24] = "", value[24] = "";
    (void)context;
    memset(&lie, 0, sizeof lie);
    (void)sscanf(ask, "%15s %23s %23s", lie.what, kind, value);
    if (strcmp(lie.what, "shapes") == 0) {
        little *l = shapes(strcmp(kind, "narrow") == 0 ? 4 : 8);
        little_write(l);
        open_and_say(l, true, b);
        without_folder(b, l->folder);
        little_close(l);
        return b->len;
    }
    if (strcmp(lie.what, "dump") == 0 || strcmp(lie.what, "cut") == 0)
        return say_changed_dumps(b, strcmp(lie.what, "cut") == 0);
    for (int k = 0; k < HDX_KINDS; k++)
        if (strcmp(kind, hdx_kind_name((hdx_kind)k)) == 0)
            lie.kind = (hdx_kind)k;
    (void)snprintf(lie.name, sizeof lie.name, "%s", value[0] != '\0' ? value : kind);
    const bool ints = strcmp(lie.what, "ints") == 0;
    return say_lies(b, ints ? strlen(ask) % 3 : 0, ints ? 4 : strcmp(lie.what, "class") == 0 ? 5 : 1);
}

Test(told, of_lies_and_of_the_truth_is_what_it_was)
{
    checksums_check(HDX_TREE "/tests/graph/told.txt", text_of, NULL);
}
