/*
 * test_bookshop.c - every question asked of examples/bookshop.hprof.gz, and nothing but the answers of bookshop.txt.
 *
 * A line of that file is one ask: how many rows, a checksum of the answer as text (what is declared, rows, document),
 * the scope, the question and its arguments. Where an answer changes on purpose: HDX_WRITE_BOOKSHOP=/tmp/new runs this
 * test so that it writes the file as it would be now; HDX_SHOW_BOOKSHOP=histogram prints the answers whose line has
 * that word.
 */
#include "heap.h"
#include "query/questions.h"

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

/* The whole answer as text; gives the number of rows. */
static uint64_t answer_text(const hdx_question *question, const hdx_arguments *a, hdx_rows *rows, hdx_buffer *b)
{
    unsigned          count;
    uint64_t          n = 0;
    const hdx_cell   *cells;
    hdx_error         err;
    const hdx_column *has = hdx_rows_columns(rows, &count);
    const hdx_form   *form = hdx_arguments_form(a);
    hdx_buffer_format(b, "%s\n", hdx_rows_title(rows) == NULL ? "-" : hdx_rows_title(rows));
    put_columns(b, form->columns, form->column_count);
    put_columns(b, question->declared.document, question->declared.document_count);
    for (unsigned i = 0; i < question->declared.parameter_count; i++) {
        const hdx_parameter *p = &question->declared.parameters[i];
        hdx_buffer_format(b, "%s %d %u %llu %llu\n", p->name, (int)p->kind, p->flags, (unsigned long long)p->least,
                          (unsigned long long)p->most);
    }
    for (; hdx_rows_next(rows, &cells); n++) {
        if (is_passing_row(rows, cells))
            continue;
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

/* "live histogram by=package class=java.*"; a blank within a value is written as %. */
static uint64_t ask(heap *h, const char *line, hdx_buffer *b)
{
    char         words[512];
    hdx_argument at[16];
    hdx_rows    *rows;
    size_t       count = 0;
    (void)snprintf(words, sizeof words, "%s", line);
    const char *scope = strtok(words, " "), *name = strtok(NULL, " ");
    cr_assert(scope != NULL && name != NULL, "%s", line);
    for (char *word; (word = strtok(NULL, " ")) != NULL; count++) {
        char *value = strchr(word, '=');
        for (char *c = value; c != NULL && (c = strchr(c, '%')) != NULL;)
            *c = ' ';
        if (value != NULL)
            *value++ = '\0';
        cr_assert(count < HDX_COUNT(at));
        at[count] = (hdx_argument){ word, value };
    }
    const hdx_question *question = question_named(name);
    hdx_arguments       a = { &question->declared, at, count };
    h->q.scope = strcmp(scope, "live") == 0 ? HDX_LIVE : strcmp(scope, "all") == 0 ? HDX_ALL : HDX_GARBAGE;
    cr_assert(eq(int, hdx_arguments_check(&a, NULL, 0, "", &h->err), HDX_OK), "%s: %s", line, h->err.message);
    cr_assert(eq(int, question->open(&h->q, &a, &rows, &h->err), HDX_OK), "%s: %s", line, h->err.message);
    const uint64_t n = answer_text(question, &a, rows, b);
    hdx_rows_close(rows);
    return n;
}

Test(bookshop, is_answered_as_before)
{
    static const char dump[] = HDX_TREE "/examples/bookshop.hprof.gz";
    const char       *new_path = getenv("HDX_WRITE_BOOKSHOP"), *word = getenv("HDX_SHOW_BOOKSHOP");
    char              line[512];
    heap              h = { .g = NULL };
    hdx_index_report  report;
    FILE             *asks = fopen(HDX_TREE "/tests/query/bookshop.txt", "r"), *anew = NULL;
    cr_assert(asks != NULL);
    if (new_path != NULL) {
        anew = fopen(new_path, "w");
        cr_assert(anew != NULL);
    }
    test_folder_make(h.folder, "bookshop");
    (void)snprintf(h.index, sizeof h.index, "%s/a.hdx", h.folder);
    const hdx_index_options options = { .dump = dump, .index_dir = h.index, .threads = 1 };
    ok(hdx_index_build(&options, &report, &h.err));
    ok(hdx_graph_open(h.index, dump, &h.g, &h.err));
    h.q = (hdx_query){ .graph = h.g, .threads = 2 };
    while (fgets(line, sizeof line, asks) != NULL) {
        unsigned long long rows = 0;
        unsigned           crc = 0;
        int                at = 0;
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#' || line[0] == '\0') {
            if (anew != NULL)
                (void)fprintf(anew, "%s\n", line);
            continue;
        }
        cr_assert(sscanf(line, "%llu %x %n", &rows, &crc, &at) == 2, "%s", line);
        hdx_buffer     b = hdx_buffer_of(NULL);
        const uint64_t n = ask(&h, line + at, &b);
        const uint32_t now = hdx_crc32c(0, b.at, b.len);
        if (word != NULL && strstr(line, word) != NULL)
            (void)printf("%s\n%s\n", line, b.at);
        if (anew != NULL)
            (void)fprintf(anew, "%llu %08x %s\n", (unsigned long long)n, now, line + at);
        else
            cr_expect(n == rows && now == crc, "%s: now %llu %08x", line, (unsigned long long)n, now);
        hdx_buffer_free(&b);
    }
    if (anew != NULL)
        cr_assert(fclose(anew) == 0);
    (void)fclose(asks);
    heap_close(&h);
}
