/*
 * trend.c - the answer `trend`: what grows over several heaps, and which of many heaps are outliers.
 *
 * In:  a ledger with a column for each heap, in their order.
 * Out: a row for each thing that grew from the first heap to the last; those that rose in every step come first. By
 *      path: where it grows (SHARK 6.2). With --outliers a row for each heap and thing that is far from the others.
 *
 * By path, a step counts if it adds at least --loops objects, and a thing that the first heap lacks is not known to
 * grow. A path grows if one of its children grew in every step. Of the growing paths only those are reported whose
 * parent does not grow: objects are added there, and paths below them grow for that reason.
 */
#include "compare/compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

typedef enum measure { OBJECTS, SHALLOW, RETAINED } measure; /* choices of `of` */

enum {
    KEY,
    STEADY,
    RISES,
    OBJECTS_FIRST,
    OBJECTS_LAST,
    OBJECTS_GROWN,
    SHALLOW_FIRST,
    SHALLOW_LAST,
    SHALLOW_GROWN,
    RETAINED_FIRST,
    RETAINED_LAST,
    RETAINED_GROWN,
    PERCENT,
    SLOPE,
    OBJECTS_SERIES,
    SHALLOW_SERIES,
    RETAINED_SERIES,
    COLUMNS,
    BELOW = COLUMNS, /* by path */
    LABEL = COLUMNS, /* by leak */
    ONE_MORE
};

static const hdx_column number_item[] = { HDX_ITEM(UNSIGNED, "one value for each dump, in order") };

#define GROWTH(key_flags, key_says)                                                                                    \
    HDX_COLUMN("key", TEXT, NONE, key_flags, key_says),                                                                \
        HDX_COLUMN("steady", BOOL, NONE, HDX_COLUMN_WIDE, "true if the value rose from each dump to the next"),        \
        HDX_COLUMN("rises", UNSIGNED, COUNT, 0, "number of steps in which the value of --of rose"),                    \
        HDX_COLUMN("objects_first", UNSIGNED, COUNT, HDX_COLUMN_WIDE, "live objects in the first dump"),               \
        HDX_COLUMN("objects_last", UNSIGNED, COUNT, HDX_COLUMN_WIDE, "value in the last dump"),                        \
        HDX_COLUMN("objects_grown", SIGNED, COUNT, 0, "objects in the last dump minus those in the first"),            \
        HDX_COLUMN("shallow_first", UNSIGNED, BYTES, HDX_COLUMN_WIDE, "shallow size in the first dump"),               \
        HDX_COLUMN("shallow_last", UNSIGNED, BYTES, HDX_COLUMN_WIDE, "value in the last dump"),                        \
        HDX_COLUMN("shallow_grown", SIGNED, BYTES, HDX_COLUMN_SPARE, "growth"),                                        \
        HDX_COLUMN("retained_first", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE,                          \
                   "retained size in the first dump, as in diff; null with --of shallow and --of objects"),            \
        HDX_COLUMN("retained_last", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE, "value in the last dump"),                   \
        HDX_COLUMN("retained_grown", SIGNED, BYTES, HDX_COLUMN_NULLABLE, "growth"),                                    \
        HDX_COLUMN("percent", REAL, PERCENT, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE,                                   \
                   "growth of the value of --of as share of the first dump; null if that is 0"),                       \
        HDX_COLUMN("slope", REAL, NONE, HDX_COLUMN_WIDE,                                                               \
                   "slope of the best-fitting line for the value of --of: growth per dump"),                           \
        HDX_NESTED("objects", LIST, HDX_COLUMN_WIDE, "objects in each dump", number_item),                             \
        HDX_NESTED("shallow", LIST, HDX_COLUMN_WIDE, "shallow size in each dump", number_item),                        \
        HDX_NESTED("retained", LIST, HDX_COLUMN_WIDE | HDX_COLUMN_NULLABLE, "retained size in each dump", number_item)

static const hdx_column class_columns[] = { GROWTH(HDX_COLUMN_CLASS_NAME,
                                                   "class name, or shared name of generated classes") };
static const hdx_column key_columns[] = { GROWTH(0, "package, loader or path in the dominator tree, as in diff") };

