/*
 * classes.c - sets of classes, by name or as subclasses of others; the order of names.
 *
 * In:  an operator and a value, with which SQLite compares the name of a class.
 * Out: a bit for each class. A condition on names is evaluated once per class, not per object.
 */
#include "sql/sql.h"

#include <stdlib.h>

hdx_code hdx_sql_classes_all(sql_heap *heap, sql_classes *set, hdx_error *err)
{
    uint32_t count;
    (void)hdx_graph_classes(heap->g, &count);
    *set = (sql_classes){ .bits = calloc(hdx_bits_words(count) + 1, 8), .count = count };
    if (set->bits == NULL)
        return hdx_no_memory(err, "a set of classes", count / 8);
    for (uint32_t i = 0; i < count; i++)
        hdx_bits_put(set->bits, i);
    return HDX_OK;
}

void hdx_sql_classes_drop(sql_classes *set)
{
    free(set->bits);
    *set = (sql_classes){ 0 };
}

/* ---- names ---- */

bool hdx_sql_text_is(sqlite3_value *value, hdx_text name)
{
    if (sqlite3_value_type(value) == SQLITE_NULL || sqlite3_value_type(value) == SQLITE_BLOB)
        return false;
    const char *text = (const char *)sqlite3_value_text(value); /* a number is compared as text */
    return text != NULL && (uint32_t)sqlite3_value_bytes(value) == name.len && memcmp(text, name.at, name.len) == 0;
}

hdx_code hdx_sql_regex_open(sql_db *db, const char *pattern, size_t len, hdx_regex **out, hdx_error *err)
{
    hdx_buffer text = hdx_buffer_of(NULL);
    hdx_buffer_put(&text, "\\A(?:", 5);
    hdx_buffer_put(&text, pattern, len);
    hdx_buffer_put(&text, ")\\z", 3);
    *out = NULL;
    const hdx_code code = text.failed ? hdx_no_memory(err, "a regular expression", len)
                                      : hdx_regex_open(text.at, text.len, &db->own, out, err);
    hdx_buffer_free(&text);
    return code;
}

/* A pattern that is ready to be compared with names. */
typedef struct matcher {
    sql_db     *db;
    int         op;
    const char *pattern; /* NULL: matches nothing */
    hdx_regex  *regex;
} matcher;

/* For LIKE and GLOB texts end at a NUL, as in SQLite. */
static hdx_code matches(const matcher *m, hdx_text name, bool *yes, hdx_error *err)
{
    *yes = false;
    if (m->pattern == NULL)
        return HDX_OK;
    if (m->regex != NULL)
        return hdx_regex_match(m->regex, name, yes, err);
    char *text = sqlite3_malloc64(name.len + 1ull);
    if (text == NULL)
        return hdx_no_memory(err, "the name of a class", name.len);
    memcpy(text, name.at, name.len);
    text[name.len] = '\0';
    const hdx_code code = hdx_sql_like(m->db, m->pattern, text, 0, m->op == SQLITE_INDEX_CONSTRAINT_GLOB, yes, err);
    sqlite3_free(text);
    return code;
}

hdx_code hdx_sql_classes_named(sql_heap *heap, sql_classes *set, int op, sqlite3_value *value, hdx_error *err)
{
    uint32_t         count;
    const hdx_class *classes = hdx_graph_classes(heap->g, &count);
    const bool       equal = op == SQLITE_INDEX_CONSTRAINT_EQ;
    matcher          m = { heap->db, op, equal ? NULL : (const char *)sqlite3_value_text(value), NULL };
    hdx_code         code = HDX_OK;
    if (op == SQLITE_INDEX_CONSTRAINT_REGEXP && m.pattern != NULL)
        code = hdx_sql_regex_open(heap->db, m.pattern, (size_t)sqlite3_value_bytes(value), &m.regex, err);
    for (uint32_t i = 0; code == HDX_OK && i < count && i < set->count; i++) {
        bool yes = false;
        if (!hdx_bits_test(set->bits, i))
            continue;
        if (equal)
            yes = hdx_sql_text_is(value, classes[i].name);
        else
            code = matches(&m, classes[i].name, &yes, err);
        if (!yes)
            hdx_bits_clear(set->bits, i);
        if (code == HDX_OK)
            code = sql_turn(heap->db, err);
    }
    hdx_regex_close(m.regex);
    return code;
}

void hdx_sql_classes_clear(sql_classes *set) { memset(set->bits, 0, hdx_bits_words(set->count) * sizeof *set->bits); }

/* ---- several values: IN ---- */

