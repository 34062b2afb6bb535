/*
 * shape.c - the parameters of all answers about rows: conditions, order, limit and columns.
 *
 * In:  the arguments, and the columns of the form that they choose.
 * Out: before the question runs, what is wanted of it (hdx_wanted); afterwards its rows, shaped.
 *
 * A column that needs reads of the dump (HDX_COLUMN_LATE) is computed only for the rows that remain, unless a condition
 * or the order needs it for all rows. Then conditions on other columns are applied first.
 */
#include "answer/answer.h"

const char *hdx_answer_last(const hdx_arguments *a, const char *name)
{
    for (size_t i = a->count; i-- > 0;)
        if (strcmp(a->at[i].name, name) == 0)
            return a->at[i].value;
    return NULL;
}

/* ---- conditions on fields ---- */

/*
 * Returns whether a condition is about a field: its name is not a column, or has a dot in front (".size > 100").
 * "object" selects a column by its kind, but is a field if no column has exactly that name.
 */
static bool is_of_field(const hdx_arguments *a, const hdx_column *columns, unsigned count, const char *text)
{
    hdx_text name;
    unsigned column;
    return (a->answer->flags & HDX_ANSWER_MEMBERS) != 0 && hdx_condition_name(text, &name) &&
           (name.at[0] == '.' || !hdx_condition_column(columns, count, text, &column) ||
            (hdx_text_is(name, "object") && !hdx_text_is(name, columns[column].name)));
}

hdx_code hdx_answer_fields(const hdx_arguments *a, const hdx_form *form, hdx_arena *arena, hdx_query *q, hdx_error *err)
{
    const char **fields = hdx_arena_get(arena, (a->count + 1) * sizeof *fields);
    if (fields == NULL)
        return hdx_no_memory(err, "conditions", a->count * sizeof *fields);
    q->fields = fields;
    q->field_count = 0;
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(a->at[i].name, "where") == 0 && is_of_field(a, form->columns, form->column_count, a->at[i].value))
            fields[q->field_count++] = a->at[i].value;
    return HDX_OK;
}

/* Reports a malformed condition before an index is built. */
static hdx_code check_condition(const char *text, hdx_error *err)
{
    hdx_condition *c;
    const hdx_code code = hdx_condition_open(text, NULL, &c, err);
    hdx_condition_close(c);
    return code;
}

/* ---- which columns ---- */

typedef struct use {
    uint64_t decide, show; /* bit i: column i is used by conditions or the order; is shown */
    uint64_t late;
} use;

static size_t sort_name(const char *how)
{
    const char *colon = strrchr(how, ':');
    return colon != NULL ? (size_t)(colon - how) : strlen(how);
}

static use use_of(const hdx_arguments *a, const hdx_column *columns, unsigned count)
{
    const char    *order = hdx_answer_last(a, "sort"), *chosen = hdx_answer_last(a, "columns");
    const uint64_t all = count < 64 ? (1ull << count) - 1 : UINT64_MAX;
    use            u = { 0, chosen == NULL ? all : hdx_columns_named(columns, count, chosen, strlen(chosen)), 0 };
    if (order != NULL)
        u.decide = hdx_columns_named(columns, count, order, sort_name(order));
    for (size_t i = 0; i < a->count; i++) {
        unsigned column;
        if (strcmp(a->at[i].name, "where") == 0 && hdx_condition_column(columns, count, a->at[i].value, &column))
            u.decide |= 1ull << (column & 63);
    }
    for (unsigned i = 0; i < count; i++)
        if ((columns[i].flags & HDX_COLUMN_LATE) != 0)
            u.late |= 1ull << (i & 63);
    return u;
}

/* Merges both ends of a range of a column into one bound: sources use only the first bound of a column. */
static void add_bound(hdx_wanted *wanted, const hdx_bound *bound)
{
    for (unsigned i = 0; i < wanted->bound_count; i++) {
        hdx_bound *is = &wanted->bounds[i];
        if (is->column != bound->column || is->text != NULL || bound->text != NULL)
            continue;
        is->least = is->least > bound->least ? is->least : bound->least;
        is->most = is->most < bound->most ? is->most : bound->most;
        return;
    }
    if (wanted->bound_count < HDX_MOST_BOUNDS)
        wanted->bounds[wanted->bound_count++] = *bound;
}

hdx_wanted hdx_answer_wanted(const hdx_arguments *a, const hdx_form *form, hdx_arena *arena)
{
    hdx_wanted wanted = { 0 };
    if (form->column_count == 0 || form->column_count > 64)
        return wanted;
    const use  u = use_of(a, form->columns, form->column_count);
    const bool chosen = hdx_answer_last(a, "columns") != NULL;
    wanted.named = u.decide | (chosen ? u.show : 0);
    wanted.columns = (u.decide | u.show) & ~u.late;
    for (size_t i = 0; i < a->count; i++) {
        hdx_bound bound;
        if (strcmp(a->at[i].name, "where") == 0 &&
            hdx_condition_bound(form->columns, form->column_count, a->at[i].value, arena, &bound))
            add_bound(&wanted, &bound);
    }
    return wanted;
}

