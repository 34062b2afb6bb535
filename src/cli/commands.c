/*
 * commands.c - the list of commands: every answer of the library, and the commands that only the command line has. The
 * latter are declared here and not in the files that run them, because parsing and help need only the declarations.
 */
#include "batch/batch.h"
#include "cli/cli.h"

/* ---- sql and oql ---- */

static const hdx_form statement_form = { NULL, NULL, NULL, 0 };

static const hdx_parameter sql_parameters[] = {
    { "statement", HDX_PARAMETER_TEXT, HDX_PARAMETER_WORD, "'SELECT ...'", NULL, NULL, NULL, NULL, 0, 0,
      "one or more statements, separated by semicolons" },
    { "file", HDX_PARAMETER_FILE, 0, "FILE", NULL, NULL, NULL, NULL, 0, 0,
      "read statements from FILE; - is standard input" },
    { "attach", HDX_PARAMETER_TEXT, HDX_PARAMETER_REPEATED, "NAME=DUMP", NULL, NULL, NULL, NULL, 0, 0,
      "another dump, with tables NAME.objects and so on; may be repeated" },
    { "limit", HDX_PARAMETER_NUMBER, 0, "N", NULL, NULL, NULL, NULL, 0, 0,
      "rows to show for each statement; default: all, 25 in the shell; 0 shows all" },
    { "max-rows", HDX_PARAMETER_NUMBER, 0, "N", NULL, NULL, NULL, NULL, 1, INT64_MAX,
      "stop a statement that returns more rows, with exit code 6" },
    { "max-seconds", HDX_PARAMETER_NUMBER, 0, "N", NULL, NULL, NULL, NULL, 1, UINT32_MAX,
      "stop a statement that runs longer, with exit code 6" },
};

static const hdx_answer sql_command = {
    .name = "sql",
    .flags = HDX_ANSWER_HEAP | HDX_ANSWER_SCOPED | HDX_ANSWER_VALUES,
    .sentence = "query the heap with SQL, for questions that no other command answers",
    .more = "Objects, references, classes, roots, threads and every class are tables; answers and functions of objects "
            "can be queried too. doc/sql.md describes them. The statement determines the columns. On a terminal, "
            "without a statement, this command starts a shell (.help lists its commands). The language is that of "
            "SQLite; only temporary tables can be written.",
    .examples = { "heapdex sql app.hprof 'SELECT * FROM objects ORDER BY retained DESC LIMIT 9'",
                  "echo 'SELECT count(*) FROM objects' | heapdex sql app.hprof --format csv" },
    .forms = &statement_form,
    .form_count = 1,
    .parameters = sql_parameters,
    .parameter_count = HDX_COUNT(sql_parameters),
};

static const hdx_parameter oql_parameters[] = {
    { "query", HDX_PARAMETER_TEXT, HDX_PARAMETER_WORD, "'SELECT ...'", NULL, NULL, NULL, NULL, 0, 0, "one query" },
    { "explain", HDX_PARAMETER_FLAG, 0, NULL, NULL, NULL, NULL, NULL, 0, 0, "print the SQL and do not run it" },
    { "file", HDX_PARAMETER_FILE, 0, "FILE", NULL, NULL, NULL, NULL, 0, 0,
      "read the query from FILE; - is standard input" },
    { "limit", HDX_PARAMETER_NUMBER, 0, "N", NULL, NULL, NULL, NULL, 0, 0, "rows to show; default: all; 0 shows all" },
    { "max-rows", HDX_PARAMETER_NUMBER, 0, "N", NULL, NULL, NULL, NULL, 1, INT64_MAX,
      "stop a query that returns more rows, with exit code 6" },
    { "max-seconds", HDX_PARAMETER_NUMBER, 0, "N", NULL, NULL, NULL, NULL, 1, UINT32_MAX,
      "stop a query that runs longer, with exit code 6" },
};

