/* Manifests, flat JSON and ids: anybody may have written them. */
#include "batch/batch.h"
#include "support/folder.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct rows {
    hdx_arena  arena;
    hdx_buffer text; /* "line key=value key=value\n" */
} rows;

static hdx_code take(void *context, const hdx_flat *row, uint64_t line, hdx_error *err)
{
    rows *r = context;
    (void)err;
    hdx_buffer_format(&r->text, "%llu", (unsigned long long)line);
    for (size_t i = 0; i < row->count; i++)
        hdx_buffer_format(&r->text, " %s=%s", row->at[i].key, row->at[i].value != NULL ? row->at[i].value : "(null)");
    hdx_buffer_text(&r->text, "\n");
    return HDX_OK;
}

static void expect(bool csv, const char *text, size_t len, hdx_code code, const char *said)
{
    rows      r = { hdx_arena_of(NULL), hdx_buffer_of(NULL) };
    hdx_error err = { .offset = HDX_NOWHERE };
    char     *copy = malloc(len + 1); /* of exactly that length: reading further is noticed */
    memcpy(copy, text, len);
    char          *exact = realloc(copy, len > 0 ? len : 1);
    const hdx_code got =
        (csv ? hdx_batch_manifest_csv : hdx_batch_manifest_jsonl)("m", exact, len, &r.arena, take, &r, &err);
    cr_expect(eq(int, (int)got, (int)code), "%s: %s", text, err.message);
    if (code == HDX_OK)
        cr_expect_str_eq(r.text.at != NULL ? r.text.at : "", said, "%s", text);
    else
        cr_expect(strstr(err.message, said) != NULL, "%s: '%s'", text, err.message);
    free(exact);
    hdx_buffer_free(&r.text);
    hdx_arena_free(&r.arena);
}

static void csv(const char *text, hdx_code code, const char *said) { expect(true, text, strlen(text), code, said); }
static void jsonl(const char *text, hdx_code code, const char *said) { expect(false, text, strlen(text), code, said); }

Test(manifest, csv_has_a_header_and_keeps_columns_it_does_not_know)
{
    csv("dump,application,team\na.hprof,shop,blue\nb.hprof,,\n", HDX_OK,
        "2 dump=a.hprof application=shop team=blue\n3 dump=b.hprof application= team=\n");
    csv("application,dump\nshop,a.hprof", HDX_OK, "2 application=shop dump=a.hprof\n");
    csv("dump,application\na.hprof\n", HDX_OK, "2 dump=a.hprof\n");
}

Test(manifest, csv_of_dos_and_with_a_byte_order_mark_is_the_same)
{
    csv("\xef\xbb\xbf"
        "dump,host\r\na.hprof,n1\r\n\r\nb.hprof,n2\r\n",
        HDX_OK, "2 dump=a.hprof host=n1\n4 dump=b.hprof host=n2\n");
}

Test(manifest, csv_in_quotes_holds_commas_quotes_and_ends_of_lines)
{
    csv("dump,release\n\"a, b.hprof\",\"say \"\"2.1\"\"\"\n\"c\nd.hprof\",x\ne.hprof,\"\"\n", HDX_OK,
        "2 dump=a, b.hprof release=say \"2.1\"\n3 dump=c\nd.hprof release=x\n5 dump=e.hprof release=\n");
    csv("\"dump\"\na.hprof\n", HDX_OK, "2 dump=a.hprof\n");
}

Test(manifest, csv_that_is_wrong_says_where)
{
    csv("", HDX_USAGE, "including `dump`");
    csv("path,host\na,b\n", HDX_USAGE, "including `dump`");
    csv("dump,host,host\n", HDX_USAGE, "line 1: two columns have the same name");
    csv("dump\na.hprof,b\n", HDX_USAGE, "line 2: more fields than columns");
    csv("dump\nok.hprof\n\"a.hprof\nb.hprof\n", HDX_USAGE, "line 3: a quote is not closed");
    csv("dump\n\"a\"b\n", HDX_USAGE, "line 2: text follows a closing quote");
    expect(true, "dump\na\0b\n", 9, HDX_USAGE, "contains a NUL byte");
}

