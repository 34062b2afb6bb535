/*
 * answer_page.c - one answer as a page: HTML or Markdown, from the columns that the answer declares.
 *
 * In:  rows with their document (hdx_rows_head, hdx_rows_extra).
 * Out: a title with the dumps; the result, warnings and facts; cards that describe rows; the rows as a table, with the
 *      total of the document as its last row; the lists of the document as tables; what was left out.
 * What is particular to leaks and check is in answer_cards.c.
 *
 * The page is limited in size. A row, card or sentence is removed again if it exceeds the limit, because the size of an
 * escaped text is known only after it was written. Cards and table are filled together, row by row, so each has a
 * buffer of its own.
 */
#include "report/answer_page.h"

#include <stdio.h>
#include <time.h>

#define COLUMNS_MOST  32u
#define FACTS_MOST    60u
#define LIST_MOST     100u  /* rows of a list of the document */
#define SAID_MOST     20u   /* warnings */
#define NESTED_MOST   20u   /* values of a nested object or list that share a cell */
#define COMMAND_MOST  4000u /* bytes; a longer command is omitted */
#define MARKDOWN_ROOM 4096u /* bytes for what follows the rows, without commands */
#define HTML_ROOM     32768u
#define TABLE_ROWS    25u /* rows of a long table on a terminal; --limit sets another number */

typedef struct answer_page {
    page                    p, cards, table; /* the sections before cards and table are written first */
    hdx_report_options      format;
    const hdx_page_options *options;
    hdx_rows               *rows;
    const hdx_answer       *answer;  /* as the head names it; NULL: unknown */
    const hdx_page_special *special; /* NULL: none */
    hdx_buffer              left;    /* what was left out, separated by "; " */
    uint64_t                most;    /* bytes of the page without its end */
} answer_page;

/* ---- the size of the page ---- */

static bool is_full(const answer_page *a)
{
    return a->p.written + a->p.out.len + a->cards.out.len + a->table.out.len > a->most;
}

static void take_back(page *p, uint64_t mark)
{
    p->out.len = mark;
    if (p->out.at != NULL)
        p->out.at[mark] = '\0';
}

/* Returns whether the page with what was written after `mark` has room; if not, this is removed. */
static bool fits(const answer_page *a, page *p, uint64_t mark)
{
    const bool full = is_full(a);
    if (full)
        take_back(p, mark);
    return !full;
}

/* Records what the last section of the page reports; count 0: unknown. */
static void leave_out(answer_page *a, uint64_t count, const char *one, const char *many)
{
    hdx_buffer_text(&a->left, a->left.len > 0 ? "; " : "");
    if (count > 0)
        hdx_buffer_format(&a->left, "%llu ", (unsigned long long)count);
    else
        hdx_buffer_text(&a->left, "some ");
    hdx_buffer_text(&a->left, count == 1 ? one : many);
}

/* ---- the document ---- */

static bool is_text(const hdx_cell *c) { return c->kind == HDX_CELL_TEXT; }

static uint64_t count_of(const hdx_cell *list) { return list->kind == HDX_CELL_LIST ? list->as.list.count : 0; }

static const hdx_cell *head_of(const hdx_rows *rows, const char *key)
{
    static const hdx_cell none = { .kind = HDX_CELL_NULL };
    const hdx_member     *m;
    for (unsigned i = 0; (m = hdx_rows_head(rows, i))->key != NULL; i++)
        if (strcmp(m->key, key) == 0)
            return &m->value;
    return &none;
}

static const hdx_column *declared(const answer_page *a, const char *key)
{
    for (unsigned i = 0; a->answer != NULL && i < a->answer->document_count; i++)
        if (strcmp(a->answer->document[i].name, key) == 0)
            return &a->answer->document[i];
    return NULL;
}