hdx_whole hdx_answer_decides_by(const hdx_arguments *a, const hdx_form *form)
{
    const use u = use_of(a, form->columns, form->column_count);
    hdx_whole whole = HDX_CUT;
    for (unsigned i = 0; i < form->column_count && i < 64; i++) {
        const hdx_column *c = &form->columns[i];
        if ((u.decide >> i & 1) == 0 || c->type != HDX_TYPE_TEXT || (c->flags & HDX_COLUMN_CLASS_NAME) != 0)
            continue;
        if ((c->flags & HDX_COLUMN_LABEL) != 0)
            return HDX_WHOLE_BYTES;
        whole = HDX_WHOLE_TEXTS; /* such as names of threads and loaders */
    }
    return whole;
}

/* ---- shaping ---- */

/* Default order: sizes and counts descend, names and addresses ascend. */
static hdx_code sort(hdx_rows **rows, const char *how, hdx_error *err)
{
    char              column[128];
    const char       *colon = strrchr(how, ':');
    const size_t      len = sort_name(how);
    unsigned          count;
    const hdx_column *columns = hdx_rows_columns(*rows, &count);
    if (len >= sizeof column)
        return hdx_answer_or_close(
            rows, hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "--sort: the name of the column is too long"));
    memcpy(column, how, len);
    column[len] = '\0';
    bool           descending = colon != NULL && strcmp(colon, ":desc") == 0;
    const unsigned place = hdx_column_place(columns, count, (hdx_text){ column, (uint32_t)len });
    if (colon == NULL && place < count)
        descending = columns[place].unit != HDX_UNIT_NONE;
    return hdx_rows_sort(rows, column, descending, err);
}

/* Applies the conditions on late columns, or those on all others. */
static hdx_code where(const hdx_arguments *a, bool asked, bool of_late, hdx_rows **rows, hdx_error *err)
{
    hdx_code code = HDX_OK;
    for (size_t i = 0; code == HDX_OK && i < a->count; i++) {
        unsigned          count, column;
        const hdx_column *columns = hdx_rows_columns(*rows, &count);
        if (strcmp(a->at[i].name, "where") != 0)
            continue;
        if (is_of_field(a, columns, count, a->at[i].value)) { /* applied by the question */
            if (!asked && (code = check_condition(a->at[i].value, err)) != HDX_OK)
                return hdx_answer_or_close(rows, code);
            continue;
        }
        const bool late = hdx_condition_column(columns, count, a->at[i].value, &column) &&
                          (columns[column].flags & HDX_COLUMN_LATE) != 0;
        if (late == of_late)
            code = hdx_rows_where(rows, a->at[i].value, err);
    }
    return code;
}

/* Computes late columns: for the rows that remain, or earlier if a condition or the order needs them. */
static hdx_code make_late(const hdx_query *q, uint64_t which, bool all_at_once, hdx_rows **rows, hdx_error *err)
{
    unsigned          count;
    const hdx_column *columns = hdx_rows_columns(*rows, &count);
    hdx_code          code = HDX_OK;
    for (unsigned i = 0; code == HDX_OK && i < count && i < 64; i++)
        if ((which >> i & 1) != 0)
            code = (columns[i].flags & HDX_COLUMN_LABEL) != 0 ? hdx_query_labels(q, all_at_once, rows, err)
                                                              : hdx_query_fields(q, rows, err);
    return code;
}

/* Keeps the page that --limit and --after select. */
static hdx_code page(const hdx_arguments *a, uint32_t mark, hdx_rows **rows, hdx_error *err)
{
    const char *limit = hdx_answer_last(a, "limit"), *after = hdx_answer_last(a, "after");
    uint64_t    most = 0, skip = 0;
    uint32_t    of;
    if (hdx_argument_declared(a, "limit"))
        return HDX_OK;
    if (limit != NULL)
        (void)hdx_size_of(limit, &most);
    if (after != NULL)
        (void)hdx_cursor_parse(after, &skip, &of);
    return most == 0 && skip == 0 ? HDX_OK : hdx_rows_page(rows, skip, most, mark, err);
}

hdx_code hdx_answer_shape(const hdx_arguments *a, const hdx_query *q, uint32_t mark, hdx_rows **rows, hdx_error *err)
{
    const char       *order = hdx_answer_last(a, "sort"), *chosen = hdx_answer_last(a, "columns");
    unsigned          count;
    const hdx_column *columns = hdx_rows_columns(*rows, &count);
    const use         u = use_of(a, columns, count);
    const uint64_t    late =
        q != NULL && q->wanted.columns != 0 ? u.late : 0; /* otherwise the rows are complete already */
    hdx_code code = where(a, q != NULL, false, rows, err);
    if (code == HDX_OK)
        code = make_late(q, late & u.decide, true, rows, err);
    if (code == HDX_OK)
        code = where(a, q != NULL, true, rows, err);
    if (code == HDX_OK && order != NULL)
        code = sort(rows, order, err);
    if (code == HDX_OK)
        code = page(a, mark, rows, err);
    if (code == HDX_OK)
        code = make_late(q, late & u.show & ~u.decide, false, rows, err);
    if (code == HDX_OK && chosen != NULL)
        code = hdx_rows_select(rows, chosen, err);
    return code;
}