static const hdx_column leak_columns[] = {
    GROWTH(0, "signature of the leak; `unreachable` for unreachable objects"),
    HDX_COLUMN("label", TEXT, NONE, 0, "kind of the leak, class of its first object, and suspect references"),
};
static const hdx_column below_members[] = {
    HDX_COLUMN("name", TEXT, NONE, 0, "last step of the growing path"),
    HDX_NESTED("objects", LIST, 0, "objects in each dump", number_item),
};
static const hdx_column path_columns[] = {
    GROWTH(0,
           "growing path below a path that does not grow; all numbers except retained sizes sum its growing children"),
    HDX_NESTED("below", LIST, HDX_COLUMN_WIDE, "growing children of the path; empty with --all", below_members),
};

static const hdx_column outlier_columns[] = {
    HDX_COLUMN("dump", TEXT, NONE, 0, "as it was named"),
    HDX_COLUMN("deviations", REAL, COUNT, 0,
               "distance from the median, in median absolute deviations times 1.4826; negative: below the median"),
    HDX_COLUMN("value", UNSIGNED, NONE, 0, "value of --of in this dump"),
    HDX_COLUMN("median", UNSIGNED, NONE, 0, "median over all dumps"),
    HDX_COLUMN("key", TEXT, NONE, HDX_COLUMN_NULLABLE, "same key as without --outliers; null: the whole heap"),
};
enum { OUTLIER_DUMP, OUTLIER_DEVIATIONS, OUTLIER_VALUE, OUTLIER_MEDIAN, OUTLIER_KEY };

static const hdx_form forms[] = {
    { "outliers", "true", outlier_columns, HDX_COUNT(outlier_columns) },
    { "by", "class", class_columns, HDX_COUNT(class_columns) },
    { "by", "path", path_columns, HDX_COUNT(path_columns) },
    { "by", "leak", leak_columns, HDX_COUNT(leak_columns) },
    { NULL, NULL, key_columns, HDX_COUNT(key_columns) },
};

/* ---- numbers ---- */

static uint64_t of(hdx_ledger_sum s, measure m)
{
    return m == OBJECTS ? s.objects : m == SHALLOW ? s.shallow : s.retained;
}

static uint64_t value(const hdx_ledger *l, size_t column, uint32_t thing, measure m)
{
    return of(hdx_ledger_read(l, column, thing), m);
}

bool hdx_compare_trend_retains(const hdx_arguments *a) { return hdx_argument_choice(a, "of") == RETAINED; }

/* ---- rows ---- */

#define NOTHING UINT32_MAX /* no thing: the end of a list */

typedef struct trend {
    hdx_ledger *l;
    measure     of;
    bool        by_path, by_leak;
    bool        retained; /* retained sizes are known */
    uint32_t   *order;
    /* by path: the first growing child of a thing, and its next growing sibling; NULL: not by path */
    uint32_t  *first_child, *next_sibling;
    uint64_t   room, count, next;
    hdx_buffer key;
} trend;

static void trend_close(void *state)
{
    trend   *t = state;
    hdx_mem *mem = t->l->mem;
    hdx_buffer_free(&t->key);
    hdx_mem_put(mem, t->order, t->room * sizeof *t->order);
    hdx_mem_put(mem, t->first_child, t->room * sizeof *t->first_child);
    hdx_mem_put(mem, t->next_sibling, t->room * sizeof *t->next_sibling);
    hdx_ledger_close(t->l);
    hdx_mem_put(mem, t, sizeof *t);
}

/* Returns a row's number for one heap: for a growing path the sum of its growing children. */
static uint64_t number(const trend *t, size_t column, uint32_t thing, measure m)
{
    uint64_t sum = 0;
    if (t->first_child == NULL || m == RETAINED)
        return value(t->l, column, thing, m);
    for (uint32_t i = t->first_child[thing]; i != NOTHING; i = t->next_sibling[i])
        sum += value(t->l, column, i, m);
    return sum;
}

static int64_t grown(const trend *t, uint32_t thing, measure m)
{
    return (int64_t)(number(t, t->l->column_count - 1, thing, m) - number(t, 0, thing, m));
}

static unsigned rises(const trend *t, uint32_t thing, measure m)
{
    unsigned n = 0;
    for (size_t i = 1; i < t->l->column_count; i++)
        n += number(t, i, thing, m) > number(t, i - 1, thing, m);
    return n;
}

