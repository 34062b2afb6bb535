/*
 * table.c - every command and every option, once. Parsing, help, completions and the tests of the man page read it from here.
 *
 * Names and meanings are a contract with scripts: rows may be added, none changed. Examples are run by a test on the dump of
 * examples/, which stands for app.hprof.
 */
#include "cli/cli.h"

#include <limits.h>

const cli_command cli_commands[CLI_COMMANDS] = {
    [CLI_INDEX] = { "index", "DUMP", 0, 0, false, "build the index of a dump (other commands do it when needed)",
        "The index of app.hprof is the folder app.hprof.hdx beside it, or one in the user's cache folder where that place cannot be written. A valid "
        "index is kept; --force builds it again, over a damaged one too.",
        { "heapdex index app.hprof", "heapdex index app.hprof --force --memory 2G --progress always" }, cli_ask_index },
    [CLI_ESTIMATE] = { "estimate", "DUMP", 0, 0, false, "what building the index would take: memory, disk and time of each step",
        "A forecast from a short sample of the dump; nothing is built or written. A build stays below the memory that is said here (with --memory SIZE "
        "the answer says whether it would do); disk and time are about right, time within a factor of two.",
        { "heapdex estimate app.hprof", "heapdex estimate app.hprof --memory 512M --format json" }, cli_ask_estimate },
    [CLI_INFO] = { "info", "DUMP", 0, 0, false, "what a dump is: writer, sizes, counts, records, damage",
        "Counts are of live objects where they say so: those reachable from a GC root. --verbose adds records by kind and index files one by one.",
        { "heapdex info app.hprof", "heapdex info app.hprof --format json" }, cli_ask_info },
    [CLI_HISTOGRAM] = { "histogram", "DUMP", 0, 0, true, "objects and bytes per class, package, loader, super class or heap",
        "The column retained is filled with --retained: bytes that would be free if the class object and all instances of the class were gone. "
        "--scan answers from one pass over the dump and writes nothing; it counts all objects, since what is reachable is not known then.",
        { "heapdex histogram app.hprof --scan --limit 10", "heapdex histogram app.hprof --class 'java.util.*' --retained --sort retained" },
        cli_ask_histogram },
    [CLI_DOMINATORS] = { "dominators", "DUMP [OBJECT]", 0, 1, true, "what holds the most memory: the top of the dominator tree",
        "An object dominates another if every path from a GC root to the other leads through it. Without OBJECT the top of the tree is shown, "
        "with it what that object alone keeps alive.",
        { "heapdex dominators app.hprof --limit 5", "heapdex dominators app.hprof --by package" }, cli_ask_dominators },
    [CLI_OBJECT] = { "object", "DUMP OBJECT...", 1, UINT_MAX, false, "everything about single objects: fields, elements, sizes, dominator",
        "Objects are named 0x7f3a10 (address), #1234 (id), com.acme.Cache@0x7f3a10 (class checked), class:com.acme.Cache (the class object), "
        "thread:main, or - for names on standard input, one a line, such as any earlier output.",
        { "heapdex object app.hprof '#1234'", "heapdex object app.hprof class:java.lang.String thread:main" }, cli_ask_object },
    [CLI_OBJECTS] = { "objects", "DUMP", 0, 0, true, "the instances of a class",
        "PATTERN is an exact name, a glob such as com.acme.* (only * and ? are special: byte[] means itself), or a /regular expression/.",
        { "heapdex objects app.hprof --class java.lang.Thread", "heapdex objects app.hprof --class '/Map$/' --sort retained --limit 3" },
        cli_ask_objects },
    [CLI_REFS] = { "refs", "DUMP OBJECT", 1, 1, true, "what an object refers to, or what refers to it",
        "--out (the default) lists references by name and kind: field, static, element, class, super, loader, local, signers, domain.",
        { "heapdex refs app.hprof '#1234' --in", "heapdex refs app.hprof thread:main --out" }, cli_ask_refs },
    [CLI_PATH] = { "path", "DUMP OBJECT...", 1, UINT_MAX, false, "why objects are alive: shortest paths from GC roots",
        "Steps lead from the root to the object. Kinds of --exclude: weak, soft, phantom, finalizer; paths do not use such references then.",
        { "heapdex path app.hprof '#1234' --exclude weak,soft,phantom,finalizer", "heapdex path app.hprof thread:main --format json" },
        cli_ask_path },
    [CLI_RETAINED] = { "retained", "DUMP OBJECT...|--class PATTERN", 0, UINT_MAX, true, "what would be free if objects were gone together",
        "--class takes all live instances of the matching classes, neither class objects nor subclasses unless asked.",
        { "heapdex retained app.hprof '#1234' thread:main", "heapdex retained app.hprof --class java.lang.String" }, cli_ask_retained },
    [CLI_ROOTS] = { "roots", "DUMP", 0, 0, true, "GC roots, one row per object and type; locals with their thread",
        "--by type counts them.",
        { "heapdex roots app.hprof --by type", "heapdex roots app.hprof --where 'type = THREAD_OBJ'" }, cli_ask_roots },
    [CLI_THREADS] = { "threads", "DUMP", 0, 0, true, "threads, their stacks and what they keep alive",
        "--stacks adds the frames, innermost first, --locals the objects each frame holds.",
        { "heapdex threads app.hprof --sort retained", "heapdex threads app.hprof --stacks --locals --where 'name = main'" }, cli_ask_threads },
    [CLI_LEAKS] = { "leaks", "DUMP...", 0, UINT_MAX, false, "memory leaks as LeakCanary finds them, with the path to each from a GC root",
        "Watched objects that should be gone (KeyedWeakReference), objects whose state says so (--finder filters), or all instances of classes. Leaks of the same "
        "cause have one signature; several dumps are answered together. The first answer is kept beside the index. The man page describes the files of --matchers and "
        "--filters.",
        { "heapdex leaks app.hprof", "heapdex leaks app.hprof --finder classes --class java.lang.Thread" }, cli_ask_leaks },
    [CLI_EXPORT] = { "export", "DUMP", 0, 0, false, "whole tables as csv, tsv or jsonl, for other programs",
        "Columns are described in the man page. Rows are those of live objects; --reachable all adds the others.",
        { "heapdex export app.hprof --table classes --format csv -o classes.csv",
          "heapdex export app.hprof --table objects --format jsonl --limit 1000" }, cli_ask_export },
    [CLI_VERIFY] = { "verify", "DUMP", 0, 0, false, "check an index against its sums; --full: everything it says",
        "Exit 5 names the file, page and offset of what is wrong.",
        { "heapdex verify app.hprof", "heapdex verify app.hprof --full --format json" }, cli_ask_verify },
    [CLI_REMOVE] = { "remove", "DUMP", 0, 0, false, "delete the index of a dump; the dump is never touched",
        "What killed builds left behind goes too.",
        { "heapdex remove app.hprof", "heapdex remove app.hprof --dump-number 1" }, cli_ask_remove },
    [CLI_DETECT] = { "detect", "DUMP", 0, 0, false, "whether a dump was stripped, by which tool, and how that shows",
        "Knows Matrix, KOOM, Tailor, Shark and redaction. Reads at most 64 MiB of a large dump; --full reads all of it. Every command takes stripped dumps as "
        "they are: info lists which answers are affected.",
        { "heapdex detect app.hprof", "heapdex detect app.hprof --full --format json" }, cli_ask_detect },
    [CLI_STRIP] = { "strip", "DUMP --policy POLICY -o OUT", 0, 0, false, "write a smaller or harmless dump, as stripping tools do",
        "matrix drops primitive arrays but for texts and equal bitmaps, koom drops zygote and image objects and cuts contents, tailor writes its "
        "container, shark overwrites contents, redact does so with a constant and proves that nothing else changed. OUT.gz is compressed.",
        { "heapdex strip app.hprof --policy koom -o small.hprof", "heapdex strip app.hprof --policy redact --map-names -o redacted.hprof.gz" },
        cli_ask_strip },
    [CLI_RESTORE] = { "restore", "DUMP -o OUT", 0, 0, false, "write a dump that KOOM or Tailor stripped as plain HPROF, for other tools",
        "Contents that were cut come back as zeros. What has nothing to restore (whole dumps, Matrix, Shark) is refused with exit code 3.",
        { "heapdex restore small.hprof -o whole.hprof", "heapdex restore small.hprof -o whole.hprof.gz --format json" }, cli_ask_restore },
};