static const hdx_answer oql_command = {
    .name = "oql",
    .flags = HDX_ANSWER_HEAP | HDX_ANSWER_SCOPED | HDX_ANSWER_VALUES,
    .sentence = "run queries in Eclipse MAT's OQL, translated to SQL",
    .more = "Supports MAT's dialect, GROUP BY, ORDER BY, LIMIT and aggregates as in hprof-analyzer, and the functions "
            "of mat-calcite. --explain shows the SQL. A construct without an SQL equivalent is refused, and the "
            "message names an alternative. SELECT * shows objects; the query determines the columns.",
    .examples = { "heapdex oql app.hprof 'SELECT toString(s) FROM java.lang.String s'",
                  "heapdex oql app.hprof 'SELECT m.size FROM java.util.HashMap m' --explain" },
    .forms = &statement_form,
    .form_count = 1,
    .parameters = oql_parameters,
    .parameter_count = HDX_COUNT(oql_parameters),
};

/* ---- batch ---- */

static const hdx_parameter batch_parameters[] = {
    { "out", HDX_PARAMETER_FILE, HDX_PARAMETER_REQUIRED, "DIR", NULL, NULL, NULL, NULL, 0, 0,
      "folder for answers, tables, status and summary; created if missing" },
    { "ask", HDX_PARAMETER_TEXT, 0, "ANSWER,...", NULL, NULL, NULL, NULL, 0, 0,
      "answers to write for each dump, to DIR/answers/ID/ANSWER.json" },
    { "tables", HDX_PARAMETER_CHOICE, 0, "FORMAT", "none parquet sqlite csv", NULL, NULL, NULL, 0, 0,
      "write tables for each dump to DIR/tables/dump_id=ID/TABLE.FORMAT, or to DIR/tables.sqlite; default: none" },
    { "more-tables", HDX_PARAMETER_TEXT, 0, "TABLE,...", NULL, NULL, NULL, "tables", 0, 0,
      "optional tables to write: objects, references, dominators_full" },
    { "memory", HDX_PARAMETER_SIZE, 0, "SIZE", NULL, NULL, NULL, NULL, 0, 0,
      "memory limit for all dumps together; default: three quarters of the available memory" },
    { "threads", HDX_PARAMETER_NUMBER, 0, "N", NULL, NULL, NULL, NULL, 0, HDX_WORKERS_MAX,
      "threads for all dumps together; default: one for each processor" },
    { "task", HDX_PARAMETER_NUMBER, 0, "N", NULL, NULL, NULL, "tasks", 0, UINT32_MAX,
      "task number of this call, from 0 (or from 1: M is 0); default: SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX" },
    { "tasks", HDX_PARAMETER_NUMBER, 0, "M", NULL, NULL, NULL, NULL, 1, 100000,
      "divide the dumps among M calls, by their forecasts" },
    { "plan", HDX_PARAMETER_FLAG, 0, NULL, NULL, NULL, "drop-dump", NULL, 0, 0,
      "only forecast memory, disk space and time of each unfinished dump" },
    { "summary", HDX_PARAMETER_FLAG, 0, NULL, NULL, NULL, "plan", NULL, 0, 0,
      "only report the state of each dump from DIR; exit 1 if one is not done" },
    { "index-only", HDX_PARAMETER_FLAG, 0, NULL, NULL, NULL, "ask", NULL, 0, 0, "build indexes only" },
    { "index-dir", HDX_PARAMETER_TEXT, 0, "DIR", NULL, NULL, NULL, NULL, 0, 0,
      "store indexes as DIR/ID.hdx; default: next to the dumps" },
    { "drop-dump", HDX_PARAMETER_FLAG, HDX_PARAMETER_REPEATED, NULL, NULL, NULL, NULL, NULL, 0, 0,
      "delete each dump after its index is complete and verified; must be given twice" },
    { "rebuild", HDX_PARAMETER_CHOICE, 0, "WHICH", "damaged all", NULL, "summary", NULL, 0, 0,
      "rebuild existing indexes: damaged ones (reads each index completely) or all" },
    { "no-wait", HDX_PARAMETER_FLAG, 0, NULL, NULL, NULL, NULL, NULL, 0, 0,
      "exit with 76 and do not wait for dumps that another runner has locked" },
};
static const hdx_form batch_form = { NULL, NULL, hdx_batch_columns, HDX_BATCH_COLUMNS };

