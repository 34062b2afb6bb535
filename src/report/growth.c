/*
 * growth.c - what grew in several dumps.
 */
#include "report/sections.h"

#define DUMPS 16u /* that a command names */

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
                 { "retained", "retained size" },
                 { "retained_first", "retained first" },
                 { "retained_last", "retained last" },
                 { "retained_grown", "growth" } },
    .rows = 30,
};

const section *hdx_section_of_growth(size_t dumps) { return dumps > 2 ? &growth_of_many : &growth_of_two; }

/* The names of the dumps, as other sections have them: without folders. */
static const char *name_of(const hdx_session *s, size_t place)
{
    const char *path = hdx_session_dump(s, place), *slash = path != NULL ? strrchr(path, '/') : NULL;
    return slash != NULL ? slash + 1 : path != NULL ? path : "DUMP";
}

static void put_command(report *r, const section *s)
{
    const char *dumps[DUMPS];
    size_t      count = r->options->dumps;
    if (count > DUMPS)
        dumps[0] = "DUMP...", count = 1;
    else
        for (size_t i = 0; i < count; i++)
            dumps[i] = name_of(r->options->growth, i);
    hdx_doc_commands(&r->p, s->command, dumps, count);
}

hdx_code hdx_section_growth(report *r, hdx_error *err)
{
    const section  *s = hdx_section_of_growth(r->options->dumps);
    hdx_rows       *rows = NULL;
    const hdx_cell *row;
    hdx_code        code = hdx_section_run(r->options->growth, s, &rows, err);
    hdx_doc_section(&r->p, "growth", "What grew");
    const bool any = code == HDX_OK && hdx_rows_next(rows, &row);
    if (any)
        code = hdx_section_table(r, s, rows, row, err);
    else if (code == HDX_OK && (code = hdx_rows_end(rows, err)) == HDX_OK)
        hdx_doc_paragraph(&r->p, "Nothing grew.");
    hdx_rows_close(rows);
    code = code == HDX_OK ? HDX_OK : hdx_section_tolerate(r, s->command, code, err);
    put_command(r, s);
    hdx_doc_section_end(&r->p);
    return code;
}
