/*
 * asks.h - a question as a line of text, and its whole answer as text: for tests that compare many answers with files
 * of checksums (support/checksums.h).
 *
 *     live histogram by=package class=java.*          scope, question or table:NAME, arguments
 *     declared histogram                              what is declared of it
 */
#ifndef HDX_TESTS_QUERY_ASKS_H
#define HDX_TESTS_QUERY_ASKS_H

#include "heap.h"
#include "query/questions.h"
#include "rows/cursor.h"

static const hdx_question *const questions[] = {
#define QUESTION(name) &hdx_question_##name,
    HDX_QUESTIONS(QUESTION)
#undef QUESTION
};
static const hdx_question *const tables[] = {
#define TABLE(name) &hdx_table_of_##name,
    HDX_TABLES(TABLE)
#undef TABLE
};

static inline const hdx_question *question_named(const char *name)
{
    const bool                 is_table = strncmp(name, "table:", 6) == 0;
    const hdx_question *const *at = is_table ? tables : questions;
    for (size_t i = 0; i < (is_table ? HDX_COUNT(tables) : HDX_COUNT(questions)); i++)
        if (strcmp(at[i]->declared.name, name + (is_table ? 6 : 0)) == 0)
            return at[i];
    cr_assert(false, "no question %s", name);
    return NULL;
}

static inline void put_columns(hdx_buffer *b, const hdx_column *at, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        hdx_buffer_format(b, "%s %s %s %u (", at[i].name == NULL ? "-" : at[i].name, hdx_column_type_name(at[i].type),
                          hdx_column_unit_name(at[i].unit), at[i].flags);
        put_columns(b, at[i].members, at[i].member_count);
        hdx_buffer_text(b, ")\n");
    }
}

/* When, where and how the index was built is not what the dump says. */
static inline bool passing(const char *key) { return strncmp(key, "index", 5) == 0; }

static inline void put_document(hdx_buffer *b, const hdx_cell *c)
{
    if (c->kind == HDX_CELL_OBJECT)
        for (uint64_t i = 0; i < c->as.object.count; i++) {
            const hdx_member *m = &c->as.object.at[i];
            hdx_buffer_format(b, "{%s ", m->key);
            if (!passing(m->key))
                put_document(b, &m->value);
            hdx_buffer_text(b, "}");
        }
    else if (c->kind == HDX_CELL_LIST)
        for (uint64_t i = 0; i < c->as.list.count; i++)
            put_document(b, &c->as.list.at[i]);
    else
        put_cell(b, c);
}

static inline bool is_passing_row(const hdx_rows *rows, const hdx_cell *cells)
{
    char     key[128];
    unsigned count;
    if (strcmp(hdx_rows_columns(rows, &count)[0].name, "key") != 0)
        return false;
    (void)snprintf(key, sizeof key, "%.*s", (int)cells[0].as.text.len, cells[0].as.text.at);
    return passing(key);
}

/* Columns of every form, the document, parameters; gives the number of forms. */
static inline uint64_t declared_text(const hdx_answer *answer, hdx_buffer *b)
{
    for (unsigned i = 0; i < answer->form_count; i++)
        put_columns(b, answer->forms[i].columns, answer->forms[i].column_count);
    put_columns(b, answer->document, answer->document_count);
    for (unsigned i = 0; i < answer->parameter_count; i++) {
        const hdx_parameter *p = &answer->parameters[i];
        hdx_buffer_format(b, "%s %d %u %llu %llu\n", p->name, (int)p->kind, p->flags, (unsigned long long)p->least,
                          (unsigned long long)p->most);
    }
    return answer->form_count;
}

/* The whole answer as text, and the number of rows but for passing ones. */
static inline hdx_code answer_text(hdx_rows *rows, hdx_buffer *b, uint64_t *rows_given, hdx_error *err)
{
    unsigned          count;
    uint64_t          n = 0, all = 0;
    const hdx_cell   *cells;
    const hdx_column *has = hdx_rows_columns(rows, &count);
    const uint64_t    said = hdx_rows_total(rows).rows;
    hdx_buffer_format(b, "%s\n", hdx_rows_title(rows) == NULL ? "-" : hdx_rows_title(rows));
    for (; hdx_rows_next(rows, &cells); all++) {
        if (is_passing_row(rows, cells))
            continue;
        n++;
        for (unsigned i = 0; i < count; i++) {
            hdx_buffer_format(b, i == 0 ? "%s=" : ", %s=", has[i].name);
            put_cell(b, &cells[i]);
        }
        hdx_buffer_text(b, "\n");
    }
    *rows_given = n;
    if (hdx_rows_end(rows, err) != HDX_OK)
        return err->code;
    bool shared = false; /* a row that stands for several objects, which are what is counted */
    for (unsigned i = 0; i < count; i++)
        shared = shared || strncmp(has[i].name, "similar", 7) == 0;
    cr_expect(said == HDX_ROWS_UNKNOWN || (shared ? said >= all : said == all), "%llu rows were said, %llu came: %s",
              (unsigned long long)said, (unsigned long long)all, b->at);
    for (unsigned i = 0; hdx_rows_extra(rows, i)->key != NULL; i++) {
        hdx_buffer_format(b, "%s: ", hdx_rows_extra(rows, i)->key);
        put_document(b, &hdx_rows_extra(rows, i)->value);
        hdx_buffer_text(b, "\n");
    }
    return HDX_OK;
}

/* "live histogram by=package class=java.*": the rows of such an ask; *declared: of that question, and no rows. */
static inline hdx_code open_ask(heap *h, const char *line, const hdx_answer **declared, hdx_rows **rows)
{
    char         words[512];
    hdx_argument at[16];
    size_t       count = 0;
    *rows = NULL;
    *declared = NULL;
    (void)snprintf(words, sizeof words, "%s", line);
    const char *scope = strtok(words, " "), *name = strtok(NULL, " ");
    cr_assert(scope != NULL && name != NULL, "%s", line);
    for (char *word; (word = strtok(NULL, " ")) != NULL; count++) {
        char *value = strchr(word, '=');
        if (value != NULL)
            *value++ = '\0';
        cr_assert(count < HDX_COUNT(at));
        at[count] = (hdx_argument){ word, value };
    }
    const hdx_question *question = question_named(name);
    hdx_arguments       a = { &question->declared, at, count };
    if (strcmp(scope, "declared") == 0) {
        *declared = &question->declared;
        return HDX_OK;
    }
    h->q.scope = strcmp(scope, "live") == 0 ? HDX_LIVE : strcmp(scope, "all") == 0 ? HDX_ALL : HDX_GARBAGE;
    cr_assert(eq(int, hdx_arguments_check(&a, NULL, 0, "", &h->err), HDX_OK), "%s: %s", line, h->err.message);
    return hdx_question_open(question, &h->q, &a, rows, &h->err);
}

#endif
