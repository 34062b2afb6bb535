/*
 * test_refused.c - whichever request for memory is refused, or whichever read fails: a question says so in its code or
 * in hdx_graph_check, gives no half of an answer, and gives the whole one when it is asked again.
 */
#include "graph/shapes.h"

#include "graph/inside.h"
#include "support/refusing.h"

#include <stdarg.h>

static bool same(bool a, bool b) { return a == b; }

/* Answers, in memory that nobody refuses. */
static char   answer[1u << 17];
static size_t used;

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    used += (size_t)vsnprintf(answer + used, sizeof answer - used, format, args);
    va_end(args);
    cr_assert(used < sizeof answer);
}

static void say_values(const hdx_values *v)
{
    for (uint64_t i = 0; i < v->count; i++)
        say(" %.*s %d %d %llx", (int)v->at[i].name.len, v->at[i].name.at, (int)v->at[i].owner, v->at[i].value.absent,
            v->at[i].value.absent ? 0 : (unsigned long long)v->at[i].value.as.address);
}

typedef hdx_code values_of(hdx_graph *g, hdx_id id, hdx_values *v, hdx_error *err);
static hdx_code  elements_of(hdx_graph *g, hdx_id id, hdx_values *v, hdx_error *err)
{
    return hdx_graph_elements(g, id, 0, 100, v, err);
}
static hdx_code each_value(hdx_graph *g, values_of *values, hdx_error *err)
{
    hdx_values v = { 0 };
    hdx_code   code = HDX_OK;
    for (hdx_id id = 0; id < hdx_graph_objects(g) && code == HDX_OK; id++)
        if ((code = values(g, id, &v, err)) == HDX_OK)
            say_values(&v);
    hdx_values_free(&v);
    return code;
}
static hdx_code fields(hdx_graph *g, hdx_error *err) { return each_value(g, hdx_graph_fields, err); }
static hdx_code there(hdx_graph *g, hdx_error *err) { return each_value(g, hdx_graph_fields_present, err); }
static hdx_code statics(hdx_graph *g, hdx_error *err) { return each_value(g, hdx_graph_statics, err); }
static hdx_code elements(hdx_graph *g, hdx_error *err) { return each_value(g, elements_of, err); }

static hdx_code one_field(hdx_graph *g, hdx_error *err)
{
    hdx_code code = HDX_OK;
    for (hdx_id id = 0; id < hdx_graph_objects(g) && code == HDX_OK; id++) {
        hdx_value value = { 0 };
        bool      found;
        code = hdx_graph_field(g, id, "app.Node", "count", &value, &found, err);
        say(" %d", code == HDX_OK && found ? (int)value.as.integer : -1);
    }
    return code;
}

static hdx_code strings(hdx_graph *g, hdx_error *err)
{
    hdx_code code = HDX_OK;
    for (hdx_id id = 0; id < hdx_graph_objects(g) && code == HDX_OK; id++) {
        char  *text;
        size_t len;
        bool   whole, is;
        code = hdx_graph_string(g, id, 100, &text, &len, &whole, &is, err);
        cr_assert(is == (text != NULL) && (code == HDX_OK || (text == NULL && len == 0)));
        say(" %s", is ? text : "-");
        hdx_text_free(text);
    }
    return code;
}

static hdx_code labels(hdx_graph *g, hdx_error *err)
{
    hdx_code code = HDX_OK;
    for (hdx_id id = 0; id < hdx_graph_objects(g) && code == HDX_OK; id++) {
        char *text;
        code = hdx_graph_label(g, id, &text, err);
        cr_assert(code == HDX_OK || text == NULL);
        say(" %s", text == NULL ? "-" : text);
        hdx_text_free(text);
    }
    return code;
}

static hdx_code many_labels(hdx_graph *g, hdx_error *err)
{
    hdx_id ids[100];
    char  *texts[100];
    memset(texts, 0x5a, sizeof texts);
    uint64_t         n = hdx_graph_objects(g);
    const hdx_class *string = hdx_graph_class_named(g, "java.lang.String");
    ids[0] = 0;
    while (string != NULL && ids[0] < n && hdx_graph_class_of(g, ids[0]) != string->number)
        ids[0]++; /* the first has a label, which goes again where a later one fails */
    for (uint64_t i = 1; i < n; i++)
        ids[i] = (i * 7 + ids[0]) % (n + 1);
    const hdx_code code = hdx_graph_labels(g, ids, n, texts, err);
    for (uint64_t i = 0; i < n; i++) {
        cr_assert(code == HDX_OK || texts[i] == NULL);
        say(" %s", texts[i] == NULL ? "-" : texts[i]);
        hdx_text_free(texts[i]);
    }
    return code;
}

