/*
 * shape.c - selects columns, and finds a column by the name that a caller wrote.
 */
#include "base/nearest.h"
#include "rows/cursor.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- columns by name ---- */

/* Returns the index of the first column with all of these flags; `count`: none. */
static unsigned column_with_flags(const hdx_column *columns, unsigned count, unsigned flags)
{
    unsigned i = 0;
    while (i < count && (columns[i].flags & flags) != flags)
        i++;
    return i;
}

/* The name "object" means two columns, class and label, which tables show as one. */
static bool is_object_pair(const hdx_column *columns, unsigned count, hdx_text name)
{
    return hdx_text_is(name, "object") && column_with_flags(columns, count, HDX_COLUMN_LABEL) < count &&
           column_with_flags(columns, count, HDX_COLUMN_CLASS_NAME) < count;
}

unsigned hdx_column_place(const hdx_column *columns, unsigned count, hdx_text name)
{
    for (unsigned i = 0; i < count; i++)
        if (hdx_text_is(name, columns[i].name))
            return i;
    for (unsigned i = 0; i < count && hdx_text_is(name, "%"); i++)
        if (strcmp(columns[i].name, "percent") == 0)
            return i;
    return is_object_pair(columns, count, name) ? column_with_flags(columns, count, HDX_COLUMN_CLASS_NAME) : count;
}

hdx_code hdx_rows_find(const hdx_rows *rows, const char *name, size_t len, unsigned *column, hdx_error *err)
{
    char        list[192] = "";
    size_t      used = 0;
    char        wanted[64];
    hdx_nearest nearest = { .wanted = wanted };
    (void)snprintf(wanted, sizeof wanted, "%.*s", (int)(len < sizeof wanted ? len : sizeof wanted - 1), name);
    *column = len > UINT32_MAX ? rows->column_count
                               : hdx_column_place(rows->columns, rows->column_count, (hdx_text){ name, (uint32_t)len });
    if (*column < rows->column_count)
        return HDX_OK;
    for (unsigned i = 0; i < rows->column_count; i++) {
        const char *has = rows->columns[i].name;
        hdx_nearest_offer(&nearest, has);
        size_t need = strlen(has) + (used == 0 ? 0 : 2);
        if (used + need < sizeof list) {
            if (used != 0)
                memcpy(list + used, ", ", 2);
            memcpy(list + used + need - strlen(has), has, strlen(has) + 1);
            used += need;
        }
    }
    hdx_code code = hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "no column \"%.*s\"; columns: %s",
                             (int)(len > 40 ? 40 : len), name, list);
    return nearest.best != NULL ? hdx_hint(err, code, "did you mean %s?", nearest.best) : code;
}

/* ---- select ---- */

typedef struct selection {
    hdx_column *columns;
    unsigned   *from; /* column below */
    hdx_cell   *cells;
    hdx_vector *vectors; /* one per column below; NULL: the cursor below has no runs */
    unsigned    count;
} selection;

static void free_selection(selection *s)
{
    if (s == NULL)
        return;
    free(s->columns);
    free(s->from);
    free(s->cells);
    free(s->vectors);
    free(s);
}

static hdx_code select_next(hdx_rows *rows, const hdx_cell **row, hdx_error *err)
{
    selection *s = rows->state;
    hdx_code   code = hdx_rows_pull(rows, row, err);
    if (code != HDX_OK || *row == NULL)
        return code;
    for (unsigned i = 0; i < s->count; i++)
        s->cells[i] = (*row)[s->from[i]];
    *row = s->cells;
    return HDX_OK;
}

static hdx_code select_run(hdx_rows *rows, uint32_t most, hdx_vector *out, uint32_t *count, hdx_error *err)
{
    const selection *s = rows->state;
    const hdx_code   code = hdx_rows_run(rows->below, most, s->vectors, count, err);
    for (unsigned i = 0; i < s->count; i++)
        out[i] = s->vectors[s->from[i]];
    return code;
}

static void select_close(hdx_rows *rows) { free_selection(rows->state); }

static hdx_sums select_total(const hdx_rows *rows) { return hdx_rows_total(rows->below); }

