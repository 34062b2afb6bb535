/*
 * dossier.h - all that a graph says, as text: every getter of every id and of some that are none, every cursor in every
 * scope, values, texts and names, classes and roots, what verifying tells. Columns are compared with the getters on the
 * way, and stand in memory of their own, so that one that is written past its end is seen.
 */
#ifndef TESTS_GRAPH_DOSSIER_H
#define TESTS_GRAPH_DOSSIER_H

#include "graph/inside.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static inline void say_code(hdx_buffer *b, const char *what, hdx_code code, const hdx_error *err)
{
    hdx_buffer_format(b, " %s=%s", what, hdx_code_name(code));
    if (code != HDX_OK)
        hdx_buffer_format(b, " [%s at %lld: %s; %s]", err->where, (long long)err->offset, err->message, err->hint);
}

static inline void say_id(hdx_buffer *b, hdx_id id)
{
    if (id == HDX_NO_ID)
        hdx_buffer_text(b, " none");
    else if (id == HDX_VIRTUAL_ROOT)
        hdx_buffer_text(b, " top");
    else
        hdx_buffer_format(b, " %llu", (unsigned long long)id);
}

static inline void say_refs(hdx_buffer *b, const char *what, hdx_refs *refs)
{
    hdx_id id;
    hdx_buffer_format(b, " %s", what);
    for (unsigned n = 0; n < 5000 && hdx_refs_next(refs, &id); n++)
        say_id(b, id);
    cr_assert(not(hdx_refs_next(refs, &id)));
}

static inline void say_values(hdx_buffer *b, const char *what, hdx_code code, const hdx_values *v, const hdx_error *err)
{
    say_code(b, what, code, err);
    for (uint64_t i = 0; code == HDX_OK && i < v->count; i++) {
        const hdx_field_value *f = &v->at[i];
        hdx_buffer_format(b, " %.*s/%d:%u", (int)f->name.len, f->name.at, (int)f->owner, f->value.type);
        hdx_buffer_format(b, f->value.absent ? "?" : "=%llx", (unsigned long long)f->value.as.address);
    }
}

static inline bool say_name(void *context, const hdx_named_ref *ref)
{
    hdx_buffer_format(context, " %s:%s/%d=%llu", hdx_ref_kind_name(ref->kind), ref->name, (int)ref->owner,
                      (unsigned long long)ref->target);
    return true;
}

static inline void say_object(hdx_graph *g, hdx_id id, hdx_buffer *b)
{
    hdx_pos    pos = 0;
    hdx_id     found = HDX_NO_ID;
    hdx_refs   refs;
    hdx_root   roots[4];
    uint64_t   count = 0;
    hdx_error  err = { 0 };
    const bool there = hdx_graph_position(g, id, &pos);
    say_id(b, id);
    hdx_buffer_format(b, ": %llx class %d kind %d length %llu", (unsigned long long)hdx_graph_address(g, id),
                      (int)hdx_graph_class_of(g, id), (int)hdx_graph_kind(g, id),
                      (unsigned long long)hdx_graph_length(g, id));
    hdx_buffer_format(b, " %llu of %llu heap %d at %lld %s", (unsigned long long)hdx_graph_shallow(g, id),
                      (unsigned long long)hdx_graph_retained(g, id), hdx_graph_heap(g, id),
                      there ? (long long)pos : -1LL, hdx_graph_live(g, id) ? "live" : "garbage");
    say_id(b, hdx_graph_dominator(g, id));
    say_id(b, hdx_graph_nearest(g, id));
    (void)hdx_graph_find(g, hdx_graph_address(g, id) + 1, &found);
    say_id(b, found);
    (void)hdx_graph_find(g, hdx_graph_address(g, id), &found);
    say_id(b, found);
    for (int scope = HDX_LIVE; scope <= HDX_GARBAGE; scope++) {
        hdx_graph_outbound(g, id, (hdx_refs_scope)scope, &refs);
        say_refs(b, "to", &refs);
        hdx_graph_inbound(g, id, (hdx_refs_scope)scope, &refs);
        say_refs(b, "from", &refs);
        hdx_buffer_format(b, " %llu/%llu", (unsigned long long)hdx_graph_outbound_count(g, id, (hdx_refs_scope)scope),
                          (unsigned long long)hdx_graph_inbound_count(g, id, (hdx_refs_scope)scope));
    }
    hdx_graph_dominated(g, id, &refs);
    say_refs(b, "over", &refs);
    say_code(b, "roots", hdx_graph_roots_of(g, id, roots, 4, &count, &err), &err);
    for (uint64_t i = 0; i < count && i < 4; i++)
        hdx_buffer_format(b, " %d/%lld", (int)roots[i].type, (long long)roots[i].thread);
    const hdx_class  *c = hdx_graph_class_object(g, id);
    const hdx_thread *t = hdx_graph_thread_of(g, id);
    hdx_buffer_format(b, " is %d, thread %d\n", c == NULL ? -1 : (int)c->number, t == NULL ? -1 : (int)t->serial);
}