/* "retained_delta" is shown as "retained delta". `before`: a word before it; NULL: none. */
static const char *shown_key(hdx_buffer *to, const char *before, const char *key)
{
    hdx_buffer_clear(to);
    hdx_buffer_format(to, "%s%s%s", before != NULL ? before : "", before != NULL ? " " : "", key);
    for (uint64_t i = 0; i < to->len; i++)
        if (to->at[i] == '_')
            to->at[i] = ' ';
    return to->len > 0 ? to->at : "";
}

static void put_command(const answer_page *a, page *p, const char *more)
{
    if (a->options->command != NULL && strlen(a->options->command) <= COMMAND_MOST)
        hdx_doc_call(p, a->options->command, more);
}

/* Appends the name of the file; lists of dumps have its path as "path" or "dump". */
static void add_file(hdx_buffer *out, const hdx_cell *dump)
{
    const hdx_cell *path = hdx_cell_member(dump, "path"), *given = is_text(path) ? path : hdx_cell_member(dump, "dump");
    if (!is_text(given))
        return;
    const char *end = given->as.text.at + given->as.text.len,
               *slash = memrchr(given->as.text.at, '/', given->as.text.len),
               *name = slash != NULL && slash + 1 < end ? slash + 1 : given->as.text.at;
    hdx_buffer_put(out, name, (uint64_t)(end - name));
}

/* "diff: before.hprof, after.hprof"; of more than three dumps the first and the last. */
static void make_title(const answer_page *a, hdx_buffer *title)
{
    const hdx_cell *dumps = hdx_rows_extra_cell(a->rows, "dumps");
    const uint64_t  count = count_of(dumps);
    hdx_buffer_format(title, "%s: ", a->answer != NULL ? a->answer->name : "answer");
    if (count == 0)
        add_file(title, head_of(a->rows, "dump"));
    for (uint64_t i = 0; i < count; i++) {
        if (count > 3 && i > 0 && i + 1 < count)
            continue;
        hdx_buffer_text(title, i == 0 ? "" : count > 3 ? " to " : ", ");
        add_file(title, &dumps->as.list.at[i]);
    }
    if (count > 3)
        hdx_buffer_format(title, " (%llu dumps)", (unsigned long long)count);
}

/* ---- values ---- */

/* A time is stored as a number and shown as a text. */
static bool is_time(const hdx_column *c) { return c->name != NULL && strcmp(c->name, "created_ms") == 0; }

static void put_time(page *p, uint64_t ms)
{
    const time_t seconds = (time_t)(ms / 1000);
    struct tm    tm;
    char         text[32] = "-";
    if (ms / 1000 < 253402300800u /* the year 10000 */ && gmtime_r(&seconds, &tm) != NULL)
        (void)strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &tm);
    hdx_doc_string(p, text);
}

/* The values of a nested object or list share a cell: "count 3, retained 2". */
static void put_nested(page *p, const hdx_cell *cell)
{
    const bool     list = cell->kind == HDX_CELL_LIST;
    const uint64_t count = list ? cell->as.list.count : cell->as.object.count;
    hdx_doc_string(p, count == 0 ? "-" : "");
    for (uint64_t i = 0; i < count && i < NESTED_MOST; i++) {
        const hdx_cell *value = list ? &cell->as.list.at[i] : &cell->as.object.at[i].value;
        hdx_doc_string(p, i > 0 ? ", " : "");
        if (!list) {
            hdx_doc_string(p, cell->as.object.at[i].key);
            hdx_doc_string(p, " ");
        }
        hdx_doc_value(p, value, HDX_UNIT_COUNT);
    }
    hdx_doc_string(p, count > NESTED_MOST ? ", …" : "");
}

static bool put_exact(page *p, const hdx_cell *cell, hdx_unit unit)
{
    const bool number = cell->kind == HDX_CELL_UINT || cell->kind == HDX_CELL_INT || cell->kind == HDX_CELL_REAL;
    if (p->options->format != HDX_REPORT_HTML || unit != HDX_UNIT_BYTES || !number)
        return false;
    hdx_buffer_text(&p->out, "<span title=\"");
    if (cell->kind == HDX_CELL_REAL)
        hdx_buffer_format(&p->out, "%.0f", cell->as.real);
    else
        (void)hdx_render_cell(&p->out, cell, HDX_UNIT_NONE, &(hdx_render_options){ .human_sizes = false });
    hdx_buffer_text(&p->out, " bytes\">");
    return true;
}