Test(manifest, csv_with_a_field_or_a_row_without_end_is_refused)
{
    const size_t len = BATCH_MOST_LINE + 100;
    char        *text = malloc(len + 8);
    memset(text, 'x', len);
    memcpy(text, "dump\n", 5);
    expect(true, text, len, HDX_USAGE, "line 2: a field exceeds 1 MB");
    text[5] = '"';
    text[len - 1] = '"';
    expect(true, text, len, HDX_USAGE, "line 2: a field exceeds 1 MB");
    memset(text, ',', 2000);
    memcpy(text, "dump\n", 5);
    expect(true, text, 2000, HDX_USAGE, "line 2: more than 512 columns");
    free(text);
}

static hdx_code count_rows(void *context, const hdx_flat *row, uint64_t line, hdx_error *err)
{
    (void)line;
    (void)err;
    *(uint64_t *)context += row->count;
    return HDX_OK;
}

Test(manifest, takes_no_more_memory_for_many_rows_than_for_one)
{
    enum { ROWS = 20000, COLUMNS = 500 };
    for (int csv = 0; csv < 2; csv++) {
        hdx_mem    mem = { .limit = 2u << 20 };
        hdx_arena  arena = hdx_arena_of(&mem);
        hdx_buffer text = hdx_buffer_of(NULL);
        hdx_error  err = { .offset = HDX_NOWHERE };
        uint64_t   fields = 0;
        hdx_buffer_text(&text, csv ? "dump" : "");
        for (int i = 1; csv && i < COLUMNS; i++)
            hdx_buffer_format(&text, ",c%d", i);
        for (int row = 0; row < (csv ? ROWS : 20 * ROWS); row++) {
            hdx_buffer_text(&text, csv ? "\nd" : "{\"dump\": \"d\", \"a\": 17, \"b\": \"text\"}\n");
            for (int i = 1; csv && i < COLUMNS; i++)
                hdx_buffer_text(&text, ",");
        }
        const hdx_code code = (csv ? hdx_batch_manifest_csv : hdx_batch_manifest_jsonl)("m", text.at, text.len, &arena,
                                                                                        count_rows, &fields, &err);
        cr_expect(eq(int, (int)code, HDX_OK), "%s", err.message);
        cr_expect(eq(u64, fields, csv ? (uint64_t)ROWS * COLUMNS : 60 * ROWS));
        hdx_arena_free(&arena);
        hdx_buffer_free(&text);
    }
}

Test(manifest, jsonl_is_an_object_a_line)
{
    jsonl(
        "{\"dump\": \"a.hprof\", \"n\": 17, \"deep\": {\"x\": [1, \"}\"]}, \"no\": null, \"yes\": true}\n"
        "\n{ \"dump\" :\"b\\u00e9\\ud83d\\ude00\\\\\\/.hprof\" }\r\n",
        HDX_OK,
        "1 dump=a.hprof n=17 deep={\"x\": [1, \"}\"]} no=(null) yes=true\n3 dump=b\xc3\xa9\xf0\x9f\x98\x80\\/.hprof\n");
    jsonl("", HDX_OK, "");
    jsonl("{}", HDX_OK, "1\n");
}

Test(manifest, jsonl_that_is_wrong_says_where)
{
    static const char *const wrong[] = { "[1]",
                                         "{\"dump\": \"a\"",
                                         "{\"dump\": \"a}",
                                         "{\"dump\" \"a\"}",
                                         "{\"dump\": }",
                                         "{\"dump\": \"a\",}",
                                         "{\"dump\": \"a\"} x",
                                         "{\"dump\": \"\\u0000\"}",
                                         "{\"dump\": \"\\u00\"}",
                                         "{\"dump\": \"\\x\"}",
                                         "{\"dump\": \"a\\",
                                         "dump" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char line[64];
        snprintf(line, sizeof line, "{}\n%s", wrong[i]);
        jsonl(line, HDX_USAGE, "line 2: not a JSON object");
    }
    expect(false, "{\"dump\": \"a\0b\"}", 15, HDX_USAGE, "line 1: not a JSON object");
}

