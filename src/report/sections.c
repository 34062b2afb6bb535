/*
 * sections.c - what is in a report: for each section the answer, how much of it, and what is said about it.
 *
 * In:  a session.
 * Out: the sections in the order in which somebody reads: what it is, what stands out, who holds the memory, details,
 *      and what the report does not contain.
 * Cost: that of the answers; those marked SLOW take seconds on a large heap and are left out with `quick`.
 */
#include "report/page.h"

#include <stdio.h>

#define SHOWN_MOST 12u /* columns of a table */

typedef struct shown {
    const char *column, *title;
} shown;

enum { SLOW = 1, CONTENTS = 2, QUIET = 4 }; /* CONTENTS: rows are texts of the heap; QUIET: left out if empty */

/* A section, or one of the tables of a section (title NULL: of the section before). */
typedef struct section {
    const char  *id, *title, *heading;
    const char  *command; /* as it is shown: "histogram --retained" */
    const char  *answer;
    hdx_argument arguments[5];
    shown        columns[SHOWN_MOST];
    const char  *says; /* NULL: nothing */
    unsigned     rows, flags;
} section;

static const section sections[] = {
    { .id = "classes",
      .title = "Classes",
      .command = "histogram --retained --sort retained",
      .answer = "histogram",
      .arguments = { { "retained", "true" }, { "sort", "retained" } },
      .columns = { { "class", "class" },
                   { "objects", "objects" },
                   { "shallow", "shallow" },
                   { "retained", "retained" },
                   { "percent", "% of heap" } },
      .rows = 100 },
    { .heading = "By package",
      .command = "histogram --by package",
      .answer = "histogram",
      .arguments = { { "by", "package" } },
      .columns = { { "package", "package" },
                   { "classes", "classes" },
                   { "objects", "objects" },
                   { "shallow", "shallow" },
                   { "percent", "% of heap" } },
      .rows = 30 },
    { .id = "objects",
      .title = "Biggest objects",
      .command = "dominators",
      .answer = "dominators",
      .columns = { { "class", "object" },
                   { "shallow", "shallow" },
                   { "retained", "retained" },
                   { "percent", "% of heap" },
                   { "address", "address" } },
      .rows = 50 },
    { .heading = "Held by static fields",
      .command = "statics --sort retained",
      .answer = "statics",
      .arguments = { { "sort", "retained" } },
      .columns = { { "static", "static field" },
                   { "class", "object" },
                   { "retained", "retained" },
                   { "address", "address" } },
      .rows = 25,
      .flags = QUIET },
    { .id = "waste",
      .title = "Waste",
      .heading = "Equal Strings and arrays",
      .command = "duplicates",
      .answer = "duplicates",
      .columns = { { "class", "object" },
                   { "objects", "objects" },
                   { "length", "length" },
                   { "bytes", "bytes" },
                   { "wasted", "wasted" } },
      .rows = 25,
      .flags = SLOW },
    { .heading = "Arrays that are constant or unused in part",
      .command = "arrays",
      .answer = "arrays",
      .columns = { { "class", "class" },
                   { "waste", "why" },
                   { "objects", "objects" },
                   { "shallow", "bytes" },
                   { "wasted", "wasted" } },
      .rows = 15,
      .flags = SLOW | QUIET },
    { .heading = "Collections, by the field that holds them",
      .command = "collections --by holder",
      .answer = "collections",
      .arguments = { { "by", "holder" } },
      .columns = { { "holder", "field" },
                   { "collections", "collections" },
                   { "empty", "empty" },
                   { "size", "elements" },
                   { "capacity", "capacity" },
                   { "waste", "wasted" } },
      .rows = 25,
      .flags = SLOW | QUIET },
    { .id = "loaders",
      .title = "Class loaders",
      .command = "loaders",
      .answer = "loaders",
      .columns = { { "class", "class loader" },
                   { "classes", "classes" },
                   { "instances", "instances" },
                   { "retained", "retained" },
                   { "address", "address" } },
      .rows = 30 },
    { .id = "offheap",
      .title = "Memory outside of the heap",
      .heading = "Direct buffers",
      .command = "direct-buffers",
      .answer = "direct-buffers",
      .columns = { { "class", "buffer" }, { "capacity", "capacity" }, { "kind", "kind" }, { "address", "address" } },
      .rows = 15,
      .flags = QUIET },
    { .heading = "Open files and sockets",
      .command = "open-files",
      .answer = "open-files",
      .columns = { { "class", "object" }, { "kind", "kind" }, { "name", "name" }, { "address", "address" } },
      .rows = 20,
      .flags = QUIET },
    { .id = "leaks",
      .title = "Leaks of watched objects",
      .command = "leaks",
      .answer = "leaks",
      .columns = { { "class", "class" },
                   { "kind", "kind" },
                   { "objects", "objects" },
                   { "retained", "retained" },
                   { "root", "GC root" },
                   { "suspects", "suspect references" } },
      .rows = 20,
      .flags = QUIET },
    { .id = "properties",
      .title = "Start-up and system properties",
      .command = "properties",
      .answer = "properties",
      .columns = { { "kind", "kind" }, { "key", "key" }, { "value", "value" } },
      .rows = 200,
      .flags = CONTENTS | QUIET },
};

