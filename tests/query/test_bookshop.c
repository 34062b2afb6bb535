/*
 * test_bookshop.c - every question asked of examples/bookshop.hprof.gz: what is declared, all rows, the document.
 *
 * A line of bookshop.txt (support/checksums.h) counts the rows of one ask: the scope, the question, its arguments.
 */
#include "heap.h"
#include "query/questions.h"
#include "support/checksums.h"

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

static const hdx_question *question_named(const char *name)
{
    const bool                 is_table = strncmp(name, "table:", 6) == 0;
    const hdx_question *const *at = is_table ? tables : questions;
    for (size_t i = 0; i < (is_table ? HDX_COUNT(tables) : HDX_COUNT(questions)); i++)
        if (strcmp(at[i]->declared.name, name + (is_table ? 6 : 0)) == 0)
            return at[i];
    cr_assert(false, "no question %s", name);
    return NULL;
}

static void put_columns(hdx_buffer *b, const hdx_column *at, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        hdx_buffer_format(b, "%s %s %s %u (", at[i].name == NULL ? "-" : at[i].name, hdx_column_type_name(at[i].type),
                          hdx_column_unit_name(at[i].unit), at[i].flags);
        put_columns(b, at[i].members, at[i].member_count);
        hdx_buffer_text(b, ")\n");
    }
}

/* When, where and how the index was built is not what the dump says. */
static bool passing(const char *key) { return strncmp(key, "index", 5) == 0; }

static void put_document(hdx_buffer *b, const hdx_cell *c)
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

static bool is_passing_row(const hdx_rows *rows, const hdx_cell *cells)
{
    char     key[128];
    unsigned count;
    if (strcmp(hdx_rows_columns(rows, &count)[0].name, "key") != 0)
        return false;
    (void)snprintf(key, sizeof key, "%.*s", (int)cells[0].as.text.len, cells[0].as.text.at);
    return passing(key);
}

/* Columns of every form, the document, parameters; gives the number of forms. */
static uint64_t declared_text(const hdx_answer *answer, hdx_buffer *b)
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

/* The whole answer as text; gives the number of rows but for passing ones. */
static uint64_t answer_text(hdx_rows *rows, hdx_buffer *b)
{
    unsigned          count;
    uint64_t          n = 0;
    const hdx_cell   *cells;
    hdx_error         err;
    const hdx_column *has = hdx_rows_columns(rows, &count);
    hdx_buffer_format(b, "%s\n", hdx_rows_title(rows) == NULL ? "-" : hdx_rows_title(rows));
    while (hdx_rows_next(rows, &cells)) {
        if (is_passing_row(rows, cells))
            continue;
        n++;
        for (unsigned i = 0; i < count; i++) {
            hdx_buffer_format(b, i == 0 ? "%s=" : ", %s=", has[i].name);
            put_cell(b, &cells[i]);
        }
        hdx_buffer_text(b, "\n");
    }
    cr_assert(eq(int, hdx_rows_end(rows, &err), HDX_OK), "%s", err.message);
    for (unsigned i = 0; hdx_rows_extra(rows, i)->key != NULL; i++) {
        hdx_buffer_format(b, "%s: ", hdx_rows_extra(rows, i)->key);
        put_document(b, &hdx_rows_extra(rows, i)->value);
        hdx_buffer_text(b, "\n");
    }
    return n;
}

/* "live histogram by=package class=java.*", "declared histogram" */
static uint64_t ask(void *context, const char *line, hdx_buffer *b)
{
    heap        *h = context;
    char         words[512];
    hdx_argument at[16];
    hdx_rows    *rows;
    size_t       count = 0;
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
    if (strcmp(scope, "declared") == 0)
        return declared_text(&question->declared, b);
    h->q.scope = strcmp(scope, "live") == 0 ? HDX_LIVE : strcmp(scope, "all") == 0 ? HDX_ALL : HDX_GARBAGE;
    cr_assert(eq(int, hdx_arguments_check(&a, NULL, 0, "", &h->err), HDX_OK), "%s: %s", line, h->err.message);
    cr_assert(eq(int, question->open(&h->q, &a, &rows, &h->err), HDX_OK), "%s: %s", line, h->err.message);
    const uint64_t n = answer_text(rows, b);
    hdx_rows_close(rows);
    return n;
}

Test(bookshop, is_answered_as_before)
{
    static const char dump[] = HDX_TREE "/examples/bookshop.hprof.gz";
    heap              h = { .g = NULL };
    hdx_index_report  report;
    test_folder_make(h.folder, "bookshop");
    (void)snprintf(h.index, sizeof h.index, "%s/a.hdx", h.folder);
    const hdx_index_options options = { .dump = dump, .index_dir = h.index, .threads = 1 };
    ok(hdx_index_build(&options, &report, &h.err));
    ok(hdx_graph_open(h.index, dump, &h.g, &h.err));
    h.q = (hdx_query){ .graph = h.g, .threads = 2 };
    checksums_check(HDX_TREE "/tests/query/bookshop.txt", ask, &h);
    heap_close(&h);
}