Test(flat, written_is_read_again)
{
    hdx_arena  arena = hdx_arena_of(NULL);
    hdx_buffer b = hdx_buffer_of(NULL);
    hdx_flat   f;
    hdx_buffer_text(&b, "{");
    hdx_batch_put_text(&b, "t", "a \"b\"\n\\ \xc3\xa9");
    hdx_batch_put_text(&b, "none", NULL);
    hdx_batch_put_number(&b, "n", UINT64_MAX);
    hdx_batch_put_real(&b, "r", 1.5);
    hdx_batch_put_bool(&b, "yes", true);
    hdx_batch_put_end(&b);
    cr_assert(hdx_flat_read(&arena, b.at, b.len, &f), "%s", b.at);
    cr_expect_str_eq(hdx_flat_text(&f, "t"), "a \"b\"\n\\ \xc3\xa9");
    cr_expect(hdx_flat_text(&f, "none") == NULL);
    cr_expect(eq(u64, hdx_flat_number(&f, "n"), UINT64_MAX));
    cr_expect(eq(dbl, hdx_flat_real(&f, "r"), 1.5));
    cr_expect_str_eq(hdx_flat_text(&f, "yes"), "true");
    cr_expect(hdx_flat_text(&f, "other") == NULL);
    hdx_buffer_free(&b);
    hdx_arena_free(&arena);
}

/* ---- inputs ---- */

static hdx_buffer said;
static void       say(void *context, const char *line)
{
    (void)context;
    hdx_buffer_format(&said, "%s\n", line);
}

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "wb");
    cr_assert(f != NULL);
    (void)fputs(text, f);
    (void)fclose(f);
}

static hdx_code inputs(hdx_arena *arena, batch_dumps *out, const char *a, const char *b, hdx_error *err)
{
    const char *const       words[] = { a, b };
    const hdx_batch_options o = { .inputs = words, .input_count = b != NULL ? 2 : 1 };
    *err = (hdx_error){ .offset = HDX_NOWHERE };
    *out = (batch_dumps){ 0 };
    hdx_buffer_clear(&said);
    return hdx_batch_inputs(&o, arena, out, say, NULL, err);
}

Test(inputs, are_found_in_folders_and_by_patterns_each_once_with_the_same_id)
{
    char        folder[TEST_FOLDER], id[200];
    hdx_arena   arena = hdx_arena_of(NULL);
    batch_dumps d, again;
    hdx_error   err;
    said = hdx_buffer_of(NULL);
    test_folder_make(folder, "batch");
    cr_assert(chdir(folder) == 0 && mkdir("d", 0777) == 0 && mkdir("d/e", 0777) == 0 &&
              mkdir("d/a.hprof.hdx", 0777) == 0);
    put("d/b.hprof", "");
    put("d/e/a.hprof.gz", "");
    put("d/other.txt", "");
    put("d/a.hprof.hdx/c.hprof", "");
    cr_assert(symlink(".", "d/loop") == 0);
    cr_assert(eq(int, (int)inputs(&arena, &d, "d", "d/*.hprof", &err), HDX_OK), "%s", err.message);
    cr_assert(eq(u64, d.count, 2));
    cr_expect_str_eq(d.at[0].path, "d/b.hprof");
    cr_expect_str_eq(d.at[1].path, "d/e/a.hprof.gz");
    cr_expect(strncmp(d.at[0].id, "b-", 2) == 0 && strlen(d.at[0].id) == 10, "%s", d.at[0].id);
    cr_expect(strncmp(d.at[1].id, "a-", 2) == 0 && hdx_batch_is_id(d.at[1].id), "%s", d.at[1].id);
    snprintf(id, sizeof id, "%s", d.at[0].id);
    hdx_list_free(NULL, HDX_LIST_REF(&d));
    cr_assert(chdir("d") == 0);
    cr_assert(eq(int, (int)inputs(&arena, &again, "b.hprof", "../d/b.hprof", &err), HDX_OK), "%s", err.message);
    cr_expect(eq(u64, again.count, 1), "it is the same");
    cr_expect_str_eq(again.at[0].id, id, "from wherever it is named");
    hdx_list_free(NULL, HDX_LIST_REF(&again));
    cr_expect(eq(int, (int)inputs(&arena, &d, "*.none", NULL, &err), HDX_USAGE));
    cr_expect_str_eq(err.message, "matches no file");
    cr_expect(eq(int, (int)inputs(&arena, &d, "a.hprof.hdx", NULL, &err), HDX_OK),
              "a folder that was named is looked into");
    hdx_list_free(NULL, HDX_LIST_REF(&d));
    test_folder_remove(folder);
    hdx_arena_free(&arena);
    hdx_buffer_free(&said);
}