typedef struct report {
    page                      p;
    const hdx_report_options *options;
    hdx_session              *s;
    const char               *dump;                            /* as commands name it */
    const char               *failed[HDX_COUNT(sections) + 8]; /* answers that this dump cannot give, and why */
    char                      why[HDX_COUNT(sections) + 8][160];
    unsigned                  failures;
} report;

/* ---- answers ---- */

/* A dump that lacks something is said at the end; what stops everything stops the report. */
static hdx_code tolerate(report *r, const char *command, hdx_code code, hdx_error *err)
{
    if (code == HDX_OK || code == HDX_CANCELLED || code == HDX_DAMAGED || code == HDX_IO || code == HDX_LIMIT)
        return code;
    if (r->failures < HDX_COUNT(r->failed)) {
        r->failed[r->failures] = command;
        (void)snprintf(r->why[r->failures], sizeof r->why[0], "%.150s", err->message);
        r->failures++;
    }
    return HDX_OK;
}

static hdx_code run_in(hdx_session *s, const char *answer, const hdx_argument *arguments, hdx_rows **rows,
                       hdx_error *err)
{
    size_t count = 0;
    *rows = NULL;
    while (count < 5 && arguments[count].name != NULL)
        count++;
    return hdx_answer_run(s, answer, arguments, count, rows, err);
}

static hdx_code run(report *r, const char *answer, const hdx_argument *arguments, hdx_rows **rows, hdx_error *err)
{
    return run_in(r->s, answer, arguments, rows, err);
}

/* ---- tables ---- */

static bool is_number(const hdx_column *c)
{
    return c->unit != HDX_UNIT_NONE || c->type == HDX_TYPE_UNSIGNED || c->type == HDX_TYPE_REAL;
}

/* A class with the text of the object, as tables have it; redacted: without the text. */
static void put_cell(report *r, const hdx_column *columns, unsigned count, const hdx_cell *row, const hdx_column *c)
{
    const hdx_cell *cell = hdx_cell_named(columns, count, row, c->name);
    const hdx_cell *label = hdx_cell_named(columns, count, row, "label");
    for (unsigned i = 0; i < count; i++)
        if ((columns[i].flags & HDX_COLUMN_PHRASE) != 0 && (c->flags & HDX_COLUMN_CLASS_NAME) != 0) {
            if (cell->kind == HDX_CELL_TEXT)
                hdx_doc_class(&r->p, cell->as.text);
            if (cell->kind == HDX_CELL_TEXT && row[i].kind == HDX_CELL_TEXT)
                hdx_doc_string(&r->p, " ");
            if (row[i].kind == HDX_CELL_TEXT)
                hdx_doc_text(&r->p, row[i].as.text.at, row[i].as.text.len);
            return;
        }
    if ((c->flags & HDX_COLUMN_CLASS_NAME) != 0 && cell->kind == HDX_CELL_TEXT) {
        const bool own = strcmp(c->name, "class") == 0 && label->kind == HDX_CELL_TEXT;
        const bool class_object = own && label->as.text.len > 6 && memcmp(label->as.text.at, "class ", 6) == 0;
        if (class_object) { /* "class com.acme.Cache", no content of the heap */
            hdx_doc_string(&r->p, "class ");
            hdx_doc_class(&r->p, (hdx_text){ label->as.text.at + 6, label->as.text.len - 6 });
            return;
        }
        hdx_doc_class(&r->p, cell->as.text);
        if (own && !r->options->redact) {
            hdx_doc_string(&r->p, " ");
            hdx_doc_value(&r->p, label, HDX_UNIT_NONE);
        }
        return;
    }
    hdx_doc_value(&r->p, cell, c->unit);
}

