/*
 * diff.c - the answer `diff`: how two heaps differ, and for three, how much of the growth stayed.
 *
 *     a before, b after:             delta  = b - a
 *     a before, b after, c later:    stayed = the part of the growth from a to b that c still has over a
 *
 * In:  a ledger with a column for each heap.
 * Out: a row for each thing that differs, the largest difference first; totals and heads of the dumps; findings of
 *      --fail-on.
 * Keys are made when their row is read, because a table shows 25 of thousands of paths.
 */
#include "compare/compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define FAILS_SAID 100u /* number of things that meet a condition of --fail-on and are listed */

enum { /* columns */
       KEY,
       OBJECTS_A,
       OBJECTS_B,
       OBJECTS_DELTA,
       SHALLOW_A,
       SHALLOW_B,
       SHALLOW_DELTA,
       RETAINED_A,
       RETAINED_B,
       RETAINED_DELTA,
       PERCENT,
       OF_TWO,
       OBJECTS_C = OF_TWO,
       SHALLOW_C,
       RETAINED_C,
       OBJECTS_STAYED,
       SHALLOW_STAYED,
       RETAINED_STAYED,
       PERCENT_STAYED,
       OF_THREE
};
#define THIRD (HDX_COLUMN_OPTIONAL | HDX_COLUMN_WIDE)
#define NUMBERS(retained_says)                                                                                         \
    HDX_COLUMN("objects_a", UNSIGNED, COUNT, HDX_COLUMN_WIDE, "live objects in the first dump"),                       \
        HDX_COLUMN("objects_b", UNSIGNED, COUNT, HDX_COLUMN_WIDE, "value in the second dump"),                         \
        HDX_COLUMN("objects_delta", SIGNED, COUNT, HDX_COLUMN_SPARE,                                                   \
                   "objects in the second dump minus those in the first"),                                             \
        HDX_COLUMN("shallow_a", UNSIGNED, BYTES, HDX_COLUMN_WIDE | HDX_COLUMN_NULLABLE,                                \
                   "shallow size in the first dump; null with --by leak"),                                             \
        HDX_COLUMN("shallow_b", UNSIGNED, BYTES, HDX_COLUMN_WIDE | HDX_COLUMN_NULLABLE, "value in the second dump"),   \
        HDX_COLUMN("shallow_delta", SIGNED, BYTES, HDX_COLUMN_SPARE | HDX_COLUMN_NULLABLE, "growth"),                  \
        HDX_COLUMN("retained_a", UNSIGNED, BYTES, 0, retained_says ", in the first dump"),                             \
        HDX_COLUMN("retained_b", UNSIGNED, BYTES, 0, "the same in the second dump"),                                   \
        HDX_COLUMN("retained_delta", SIGNED, BYTES, 0, "growth"),                                                      \
        HDX_COLUMN("percent", REAL, PERCENT, HDX_COLUMN_NULLABLE,                                                      \
                   "retained_delta as share of retained_a; null if retained_a is 0"),                                  \
        HDX_COLUMN("objects_c", UNSIGNED, COUNT, THIRD, "live objects in the third dump, if any"),                     \
        HDX_COLUMN("shallow_c", UNSIGNED, BYTES, THIRD | HDX_COLUMN_NULLABLE, "shallow size in the third dump"),       \
        HDX_COLUMN("retained_c", UNSIGNED, BYTES, HDX_COLUMN_OPTIONAL, "retained size in the third dump"),             \
        HDX_COLUMN("objects_stayed", UNSIGNED, COUNT, THIRD,                                                           \
                   "objects added in the second dump that the third still has"),                                       \
        HDX_COLUMN("shallow_stayed", UNSIGNED, BYTES, THIRD | HDX_COLUMN_NULLABLE, "the same for shallow size"),       \
        HDX_COLUMN("retained_stayed", UNSIGNED, BYTES, HDX_COLUMN_OPTIONAL, "the same for retained size"),             \
        HDX_COLUMN("percent_stayed", REAL, PERCENT, HDX_COLUMN_OPTIONAL | HDX_COLUMN_NULLABLE,                         \
                   "retained_stayed as share of the growth; null if nothing was added")
#define COLUMNS(key_flags, key_says, retained_says)                                                                    \
    HDX_COLUMN("key", TEXT, NONE, key_flags, key_says), NUMBERS(retained_says)

