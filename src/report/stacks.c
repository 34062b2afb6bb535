/*
 * stacks.c - the threads of the report with their stacks.
 */
#include "report/sections.h"

#include <stdio.h>

#define THREADS 50u
#define FRAMES  40u

static bool is_own_frame(const hdx_cell *method)
{
    static const char *const platform[] = { "java.", "javax.", "jdk.", "sun.", "com.sun.", "android.", "dalvik." };
    for (size_t i = 0; method->kind == HDX_CELL_TEXT && i < sizeof platform / sizeof *platform; i++)
        if (method->as.text.len > strlen(platform[i]) &&
            memcmp(method->as.text.at, platform[i], strlen(platform[i])) == 0)
            return false;
    return method->kind == HDX_CELL_TEXT;
}

static void put_frames(report *r, const hdx_cell *frames)
{
    for (uint64_t i = 0; i < frames->as.list.count && i < FRAMES; i++) {
        const hdx_cell *f = &frames->as.list.at[i], *method = hdx_cell_member(f, "method"),
                       *source = hdx_cell_member(f, "source"), *line = hdx_cell_member(f, "line");
        const bool own = is_own_frame(method);
        hdx_doc_step(&r->p, !own, false);
        if (own)
            hdx_doc_strong_begin(&r->p);
        if (method->kind == HDX_CELL_TEXT)
            hdx_doc_text(&r->p, method->as.text.at, method->as.text.len);
        if (own)
            hdx_doc_strong_end(&r->p);
        if (source->kind == HDX_CELL_TEXT) {
            hdx_doc_string(&r->p, " (");
            hdx_doc_text(&r->p, source->as.text.at, source->as.text.len);
            if (line->kind == HDX_CELL_UINT || line->kind == HDX_CELL_INT) {
                hdx_doc_string(&r->p, ":");
                hdx_doc_value(&r->p, line, HDX_UNIT_NONE);
            }
            hdx_doc_string(&r->p, ")");
        }
        hdx_doc_step_end(&r->p);
    }
    if (frames->as.list.count > FRAMES) {
        char rest[48];
        (void)snprintf(rest, sizeof rest, "(%llu more frames)", (unsigned long long)(frames->as.list.count - FRAMES));
        hdx_doc_step(&r->p, true, false);
        hdx_doc_string(&r->p, rest);
        hdx_doc_step_end(&r->p);
    }
}

/* A heading and the stack of each thread; frames of the application stand out. */
hdx_code hdx_section_threads(report *r, hdx_error *err)
{
    static const section of = { .answer = "threads", .arguments = { { "stacks", "true" } } };
    hdx_rows            *rows = NULL;
    const hdx_cell      *row;
    unsigned             count;
    uint64_t             n = 0;
    bool                 more = true;
    hdx_code             code = hdx_section_run(r->s, &of, &rows, err);
    hdx_doc_section(&r->p, "threads", "Threads");
    const hdx_column *columns = code == HDX_OK ? hdx_rows_columns(rows, &count) : NULL;
    while (code == HDX_OK && n < THREADS && !hdx_doc_is_full(&r->p) && (more = hdx_rows_next(rows, &row))) {
        const hdx_cell *frames = hdx_cell_named(columns, count, row, "frames"),
                       *name = hdx_cell_named(columns, count, row, "name"),
                       *state = hdx_cell_named(columns, count, row, "state"),
                       *waits = hdx_cell_named(columns, count, row, "waits_for");
        char title[64] = "";
        n++;
        (void)snprintf(title, sizeof title, "Thread %llu", (unsigned long long)n);
        hdx_doc_heading_begin(&r->p);
        if (name->kind == HDX_CELL_TEXT && !r->options->redact)
            hdx_doc_text(&r->p, name->as.text.at, name->as.text.len);
        else
            hdx_doc_string(&r->p, title);
        hdx_doc_heading_end(&r->p);
        hdx_doc_paragraph_begin(&r->p);
        hdx_doc_value(&r->p, state, HDX_UNIT_NONE);
        if (waits->kind == HDX_CELL_TEXT && !r->options->redact) {
            hdx_doc_string(&r->p, ", waits for ");
            hdx_doc_text(&r->p, waits->as.text.at, waits->as.text.len);
        }
        hdx_doc_string(&r->p, ", retains ");
        hdx_doc_value(&r->p, hdx_cell_named(columns, count, row, "retained"), HDX_UNIT_BYTES);
        hdx_doc_paragraph_end(&r->p);
        if (frames->kind == HDX_CELL_LIST && frames->as.list.count > 0) {
            hdx_doc_path(&r->p);
            put_frames(r, frames);
            hdx_doc_path_end(&r->p);
        }
        hdx_doc_flush(&r->p);
    }
    if (code == HDX_OK && !more)
        code = hdx_rows_end(rows, err);
    if (code == HDX_OK && n == 0)
        hdx_doc_say(&r->p, hdx_rows_empty_reason(rows) != NULL ? hdx_rows_empty_reason(rows) : "There are none.");
    if (more && n > 0)
        hdx_doc_say(&r->p, "There may be more threads; this command shows all of them:");
    hdx_rows_close(rows);
    code = code == HDX_OK ? HDX_OK : hdx_section_tolerate(r, "threads --stacks", code, err);
    hdx_doc_command(&r->p, "threads --stacks --locals", r->dump);
    hdx_doc_section_end(&r->p);
    return code;
}