/* Texts that are neither classes nor codes of heapdex are contents of the heap. */
static bool is_content(const hdx_column *c)
{
    return strcmp(c->name, "name") == 0 || strcmp(c->name, "value") == 0 || (c->flags & HDX_COLUMN_LABEL) != 0;
}

/* *row: the first row, which was read already. */
static hdx_code put_rows(report *r, const section *s, hdx_rows *rows, const hdx_cell *row, hdx_error *err)
{
    const hdx_column *at[SHOWN_MOST];
    page_column       heads[SHOWN_MOST];
    unsigned          count, shown_count = 0;
    const hdx_column *columns = hdx_rows_columns(rows, &count);
    bool              more = true;
    for (unsigned i = 0; i < SHOWN_MOST && s->columns[i].column != NULL; i++)
        for (unsigned k = 0; k < count; k++)
            if (strcmp(columns[k].name, s->columns[i].column) == 0 &&
                !(r->options->redact && is_content(&columns[k]))) {
                at[shown_count] = &columns[k];
                heads[shown_count++] = (page_column){ s->columns[i].title, is_number(&columns[k]) };
            }
    hdx_doc_table(&r->p, heads, shown_count);
    for (uint64_t n = 0; n < s->rows && more && !hdx_doc_is_full(&r->p); n++) {
        hdx_doc_row(&r->p);
        for (unsigned i = 0; i < shown_count; i++) {
            hdx_doc_cell(&r->p, heads[i].number);
            put_cell(r, columns, count, row, at[i]);
            hdx_doc_cell_end(&r->p);
        }
        hdx_doc_row_end(&r->p);
        hdx_doc_flush(&r->p);
        more = hdx_rows_next(rows, &row);
    }
    hdx_doc_table_end(&r->p, more ? "There are more rows; this command shows all of them:" : NULL);
    return more ? HDX_OK : hdx_rows_end(rows, err);
}

/* `named`: the section whose title comes first; NULL: it has been written. */
static hdx_code put_section(report *r, const section *s, const section **named, hdx_error *err)
{
    hdx_rows       *rows = NULL;
    const hdx_cell *row;
    if (((s->flags & SLOW) != 0 && r->options->quick) || ((s->flags & CONTENTS) != 0 && r->options->redact) ||
        hdx_doc_is_full(&r->p)) {
        return HDX_OK;
    }
    hdx_code   code = run(r, s->answer, s->arguments, &rows, err);
    const bool any = code == HDX_OK && hdx_rows_next(rows, &row);
    if (code == HDX_OK && !any)
        code = hdx_rows_end(rows, err);
    if (code == HDX_OK && (any || (s->flags & QUIET) == 0)) {
        if (*named != NULL)
            hdx_doc_section(&r->p, (*named)->id, (*named)->title);
        *named = NULL;
        if (s->heading != NULL)
            hdx_doc_heading(&r->p, s->heading);
        if (any)
            code = put_rows(r, s, rows, row, err);
        else
            hdx_doc_say(&r->p, hdx_rows_empty_reason(rows) != NULL ? hdx_rows_empty_reason(rows) : "There are none.");
        hdx_doc_command(&r->p, s->command, r->dump);
    }
    hdx_rows_close(rows);
    return code == HDX_OK ? HDX_OK : tolerate(r, s->command, code, err);
}

static hdx_code put_sections(report *r, hdx_error *err)
{
    const section *named = NULL;
    bool           open = false;
    hdx_code       code = HDX_OK;
    for (unsigned i = 0; code == HDX_OK && i < HDX_COUNT(sections); i++) {
        if (sections[i].title != NULL) {
            if (open)
                hdx_doc_section_end(&r->p);
            open = false;
            named = &sections[i];
        }
        code = put_section(r, &sections[i], &named, err);
        open = named == NULL;
    }
    if (open)
        hdx_doc_section_end(&r->p);
    return code;
}

