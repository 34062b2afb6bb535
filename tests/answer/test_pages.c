/*
 * test_pages.c - answers in pages: together they are the whole answer, what follows a page adds up to the whole, and a
 * cursor continues its own question only.
 */
#include "answer/asks.h"
#include "support/folder.h"

#include <criterion/new/assert.h>

/* Rows of an answer as text, a line each, and sums over columns of these names. */
typedef struct listed {
    hdx_buffer   text;
    uint64_t     rows, objects, retained;
    hdx_rows_cut cut;
    bool         follow;
} listed;

static void list(hdx_session *s, const char *ask, const char *limit, const char *after, listed *out)
{
    asked           a;
    hdx_rows       *rows;
    hdx_error       err = { .offset = HDX_NOWHERE };
    const hdx_cell *cells;
    unsigned        count;
    asked_read(&a, ask);
    a.at[a.count++] = (hdx_argument){ "limit", limit };
    if (after != NULL)
        a.at[a.count++] = (hdx_argument){ "after", after };
    cr_assert(hdx_answer_run(s, a.name, a.at, a.count, &rows, &err) == HDX_OK, "%s after %s: %s", ask, after,
              err.message);
    const hdx_column *columns = hdx_rows_columns(rows, &count);
    for (; hdx_rows_next(rows, &cells); out->rows++) {
        for (unsigned i = 0; i < count; i++) {
            asked_cell(&out->text, &cells[i]);
            hdx_buffer_text(&out->text, i + 1 < count ? ", " : "\n");
            if (cells[i].kind == HDX_CELL_UINT && strcmp(columns[i].name, "objects") == 0)
                out->objects += cells[i].as.natural;
            if (cells[i].kind == HDX_CELL_UINT &&
                (strcmp(columns[i].name, "retained") == 0 || strcmp(columns[i].name, "similar_retained") == 0))
                out->retained += cells[i].as.natural;
        }
    }
    cr_assert(hdx_rows_end(rows, &err) == HDX_OK, "%s: %s", ask, err.message);
    out->follow = hdx_rows_cut_off(rows, &out->cut);
    hdx_rows_close(rows);
}

/* What is known of the rows after a page of an answer. */
typedef enum known_sums {
    NO_SUMS,
    ROWS = 1,
    OBJECTS = 2,
    RETAINED = 4,
    EACH = 8
} known_sums; /* EACH: a row is an object */

static const struct {
    const char *ask;
    const char *limit;
    unsigned    known;
} cases[] = {
    { "json histogram", "9", ROWS | OBJECTS },
    { "json histogram by=package", "5", ROWS | OBJECTS },
    { "json histogram sort=class where=shallow>1K", "5", ROWS | OBJECTS },
    { "json dominators", "400", ROWS | EACH | RETAINED },
    { "json dominators by=class", "7", ROWS | OBJECTS | RETAINED },
    { "json dominators fold=similar", "11", RETAINED },
    { "json dominators merge least=5%", "4", NO_SUMS },
    { "json objects class=java.lang.String sort=retained", "3000", ROWS | EACH },
    { "json refs object=thread:main", "2", NO_SUMS },
    { "json roots", "300", NO_SUMS },
    { "json threads", "3", NO_SUMS },
    { "json collections", "400", NO_SUMS },
    { "json strings", "2000", NO_SUMS },
    { "json statics", "100", NO_SUMS },
    { "json garbage", "1", NO_SUMS },
    { "json properties", "10", NO_SUMS },
    { "json export table=classes", "300", NO_SUMS },
};

