/*
 * test_answers.c - answers by name: what there is, what a session gives, and that a program prints what the command
 * line prints.
 */
#include "answer/answer.h"
#include "support/folder.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BOOKSHOP HDX_TREE "/examples/bookshop.hprof.gz"

static char      folder[TEST_FOLDER], dump[TEST_FOLDER + 32];
static hdx_error err;

static void enter(void)
{
    char command[TEST_FOLDER + 256];
    test_folder_make(folder, "answer");
    (void)snprintf(dump, sizeof dump, "%s/app.hprof.gz", folder);
    (void)snprintf(command, sizeof command, "cp '%s' '%s'", BOOKSHOP, dump);
    cr_assert(system(command) == 0);
}
static void leave(void) { test_folder_remove(folder); }
TestSuite(answers, .init = enter, .fini = leave);

/* The 20 lines that a program needs. */
static bool     put(void *to, const char *bytes, size_t len) { return fwrite(bytes, 1, len, to) == len; }
static hdx_code print_json(const char *name, const hdx_argument *arguments, size_t count, FILE *to)
{
    hdx_index_options options = { .dump = dump };
    hdx_session      *session;
    hdx_rows         *rows;
    hdx_sink          sink = { put, to };
    hdx_code          code = hdx_session_open(&options, &session, &err);
    if (code != HDX_OK)
        return code;
    if ((code = hdx_answer_run(session, name, arguments, count, &rows, &err)) == HDX_OK)
        code = hdx_render(rows, &(hdx_render_options){ .format = HDX_FORMAT_JSON }, &sink, &err);
    hdx_rows_close(rows);
    hdx_session_close(session);
    return code;
}

static char *printed(const char *command)
{
    char   line[1024];
    size_t len = 0, room = 1u << 20;
    char  *text = malloc(room);
    (void)snprintf(line, sizeof line, "'%s' %s '%s' --format json", HDX_TOOL, command, dump);
    FILE *f = popen(line, "r");
    cr_assert(f != NULL);
    for (size_t n; (n = fread(text + len, 1, room - len - 1, f)) > 0;)
        if ((len += n) + 1 >= room)
            text = realloc(text, room *= 2);
    text[len] = '\0';
    cr_expect(eq(int, pclose(f), 0), "%s", line);
    return text;
}

Test(answers, of_a_program_are_those_of_the_command_line_byte_for_byte)
{
    static const struct {
        const char  *command, *name;
        hdx_argument arguments[3];
        size_t       count;
    } cases[] = {
        { "histogram --by package", "histogram", { { "by", "package" } }, 1 },
        { "histogram --by package", "histogram", { { "by", "package" } }, 1 }, /* the index is there now */
        { "info", "info", { { NULL, NULL } }, 0 },
        { "dominators --limit 7 --sort shallow", "dominators", { { "limit", "7" }, { "sort", "shallow" } }, 2 },
        { "threads --stacks --locals", "threads", { { "stacks", NULL }, { "locals", "true" } }, 2 },
        { "objects --class java.lang.Thread --columns address,retained --where 'retained > 1'",
          "objects",
          { { "class", "java.lang.Thread" }, { "columns", "address,retained" }, { "where", "retained > 1" } },
          3 },
        { "verify --full", "verify", { { "full", NULL } }, 1 },
        { "detect", "detect", { { NULL, NULL } }, 0 },
        { "leaks --finder classes --class java.lang.Thread",
          "leaks",
          { { "finder", "classes" }, { "class", "java.lang.Thread" } },
          2 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char  *mine = NULL;
        size_t len = 0;
        FILE  *to = open_memstream(&mine, &len);
        cr_assert(eq(int, print_json(cases[i].name, cases[i].arguments, cases[i].count, to), HDX_OK), "%s: %s",
                  cases[i].command, err.message);
        (void)fclose(to);
        char *theirs = printed(cases[i].command);
        cr_expect_str_eq(mine, theirs, "%s", cases[i].command);
        free(mine);
        free(theirs);
    }
}

Test(answers, refuse_what_they_do_not_know_before_anything_is_built)
{
    static const struct {
        const char  *name;
        hdx_argument argument;
        const char  *says;
    } cases[] = {
        { "histogramm", { "by", "class" }, "unknown answer 'histogramm'" },
        { "histogram", { "bye", "class" }, "'histogram' takes no bye" },
        { "histogram", { "by", "clas" }, "by 'clas' is none of: class package loader superclass heap origin" },
        { "histogram", { "limit", "many" }, "limit 'many': expected a whole number from 0" },
        { "histogram", { "sort", "objects:up" }, "sort 'objects:up': expected :asc or :desc after the column" },
        { "histogram", { "retained", "perhaps" }, "retained must be true or false, not 'perhaps'" },
        { "objects", { "limit", "1" }, "'objects' needs class PATTERN" },
        { "retained", { "limit", "1" }, "'retained' takes OBJECT or class PATTERN, but got neither" },
        { "path",
          { "exclude-field", "name" },
          "exclude-field 'name': expected CLASS#FIELD, such as com.acme.Cache#entries" },
        { "export", { "limit", "1" }, "'export' needs table TABLE" },
    };
    hdx_index_options options = { .dump = dump, .no_build = true };
    hdx_session      *s;
    hdx_rows         *rows;
    cr_assert(eq(int, hdx_session_open(&options, &s, &err), HDX_OK));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_expect(eq(int, hdx_answer_run(s, cases[i].name, &cases[i].argument, 1, &rows, &err), HDX_USAGE), "%s",
                  cases[i].says);
        cr_expect_str_eq(err.message, cases[i].says);
        cr_expect(rows == NULL);
    }
    cr_expect(eq(int, hdx_answer_run(s, "histogram", NULL, 0, &rows, &err), HDX_BAD_DUMP),
              "what is right needs an index");
    hdx_session_close(s);
}