void hdx_page_value(page *p, const hdx_column *column, const hdx_cell *cell, hdx_unit unit)
{
    if (is_text(cell) && (column->flags & HDX_COLUMN_CLASS_NAME) != 0) {
        hdx_doc_class(p, cell->as.text);
    } else if (is_text(cell)) {
        hdx_doc_text(p, cell->as.text.at, cell->as.text.len);
    } else if (cell->kind == HDX_CELL_UINT && is_time(column)) {
        put_time(p, cell->as.natural);
    } else if (cell->kind == HDX_CELL_LIST || cell->kind == HDX_CELL_OBJECT) {
        put_nested(p, cell);
    } else {
        const bool exact = put_exact(p, cell, unit);
        if (column->type == HDX_TYPE_SIGNED && cell->kind == HDX_CELL_INT && cell->as.integer > 0)
            hdx_doc_string(p, "+");
        hdx_doc_value(p, cell, unit);
        hdx_buffer_text(&p->out, exact ? "</span>" : "");
    }
}

/* ---- columns ---- */

static bool is_series(const hdx_column *c)
{
    return c->type == HDX_TYPE_LIST && c->member_count == 1 && c->members[0].name == NULL &&
           c->members[0].type == HDX_TYPE_UNSIGNED;
}

static bool is_number(const hdx_column *c)
{
    const bool number = c->type == HDX_TYPE_UNSIGNED || c->type == HDX_TYPE_SIGNED || c->type == HDX_TYPE_REAL;
    return is_series(c) || (!is_time(c) && (number || (c->unit != HDX_UNIT_NONE && c->type != HDX_TYPE_LIST)));
}

/* Orders columns: the first text, which names the row; the series; the others. */
static void order(const hdx_column *columns, unsigned at[COLUMNS_MOST], unsigned n)
{
    unsigned ordered[COLUMNS_MOST], m = 0, name = 0;
    while (name < n && columns[at[name]].type != HDX_TYPE_TEXT)
        name++;
    if (name < n)
        ordered[m++] = at[name];
    for (int series = 1; series >= 0; series--)
        for (unsigned i = 0; i < n; i++)
            if (i != name && is_series(&columns[at[i]]) == (series == 1))
                ordered[m++] = at[i];
    memcpy(at, ordered, m * sizeof *at);
}

/*
 * Chooses the columns of the table: those that the caller named; or those of a special page; or those of a table on a
 * terminal and all series of numbers that the first row has.
 */
static unsigned choose(const answer_page *a, const hdx_column *columns, unsigned count, const hdx_cell *row,
                       unsigned at[COLUMNS_MOST])
{
    const bool  chosen = count > 0 && (columns[0].flags & HDX_COLUMN_CHOSEN) != 0;
    const char *word = !chosen && a->special != NULL ? a->special->columns : "";
    unsigned    n = 0;
    for (size_t len; *word != '\0'; word += len + (word[len] == ' ')) {
        len = strcspn(word, " ");
        for (unsigned i = 0; i < count && n < COLUMNS_MOST; i++)
            if (strlen(columns[i].name) == len && memcmp(columns[i].name, word, len) == 0)
                at[n++] = i;
    }
    if (n > 0)
        return n;
    for (unsigned i = 0; i < count && n < COLUMNS_MOST; i++)
        if (chosen || (columns[i].flags & HDX_COLUMN_WIDE) == 0 ||
            (is_series(&columns[i]) && row[i].kind == HDX_CELL_LIST))
            at[n++] = i;
    if (!chosen)
        order(columns, at, n);
    return n;
}