/* Least squares; the order of dumps is taken as their time. */
static double slope(const trend *t, uint32_t thing, measure m)
{
    const double middle = (double)(t->l->column_count - 1) / 2;
    double       over = 0, under = 0;
    for (size_t i = 0; i < t->l->column_count; i++) {
        over += ((double)i - middle) * (double)number(t, i, thing, m);
        under += ((double)i - middle) * ((double)i - middle);
    }
    return over / under; /* at least two dumps */
}

static hdx_cell series(const trend *t, uint32_t thing, measure m, hdx_arena *arena)
{
    hdx_cell *at = hdx_arena_get(arena, t->l->column_count * sizeof *at);
    for (size_t i = 0; at != NULL && i < t->l->column_count; i++)
        at[i] = hdx_cell_uint(number(t, i, thing, m));
    return hdx_cell_list(at, at != NULL ? t->l->column_count : 0);
}

static void put_growth(const trend *t, uint32_t thing, hdx_arena *arena, hdx_cell *cells)
{
    const size_t   last = t->l->column_count - 1;
    const unsigned rose = rises(t, thing, t->of);
    const uint64_t first = number(t, 0, thing, t->of);
    cells[STEADY] = hdx_cell_bool(rose == last);
    cells[RISES] = hdx_cell_uint(rose);
    for (measure m = OBJECTS; m <= RETAINED; m++) {
        hdx_cell  *at = &cells[OBJECTS_FIRST + 3 * m];
        const bool known = m != RETAINED || t->retained;
        at[0] = known ? hdx_cell_uint(number(t, 0, thing, m)) : hdx_cell_null();
        at[1] = known ? hdx_cell_uint(number(t, last, thing, m)) : hdx_cell_null();
        at[2] = known ? hdx_cell_int(grown(t, thing, m)) : hdx_cell_null();
        cells[OBJECTS_SERIES + m] = known ? series(t, thing, m, arena) : hdx_cell_null();
    }
    cells[PERCENT] =
        first == 0 ? hdx_cell_null() : hdx_cell_real(100.0 * (double)grown(t, thing, t->of) / (double)first);
    cells[SLOPE] = hdx_cell_real(slope(t, thing, t->of));
}

/* Returns the growing children of a path, by name. */
static hdx_cell growing_children(const trend *t, uint32_t thing, hdx_arena *arena)
{
    uint64_t n = 0;
    for (uint32_t i = t->first_child != NULL ? t->first_child[thing] : NOTHING; i != NOTHING; i = t->next_sibling[i])
        n++;
    hdx_cell *at = hdx_arena_get(arena, n * sizeof *at);
    n = 0;
    for (uint32_t i = t->first_child != NULL ? t->first_child[thing] : NOTHING; at != NULL && i != NOTHING;
         i = t->next_sibling[i]) {
        hdx_member *m = hdx_arena_get(arena, HDX_COUNT(below_members) * sizeof *m);
        hdx_cell   *objects = hdx_arena_get(arena, t->l->column_count * sizeof *objects);
        if (m == NULL || objects == NULL)
            break;
        for (size_t c = 0; c < t->l->column_count; c++)
            objects[c] = hdx_cell_uint(value(t->l, c, i, OBJECTS));
        m[0] = (hdx_member){ below_members[0].name, hdx_cell_text(t->l->names[t->l->things[i].name]) };
        m[1] = (hdx_member){ below_members[1].name, hdx_cell_list(objects, t->l->column_count) };
        at[n++] = hdx_cell_object(m, HDX_COUNT(below_members));
    }
    return hdx_cell_list(at, n);
}

static hdx_code trend_next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    trend *t = state;
    *more = t->next < t->count;
    if (!*more)
        return HDX_OK;
    const uint32_t thing = t->order[t->next++];
    const bool     has_key = hdx_ledger_key(t->l, thing, &t->key, &cells[KEY]);
    put_growth(t, thing, arena, cells);
    if (t->by_path)
        cells[BELOW] = growing_children(t, thing, arena);
    if (t->by_leak)
        cells[LABEL] = hdx_cell_string(hdx_ledger_label_of(t->l, thing));
    return !has_key || arena->refused ? hdx_no_memory(err, "a row", t->key.len) : HDX_OK;
}