#define OF_SETS "retained size of the class objects and all instances of the row"
static const hdx_column class_columns[] = { COLUMNS(
    HDX_COLUMN_CLASS_NAME, "class name, or shared name of generated classes; all loaders together", OF_SETS) };
static const hdx_column package_columns[] = { COLUMNS(0, "package name; arrays count for the package of their elements",
                                                      OF_SETS) };
static const hdx_column loader_columns[] = { COLUMNS(
    0, "class and name of the class loader; loaders with the same class and name share a row",
    OF_SETS ", and the loader") };
static const hdx_column dominator_columns[] = { COLUMNS(0, "classes on the path from the top of the dominator tree",
                                                        "bytes that only these objects keep alive") };
static const hdx_column path_columns[] = { COLUMNS(0, "path on which the objects are found first, named as in Shark",
                                                   "size of the objects on this path and below it") };
static const hdx_column leak_columns[] = {
    HDX_COLUMN("key", TEXT, NONE, 0, "signature of the leak; `unreachable` for unreachable objects"),
    HDX_COLUMN("label", TEXT, NONE, 0, "kind of the leak, class of its first object, and suspect references"),
    NUMBERS("retained size of its leaking objects"),
};

static const hdx_form forms[] = {
    { "by", "class", class_columns, HDX_COUNT(class_columns) },
    { "by", "package", package_columns, HDX_COUNT(package_columns) },
    { "by", "loader", loader_columns, HDX_COUNT(loader_columns) },
    { "by", "dominator", dominator_columns, HDX_COUNT(dominator_columns) },
    { "by", "path", path_columns, HDX_COUNT(path_columns) },
    { "by", "leak", leak_columns, HDX_COUNT(leak_columns) },
};

/* ---- rows ---- */

typedef struct diff {
    hdx_ledger       *l;
    hdx_compare_by    by;
    const hdx_column *columns;
    bool              third;
    unsigned          label; /* columns between the key and the numbers: one for leaks */
    uint32_t         *order; /* things in the order of rows */
    uint64_t          count, equal, next;
    hdx_buffer        key;
} diff;

static void diff_close(void *state)
{
    diff *d = state;
    if (d == NULL)
        return;
    hdx_mem *mem = d->l->mem;
    hdx_buffer_free(&d->key);
    hdx_mem_put(mem, d->order, d->l->count * sizeof *d->order);
    hdx_ledger_close(d->l);
    hdx_mem_put(mem, d, sizeof *d);
}

static int64_t  delta(uint64_t a, uint64_t b) { return (int64_t)(b - a); }
static uint64_t size_of(int64_t delta) { return delta < 0 ? 0 - (uint64_t)delta : (uint64_t)delta; }
static uint64_t stayed(uint64_t a, uint64_t b, uint64_t c)
{
    const uint64_t still = c > a ? c - a : 0, came = b > a ? b - a : 0;
    return still < came ? still : came;
}

static hdx_cell percent(int64_t part, uint64_t of)
{
    return of == 0 ? hdx_cell_null() : hdx_cell_real(100.0 * (double)part / (double)of);
}

/* Computes the numbers of a row from those of each heap. */
static void put_numbers(const diff *d, const hdx_ledger_sum *of, hdx_cell *cells)
{
    const hdx_ledger_sum a = of[0], b = of[1];
    const bool           sized = d->by != HDX_COMPARE_LEAK; /* shallow sizes of leaks are not measured */
    const int64_t        grown = delta(a.retained, b.retained);
    cells[OBJECTS_A] = hdx_cell_uint(a.objects);
    cells[OBJECTS_B] = hdx_cell_uint(b.objects);
    cells[OBJECTS_DELTA] = hdx_cell_int(delta(a.objects, b.objects));
    cells[SHALLOW_A] = sized ? hdx_cell_uint(a.shallow) : hdx_cell_null();
    cells[SHALLOW_B] = sized ? hdx_cell_uint(b.shallow) : hdx_cell_null();
    cells[SHALLOW_DELTA] = sized ? hdx_cell_int(delta(a.shallow, b.shallow)) : hdx_cell_null();
    cells[RETAINED_A] = hdx_cell_uint(a.retained);
    cells[RETAINED_B] = hdx_cell_uint(b.retained);
    cells[RETAINED_DELTA] = hdx_cell_int(grown);
    cells[PERCENT] = percent(grown, a.retained);
    if (!d->third)
        return;
    const hdx_ledger_sum c = of[2];
    const uint64_t       still = stayed(a.retained, b.retained, c.retained);
    cells[OBJECTS_C] = hdx_cell_uint(c.objects);
    cells[SHALLOW_C] = sized ? hdx_cell_uint(c.shallow) : hdx_cell_null();
    cells[RETAINED_C] = hdx_cell_uint(c.retained);
    cells[OBJECTS_STAYED] = hdx_cell_uint(stayed(a.objects, b.objects, c.objects));
    cells[SHALLOW_STAYED] = sized ? hdx_cell_uint(stayed(a.shallow, b.shallow, c.shallow)) : hdx_cell_null();
    cells[RETAINED_STAYED] = hdx_cell_uint(still);
    cells[PERCENT_STAYED] = percent((int64_t)still, grown > 0 ? (uint64_t)grown : 0);
}

