/*
 * test_options.c - no option is accepted and ignored: each with each command is refused, or changes what it should.
 */
#include "cli/tool.h"
#include "cli/cli.h"
#include "support/whole.h"

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
        { "object", "thread:main '#100'" },
        { "find", "string" },
        { "objects", "--class java.lang.String" },
        { "refs", "class:java.lang.String --in" },
        { "path", "thread:main '#100'" },
        { "retained", "'#100' thread:main" },
        { "leaks", "--finder classes --class 'bookshop.*'" },
        { "check", "--max 'live 1G' --max 'threads 50' --min 'objects byte[] 1'" },
        { "export", "--table objects" },
        { "diff", "app.hprof.gz --all" },
        { "trend", "app.hprof.gz --all" },
        { "strip", "--policy koom -o small.hprof" },
        { "restore", "-o whole.hprof" },
        { "entries", "'#6746'" },
        { "immediate-dominators", "--class java.lang.String" },
        { "free-if", "--class 'bookshop.*'" },
        { "sql", "'SELECT id FROM objects'" },
        { "oql", "'SELECT s.@objectId FROM INSTANCEOF java.lang.Object s'" },
        { "batch", "--out fresh --ask info" },
        { "biggest-arrays", "--least 16" },
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

/* Has a command before this one an option that is written alike? */
static bool was_asked(size_t command, const hdx_parameter *is)
{
    cli_option found;
    for (size_t i = 0; i < command; i++)
        if (cli_option_named(cli_command_at(i), is->name, strlen(is->name), &found) &&
            (found.is->value == NULL) == (is->value == NULL))
            return true;
    return false;
}

#define EACH test_each(5) /* of thousands of calls */

/* --out is a flag of refs, and a folder of batch. */
Test(options, of_one_name_are_those_of_the_command)
{
    ran r = tool_sh("\"$H\" refs --out app.hprof.gz class:java.lang.Object --limit 1 --format csv --columns name");
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    cr_expect_str_eq(r.out, "name\n<class>\n");
    ran_free(&r);
    r = tool_sh("\"$H\" batch --out all app.hprof.gz >out; test -d all/answers");
    cr_expect(eq(int, r.code, 0), "%s", r.err);
    ran_free(&r);
    r = tool_sh("\"$H\" batch app.hprof.gz --out");
    cr_expect(eq(int, r.code, 2), "%s", r.err);
    cr_expect(strstr(r.err, "option '--out' needs a value: DIR") != NULL, "%s", r.err);
    ran_free(&r);
}

Test(options, of_another_command_are_refused_by_every_command)
{
    const size_t count = cli_command_count();
    unsigned     refused = 0, met = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++) {
            cli_option   options[CLI_OPTIONS_MAX], found;
            const size_t n = cli_options_of(cli_command_at(k), options);
            for (size_t o = 0; o < n; o++) {
                const char *name = options[o].is->name;
                if (cli_option_named(cli_command_at(i), name, strlen(name), &found) || was_asked(k, options[o].is) ||
                    met++ % EACH != 0)
                    continue;
                ran r = tool_sh("\"$H\" %s app.hprof.gz --%s%s", cli_command_at(i)->name, name,
                                options[o].is->value == NULL ? "" : " x");
                cr_expect(r.code == 2 && strstr(r.err, "has no option") != NULL, "%s --%s: %d %s",
                          cli_command_at(i)->name, name, r.code, r.err);
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
        const bool     whole_paths = strcmp(all[i]->name, "path") == 0, by_kind = strcmp(all[i]->name, "find") == 0;
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
                cr_expect(rows < 2 || strstr(one.out, whole_paths ? "1 of 2 paths"
                                                      : by_kind   ? "More match"
                                                                  : "more row") != NULL,
                          "%s %s: %s", all[i]->name, more, one.out);
            else if (whole_paths) /* a path with all of its steps, and no other */
                cr_expect(lines_of(one.out) > head && strchr(one.out, '2') == NULL, "%s: %s", more, one.out);
            else if (by_kind) /* a row of each kind */
                cr_expect(lines_of(one.out) > head && lines_of(one.out) <= head + 7, "%s: %s", more, one.out);
            else
                cr_expect(lines_of(one.out) == head + (rows > 0), "%s %s: %s", all[i]->name, more, one.out);
            cr_expect(head == 0 || strncmp(one.out, column, strlen(column)) == 0 || f == 3, "%s", one.out);
            ran_free(&one);
            (void)snprintf(more, sizeof more, "--format %s --where '%s = null' --where '%s != null'", formats[f],
                           column, column);
            one = call(all[i], more);
            cr_expect(one.code <= 1, "%s %s: %s", all[i]->name, more, one.err);
            cr_expect(f == 3 || lines_of(one.out) == head, "%s %s: %s", all[i]->name, more, one.out);
            cr_expect(f != 3 || rows == 0 || strstr(one.out, "(the conditions exclude ") != NULL, "%s %s: %s",
                      all[i]->name, more, one.out);
            ran_free(&one);
        }
        ran_free(&whole);
    }
}