static void check_pages(hdx_session *s, const char *ask, const char *limit, unsigned known)
{
    listed   all = { .text = hdx_buffer_of(NULL) }, pages = { .text = hdx_buffer_of(NULL) };
    char     cursor[HDX_CURSOR_SIZE] = "";
    unsigned count = 0;
    list(s, ask, "0", NULL, &all);
    cr_assert(not(all.follow), "%s", ask);
    do {
        list(s, ask, limit, cursor[0] != '\0' ? cursor : NULL, &pages);
        memcpy(cursor, pages.cut.cursor, sizeof cursor);
        count++;
        cr_assert(count < 1000 && (cursor[0] != '\0') == pages.follow, "%s", ask);
        if (!pages.follow)
            break;
        cr_expect(pages.cut.rows == all.rows - pages.rows || (pages.cut.rows == 0 && (known & ROWS) == 0), "%s", ask);
        if ((known & OBJECTS) != 0)
            cr_expect(eq(u64, pages.cut.objects, all.objects - pages.objects), "%s", ask);
        if ((known & EACH) != 0)
            cr_expect(eq(u64, pages.cut.objects, all.rows - pages.rows), "%s", ask);
        if ((known & RETAINED) != 0)
            cr_expect(eq(u64, pages.cut.retained, all.retained - pages.retained), "%s", ask);
    } while (true);
    cr_expect(count > 1, "%s has %llu rows", ask, (unsigned long long)all.rows);
    cr_expect(strcmp(pages.text.at, all.text.at) == 0, "%s: pages of %s rows are not the answer", ask, limit);
    hdx_buffer_free(&pages.text);
    hdx_buffer_free(&all.text);
}

static hdx_session *open_bookshop(char folder[TEST_FOLDER])
{
    char         command[TEST_FOLDER + 256];
    hdx_session *s;
    hdx_error    err;
    test_folder_make(folder, "pages");
    (void)snprintf(command, sizeof command, "cp '%s' '%s/app.hprof.gz'", HDX_TREE "/examples/bookshop.hprof.gz",
                   folder);
    cr_assert(system(command) == 0);
    (void)snprintf(command, sizeof command, "%s/app.hprof.gz", folder);
    const hdx_index_options options = { .dump = command };
    cr_assert(hdx_session_open(&options, &s, &err) == HDX_OK, "%s", err.message);
    return s;
}

Test(pages, of_an_answer_are_all_of_its_rows_once)
{
    char         folder[TEST_FOLDER];
    hdx_session *s = open_bookshop(folder);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_pages(s, cases[i].ask, cases[i].limit, cases[i].known);
    hdx_session_close(s);
    test_folder_remove(folder);
}

static void expect_refused(hdx_session *s, const char *ask, const char *after, const char *why)
{
    asked     a;
    hdx_rows *rows = NULL;
    hdx_error err = { .offset = HDX_NOWHERE };
    asked_read(&a, ask);
    a.at[a.count++] = (hdx_argument){ "after", after };
    cr_expect(eq(int, hdx_answer_run(s, a.name, a.at, a.count, &rows, &err), HDX_USAGE), "%s", ask);
    cr_expect(strstr(err.message, why) != NULL, "%s: %s", ask, err.message);
    hdx_rows_close(rows);
}

Test(pages, continue_only_the_question_of_their_cursor)
{
    char         folder[TEST_FOLDER];
    hdx_session *s = open_bookshop(folder);
    listed       first = { .text = hdx_buffer_of(NULL) }, other = { .text = hdx_buffer_of(NULL) };
    list(s, "json histogram where=shallow>100 where=objects>1 by=class", "3", NULL, &first);
    const char *cursor = first.cut.cursor;
    list(s, "json histogram by=class where=objects>1 where=shallow>100 columns=class", "40", cursor, &other);
    cr_expect(eq(u64, other.cut.before, 3));
    expect_refused(s, "json histogram by=class where=shallow>100", cursor, "another question");
    expect_refused(s, "json histogram by=package where=shallow>100 where=objects>1", cursor, "another question");
    expect_refused(s, "json histogram by=class where=shallow>100 where=objects>1 sort=objects", cursor,
                   "another question");
    expect_refused(s, "json dominators by=class", cursor, "another question");
    expect_refused(s, "json histogram", "3", "not a cursor");
    expect_refused(s, "json histogram", "3-xyz", "not a cursor");
    expect_refused(s, "json path object=thread:main", "3-00000000", "does not apply to path");
    hdx_session_close(s);
    hdx_buffer_free(&first.text);
    hdx_buffer_free(&other.text);
    test_folder_remove(folder);
}
