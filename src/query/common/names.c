/*
 * names.c - finds objects and classes by the names that users type.
 *
 * Objects: 0x7f3a10, #1234, com.acme.Cache@0x7f3a10, class:com.acme.*, thread:main. Classes: an exact name, a glob,
 * /regex/ (base/regex.h). If a name does not exist, the error suggests the nearest one that does.
 */
#include "base/nearest.h"
#include "query/common/labels.h"
#include "query/query.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static hdx_text text_of(const char *s)
{
    size_t n = strlen(s);
    return (hdx_text){ s, n > UINT32_MAX ? UINT32_MAX : (uint32_t)n };
}

/* ---- classes ---- */

/* Returns the last part of a name: "Cache" of "com.acme.Cache". */
static hdx_text simple_name(hdx_text name)
{
    uint32_t from = 0;
    for (uint32_t i = 0; i < name.len; i++)
        if (name.at[i] == '.')
            from = i + 1;
    return (hdx_text){ name.at + from, name.len - from };
}

/* Returns whether `typed` is the class name without its package, or without its package and enclosing class. */
static bool is_simple(hdx_text name, const char *typed)
{
    const size_t n = strlen(typed);
    return name.len > n && memcmp(name.at + (name.len - n), typed, n) == 0 &&
           (name.at[name.len - n - 1] == '.' || name.at[name.len - n - 1] == '$');
}

static bool may_be_simple(const char *pattern) { return pattern[0] != '\0' && strpbrk(pattern, "./*?") == NULL; }

/* Returns the only class with this simple name; len 0: none, or (*several) more than one, which err lists. */
static hdx_text name_meant(const hdx_class *classes, uint32_t count, const char *typed, bool *several, hdx_error *err)
{
    hdx_text one = { NULL, 0 };
    char     list[160] = "";
    unsigned listed = 0;
    *several = false;
    for (uint32_t i = 0; i < count; i++) {
        const hdx_text name = classes[i].name;
        if (!is_simple(name, typed) || (one.len > 0 && hdx_text_same(one, name)))
            continue;
        *several = one.len > 0;
        one = one.len > 0 ? one : name;
        /* classes are sorted by descending instance count */
        if (listed < 4 && strlen(list) + name.len + 3 < sizeof list)
            (void)snprintf(list + strlen(list), sizeof list - strlen(list), "%s%.*s", listed++ > 0 ? ", " : "",
                           (int)name.len, name.at);
    }
    if (!*several)
        return one;
    hdx_fail(err, HDX_NOT_FOUND, "", HDX_NOWHERE, "several classes are called %.100s", typed);
    (void)hdx_hint(err, HDX_NOT_FOUND, "choose one of them, such as %s", list);
    return (hdx_text){ NULL, 0 };
}

static hdx_text inner_name(hdx_text simple)
{
    for (uint32_t i = simple.len; i-- > 0;)
        if (simple.at[i] == '$')
            return (hdx_text){ simple.at + i + 1, simple.len - i - 1 };
    return simple;
}

static bool is_package(const hdx_class *classes, uint32_t count, hdx_text typed)
{
    for (uint32_t i = 0; i < count; i++)
        if (typed.len > 0 && classes[i].name.len > typed.len && classes[i].name.at[typed.len] == '.' &&
            memcmp(classes[i].name.at, typed.at, typed.len) == 0)
            return true;
    return false;
}

/*
 * Compares whole names by edit distance, or, if no package was typed, last parts (including those of nested classes).
 */