/* The values of some columns have the unit that another column of the row names. */
static hdx_unit unit_of(const hdx_column *c, const hdx_column *columns, unsigned count, const hdx_cell *row)
{
    const hdx_cell *named = hdx_cell_named(columns, count, row, "unit");
    for (unsigned u = HDX_UNIT_NONE; u <= HDX_UNIT_SECONDS; u++)
        if (c->type == HDX_TYPE_REAL && c->unit == HDX_UNIT_NONE && is_text(named) &&
            hdx_text_is(named->as.text, hdx_column_unit_name((hdx_unit)u)))
            return (hdx_unit)u;
    return c->unit;
}

/* ---- tables ---- */

static void begin_table(page *p, const hdx_column *columns, const unsigned *at, unsigned n)
{
    page_column heads[COLUMNS_MOST] = { { NULL, false, NULL } };
    hdx_buffer  titles[COLUMNS_MOST];
    for (unsigned i = 0; i < n; i++) {
        titles[i] = hdx_buffer_of(NULL);
        heads[i] = (page_column){ shown_key(&titles[i], NULL, columns[at[i]].name), is_number(&columns[at[i]]),
                                  columns[at[i]].sentence };
    }
    hdx_doc_table(p, heads, n);
    for (unsigned i = 0; i < n; i++) {
        p->out.failed = p->out.failed || titles[i].failed;
        hdx_buffer_free(&titles[i]);
    }
}

static void put_row(page *p, const hdx_column *columns, unsigned count, const unsigned *at, unsigned n,
                    const hdx_cell *row)
{
    hdx_doc_row(p);
    for (unsigned i = 0; i < n; i++) {
        const hdx_column *c = &columns[at[i]];
        hdx_doc_cell(p, is_number(c));
        if (is_series(c))
            hdx_doc_series(p, &row[at[i]]);
        else
            hdx_page_value(p, c, &row[at[i]], unit_of(c, columns, count, row));
        hdx_doc_cell_end(p);
    }
    hdx_doc_row_end(p);
}

/* Returns whether an object of the document is a total of the rows: all of its keys are columns. */
static bool is_total(const hdx_cell *object, const hdx_column *columns, unsigned count)
{
    bool all = object->kind == HDX_CELL_OBJECT && object->as.object.count > 0;
    for (uint64_t i = 0; all && i < object->as.object.count; i++) {
        all = false;
        for (unsigned k = 0; k < count; k++)
            all = all || strcmp(columns[k].name, object->as.object.at[i].key) == 0;
    }
    return all;
}

static void put_totals(answer_page *a, const hdx_column *columns, unsigned count, const unsigned *at, unsigned n)
{
    page             *p = &a->table;
    const hdx_member *m;
    for (unsigned k = 0; (m = hdx_rows_extra(a->rows, k))->key != NULL; k++) {
        if (!is_total(&m->value, columns, count))
            continue;
        hdx_doc_row(p);
        for (unsigned i = 0; i < n; i++) {
            const hdx_column *c = &columns[at[i]];
            const hdx_cell   *cell = hdx_cell_member(&m->value, c->name);
            hdx_doc_cell(p, is_number(c));
            hdx_doc_strong_begin(p);
            if (cell->kind != HDX_CELL_NULL)
                hdx_page_value(p, c, cell, c->unit);
            else
                hdx_doc_string(p, i == 0 ? m->key : "-");
            hdx_doc_strong_end(p);
            hdx_doc_cell_end(p);
        }
        hdx_doc_row_end(p);
    }
}

/* The meaning of each column, closed at first. */
static void put_meanings(answer_page *a, const hdx_column *columns, const unsigned *at, unsigned n)
{
    page          *p = &a->table;
    const uint64_t mark = p->out.len;
    hdx_buffer     key = hdx_buffer_of(NULL);
    hdx_doc_details(p, "What the columns mean");
    for (unsigned i = 0; i < n; i++) {
        hdx_doc_paragraph_begin(p);
        hdx_doc_strong_begin(p);
        hdx_doc_string(p, shown_key(&key, NULL, columns[at[i]].name));
        hdx_doc_strong_end(p);
        hdx_doc_string(p, ": ");
        hdx_doc_string(p, columns[at[i]].sentence);
        hdx_doc_paragraph_end(p);
    }
    hdx_doc_details_end(p);
    p->out.failed = p->out.failed || key.failed;
    hdx_buffer_free(&key);
    (void)fits(a, p, mark);
}