/* What is read from the dump. */
static inline void say_content(hdx_graph *g, hdx_id id, hdx_values *v, hdx_buffer *b)
{
    static const char *const fields[] = { "next", "value", "name", "count", "nothing" };
    hdx_error                err = { 0 };
    hdx_code                 code;
    char                    *text = NULL;
    size_t                   len = 0;
    bool                     whole, is;
    say_id(b, id);
    say_values(b, "fields", hdx_graph_fields(g, id, v, &err), v, &err);
    say_values(b, "there", hdx_graph_fields_present(g, id, v, &err), v, &err);
    say_values(b, "statics", hdx_graph_statics(g, id, v, &err), v, &err);
    say_values(b, "elements", hdx_graph_elements(g, id, 0, UINT64_MAX, v, &err), v, &err);
    say_values(b, "from 1", hdx_graph_elements(g, id, 1, 2, v, &err), v, &err);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        hdx_value value = { 0 };
        bool      found = false;
        code = hdx_graph_field(g, id, i == 2 ? "java.lang.Thread" : NULL, fields[i], &value, &found, &err);
        say_code(b, fields[i], code, &err);
        if (code == HDX_OK && found)
            hdx_buffer_format(b, value.absent ? "?" : "=%llx", (unsigned long long)value.as.address);
    }
    for (uint64_t most = 1; most < 10; most += 8) {
        say_code(b, "string", hdx_graph_string(g, id, most, &text, &len, &whole, &is, &err), &err);
        hdx_buffer_format(b, " %d %d %zu %s", is, whole, len, text == NULL ? "-" : text);
        hdx_text_free(text);
    }
    text = NULL;
    code = hdx_graph_label(g, id, &text, &err);
    say_code(b, "label", code, &err);
    hdx_buffer_format(b, " %s %d", text == NULL ? "-" : text, hdx_graph_text_absent(g, id));
    hdx_text_free(text);
    code = hdx_graph_named_refs(g, id, HDX_NO_ID, say_name, b, &err);
    say_code(b, "names", code, &err);
    hdx_refs refs;
    hdx_id   to;
    for (hdx_graph_outbound(g, id, HDX_ALL, &refs); hdx_refs_next(&refs, &to);) {
        code = hdx_graph_named_refs(g, id, to, say_name, b, &err);
        say_code(b, "only", code, &err);
    }
    hdx_buffer_text(b, "\n");
}

static inline void say_classes(hdx_graph *g, hdx_buffer *b)
{
    uint32_t         count = 0;
    uint64_t         n = 0;
    hdx_refs         refs;
    const hdx_class *classes = hdx_graph_classes(g, &count);
    hdx_buffer_format(b, "classes %s %u\n", classes == NULL ? "-" : "there", count);
    for (uint32_t i = 0; i <= count + 1; i++) {
        const hdx_class *c = hdx_graph_class(g, i), *named = NULL;
        char             name[100] = "";
        if (c != NULL) {
            (void)snprintf(name, sizeof name, "%.*s", (int)c->name.len, c->name.at);
            named = hdx_graph_class_named(g, name);
        }
        hdx_buffer_format(b, "%u %s %d", i, name, named == NULL ? -1 : (int)named->number);
        for (uint32_t k = 0; k <= count; k++)
            hdx_buffer_text(b, hdx_class_extends(g, i, k) ? "1" : "0");
        hdx_text  label = { "", 0 };
        hdx_error err = { 0 };
        if (c != NULL)
            say_code(b, "label", hdx_graph_class_label(g, c, &label, &err), &err);
        hdx_buffer_format(b, " %u ", label.len);
        hdx_buffer_put(b, label.at, label.len);
        for (int scope = HDX_LIVE; scope <= HDX_GARBAGE; scope++) {
            hdx_graph_instances(g, i, (hdx_refs_scope)scope, &refs);
            say_refs(b, "of", &refs);
        }
        hdx_buffer_text(b, "\n");
    }
    const hdx_root *roots = hdx_graph_roots(g, &n);
    hdx_buffer_format(b, "roots %s %llu", roots == NULL ? "-" : "there", (unsigned long long)n);
    for (uint64_t i = 0; i < n; i++)
        hdx_buffer_format(b, " %lld/%d/%lld", (long long)roots[i].object, (int)roots[i].type,
                          (long long)roots[i].thread);
    const hdx_thread *threads = hdx_graph_threads(g, &n);
    hdx_buffer_format(b, "\nthreads %s %llu\n", threads == NULL ? "-" : "there", (unsigned long long)n);
    const hdx_heap_space *heaps = hdx_graph_heaps(g, &n);
    hdx_buffer_format(b, "heaps %s %llu\n", heaps == NULL ? "-" : "there", (unsigned long long)n);
}

/* A number of a column, and what the getter says: of an index that lies the two need not be the same. */
static inline void say_same(hdx_buffer *b, bool sound, uint64_t column, uint64_t getter)
{
    if (!sound)
        hdx_buffer_format(b, " %lld", (long long)column);
    else
        cr_assert(column == getter, "%llx, %llx", (unsigned long long)column, (unsigned long long)getter);
}