/* ---- what it is, and what stands out ---- */

static hdx_code put_overview(report *r, hdx_error *err)
{
    static const struct {
        const char *key, *name;
        hdx_unit    unit;
    } facts[] = {
        { "live_bytes", "live bytes", HDX_UNIT_BYTES }, { "live_objects", "live objects", HDX_UNIT_COUNT },
        { "classes", "classes", HDX_UNIT_COUNT },       { "class_loaders", "class loaders", HDX_UNIT_COUNT },
        { "threads", "threads", HDX_UNIT_COUNT },       { "unreachable_bytes", "unreachable bytes", HDX_UNIT_BYTES },
        { "created", "created", HDX_UNIT_NONE },        { "jvm", "JVM", HDX_UNIT_NONE },
        { "out_of_memory", "died of", HDX_UNIT_NONE },
    };
    static const hdx_argument no_arguments[5] = { { NULL, NULL } };
    hdx_rows                 *rows = NULL;
    const hdx_cell           *row;
    hdx_code                  code = run(r, "info", no_arguments, &rows, err);
    if (code != HDX_OK)
        return code;
    while (hdx_rows_next(rows, &row))
        ;
    if ((code = hdx_rows_end(rows, err)) == HDX_OK) {
        const hdx_cell *info = hdx_rows_extra_cell(rows, "info"), *triage = hdx_cell_member(info, "triage");
        hdx_doc_facts(&r->p);
        for (size_t i = 0; i < HDX_COUNT(facts); i++) {
            const hdx_cell *value = hdx_cell_member(info, facts[i].key);
            if (value->kind != HDX_CELL_NULL && value->kind != HDX_CELL_OBJECT)
                hdx_doc_fact(&r->p, facts[i].name, value, facts[i].unit);
        }
        hdx_doc_facts_end(&r->p);
        const hdx_member *damage;
        for (unsigned i = 0; (damage = hdx_rows_head(rows, i))->key != NULL; i++)
            if (strcmp(damage->key, "damage") == 0 && damage->value.kind == HDX_CELL_LIST &&
                damage->value.as.list.count > 0)
                hdx_doc_say(&r->p, "The dump is damaged: parts of it could not be read, and numbers cover the rest.");
        for (uint64_t i = 0; triage->kind == HDX_CELL_LIST && i < triage->as.list.count && !r->options->redact; i++) {
            const hdx_cell *one = &triage->as.list.at[i], *kind = hdx_cell_member(one, "kind");
            if (kind->kind == HDX_CELL_TEXT && hdx_text_is(kind->as.text, "suspect"))
                continue; /* the next section says it with its path */
            hdx_doc_say_cell(&r->p, hdx_cell_member(one, "sentence"));
        }
        hdx_doc_command(&r->p, "info", r->dump);
    }
    hdx_rows_close(rows);
    return code;
}

/* ---- suspects ---- */

static void put_name(report *r, const hdx_cell *step)
{
    const hdx_cell *class_name = hdx_cell_member(step, "class"), *label = hdx_cell_member(step, "label");
    const bool      text = label->kind == HDX_CELL_TEXT;
    if (text && label->as.text.len > 6 && memcmp(label->as.text.at, "class ", 6) == 0) {
        hdx_doc_string(&r->p, "class ");
        hdx_doc_class(&r->p, (hdx_text){ label->as.text.at + 6, label->as.text.len - 6 });
        return;
    }
    if (class_name->kind == HDX_CELL_TEXT)
        hdx_doc_class(&r->p, class_name->as.text);
    if (text && !r->options->redact) {
        hdx_doc_string(&r->p, " \"");
        hdx_doc_text(&r->p, label->as.text.at, label->as.text.len);
        hdx_doc_string(&r->p, "\"");
    }
}