static hdx_code no_class(const hdx_class *classes, uint32_t count, const char *pattern, hdx_error *err)
{
    char             bare[128];
    uint32_t         n = 0;
    const hdx_class *nearest = NULL;
    for (const char *p = pattern; *p != '\0' && n + 1 < sizeof bare; p++)
        if (*p != '*' && *p != '?' && *p != '^' && *p != '$')
            bare[n++] = *p == '/' ? '.' : *p;
    bare[n] = '\0';
    hdx_text typed = { bare, n };
    unsigned best = n / 3 < 2 ? 2 : n / 3 > 8 ? 8 : n / 3;
    bool     has_dot = memchr(bare, '.', n) != NULL;
    for (uint32_t i = 0; i < count && n > 0; i++) {
        unsigned d = hdx_edit_distance(typed, classes[i].name, best);
        if (!has_dot && classes[i].name.len < HDX_LONG_PATTERNED) {
            const hdx_text simple = simple_name(classes[i].name);
            const unsigned last = hdx_edit_distance(typed, simple, best),
                           inner = hdx_edit_distance(typed, inner_name(simple), best);
            d = last < d ? last : d;
            d = inner < d ? inner : d;
        }
        if (d < best ||
            (d == best && nearest == NULL)) { /* classes are sorted by descending instance count: prefer the largest */
            nearest = &classes[i];
            best = d;
            if (d == 0)
                break;
        }
    }
    hdx_fail(err, HDX_NOT_FOUND, "", HDX_NOWHERE, "no class %s %.120s",
             strpbrk(pattern, "*?") != NULL ? "matches" : "is called", pattern);
    if (is_package(classes, count, typed))
        return hdx_hint(err, HDX_NOT_FOUND, "it is a package; its classes are '%.120s.*'", bare);
    return nearest == NULL
               ? hdx_hint(err, HDX_NOT_FOUND,
                          "class names have the Java form, such as java.lang.String or byte[]; * and ? are wildcards")
               : hdx_hint(err, HDX_NOT_FOUND, "did you mean %.*s?",
                          (int)(nearest->name.len > 180 ? 180 : nearest->name.len), nearest->name.at);
}

bool hdx_is_of_jdk(hdx_text class_name)
{
    static const char *const packages[] = { "java.", "javax.", "com.sun.", "sun.", "jdk." };
    for (size_t i = 0; i < sizeof packages / sizeof *packages; i++) {
        const size_t len = strlen(packages[i]);
        if (class_name.len >= len && memcmp(class_name.at, packages[i], len) == 0)
            return true;
    }
    return false;
}

hdx_text hdx_package_of(hdx_text name)
{
    /* '+' or '/' in the name of a hidden class precedes an address (HPROF 2.1) */
    uint32_t end = 0, dot = UINT32_MAX;
    while (end < name.len && name.at[end] != '+' && name.at[end] != '/')
        end++;
    for (uint32_t i = 0; i < end; i++)
        if (name.at[i] == '.')
            dot = i;
    return dot == UINT32_MAX || dot == 0 ? (hdx_text){ "(default package)", 17 } : (hdx_text){ name.at, dot };
}

/*
 * Marks every class with a marked ancestor: climbs to the first class with a known state, then applies that state to
 * the classes on the way.
 */
static void mark_subclasses(const hdx_class *classes, uint32_t count, uint8_t *state /* 0 unknown, 1 in, 2 out */)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t c = i, steps = 0;
        while (c < count && state[c] == 0 && steps++ <= count)
            c = classes[c].super;
        uint8_t answer = c < count && state[c] == 1 ? 1 : 2;
        steps = 0;
        for (c = i; c < count && state[c] == 0 && steps++ <= count; c = classes[c].super)
            state[c] = answer;
    }
}

static void add_class_hint(const hdx_query *q, const hdx_class *classes, uint32_t count, const char *pattern)
{
    char line[400];
    bool several;
    for (uint32_t i = 0; i < count; i++)
        if (hdx_text_is(classes[i].name, pattern))
            return;
    const hdx_text meant = name_meant(classes, count, pattern, &several, NULL);
    (void)snprintf(line, sizeof line, "%.100s is interpreted as %.*s", pattern, meant.len > 250 ? 250 : (int)meant.len,
                   meant.len > 0 ? meant.at : "");
    q->notice(q->notice_context, line);
}

