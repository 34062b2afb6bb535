/*
 * where.c - rows that meet a condition "COLUMN OPERATOR VALUE" (rows.h defines the operators and values).
 *
 * In:  the condition as text, parsed once.
 * Out: the rows of the cursor below that meet it.
 */
#include "rows/cursor.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef enum relation { EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, MATCHES } relation;

struct hdx_condition {
    unsigned   column;
    relation   is;
    bool       is_null, is_number, is_bool;
    hdx_cell   number; /* the value if is_number */
    bool       boolean;
    char      *text; /* the value as written, without quotes */
    size_t     len;
    hdx_regex *pattern; /* for ~ */
    uint64_t   left_out;
    /* For runs (rows.h): the matching rows of a run, column by column, and the verdicts on its shared texts. */
    uint64_t *matched, *matched_there;
    hdx_text *matched_texts;
    uint8_t  *verdicts;
    uint32_t  verdict_count;
    unsigned  matched_columns;
    hdx_mem  *mem;
};
typedef struct hdx_condition condition;

/* ---- parsing ---- */

static const char *skip_space(const char *s)
{
    while (*s == ' ' || *s == '\t')
        s++;
    return s;
}

static bool parse_operator(const char **at, relation *out)
{
    static const struct {
        const char *text;
        relation    is;
    } operators[] = {
        { "!=", NOT_EQUAL }, { "<=", LESS_EQUAL }, { ">=", GREATER_EQUAL }, { "==", EQUAL },
        { "=", EQUAL },      { "<", LESS },        { ">", GREATER },        { "~", MATCHES },
    };
    for (unsigned i = 0; i < sizeof operators / sizeof *operators; i++)
        if (strncmp(*at, operators[i].text, strlen(operators[i].text)) == 0) {
            if (strspn(*at, "=!<>~") != strlen(operators[i].text))
                return false;
            *at += strlen(operators[i].text);
            *out = operators[i].is;
            return true;
        }
    return false;
}

/* K, M, G, T and P, optionally followed by B or iB, are powers of 1024; % and B alone are 1. False: another suffix. */
static bool parse_suffix(const char *s, uint64_t *factor)
{
    static const char letters[] = "KkMmGgTtPp";
    s = skip_space(s);
    const char *letter = *s == '\0' ? NULL : strchr(letters, *s);
    *factor = 1;
    if (strcmp(s, "") == 0 || strcmp(s, "%") == 0 || strcmp(s, "B") == 0)
        return true;
    if (letter == NULL)
        return false;
    *factor = 1ull << (10 * ((letter - letters) / 2 + 1));
    s++;
    return strcmp(s, "") == 0 || strcmp(s, "B") == 0 || strcmp(s, "iB") == 0;
}

static bool parse_number(const char *s, hdx_cell *out)
{
    bool        negative = *s == '-';
    uint64_t    factor, size;
    char       *end;
    const char *digits = s + (*s == '-' || *s == '+');
    if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')) {
        if (negative || digits[2] == '\0' || strspn(digits + 2, "0123456789abcdefABCDEF") != strlen(digits + 2) ||
            strlen(digits + 2) > 16)
            return false;
        *out = hdx_cell_uint(strtoull(digits + 2, NULL, 16));
        return true;
    }
    size_t whole = strspn(digits, "0123456789");
    if (whole > 0 && digits[whole] != '.' && digits[whole] != 'e' && digits[whole] != 'E') {
        errno = 0;
        size = strtoull(digits, &end, 10);
        if (!parse_suffix(end, &factor))
            return false;
        if (errno == 0 && hdx_mul(size, factor, &size) && (!negative || size <= (uint64_t)INT64_MAX)) {
            *out = negative ? hdx_cell_int(-(int64_t)size) : hdx_cell_uint(size);
            return true;
        }
    }
    if (strspn(digits, "0123456789.") == 0) /* refuses "inf", "nan" and hexadecimal reals, which strtod accepts */
        return false;
    double real = strtod(digits, &end);
    if (end == digits || !parse_suffix(end, &factor))
        return false;
    *out = hdx_cell_real((negative ? -real : real) * (double)factor);
    return !isnan(out->as.real);
}