Test(inputs, have_so_many_values_in_manifests_and_no_more)
{
    char        folder[TEST_FOLDER];
    hdx_arena   arena = hdx_arena_of(NULL);
    hdx_buffer  text = hdx_buffer_of(NULL);
    batch_dumps d;
    hdx_error   err;
    said = hdx_buffer_of(NULL);
    test_folder_make(folder, "batch");
    cr_assert(chdir(folder) == 0);
    hdx_buffer_text(&text, "dump");
    for (int i = 0; i < 500; i++)
        hdx_buffer_format(&text, ",%d", i);
    for (unsigned row = 0; row <= BATCH_MOST_FIELDS / 500; row++) {
        hdx_buffer_format(&text, "\n%u", row);
        for (int i = 0; i < 500; i++)
            hdx_buffer_text(&text, ",x");
    }
    put("wide.csv", text.at);
    cr_expect(eq(int, (int)inputs(&arena, &d, "wide.csv", NULL, &err), HDX_LIMIT));
    cr_expect_str_eq(err.message, "more than 4194304 values in manifests");
    hdx_list_free(NULL, HDX_LIST_REF(&d));
    hdx_buffer_free(&text);
    hdx_buffer_free(&said);
    hdx_arena_free(&arena);
    test_folder_remove(folder);
}

Test(inputs, that_are_indexes_are_passed_over)
{
    char        folder[TEST_FOLDER];
    hdx_arena   arena = hdx_arena_of(NULL);
    batch_dumps d;
    hdx_error   err;
    said = hdx_buffer_of(NULL);
    test_folder_make(folder, "batch");
    cr_assert(chdir(folder) == 0 && mkdir("d", 0777) == 0 && mkdir("d/a.hprof.hdx", 0777) == 0 &&
              mkdir("d/b.hprof.hdx", 0777) == 0);
    put("d/b.hprof.hdx/catalog.sum", "");
    put("d/a.hprof.hdx/catalog.mdb", "");
    cr_expect(eq(int, (int)inputs(&arena, &d, "d/a.hprof.hdx", "d/b*", &err), HDX_OK), "%s", err.message);
    cr_expect(d.count == 0 && strstr(said.at, "no dump found, but 2 indexes") != NULL, "%s", said.at);
    hdx_list_free(NULL, HDX_LIST_REF(&d));
    cr_expect(eq(int, (int)inputs(&arena, &d, "d", NULL, &err), HDX_OK), "all dumps of it were deleted");
    hdx_list_free(NULL, HDX_LIST_REF(&d));
    put("d/a.hprof", "");
    cr_expect(eq(int, (int)inputs(&arena, &d, "d/a*", NULL, &err), HDX_OK), "%s", err.message);
    cr_expect(d.count == 1 && said.len == 0);
    hdx_list_free(NULL, HDX_LIST_REF(&d));
    test_folder_remove(folder);
    hdx_arena_free(&arena);
    hdx_buffer_free(&said);
}