hdx_code hdx_query_classes_named(const hdx_query *q, const char *pattern, bool subclasses, uint32_t **numbers,
                                 size_t *out_count, hdx_error *err)
{
    uint32_t         count = 0;
    const hdx_class *classes = hdx_graph_classes(q->graph, &count);
    hdx_error        own, *e = err != NULL ? err : &own;
    hdx_code code = hdx_classes_named(classes, count, pattern, subclasses, q->progress, q->mem, numbers, out_count, e);
    if (code == HDX_OK && q->notice != NULL && may_be_simple(pattern))
        add_class_hint(q, classes, count, pattern);
    if (code == HDX_NOT_FOUND) { /* a dump without any class may be damaged */
        hdx_error damage;
        if (hdx_graph_check(q->graph, &damage) != HDX_OK) {
            *e = damage;
            code = damage.code;
        }
    }
    return code;
}

hdx_code hdx_classes_named(const hdx_class *classes, uint32_t count, const char *pattern, bool subclasses,
                           const hdx_progress *progress, hdx_mem *mem, uint32_t **numbers, size_t *out_count,
                           hdx_error *err)
{
    uint32_t    found = 0;
    hdx_pattern p = { .regex = NULL };
    *numbers = NULL;
    *out_count = 0;
    if (pattern[0] == '\0')
        return hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "class name is empty");
    hdx_code code = hdx_pattern_open(&p, pattern, progress, mem, err);
    if (code != HDX_OK)
        return code;
    uint8_t *state = hdx_mem_array(mem, count, 1);
    if (state == NULL) {
        code = hdx_no_memory(err, "class numbers", count);
        goto out;
    }
    for (uint32_t i = 0; i < count; i++) {
        bool yes = false;
        if ((code = hdx_pattern_match(&p, classes[i].name, &yes, err)) != HDX_OK)
            goto out;
        state[i] = yes;
        found += yes;
    }
    if (found == 0 && may_be_simple(pattern)) {
        bool           several;
        const hdx_text meant = name_meant(classes, count, pattern, &several, err);
        if (several)
            code = HDX_NOT_FOUND;
        for (uint32_t i = 0; i < count && meant.len > 0; i++) {
            state[i] = hdx_text_same(classes[i].name, meant);
            found += state[i];
        }
    }
    if (found == 0) {
        code = code != HDX_OK ? code : no_class(classes, count, pattern, err);
        goto out;
    }
    if (subclasses) {
        mark_subclasses(classes, count, state);
        found = 0;
        for (uint32_t i = 0; i < count; i++)
            found += state[i] == 1;
    }
    if ((*numbers = hdx_listed_get(mem, found, sizeof **numbers)) == NULL) {
        code = hdx_no_memory(err, "class numbers", found * sizeof **numbers);
        goto out;
    }
    for (uint32_t i = 0; i < count; i++)
        if (state[i] == 1)
            (*numbers)[(*out_count)++] = i;
out:
    hdx_mem_put(mem, state, count);
    hdx_pattern_close(&p);
    return code;
}

/* ---- lists that the caller frees ---- */

/* Precedes a list, so that it can be freed without knowing its owner. */
typedef struct list_owner {
    hdx_mem *mem;
    uint64_t bytes; /* including this header */
} list_owner;

void *hdx_listed_get(hdx_mem *mem, uint64_t count, uint64_t size)
{
    uint64_t    bytes;
    list_owner *g = hdx_mul(count, size, &bytes) && hdx_add(bytes, sizeof *g, &bytes) ? hdx_mem_get(mem, bytes) : NULL;
    if (g == NULL)
        return NULL;
    *g = (list_owner){ mem, bytes };
    return g + 1;
}

static void listed_put(void *list)
{
    list_owner *g = list == NULL ? NULL : (list_owner *)list - 1;
    if (g != NULL)
        hdx_mem_put(g->mem, g, g->bytes);
}