/* Columns of first .. first + n - 1. */
static inline void say_columns(hdx_graph *g, hdx_id first, uint32_t n, bool sound, hdx_buffer *b)
{
    uint64_t *words = malloc(8 * n), *pair = malloc(8 * n), *live = malloc((n + 63) / 64 * 8);
    uint32_t *classes = malloc(4 * n);
    uint8_t  *kinds = malloc(n);
    int32_t  *heaps = malloc(4 * n);
    hdx_id   *ids = malloc(8 * n);
    hdx_pos   pos = 0;
#define SAY(read, getter)                                                                                              \
    do {                                                                                                               \
        read(g, first, n, words);                                                                                      \
        for (uint32_t i = 0; i < n; i++)                                                                               \
            say_same(b, sound, words[i], getter(g, first + i));                                                        \
        hdx_buffer_text(b, "\n" #read);                                                                                \
    } while (0)
    SAY(hdx_graph_read_addresses, hdx_graph_address);
    SAY(hdx_graph_read_lengths, hdx_graph_length);
    SAY(hdx_graph_read_shallow, hdx_graph_shallow);
    SAY(hdx_graph_read_retained, hdx_graph_retained);
    SAY(hdx_graph_read_dominators, hdx_graph_dominator);
    SAY(hdx_graph_read_nearest, hdx_graph_nearest);
#undef SAY
    hdx_graph_read_addresses(g, first, n, words);
    words[n / 2]++;
    hdx_graph_find_many(g, words, n, ids);
    hdx_graph_read_positions(g, first, n, pair);
    hdx_graph_read_classes(g, first, n, classes);
    hdx_graph_read_kinds(g, first, n, kinds);
    hdx_graph_read_heaps(g, first, n, heaps);
    hdx_graph_read_live(g, first, n, live);
    for (uint32_t i = 0; i < n; i++) {
        hdx_id id = HDX_NO_ID;
        (void)hdx_graph_find(g, words[i], &id);
        say_same(b, sound, ids[i], id);
        say_same(b, sound, pair[i], hdx_graph_position(g, first + i, &pos) ? pos + 1 : 0);
        say_same(b, sound, classes[i], hdx_graph_class_of(g, first + i));
        say_same(b, sound, kinds[i], hdx_graph_kind(g, first + i));
        say_same(b, sound, (uint64_t)(int64_t)heaps[i], (uint64_t)(int64_t)hdx_graph_heap(g, first + i));
        say_same(b, sound, hdx_bits_test(live, i), hdx_graph_live(g, first + i));
    }
    for (int scope = HDX_LIVE; scope <= HDX_GARBAGE; scope++) {
        hdx_graph_read_counts(g, (hdx_refs_scope)scope, first, n, words, pair);
        for (uint32_t i = 0; i < n; i++) {
            say_same(b, sound, words[i], hdx_graph_outbound_count(g, first + i, (hdx_refs_scope)scope));
            say_same(b, sound, pair[i], hdx_graph_inbound_count(g, first + i, (hdx_refs_scope)scope));
        }
    }
    free(words);
    free(pair);
    free(live);
    free(classes);
    free(kinds);
    free(heaps);
    free(ids);
}

/* sound: columns say what getters say; and of an index that lies only what stands in it. */
static inline void say_all(hdx_graph *g, bool sound, hdx_buffer *b)
{
    hdx_error      err = { 0 };
    hdx_values     v = { 0 };
    const uint64_t objects = hdx_graph_objects(g) < 1000 ? hdx_graph_objects(g) : 1000;
    say_classes(g, b);
    for (uint64_t id = 0; id < objects + 4; id++) {
        const hdx_id at = id == objects + 2 ? HDX_NO_ID : id == objects + 3 ? HDX_VIRTUAL_ROOT : id;
        say_object(g, at, b);
        if (sound) {
            say_content(g, at, &v, b);
        } else {
            char          *text = NULL;
            const hdx_code code = hdx_graph_label(g, at, &text, &err);
            say_code(b, "label", code, &err);
            hdx_buffer_text(b, text == NULL ? "-" : text);
            hdx_text_free(text);
            say_values(b, "fields", hdx_graph_fields(g, at, &v, &err), &v, &err);
        }
    }
    say_columns(g, 0, (uint32_t)objects + 3, sound, b);
    say_columns(g, 3, 5, sound, b);
    say_columns(g, objects - 1, 1, sound, b);
    say_code(b, "check", hdx_graph_check(g, &err), &err);
    say_code(b, "files", hdx_graph_verify(g, false, &err), &err);
    say_code(b, "all", hdx_graph_verify(g, true, &err), &err);
    hdx_buffer_text(b, "\n");
    hdx_values_free(&v);
}

/* The folder becomes "~": its name is another each time. */
static inline void without_folder(hdx_buffer *b, const char *folder)
{
    const size_t len = strlen(folder);
    for (char *at; (at = strstr(b->at, folder)) != NULL;) {
        *at = '~';
        memmove(at + 1, at + len, strlen(at + len) + 1);
    }
    b->len = strlen(b->at);
}

#endif
