/* Words to a call: options anywhere, values, what is refused and what is offered instead. */
#include "base/nearest.h"
#include "cli/cli.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

static hdx_arena arena;
static cli_call  call;
static hdx_error err;

/* Parses blank-separated words. */
static hdx_code parse(const char *line)
{
    static char copy[512];
    const char *argv[32] = { "heapdex" };
    int         argc = 1;
    (void)snprintf(copy, sizeof copy, "%s", line);
    for (char *w = strtok(copy, " "); w != NULL; w = strtok(NULL, " "))
        argv[argc++] = w;
    memset(&err, 0, sizeof err);
    return cli_parse(argc, argv, &arena, &call, &err);
}

static void clean(void) { hdx_arena_free(&arena); }
TestSuite(args, .fini = clean);

Test(args, options_stand_anywhere_and_both_forms_are_the_same)
{
    cr_assert(eq(int, parse("--format json histogram --limit=10 app.hprof --sort retained:desc"), HDX_OK));
    cr_expect_str_eq(call.answer->name, "histogram");
    cr_expect(eq(int, (int)call.format, HDX_FORMAT_JSON));
    cr_expect_str_eq(cli_given(&call, "limit"), "10");
    cr_expect_str_eq(cli_given(&call, "sort"), "retained:desc");
    cr_expect_str_eq(call.index.dump, "app.hprof");
    cr_assert(eq(int, parse("histogram app.hprof --format=tsv -o out.tsv"), HDX_OK));
    cr_expect(eq(int, (int)call.format, HDX_FORMAT_TSV));
    cr_expect_str_eq(call.output, "out.tsv");
    cr_assert(eq(int, parse("histogram app.hprof -oout.tsv"), HDX_OK));
    cr_expect_str_eq(call.output, "out.tsv");
}

Test(args, two_dashes_end_options)
{
    cr_assert(eq(int, parse("info -- --strange.hprof"), HDX_OK));
    cr_expect_str_eq(call.index.dump, "--strange.hprof");
    cr_expect_not(cli_asks_json(4, (const char *const[]){ "heapdex", "--", "--format", "json" }));
    cr_expect(cli_asks_json(3, (const char *const[]){ "heapdex", "--format=json", "--nonsense" }));
}

Test(args, a_dash_alone_is_an_object)
{
    cr_assert(eq(int, parse("object app.hprof 0x10 - #3"), HDX_OK));
    cr_expect(eq(sz, call.word_count, 3));
    cr_expect_str_eq(call.words[1], "-");
}

/* Values given for a parameter, with blanks between. */
static const char *all_given(const char *name)
{
    static char all[256];
    all[0] = '\0';
    for (size_t i = 0; i < call.argument_count; i++)
        if (strcmp(call.arguments[i].name, name) == 0)
            (void)snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", all[0] != '\0' ? " " : "",
                           call.arguments[i].value);
    return all;
}

Test(args, repeated_options_add_up_where_they_can)
{
    cr_assert(eq(int, parse("objects d --class X --where a>1 --where=b~x --limit 3 --limit 0"), HDX_OK));
    cr_expect_str_eq(all_given("where"), "a>1 b~x");
    cr_expect_str_eq(cli_given(&call, "limit"), "0");
    cr_assert(eq(int,
                 parse("path d #1 --exclude weak,soft --exclude finalizer --exclude-field A#b --exclude-field C#d"),
                 HDX_OK));
    cr_expect_str_eq(all_given("exclude"), "weak,soft finalizer");
    cr_expect_str_eq(all_given("exclude-field"), "A#b C#d");
    cr_assert(eq(int, parse("histogram d --class A --class B"), HDX_USAGE));
}

