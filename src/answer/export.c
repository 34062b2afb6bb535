/*
 * export.c - the answer `export`: whole tables. Each table is a question.
 */
#include "answer/answer.h"

static const hdx_parameter export_parameters[] = {
    { "table", HDX_PARAMETER_CHOICES, HDX_PARAMETER_REQUIRED, "TABLE",
      "objects references named_references classes loaders roots threads packages dump suspects", NULL, NULL, NULL, 0,
      0, "table to export; several, separated by commas, go to a folder (-o) or to one SQLite file" },
};
static const hdx_form any_form = { NULL, NULL, NULL, 0 };

const hdx_answer hdx_answer_export = {
    .name = "export",
    .flags = HDX_ANSWER_PLAIN | HDX_ANSWER_HEAP | HDX_ANSWER_SCOPED, /* every table supports these */
    .sentence = "export whole tables as csv, tsv, jsonl, parquet or an SQLite file",
    .more = "Rows cover live objects; --reachable all adds the others.",
    .examples = { "heapdex export app.hprof --table classes --format csv -o classes.csv",
                  "heapdex export app.hprof --table objects,classes --format parquet -o tables" },
    .forms = &any_form, /* the forms are those of the table */
    .form_count = 1,
    .parameters = export_parameters,
    .parameter_count = HDX_COUNT(export_parameters),
};

static const hdx_question *const tables[] = {
#define TABLE(name) &hdx_table_of_##name,
    HDX_TABLES(TABLE)
#undef TABLE
};

const hdx_answer *const *hdx_tables(size_t *count)
{
    static const hdx_answer *const all[] = {
#define DECLARED(name) &hdx_table_of_##name.declared,
        HDX_TABLES(DECLARED)
#undef DECLARED
    };
    *count = HDX_COUNT(all);
    return all;
}

const hdx_question *hdx_answer_table(const hdx_arguments *a)
{
    const char *name = a->answer == &hdx_answer_export ? hdx_answer_last(a, "table") : NULL;
    for (size_t i = 0; name != NULL && i < HDX_COUNT(tables); i++)
        if (strcmp(tables[i]->declared.name, name) == 0)
            return tables[i];
    return NULL;
}
