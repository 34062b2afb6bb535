/*
 * test_arrow.c - answers as Arrow streams: each structure as the Arrow C data interface wants it, each value that of
 * the rows, and whoever reads on, moves, leaves early or comes late.
 */
#include "answer/answer.h"
#include "columns/arrow_reader.h"
#include "support/folder.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static char folder[TEST_FOLDER];

static hdx_session *opened(void)
{
    char                    command[TEST_FOLDER + 256];
    const hdx_index_options options = { .dump = "app.hprof.gz" };
    hdx_session            *s;
    hdx_error               err;
    test_folder_make(folder, "arrow");
    (void)snprintf(command, sizeof command, "cp '%s' '%s/app.hprof.gz'", HDX_TREE "/examples/bookshop.hprof.gz",
                   folder);
    cr_assert(system(command) == 0 && chdir(folder) == 0);
    cr_assert(hdx_session_open(&options, &s, &err) == HDX_OK, "%s", err.message);
    return s;
}

static void over(hdx_session *s)
{
    hdx_session_close(s);
    cr_assert(chdir("/") == 0);
    test_folder_remove(folder);
}

/* "export table=objects reachable=all" */
static size_t read_ask(char *words, hdx_argument *at, const char **name)
{
    size_t count = 0;
    *name = strtok(words, " ");
    for (char *word; (word = strtok(NULL, " ")) != NULL; count++) {
        char *value = strchr(word, '=');
        if (value != NULL)
            *value++ = '\0';
        for (char *plus = value; plus != NULL && (plus = strchr(plus, '+')) != NULL;)
            *plus = ' ';
        at[count] = (hdx_argument){ word, value };
    }
    return count;
}

static hdx_code ask(hdx_session *s, const char *text, struct ArrowArrayStream *out, hdx_error *err)
{
    char         words[256];
    hdx_argument at[8];
    const char  *name;
    (void)snprintf(words, sizeof words, "%s", text);
    const size_t count = read_ask(words, at, &name);
    return hdx_answer_arrow(s, name, at, count, out, err);
}

/* Every batch is right, and they have the rows of the answer, in their order. */
static void expect_answer(hdx_session *s, const char *text)
{
    char                    words[256];
    hdx_argument            at[9];
    const char             *name;
    unsigned                columns;
    hdx_rows               *rows;
    struct ArrowArrayStream stream;
    struct ArrowSchema      schema;
    struct ArrowArray       batch;
    hdx_error               err;
    const hdx_cell         *cells;
    (void)snprintf(words, sizeof words, "%s", text);
    size_t count = read_ask(words, at, &name);
    at[count++] = (hdx_argument){ "texts", "whole" };
    cr_assert(hdx_answer_run(s, name, at, count, &rows, &err) == HDX_OK, "%s: %s", text, err.message);
    const hdx_column *declared = hdx_rows_columns(rows, &columns);
    cr_assert(ask(s, text, &stream, &err) == HDX_OK, "%s: %s", text, err.message);
    cr_assert(stream.get_schema(&stream, &schema) == 0);
    arrow_check_schema(&schema, declared, columns);
    while (stream.get_next(&stream, &batch) == 0 && batch.release != NULL) {
        cr_assert(batch.length > 0);
        arrow_check_array(&schema, &batch);
        for (unsigned c = 0; c < columns; c++)
            arrow_check_array(schema.children[c], batch.children[c]);
        for (int64_t i = 0; i < batch.length; i++) {
            cr_assert(hdx_rows_next(rows, &cells), "%s: the stream has more rows", text);
            for (unsigned c = 0; c < columns; c++)
                arrow_expect_cell(batch.children[c], i, &declared[c], &cells[c]);
        }
        batch.release(&batch);
        cr_assert(batch.release == NULL);
    }
    cr_assert(stream.get_last_error(&stream) == NULL);
    cr_assert(!hdx_rows_next(rows, &cells), "%s: the stream has fewer rows", text);
    cr_assert(stream.get_next(&stream, &batch) == 0 && batch.release == NULL); /* and again: the end */
    schema.release(&schema);
    stream.release(&stream);
    cr_assert(stream.release == NULL);
    hdx_rows_close(rows);
}

Test(arrow, has_the_rows_of_every_table_and_of_answers_of_every_shape)
{
    hdx_session             *s = opened();
    size_t                   count;
    char                     text[128];
    const hdx_answer *const *tables = hdx_tables(&count);
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(text, sizeof text, "export table=%s", tables[i]->name);
        expect_answer(s, text);
    }
    static const char *const asks[] = {
        "export table=objects reachable=all",
        "export table=objects reachable=garbage",
        "export table=objects columns=class,retained,length reachable=all",
        "export table=objects where=retained>1K columns=address,retained",
        "export table=objects where=class~^java where=shallow!=24 columns=kind,class",
        "export table=objects where=shallow!=24 columns=length,dominator,retained,id reachable=all",
        "export table=objects where=id>70 where=shallow>24 columns=length,position,dominator",
        "export table=objects where=id>=70 where=id<12345",
        "export table=objects where=id>=12345 where=id<70 reachable=all",
        "export table=objects where=class=java.lang.Thread",
        "export table=objects where=class=no.such.Class",
        "export table=objects where=dominator=null columns=id,dominator",
        "export table=objects limit=5000",
        "export table=objects limit=1",
        "export table=objects sort=retained limit=7",
        "export table=references where=dst=0xfeb18ea8",
        "export table=references where=src>=0xfeb18ea8 where=src<0xfeb19ea8",
        "export table=references reachable=all limit=9999 columns=dst",
        "histogram by=package",
        "histogram retained",
        "object object=thread:main",
        "threads stacks locals",
        "strings by=value limit=20",
        "suspects",
        "info",
        "path object=0xfeb18ea8",
    };
    for (size_t i = 0; i < sizeof asks / sizeof *asks; i++)
        expect_answer(s, asks[i]);
    over(s);
}

