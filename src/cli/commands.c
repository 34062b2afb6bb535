/*
 * commands.c - the list of commands: every answer of the library, and what the command line has besides. The latter
 * are declared here and not with the code that runs them, because parsing and help need the declarations alone.
 */
#include "batch/batch.h"
#include "cli/cli.h"

/* ---- sql and oql ---- */

static const hdx_form statement_form = { NULL, NULL, NULL, 0 };

static const hdx_parameter sql_parameters[] = {
    { "statement", HDX_PARAMETER_TEXT, HDX_PARAMETER_WORD, "'SELECT ...'", NULL, NULL, NULL, NULL, 0, 0,
      "one or several, a semicolon between two" },
    { "file", HDX_PARAMETER_FILE, 0, "FILE", NULL, NULL, NULL, NULL, 0, 0,
      "statements out of FILE; - is standard input" },
    { "attach", HDX_PARAMETER_TEXT, HDX_PARAMETER_REPEATED, "NAME=DUMP", NULL, NULL, NULL, NULL, 0, 0,
      "another dump, whose tables are NAME.objects and so on; may be repeated" },
    { "limit", HDX_PARAMETER_NUMBER, 0, "N", NULL, NULL, NULL, NULL, 0, 0,
      "rows to show of each statement; all by default, and 25 in the shell; 0 is all" },
    { "max-rows", HDX_PARAMETER_NUMBER, 0, "N", NULL, NULL, NULL, NULL, 1, INT64_MAX,
      "a statement that gives more ends with exit code 6" },
    { "max-seconds", HDX_PARAMETER_NUMBER, 0, "N", NULL, NULL, NULL, NULL, 1, UINT32_MAX,
      "a statement that works longer ends with exit code 6" },
};

static const hdx_answer sql_command = {
    .name = "sql",
    .flags = HDX_ANSWER_HEAP | HDX_ANSWER_SCOPED | HDX_ANSWER_VALUES,
    .sentence = "SQL over the heap: every question that has no command of its own",
    .more = "Objects, references, classes, roots, threads and every class are tables, answers and functions of objects "
            "too; doc/sql.md has them. The columns are those of the statement. On a terminal and without a statement "
            "it is a shell: .help. SQLite is the language, and nothing is written but temporary tables.",
    .examples = { "heapdex sql app.hprof 'SELECT * FROM objects ORDER BY retained DESC LIMIT 9'",
                  "echo 'SELECT count(*) FROM objects' | heapdex sql app.hprof --format csv" },
    .forms = &statement_form,
    .form_count = 1,
    .parameters = sql_parameters,
    .parameter_count = HDX_COUNT(sql_parameters),
};

static const hdx_parameter oql_parameters[] = {
    { "query", HDX_PARAMETER_TEXT, HDX_PARAMETER_WORD, "'SELECT ...'", NULL, NULL, NULL, NULL, 0, 0, "one query" },
    { "explain", HDX_PARAMETER_FLAG, 0, NULL, NULL, NULL, NULL, NULL, 0, 0, "the SQL instead of its answer" },
    { "file", HDX_PARAMETER_FILE, 0, "FILE", NULL, NULL, NULL, NULL, 0, 0,
      "the query out of FILE; - is standard input" },
    { "limit", HDX_PARAMETER_NUMBER, 0, "N", NULL, NULL, NULL, NULL, 0, 0, "rows to show; all by default, 0 is all" },
    { "max-rows", HDX_PARAMETER_NUMBER, 0, "N", NULL, NULL, NULL, NULL, 1, INT64_MAX,
      "a query that gives more ends with exit code 6" },
    { "max-seconds", HDX_PARAMETER_NUMBER, 0, "N", NULL, NULL, NULL, NULL, 1, UINT32_MAX,
      "a query that works longer ends with exit code 6" },
};