static void read_sums(const diff *d, uint32_t thing, hdx_ledger_sum of[3])
{
    for (size_t i = 0; i < d->l->column_count; i++)
        of[i] = hdx_ledger_read(d->l, i, thing);
}

static hdx_code diff_next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    diff          *d = state;
    hdx_ledger_sum of[3];
    (void)arena;
    if (d->next == d->count) {
        *more = false;
        return HDX_OK;
    }
    const uint32_t thing = d->order[d->next++];
    if (!hdx_ledger_key(d->l, thing, &d->key, &cells[KEY]))
        return hdx_no_memory(err, "a key", d->key.len);
    read_sums(d, thing, of);
    if (d->label > 0)
        cells[KEY + 1] = hdx_cell_string(hdx_ledger_label_of(d->l, thing));
    put_numbers(d, of, cells + d->label);
    *more = true;
    return HDX_OK;
}

/* ---- choice and order of rows ---- */

typedef struct ranked {
    uint64_t          stayed, size; /* sort keys, descending */
    const hdx_ledger *of;           /* then its key */
    uint32_t          thing;
} ranked;

static int by_size(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->stayed != y->stayed)
        return x->stayed > y->stayed ? -1 : 1;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return hdx_ledger_compare(x->of, x->thing, y->thing);
}

static bool differs(const diff *d, const hdx_ledger_sum *of)
{
    bool is = false;
    for (size_t i = 1; i < d->l->column_count; i++)
        is |= of[i].objects != of[0].objects || of[i].shallow != of[0].shallow || of[i].retained != of[0].retained;
    return is;
}

static hdx_code put_in_order(diff *d, bool all, hdx_error *err)
{
    const hdx_ledger *l = d->l;
    ranked           *at = hdx_mem_array(l->mem, l->count, sizeof *at);
    uint64_t          n = 0;
    d->order = hdx_mem_array(l->mem, l->count, sizeof *d->order);
    if (at == NULL || d->order == NULL) {
        hdx_mem_put(l->mem, at, l->count * sizeof *at);
        return hdx_no_memory(err, "rows", l->count * sizeof *at);
    }
    for (uint32_t i = 0; i < l->count; i++) {
        hdx_ledger_sum of[3] = { { 0 } };
        read_sums(d, i, of);
        const bool equal = !differs(d, of);
        d->equal += equal;
        if (!equal || all)
            at[n++] = (ranked){ d->third ? stayed(of[0].retained, of[1].retained, of[2].retained) : 0,
                                size_of(delta(of[0].retained, of[1].retained)), l, i };
    }
    qsort(at, (size_t)n, sizeof *at, by_size);
    for (uint64_t i = 0; i < n; i++)
        d->order[i] = at[i].thing;
    d->count = n;
    hdx_mem_put(l->mem, at, l->count * sizeof *at);
    return HDX_OK;
}

/* ---- --fail-on ---- */

static const hdx_column total_columns[OF_THREE] = { COLUMNS(0, "", "") }; /* only the names matter */

typedef struct rule {
    const char    *text;
    hdx_condition *condition;
    unsigned       column, of; /* `of`: the base of a percentage; OF_THREE: no percentage */
    bool           whole;      /* of the whole heap, not of a row */
} rule;