Test(args, by_means_what_the_command_says)
{
    static const struct {
        const char *line;
        hdx_code    code;
        const char *by;
    } cases[] = {
        { "histogram d --by package", HDX_OK, "package" }, { "histogram d --by superclass", HDX_OK, "superclass" },
        { "dominators d --by object", HDX_OK, "object" },  { "roots d --by type", HDX_OK, "type" },
        { "refs d #1 --by class", HDX_OK, "class" },       { "roots d --by package", HDX_USAGE, NULL },
        { "info d --by class", HDX_USAGE, NULL },          { "histogram d --by heap", HDX_OK, "heap" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_expect(eq(int, parse(cases[i].line), cases[i].code), "%s", cases[i].line);
        if (cases[i].code == HDX_OK)
            cr_expect_str_eq(cli_given(&call, "by"), cases[i].by, "%s", cases[i].line);
    }
}

Test(args, says_what_was_probably_meant)
{
    static const struct {
        const char *line, *hint;
    } cases[] = {
        { "histgram app.hprof", "did you mean 'histogram'?" },
        { "dominator app.hprof", "did you mean 'dominators'?" },
        { "info app.hprof --fromat json", "did you mean '--format'?" },
        { "info app.hprof --no-buld", "did you mean '--no-build'?" },
        { "info app.hprof --format jsno", "did you mean 'json'?" },
        { "path d #1 --exclude weka", "did you mean 'weak'?" },
        { "export d --table object", "did you mean 'objects'?" },
        { "info d --depth 2", "commands with this option: dominators, diff, trend" },
        { "export d --table objects --format jsnl", "did you mean 'jsonl'?" },
        { "histogram d --package com.acme", "heapdex calls this: --class 'PACKAGE.*'" },
        { "objects d com.acme.Cart", "classes are named with an option: --class 'com.acme.Cart'" },
        { "info d com.acme.Cart", "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_expect(eq(int, parse(cases[i].line), HDX_USAGE), "%s", cases[i].line);
        cr_expect_str_eq(err.hint, cases[i].hint, "%s: %s / %s", cases[i].line, err.message, err.hint);
    }
    cr_expect(eq(int, parse("xylophone app.hprof"), HDX_USAGE));
    cr_expect_str_eq(err.hint, "heapdex --help lists the commands");
}

Test(args, refuses_what_makes_no_call)
{
    static const char *const lines[] = { "",
                                         "info",
                                         "info a b",
                                         "object a",
                                         "refs a",
                                         "refs a #1 #2",
                                         "objects a",
                                         "export a",
                                         "retained a",
                                         "refs a #1 --in --out",
                                         "index a --force --no-build",
                                         "retained a #1 --subclasses",
                                         "info a --limit",
                                         "info a --limit -1",
                                         "info a --limit 1x",
                                         "info a --limit 99999999999999999999",
                                         "info a --threads 257",
                                         "info a --memory lots",
                                         "info a --memory 99999999T",
                                         "info a --dump-number 0",
                                         "info a --quiet=yes",
                                         "info a --sort :desc",
                                         "info a --sort x:up",
                                         "dominators a --depth 0",
                                         "path a #1 --exclude-field name",
                                         "path a #1 --exclude weak,",
                                         "info a -x",
                                         "info a --",
                                         "--format json" };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        bool fits = strcmp(lines[i], "info a --") == 0;
        cr_expect(eq(int, parse(lines[i]), fits ? HDX_OK : HDX_USAGE), "%s", lines[i]);
        cr_expect(fits || err.message[0] != '\0', "%s", lines[i]);
    }
}

Test(args, sizes_are_powers_of_1024)
{
    static const struct {
        const char *text;
        bool        good;
        uint64_t    bytes;
    } cases[] = {
        { "0", true, 0 },
        { "1048576", true, 1048576 },
        { "768M", true, 768ull << 20 },
        { "4G", true, 4ull << 30 },
        { "4g", true, 4ull << 30 },
        { "2T", true, 2ull << 40 },
        { "10K", true, 10240 },
        { "10KB", true, 10240 },
        { "10KiB", true, 10240 },
        { "16777215T", true, 16777215ull << 40 },
        { "16777216T", false, 0 },
        { "", false, 0 },
        { "M", false, 0 },
        { "-1", false, 0 },
        { " 1", false, 0 },
        { "1.5G", false, 0 },
        { "1GG", false, 0 },
        { "18446744073709551616", false, 0 },
        { "5X", false, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t bytes = 0;
        cr_expect(eq(int, hdx_size_of(cases[i].text, &bytes), cases[i].good), "%s", cases[i].text);
        if (cases[i].good)
            cr_expect(eq(u64, bytes, cases[i].bytes), "%s", cases[i].text);
    }
}
