/*
 * stacks.c - the threads of the report with their stacks.
 */
#include "report/sections.h"

#include <stdio.h>

#define THREADS 50u
#define FRAMES  40u

static bool is_own_frame(const hdx_cell *frame)
{
    static const char *const platform[] = { "java.",    "javax.",    "jdk.",    "sun.",     "com.sun.",
                                            "android.", "androidx.", "dalvik.", "libcore.", "com.android.internal." };
    const hdx_cell          *method = hdx_cell_member(frame, "method");
    for (size_t i = 0; method->kind == HDX_CELL_TEXT && i < HDX_COUNT(platform); i++)
        if (method->as.text.len > strlen(platform[i]) &&
            memcmp(method->as.text.at, platform[i], strlen(platform[i])) == 0)
            return false;
    return method->kind == HDX_CELL_TEXT;
}

static bool is_frames(const hdx_cell *frames) { return frames->kind == HDX_CELL_LIST && frames->as.list.count > 0; }

/* Returns the index of the first own frame at or after `from`, or the number of frames. */
static uint64_t next_own(const hdx_cell *frames, uint64_t from)
{
    while (from < frames->as.list.count && !is_own_frame(&frames->as.list.at[from]))
        from++;
    return from;
}

static bool has_own_frame(const hdx_cell *frames)
{
    return is_frames(frames) && next_own(frames, 0) < frames->as.list.count;
}

/* bookshop.Bookshop.main (Bookshop.java:131): the types of parameters are rarely worth the room. */
static void put_frame(report *r, const hdx_cell *frame)
{
    const hdx_cell *method = hdx_cell_member(frame, "method"), *source = hdx_cell_member(frame, "source"),
                   *line = hdx_cell_member(frame, "line");
    const bool own = is_own_frame(frame);
    if (own)
        hdx_doc_strong_begin(&r->p);
    if (method->kind == HDX_CELL_TEXT) {
        const char *types = memchr(method->as.text.at, '(', method->as.text.len);
        hdx_doc_text(&r->p, method->as.text.at,
                     types != NULL ? (size_t)(types - method->as.text.at) : method->as.text.len);
    }
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
}

static void put_step(report *r, const hdx_cell *frame, bool dim)
{
    hdx_doc_step(&r->p, dim, false);
    put_frame(r, frame);
    hdx_doc_step_end(&r->p);
}

static void put_count(report *r, uint64_t count, const char *what)
{
    char text[96];
    (void)snprintf(text, sizeof text, "(%llu more %s%s)", (unsigned long long)count, what, count == 1 ? "" : "s");
    hdx_doc_step(&r->p, true, false);
    hdx_doc_string(&r->p, text);
    hdx_doc_step_end(&r->p);
}

/* Of frames of the platform that follow each other, only the first is shown, which names what the thread does; the
 * others are counted. */
static void put_frames(report *r, const hdx_cell *frames)
{
    const uint64_t count = frames->as.list.count;
    hdx_doc_path(&r->p);
    for (uint64_t i = 0, steps = 0; i < count; steps++) {
        const uint64_t own = next_own(frames, i);
        if (steps == FRAMES || hdx_doc_is_full(&r->p)) {
            put_count(r, count - i, "frame");
            break;
        }
        put_step(r, &frames->as.list.at[i], own > i);
        i++;
        if (own == i + 1)
            put_step(r, &frames->as.list.at[i], true);
        else if (own > i)
            put_count(r, own - i, "platform frame");
        i = own > i ? own : i;
    }
    hdx_doc_path_end(&r->p);
}

static void put_thread(report *r, const hdx_column *columns, unsigned count, const hdx_cell *row, uint64_t n)
{
    const hdx_cell *frames = hdx_cell_named(columns, count, row, "frames"),
                   *name = hdx_cell_named(columns, count, row, "name"),
                   *state = hdx_cell_named(columns, count, row, "state"),
                   *waits = hdx_cell_named(columns, count, row, "waits_for");
    char title[64] = "";
    (void)snprintf(title, sizeof title, "Thread %llu", (unsigned long long)n);
    hdx_doc_heading_begin(&r->p);
    if (name->kind == HDX_CELL_TEXT && !r->options->redact)
        hdx_doc_text(&r->p, name->as.text.at, name->as.text.len);
    else
        hdx_doc_string(&r->p, title);
    hdx_doc_heading_end(&r->p);
    hdx_doc_paragraph_begin(&r->p);
    if (has_own_frame(frames)) {
        hdx_doc_string(&r->p, "In ");
        put_frame(r, &frames->as.list.at[next_own(frames, 0)]);
        hdx_doc_string(&r->p, ": ");
    }
    if (state->kind == HDX_CELL_TEXT) {
        hdx_doc_value(&r->p, state, HDX_UNIT_NONE);
        hdx_doc_string(&r->p, ", ");
    }
    if (waits->kind == HDX_CELL_TEXT && !r->options->redact) {
        hdx_doc_string(&r->p, "waits for ");
        hdx_doc_text(&r->p, waits->as.text.at, waits->as.text.len);
        hdx_doc_string(&r->p, ", ");
    }
    hdx_doc_string(&r->p, "retains ");
    hdx_doc_value(&r->p, hdx_cell_named(columns, count, row, "retained"), HDX_UNIT_BYTES);
    hdx_doc_paragraph_end(&r->p);
    if (is_frames(frames))
        put_frames(r, frames);
    hdx_doc_flush(&r->p);
}

/*
 * Writes threads with frames of the application, or those without; *written counts both. The rows are read once for
 * each, because there may be too many to hold.
 */
static hdx_code put_threads(report *r, bool own, uint64_t *written, hdx_error *err)
{
    static const section of = { .answer = "threads", .arguments = { { "stacks", "true" } } };
    hdx_rows            *rows = NULL;
    const hdx_cell      *row;
    unsigned             count;
    bool                 more = true;
    hdx_code             code = hdx_section_run(r->s, &of, &rows, err);
    const hdx_column    *columns = code == HDX_OK ? hdx_rows_columns(rows, &count) : NULL;
    while (code == HDX_OK && *written < THREADS && !hdx_doc_is_full(&r->p) && (more = hdx_rows_next(rows, &row)))
        if (has_own_frame(hdx_cell_named(columns, count, row, "frames")) == own)
            put_thread(r, columns, count, row, ++*written);
    if (code == HDX_OK && !more)
        code = hdx_rows_end(rows, err);
    if (code == HDX_OK && *written == 0 && !own)
        hdx_doc_paragraph(&r->p, hdx_rows_empty_reason(rows) != NULL ? hdx_rows_empty_reason(rows) : "There are none.");
    if (code == HDX_OK && more && !own)
        hdx_doc_paragraph(&r->p, "There may be more threads; with --limit 0, this command shows all of them:");
    hdx_rows_close(rows);
    return code;
}

/* Threads of the application first; in their stacks, frames of the application stand out. */
hdx_code hdx_section_threads(report *r, hdx_error *err)
{
    uint64_t written = 0;
    hdx_doc_section(&r->p, "threads", "Threads");
    hdx_code code = put_threads(r, true, &written, err);
    code = code == HDX_OK ? put_threads(r, false, &written, err) : code;
    code = code == HDX_OK ? HDX_OK : hdx_section_tolerate(r, "threads --stacks", code, err);
    hdx_doc_command(&r->p, "threads --stacks --locals", r->dump);
    hdx_doc_section_end(&r->p);
    return code;
}