Test(options, reachable_is_honoured_or_refused)
{
    static const char *const scopes[] = { "all", "garbage" };
    const size_t             count = cli_command_count();
    for (size_t i = 0; i < count; i++)
        for (unsigned k = 0; k < 2; k++) {
            char more[64];
            (void)snprintf(more, sizeof more, "--format csv --limit 0 --reachable %s", scopes[k]);
            ran other = call(cli_command_at(i), more);
            if ((cli_command_at(i)->flags & HDX_ANSWER_SCOPED) == 0) {
                cr_expect(other.code == 2, "%s %s: %d", cli_command_at(i)->name, more, other.code);
            } else {
                ran live = call(cli_command_at(i), "--format csv --limit 0");
                cr_expect(other.code == 0 && live.code == 0, "%s %s: %s", cli_command_at(i)->name, more, other.err);
                cr_expect(strcmp(other.out, live.out) != 0, "%s %s says what it says of live objects",
                          cli_command_at(i)->name, more);
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
        "dominators app.hprof.gz --drop --by class",
        "dominators app.hprof.gz --drop --merge",
        "dominators app.hprof.gz --inside 3",
        "dominators app.hprof.gz --by object --inside 3",
        "dominators app.hprof.gz --by class --merge --inside 3",
        "dominators app.hprof.gz --by class --inside 0",
        "dominators app.hprof.gz --by class --inside 101",
        "refs app.hprof.gz thread:main --reachable garbage",
        "histogram app.hprof.gz --scan --reachable live",
        "histogram app.hprof.gz --scan --sort retained",
        "histogram app.hprof.gz --by heap --retained",
        "histogram app.hprof.gz --by package --hidden fold",
        "histogram app.hprof.gz --reachable garbage --where 'retained > 1'",
        "export app.hprof.gz --table roots --reachable all",
        "index app.hprof.gz --force --no-build",
        "index app.hprof.gz --with class-retained --until objects",
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        ran r = tool_sh("\"$H\" %s", calls[i]);
        cr_expect(r.code == 2 && r.out[0] == '\0', "%s: %d %s", calls[i], r.code, r.out);
        const char *end = strchr(r.err, '\n');
        cr_expect(end != NULL && (end[1] == '\0' || strncmp(end + 1, "hint: ", 6) == 0), "%s: not one line: %s",
                  calls[i], r.err);
        ran_free(&r);
    }
}

/*
 * What shows that an option is heeded: the call `with` it says or does another thing than the same call `without`. Of
 * options whose effect no answer shows (threads, colours where there are none) a value that it cannot have is refused.
 */
typedef struct proof {
    const char *command, *option; /* command NULL: of all that have no row of their own */
    const char *without, *with;   /* after `heapdex NAME app.hprof.gz`; NULL: what needs() says, and the option */
    const char *value;            /* behind needs(), where `with` is NULL; NULL: it only has to be refused */
    bool        makes;            /* a file or folder "made" */
} proof;

static const proof proofs[] = {
    { NULL, "format", NULL, NULL, "json", false },
    { "export", "format", NULL, NULL, "tsv", false },
    { "dominators", "format", "--merge", "--merge --format folded", NULL, false },
    { "leaks", "format", NULL, NULL, "html", false },
    { "check", "format", NULL, NULL, "md", false },
    { "diff", "format", NULL, NULL, "html", false },
    { "trend", "format", NULL, NULL, "md", false },
    { "path", "format", NULL, NULL, "dot", false },
    { "refs", "format", NULL, NULL, "dot", false },
    { NULL, "output", NULL, NULL, "made", true },
    { "strip", "output", "--policy koom", "--policy koom -o made", NULL, true },
    { "restore", "output", "", "-o made", NULL, false },
    { NULL, "columns", NULL, NULL, "nothing_of_this_name", false },
    { NULL, "sort", NULL, NULL, "nothing_of_this_name", false },
    { NULL, "where", NULL, NULL, "'nothing_of_this_name = 1'", false },
    { NULL, "limit", NULL, NULL, "x", false },
    { NULL, "after", NULL, NULL, "x", false },
    { NULL, "reachable", NULL, NULL, "some", false },
    { NULL, "view", NULL, NULL, "no_such_view", false },
    { "index", "view", "--index-dir a --format csv", "--index-dir a --view 'v=-refs:weak' --format csv", NULL, false },
    { NULL, "units", NULL, NULL, NULL, false },
    { "histogram", "units", NULL, NULL, "bytes", false },
    { NULL, "raw", NULL, NULL, "", false }, /* of a table: refused */
    { "export", "raw", NULL, NULL, NULL, false },
    { NULL, "encoding", NULL, NULL, "plain", false }, /* of a table: refused */
    { "export", "encoding", "--table objects --format parquet | cksum",
      "--table objects --format parquet --encoding plain | cksum", NULL, false },
    { NULL, "full-text", NULL, NULL, NULL, false },
    { "objects", "full-text", "--class 'char[]' --limit 0", "--class 'char[]' --limit 0 --full-text", NULL, false },
    { NULL, "threads", NULL, NULL, NULL, false },
    { NULL, "memory", NULL, NULL, "1K --index-dir fresh", false },
    { "estimate", "memory", NULL, NULL, "1K", false },
    { NULL, "max-uncompressed", NULL, NULL, "1K --index-dir fresh", false },
    { "estimate", "max-uncompressed", NULL, NULL, "1K", false },
    { "detect", "max-uncompressed", NULL, NULL, "1K", false },
    { "strip", "max-uncompressed", NULL, NULL, "1K", false },
    { "restore", "max-uncompressed", NULL, NULL, "1K", false },
    { NULL, "dump-number", NULL, NULL, "9", false },
    { NULL, "index-dir", NULL, NULL, "made", true },
    { "verify", "index-dir", NULL, NULL, "made", true },
    { "remove", "index-dir", "", "--index-dir made", NULL, false },
    { NULL, "no-build", NULL, NULL, "--index-dir fresh", false },
    { NULL, "no-wait", NULL, NULL, NULL, false },
    { NULL, "progress", NULL, NULL, NULL, false },
    { NULL, "color", NULL, NULL, NULL, false },
    { "histogram", "color", NULL, NULL, "always", false },
    { NULL, "no-pager", NULL, NULL, NULL, false },
    { NULL, "quiet", NULL, NULL, NULL, false },
    { NULL, "verbose", NULL, NULL, NULL, false },
    { NULL, "schema", NULL, NULL, "", false },
    { NULL, "help", NULL, NULL, "", false },
    { NULL, "version", NULL, NULL, "", false },
    { "index", "force", "", "--force", NULL, false },
    { "index", "until", "--index-dir a --format csv", "--index-dir b --until objects --format csv", NULL, false },
    { "index", "with", "--index-dir a -o /dev/null; ls a", "--index-dir b --with class-retained -o /dev/null; ls b",
      NULL, false },
    { "estimate", "until", NULL, NULL, "objects", false },
    { "histogram", "by", NULL, NULL, "package", false },
    { "histogram", "class", NULL, NULL, "'java.util.*'", false },
    { "histogram", "retained", NULL, NULL, "", false },
    { "histogram", "scan", NULL, NULL, "", false },
    { "histogram", "hidden", NULL, NULL, "fold", false },
    { "dominators", "by", NULL, NULL, "package", false },
    { "dominators", "depth", NULL, NULL, "2", false },
    { "report", "quick", "--format md", "--format md --quick", NULL, false },
    { "dominators", "merge", "--format csv", "--format csv --merge", NULL, false },
    { "dominators", "least", "--format csv --merge", "--format csv --merge --least 20%", NULL, false },
    { "dominators", "chains", "--format csv --merge", "--format csv --merge --chains split", NULL, false },
    { "dominators", "drop", "--format csv", "--format csv --drop", NULL, false },
    { "dominators", "inside", "--format csv --by class", "--format csv --by class --inside 2", NULL, false },
    { "dominators", "fold", "--format csv", "--format csv --fold similar", NULL, false },
    { "object", "elements", "0xfeac0be0", "0xfeac0be0 --elements 3", NULL, false },
    { "find", "limit", "string", "string --limit 2", NULL, false },
    { "object", "with", "0xfeac0be0", "0xfeac0be0 --with keeps", NULL, false },
    { "object", "text", "0xfeac0be0", "0xfeac0be0 --text", NULL, false },
    { "objects", "class", NULL, "--class java.lang.Thread", NULL, false },
    { "objects", "subclasses", "--class java.util.AbstractMap", "--class java.util.AbstractMap --subclasses", NULL,
      false },
    { "refs", "by", NULL, NULL, "class", false },
    { "refs", "out", NULL, "class:java.lang.String --out", NULL, false },
    { "refs", "in", "class:java.lang.String --out", "class:java.lang.String --in", NULL, false },
    { "path", "exclude", NULL, NULL, NULL, false },
    { "path", "exclude-field", "0xfeb18ea8", "0xfeb18ea8 --exclude-field 'bookshop.Bookshop$Desk#visitors'", NULL,
      false },
    { "path", "paths", "0xfeb18ea8", "0xfeb18ea8 --paths 2", NULL, false },
    { "path", "limit", NULL, NULL, "1", false },
    { "path", "merge", NULL, NULL, "", false },
    { "path", "least", "--class byte[] --merge", "5%", "", false },
    { "sizes", "layout", NULL, NULL, "compact", false },
    { "top", "least", NULL, NULL, "30", false },
    { "holders", "share", NULL, NULL, "10", false },
    { "holders", "most", NULL, NULL, "1", false },
    { "path", "class", NULL, "--class 'bookshop.Bookshop$SessionCache'", NULL, false },
    { "path", "subclasses", "--class java.util.AbstractMap --merge --format csv",
      "--class java.util.AbstractMap --merge --format csv --subclasses", NULL, false },
    { "suspects", "threshold", NULL, NULL, "90", false },
    { "suspects", "drop", NULL, NULL, NULL, false },
    { "suspects", "share", NULL, NULL, NULL, false },
    { "collections", "by", NULL, NULL, "class", false },
    { "collections", "class", NULL, NULL, "java.util.HashMap", false },
    { "collections", "subclasses", "--class java.util.AbstractMap", "--class java.util.AbstractMap --subclasses", NULL,
      false },
    { "collections", "kind", NULL, NULL, "list", false },
    { "collections", "min-size", NULL, NULL, "50", false },
    { "collections", "max-size", NULL, NULL, "1", false },
    { "collections", "arrays", NULL, NULL, "", false },
    { "collections", "layouts", NULL, NULL, "no.such.file", false },
    { "entries", "layouts", NULL, NULL, "no.such.file", false },
    { "map-keys", "max-size", NULL, NULL, "1", false },
    { "map-keys", "class", NULL, NULL, "'java.util.concurrent.*'", false },
    { "map-keys", "subclasses", "--class java.util.AbstractMap", "--class java.util.AbstractMap --subclasses", NULL,
      false },
    { "map-keys", "layouts", NULL, NULL, "no.such.file", false },
    { "strings", "match", NULL, NULL, "'/^java/'", false },
    { "strings", "by", NULL, NULL, "value", false },
    { "duplicates", "holders", NULL, NULL, "", false },
    { "arrays", "waste", NULL, NULL, "slack", false },
    { "retained", "where", "--class java.util.HashMap", "--class java.util.HashMap --where 'size > 100'", NULL, false },
    { "objects", "where", "--class java.util.HashMap", "--class java.util.HashMap --where '.size > 100'", NULL, false },
    { "path", "where", "--class java.util.HashMap", "--class java.util.HashMap --where 'size > 100'", NULL, false },
    { "retained", "class", NULL, "--class java.lang.String", NULL, false },
    { "immediate-dominators", "class", NULL, "--class 'byte[]'", NULL, false },
    { "immediate-dominators", "subclasses", "--class java.util.AbstractMap",
      "--class java.util.AbstractMap --subclasses", NULL, false },
    { "immediate-dominators", "where", NULL, "--class java.lang.String --where 'hash > 0'", NULL, false },
    { "immediate-dominators", "skip", NULL, NULL, "'bookshop.*'", false },
    { "free-if", "class", NULL, "--class java.util.HashMap", NULL, false },
    { "free-if", "subclasses", "--class java.util.AbstractMap", "--class java.util.AbstractMap --subclasses", NULL,
      false },
    { "free-if", "field", NULL, "--field 'java.lang.String#value'", NULL, false },
    { "free-if", "loader", NULL, "--loader 'boot loader'", NULL, false },
    { "free-if", "roots", NULL, "--roots SYSTEM_CLASS", NULL, false },
    { "retained", "subclasses", "--class java.util.AbstractMap", "--class java.util.AbstractMap --subclasses", NULL,
      false },
    { "loaders", "unused", NULL, NULL, "", false },
    { "duplicate-classes", "retained", NULL, NULL, NULL, false },
    { "statics", "class", NULL, NULL, "bookshop.Bookshop", false },
    { "roots", "by", NULL, NULL, "type", false },
    { "threads", "stacks", NULL, NULL, "", false },
    { "threads", "locals", NULL, NULL, "", false },
    { "threads", "by", NULL, NULL, "pool", false },
    { "thread-locals", "by", NULL, NULL, "class", false },
    { "referents", "by", NULL, NULL, "kind", false },
    { "referents", "kind", NULL, NULL, "weak", false },
    { "finalizers", "by", NULL, NULL, "class", false },
    { "cleaners", "by", NULL, NULL, "class", false },
    { "direct-buffers", "by", NULL, NULL, "kind", false },
    { "open-files", "by", NULL, NULL, "kind", false },
    { "biggest-arrays", "least", NULL, NULL, "8K", false },
    { "biggest-arrays", "by", NULL, NULL, "class", false },
    { "leaks", "finder", "--finder classes --class 'bookshop.*'", "--finder watched", NULL, false },
    { "leaks", "class", NULL, "--finder classes --class java.lang.Thread", NULL, false },
    { "leaks", "matchers", NULL, NULL, "no.such.file", false },
    { "leaks", "filters", NULL, NULL, "no.such.file", false },
    { "leaks", "mapping", NULL, NULL, "no.such.file", false },
    { "leaks", "no-retained", NULL, NULL, "", false },
    { "leaks", "key", "", "--key nobody", NULL, false },
    { "leaks", "min-watch", NULL, NULL, NULL, false },
    { "leaks", "junit", NULL, NULL, "made", true },
    { "leaks", "fail-on", NULL, NULL, "any", false },
    { "check", "max", NULL, NULL, "'live 1k'", false },
    { "check", "min", NULL, NULL, "'live 1G'", false },
    { "check", "growth", NULL, "--growth 10% --baseline app.hprof.gz", NULL, false },
    { "check", "baseline", "--growth 10%", "--growth 10% --baseline app.hprof.gz", NULL, false },
    { "check", "no-leaks", NULL, NULL, "application", false },
    { "check", "no-suspects", NULL, NULL, "30%", false },
    { "check", "no-damage", NULL, NULL, "", false },
    { "check", "rule", NULL, NULL, "'max live 1k'", false },
    { "check", "rules", NULL, NULL, "no.such.file", false },
    { "check", "junit", NULL, NULL, "made", true },
    { "check", "sarif", NULL, NULL, "made", true },
    { "check", "markdown", NULL, NULL, "made", true },
    { "diff", "index-dir", NULL, NULL, "made", false }, /* of two dumps */
    { "diff", "by", NULL, NULL, "package", false },
    { "diff", "depth", "app.hprof.gz --all --by dominator", "app.hprof.gz --all --by dominator --depth 1", NULL,
      false },
    { "diff", "finder", "app.hprof.gz --all --by leak --class 'bookshop.*'",
      "app.hprof.gz --all --by leak --class 'bookshop.*' --finder classes", NULL, false },
    { "diff", "class", "app.hprof.gz --all --by leak --finder classes --class bookshop.Session",
      "app.hprof.gz --all --by leak --finder classes --class 'bookshop.*'", NULL, false },
    { "diff", "all", "app.hprof.gz", "app.hprof.gz --all", NULL, false },
    { "diff", "fail-on", NULL, NULL, "'total.retained_a > 1'", false },
    { "trend", "index-dir", NULL, NULL, "made", false },
    { "trend", "by", NULL, NULL, "package", false },
    { "trend", "of", NULL, NULL, "objects", false },
    { "trend", "depth", "app.hprof.gz --all --by dominator", "app.hprof.gz --all --by dominator --depth 1", NULL,
      false },
    { "trend", "finder", "app.hprof.gz --all --by leak --class 'bookshop.*'",
      "app.hprof.gz --all --by leak --class 'bookshop.*' --finder classes", NULL, false },
    { "trend", "class", "app.hprof.gz --all --by leak --finder classes --class bookshop.Session",
      "app.hprof.gz --all --by leak --finder classes --class 'bookshop.*'", NULL, false },
    { "trend", "loops", NULL, NULL, "0", false },
    { "trend", "application", NULL, NULL, "shop", false }, /* the dumps are of no batch */
    { "trend", "all", "app.hprof.gz", "app.hprof.gz --all", NULL, false },
    { "trend", "outliers", "app.hprof.gz", "app.hprof.gz --outliers", NULL, false },
    { "trend", "deviations", NULL, NULL, "0", false },
    { "export", "table", NULL, "--table roots", NULL, false },
    { "verify", "full", NULL, NULL, NULL, false },
    { "detect", "full", NULL, NULL, NULL, false },
    { "strip", "policy", NULL, "--policy shark -o small.hprof", NULL, false },
    { "strip", "keep-class", "--policy matrix -o small.hprof", "--policy matrix -o small.hprof --keep-class 'byte[]'",
      NULL, false },
    { "strip", "drop-class", NULL, NULL, "'byte[]'", false },
    { "strip", "keep-bitmaps", NULL, NULL, "", false }, /* of matrix alone */
    { "strip", "map-names", NULL, NULL, "", false },    /* of redact alone */
    { "strip", "plain", NULL, NULL, "", false },        /* of tailor alone */
    { "sql", "file", NULL, NULL, "no.such.file", false },
    { "sql", "attach", NULL, NULL, "nothing", false },
    { "sql", "limit", NULL, NULL, "1", false },
    { "sql", "max-rows", NULL, NULL, "1", false },
    { "sql", "max-seconds", NULL, NULL, "0", false },
    { "dominators", "reverse", "--merge", "--merge --reverse", NULL, false },
    { "report", "redact", NULL, NULL, "", false },
    { "batch", "out", NULL, "--ask info --out made", NULL, true },
    { "batch", "ask", NULL, NULL, "path", false },
    { "batch", "tables", NULL, NULL, NULL, false },
    { "batch", "more-tables", "--out fresh --tables csv", NULL, "nothing", false },
    { "batch", "memory", NULL, NULL, "20M", false },
    { "batch", "threads", NULL, NULL, "257", false },
    { "batch", "task", NULL, "--out fresh --tasks 2 --task 1", NULL, false },
    { "batch", "tasks", "--out fresh --tasks 2 --task 0", "--out fresh --tasks 2 --task 1", NULL, false },
    { "batch", "plan", NULL, NULL, "", false },
    { "batch", "summary", NULL, NULL, "", false },
    { "batch", "index-only", NULL, NULL, "", false }, /* excludes --ask */
    { "batch", "index-dir", NULL, NULL, "made", true },
    { "batch", "drop-dump", NULL, NULL, "", false }, /* once */
    { "batch", "rebuild", NULL, NULL, NULL, false },
    { "batch", "no-wait", NULL, NULL, NULL, false },
    { "oql", "explain", NULL, NULL, "", false },
    { "oql", "file", NULL, NULL, "no.such.file", false },
    { "oql", "limit", NULL, NULL, "1", false },
    { "oql", "max-rows", NULL, NULL, "1", false },
    { "oql", "max-seconds", NULL, NULL, "0", false },
};

static const proof *proof_of(const char *command, const char *option)
{
    const proof *general = NULL;
    for (size_t i = 0; i < sizeof proofs / sizeof *proofs; i++)
        if (strcmp(proofs[i].option, option) != 0)
            continue;
        else if (proofs[i].command != NULL && strcmp(proofs[i].command, command) == 0)
            return &proofs[i];
        else if (proofs[i].command == NULL)
            general = &proofs[i];
    return general;
}

static ran asked_with(const char *command, const char *words)
{
    const bool remove = strcmp(command, "remove") == 0; /* what is there */
    return tool_sh("rm -rf made fresh small.hprof whole.hprof; %s \"$H\" %s app.hprof.gz %s",
                   remove ? "\"$H\" index app.hprof.gz -o /dev/null;" : "", command, words);
}

static void expect_heeded(const hdx_answer *a, const cli_option *o, const proof *p)
{
    char without[512], with[512];
    (void)snprintf(without, sizeof without, "%s", p->without != NULL ? p->without : needs(a));
    if (p->with != NULL)
        (void)snprintf(with, sizeof with, "%s", p->with);
    else
        (void)snprintf(with, sizeof with, "%s --%s %s", needs(a), o->is->name,
                       p->value != NULL                       ? p->value
                       : o->is->value == NULL                 ? "=yes"
                       : o->is->kind == HDX_PARAMETER_CLASSES ? "/(/"
                                                              : "nonsense");
    if (p->with == NULL && p->value == NULL && o->is->value == NULL) /* a flag takes no value */
        (void)snprintf(with, sizeof with, "%s --%s=yes", needs(a), o->is->name);
    ran is = asked_with(a->name, with);
    if (p->makes) {
        cr_expect(is.code <= 1 && access("made", F_OK) == 0, "%s %s: %d %s", a->name, with, is.code, is.err);
    } else if (p->with == NULL && p->value == NULL) {
        cr_expect(is.code == 2, "%s %s: %d", a->name, with, is.code);
    } else {
        ran was = asked_with(a->name, without);
        cr_expect(is.code != was.code || strcmp(is.out, was.out) != 0, "%s %s says what it says without: %d %s",
                  a->name, with, is.code, is.err);
        ran_free(&was);
    }
    ran_free(&is);
}

Test(options, each_with_each_command_is_heeded_or_refused, .timeout = 600)
{
    const size_t count = cli_command_count();
    for (size_t i = 0; i < count; i++) {
        cli_option   options[CLI_OPTIONS_MAX];
        const size_t n = cli_options_of(cli_command_at(i), options);
        for (size_t k = 0; k < n; k++) {
            const proof *p = proof_of(cli_command_at(i)->name, options[k].is->name);
            if ((i + k) % EACH != 0)
                continue;
            cr_expect(p != NULL, "nothing shows that %s heeds --%s: it needs a row above", cli_command_at(i)->name,
                      options[k].is->name);
            if (p != NULL)
                expect_heeded(cli_command_at(i), &options[k], p);
        }
    }
}

/* A column that an option fills is filled where it is named: its name is wish enough. */
Test(options, a_column_that_is_named_is_filled)
{
    static const char *const calls[] = {
        "threads app.hprof.gz --columns frames --where 'name = main' --format jsonl",
        "duplicates app.hprof.gz --columns holder --where 'class = byte[]' --limit 1 --format jsonl",
        "histogram app.hprof.gz --columns retained --limit 1 --format jsonl",
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        ran r = tool_sh("\"$H\" %s", calls[i]);
        cr_expect(r.code == 0 && lines_of(r.out) == 1 && strstr(r.out, "\": null}\n") == NULL, "%s: %s%s", calls[i],
                  r.out, r.err);
        ran_free(&r);
    }
}

Test(options, that_name_what_is_not_there_say_so)
{
    ran r = tool_sh("\"$H\" path app.hprof.gz 0xfeb18ea8 --exclude-field 'bookshop.Bookshop$Desk#vistors'");
    cr_expect(r.code == 0 && strstr(r.err, "it excludes nothing") != NULL, "%d %s", r.code, r.err);
    ran_free(&r);
    r = tool_sh("\"$H\" path app.hprof.gz 0xfeb18ea8 --exclude-field 'bookshop.Bookshop$Desk#v*' "
                "--exclude-field 'java.lang.Object[]#[7]' --exclude-field 'bookshop.Bookshop#SESSIONS'");
    cr_expect(r.code == 0 && strstr(r.err, "no such field") == NULL, "%s", r.err);
    ran_free(&r);
    r = tool_sh("\"$H\" object app.hprof.gz '#100' --elements 0");
    cr_expect_eq(r.code, 2, "%s", r.err);
    ran_free(&r);
}