static const hdx_answer oql_command = {
    .name = "oql",
    .flags = HDX_ANSWER_HEAP | HDX_ANSWER_SCOPED | HDX_ANSWER_VALUES,
    .sentence = "queries of Eclipse MAT: OQL, put into SQL",
    .more =
        "MAT's dialect with GROUP BY, ORDER BY, LIMIT and aggregates, as hprof-analyzer has them, and the functions "
        "of mat-calcite; --explain shows the SQL. What SQL has no words for is refused with what serves instead. "
        "SELECT * shows objects; the columns are those of the query.",
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
      "the folder for answers, tables, status and summary; made where there is none" },
    { "ask", HDX_PARAMETER_TEXT, 0, "ANSWER,...", NULL, NULL, NULL, NULL, 0, 0,
      "answers of each dump, as DIR/answers/ID/ANSWER.json" },
    { "tables", HDX_PARAMETER_CHOICE, 0, "FORMAT", "none parquet sqlite csv", NULL, NULL, NULL, 0, 0,
      "tables of each dump as a part of those of all, as DIR/tables/dump_id=ID/TABLE.FORMAT or DIR/tables.sqlite; none "
      "by "
      "default" },
    { "more-tables", HDX_PARAMETER_TEXT, 0, "TABLE,...", NULL, NULL, NULL, "tables", 0, 0,
      "tables that are written on demand only: objects, references, dominators_full" },
    { "memory", HDX_PARAMETER_SIZE, 0, "SIZE", NULL, NULL, NULL, NULL, 0, 0,
      "the most memory that all dumps at work may take together; three quarters of what is available by default" },
    { "threads", HDX_PARAMETER_NUMBER, 0, "N", NULL, NULL, NULL, NULL, 0, HDX_WORKERS_MAX,
      "workers of all dumps together; as many as processors by default" },
    { "task", HDX_PARAMETER_NUMBER, 0, "N", NULL, NULL, NULL, "tasks", 0, UINT32_MAX,
      "the share of this call, from 0 (or from 1: M is 0); else SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX says it" },
    { "tasks", HDX_PARAMETER_NUMBER, 0, "M", NULL, NULL, NULL, NULL, 1, 100000,
      "deal the dumps to so many calls, by forecast" },
    { "plan", HDX_PARAMETER_FLAG, 0, NULL, NULL, NULL, "drop-dump", NULL, 0, 0,
      "only forecast: memory, disk and time of each dump that is not done" },
    { "summary", HDX_PARAMETER_FLAG, 0, NULL, NULL, NULL, "plan", NULL, 0, 0,
      "only tell what became of each dump, as DIR says; the exit code is 1 where one is not done" },
    { "index-only", HDX_PARAMETER_FLAG, 0, NULL, NULL, NULL, "ask", NULL, 0, 0, "indexes, and nothing else" },
    { "index-dir", HDX_PARAMETER_TEXT, 0, "DIR", NULL, NULL, NULL, NULL, 0, 0,
      "indexes are DIR/ID.hdx; beside their dumps by default" },
    { "drop-dump", HDX_PARAMETER_FLAG, HDX_PARAMETER_REPEATED, NULL, NULL, NULL, NULL, NULL, 0, 0,
      "delete each dump once its index is whole and verified; only where it is said twice" },
    { "rebuild", HDX_PARAMETER_CHOICE, 0, "WHICH", "damaged all", NULL, "summary", NULL, 0, 0,
      "build indexes again that are there: damaged, which reads all of each to find out, or all" },
    { "no-wait", HDX_PARAMETER_FLAG, 0, NULL, NULL, NULL, NULL, NULL, 0, 0,
      "do not wait for dumps that another runner has: exit with 76" },
};
static const hdx_form batch_form = { NULL, NULL, hdx_batch_columns, HDX_BATCH_COLUMNS };

static const hdx_answer batch_command = {
    .name = "batch",
    .flags = HDX_ANSWER_DUMPS | HDX_ANSWER_LONG,
    .sentence = "many dumps: indexes and answers of all of them, as many at once as memory and processors allow",
    .more =
        "DUMP is a heap dump, a folder (*.hprof and *.hprof.gz in it and below), a pattern, or a manifest: CSV with "
        "a column `dump`, or JSONL. The largest goes first. One that fails does not stop the others: its row says "
        "why, and the exit code is 1. What was done before and is unchanged is skipped; after a kill, or SIGTERM "
        "(75), the same call goes on. Several may run on the same DIR.",
    .examples = { "heapdex batch dumps --out night --ask suspects,histogram,leaks",
                  "heapdex batch dumps.csv --out night --index-only --memory 8G --threads 4" },
    .forms = &batch_form,
    .form_count = 1,
    .document = hdx_batch_document,
    .document_count = HDX_BATCH_DOCUMENT,
    .parameters = batch_parameters,
    .parameter_count = HDX_COUNT(batch_parameters),
};

/* ---- all of them ---- */

static const hdx_answer *const own[] = { &sql_command, &oql_command, &batch_command };
#define OWN       HDX_COUNT(own)
#define LANGUAGES 2u /* of them, first */

/* They stand before what gives whole tables. */
static size_t place(const hdx_answer *const *all, size_t count)
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
    const size_t             first = place(all, count);
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