static void free_condition(condition *c)
{
    if (c == NULL)
        return;
    hdx_regex_close(c->pattern);
    free(c->text);
    const uint64_t cells = (uint64_t)c->matched_columns * HDX_RUN_ROWS;
    hdx_mem_put(c->mem, c->matched, cells * sizeof *c->matched);
    hdx_mem_put(c->mem, c->matched_there, cells / 64 * sizeof *c->matched_there);
    hdx_mem_put(c->mem, c->matched_texts, cells * sizeof *c->matched_texts);
    hdx_mem_put(c->mem, c->verdicts, c->verdict_count);
    free(c);
}

static hdx_code parse_value(condition *c, const char *at, const char *whole, const hdx_progress *progress,
                            hdx_error *err)
{
    size_t len = strlen(at);
    bool   quoted;
    while (len > 0 && (at[len - 1] == ' ' || at[len - 1] == '\t'))
        len--;
    quoted = len >= 2 && (at[0] == '\'' || at[0] == '"') && at[len - 1] == at[0];
    if (len == 0)
        return hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "condition \"%.80s\" has no value", whole);
    if (quoted) {
        at++;
        len -= 2;
    }
    if ((c->text = malloc(len + 1)) == NULL)
        return hdx_no_memory(err, "a condition", len);
    memcpy(c->text, at, len);
    c->text[len] = '\0';
    c->len = len;
    if (c->is == MATCHES)
        return hdx_regex_open(c->text, c->len, progress, &c->pattern, err);
    if (!quoted) {
        c->is_null = strcmp(c->text, "null") == 0;
        c->boolean = strcmp(c->text, "true") == 0;
        c->is_bool = c->boolean || strcmp(c->text, "false") == 0;
        c->is_number = parse_number(c->text, &c->number);
    }
    return HDX_OK;
}

/* Finds the name of the column and its length. Returns the start of the value; NULL: no column or no operator. */
static const char *parse_head(const char *text, const char **name, size_t *len, relation *is)
{
    *name = skip_space(text);
    *len = strcspn(*name, " \t=!<>~");
    const char *at = skip_space(*name + *len);
    return *len > 0 && parse_operator(&at, is) ? skip_space(at) : NULL;
}

/* Refuses a value that cannot be compared with the cells of the column: the answer would be empty without a reason. */
static hdx_code check_type(const condition *c, const hdx_column *column, const char *whole, hdx_error *err)
{
    static const struct {
        const char *what, *hint;
    } types[] = {
        [HDX_TYPE_UNSIGNED] = { "a number", "numbers are 12, -3, 1.5, 0x7f, 10K, 5M, 2GB (powers of 1024) and 10%" },
        [HDX_TYPE_SIGNED] = { "a number", "numbers are 12, -3, 1.5, 0x7f, 10K, 5M, 2GB (powers of 1024) and 10%" },
        [HDX_TYPE_REAL] = { "a number", "numbers are 12, -3, 1.5, 0x7f, 10K, 5M, 2GB (powers of 1024) and 10%" },
        [HDX_TYPE_BOOL] = { "true or false", "write true, false or null" },
        [HDX_TYPE_ADDRESS] = { "an address", "write addresses as 0x7f3a10" },
    };
    const hdx_type type = column->type;
    if (c->is_null && c->is != EQUAL && c->is != NOT_EQUAL && c->is != MATCHES)
        return hdx_hint(err,
                        hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE,
                                 "condition \"%.80s\": null cannot be compared with < or >", whole),
                        "use null only after = or !=");
    if (c->is == MATCHES || c->is_null || type == HDX_TYPE_TEXT || type == HDX_TYPE_ANY)
        return HDX_OK;
    if (type == HDX_TYPE_LIST || type == HDX_TYPE_OBJECT)
        return hdx_hint(err,
                        hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "condition \"%.80s\": %s is a%s", whole, column->name,
                                 type == HDX_TYPE_LIST ? " list" : "n object"),
                        "this column supports only = null and != null");
    if (type == HDX_TYPE_BOOL ? c->is_bool : c->is_number)
        return HDX_OK;
    return hdx_hint(err,
                    hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "condition \"%.80s\": '%.40s' is not %s", whole, c->text,
                             types[type].what),
                    "%s", types[type].hint);
}

static hdx_code no_operator(const char *text, const char *at, hdx_error *err)
{
    const int len = (int)strspn(at, "=!<>~");
    if (len > 0)
        (void)hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "condition \"%.80s\": unknown operator %.*s", text, len, at);
    else
        (void)hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "condition \"%.80s\" is not COLUMN OPERATOR VALUE", text);
    return hdx_hint(err, HDX_USAGE, "operators are = != < <= > >= ~, as in 'retained > 1M'");
}