/* ---- rows ---- */

typedef struct row_count {
    uint64_t rows, shown;
    uint64_t omitted; /* rows that a limit of the caller omitted; 0: unknown, or none */
    bool     cut;     /* by a limit of the caller */
    unsigned cards;
    uint64_t no_card; /* there was no room for the card */
} row_count;

/* Writes the card of a row. Cards may fill half of the page, so that the table has room. */
static void put_card(answer_page *a, const hdx_cell *row, row_count *r)
{
    const uint64_t mark = a->cards.out.len;
    if (!a->special->card(&a->cards, a->rows, row))
        return;
    if (r->cards < a->special->most && a->cards.out.len <= a->most / 2) {
        r->cards++;
        return;
    }
    take_back(&a->cards, mark);
    r->no_card++;
}

static void end_table(answer_page *a, const row_count *r)
{
    const uint64_t more = r->rows - r->shown + r->omitted;
    char           rest[64] = "There are more rows.";
    if (more > 0)
        (void)snprintf(rest, sizeof rest, "%llu more row%s.", (unsigned long long)more, more == 1 ? "" : "s");
    hdx_doc_table_end(&a->table, more > 0 || r->cut ? rest : NULL);
}

/* Reads all rows, and fills cards and table. */
static hdx_code read_rows(answer_page *a, row_count *r, hdx_error *err)
{
    unsigned          count, at[COLUMNS_MOST], n = 0;
    const hdx_cell   *row;
    const hdx_column *columns = hdx_rows_columns(a->rows, &count);
    const bool        described = a->special != NULL && count > 0 && (columns[0].flags & HDX_COLUMN_CHOSEN) == 0;
    for (; hdx_rows_next(a->rows, &row); r->rows++) {
        if (r->rows == 0) {
            n = choose(a, columns, count, row, at);
            begin_table(&a->table, columns, at, n);
        }
        if (r->shown < r->rows || r->shown == HDX_PAGE_ROWS_MOST)
            continue;
        if (described)
            put_card(a, row, r);
        const uint64_t mark = a->table.out.len;
        put_row(&a->table, columns, count, at, n, row);
        r->shown += fits(a, &a->table, mark);
    }
    const hdx_code code = hdx_rows_end(a->rows, err);
    if (code != HDX_OK)
        return code;
    hdx_rows_cut cut;
    r->cut = hdx_rows_cut_off(a->rows, &cut);
    r->omitted = cut.rows;
    if (r->rows > 0) {
        put_totals(a, columns, count, at, n);
        end_table(a, r);
        put_meanings(a, columns, at, n);
    } else {
        const char *why = hdx_rows_empty_reason(a->rows);
        hdx_doc_paragraph(&a->table, why != NULL ? why : "There are no rows.");
    }
    return HDX_OK;
}

static void move(page *to, page *from)
{
    if (from->out.len > 0)
        hdx_buffer_put(&to->out, from->out.at, from->out.len);
    to->out.failed = to->out.failed || from->out.failed;
    hdx_buffer_clear(&from->out);
}