static hdx_code wrong_rule(const char *text, const char *why, hdx_error *err)
{
    return hdx_hint(err, hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "--fail-on \"%.80s\": %s", text, why),
                    "for example --fail-on 'retained_delta > 10%%' or --fail-on 'total.objects_delta > 1000'");
}

static hdx_code read_rule(const char *text, unsigned columns, const hdx_progress *progress, rule *out, hdx_error *err)
{
    static const char total[] = "total.";
    hdx_text          name;
    size_t            len = strlen(text);
    *out = (rule){ .text = text, .of = OF_THREE };
    hdx_code code = hdx_condition_open(text, progress, &out->condition, err);
    if (code != HDX_OK)
        return code;
    if (!hdx_condition_name(text, &name))
        return wrong_rule(text, "is not COLUMN OPERATOR VALUE", err);
    out->whole = name.len > sizeof total - 1 && memcmp(name.at, total, sizeof total - 1) == 0;
    if (out->whole)
        name = (hdx_text){ name.at + sizeof total - 1, name.len - (uint32_t)(sizeof total - 1) };
    while (out->column < columns && !hdx_text_is(name, total_columns[out->column].name))
        out->column++;
    if (out->column == columns || out->column == KEY)
        return wrong_rule(text, "the rows have no such column of numbers", err);
    if (hdx_condition_is_of_text(out->condition))
        return wrong_rule(text, "the value is not a number", err);
    while (text[len - 1] == ' ' || text[len - 1] == '\t') /* skips blanks after the value */
        len--;
    if (text[len - 1] != '%' || total_columns[out->column].unit == HDX_UNIT_PERCENT)
        return HDX_OK;
    switch (out->column) {
    case OBJECTS_DELTA: out->of = OBJECTS_A; return HDX_OK;
    case SHALLOW_DELTA: out->of = SHALLOW_A; return HDX_OK;
    case RETAINED_DELTA: out->of = RETAINED_A; return HDX_OK;
    default: return wrong_rule(text, "a percentage is only valid for a difference such as retained_delta", err);
    }
}

/* Growth from zero exceeds any percentage. */
static hdx_cell measured(const rule *r, const hdx_cell *cells)
{
    const hdx_cell c = cells[r->column];
    if (r->of == OF_THREE || c.kind != HDX_CELL_INT || cells[r->of].kind != HDX_CELL_UINT)
        return c;
    if (cells[r->of].as.natural == 0)
        return hdx_cell_real(c.as.integer == 0 ? 0.0 : (double)INFINITY);
    return percent(c.as.integer, cells[r->of].as.natural);
}

static const hdx_column fail_members[] = {
    HDX_COLUMN("condition", TEXT, NONE, 0, "condition as given"),
    HDX_COLUMN("key", TEXT, NONE, HDX_COLUMN_NULLABLE, "key of the row; null for the whole heap"),
    HDX_COLUMN("objects_delta", SIGNED, COUNT, 0, "objects in the second dump minus those in the first"),
    HDX_COLUMN("retained_a", UNSIGNED, BYTES, 0, "bytes in the first dump"),
    HDX_COLUMN("retained_b", UNSIGNED, BYTES, 0, "value in the second dump"),
    HDX_COLUMN("retained_delta", SIGNED, BYTES, 0, "growth in bytes"),
};

typedef struct failing {
    rule     *rules;
    size_t    rule_count;
    hdx_cell *said; /* documents of the first ones */
    uint64_t  count, said_count;
} failing;

/* key: NULL for the whole heap; cells: numbers are where they are in a row without a label. */
static hdx_code check_rules(failing *f, const hdx_cell *key, const hdx_cell *cells, hdx_arena *arena, hdx_error *err)
{
    static const unsigned numbers[] = { OBJECTS_DELTA, RETAINED_A, RETAINED_B, RETAINED_DELTA };
    for (size_t i = 0; i < f->rule_count; i++) {
        const rule    *r = &f->rules[i];
        const hdx_cell cell = measured(r, cells);
        bool           holds = false;
        hdx_code code = r->whole == (key == NULL) ? hdx_condition_holds(r->condition, &cell, &holds, err) : HDX_OK;
        if (code != HDX_OK)
            return code;
        if (!holds || f->count++ >= FAILS_SAID)
            continue;
        hdx_member *m = hdx_arena_get(arena, HDX_COUNT(fail_members) * sizeof *m);
        if (m == NULL)
            return hdx_no_memory(err, "what failed", sizeof *m);
        m[0] = (hdx_member){ fail_members[0].name, hdx_cell_copy(arena, r->text) };
        m[1] = (hdx_member){ fail_members[1].name, key == NULL ? hdx_cell_null() : hdx_text_cell(arena, key->as.text) };
        for (unsigned k = 0; k < HDX_COUNT(numbers); k++)
            m[2 + k] = (hdx_member){ fail_members[2 + k].name, cells[numbers[k]] };
        f->said[f->said_count++] = hdx_cell_object(m, HDX_COUNT(fail_members));
    }
    return HDX_OK;
}