static hdx_code parse(const hdx_rows *rows, const char *text, condition *c, hdx_error *err)
{
    const char *name;
    size_t      len;
    hdx_code    code;
    const char *at = parse_head(text, &name, &len, &c->is);
    if (at == NULL)
        return no_operator(text, skip_space(name + len), err);
    if ((code = hdx_rows_find(rows, name, len, &c->column, err)) != HDX_OK ||
        (code = parse_value(c, at, text, rows->base->progress, err)) != HDX_OK)
        return code;
    return check_type(c, &rows->columns[c->column], text, err);
}

hdx_code hdx_condition_open(const char *text, const hdx_progress *progress, hdx_condition **out, hdx_error *err)
{
    const char *word;
    size_t      len;
    condition  *c = *out = calloc(1, sizeof *c);
    if (c == NULL)
        return hdx_no_memory(err, "a condition", sizeof *c);
    const char *at = parse_head(text, &word, &len, &c->is);
    hdx_code    code =
        at == NULL ? no_operator(text, skip_space(word + len), err) : parse_value(c, at, text, progress, err);
    if (code == HDX_OK)
        code = check_type(c, &(hdx_column){ .type = HDX_TYPE_ANY }, text, err);
    if (code != HDX_OK) {
        hdx_condition_close(c);
        *out = NULL;
    }
    return code;
}

bool hdx_condition_name(const char *text, hdx_text *name)
{
    const char *word;
    size_t      len;
    relation    is;
    const bool  whole = parse_head(text, &word, &len, &is) != NULL;
    *name = whole ? (hdx_text){ word, (uint32_t)len } : (hdx_text){ "", 0 };
    return whole;
}

bool hdx_condition_is_of_text(const hdx_condition *c) { return !c->is_null && !c->is_number; }
void hdx_condition_close(hdx_condition *c) { free_condition(c); }

/* ---- bounds ---- */

static bool bound_of_number(relation is, uint64_t v, hdx_bound *out)
{
    out->least = is == GREATER_EQUAL || is == EQUAL ? v : 0;
    out->most = is == LESS_EQUAL || is == EQUAL ? v : UINT64_MAX;
    if ((is == LESS && v == 0) || (is == GREATER && v == UINT64_MAX)) {
        out->least = 1; /* an empty range */
        out->most = 0;
    } else if (is == LESS) {
        out->most = v - 1;
    } else if (is == GREATER) {
        out->least = v + 1;
    }
    return is != NOT_EQUAL && is != MATCHES;
}

bool hdx_condition_column(const hdx_column *columns, unsigned count, const char *text, unsigned *column)
{
    hdx_text name;
    if (!hdx_condition_name(text, &name))
        return false;
    *column = hdx_column_place(columns, count, name);
    return *column < count;
}

bool hdx_condition_bound(const hdx_column *columns, unsigned count, const char *text, hdx_arena *arena, hdx_bound *out)
{
    condition   c = { 0 };
    const char *name;
    size_t      len;
    const char *at = parse_head(text, &name, &len, &c.is);
    bool        found = false;
    *out = (hdx_bound){ .most = UINT64_MAX };
    if (at == NULL || !hdx_condition_column(columns, count, text, &out->column) || c.is == MATCHES ||
        parse_value(&c, at, text, NULL, NULL) != HDX_OK)
        return false;
    const hdx_type type = columns[out->column].type;
    if ((type == HDX_TYPE_UNSIGNED || type == HDX_TYPE_ADDRESS) && c.is_number && c.number.kind == HDX_CELL_UINT)
        found = bound_of_number(c.is, c.number.as.natural, out);
    else if (type == HDX_TYPE_TEXT && c.is == EQUAL && !c.is_null)
        found = (out->text = hdx_arena_copy(arena, c.text, c.len + 1)) != NULL;
    free(c.text);
    return found;
}

/* ---- deciding ---- */

static bool relation_holds(relation is, int order)
{
    switch (is) {
    case EQUAL: return order == 0;
    case NOT_EQUAL: return order != 0;
    case LESS: return order < 0;
    case LESS_EQUAL: return order <= 0;
    case GREATER: return order > 0;
    default: return order >= 0;
    }
}