void hdx_numbers_free(uint32_t *numbers) { listed_put(numbers); }
void hdx_ids_free(hdx_id *ids) { listed_put(ids); }

/* ---- live instances ---- */

static int ascending(const void *a, const void *b)
{
    const hdx_id *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Unlike hdx_query_classes_named, does not look for similar names in order to write a message. */
static bool is_loaded(const hdx_ask *ask, const char *class_name)
{
    uint32_t         count;
    const hdx_class *classes = hdx_graph_classes(ask->g, &count);
    for (uint32_t i = 0; i < count; i++)
        if (hdx_text_is(classes[i].name, class_name))
            return true;
    return false;
}

hdx_code hdx_instances_below(hdx_ask *ask, const char *class_name, hdx_ids *out, hdx_error *err)
{
    uint32_t *numbers = NULL;
    size_t    count = 0;
    hdx_refs  refs;
    hdx_id    id;
    if (!is_loaded(ask, class_name))
        return hdx_graph_check(ask->g, err); /* a dump without any class may be damaged */
    hdx_code code = hdx_query_classes_named(&ask->q, class_name, true, &numbers, &count, err);
    for (size_t i = 0; code == HDX_OK && i < count; i++) {
        hdx_graph_instances(ask->g, numbers[i], HDX_LIVE, &refs);
        while (code == HDX_OK && hdx_refs_next(&refs, &id))
            if ((code = hdx_ids_push(out, id, err)) == HDX_OK)
                code = hdx_ask_check_cancel(ask, err);
    }
    hdx_numbers_free(numbers);
    if (code == HDX_OK && count > 1 && out->count > 1)
        qsort(out->at, (size_t)out->count, sizeof *out->at, ascending);
    return code;
}

hdx_code hdx_threads_of(hdx_ask *ask, hdx_ids *out, hdx_error *err)
{
    uint64_t          count = 0, unique = 0;
    const hdx_thread *threads = hdx_graph_threads(ask->g, &count);
    hdx_code          code = hdx_instances_below(ask, "java.lang.Thread", out, err);
    for (uint64_t i = 0; code == HDX_OK && threads != NULL && i < count; i++)
        code = hdx_ids_push(out, threads[i].object, err);
    if (code != HDX_OK)
        return code;
    if (out->count > 1)
        qsort(out->at, (size_t)out->count, sizeof *out->at, ascending);
    for (uint64_t i = 0; i < out->count; i++)
        if (unique == 0 || out->at[i] != out->at[unique - 1])
            out->at[unique++] = out->at[i];
    out->count = unique;
    return HDX_OK;
}

/* ---- objects ---- */

static hdx_code not_an_object(const char *name, hdx_error *err)
{
    hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "%.100s does not name an object", name);
    return hdx_hint(err, HDX_USAGE, "objects are named as 0xADDRESS, #ID, CLASS@0xADDRESS, class:NAME or thread:NAME");
}

#define BARE 6u /* digits of an address without 0x; a shorter word may be something else */

static bool hex(const char *s, uint64_t *out)
{
    uint64_t   v = 0;
    const bool marked = s[0] == '0' && (s[1] == 'x' || s[1] == 'X') && s[2] != '\0';
    if (!marked && strlen(s) < BARE)
        return false;
    for (s += marked ? 2 : 0; *s != '\0'; s++) {
        unsigned d = *s >= '0' && *s <= '9'   ? (unsigned)(*s - '0')
                     : *s >= 'a' && *s <= 'f' ? (unsigned)(*s - 'a') + 10
                     : *s >= 'A' && *s <= 'F' ? (unsigned)(*s - 'A') + 10
                                              : 16;
        if (d == 16 || v >> 60 != 0)
            return false;
        v = v << 4 | d;
    }
    *out = v;
    return true;
}