static void whole_numbers(const diff *d, hdx_cell *cells)
{
    hdx_ledger_sum of[3] = { { 0 } };
    for (size_t i = 0; i < d->l->column_count; i++)
        of[i] =
            (hdx_ledger_sum){ d->l->columns[i].live_objects, d->l->columns[i].live_bytes, d->l->columns[i].live_bytes };
    diff all = *d;
    all.by = HDX_COMPARE_CLASS; /* heap totals have shallow sizes in any case */
    put_numbers(&all, of, cells);
}

static unsigned numbers_of(const diff *d) { return d->third ? OF_THREE : OF_TWO; } /* including the key */
static unsigned columns_of(const diff *d) { return numbers_of(d) + d->label; }

/*
 * Checks the rows that --where keeps, before order and limit: a condition applies to all of them, not only to those
 * shown.
 */
static hdx_code check_rows(diff *d, const hdx_arguments *a, const hdx_progress *progress, failing *f, hdx_arena *arena,
                           hdx_error *err)
{
    const hdx_rows_maker maker = { d->columns, columns_of(d), d, diff_next, NULL, d->count };
    const hdx_cell      *cells;
    hdx_cell             whole[OF_THREE];
    hdx_rows            *rows = NULL;
    hdx_code             code = hdx_rows_make_in(d->l->mem, &maker, &rows, err);
    if (code == HDX_OK)
        hdx_rows_set_progress(rows, progress);
    for (size_t i = 0; code == HDX_OK && i < a->count; i++)
        if (strcmp(a->at[i].name, "where") == 0)
            code = hdx_rows_where(&rows, a->at[i].value, err);
    whole_numbers(d, whole);
    if (code == HDX_OK)
        code = check_rules(f, NULL, whole, arena, err);
    while (code == HDX_OK && hdx_rows_next(rows, &cells))
        code = check_rules(f, &cells[KEY], cells + d->label, arena, err);
    if (code == HDX_OK)
        code = hdx_rows_end(rows, err);
    hdx_rows_close(rows);
    d->next = 0;
    return code;
}

static hdx_code find_failures(diff *d, const hdx_arguments *a, const hdx_progress *progress, failing *f,
                              hdx_arena *arena, hdx_error *err)
{
    const char *const *texts = NULL;
    size_t             count = 0;
    hdx_code           code = hdx_argument_texts(a, "fail-on", arena, &texts, &count, err);
    f->rules = hdx_arena_get(arena, (count + 1) * sizeof *f->rules);
    f->said = hdx_arena_get(arena, FAILS_SAID * sizeof *f->said);
    if (code == HDX_OK && (f->rules == NULL || f->said == NULL))
        code = hdx_no_memory(err, "conditions", count * sizeof *f->rules);
    for (size_t i = 0; code == HDX_OK && i < count; i++)
        code = read_rule(texts[i], numbers_of(d), progress, &f->rules[f->rule_count++], err);
    if (code == HDX_OK && count > 0)
        code = check_rows(d, a, progress, f, arena, err);
    for (size_t i = 0; i < f->rule_count; i++)
        hdx_condition_close(f->rules[i].condition);
    return code;
}

/* ---- the document ---- */

static hdx_code add_total(const diff *d, hdx_rows *rows, hdx_error *err)
{
    hdx_cell    cells[OF_THREE];
    hdx_member *m = hdx_arena_get(hdx_rows_arena(rows), OF_THREE * sizeof *m);
    if (m == NULL)
        return hdx_no_memory(err, "the sum", OF_THREE * sizeof *m);
    whole_numbers(d, cells);
    for (unsigned i = KEY + 1; i < numbers_of(d); i++)
        m[i - 1] = (hdx_member){ total_columns[i].name, cells[i] };
    return hdx_rows_add_extra(rows, "total", hdx_cell_object(m, numbers_of(d) - 1), err);
}