/* Formats numbers and booleans as a person would write them, for ~ and for comparing with a text. */
static hdx_text as_text(const hdx_cell *cell, char room[40])
{
    int n;
    switch (cell->kind) {
    case HDX_CELL_TEXT: return cell->as.text;
    case HDX_CELL_INT: n = snprintf(room, 40, "%" PRId64, cell->as.integer); break;
    case HDX_CELL_UINT: n = snprintf(room, 40, "%" PRIu64, cell->as.natural); break;
    case HDX_CELL_REAL: n = snprintf(room, 40, "%.15g", cell->as.real); break;
    case HDX_CELL_ADDRESS: n = snprintf(room, 40, "0x%" PRIx64, cell->as.address); break;
    case HDX_CELL_BOOL: n = snprintf(room, 40, "%s", cell->as.boolean ? "true" : "false"); break;
    default: n = 0;
    }
    return (hdx_text){ room, (uint32_t)(n < 0 ? 0 : n) };
}

hdx_code hdx_condition_holds(const hdx_condition *c, const hdx_cell *cell, bool *keep, hdx_error *err)
{
    char     room[40];
    unsigned rank = hdx_cell_rank(cell);
    *keep = c->is == NOT_EQUAL; /* of a cell that cannot be compared with the value only != relation_holds */
    if (c->is_null) {
        *keep = (cell->kind == HDX_CELL_NULL) == (c->is == EQUAL) && (c->is == EQUAL || c->is == NOT_EQUAL);
        return HDX_OK;
    }
    if (rank > 1)
        return HDX_OK;
    if (c->is == MATCHES)
        return hdx_regex_match(c->pattern, as_text(cell, room), keep, err);
    if (rank == 1)
        *keep = relation_holds(c->is, hdx_text_order(cell->as.text, (hdx_text){ c->text, (uint32_t)c->len }));
    else if (c->is_number)
        *keep = relation_holds(c->is, hdx_cell_compare_numbers(cell, &c->number));
    else if (c->is_bool && cell->kind == HDX_CELL_BOOL)
        *keep = relation_holds(c->is, (int)cell->as.boolean - (int)c->boolean);
    return HDX_OK;
}

static hdx_code where_next(hdx_rows *rows, const hdx_cell **row, hdx_error *err)
{
    condition *c = rows->state;
    hdx_code   code;
    bool       keep = false;
    for (; (code = hdx_rows_pull(rows, row, err)) == HDX_OK && *row != NULL; c->left_out++)
        if ((code = hdx_condition_holds(c, &(*row)[c->column], &keep, err)) != HDX_OK || keep)
            return code;
    return code;
}

uint64_t hdx_rows_left_out(const hdx_rows *rows, unsigned *conditions)
{
    uint64_t sum = rows->base->left_out;
    *conditions = 0;
    for (; rows != NULL; rows = rows->below)
        if (rows->shape == HDX_SHAPE_WHERE) {
            sum += ((const condition *)rows->state)->left_out;
            ++*conditions;
        }
    return sum;
}

/* ---- in runs ---- */

enum { UNKNOWN, NO, YES }; /* verdicts on shared texts */

static hdx_cell vector_cell(const hdx_vector *v, hdx_type type, uint32_t i)
{
    if ((v->numbers == NULL && v->each == NULL) || (v->present != NULL && !hdx_bits_test(v->present, i)))
        return hdx_cell_null();
    if (v->each != NULL)
        return hdx_cell_text(v->each[i]);
    if (v->texts != NULL)
        return hdx_cell_text(v->texts[v->numbers[i]]);
    double real;
    memcpy(&real, &v->numbers[i], sizeof real);
    switch (type) {
    case HDX_TYPE_SIGNED: return hdx_cell_int((int64_t)v->numbers[i]);
    case HDX_TYPE_REAL: return hdx_cell_real(real);
    case HDX_TYPE_BOOL: return hdx_cell_bool(v->numbers[i] != 0);
    case HDX_TYPE_ADDRESS: return hdx_cell_address(v->numbers[i]);
    default: return hdx_cell_uint(v->numbers[i]);
    }
}