/* ---- choice and order of rows ---- */

/* Returns whether it existed in the first dump and rose by `least` objects from each dump to the next (SHARK 6.2). */
static bool rose_always(const hdx_ledger *l, uint32_t thing, uint64_t least)
{
    bool always = value(l, 0, thing, OBJECTS) > 0;
    for (size_t i = 1; always && i < l->column_count; i++) {
        const uint64_t was = value(l, i - 1, thing, OBJECTS), is = value(l, i, thing, OBJECTS);
        always = is > was && is - was >= least;
    }
    return always;
}

static hdx_code find_growing(trend *t, uint64_t least, hdx_error *err)
{
    const hdx_ledger *l = t->l;
    t->first_child = hdx_mem_raw(l->mem, l->count, sizeof *t->first_child);
    t->next_sibling = hdx_mem_raw(l->mem, l->count, sizeof *t->next_sibling);
    if (t->first_child == NULL || t->next_sibling == NULL)
        return hdx_no_memory(err, "paths that grow", 2 * l->count * sizeof *t->first_child);
    for (uint64_t i = 0; i < l->count; i++)
        t->first_child[i] = t->next_sibling[i] = NOTHING;
    for (uint64_t i = l->count; i-- > 0;) { /* so that lists are in the order in which paths were found */
        const uint32_t above = l->things[i].above;
        if (above == HDX_LEDGER_TOP || !rose_always(l, (uint32_t)i, least))
            continue;
        t->next_sibling[i] = t->first_child[above];
        t->first_child[above] = (uint32_t)i;
    }
    return HDX_OK;
}

static bool is_row(const trend *t, uint32_t thing, bool all)
{
    if (t->first_child == NULL)
        return all || grown(t, thing, t->of) > 0;
    const uint32_t above = t->l->things[thing].above;
    return t->first_child[thing] != NOTHING && (above == HDX_LEDGER_TOP || t->first_child[above] == NOTHING);
}

typedef struct ranked {
    bool              steady;
    int64_t           grown;
    const hdx_ledger *of;
    uint32_t          thing;
} ranked;

static int by_growth(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->steady != y->steady)
        return x->steady ? -1 : 1;
    if (x->grown != y->grown)
        return x->grown > y->grown ? -1 : 1;
    return hdx_ledger_compare(x->of, x->thing, y->thing);
}

static hdx_code put_in_order(trend *t, bool all, hdx_error *err)
{
    const hdx_ledger *l = t->l;
    ranked           *at = hdx_mem_array(l->mem, l->count, sizeof *at);
    t->order = hdx_mem_array(l->mem, l->count, sizeof *t->order);
    if (at != NULL && t->order != NULL) {
        for (uint32_t i = 0; i < l->count; i++)
            if (is_row(t, i, all))
                at[t->count++] = (ranked){ rises(t, i, t->of) == l->column_count - 1, grown(t, i, t->of), l, i };
        qsort(at, (size_t)t->count, sizeof *at, by_growth);
        for (uint64_t i = 0; i < t->count; i++)
            t->order[i] = at[i].thing;
    }
    const bool good = at != NULL && t->order != NULL;
    hdx_mem_put(l->mem, at, l->count * sizeof *at);
    return good ? HDX_OK : hdx_no_memory(err, "rows", l->count * sizeof *at);
}

/* ---- outliers ---- */

#define NORMAL 1.4826 /* factor from a median absolute deviation to a standard deviation, for normal distributions */

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t median(uint64_t *at, size_t n)
{
    qsort(at, n, sizeof *at, by_value);
    return n % 2 == 1 ? at[n / 2] : at[n / 2 - 1] / 2 + at[n / 2] / 2 + (at[n / 2 - 1] % 2 + at[n / 2] % 2) / 2;
}

/*
 * If more than half of the values are equal, the median deviation is 0, and any other value would be infinitely far
 * away: the mean deviation is used instead.
 */
