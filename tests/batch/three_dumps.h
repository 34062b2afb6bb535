/*
 * three_dumps.h - a folder with three dumps (d/shop.hprof.gz is whole, d/cut.hprof.gz ends early, d/text.hprof is no
 * dump), and batches over it.
 *
 *     TestSuite(batch, .init = enter, .fini = leave);
 *     ...
 *     hdx_batch_options o = usual_options();
 *     cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);    its rows are in `text`, its counts in `counts`
 *     expect_counts(2, 0, 1);
 *     expect_in("out/status/%s.json", id_of("cut-"), "\"state\": \"done\"");
 */
#ifndef HDX_TESTS_BATCH_THREE_DUMPS_H
#define HDX_TESTS_BATCH_THREE_DUMPS_H

#include "batch/run.h"
#include "support/folder.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define BOOKSHOP HDX_TREE "/examples/bookshop.hprof.gz"

static char             folder[TEST_FOLDER];
static hdx_error        err;
static hdx_batch_counts counts;
static hdx_buffer       text; /* of the rows, as csv */

static inline char *load(const char *path, size_t *len)
{
    FILE *f = fopen(path, "rb");
    char *bytes = calloc(1, 16 << 20);
    *len = f != NULL ? fread(bytes, 1, (16 << 20) - 1, f) : 0;
    if (f != NULL)
        (void)fclose(f);
    return bytes;
}

static inline void save(const char *path, const void *bytes, size_t len)
{
    FILE *f = fopen(path, "wb");
    cr_assert(f != NULL && fwrite(bytes, 1, len, f) == len);
    (void)fclose(f);
}

static inline void copy(const char *from, const char *to)
{
    size_t len;
    char  *bytes = load(from, &len);
    cr_assert(len > 0, "%s", from);
    save(to, bytes, len);
    free(bytes);
}

/* One whole, one that is cut short, one that is none. */
static inline void enter(void)
{
    size_t len;
    test_folder_make_fast(folder, "batch"); /* a batch syncs a lot */
    cr_assert(chdir(folder) == 0 && mkdir("d", 0777) == 0);
    (void)setenv("XDG_CACHE_HOME", folder, 1);
    copy(BOOKSHOP, "d/shop.hprof.gz");
    char *bytes = load(BOOKSHOP, &len);
    save("d/cut.hprof.gz", bytes, len / 8 * 7);
    free(bytes);
    save("d/text.hprof", "hello, world\n", 13);
    text = hdx_buffer_of(NULL);
}

static inline void leave(void)
{
    hdx_buffer_free(&text);
    test_folder_remove(folder);
}

static inline bool put(void *context, const char *bytes, size_t len)
{
    hdx_buffer_put(context, bytes, len);
    return true;
}

static const char              *input = "d";
static inline hdx_batch_options usual_options(void)
{
    return (hdx_batch_options){
        .inputs = &input, .input_count = 1, .out = "out", .ask = "histogram,suspects", .threads = 2, .memory = 1u << 30
    };
}

static inline hdx_code go(const hdx_batch_options *o)
{
    static const hdx_render_options csv = { .format = HDX_FORMAT_CSV };
    const hdx_sink                  sink = { put, &text };
    hdx_rows                       *rows = NULL;
    err = (hdx_error){ .offset = HDX_NOWHERE };
    const hdx_code code = hdx_batch_run(o, &counts, &rows, &err);
    hdx_buffer_clear(&text);
    hdx_buffer_text(&text, "");
    if (rows != NULL && hdx_rows_select(&rows, "dump_id,state,exit_code,error", NULL) == HDX_OK)
        (void)hdx_render(rows, &csv, &sink, NULL);
    hdx_rows_close(rows);
    return code;
}

static inline void expect_counts(uint64_t done, uint64_t skipped, uint64_t failed)
{
    cr_expect(eq(u64, counts.done, done), "%s", text.at);
    cr_expect(eq(u64, counts.skipped, skipped), "%s", text.at);
    cr_expect(eq(u64, counts.failed, failed), "%s", text.at);
}

/* The only id that begins so. */
static inline const char *id_of(const char *name)
{
    static char id[64];
    const char *at = strstr(text.at, name);
    cr_assert(at != NULL, "%s: %s", name, text.at);
    (void)snprintf(id, sizeof id, "%.*s", (int)strcspn(at, ","), at);
    return id;
}

static inline char *output_of(const char *format, const char *id)
{
    char   path[200];
    size_t len;
    (void)snprintf(path, sizeof path, format, id);
    char *bytes = load(path, &len);
    cr_expect(len > 0, "%s", path);
    return bytes;
}

static inline void expect_in(const char *format, const char *id, const char *words)
{
    char *bytes = output_of(format, id);
    cr_expect(strstr(bytes, words) != NULL, "%s: '%s'", words, bytes);
    free(bytes);
}

/* As a program that asks the library itself gets it. */
static inline void expect_answer(const char *dump, const char *name, const char *path, const char *id)
{
    static const hdx_render_options json = { .format = HDX_FORMAT_JSON };
    static const hdx_argument       whole[] = { { "texts", "whole" } };
    const hdx_index_options         options = { .dump = dump };
    hdx_buffer                      b = hdx_buffer_of(NULL);
    const hdx_sink                  sink = { put, &b };
    hdx_session                    *s = NULL;
    hdx_rows                       *rows = NULL;
    cr_assert(hdx_session_open(&options, &s, &err) == HDX_OK &&
                  hdx_answer_run(s, name, whole, 1, &rows, &err) == HDX_OK && hdx_render(rows, &json, &sink, &err) == 0,
              "%s", err.message);
    char *is = output_of(path, id);
    cr_expect_str_eq(is, b.at, "%s of %s", name, dump);
    free(is);
    hdx_rows_close(rows);
    hdx_session_close(s);
    hdx_buffer_free(&b);
}

/* The dump with the id "a" alone, and that it may be deleted. */
static inline hdx_batch_options dropping(void)
{
    static const char *const list = "list.csv";
    static const char        manifest[] = "dump,dump_id\nd/shop.hprof.gz,a\n";
    hdx_batch_options        o = usual_options();
    save(list, manifest, sizeof manifest - 1);
    o.inputs = &list;
    o.drop = true;
    return o;
}

static inline void expect_content(const char *path, const char *want)
{
    size_t len;
    char  *bytes = load(path, &len);
    cr_expect(len == strlen(want) && memcmp(bytes, want, len) == 0, "%s: %zu bytes", path, len);
    free(bytes);
}

#endif