/* Finds the rows of the run that meet the condition. Each shared text is matched once, not once per row. */
static hdx_code match_run(condition *c, const hdx_vector *v, hdx_type type, uint32_t count, uint32_t *places,
                          uint32_t *matched, hdx_error *err)
{
    hdx_code code = HDX_OK;
    *matched = 0;
    if (v->texts != NULL && c->verdicts == NULL) {
        if ((c->verdicts = hdx_mem_get(c->mem, v->text_count)) == NULL)
            return hdx_no_memory(err, "a condition", v->text_count);
        c->verdict_count = v->text_count;
    }
    for (uint32_t i = 0; code == HDX_OK && i < count; i++) {
        bool           keep = false;
        const hdx_cell cell = vector_cell(v, type, i);
        uint8_t       *known = v->texts != NULL && cell.kind == HDX_CELL_TEXT && v->numbers[i] < c->verdict_count
                                   ? &c->verdicts[v->numbers[i]]
                                   : NULL;
        if (known != NULL && *known != UNKNOWN)
            keep = *known == YES;
        else
            code = hdx_condition_holds(c, &cell, &keep, err);
        if (known != NULL)
            *known = keep ? YES : NO;
        places[*matched] = i;
        *matched += keep;
    }
    return code;
}

static hdx_code reserve_run(condition *c, hdx_mem *mem, unsigned columns, hdx_error *err)
{
    const uint64_t cells = (uint64_t)columns * HDX_RUN_ROWS;
    c->mem = mem;
    c->matched_columns = columns;
    if (c->matched == NULL)
        c->matched = hdx_mem_raw(mem, cells, sizeof *c->matched);
    if (c->matched_there == NULL)
        c->matched_there = hdx_mem_raw(mem, cells / 64, sizeof *c->matched_there);
    if (c->matched_texts == NULL)
        c->matched_texts = hdx_mem_raw(mem, cells, sizeof *c->matched_texts);
    return c->matched != NULL && c->matched_there != NULL && c->matched_texts != NULL
               ? HDX_OK
               : hdx_no_memory(err, "a condition", cells * sizeof *c->matched);
}

static void copy_column(condition *c, unsigned column, hdx_vector *v, const uint32_t *places, uint32_t matched)
{
    uint64_t *numbers = c->matched + (size_t)column * HDX_RUN_ROWS;
    uint64_t *there = c->matched_there + (size_t)column * (HDX_RUN_ROWS / 64);
    hdx_text *texts = c->matched_texts + (size_t)column * HDX_RUN_ROWS;
    for (uint32_t i = 0; v->numbers != NULL && i < matched; i++)
        numbers[i] = v->numbers[places[i]];
    for (uint32_t i = 0; v->each != NULL && i < matched; i++)
        texts[i] = v->each[places[i]];
    if (v->present != NULL) {
        memset(there, 0, (size_t)hdx_bits_words(matched) * sizeof *there);
        for (uint32_t i = 0; i < matched; i++)
            if (hdx_bits_test(v->present, places[i]))
                hdx_bits_put(there, i);
        v->present = there;
    }
    v->numbers = v->numbers != NULL ? numbers : NULL;
    v->each = v->each != NULL ? texts : NULL;
}

static hdx_code where_run(hdx_rows *rows, uint32_t most, hdx_vector *out, uint32_t *count, hdx_error *err)
{
    condition *c = rows->state;
    uint32_t   places[HDX_RUN_ROWS], all = 0, matched = 0;
    hdx_code   code = reserve_run(c, rows->mem, rows->column_count, err);
    while (code == HDX_OK && matched == 0) {
        if ((code = hdx_rows_run(rows->below, most, out, &all, err)) != HDX_OK || all == 0)
            break;
        code = match_run(c, &out[c->column], rows->columns[c->column].type, all, places, &matched, err);
        c->left_out += all - matched;
    }
    for (unsigned i = 0; matched < all && i < rows->column_count; i++)
        copy_column(c, i, &out[i], places, matched);
    *count = code == HDX_OK ? matched : 0;
    return code;
}

static void where_close(hdx_rows *rows) { free_condition(rows->state); }

hdx_code hdx_rows_where(hdx_rows **rows, const char *text, hdx_error *err)
{
    condition *c = calloc(1, sizeof *c);
    if (c == NULL)
        return hdx_rows_drop(rows, hdx_no_memory(err, "a condition", sizeof *c));
    hdx_code code = parse(*rows, text, c, err);
    if (code != HDX_OK)
        code = hdx_rows_drop(rows, code);
    else
        code = hdx_rows_over(rows, HDX_SHAPE_WHERE, c, err);
    if (code != HDX_OK) {
        free_condition(c);
        return code;
    }
    (*rows)->stable = (*rows)->below->stable;
    (*rows)->next = where_next;
    (*rows)->run = hdx_rows_runs((*rows)->below) ? where_run : NULL;
    (*rows)->close = where_close;
    return HDX_OK;
}