static hdx_code put_rows(answer_page *a, hdx_error *err)
{
    row_count      r = { 0 };
    const hdx_code code = read_rows(a, &r, err);
    if (code != HDX_OK)
        return code;
    const bool  rest = r.shown < r.rows || r.cut;
    const char *limit = rest || r.shown > TABLE_ROWS ? " --limit 0" : "";
    if (rest)
        leave_out(a, r.rows - r.shown + r.omitted, "row", "rows");
    if (r.no_card > 0)
        leave_out(a, r.no_card, "description of a row", "descriptions of rows");
    if (r.cards > 0) {
        hdx_doc_section(&a->p, "found", a->special->cards);
        move(&a->p, &a->cards);
        put_command(a, &a->p, limit);
        hdx_doc_section_end(&a->p);
    }
    hdx_doc_section(&a->p, "rows", "Rows");
    move(&a->p, &a->table);
    put_command(a, &a->p, limit);
    hdx_doc_section_end(&a->p);
    return HDX_OK;
}

/* ---- before the rows ---- */

static unsigned put_fact(answer_page *a, unsigned facts, const char *name, const hdx_cell *value, hdx_unit unit)
{
    const uint64_t mark = a->p.out.len;
    if (facts >= FACTS_MOST || value->kind == HDX_CELL_NULL || value->kind == HDX_CELL_LIST ||
        value->kind == HDX_CELL_OBJECT)
        return facts;
    if (facts == 0)
        hdx_doc_facts(&a->p);
    hdx_doc_fact(&a->p, name, value, unit);
    return fits(a, &a->p, mark) ? facts + 1 : facts;
}

/* Writes the single values of an object. `is`: its declaration, or NULL. */
static unsigned put_members(answer_page *a, unsigned facts, const hdx_member *object, const hdx_column *is)
{
    const bool data = is != NULL && is->member_count == 1 && is->members[0].name == NULL, /* keys are data */
        own = a->answer != NULL && strcmp(object->key, a->answer->name) == 0;
    hdx_buffer name = hdx_buffer_of(NULL);
    for (uint64_t i = 0; i < object->value.as.object.count; i++) {
        const hdx_member *m = &object->value.as.object.at[i];
        hdx_unit          unit = HDX_UNIT_NONE;
        for (unsigned k = 0; is != NULL && !data && k < is->member_count; k++)
            if (strcmp(is->members[k].name, m->key) == 0)
                unit = is->members[k].unit;
        const char *shown = data ? m->key : shown_key(&name, own ? NULL : object->key, m->key);
        facts = put_fact(a, facts, shown, &m->value, unit);
    }
    a->p.out.failed = a->p.out.failed || name.failed;
    hdx_buffer_free(&name);
    return facts;
}

/* Writes the single values of the document, except the totals, which are a row of the table. */
static void put_facts(answer_page *a)
{
    const hdx_cell   *dump = head_of(a->rows, "dump");
    unsigned          facts = 0, count;
    const hdx_column *columns = hdx_rows_columns(a->rows, &count);
    const hdx_member *m;
    if (count_of(hdx_rows_extra_cell(a->rows, "dumps")) < 2) {
        facts = put_fact(a, facts, "dump size", hdx_cell_member(dump, "size"), HDX_UNIT_BYTES);
        facts = put_fact(a, facts, "format", hdx_cell_member(dump, "format"), HDX_UNIT_NONE);
    }
    facts = put_fact(a, facts, "view", hdx_cell_member(head_of(a->rows, "view"), "spec"), HDX_UNIT_NONE);
    for (unsigned i = 0; (m = hdx_rows_extra(a->rows, i))->key != NULL; i++) {
        const hdx_column *is = declared(a, m->key);
        if (m->value.kind != HDX_CELL_OBJECT)
            facts = put_fact(a, facts, m->key, &m->value, is != NULL ? is->unit : HDX_UNIT_NONE);
        else if (!is_total(&m->value, columns, count))
            facts = put_members(a, facts, m, is);
    }
    if (facts > 0)
        hdx_doc_facts_end(&a->p);
}

static void put_sentence(answer_page *a, const char *at, size_t len)
{
    const uint64_t mark = a->p.out.len;
    hdx_doc_paragraph_begin(&a->p);
    hdx_doc_cut(&a->p, at, len, HDX_PAGE_SENTENCE);
    hdx_doc_paragraph_end(&a->p);
    (void)fits(a, &a->p, mark);
}