static uint64_t rows_of(hdx_session *s, const char *name)
{
    hdx_rows       *rows;
    const hdx_cell *cells;
    uint64_t        n = 0;
    cr_assert(eq(int, hdx_answer_run(s, name, NULL, 0, &rows, &err), HDX_OK), "%s", err.message);
    while (hdx_rows_next(rows, &cells))
        n++;
    cr_expect(eq(int, hdx_rows_end(rows, &err), HDX_OK));
    hdx_rows_close(rows);
    return n;
}

static void note_place(void *context, size_t place) { ((unsigned *)context)[place]++; }

Test(answers, of_a_session_share_one_graph_for_each_dump)
{
    hdx_index_options  options = { .dump = dump };
    hdx_session       *s;
    hdx_graph         *g[3];
    unsigned           opened[2] = { 0, 0 };
    hdx_session_events events = { .context = opened, .opened = note_place };
    cr_assert(eq(int, hdx_session_open(&options, &s, &err), HDX_OK));
    hdx_session_listen(s, &events);
    cr_expect(hdx_session_summary(s, 0) == NULL, "nothing is opened before it is needed");
    cr_assert(eq(int, hdx_session_add(s, dump, &err), HDX_OK));
    cr_expect(gt(u64, rows_of(s, "histogram"), 100));
    cr_expect(gt(u64, rows_of(s, "threads"), 3));
    for (size_t i = 0; i < 2; i++)
        cr_assert(eq(int, hdx_session_graph(s, i, &g[i], &err), HDX_OK));
    cr_expect(g[0] != g[1]);
    cr_expect(eq(u64, hdx_graph_objects(g[0]), hdx_graph_objects(g[1])));
    cr_expect(eq(uint, opened[0], 1));
    cr_expect(eq(uint, opened[1], 1));
    cr_expect(eq(int, hdx_session_graph(s, 2, &g[2], &err), HDX_USAGE));
    cr_expect(hdx_session_report(s, 1)->reused, "the index of the first is that of the second");
    hdx_session_close(s);
}

Test(answers, end_when_the_session_is_cancelled)
{
    hdx_index_options options = { .dump = dump };
    hdx_session      *s;
    hdx_rows         *rows;
    cr_assert(eq(int, hdx_session_open(&options, &s, &err), HDX_OK));
    (void)rows_of(s, "histogram");
    hdx_session_cancel(s);
    cr_expect(eq(int, hdx_answer_run(s, "dominators", NULL, 0, &rows, &err), HDX_CANCELLED));
    hdx_session_close(s);
}

static bool refuse_early(void *context, hdx_rows *rows)
{
    (*(unsigned *)context)++;
    cr_expect(rows != NULL);
    return false;
}
static bool take_early(void *context, hdx_rows *rows) { return !refuse_early(context, rows); }

Test(answers, of_all_objects_come_before_the_index_is_whole_to_whom_it_may_concern)
{
    static const hdx_argument all = { "reachable", "all" };
    for (unsigned refused = 0; refused < 2; refused++) {
        hdx_index_options  options = { .dump = dump, .force = true };
        hdx_session       *s;
        hdx_rows          *rows;
        unsigned           times = 0;
        hdx_session_events events = { .context = &times, .early = refused ? refuse_early : take_early };
        cr_assert(eq(int, hdx_session_open(&options, &s, &err), HDX_OK));
        hdx_session_listen(s, &events);
        cr_assert(eq(int, hdx_answer_run(s, "histogram", &all, 1, &rows, &err), HDX_OK), "%s", err.message);
        cr_expect(eq(uint, times, 1));
        cr_expect(eq(int, rows != NULL, (int)refused), "rows that were refused are given again");
        cr_expect(hdx_session_report(s, 0) != NULL, "the index is there all the same");
        hdx_rows_close(rows);
        hdx_session_close(s);
    }
}