static bool decimal(const char *s, uint64_t *out)
{
    uint64_t v = 0;
    if (*s == '\0')
        return false;
    for (; *s != '\0'; s++)
        if (*s < '0' || *s > '9' || !hdx_mul(v, 10, &v) || !hdx_add(v, (uint64_t)(*s - '0'), &v))
            return false;
    *out = v;
    return true;
}

static hdx_code at_address(hdx_graph *g, const char *name, const char *digits, hdx_id *id, hdx_error *err)
{
    hdx_addr address;
    if (!hex(digits, &address))
        return not_an_object(name, err);
    if (hdx_graph_find(g, address, id))
        return HDX_OK;
    hdx_code code = hdx_graph_check(g, err);
    return code != HDX_OK ? code
                          : hdx_fail(err, HDX_NOT_FOUND, "", HDX_NOWHERE, "no object has the address %.100s", digits);
}

/* "com.acme.Cache@0x7f3a10", and MAT's form "com.acme.Cache @ 0x7f3a10". */
static hdx_code of_class(hdx_graph *g, const char *name, const char *at, hdx_id *id, hdx_error *err)
{
    const char *end = at, *digits = at + 1;
    while (end > name && end[-1] == ' ')
        end--;
    while (*digits == ' ')
        digits++;
    hdx_code code = at_address(g, name, digits, id, err);
    if (code != HDX_OK)
        return code;
    hdx_text         want = { name, (uint32_t)(end - name) };
    const hdx_class *c = hdx_graph_class(g, hdx_graph_class_of(g, *id));
    if (c != NULL && hdx_text_same(c->name, want))
        return HDX_OK;
    return hdx_fail(err, HDX_NOT_FOUND, "", HDX_NOWHERE, "%.60s is a %.*s, not a %.*s", digits,
                    c == NULL          ? 1
                    : c->name.len > 80 ? 80
                                       : (int)c->name.len,
                    c == NULL ? "?" : c->name.at, want.len > 60 ? 60 : (int)want.len, want.at);
}

static hdx_code class_objects(const hdx_query *q, const char *pattern, hdx_ids *ids, hdx_error *err)
{
    uint32_t *numbers;
    size_t    count;
    hdx_code  code = hdx_query_classes_named(q, pattern, false, &numbers, &count, err);
    for (size_t i = 0; code == HDX_OK && i < count; i++) {
        const hdx_class *c = hdx_graph_class(q->graph, numbers[i]);
        if (c != NULL && c->id != HDX_NO_ID)
            code = hdx_ids_push(ids, c->id, err);
    }
    hdx_numbers_free(numbers);
    return code;
}

/* A class name alone means its only instance. Any other word is not an object. */
static hdx_code only_instance(const hdx_query *q, const char *name, hdx_id *id, hdx_error *err)
{
    uint32_t *numbers = NULL;
    size_t    count = 0;
    hdx_error mine;
    hdx_refs  refs;
    if (name[0] == '\0' || strpbrk(name, "*?/@") != NULL)
        return not_an_object(name, err);
    const hdx_code code = hdx_query_classes_named(q, name, false, &numbers, &count, &mine);
    if (code == HDX_NOT_FOUND || code == HDX_USAGE)
        return not_an_object(name, err);
    if (code != HDX_OK) {
        if (err != NULL)
            *err = mine;
        return code;
    }
    const hdx_class *c = count == 1 ? hdx_graph_class(q->graph, numbers[0]) : NULL;
    hdx_numbers_free(numbers);
    if (c == NULL)
        return not_an_object(name, err);
    const uint64_t instances = q->scope == HDX_LIVE ? c->live_instances : c->instances;
    hdx_graph_instances(q->graph, c->number, q->scope == HDX_LIVE ? HDX_LIVE : HDX_ALL, &refs);
    if (instances == 1 && hdx_refs_next(&refs, id))
        return HDX_OK;
    return hdx_hint(err, hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "%.100s has %" PRIu64 " instances", name, instances),
                    "class:NAME names the class object; heapdex objects --class NAME lists the instances");
}

