/*
 * test_options.c - no option is accepted and ignored: each with each command is refused, or changes what it should.
 */
#include "cli/tool.h"
#include "cli/cli.h"

static char *folder;
static void  enter(void)
{
    folder = tool_enter();
    tool_copy_bookshop("app.hprof.gz");
}
static void leave(void) { tool_leave(folder); }
TestSuite(options, .init = enter, .fini = leave);

/* A call of the command that has an answer; what comes after `heapdex NAME app.hprof.gz`. */
static const char *needs(const hdx_answer *a)
{
    static const struct {
        const char *name, *words;
    } all[] = {
        { "object", "thread:main '#100'" },        { "objects", "--class java.lang.String" },
        { "refs", "class:java.lang.String --in" }, { "path", "thread:main '#100'" },
        { "retained", "'#100' thread:main" },      { "leaks", "--finder classes --class 'bookshop.*'" },
        { "export", "--table objects" },           { "strip", "--policy koom -o small.hprof" },
        { "restore", "-o whole.hprof" },           { "entries", "'#6746'" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, a->name) == 0)
            return all[i].words;
    return "";
}

static ran call(const hdx_answer *a, const char *more)
{
    return tool_sh("\"$H\" %s app.hprof.gz %s --quiet --progress never %s", a->name, needs(a), more);
}

/* Commands whose answers can be asked again and again. */
static bool asks(const hdx_answer *a) { return (a->flags & HDX_ANSWER_HEAP) != 0 || strcmp(a->name, "estimate") == 0; }

Test(options, of_another_command_are_refused_by_every_command)
{
    size_t                   count;
    const hdx_answer *const *all = hdx_answers(&count);
    unsigned                 refused = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++) {
            cli_option   options[CLI_OPTIONS_MAX], found;
            const size_t n = cli_options_of(all[k], options);
            for (size_t o = 0; o < n; o++) {
                const char *name = options[o].is->name;
                if (cli_option_named(all[i], name, strlen(name), &found))
                    continue;
                ran r = tool_sh("\"$H\" %s app.hprof.gz --%s%s", all[i]->name, name,
                                options[o].is->value == NULL ? "" : " x");
                cr_expect(r.code == 2 && strstr(r.err, "has no option") != NULL, "%s --%s: %d %s", all[i]->name, name,
                          r.code, r.err);
                ran_free(&r);
                refused++;
            }
        }
    cr_expect(refused > 100, "%u", refused);
}

Test(options, that_shape_rows_do_so_in_every_command_that_asks_and_in_every_format)
{
    static const char *const formats[] = { "csv", "tsv", "jsonl", "table" };
    size_t                   count;
    const hdx_answer *const *all = hdx_answers(&count);
    for (size_t i = 0; i < count; i++) {
        if (!asks(all[i]))
            continue;
        ran whole = call(all[i], "--format csv --limit 0");
        cr_assert(whole.code <= 1, "%s: %d %s", all[i]->name, whole.code, whole.err);
        char           column[64];
        const unsigned rows = lines_of(whole.out) - 1;
        const bool     whole_paths = strcmp(all[i]->name, "path") == 0;
        (void)snprintf(column, sizeof column, "%.*s", (int)strcspn(whole.out, ",\n"), whole.out);
        for (unsigned f = 0; f < 4; f++) {
            char more[256];
            if (strcmp(all[i]->name, "export") == 0 && strcmp(formats[f], "table") == 0)
                continue;
            (void)snprintf(more, sizeof more, "--format %s --limit 1 --columns %s", formats[f], column);
            ran            one = call(all[i], more);
            const unsigned head = strcmp(formats[f], "jsonl") == 0 ? 0 : 1;
            cr_expect(one.code <= 1, "%s %s: %s", all[i]->name, more, one.err);
            if (strcmp(formats[f], "table") == 0)
                cr_expect(rows < 2 || strstr(one.out, whole_paths ? "1 of 2 paths" : "more row") != NULL, "%s %s: %s",
                          all[i]->name, more, one.out);
            else if (whole_paths) /* a path with all of its steps, and no other */
                cr_expect(lines_of(one.out) > head && strchr(one.out, '2') == NULL, "%s: %s", more, one.out);
            else
                cr_expect(lines_of(one.out) == head + (rows > 0), "%s %s: %s", all[i]->name, more, one.out);
            cr_expect(head == 0 || strncmp(one.out, column, strlen(column)) == 0 || f == 3, "%s", one.out);
            ran_free(&one);
            (void)snprintf(more, sizeof more, "--format %s --where '%s = null' --where '%s != null'", formats[f],
                           column, column);
            one = call(all[i], more);
            cr_expect(one.code <= 1, "%s %s: %s", all[i]->name, more, one.err);
            cr_expect(f == 3 || lines_of(one.out) == head, "%s %s: %s", all[i]->name, more, one.out);
            cr_expect(f != 3 || strstr(one.out, "(the conditions leave out ") != NULL, "%s %s: %s", all[i]->name, more,
                      one.out);
            ran_free(&one);
        }
        ran_free(&whole);
    }
}

Test(options, reachable_is_honoured_or_refused)
{
    static const char *const scopes[] = { "all", "garbage" };
    size_t                   count;
    const hdx_answer *const *all = hdx_answers(&count);
    for (size_t i = 0; i < count; i++)
        for (unsigned k = 0; k < 2; k++) {
            char more[64];
            (void)snprintf(more, sizeof more, "--format csv --limit 0 --reachable %s", scopes[k]);
            ran other = call(all[i], more);
            if ((all[i]->flags & HDX_ANSWER_SCOPED) == 0) {
                cr_expect(other.code == 2, "%s %s: %d", all[i]->name, more, other.code);
            } else {
                ran live = call(all[i], "--format csv --limit 0");
                cr_expect(other.code == 0 && live.code == 0, "%s %s: %s", all[i]->name, more, other.err);
                cr_expect(strcmp(other.out, live.out) != 0, "%s %s says what it says of live objects", all[i]->name,
                          more);
                ran_free(&live);
            }
            ran_free(&other);
        }
}

Test(options, that_say_nothing_together_are_refused)
{
    static const char *const calls[] = {
        "dominators app.hprof.gz --by class --depth 3",
        "dominators app.hprof.gz --by package --depth 2",
        "refs app.hprof.gz thread:main --reachable garbage",
        "histogram app.hprof.gz --scan --reachable live",
        "histogram app.hprof.gz --scan --sort retained",
        "histogram app.hprof.gz --by heap --retained",
        "histogram app.hprof.gz --reachable garbage --where 'retained > 1'",
        "export app.hprof.gz --table roots --reachable all",
        "index app.hprof.gz --force --no-build",
        "index app.hprof.gz --with class-retained --until objects",
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        ran r = tool_sh("\"$H\" %s", calls[i]);
        cr_expect(r.code == 2 && r.out[0] == '\0', "%s: %d %s", calls[i], r.code, r.out);
        ran_free(&r);
    }
}