static const char *trim(const char *from, size_t *len)
{
    while (*len > 0 && (*from == ' ' || *from == '\t')) {
        from++;
        (*len)--;
    }
    while (*len > 0 && (from[*len - 1] == ' ' || from[*len - 1] == '\t'))
        (*len)--;
    return from;
}

uint64_t hdx_columns_named(const hdx_column *columns, unsigned count, const char *names, size_t len)
{
    uint64_t bits = 0;
    for (size_t at = 0, part; at <= len; at += part + 1) {
        const char *comma = memchr(names + at, ',', len - at);
        part = comma != NULL ? (size_t)(comma - (names + at)) : len - at;
        size_t         name_len = part;
        const char    *name = trim(names + at, &name_len);
        const hdx_text one = { name, (uint32_t)name_len };
        const unsigned place = hdx_column_place(columns, count, one);
        if (place < count && place < 64)
            bits |= 1ull << place;
        const unsigned label = column_with_flags(columns, count, HDX_COLUMN_LABEL);
        if (place < count && !hdx_text_is(one, columns[place].name) && is_object_pair(columns, count, one) &&
            label < 64)
            bits |= 1ull << label;
    }
    return bits;
}

static selection *new_selection(const char *columns)
{
    selection *s = calloc(1, sizeof *s);
    size_t     most = 1;
    for (const char *c = columns; *c != '\0'; c++)
        most += *c == ',';
    most *= 2; /* "object" means two columns */
    if (s == NULL)
        return NULL;
    s->columns = calloc(most, sizeof *s->columns);
    s->from = calloc(most, sizeof *s->from);
    s->cells = calloc(most, sizeof *s->cells);
    if (s->columns != NULL && s->from != NULL && s->cells != NULL)
        return s;
    free_selection(s);
    return NULL;
}

static void add_selected(selection *s, const hdx_rows *rows, unsigned from)
{
    s->columns[s->count] = rows->columns[from];
    s->columns[s->count].flags &= ~(unsigned)HDX_COLUMN_WIDE; /* named by the caller, so shown */
    s->columns[s->count].flags |= HDX_COLUMN_CHOSEN;
    s->from[s->count++] = from;
}

hdx_code hdx_rows_select(hdx_rows **rows, const char *columns, hdx_error *err)
{
    selection *s = new_selection(columns);
    hdx_code   code;
    if (s == NULL)
        return hdx_rows_drop(rows, hdx_no_memory(err, "columns", strlen(columns)));
    for (const char *at = columns;; at++) {
        size_t      len = strcspn(at, ","), name_len = len;
        const char *name = trim(at, &name_len);
        unsigned    from;
        if ((code = hdx_rows_find(*rows, name, name_len, &from, err)) != HDX_OK) {
            free_selection(s);
            return hdx_rows_drop(rows, code);
        }
        add_selected(s, *rows, from);
        if (!hdx_text_is((hdx_text){ name, (uint32_t)name_len }, (*rows)->columns[from].name) &&
            (*rows)->columns[from].unit != HDX_UNIT_PERCENT)
            add_selected(s, *rows, column_with_flags((*rows)->columns, (*rows)->column_count, HDX_COLUMN_LABEL));
        at += len;
        if (*at == '\0')
            break;
    }
    if (hdx_rows_runs(*rows) && (s->vectors = calloc((*rows)->column_count + 1u, sizeof *s->vectors)) == NULL) {
        free_selection(s);
        return hdx_rows_drop(rows, hdx_no_memory(err, "columns", sizeof *s->vectors));
    }
    if ((code = hdx_rows_over(rows, HDX_SHAPE_SELECT, s, err)) != HDX_OK) {
        free_selection(s);
        return code;
    }
    (*rows)->wanted = 0;
    (*rows)->columns = s->columns;
    (*rows)->column_count = s->count;
    (*rows)->next = select_next;
    (*rows)->run = s->vectors != NULL ? select_run : NULL;
    (*rows)->close = select_close;
    (*rows)->total = select_total;
    return HDX_OK;
}