static void put_warning(answer_page *a, const hdx_cell *text)
{
    const uint64_t mark = a->p.out.len;
    hdx_doc_paragraph_begin(&a->p);
    hdx_doc_sentence(&a->p, text);
    hdx_doc_paragraph_end(&a->p);
    (void)fits(a, &a->p, mark);
}

static bool is_damaged(const answer_page *a)
{
    const hdx_cell *dumps = hdx_rows_extra_cell(a->rows, "dumps");
    bool            damaged = count_of(head_of(a->rows, "damage")) > 0;
    for (uint64_t i = 0; i < count_of(dumps); i++) {
        const hdx_cell *places = hdx_cell_member(&dumps->as.list.at[i], "damage");
        damaged = damaged || (places->kind == HDX_CELL_UINT && places->as.natural > 0);
    }
    return damaged;
}

/* Writes the sentences that the command prints, and what is wrong with the dumps. */
static void put_sentences(answer_page *a)
{
    static const char damaged[] = "A dump is damaged: parts of it could not be read, and numbers cover the rest.";
    const char       *title = hdx_rows_title(a->rows);
    const hdx_cell   *warnings = head_of(a->rows, "warnings");
    if (a->special != NULL)
        a->special->put_result(&a->p, a->rows);
    for (unsigned i = 0; title != NULL && *title != '\0' && i < SAID_MOST; i++) {
        const size_t len = strcspn(title, "\n");
        if (len > 0)
            put_sentence(a, title, len);
        title += len + (title[len] == '\n');
    }
    if (is_damaged(a))
        put_sentence(a, damaged, sizeof damaged - 1);
    for (uint64_t i = 0; i < count_of(warnings) && i < SAID_MOST; i++)
        put_warning(a, &warnings->as.list.at[i]);
}

/* ---- after the rows ---- */

static void put_list(answer_page *a, const char *key, const hdx_cell *list, const hdx_column *columns, unsigned count)
{
    hdx_cell       row[COLUMNS_MOST];
    unsigned       at[COLUMNS_MOST];
    const uint64_t all = count_of(list);
    uint64_t       n = 0;
    char           title[32], rest[64];
    count = count < COLUMNS_MOST ? count : COLUMNS_MOST;
    if (is_full(a)) {
        leave_out(a, all, key, key);
        return;
    }
    (void)snprintf(title, sizeof title, "%c%.30s", key[0] - 'a' + 'A', key + 1);
    hdx_doc_section(&a->p, key, title);
    for (unsigned i = 0; i < count; i++)
        at[i] = i;
    begin_table(&a->p, columns, at, count);
    for (; n < all && n < LIST_MOST; n++) {
        const uint64_t mark = a->p.out.len;
        for (unsigned i = 0; i < count; i++)
            row[i] = *hdx_cell_member(&list->as.list.at[n], columns[i].name);
        put_row(&a->p, columns, count, at, count, row);
        if (!fits(a, &a->p, mark))
            break;
    }
    (void)snprintf(rest, sizeof rest, "%llu more.", (unsigned long long)(all - n));
    hdx_doc_table_end(&a->p, n < all ? rest : NULL);
    if (n < all)
        leave_out(a, all - n, key, key);
    put_command(a, &a->p, " --format json");
    hdx_doc_section_end(&a->p);
}

/* A list whose entries have lists of objects is no table: cards show it. */
static bool is_table(const hdx_column *c)
{
    if (c == NULL || c->type != HDX_TYPE_LIST || c->member_count == 0 || c->members[0].name == NULL)
        return false;
    for (unsigned i = 0; i < c->member_count; i++)
        if (c->members[i].type == HDX_TYPE_LIST && c->members[i].member_count > 1)
            return false;
    return true;
}