static double spread(const uint64_t *values, uint64_t *scratch, size_t n, uint64_t middle)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        scratch[i] = values[i] > middle ? values[i] - middle : middle - values[i];
        sum += (double)scratch[i];
    }
    const uint64_t mad = median(scratch, n);
    return mad > 0 ? NORMAL * (double)mad : 1.2533 * sum / (double)n;
}

typedef struct outlier {
    double   deviations;
    uint32_t column, thing; /* HDX_LEDGER_TOP: the heap as a whole */
    uint64_t value, median;
} outlier;

typedef struct outliers {
    hdx_ledger *l;
    outlier    *at;
    uint64_t    count, capacity, next;
    hdx_buffer  key;
} outliers;

static void outliers_close(void *state)
{
    outliers *o = state;
    hdx_mem  *mem = o->l->mem;
    hdx_buffer_free(&o->key);
    hdx_mem_put(mem, o->at, o->capacity * sizeof *o->at);
    hdx_ledger_close(o->l);
    hdx_mem_put(mem, o, sizeof *o);
}

static hdx_code outliers_next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    outliers *o = state;
    (void)arena;
    *more = o->next < o->count;
    if (!*more)
        return HDX_OK;
    const outlier *is = &o->at[o->next++];
    cells[OUTLIER_KEY] = hdx_cell_null();
    const bool has_key = is->thing == HDX_LEDGER_TOP || hdx_ledger_key(o->l, is->thing, &o->key, &cells[OUTLIER_KEY]);
    cells[OUTLIER_DUMP] = hdx_cell_string(o->l->columns[is->column].path);
    cells[OUTLIER_DEVIATIONS] = hdx_cell_real(is->deviations);
    cells[OUTLIER_VALUE] = hdx_cell_uint(is->value);
    cells[OUTLIER_MEDIAN] = hdx_cell_uint(is->median);
    return has_key ? HDX_OK : hdx_no_memory(err, "a row", o->key.len);
}

/* The heap as a whole first; then the largest distance from the median in bytes or objects. */
static int by_distance(const void *a, const void *b)
{
    const outlier *x = a, *y = b;
    if ((x->thing == HDX_LEDGER_TOP) != (y->thing == HDX_LEDGER_TOP))
        return x->thing == HDX_LEDGER_TOP ? -1 : 1;
    const uint64_t p = x->value > x->median ? x->value - x->median : x->median - x->value,
                   q = y->value > y->median ? y->value - y->median : y->median - y->value;
    if (p != q)
        return p > q ? -1 : 1;
    if (x->thing != y->thing)
        return x->thing < y->thing ? -1 : 1;
    return (x->column > y->column) - (x->column < y->column);
}

static hdx_code find_outliers(outliers *o, measure m, double least, hdx_error *err)
{
    const hdx_ledger *l = o->l;
    const size_t      n = l->column_count;
    uint64_t         *values = hdx_mem_array(l->mem, n, sizeof *values), *scratch = hdx_mem_array(l->mem, n, 8);
    hdx_code          code = values == NULL || scratch == NULL ? hdx_no_memory(err, "values", 16 * n) : HDX_OK;
    for (uint64_t i = 0; code == HDX_OK && i <= l->count; i++) { /* the last: the heap as a whole */
        const uint32_t thing = i < l->count ? (uint32_t)i : HDX_LEDGER_TOP;
        for (size_t c = 0; c < n; c++)
            scratch[c] = values[c] = thing != HDX_LEDGER_TOP ? value(l, c, thing, m)
                                     : m == OBJECTS          ? l->columns[c].live_objects
                                                             : l->columns[c].live_bytes;
        const uint64_t middle = median(scratch, n);
        const double   width = spread(values, scratch, n, middle);
        for (size_t c = 0; width > 0 && c < n; c++) {
            const double far = ((double)values[c] - (double)middle) / width;
            if (fabs(far) < least)
                continue;
            if (!hdx_mem_room(l->mem, (void **)&o->at, &o->capacity, o->count, sizeof *o->at)) {
                code = hdx_no_memory(err, "outliers", o->count * sizeof *o->at);
                break;
            }
            o->at[o->count++] = (outlier){ far, (uint32_t)c, thing, values[c], middle };
        }
    }
    hdx_mem_put(l->mem, values, n * sizeof *values);
    hdx_mem_put(l->mem, scratch, n * sizeof *scratch);
    if (code == HDX_OK && o->count > 1)
        qsort(o->at, (size_t)o->count, sizeof *o->at, by_distance);
    return code;
}

