/*
 * paths.c - measures one heap by the paths on which its objects are first reached, as Shark does for growth (SHARK 6).
 *
 *     GcRoot(StickyClass) > STATIC_FIELD App.cache -> instance of java.util.HashMap > ARRAY_ENTRY HashMap.[x] -> ...
 *
 * In:  the references of the dump, read once more (leaks/grow_wide.c).
 * Out: a thing for each path, with its objects, their size as `leaks` computes it, and the size of all objects at or
 *      below the path. Each object counts on one path, so sizes are plain sums.
 */
#include "query/histogram/histogram.h"
#include "compare/compare.h"
#include "leaks/leaks.h"

typedef struct walk {
    hdx_ledger *l;
    size_t      column;
    hdx_buffer  text, class_name;
} walk;

static hdx_text simple(hdx_text name)
{
    for (uint32_t i = name.len; i-- > 0;)
        if (name.at[i] == '.')
            return (hdx_text){ name.at + i + 1, name.len - i - 1 };
    return name;
}

static void put_class(walk *w, hdx_text name, bool whole)
{
    const hdx_text is = hdx_class_key(name, &w->class_name);
    const hdx_text shown = whole ? is : simple(is);
    hdx_buffer_put(&w->text, shown.at, shown.len);
    w->text.failed |= w->class_name.failed;
}

static uint32_t name(void *context, const hdx_leak_way *way)
{
    static const char *const roots[LR_KINDS] = { "ThreadObject", "ThreadBlock", "StickyClass",
                                                 "NativeStack",  "MonitorUsed", "JniMonitor",
                                                 "JniLocal",     "JniGlobal",   "JavaFrame" };
    static const char *const kinds[] = { "class ", "instance of ", "array of " }; /* hdx_leak_what in its order */
    walk                    *w = context;
    hdx_buffer_clear(&w->text);
    if (way->is_root) {
        hdx_buffer_format(&w->text, "GcRoot(%s)", roots[way->root]);
    } else {
        hdx_buffer_format(&w->text, "%s ", way->how);
        put_class(w, way->owner, false);
        hdx_buffer_text(&w->text, ".");
        hdx_buffer_put(&w->text, way->field.at, way->field.len);
        hdx_buffer_format(&w->text, " -> %s", kinds[way->what]);
        put_class(w, way->of, true);
    }
    if (w->text.failed || w->text.len > UINT32_MAX)
        return HDX_LEAK_NO_PLACE;
    const uint32_t n = hdx_ledger_name(w->l, (hdx_text){ w->text.at, (uint32_t)w->text.len });
    return n != HDX_LEDGER_NONE ? n : HDX_LEAK_NO_PLACE;
}

static uint32_t thing(void *context, uint32_t above, uint32_t name_place)
{
    const uint32_t n =
        hdx_ledger_thing_of(((walk *)context)->l, above == HDX_LEAK_TOP ? HDX_LEDGER_TOP : above, name_place);
    return n != HDX_LEDGER_NONE ? n : HDX_LEAK_NO_PLACE;
}

static bool count(void *context, uint32_t at, uint64_t bytes)
{
    walk           *w = context;
    hdx_ledger_sum *sum = hdx_ledger_sum_of(w->l, w->column, at);
    if (sum == NULL)
        return false;
    sum->objects++;
    sum->shallow += bytes;
    return true;
}

/* Sums from the last thing to the first: a thing comes after the one above it. */
static void sum_up(hdx_ledger *l, size_t column)
{
    hdx_ledger_column *c = &l->columns[column];
    for (uint64_t i = c->capacity < l->count ? c->capacity : l->count; i-- > 0;) {
        const uint32_t above = l->things[i].above;
        c->at[i].retained += c->at[i].shallow;
        if (above != HDX_LEDGER_TOP)
            c->at[above].retained += c->at[i].retained;
    }
}

hdx_code hdx_compare_paths(const hdx_query *q, uint64_t memory, hdx_ledger *l, size_t column, hdx_error *err)
{
    walk                    w = { l, column, hdx_buffer_of(l->mem), hdx_buffer_of(l->mem) };
    const hdx_leak_tree     to = { &w, HDX_COMPARE_STEPS, name, thing, count };
    const hdx_leaks_options options = { .threads = q->threads, .progress = q->progress, .memory = memory };
    hdx_ask                 ask;
    hdx_code                code = hdx_ask_begin(q, &ask, err);
    if (code == HDX_OK && (code = hdx_leaks_grow(q->graph, &options, &to, err)) == HDX_OK)
        sum_up(l, column);
    hdx_buffer_free(&w.text);
    hdx_buffer_free(&w.class_name);
    return code;
}