static hdx_code threads_named(const hdx_query *q, const char *name, hdx_ids *ids, hdx_error *err)
{
    hdx_ask   ask;
    uint64_t  found = 0;
    hdx_ids   threads = hdx_ids_of(q->mem);
    hdx_arena arena = hdx_arena_of(q->mem);
    hdx_query whole = *q; /* long names may differ at the end only */
    char      near[160] = "";
    unsigned  best = 4;
    hdx_code  code = hdx_ask_begin(q, &ask, err);
    whole.whole = HDX_WHOLE_TEXTS;
    if (code == HDX_OK)
        code = hdx_threads_of(&ask, &threads, err);
    for (uint64_t i = 0; code == HDX_OK && i < threads.count; i++) {
        hdx_cell label;
        hdx_arena_empty(&arena);
        if ((code = hdx_label_cell(&whole, threads.at[i], &arena, &label, err)) != HDX_OK ||
            (code = hdx_ask_check_cancel(&ask, err)) != HDX_OK || label.kind != HDX_CELL_TEXT)
            continue;
        if (hdx_text_is(label.as.text, name)) {
            found++;
            code = hdx_ids_push(ids, threads.at[i], err);
            continue;
        }
        unsigned d = hdx_edit_distance(text_of(name), label.as.text, best);
        if (d < best) {
            best = d;
            (void)snprintf(near, sizeof near, "%.*s", (int)(label.as.text.len > 150 ? 150 : label.as.text.len),
                           label.as.text.at);
        }
    }
    hdx_arena_free(&arena);
    hdx_ids_drop(&threads);
    if (code != HDX_OK || found > 0)
        return code;
    if ((code = hdx_graph_check(q->graph, err)) != HDX_OK)
        return code;
    hdx_fail(err, HDX_NOT_FOUND, "", HDX_NOWHERE, "no thread is called %.120s", name);
    return near[0] == '\0' ? HDX_NOT_FOUND : hdx_hint(err, HDX_NOT_FOUND, "did you mean thread:%s?", near);
}

/* Finds the first address in a pasted line of output; false: the line is a single word, or has no address. */
static bool pasted(const char *line, char digits[24])
{
    if (strpbrk(line, " \t,") == NULL)
        return false;
    for (const char *p = line; (p = strstr(p, "0x")) != NULL; p += 2) {
        const size_t n = strspn(p + 2, "0123456789abcdefABCDEF");
        if (n > 0 && n <= 16 && (p == line || strchr(" \t,\"@", p[-1]) != NULL) && strchr(" \t,\"", p[2 + n]) != NULL) {
            (void)snprintf(digits, 24, "%.*s", (int)n + 2, p);
            return true;
        }
    }
    return false;
}

static hdx_code one_name(const hdx_query *q, const char *name, hdx_ids *ids, hdx_error *err)
{
    const char *at = strrchr(name, '@');
    hdx_id      id = HDX_NO_ID;
    uint64_t    n;
    hdx_code    code;
    char        digits[24];
    if (strncmp(name, "class:", 6) == 0)
        return class_objects(q, name + 6, ids, err);
    if (strncmp(name, "thread:", 7) == 0)
        return threads_named(q, name + 7, ids, err);
    if (name[0] == '#') {
        if (!decimal(name + 1, &n))
            return not_an_object(name, err);
        if (n >= hdx_graph_objects(q->graph))
            return hdx_fail(
                err, HDX_NOT_FOUND, "", HDX_NOWHERE, "no object has the id %.40s; ids range from #0 to #%llu", name,
                (unsigned long long)(hdx_graph_objects(q->graph) == 0 ? 0 : hdx_graph_objects(q->graph) - 1));
        id = n;
        code = HDX_OK;
    } else {
        code = at != NULL && at > name ? of_class(q->graph, name, at, &id, err)
                                       : at_address(q->graph, name, name, &id, err);
        if (code == HDX_USAGE && pasted(name, digits))
            code = at_address(q->graph, name, digits, &id, err);
        else if (code == HDX_USAGE)
            code = only_instance(q, name, &id, err);
    }
    return code != HDX_OK ? code : hdx_ids_push(ids, id, err);
}