static hdx_code add_title(const diff *d, hdx_rows *rows, hdx_error *err)
{
    hdx_buffer text = hdx_buffer_of(d->l->mem);
    for (size_t i = 0; i < d->l->column_count; i++) {
        const hdx_ledger_column *c = &d->l->columns[i];
        char                     size[16];
        hdx_human_size(c->live_bytes, size);
        hdx_buffer_format(&text, "%s%c  %s: %" PRIu64 " live objects, %s", i == 0 ? "" : "\n", (char)('a' + (int)i),
                          c->path, c->live_objects, size);
    }
    const hdx_code code =
        text.failed ? hdx_no_memory(err, "a title", text.len) : hdx_rows_set_title(rows, text.at, err);
    hdx_buffer_free(&text);
    return code;
}

static hdx_code make_document(const diff *d, const failing *f, hdx_rows *rows, hdx_error *err)
{
    hdx_cell heads = hdx_cell_null();
    hdx_code code = hdx_ledger_heads(d->l, hdx_rows_arena(rows), &heads, err);
    if (code == HDX_OK)
        code = hdx_rows_add_extra(rows, "dumps", heads, err);
    if (code == HDX_OK)
        code = add_total(d, rows, err);
    if (code == HDX_OK)
        code = hdx_rows_add_extra(rows, "equal", hdx_cell_uint(d->equal), err);
    if (code == HDX_OK)
        code = hdx_rows_add_extra(rows, "failed", hdx_cell_uint(f->count), err);
    if (code == HDX_OK)
        code = hdx_rows_add_extra(rows, "failures", hdx_cell_list(f->said, f->said_count), err);
    return code == HDX_OK ? add_title(d, rows, err) : code;
}

static const hdx_column *columns_by(hdx_compare_by by)
{
    static const hdx_column *const all[] = {
        [HDX_COMPARE_CLASS] = class_columns,   [HDX_COMPARE_PACKAGE] = package_columns,
        [HDX_COMPARE_LOADER] = loader_columns, [HDX_COMPARE_DOMINATOR] = dominator_columns,
        [HDX_COMPARE_PATH] = path_columns,     [HDX_COMPARE_LEAK] = leak_columns,
    };
    return all[by];
}

hdx_code hdx_compare_diff_rows(hdx_ledger *l, const hdx_arguments *a, const hdx_progress *progress, hdx_rows **out,
                               hdx_error *err)
{
    diff *d = hdx_mem_get(l->mem, sizeof *d);
    *out = NULL;
    if (d == NULL) {
        hdx_ledger_close(l);
        return hdx_no_memory(err, "a comparison", sizeof *d);
    }
    *d = (diff){ .l = l,
                 .by = hdx_compare_by_of(a),
                 .columns = columns_by(hdx_compare_by_of(a)),
                 .third = l->column_count == 3,
                 .label = hdx_compare_by_of(a) == HDX_COMPARE_LEAK,
                 .key = hdx_buffer_of(l->mem) };
    failing  f = { .rules = NULL };
    hdx_code code = put_in_order(d, hdx_argument_flag(a, "all"), err);
    if (code == HDX_OK)
        code = find_failures(d, a, progress, &f, &l->arena, err);
    if (code != HDX_OK) {
        diff_close(d);
        return code;
    }
    const hdx_rows_maker maker = { d->columns, columns_of(d), d, diff_next, diff_close, d->count };
    const uint64_t       equal = d->equal;
    if ((code = hdx_rows_make_in(l->mem, &maker, out, err)) != HDX_OK)
        return code;
    if ((code = make_document(d, &f, *out, err)) != HDX_OK) {
        hdx_rows_close(*out);
        *out = NULL;
        return code;
    }
    if (maker.total > 0)
        return HDX_OK;
    return equal == 0 /* every heap has classes, but not every one has leaks */
               ? hdx_rows_explain_empty(HDX_OK, out, err, "no dump has a leak of %s",
                                        hdx_argument_choice(a, "finder") > 0 ? "this selection" : "a watched object")
               : hdx_rows_explain_empty(HDX_OK, out, err,
                                        "they are the same in all of %" PRIu64 " rows: --all shows them", equal);
}

/* ---- declared ---- */