static hdx_code outlier_rows(hdx_ledger *l, const hdx_arguments *a, measure m, hdx_rows **out, hdx_error *err)
{
    outliers *o = hdx_mem_get(l->mem, sizeof *o);
    if (o == NULL) {
        hdx_ledger_close(l);
        return hdx_no_memory(err, "outliers", sizeof *o);
    }
    *o = (outliers){ .l = l, .key = hdx_buffer_of(l->mem) };
    const hdx_code code = find_outliers(o, m, (double)hdx_argument_number(a, "deviations"), err);
    if (code != HDX_OK) {
        outliers_close(o);
        return code;
    }
    const hdx_rows_maker maker = { outlier_columns, HDX_COUNT(outlier_columns), o, outliers_next, outliers_close,
                                   o->count };
    return hdx_rows_make_in(l->mem, &maker, out, err);
}

/* ---- the answer ---- */

static hdx_code growth_rows(hdx_ledger *l, const hdx_arguments *a, measure m, hdx_rows **out, hdx_error *err)
{
    const hdx_compare_by by = hdx_compare_by_of(a);
    const bool           all = hdx_argument_flag(a, "all");
    trend               *t = hdx_mem_get(l->mem, sizeof *t);
    hdx_code             code = HDX_OK;
    if (t == NULL) {
        hdx_ledger_close(l);
        return hdx_no_memory(err, "a trend", sizeof *t);
    }
    *t = (trend){ .l = l,
                  .of = m,
                  .by_path = by == HDX_COMPARE_PATH,
                  .by_leak = by == HDX_COMPARE_LEAK,
                  .retained = m == RETAINED || by > HDX_COMPARE_LOADER, /* other answers compute it in any case */
                  .room = l->count,
                  .key = hdx_buffer_of(l->mem) };
    if (t->by_path && !all)
        code = find_growing(t, hdx_argument_number(a, "loops"), err);
    if (code == HDX_OK)
        code = put_in_order(t, all, err);
    if (code != HDX_OK) {
        trend_close(t);
        return code;
    }
    const hdx_rows_maker maker = { by == HDX_COMPARE_CLASS ? class_columns
                                   : t->by_path            ? path_columns
                                   : t->by_leak            ? leak_columns
                                                           : key_columns,
                                   t->by_path || t->by_leak ? ONE_MORE : COLUMNS,
                                   t,
                                   trend_next,
                                   trend_close,
                                   t->count };
    return hdx_rows_make_in(l->mem, &maker, out, err);
}

static hdx_code add_title(const hdx_ledger_column *first, const hdx_ledger_column *last, size_t dumps, bool outlying,
                          hdx_rows *rows, hdx_error *err)
{
    char       a[16], b[16];
    hdx_buffer text = hdx_buffer_of(NULL);
    hdx_human_size(first->live_bytes, a);
    hdx_human_size(last->live_bytes, b);
    if (outlying)
        hdx_buffer_format(&text, "%zu dumps", dumps);
    else
        hdx_buffer_format(&text, "%zu dumps, from %s (%s live) to %s (%s)", dumps, first->path, a, last->path, b);
    const hdx_code code =
        text.failed ? hdx_no_memory(err, "a title", text.len) : hdx_rows_set_title(rows, text.at, err);
    hdx_buffer_free(&text);
    return code;
}

hdx_code hdx_compare_trend_rows(hdx_ledger *l, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    const measure m = (measure)hdx_argument_choice(a, "of");
    const bool    outlying = hdx_argument_flag(a, "outliers");
    hdx_cell      heads = hdx_cell_null();
    hdx_arena     arena = hdx_arena_of(l->mem);
    /* the memory of their texts lives as long as the rows */
    const size_t            dumps = l->column_count;
    const hdx_ledger_column first = l->columns[0], last = l->columns[dumps - 1];
    *out = NULL;
    hdx_code code = hdx_ledger_heads(l, &arena, &heads, err);
    if (code == HDX_OK)
        code = outlying ? outlier_rows(l, a, m, out, err) : growth_rows(l, a, m, out, err);
    else
        hdx_ledger_close(l);
    if (code == HDX_OK) {
        hdx_arena_join(hdx_rows_arena(*out), &arena);
        if ((code = hdx_rows_add_extra(*out, "dumps", heads, err)) != HDX_OK ||
            (code = add_title(&first, &last, dumps, outlying, *out, err)) != HDX_OK) {
            hdx_rows_close(*out);
            *out = NULL;
        }
    }
    hdx_arena_free(&arena);
    return hdx_rows_explain_empty(code, out, err, "%s",
                                  outlying ? "no dump differs that much from the others"
                                           : "nothing grew from the first dump to the last; --all shows all rows");
}