static bool say_name(void *context, const hdx_named_ref *ref)
{
    (void)context;
    say(" %s %llu", ref->name, (unsigned long long)ref->target);
    return true;
}
static hdx_code names(hdx_graph *g, hdx_error *err)
{
    hdx_code code = HDX_OK;
    for (hdx_id id = 0; id < hdx_graph_objects(g) && code == HDX_OK; id++)
        if ((code = hdx_graph_named_refs(g, id, HDX_NO_ID, say_name, NULL, err)) == HDX_OK)
            code = hdx_graph_named_refs(g, id, 5, say_name, NULL, err);
    return code;
}

static hdx_code classes(hdx_graph *g, hdx_error *err)
{
    uint32_t         count = 77;
    const hdx_class *all = hdx_graph_classes(g, &count), *node = hdx_graph_class_named(g, "app.Node"),
                    *text = hdx_graph_class_named(g, "java.lang.String");
    cr_assert(same(all != NULL, count > 0) && (all != NULL || node == NULL));
    say("%u %d %d", count, node == NULL ? -1 : (int)node->number, text == NULL ? -1 : (int)text->number);
    return hdx_graph_check(g, err);
}

static hdx_code tables(hdx_graph *g, hdx_error *err)
{
    uint64_t        count = 77;
    const hdx_root *roots = hdx_graph_roots(g, &count);
    cr_assert(same(roots != NULL, count > 0));
    const hdx_thread *threads = hdx_graph_threads(g, &count);
    cr_assert(same(threads != NULL, count > 0));
    (void)hdx_graph_heaps(g, &count);
    cr_assert(count == 0);
    for (hdx_id id = 0; id < hdx_graph_objects(g); id++)
        say(" %d", hdx_graph_thread_of(g, id) != NULL);
    return hdx_graph_check(g, err);
}

static hdx_code class_labels(hdx_graph *g, hdx_error *err)
{
    uint32_t         count;
    hdx_code         code = HDX_OK;
    const hdx_class *all = hdx_graph_classes(g, &count);
    for (uint32_t i = 0; i < 2 * count && code == HDX_OK; i++) {
        hdx_text label;
        if ((code = hdx_graph_class_label(g, &all[i % count], &label, err)) == HDX_OK)
            say(" %.*s", (int)label.len, label.at);
        cr_assert(same(code == HDX_OK, label.at != NULL));
    }
    return all == NULL ? hdx_graph_check(g, err) : code;
}

static hdx_code getters(hdx_graph *g, hdx_error *err)
{
    for (hdx_id id = 0; id < hdx_graph_objects(g); id++) {
        hdx_refs refs;
        hdx_id   to;
        say(" %llx %d %llu %llu", (unsigned long long)hdx_graph_address(g, id), (int)hdx_graph_class_of(g, id),
            (unsigned long long)hdx_graph_shallow(g, id), (unsigned long long)hdx_graph_retained(g, id));
        say(" %llx %llx", (unsigned long long)hdx_graph_dominator(g, id), (unsigned long long)hdx_graph_nearest(g, id));
        for (hdx_graph_outbound(g, id, HDX_LIVE, &refs); hdx_refs_next(&refs, &to);)
            say(" %llu", (unsigned long long)to);
        for (hdx_graph_inbound(g, id, HDX_GARBAGE, &refs); hdx_refs_next(&refs, &to);)
            say(" %llu", (unsigned long long)to);
        for (hdx_graph_dominated(g, id, &refs); hdx_refs_next(&refs, &to);)
            say(" %llu", (unsigned long long)to);
    }
    return hdx_graph_check(g, err);
}

static hdx_code files_alone(hdx_graph *g, hdx_error *err) { return hdx_graph_verify(g, false, err); }
static hdx_code all_of_it(hdx_graph *g, hdx_error *err) { return hdx_graph_verify(g, true, err); }

static hdx_code dump_root(void *context, unsigned worker, const hdx_dump_root *root, hdx_error *err)
{
    (void)context, (void)worker, (void)err;
    say(" root %llx", (unsigned long long)root->object);
    return HDX_OK;
}
static hdx_code dump_instance(void *context, unsigned worker, hdx_id id, const uint8_t *bytes, uint32_t len,
                              hdx_error *err)
{
    (void)context, (void)worker, (void)err, (void)bytes;
    say(" %llu %u", (unsigned long long)id, len);
    return HDX_OK;
}
static hdx_code dump_elements(void *context, unsigned worker, hdx_id id, uint64_t from, const uint8_t *ids,
                              uint64_t count, hdx_error *err)
{
    (void)context, (void)worker, (void)err, (void)ids;
    say(" %llu %llu %llu", (unsigned long long)id, (unsigned long long)from, (unsigned long long)count);
    return HDX_OK;
}
static hdx_code dump_class(void *context, unsigned worker, hdx_id id, uint64_t size, const hdx_value *values,
                           uint32_t count, hdx_error *err)
{
    (void)context, (void)worker, (void)err, (void)values;
    say(" %llu %llu %u", (unsigned long long)id, (unsigned long long)size, count);
    return HDX_OK;
}
static hdx_code rescan(hdx_graph *g, hdx_error *err)
{
    const hdx_dump_reader reader = { NULL, dump_root, dump_instance, dump_elements, dump_class };
    return hdx_graph_rescan(g, 1, &reader, NULL, err);
}