static const hdx_column document[] = {
    HDX_NESTED("dumps", LIST, 0, "dumps in the order of the command line", hdx_ledger_head_members),
    { "total", HDX_TYPE_OBJECT, HDX_UNIT_NONE, 0, "totals of the heaps: live objects and their size", total_columns + 1,
      OF_THREE - 1 },
    HDX_COLUMN("equal", UNSIGNED, COUNT, 0, "number of unchanged rows, which only --all shows"),
    HDX_COLUMN("failed", UNSIGNED, COUNT, 0, "number of true --fail-on conditions"),
    HDX_NESTED("failures", LIST, 0, "first 100 of these", fail_members),
};

static const hdx_parameter parameters[] = {
    { .name = "by",
      .kind = HDX_PARAMETER_CHOICE,
      .value = "KEY",
      .choices = "class package loader dominator path leak",
      .preset = "class",
      .sentence = "what each row covers; default: class" },
    { .name = "depth",
      .kind = HDX_PARAMETER_NUMBER,
      .value = "N",
      .preset = "3",
      .least = 1,
      .most = HDX_COMPARE_DEPTH,
      .sentence = "with --by dominator: levels of the tree; default: 3" },
    { .name = "finder",
      .kind = HDX_PARAMETER_CHOICE,
      .value = "FINDER",
      .choices = "watched filters classes",
      .preset = "watched",
      .sentence = "with --by leak: how to find leaking objects; default: watched" },
    { .name = "class",
      .kind = HDX_PARAMETER_CLASSES,
      .flags = HDX_PARAMETER_REPEATED,
      .value = "PATTERN",
      .sentence = "with --finder classes: name, glob or /regular expression/; may be repeated" },
    { .name = "all", .kind = HDX_PARAMETER_FLAG, .sentence = "include unchanged rows" },
    { .name = "fail-on",
      .kind = HDX_PARAMETER_TEXT,
      .flags = HDX_PARAMETER_REPEATED,
      .value = "'COL OP VALUE'",
      .sentence = "exit 1 if true for a row that --where selects, or, after total., for the whole heap; 10% is "
                  "relative to the first dump; may be repeated" },
};

hdx_compare_by hdx_compare_by_of(const hdx_arguments *a)
{
    return (hdx_compare_by)hdx_argument_choice(a, "by"); /* in the order of the enumeration */
}

const hdx_answer hdx_compare_diff = {
    .name = "diff",
    .flags = HDX_ANSWER_DUMPS | HDX_ANSWER_TOGETHER | HDX_ANSWER_HEAP | HDX_ANSWER_LONG,
    .sentence = "compare two heaps; with a third, show which growth stayed",
    .more = "The dumps may come from one process, two releases or two hosts: rows are matched by name, never by "
            "address. Generated classes with run-specific names (lambdas, proxies, reflection accessors, CGLIB) share "
            "a row, app.Shop$$Lambda*. With a third dump, taken after the load ended, retained_stayed is the part of "
            "the growth that remains; the largest come first.",
    .examples = { "heapdex diff before.hprof after.hprof",
                  "heapdex diff before.hprof after.hprof --fail-on 'total.retained_delta > 10%'" },
    .forms = forms,
    .form_count = HDX_COUNT(forms),
    .document = document,
    .document_count = HDX_COUNT(document),
    .parameters = parameters,
    .parameter_count = HDX_COUNT(parameters),
};

hdx_code hdx_compare_diff_check(const hdx_arguments *a, size_t dumps, hdx_error *err)
{
    hdx_arena          arena = hdx_arena_of(NULL);
    const char *const *texts = NULL;
    size_t             count = 0;
    hdx_code           code = hdx_argument_texts(a, "fail-on", &arena, &texts, &count, err);
    for (size_t i = 0; code == HDX_OK && i < count; i++) {
        rule r;
        code = read_rule(texts[i], dumps == 3 ? OF_THREE : OF_TWO, NULL, &r, err);
        hdx_condition_close(r.condition);
    }
    hdx_arena_free(&arena);
    if (code == HDX_OK && (dumps < 2 || dumps > 3))
        return hdx_hint(
            err, hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "diff needs two or three dumps, not %zu", dumps),
            dumps < 2 ? "heapdex diff before.hprof after.hprof" : "heapdex trend compares any number of dumps");
    return code;
}