/* The head of the document is not declared, as it is the same for all answers: keys of the first entry are columns. */
static void put_damage(answer_page *a)
{
    const hdx_cell *damage = head_of(a->rows, "damage");
    hdx_column      columns[COLUMNS_MOST];
    unsigned        n = 0;
    if (count_of(damage) == 0)
        return;
    const hdx_cell *first = &damage->as.list.at[0];
    for (; first->kind == HDX_CELL_OBJECT && n < first->as.object.count && n < COLUMNS_MOST; n++)
        columns[n] = (hdx_column){ .name = first->as.object.at[n].key,
                                   .type = is_text(&first->as.object.at[n].value) ? HDX_TYPE_TEXT : HDX_TYPE_UNSIGNED };
    put_list(a, "damage", damage, columns, n);
}

static void put_lists(answer_page *a)
{
    const hdx_member *m;
    for (unsigned i = 0; (m = hdx_rows_extra(a->rows, i))->key != NULL; i++) {
        const hdx_column *is = declared(a, m->key);
        if (count_of(&m->value) > 0 && is_table(is))
            put_list(a, m->key, &m->value, is->members, is->member_count);
    }
    put_damage(a);
}

static void put_left_out(answer_page *a)
{
    hdx_buffer line = hdx_buffer_of(NULL);
    if (a->left.len == 0)
        return;
    hdx_buffer_format(&line, "Left out of this page: %s. The command with --format json has everything.", a->left.at);
    hdx_doc_section(&a->p, "left", "What this page does not contain");
    hdx_doc_paragraph(&a->p, line.at != NULL ? line.at : "");
    hdx_doc_section_end(&a->p);
    a->p.out.failed = a->p.out.failed || line.failed || a->left.failed;
    hdx_buffer_free(&line);
}

/* ---- the page ---- */

/* Reserves room for the command, which two sections repeat after their last row. */
static uint64_t limit_of(answer_page *a)
{
    put_command(a, &a->p, " --format json");
    const uint64_t command = a->p.out.len;
    hdx_buffer_clear(&a->p.out);
    return (a->options->format == HDX_REPORT_HTML ? HDX_PAGE_HTML_MOST - HTML_ROOM
                                                  : HDX_PAGE_MARKDOWN_MOST - MARKDOWN_ROOM) -
           2 * command;
}

static const hdx_answer *answer_of(const hdx_rows *rows)
{
    const hdx_cell *named = head_of(rows, "command");
    char            name[64] = "";
    if (is_text(named))
        (void)snprintf(name, sizeof name, "%.*s", (int)named->as.text.len, named->as.text.at);
    return hdx_answer_named(name);
}

hdx_code hdx_page_write(hdx_rows *rows, const hdx_page_options *options, const hdx_sink *sink, hdx_error *err)
{
    answer_page a = { .format = { .format = options->format },
                      .options = options,
                      .rows = rows,
                      .answer = answer_of(rows),
                      .left = hdx_buffer_of(NULL) };
    hdx_buffer  title = hdx_buffer_of(NULL);
    if (options->format == HDX_REPORT_JSON)
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "a page is HTML or Markdown");
    a.special = a.answer != NULL ? hdx_page_special_of(a.answer->name) : NULL;
    a.p = (page){ .options = &a.format, .sink = sink, .out = hdx_buffer_of(NULL), .bytes = options->bytes };
    a.cards = a.table = a.p;
    a.table.title = "Rows";
    a.most = limit_of(&a);
    make_title(&a, &title);
    hdx_doc_begin(&a.p, title.at != NULL ? title.at : "");
    a.p.out.failed = a.p.out.failed || title.failed;
    hdx_buffer_free(&title);
    put_sentences(&a);
    put_facts(&a);
    const hdx_code code = put_rows(&a, err);
    if (code == HDX_OK) {
        put_lists(&a);
        put_left_out(&a);
    }
    hdx_buffer_free(&a.cards.out);
    hdx_buffer_free(&a.table.out);
    hdx_buffer_free(&a.left);
    if (code != HDX_OK) {
        hdx_buffer_free(&a.p.out);
        return code;
    }
    return hdx_doc_end(&a.p, err);
}