static void put_path(report *r, const hdx_cell *path)
{
    const hdx_cell *steps = hdx_cell_member(path, "steps"),
                   *types = hdx_cell_member(hdx_cell_member(path, "root"), "types");
    if (steps->kind != HDX_CELL_LIST || steps->as.list.count == 0)
        return;
    hdx_doc_path(&r->p);
    hdx_doc_step(&r->p, true, false);
    hdx_doc_string(&r->p, "GC root: ");
    for (uint64_t i = 0; types->kind == HDX_CELL_LIST && i < types->as.list.count; i++) {
        const hdx_text type = types->as.list.at[i].as.text;
        const char    *words = hdx_root_type_words(type.at, type.len);
        hdx_doc_string(&r->p, i > 0 ? ", " : "");
        if (words != NULL)
            hdx_doc_string(&r->p, words);
        else
            hdx_doc_text(&r->p, type.at, type.len);
    }
    hdx_doc_step_end(&r->p);
    for (uint64_t i = 0; i < steps->as.list.count; i++) {
        const hdx_cell *step = &steps->as.list.at[i], *reference = hdx_cell_member(step, "reference"),
                       *name = hdx_cell_member(reference, "name"), *frame = hdx_cell_member(reference, "frame");
        hdx_doc_step(&r->p, false, i + 1 == steps->as.list.count);
        put_name(r, step);
        if (name->kind == HDX_CELL_TEXT) {
            hdx_doc_string(&r->p, name->as.text.len > 0 && strchr("[<", *name->as.text.at) != NULL ? " " : " .");
            hdx_doc_text(&r->p, name->as.text.at, name->as.text.len);
        }
        hdx_doc_string(&r->p, " (retains ");
        hdx_doc_value(&r->p, hdx_cell_member(step, "retained"), HDX_UNIT_BYTES);
        hdx_doc_string(&r->p, ")");
        if (frame->kind == HDX_CELL_TEXT) {
            hdx_doc_string(&r->p, ", in ");
            hdx_doc_text(&r->p, frame->as.text.at, frame->as.text.len);
        }
        hdx_doc_step_end(&r->p);
    }
    hdx_doc_path_end(&r->p);
}

/* A sentence may quote the heap, so a redacted report has class and size instead. */
static void put_suspect(report *r, const hdx_cell *suspect)
{
    hdx_doc_card_begin(&r->p);
    if (!r->options->redact) {
        hdx_doc_say_cell(&r->p, hdx_cell_member(suspect, "sentence"));
    } else {
        const hdx_cell *class_name = hdx_cell_member(suspect, "class");
        hdx_doc_paragraph_begin(&r->p);
        if (class_name->kind == HDX_CELL_TEXT)
            hdx_doc_class(&r->p, class_name->as.text);
        hdx_doc_string(&r->p, ": ");
        hdx_doc_value(&r->p, hdx_cell_member(suspect, "objects"), HDX_UNIT_COUNT);
        hdx_doc_string(&r->p, " objects retain ");
        hdx_doc_value(&r->p, hdx_cell_member(suspect, "bytes"), HDX_UNIT_BYTES);
        hdx_doc_paragraph_end(&r->p);
    }
    put_path(r, hdx_cell_member(suspect, "path"));
    hdx_doc_card_end(&r->p);
}

static hdx_code put_suspects(report *r, hdx_error *err)
{
    static const hdx_argument no_arguments[5] = { { NULL, NULL } };
    hdx_rows                 *rows = NULL;
    const hdx_cell           *row;
    hdx_code                  code = run(r, "suspects", no_arguments, &rows, err);
    hdx_doc_section(&r->p, "suspects", "Suspects");
    while (code == HDX_OK && hdx_rows_next(rows, &row))
        ;
    if (code == HDX_OK && (code = hdx_rows_end(rows, err)) == HDX_OK) {
        const hdx_cell *all = hdx_rows_extra_cell(rows, "suspects");
        const uint64_t  count = all->kind == HDX_CELL_LIST ? all->as.list.count : 0;
        for (uint64_t i = 0; i < count && !hdx_doc_is_full(&r->p); i++)
            put_suspect(r, &all->as.list.at[i]);
        if (count == 0)
            hdx_doc_say(&r->p, "No object and no group of objects of one class retains more than a tenth of the heap.");
    }
    hdx_rows_close(rows);
    code = code == HDX_OK ? HDX_OK : tolerate(r, "suspects", code, err);
    hdx_doc_command(&r->p, "suspects", r->dump);
    hdx_doc_section_end(&r->p);
    return code;
}

/* ---- the map ---- */