Test(inputs, with_paths_that_are_too_long_are_told_of)
{
    char        folder[TEST_FOLDER], name[201];
    hdx_arena   arena = hdx_arena_of(NULL);
    batch_dumps d;
    hdx_error   err;
    said = hdx_buffer_of(NULL);
    test_folder_make(folder, "batch");
    cr_assert(chdir(folder) == 0 && mkdir("d", 0777) == 0);
    put("d/a.hprof", "");
    memset(name, 'x', 200);
    name[200] = '\0';
    cr_assert(chdir("d") == 0);
    for (int i = 0; i < 22; i++)
        cr_assert(mkdir(name, 0777) == 0 && chdir(name) == 0);
    cr_assert(chdir(folder) == 0);
    cr_expect(eq(int, (int)inputs(&arena, &d, "d", NULL, &err), HDX_OK), "%s", err.message);
    cr_expect(d.count == 1 && said.at != NULL && strstr(said.at, "the path is too long") != NULL);
    cr_assert(system("rm -r d") == 0); /* it comes as deep */
    hdx_list_free(NULL, HDX_LIST_REF(&d));
    test_folder_remove(folder);
    hdx_arena_free(&arena);
    hdx_buffer_free(&said);
}

Test(inputs, of_a_manifest_are_beside_it_and_have_safe_ids)
{
    char        folder[TEST_FOLDER];
    hdx_arena   arena = hdx_arena_of(NULL);
    batch_dumps d;
    hdx_error   err;
    said = hdx_buffer_of(NULL);
    test_folder_make(folder, "batch");
    cr_assert(chdir(folder) == 0 && mkdir("m", 0777) == 0);
    put("m/list.csv",
        "dump_id,dump,application,floor\nshop-1,a.hprof,shop,3\n../x,b.hprof,,\nshop-1,/abs/c.hprof,,\n,d.hprof,,\n");
    cr_assert(eq(int, (int)inputs(&arena, &d, "m/list.csv", NULL, &err), HDX_OK), "%s", err.message);
    cr_assert(eq(u64, d.count, 4));
    cr_expect_str_eq(d.at[0].id, "shop-1");
    cr_expect_str_eq(d.at[0].path, "m/a.hprof");
    cr_expect_str_eq(hdx_batch_field(&d.at[0], "application"), "shop");
    cr_expect_str_eq(hdx_batch_field(&d.at[0], "floor"), "3");
    cr_expect(hdx_batch_field(&d.at[0], "dump") == NULL && hdx_batch_field(&d.at[1], "application") == NULL);
    cr_expect(strncmp(d.at[1].id, "d.._x-", 6) == 0 && hdx_batch_is_id(d.at[1].id), "%s", d.at[1].id);
    cr_expect_str_eq(d.at[2].path, "/abs/c.hprof");
    cr_expect(strncmp(d.at[2].id, "shop-1-", 7) == 0, "%s", d.at[2].id);
    cr_expect(strncmp(d.at[3].id, "d-", 2) == 0, "%s", d.at[3].id);
    cr_expect(strstr(said.at, "line 3: dump_id '../x' is not a valid file name") != NULL, "%s", said.at);
    cr_expect(strstr(said.at, "dump_id shop-1 belongs to another dump") != NULL, "%s", said.at);
    hdx_list_free(NULL, HDX_LIST_REF(&d));
    put("m/list.csv", "dump,a,b\nx.hprof,,\n");
    cr_assert(eq(int, (int)inputs(&arena, &d, "m/list.csv", NULL, &err), HDX_OK), "%s", err.message);
    cr_expect(eq(u64, d.at[0].field_count, 0), "what says nothing is not kept");
    hdx_list_free(NULL, HDX_LIST_REF(&d));
    put("m/list.csv", "dump\n,\n");
    cr_expect(eq(int, (int)inputs(&arena, &d, "m/list.csv", NULL, &err), HDX_USAGE));
    hdx_list_free(NULL, HDX_LIST_REF(&d));
    put("m/list.jsonl", "{\"dump\": null}\n");
    cr_expect(eq(int, (int)inputs(&arena, &d, "m/list.jsonl", NULL, &err), HDX_USAGE));
    cr_expect_str_eq(err.message, "line 1 names no dump");
    hdx_list_free(NULL, HDX_LIST_REF(&d));
    cr_expect(eq(int, (int)inputs(&arena, &d, "none.csv", NULL, &err), HDX_USAGE));
    test_folder_remove(folder);
    hdx_arena_free(&arena);
    hdx_buffer_free(&said);
}