typedef struct placed {
    hdx_id   id;
    uint64_t place;
} placed;

static int by_id(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    return x->id != y->id ? (x->id < y->id ? -1 : 1) : (x->place > y->place) - (x->place < y->place);
}

static int by_place(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    return (x->place > y->place) - (x->place < y->place);
}

/* Removes duplicates; each id remains where it was named first. */
static hdx_code distinct(const hdx_ids *ids, hdx_id **out, size_t *count, hdx_error *err)
{
    uint64_t unique = 0;
    hdx_id  *list = hdx_listed_get(ids->mem, ids->count, sizeof *list);
    placed  *p = hdx_mem_array(ids->mem, ids->count, sizeof *p);
    if (list == NULL || p == NULL) {
        hdx_ids_free(list);
        hdx_mem_put(ids->mem, p, ids->count * sizeof *p);
        return hdx_no_memory(err, "named objects", ids->count * (sizeof *p + sizeof *list));
    }
    for (uint64_t i = 0; i < ids->count; i++)
        p[i] = (placed){ ids->at[i], i };
    qsort(p, ids->count, sizeof *p, by_id);
    for (uint64_t i = 0; i < ids->count; i++)
        if (unique == 0 || p[i].id != p[unique - 1].id)
            p[unique++] = p[i];
    qsort(p, unique, sizeof *p, by_place);
    for (uint64_t i = 0; i < unique; i++)
        list[i] = p[i].id;
    hdx_mem_put(ids->mem, p, ids->count * sizeof *p);
    *out = list;
    *count = unique;
    return HDX_OK;
}

hdx_code hdx_query_objects_named(const hdx_query *q, const char *const *names, size_t count, hdx_id **out,
                                 size_t *out_count, hdx_error *err)
{
    hdx_ids  ids = hdx_ids_of(q->mem);
    hdx_code code = HDX_OK;
    *out = NULL;
    *out_count = 0;
    for (size_t i = 0; code == HDX_OK && i < count; i++) {
        if ((i & 1023) == 1023)
            code = hdx_ask_stopped(q, err);
        if (code == HDX_OK)
            code = one_name(q, names[i], &ids, err);
    }
    if (code == HDX_OK)
        code = distinct(&ids, out, out_count, err);
    hdx_ids_drop(&ids);
    return code;
}

/* ---- objects as an argument ---- */

hdx_code hdx_argument_objects(const hdx_query *q, const hdx_arguments *a, hdx_id **ids, size_t *count, hdx_error *err)
{
    hdx_arena          arena = hdx_arena_of(q->mem);
    const char *const *names = NULL;
    size_t             n = 0;
    *ids = NULL;
    *count = 0;
    hdx_code code = hdx_argument_texts(a, "object", &arena, &names, &n, err);
    if (code == HDX_OK)
        code = hdx_query_objects_named(q, names, n, ids, count, err);
    hdx_arena_free(&arena);
    return code;
}

hdx_code hdx_argument_object(const hdx_query *q, const hdx_arguments *a, hdx_id *id, hdx_error *err)
{
    hdx_id  *ids = NULL;
    size_t   count = 0;
    hdx_code code = hdx_argument_objects(q, a, &ids, &count, err);
    if (code != HDX_OK)
        return code;
    if (count == 1)
        *id = ids[0];
    else
        code = hdx_hint(err,
                        hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "'%s' takes one object, but %zu are named",
                                 a->answer->name, count),
                        "heapdex object lists these objects with their addresses");
    return code;
}
