/*
 * growth.c - what grew in several dumps.
 */
#include "report/sections.h"

static const section growth_of_two = {
    .command = "diff --by dominator",
    .answer = "diff",
    .arguments = { { "by", "dominator" } },
    .columns = { { "key", "class path" },
                 { "objects_delta", "objects" },
                 { "retained_a", "retained before" },
                 { "retained_b", "retained now" },
                 { "retained_delta", "growth" } },
    .rows = 30,
};
static const section growth_of_many = {
    .command = "trend --by dominator",
    .answer = "trend",
    .arguments = { { "by", "dominator" } },
    .columns = { { "key", "class path" },
                 { "rises", "rises" },
                 { "objects_grown", "objects" },
                 { "retained_first", "retained first" },
                 { "retained_last", "retained last" },
                 { "retained_grown", "growth" } },
    .rows = 30,
};

hdx_code hdx_section_growth(report *r, hdx_error *err)
{
    const section  *s = r->options->dumps > 2 ? &growth_of_many : &growth_of_two;
    hdx_rows       *rows = NULL;
    const hdx_cell *row;
    hdx_code        code = hdx_section_run(r->options->growth, s, &rows, err);
    hdx_doc_section(&r->p, "growth", "What grew");
    const bool any = code == HDX_OK && hdx_rows_next(rows, &row);
    if (any)
        code = hdx_section_table(r, s, rows, row, err);
    else if (code == HDX_OK && (code = hdx_rows_end(rows, err)) == HDX_OK)
        hdx_doc_say(&r->p, "Nothing grew.");
    hdx_rows_close(rows);
    code = code == HDX_OK ? HDX_OK : hdx_section_tolerate(r, s->command, code, err);
    hdx_doc_command(&r->p, s->command, "DUMP...");
    hdx_doc_section_end(&r->p);
    return code;
}