static const hdx_answer batch_command = {
    .name = "batch",
    .flags = HDX_ANSWER_DUMPS | HDX_ANSWER_LONG,
    .sentence = "index and analyze many dumps, as many at once as memory and processors allow",
    .more =
        "DUMP is a heap dump, a folder (*.hprof and *.hprof.gz in it and below), a pattern, or a manifest: CSV with a "
        "column `dump`, or JSONL. The largest dump is processed first. If a dump fails, the others continue: its row "
        "reports the reason, and the exit code is 1. Finished dumps that have not changed are skipped. After a kill, "
        "or SIGTERM (75), run the same command again to resume. Several runs may share one DIR.",
    .examples = { "heapdex batch dumps --out answers --ask suspects,histogram,leaks",
                  "heapdex batch dumps.csv --out answers --index-only --memory 8G --threads 4" },
    .forms = &batch_form,
    .form_count = 1,
    .document = hdx_batch_document,
    .document_count = HDX_BATCH_DOCUMENT,
    .parameters = batch_parameters,
    .parameter_count = HDX_COUNT(batch_parameters),
};

/* ---- report ---- */

static const hdx_parameter report_parameters[] = {
    { "format", HDX_PARAMETER_CHOICE, 0, "FORMAT", "html md json", NULL, NULL, NULL, 0, 0,
      "html: one file without scripts; md: Markdown for a ticket; json: all answers; html by default" },
    { "quick", HDX_PARAMETER_FLAG, 0, NULL, NULL, NULL, NULL, NULL, 0, 0,
      "omit answers that take seconds on a large heap: equal Strings, arrays, collections" },
    { "redact", HDX_PARAMETER_FLAG, 0, NULL, NULL, NULL, NULL, NULL, 0, 0,
      "omit texts of the heap: Strings, labels, properties, names of threads; class names stay" },
};

static const hdx_answer report_command = {
    .name = "report",
    .flags = HDX_ANSWER_DUMPS | HDX_ANSWER_HEAP | HDX_ANSWER_NO_VIEWS,
    .sentence = "write a report to mail: suspects, a map of the heap, classes, threads, waste",
    .more = "The report is one file that needs neither a network nor scripts. Each section names the command with the "
            "same rows. With several dumps, oldest first, it describes the last one and what grew since the first.",
    .examples = { "heapdex report app.hprof -o report.html", "heapdex report app.hprof --format md --quick" },
    .forms = &statement_form,
    .form_count = 1,
    .parameters = report_parameters,
    .parameter_count = HDX_COUNT(report_parameters),
};

/* ---- all of them ---- */

static const hdx_answer *const own[] = { &sql_command, &oql_command, &batch_command, &report_command };
#define OWN       HDX_COUNT(own)
#define LANGUAGES 2u /* number of query languages, which come first */

/* Own commands are listed before those that export whole tables. */
static size_t own_place(const hdx_answer *const *all, size_t count)
{
    size_t i = 0;
    while (i < count && strcmp(all[i]->name, "export") != 0)
        i++;
    return i;
}

size_t cli_command_count(void)
{
    size_t count;
    (void)hdx_answers(&count);
    return count + OWN;
}

const hdx_answer *cli_command_at(size_t i)
{
    size_t                   count;
    const hdx_answer *const *all = hdx_answers(&count);
    const size_t             first = own_place(all, count);
    return i < first ? all[i] : i < first + OWN ? own[i - first] : all[i - OWN];
}

const hdx_answer *cli_command_named(const char *name)
{
    for (size_t i = 0; i < OWN; i++)
        if (strcmp(own[i]->name, name) == 0)
            return own[i];
    return hdx_answer_named(name);
}

bool cli_has_language(const hdx_answer *command)
{
    for (size_t i = 0; i < LANGUAGES; i++)
        if (own[i] == command)
            return true;
    return false;
}