Test(answers, are_listed_with_columns_and_names_that_are_unique)
{
    size_t                   count, tables, common;
    const hdx_answer *const *all = hdx_answers(&count);
    (void)hdx_tables(&tables);
    (void)hdx_answer_common(&common);
    cr_expect(eq(sz, count, 47));
    cr_expect(eq(sz, tables, 10));
    for (size_t i = 0; i < count; i++) {
        cr_expect(hdx_answer_named(all[i]->name) == all[i], "%s", all[i]->name);
        cr_expect(all[i]->sentence[0] != '\0' && all[i]->more[0] != '\0' && all[i]->examples[1] != NULL, "%s",
                  all[i]->name);
        for (unsigned f = 0; f < all[i]->form_count; f++)
            for (unsigned c = 0; c < all[i]->forms[f].column_count; c++)
                cr_expect(all[i]->forms[f].columns[c].sentence != NULL, "%s.%s", all[i]->name,
                          all[i]->forms[f].columns[c].name);
    }
    cr_expect(hdx_answer_named("nothing") == NULL);
    const hdx_form *form = hdx_answer_form(hdx_answer_named("histogram"), &(hdx_argument){ "by", "package" }, 1);
    cr_expect_str_eq(form->columns[0].name, "package");
    form = hdx_answer_form(hdx_answer_named("export"), &(hdx_argument){ "table", "references" }, 1);
    cr_expect(eq(uint, form->column_count, 2));
}

/* A document is checked against its schema by somebody else's program, where there is one. */
Test(answers, agree_with_their_schemas)
{
    static const char *const commands[] = { "index",
                                            "estimate",
                                            "info",
                                            "histogram --retained",
                                            "histogram --by loader",
                                            "dominators --limit 5",
                                            "dominators --by package",
                                            "dominators --depth 2 --limit 9",
                                            "object thread:main",
                                            "objects --class java.lang.Thread",
                                            "refs thread:main",
                                            "refs thread:main --in",
                                            "path thread:main",
                                            "path thread:main --merge",
                                            "retained thread:main",
                                            "roots --limit 9",
                                            "roots --by type",
                                            "threads --stacks --locals",
                                            "threads --by pool",
                                            "thread-locals",
                                            "thread-locals --by key",
                                            "referents --limit 9",
                                            "referents --by kind",
                                            "referents --by class",
                                            "finalizers",
                                            "finalizers --by class",
                                            "cleaners",
                                            "cleaners --by class",
                                            "direct-buffers",
                                            "direct-buffers --by kind",
                                            "open-files",
                                            "open-files --by kind",
                                            "biggest-arrays --limit 9",
                                            "biggest-arrays --least 200 --by class",
                                            "suspects --threshold 1",
                                            "leaks --finder classes --class java.lang.Thread",
                                            "verify",
                                            "detect" };
    char                     line[2048];
    if (system("python3 -c 'import jsonschema' 2>/dev/null") != 0)
        cr_skip_test("no jsonschema for python3");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char        words[256];
        const char *rest = strchr(commands[i], ' ');
        size_t      first = rest != NULL ? (size_t)(rest - commands[i]) : strlen(commands[i]);
        const char *object = rest != NULL && strncmp(rest, " thread:main", 12) == 0 ? "thread:main" : "";
        (void)snprintf(words, sizeof words, "%.*s '%s' %s %s", (int)first, commands[i], dump, object,
                       rest == NULL ? "" : rest + (object[0] != '\0' ? 12 : 0));
        (void)snprintf(line, sizeof line,
                       "'%s' %s --format json >'%s/a.json' && '%s' %.*s %s --schema >'%s/s.json' && python3 -c 'import "
                       "json, jsonschema, sys; "
                       "s = json.load(open(sys.argv[1])); jsonschema.Draft202012Validator.check_schema(s); "
                       "jsonschema.validate(json.load(open(sys.argv[2])), s)' "
                       "'%s/s.json' '%s/a.json'",
                       HDX_TOOL, words, folder, HDX_TOOL, (int)first, commands[i],
                       rest == NULL ? "" : rest + (object[0] != '\0' ? 12 : 0), folder, folder, folder);
        cr_expect(eq(int, system(line), 0), "%s", line);
    }
}