static const section map_table = {
    .command = "dominators --merge --least 0.5% --depth 3",
    .answer = "dominators",
    .arguments = { { "merge", "true" }, { "least", "0.5%" }, { "depth", "3" } },
    .columns = { { "depth", "level" },
                 { "class", "classes" },
                 { "objects", "objects" },
                 { "shallow", "shallow" },
                 { "retained", "retained" },
                 { "percent", "% of heap" } },
    .rows = 200,
};

static hdx_code put_map(report *r, hdx_error *err)
{
    hdx_rows       *rows = NULL;
    const hdx_cell *row;
    hdx_code        code = HDX_OK;
    hdx_doc_section(&r->p, "map", "Who holds the memory");
    hdx_doc_say(&r->p,
                "The dominator tree by class path: objects of one class that the same classes keep alive are one "
                "tile, with a size in proportion to what they retain. Classes that only lead to one other class "
                "share a tile. Colours say whose bytes they are.");
    if (r->options->format == HDX_REPORT_HTML) {
        code = run(r, map_table.answer, map_table.arguments, &rows, err);
        code = code == HDX_OK ? hdx_doc_map(&r->p, rows, err) : code;
        hdx_rows_close(rows);
        rows = NULL;
        hdx_doc_details(&r->p, "The same rows as a table");
    }
    if (code == HDX_OK)
        code = run(r, map_table.answer, map_table.arguments, &rows, err);
    if (code == HDX_OK && hdx_rows_next(rows, &row))
        code = put_rows(r, &map_table, rows, row, err);
    hdx_rows_close(rows);
    if (r->options->format == HDX_REPORT_HTML)
        hdx_doc_details_end(&r->p);
    code = code == HDX_OK ? HDX_OK : tolerate(r, map_table.command, code, err);
    hdx_doc_command(&r->p, map_table.command, r->dump);
    hdx_doc_section_end(&r->p);
    return code;
}

/* ---- threads ---- */

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
static hdx_code put_threads(report *r, hdx_error *err)
{
    static const hdx_argument arguments[5] = { { "stacks", "true" } };
    hdx_rows                 *rows = NULL;
    const hdx_cell           *row;
    unsigned                  count;
    uint64_t                  n = 0;
    bool                      more = true;
    hdx_code                  code = run(r, "threads", arguments, &rows, err);
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
    code = code == HDX_OK ? HDX_OK : tolerate(r, "threads --stacks", code, err);
    hdx_doc_command(&r->p, "threads --stacks --locals", r->dump);
    hdx_doc_section_end(&r->p);
    return code;
}

/* ---- growth ---- */

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

static hdx_code put_growth(report *r, hdx_error *err)
{
    const section  *s = r->options->dumps > 2 ? &growth_of_many : &growth_of_two;
    hdx_rows       *rows = NULL;
    const hdx_cell *row;
    hdx_code        code = run_in(r->options->growth, s->answer, s->arguments, &rows, err);
    hdx_doc_section(&r->p, "growth", "What grew");
    const bool any = code == HDX_OK && hdx_rows_next(rows, &row);
    if (any)
        code = put_rows(r, s, rows, row, err);
    else if (code == HDX_OK && (code = hdx_rows_end(rows, err)) == HDX_OK)
        hdx_doc_say(&r->p, "Nothing grew.");
    hdx_rows_close(rows);
    code = code == HDX_OK ? HDX_OK : tolerate(r, s->command, code, err);
    hdx_doc_command(&r->p, s->command, "DUMP...");
    hdx_doc_section_end(&r->p);
    return code;
}

/* ---- what is missing ---- */

static void put_missing(report *r)
{
    const char *lacks = hdx_session_lacks(r->s, 0, hdx_answer_named("dominators"));
    hdx_doc_section(&r->p, "missing", "What this report does not contain");
    hdx_doc_say(&r->p,
                "A heap dump is one moment. It does not show when or where objects were allocated, how often, or "
                "which garbage collections took place.");
    if (lacks != NULL)
        hdx_doc_say(&r->p, lacks);
    if (r->options->quick)
        hdx_doc_say(&r->p, "Equal Strings, arrays and collections were left out (--quick).");
    if (r->options->redact)
        hdx_doc_say(&r->p,
                    "Texts of the heap were left out: Strings, labels, properties and names of threads (--redact).");
    if (r->options->format == HDX_REPORT_MARKDOWN && hdx_doc_is_full(&r->p))
        hdx_doc_say(&r->p, "Sections that exceed the size of a comment were left out; the HTML report has them.");
    for (unsigned i = 0; i < r->failures; i++) {
        hdx_buffer line = hdx_buffer_of(NULL);
        hdx_buffer_format(&line, "%s: %s", r->failed[i], r->why[i]);
        hdx_doc_say(&r->p, line.at != NULL ? line.at : r->failed[i]);
        hdx_buffer_free(&line);
    }
    hdx_doc_section_end(&r->p);
}