Test(arrow, batches_and_streams_outlive_the_session_in_any_order)
{
    hdx_session            *s = opened();
    struct ArrowArrayStream stream, left;
    struct ArrowArray       batch, child;
    hdx_error               err;
    int64_t                 rows = 0;
    cr_assert(ask(s, "export table=objects columns=class,address", &left, &err) == HDX_OK);
    cr_assert(ask(s, "export table=objects columns=class,address", &stream, &err) == HDX_OK);
    left.release(&left); /* nothing was read of it */
    hdx_session_close(s);
    while (stream.get_next(&stream, &batch) == 0 && batch.release != NULL) {
        rows += batch.length;
        child = *batch.children[0]; /* moved away, as a consumer may */
        batch.children[0]->release = NULL;
        batch.release(&batch);
        cr_assert(child.dictionary != NULL && child.dictionary->length > 100);
        child.release(&child);
    }
    cr_expect(rows == 23875, "%lld", (long long)rows);
    stream.release(&stream);
    cr_assert(chdir("/") == 0);
    test_folder_remove(folder);
}

static void *drain(void *of)
{
    struct ArrowArrayStream *stream = of;
    struct ArrowArray        batch;
    int64_t                  rows = 0;
    while (stream->get_next(stream, &batch) == 0 && batch.release != NULL) {
        rows += batch.length;
        batch.release(&batch);
    }
    stream->release(stream);
    return (void *)(intptr_t)rows;
}

Test(arrow, streams_of_one_session_are_read_on_threads_of_their_own)
{
    hdx_session            *s = opened();
    struct ArrowArrayStream streams[4];
    pthread_t               threads[4];
    hdx_error               err;
    for (int i = 0; i < 4; i++)
        cr_assert(ask(s, i % 2 == 0 ? "export table=references" : "export table=objects", &streams[i], &err) == HDX_OK);
    for (int i = 0; i < 4; i++)
        cr_assert(pthread_create(&threads[i], NULL, drain, &streams[i]) == 0);
    hdx_session_close(s);
    for (int i = 0; i < 4; i++) {
        void *rows;
        cr_assert(pthread_join(threads[i], &rows) == 0);
        cr_expect((intptr_t)rows == (i % 2 == 0 ? 67461 : 23875), "%ld", (long)(intptr_t)rows);
    }
    cr_assert(chdir("/") == 0);
    test_folder_remove(folder);
}

Test(arrow, ends_where_it_is_cancelled_and_says_so)
{
    hdx_session            *s = opened();
    struct ArrowArrayStream stream;
    struct ArrowArray       batch;
    hdx_error               err;
    cr_assert(ask(s, "export table=references", &stream, &err) == HDX_OK);
    hdx_session_cancel(s);
    cr_expect(stream.get_next(&stream, &batch) == ECANCELED && batch.release == NULL);
    cr_expect(stream.get_last_error(&stream) != NULL && strstr(stream.get_last_error(&stream), "interrupted") != NULL);
    cr_expect(stream.get_next(&stream, &batch) == ECANCELED); /* it stays as it failed */
    stream.release(&stream);
    over(s);
}

Test(arrow, keeps_to_the_bound_of_the_session_and_what_was_handed_out_is_free)
{
    hdx_session            *s = opened();
    struct ArrowArrayStream stream;
    struct ArrowArray       batch, kept[64];
    hdx_graph              *g;
    hdx_error               err;
    unsigned                refused = 0;
    size_t                  count = 0;
    cr_assert(hdx_session_graph(s, 0, &g, &err) == HDX_OK);
    for (uint64_t limit = 10000; limit < 64u << 20; limit = limit * 2) {
        hdx_session_limit(s, limit);
        const hdx_code code = ask(s, "export table=objects", &stream, &err);
        cr_assert(code == HDX_OK || code == HDX_LIMIT, "%d %s", code, err.message);
        if (code != HDX_OK) {
            cr_assert(stream.release == NULL);
            continue;
        }
        const int failed = stream.get_next(&stream, &batch);
        cr_expect(failed == 0 || failed == ENOMEM, "%d", failed);
        refused += failed != 0;
        if (failed == 0)
            kept[count++] = batch;
        stream.release(&stream);
        cr_assert(s->mem.used == 0, "%llu", (unsigned long long)s->mem.used);
    }
    cr_expect(refused > 1 && count > 1, "%u %zu", refused, count);
    over(s);
    for (size_t i = 0; i < count; i++)
        kept[i].release(&kept[i]);
}

Test(arrow, refuses_what_the_answer_would)
{
    hdx_session            *s = opened();
    struct ArrowArrayStream stream;
    hdx_error               err;
    cr_expect(ask(s, "no-such-answer", &stream, &err) == HDX_USAGE && stream.release == NULL);
    cr_expect(ask(s, "export", &stream, &err) == HDX_USAGE && stream.release == NULL);
    cr_expect(ask(s, "export table=objects,classes", &stream, &err) == HDX_USAGE && stream.release == NULL);
    cr_expect(ask(s, "histogram columns=nothing", &stream, &err) == HDX_USAGE && stream.release == NULL);
    cr_expect(ask(s, "object object=0x1", &stream, &err) == HDX_NOT_FOUND && stream.release == NULL);
    over(s);
}