const cli_option cli_options[] = {
    /* of single commands */
    { CLI_OPT_FORCE, "force", 0, NULL, NULL, CLI_IN(CLI_INDEX), "build although a valid index is there, and over a damaged one" },
    { CLI_OPT_UNTIL, "until", 0, "STEP", "objects outbound inbound dominators", CLI_IN(CLI_INDEX) | CLI_IN(CLI_ESTIMATE), "stop after a step" },
    { CLI_OPT_BY, "by", 0, "KEY", "class package loader superclass heap", CLI_IN(CLI_HISTOGRAM), "what a row stands for; class by default" },
    { CLI_OPT_BY, "by", 0, "KEY", "object class package loader", CLI_IN(CLI_DOMINATORS), "what a row stands for; object by default" },
    { CLI_OPT_BY, "by", 0, "KEY", "class", CLI_IN(CLI_REFS), "one row per class" },
    { CLI_OPT_BY, "by", 0, "KEY", "type", CLI_IN(CLI_ROOTS), "one row per type of root" },
    { CLI_OPT_CLASS, "class", 0, "PATTERN", NULL, CLI_IN(CLI_HISTOGRAM) | CLI_IN(CLI_OBJECTS) | CLI_IN(CLI_RETAINED),
      "name, glob (* and ?) or /regular expression/" },
    { CLI_OPT_CLASS, "class", 0, "PATTERN", NULL, CLI_IN(CLI_LEAKS), "with --finder classes: name, glob or /regular expression/; may be repeated" },
    { CLI_OPT_SUBCLASSES, "subclasses", 0, NULL, NULL, CLI_IN(CLI_OBJECTS) | CLI_IN(CLI_RETAINED), "instances of subclasses too" },
    { CLI_OPT_RETAINED, "retained", 0, NULL, NULL, CLI_IN(CLI_HISTOGRAM), "exact retained sizes of classes (takes longer)" },
    { CLI_OPT_SCAN, "scan", 0, NULL, NULL, CLI_IN(CLI_HISTOGRAM), "one pass over the dump, no index: all objects, reachable or not" },
    { CLI_OPT_DEPTH, "depth", 0, "N", NULL, CLI_IN(CLI_DOMINATORS), "levels of the tree; 1 by default" },
    { CLI_OPT_ELEMENTS, "elements", 0, "N", NULL, CLI_IN(CLI_OBJECT), "elements of an array to show; 100 by default" },
    { CLI_OPT_OUT, "out", 0, NULL, NULL, CLI_IN(CLI_REFS), "what the object refers to (the default)" },
    { CLI_OPT_IN, "in", 0, NULL, NULL, CLI_IN(CLI_REFS), "what refers to the object" },
    { CLI_OPT_EXCLUDE, "exclude", 0, "KINDS", NULL, CLI_IN(CLI_PATH), "references not to use: weak,soft,phantom,finalizer" },
    { CLI_OPT_EXCLUDE_FIELD, "exclude-field", 0, "CLASS#FIELD", NULL, CLI_IN(CLI_PATH), "a field not to use; may be repeated" },
    { CLI_OPT_PATHS, "paths", 0, "N", NULL, CLI_IN(CLI_PATH), "paths per object, shortest first; 1 by default" },
    { CLI_OPT_MERGE, "merge", 0, NULL, NULL, CLI_IN(CLI_PATH), "one tree of all paths, from the roots" },
    { CLI_OPT_STACKS, "stacks", 0, NULL, NULL, CLI_IN(CLI_THREADS), "frames of each thread" },
    { CLI_OPT_LOCALS, "locals", 0, NULL, NULL, CLI_IN(CLI_THREADS), "objects held by each frame" },
    { CLI_OPT_TABLE, "table", 0, "TABLE", "objects references named_references classes loaders roots threads packages dump", CLI_IN(CLI_EXPORT),
      "which table" },
    { CLI_OPT_FULL, "full", 0, NULL, NULL, CLI_IN(CLI_VERIFY), "check every promise between the files too" },
    { CLI_OPT_FINDER, "finder", 0, "FINDER", "watched filters classes", CLI_IN(CLI_LEAKS), "which objects leak; watched by default" },
    { CLI_OPT_MATCHERS, "matchers", 0, "FILE", NULL, CLI_IN(CLI_LEAKS), "references not to follow, and known leaks of libraries, besides those built in" },
    { CLI_OPT_FILTERS, "filters", 0, "FILE", NULL, CLI_IN(CLI_LEAKS), "rules of state, besides those built in" },
    { CLI_OPT_MAPPING, "mapping", 0, "FILE", NULL, CLI_IN(CLI_LEAKS), "mapping of R8 or ProGuard: names are given back" },
    { CLI_OPT_NO_RETAINED, "no-retained", 0, NULL, NULL, CLI_IN(CLI_LEAKS), "no retained sizes: the search ends when all leaks are found" },
    { CLI_OPT_KEY, "key", 0, "KEY", NULL, CLI_IN(CLI_LEAKS), "only the watched object with this key" },
    { CLI_OPT_MIN_WATCH, "min-watch", 0, "SECONDS", NULL, CLI_IN(CLI_LEAKS), "only objects watched at least so long" },
    { CLI_OPT_JUNIT, "junit", 0, "FILE", NULL, CLI_IN(CLI_LEAKS), "write the leaks as JUnit XML, too" },
    { CLI_OPT_FAIL_ON, "fail-on", 0, "KIND", "application library any", CLI_IN(CLI_LEAKS), "exit 1 when there is such a leak" },
    { CLI_OPT_FULL, "full", 0, NULL, NULL, CLI_IN(CLI_DETECT), "look at the whole dump" },
    { CLI_OPT_POLICY, "policy", 0, "POLICY", "matrix koom tailor shark redact", CLI_IN(CLI_STRIP), "what to keep and drop" },
    { CLI_OPT_KEEP_CLASS, "keep-class", 0, "PATTERN", NULL, CLI_IN(CLI_STRIP), "keep instances (byte[]: contents) all the same; may be repeated" },
    { CLI_OPT_DROP_CLASS, "drop-class", 0, "PATTERN", NULL, CLI_IN(CLI_STRIP), "drop instances and arrays of a class; may be repeated" },
    { CLI_OPT_KEEP_BITMAPS, "keep-bitmaps", 0, NULL, NULL, CLI_IN(CLI_STRIP), "matrix: bitmaps that occur once stay" },
    { CLI_OPT_MAP_NAMES, "map-names", 0, NULL, NULL, CLI_IN(CLI_STRIP), "redact: other names for all that is not of the platform" },
    { CLI_OPT_PLAIN, "plain", 0, NULL, NULL, CLI_IN(CLI_STRIP), "tailor: the container without its zlib stream" },
    /* of every command */
    { CLI_OPT_FORMAT, "format", 0, "FORMAT", "csv tsv jsonl", CLI_IN(CLI_EXPORT), "csv by default" },
    { CLI_OPT_FORMAT, "format", 0, "FORMAT", "table json jsonl csv tsv", CLI_EVERY & ~CLI_IN(CLI_EXPORT), "how rows are written; table by default" },
    { CLI_OPT_OUTPUT, "output", 'o', "FILE", NULL, CLI_EVERY, "write to FILE, whole or not at all; - is standard output" },
    { CLI_OPT_COLUMNS, "columns", 0, "A,B,C", NULL, CLI_EVERY, "only these columns, in this order" },
    { CLI_OPT_SORT, "sort", 0, "COL[:asc|desc]", NULL, CLI_EVERY, "order of the rows; sizes and counts fall unless told" },
    { CLI_OPT_LIMIT, "limit", 0, "N", NULL, CLI_EVERY, "rows to show; tables show 25 unless told; 0 is all" },
    { CLI_OPT_WHERE, "where", 0, "'COL OP VALUE'", NULL, CLI_EVERY, "keep rows: = != < <= > >= ~ (regular expression); may be repeated" },
    { CLI_OPT_REACHABLE, "reachable", 0, "WHICH", "live all garbage", CLI_EVERY, "objects that rows and counts include; live by default" },
    { CLI_OPT_UNITS, "units", 0, "UNITS", "bytes human", CLI_EVERY, "sizes in tables; human by default" },
    { CLI_OPT_THREADS, "threads", 0, "N", NULL, CLI_EVERY, "workers; as many as processors by default" },
    { CLI_OPT_MEMORY, "memory", 0, "SIZE", NULL, CLI_EVERY, "the most memory a build may take: 768M, 4G" },
    { CLI_OPT_MAX_UNCOMPRESSED, "max-uncompressed", 0, "SIZE", NULL, CLI_EVERY, "refuse dumps that inflate to more" },
    { CLI_OPT_DUMP_NUMBER, "dump-number", 0, "N", NULL, CLI_EVERY, "which heap of a file that holds several; 1 by default" },
    { CLI_OPT_INDEX_DIR, "index-dir", 0, "DIR", NULL, CLI_EVERY, "the index folder itself" },
    { CLI_OPT_NO_BUILD, "no-build", 0, NULL, NULL, CLI_EVERY, "answer from an existing index, or exit with 3" },
    { CLI_OPT_NO_WAIT, "no-wait", 0, NULL, NULL, CLI_EVERY, "do not wait for another builder: exit with 76" },
    { CLI_OPT_PROGRESS, "progress", 0, "WHEN", "auto always never json", CLI_EVERY, "progress on standard error" },
    { CLI_OPT_COLOR, "color", 0, "WHEN", "auto always never", CLI_EVERY, "colours in tables; NO_COLOR is honoured" },
    { CLI_OPT_QUIET, "quiet", 0, NULL, NULL, CLI_EVERY, "no warnings on standard error" },
    { CLI_OPT_VERBOSE, "verbose", 0, NULL, NULL, CLI_EVERY, "say what is read and written" },
    { CLI_OPT_HELP, "help", 'h', NULL, NULL, CLI_EVERY, "this text; heapdex COMMAND --help for a command" },
    { CLI_OPT_VERSION, "version", 0, NULL, NULL, CLI_EVERY, "the version of heapdex" },
};
const size_t cli_option_count = sizeof cli_options / sizeof *cli_options;

const cli_option *cli_option_named(const char *name, size_t len, unsigned command)
{
    for (size_t i = 0; i < cli_option_count; i++) {
        const cli_option *o = &cli_options[i];
        if (command != CLI_COMMANDS && !(o->commands & CLI_IN(command)))
            continue;
        if ((strlen(o->name) == len && memcmp(o->name, name, len) == 0) || (len == 1 && o->letter != 0 && o->letter == *name))
            return o;
    }
    return NULL;
}

int cli_choice(const char *choices, const char *value)
{
    size_t len = strlen(value);
    int    place = 0;
    for (const char *p = choices; *p != '\0'; place++) {
        size_t n = strcspn(p, " ");
        if (n == len && memcmp(p, value, n) == 0)
            return place;
        p += n;
        p += *p == ' ';
    }
    return -1;
}