/* ---- the report ---- */

static const char *const contents[] = { "suspects", "Suspects",      "map",     "Who holds the memory",
                                        "classes",  "Classes",       "objects", "Biggest objects",
                                        "threads",  "Threads",       "waste",   "Waste",
                                        "loaders",  "Class loaders", "missing", "Not in the report" };

static hdx_code write_json(report *r, hdx_error *err)
{
    const hdx_render_options json = { .format = HDX_FORMAT_JSON };
    static const section     first[] = {
            { .answer = "info", .command = "info" },
            { .answer = "suspects", .command = "suspects" },
            { .answer = "threads", .command = "threads", .arguments = { { "stacks", "true" } } }
    };
    const hdx_sink *sink = r->p.sink;
    const section  *all[HDX_COUNT(first) + 1 + HDX_COUNT(sections)];
    unsigned        count = 0, written = 0;
    hdx_code        code = HDX_OK;
    for (unsigned i = 0; i < HDX_COUNT(first); i++)
        all[count++] = &first[i];
    all[count++] = &map_table;
    for (unsigned i = 0; i < HDX_COUNT(sections); i++)
        all[count++] = &sections[i];
    bool good = sink->write(sink->context, "{\n", 2);
    for (unsigned i = 0; code == HDX_OK && good && i < count; i++) {
        hdx_rows  *rows = NULL;
        hdx_buffer key = hdx_buffer_of(NULL);
        if ((all[i]->flags & SLOW) != 0 && r->options->quick)
            continue;
        if ((code = run(r, all[i]->answer, all[i]->arguments, &rows, err)) != HDX_OK) {
            code = tolerate(r, all[i]->command, code, err);
            continue;
        }
        hdx_buffer_format(&key, "%s\"%s\": ", written++ > 0 ? "," : "", all[i]->command);
        good = !key.failed && sink->write(sink->context, key.at, (size_t)key.len);
        hdx_buffer_free(&key);
        if (good)
            code = hdx_render(rows, &json, sink, err);
        hdx_rows_close(rows);
    }
    good = good && sink->write(sink->context, "}\n", 2);
    return code != HDX_OK ? code : good ? HDX_OK : hdx_fail(err, HDX_IO, "", HDX_NOWHERE, "cannot write");
}

hdx_code hdx_report_write(hdx_session *s, const hdx_report_options *options, const hdx_sink *sink, hdx_error *err)
{
    report      r = { .options = options, .s = s, .dump = hdx_session_dump(s, 0) };
    const char *slash = r.dump != NULL ? strrchr(r.dump, '/') : NULL;
    hdx_buffer  title = hdx_buffer_of(NULL);
    if (options->redact && options->format == HDX_REPORT_JSON)
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "a redacted report cannot be written as JSON");
    r.dump = slash != NULL ? slash + 1 : r.dump;
    r.p = (page){ .options = options, .sink = sink, .out = hdx_buffer_of(NULL) };
    if (options->format == HDX_REPORT_JSON)
        return write_json(&r, err);
    hdx_buffer_format(&title, "%s: heap report", r.dump);
    hdx_doc_begin(&r.p, title.at != NULL ? title.at : "Heap report", contents, HDX_COUNT(contents));
    hdx_buffer_free(&title);
    hdx_code code = put_overview(&r, err);
    code = code == HDX_OK ? put_suspects(&r, err) : code;
    code = code == HDX_OK && options->growth != NULL ? put_growth(&r, err) : code;
    code = code == HDX_OK ? put_map(&r, err) : code;
    code = code == HDX_OK ? put_threads(&r, err) : code;
    code = code == HDX_OK ? put_sections(&r, err) : code;
    if (code == HDX_OK)
        put_missing(&r);
    const hdx_code ended = hdx_doc_end(&r.p, err);
    return code != HDX_OK ? code : ended;
}