hdx_code hdx_compare_trend_check(const hdx_arguments *a, size_t dumps, hdx_error *err)
{
    const size_t least = hdx_argument_flag(a, "outliers") ? 5 : 2;
    if (dumps >= least)
        return HDX_OK;
    return hdx_hint(err,
                    hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "%s at least %zu dumps, but there %s %zu",
                             least == 2 ? "trend needs" : "--outliers needs", least, dumps == 1 ? "is" : "are", dumps),
                    "name the dumps in order, or a folder with dumps");
}

/* ---- declared ---- */

static const hdx_column document[] = {
    HDX_NESTED("dumps", LIST, 0, "dumps in order", hdx_ledger_head_members),
};

static const hdx_parameter parameters[] = {
    { .name = "by",
      .kind = HDX_PARAMETER_CHOICE,
      .value = "KEY",
      .choices = "class package loader dominator path leak",
      .preset = "class",
      .sentence = "what each row covers; default: class; path shows where objects are added in every step" },
    { .name = "of",
      .kind = HDX_PARAMETER_CHOICE,
      .value = "WHAT",
      .choices = "objects shallow retained", /* measure in its order */
      .preset = "retained",
      .sentence = "value that must grow; objects and shallow are faster; default: retained" },
    { .name = "depth",
      .kind = HDX_PARAMETER_NUMBER,
      .value = "N",
      .preset = "3",
      .least = 1,
      .most = HDX_COMPARE_DEPTH,
      .sentence = "with --by dominator: levels of the tree; default: 3" },
    { .name = "loops",
      .kind = HDX_PARAMETER_NUMBER,
      .value = "N",
      .preset = "1",
      .least = 1,
      .most = UINT64_MAX,
      .sentence = "with --by path: objects that each step must add, such as the repetitions of a test between two "
                  "dumps; default: 1" },
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
    { .name = "application",
      .kind = HDX_PARAMETER_TEXT,
      .value = "NAME",
      .sentence = "in an output folder of heapdex batch: use only dumps of this application; required if there are "
                  "several, except with --outliers" },
    { .name = "all", .kind = HDX_PARAMETER_FLAG, .excludes = "outliers", .sentence = "include rows that did not grow" },
    { .name = "outliers",
      .kind = HDX_PARAMETER_FLAG,
      .sentence = "show dumps that differ most from the others, not growth" },
    { .name = "deviations",
      .kind = HDX_PARAMETER_NUMBER,
      .value = "N",
      .preset = "5",
      .needs = "outliers",
      .least = 1,
      .most = 1000000,
      .sentence = "with --outliers: smallest distance to report; default: 5" },
};

const hdx_answer hdx_compare_trend = {
    .name = "trend",
    .flags = HDX_ANSWER_DUMPS | HDX_ANSWER_TOGETHER | HDX_ANSWER_HEAP | HDX_ANSWER_LONG,
    .sentence = "show growth over several dumps, or outliers among many dumps",
    .more = "Dumps are compared in the order given; dumps in a folder, or in an output folder of heapdex batch, in the "
            "order of their creation times. Rows whose value rose from every dump to the next come first. With "
            "--outliers, dumps are compared as a group, such as those of one batch: a row names a dump and a value far "
            "above or below the median.",
    .examples = { "heapdex trend before.hprof after.hprof", "heapdex trend before.hprof after.hprof --by package --of "
                                                            "shallow" },
    .forms = forms,
    .form_count = HDX_COUNT(forms),
    .document = document,
    .document_count = HDX_COUNT(document),
    .parameters = parameters,
    .parameter_count = HDX_COUNT(parameters),
};