/* Adds the classes with this name; names are found by binary search. */
static hdx_code put_named(sql_heap *heap, sqlite3_value *value, const sql_classes *wanted, sql_classes *set,
                          hdx_error *err)
{
    const uint32_t *numbers;
    uint32_t        count, low = 0;
    hdx_code        code = hdx_sql_classes_by_name(heap, &numbers, &count, err);
    if (code != HDX_OK || sqlite3_value_type(value) == SQLITE_NULL || sqlite3_value_type(value) == SQLITE_BLOB)
        return code;
    const hdx_text text = { (const char *)sqlite3_value_text(value), (uint32_t)sqlite3_value_bytes(value) };
    if (text.at == NULL)
        return hdx_no_memory(err, "the name of a class", 0);
    for (uint32_t high = count; low < high;) {
        const uint32_t middle = low + (high - low) / 2;
        if (hdx_text_order(hdx_graph_class(heap->g, numbers[middle])->name, text) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; code == HDX_OK && low < count && hdx_text_order(hdx_graph_class(heap->g, numbers[low])->name, text) == 0;
         low++) {
        if (hdx_bits_test(wanted->bits, numbers[low]))
            hdx_bits_put(set->bits, numbers[low]);
        code = sql_turn(heap->db, err);
    }
    return code == HDX_OK ? sql_turn(heap->db, err) : code;
}

hdx_code hdx_sql_classes_among(sql_heap *heap, sql_classes *set, sqlite3_value *list, hdx_error *err)
{
    sql_classes    some;
    sqlite3_value *value;
    hdx_code       code = hdx_sql_classes_all(heap, &some, err);
    if (code != HDX_OK)
        return code;
    hdx_sql_classes_clear(&some);
    for (int rc = sqlite3_vtab_in_first(list, &value); code == HDX_OK && rc == SQLITE_OK;
         rc = sqlite3_vtab_in_next(list, &value))
        code = put_named(heap, value, set, &some, err);
    for (uint64_t w = 0; code == HDX_OK && w < hdx_bits_words(set->count); w++)
        set->bits[w] &= some.bits[w];
    hdx_sql_classes_drop(&some);
    return code;
}

/* ---- subclasses ---- */

/*
 * Adds the subclasses of the classes in the set. The superclass of a class is looked up by its number, without
 * recursion.
 */
hdx_code hdx_sql_classes_with_heirs(sql_heap *heap, sql_classes *set, hdx_error *err)
{
    uint32_t         count;
    const hdx_class *classes = hdx_graph_classes(heap->g, &count);
    uint8_t         *state = calloc((size_t)count + 1, 1); /* 1: a subclass, 2: not one; 0: not yet known */
    if (state == NULL)
        return hdx_no_memory(err, "a set of classes", count);
    for (uint32_t i = 0; i < count && i < set->count; i++)
        state[i] = hdx_bits_test(set->bits, i);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = i, steps = 0;
        while (at < count && state[at] == 0 && steps++ <= count)
            at = classes[at].super;
        const uint8_t found = at < count && state[at] != 0 ? state[at] : 2;
        for (at = i; at < count && state[at] == 0; at = classes[at].super)
            state[at] = found;
    }
    for (uint32_t i = 0; i < count && i < set->count; i++)
        if (state[i] == 1)
            hdx_bits_put(set->bits, i);
    free(state);
    return HDX_OK;
}

hdx_code hdx_sql_classes_heirs(sql_heap *heap, sql_classes *set, sqlite3_value *value, hdx_error *err)
{
    sql_classes heirs;
    hdx_code    code = hdx_sql_classes_all(heap, &heirs, err);
    if (code == HDX_OK)
        code = hdx_sql_classes_named(heap, &heirs, SQLITE_INDEX_CONSTRAINT_EQ, value, err);
    if (code == HDX_OK)
        code = hdx_sql_classes_with_heirs(heap, &heirs, err);
    for (uint64_t w = 0; code == HDX_OK && w < hdx_bits_words(set->count); w++)
        set->bits[w] &= heirs.bits[w];
    hdx_sql_classes_drop(&heirs);
    return code;
}

/* ---- order ---- */

typedef struct named {
    hdx_text name;
    uint32_t number;
} named;

static int by_name(const void *a, const void *b)
{
    const named *x = a, *y = b;
    const int    c = hdx_text_order(x->name, y->name);
    return c != 0 ? c : x->number < y->number ? -1 : x->number > y->number;
}

hdx_code hdx_sql_classes_by_name(sql_heap *heap, const uint32_t **numbers, uint32_t *count, hdx_error *err)
{
    const hdx_class *classes = hdx_graph_classes(heap->g, count);
    *numbers = heap->by_name;
    if (heap->by_name != NULL)
        return HDX_OK;
    named    *names = calloc((size_t)*count + 1, sizeof *names);
    uint32_t *order = hdx_arena_get(&heap->db->arena, (*count + 1ull) * sizeof *order);
    if (names == NULL || order == NULL) {
        free(names);
        return hdx_no_memory(err, "the order of classes", *count * sizeof *names);
    }
    for (uint32_t i = 0; i < *count; i++)
        names[i] = (named){ classes[i].name, i };
    qsort(names, *count, sizeof *names, by_name);
    for (uint32_t i = 0; i < *count; i++)
        order[i] = names[i].number;
    free(names);
    *numbers = heap->by_name = order;
    return HDX_OK;
}