static hdx_code kept(hdx_graph *g, hdx_error *err)
{
    uint64_t       key = 0;
    hdx_remembered out;
    hdx_code       code = hdx_graph_saved_read(g, hdx_graph_saved_name(77), &key, &out, err);
    cr_assert(same(code == HDX_OK, out.at != NULL));
    say("%llu %.*s", (unsigned long long)key, (int)out.size, out.at == NULL ? "" : (char *)out.at);
    hdx_mem_put(NULL, out.at, out.size);
    return code;
}

static const struct {
    const char *name;
    hdx_code (*ask)(hdx_graph *g, hdx_error *err);
    bool input; /* something is read besides memory that is mapped */
} questions[] = {
    { "fields", fields, true },
    { "fields that are there", there, true },
    { "statics", statics, true },
    { "elements", elements, true },
    { "one field", one_field, true },
    { "strings", strings, true },
    { "labels", labels, true },
    { "many labels", many_labels, true },
    { "names", names, true },
    { "classes", classes, false },
    { "labels of classes", class_labels, false },
    { "tables", tables, false },
    { "getters", getters, true },
    { "files", files_alone, true },
    { "verify", all_of_it, true },
    { "rescan", rescan, true },
    { "kept", kept, true },
};

static hdx_code ask(size_t q, hdx_graph *g, hdx_error *err)
{
    used = 0;
    answer[0] = '\0';
    *err = (hdx_error){ .code = HDX_OK };
    return questions[q].ask(g, err);
}

/* Each question with its n-th request refused, for all n. How many there were, of all questions. */
static unsigned refuse_each(void (*refuse)(unsigned n), bool memory)
{
    static char want[sizeof answer];
    unsigned    refusals = 0;
    little     *l = shapes(8);
    hdx_error   err;
    little_write(l);
    for (size_t q = 0; q < sizeof questions / sizeof *questions; q++) {
        unsigned n = 1;
        for (bool fired = true; fired; n++) {
            hdx_graph *g;
            cr_assert(hdx_graph_open(l->index, l->dump, &g, &err) == HDX_OK, "%s", err.message);
            if (n == 1) {
                cr_assert(hdx_graph_remember(g, 77, "an answer", 9));
                cr_assert(ask(q, g, &err) == HDX_OK, "%s: %s", questions[q].name, err.message);
                memcpy(want, answer, used + 1);
                hdx_graph_close(g);
                cr_assert(hdx_graph_open(l->index, l->dump, &g, &err) == HDX_OK, "%s", err.message);
            }
            refuse(n);
            hdx_code code = ask(q, g, &err);
            fired = refusing_ends();
            cr_assert(code == HDX_OK || (fired && err.message[0] != '\0'), "%s, request %u: %d %s", questions[q].name,
                      n, (int)code, err.message);
            cr_assert(code == HDX_OK || !memory || code == HDX_LIMIT, "%s, request %u: %d %s", questions[q].name, n,
                      (int)code, err.message);
            if (code == HDX_OK && hdx_graph_check(g, &err) == HDX_OK)
                cr_assert(strcmp(answer, want) == 0, "%s, request %u: %s, not %s", questions[q].name, n, answer, want);
            if (hdx_graph_check(g, &err) == HDX_OK) {
                cr_assert(ask(q, g, &err) == HDX_OK, "%s after request %u: %s", questions[q].name, n, err.message);
                cr_assert(strcmp(answer, want) == 0);
            } else {
                cr_assert(fired && (!memory || err.code == HDX_LIMIT), "%s", err.message);
            }
            hdx_graph_close(g);
            refusals += fired;
        }
        cr_expect(n > 2 || (!memory && !questions[q].input), "%s: nothing was refused", questions[q].name);
    }
    little_close(l);
    return refusals;
}

Test(refused, memory_is_told) { cr_expect(refuse_each(refusing_memory, true) > 200); }
Test(refused, input_is_told) { cr_expect(refuse_each(refusing_input, false) > 200); }

Test(refused, memory_for_opening_is_told)
{
    little  *l = shapes(8);
    unsigned n = 1;
    little_write(l);
    for (bool fired = true; fired; n++) {
        hdx_graph *g = NULL;
        hdx_error  err = { 0 };
        refusing_memory(n);
        const hdx_code code = hdx_graph_open(l->index, l->dump, &g, &err);
        fired = refusing_ends();
        cr_assert(same(code != HDX_OK, fired) && (code == HDX_OK || code == HDX_LIMIT), "request %u: %d", n, (int)code);
        cr_assert(same(code == HDX_OK, g != NULL));
        hdx_graph_close(g);
    }
    cr_expect(n > 4);
    little_close(l);
}
