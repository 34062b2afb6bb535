/*
 * dump.c - the section of the report about the dump file and its index: heaps of Android, damaged places, warnings,
 * views; and what is missing in the report.
 */
#include "report/sections.h"

#include <stdio.h>

#define ENTRIES 50u /* of a list */

typedef struct key {
    const char *name, *title;
    hdx_unit    unit;
    bool        number;
} key;

static bool is_list(const hdx_cell *cell) { return cell->kind == HDX_CELL_LIST && cell->as.list.count > 0; }

static void put_list(report *r, const char *title, const char *more, const key *keys, unsigned count,
                     const hdx_cell *list)
{
    page_column columns[HDX_SECTION_COLUMNS];
    for (unsigned i = 0; i < count; i++)
        columns[i] = (page_column){ .title = keys[i].title, .number = keys[i].number };
    hdx_doc_heading(&r->p, title);
    if (more != NULL)
        hdx_doc_paragraph(&r->p, more);
    hdx_doc_table(&r->p, columns, count);
    for (uint64_t n = 0; n < list->as.list.count && n < ENTRIES && !hdx_doc_is_full(&r->p); n++) {
        hdx_doc_row(&r->p);
        for (unsigned i = 0; i < count; i++) {
            const hdx_cell *value = hdx_cell_member(&list->as.list.at[n], keys[i].name);
            if (keys[i].number) {
                hdx_doc_number(&r->p, value, keys[i].unit);
                continue;
            }
            hdx_doc_cell(&r->p, false);
            hdx_doc_value(&r->p, value, keys[i].unit);
            hdx_doc_cell_end(&r->p);
        }
        hdx_doc_row_end(&r->p);
    }
    hdx_doc_table_end(&r->p, list->as.list.count > ENTRIES ? "There are more; this command lists all of them:" : NULL);
}

static void put_warnings(report *r, const hdx_cell *warnings)
{
    for (uint64_t i = 0; i < warnings->as.list.count && i < ENTRIES; i++) {
        hdx_doc_paragraph_begin(&r->p);
        hdx_doc_sentence(&r->p, &warnings->as.list.at[i]);
        hdx_doc_paragraph_end(&r->p);
    }
}

static void put_lists(report *r, const hdx_cell *heaps, const hdx_cell *damage, const hdx_cell *warnings,
                      const hdx_cell *views)
{
    static const key of_heap[] = { { "name", "heap", HDX_UNIT_NONE, false },
                                   { "live_objects", "live objects", HDX_UNIT_COUNT, true },
                                   { "live_bytes", "live bytes", HDX_UNIT_BYTES, true },
                                   { "objects", "all objects", HDX_UNIT_COUNT, true },
                                   { "bytes", "all bytes", HDX_UNIT_BYTES, true } };
    static const key of_damage[] = { { "record", "record", HDX_UNIT_NONE, false },
                                     { "offset", "offset", HDX_UNIT_COUNT, true },
                                     { "kind", "damage", HDX_UNIT_NONE, false },
                                     { "expected", "what is wrong", HDX_UNIT_NONE, false },
                                     { "kept_objects", "objects before it", HDX_UNIT_COUNT, true },
                                     { "lost_bytes", "lost", HDX_UNIT_BYTES, true } };
    static const key of_view[] = { { "name", "view", HDX_UNIT_NONE, false },
                                   { "spec", "what it omits", HDX_UNIT_NONE, false },
                                   { "live_objects", "live objects", HDX_UNIT_COUNT, true },
                                   { "live_bytes", "live bytes", HDX_UNIT_BYTES, true } };
    if (is_list(heaps))
        put_list(r, "Heaps", "The process shares the heaps zygote and image with others; app is its own.", of_heap,
                 HDX_COUNT(of_heap), heaps);
    if (is_list(damage))
        put_list(r, "Damaged places", NULL, of_damage, HDX_COUNT(of_damage), damage);
    if (is_list(warnings))
        put_warnings(r, warnings);
    if (is_list(views))
        put_list(r, "Views of the index, for the option --view", NULL, of_view, HDX_COUNT(of_view), views);
}

static void put_dump(report *r, const hdx_rows *rows, const hdx_cell *info)
{
    const hdx_cell *heaps = hdx_cell_member(info, "heaps"), *views = hdx_cell_member(info, "views"),
                   *damage = hdx_section_head(rows, "damage"), *warnings = hdx_section_head(rows, "warnings");
    if (!is_list(heaps) && !is_list(damage) && !is_list(warnings) && !is_list(views))
        return;
    hdx_doc_section(&r->p, "dump", "The dump file");
    put_lists(r, heaps, damage, warnings, views);
    hdx_doc_command(&r->p, "info --format json", r->dump);
    hdx_doc_section_end(&r->p);
}

/* ---- what is missing ---- */

bool hdx_section_lacks_roots(const hdx_cell *info)
{
    const hdx_cell *records = hdx_cell_member(info, "records");
    for (uint64_t i = 0; records->kind == HDX_CELL_OBJECT && i < records->as.object.count; i++)
        if (strncmp(records->as.object.at[i].key, "ROOT_", 5) == 0)
            return false;
    return true;
}

/* What this dump lacks. */
static void put_lacks(report *r, const hdx_rows *rows, const hdx_cell *info)
{
    const hdx_cell *locals = hdx_cell_member(info, "lacks_locals");
    if (r->lacks_dump)
        hdx_doc_paragraph(&r->p,
                          "The dump is not available, only its index: names of fields and threads, contents of "
                          "Strings and arrays, and the sections that need them are missing: waste, memory outside of "
                          "the heap, leaks of watched objects, properties.");
    if (is_list(hdx_section_head(rows, "damage")))
        hdx_doc_paragraph(&r->p,
                          "The dump is damaged: objects that could not be read, and what only they refer to, are "
                          "missing in each section. Live objects may count as unreachable.");
    if (hdx_section_lacks_roots(info))
        hdx_doc_paragraph(&r->p, "The dump has no GC roots, so it does not say which objects are in use.");
    if (locals->kind == HDX_CELL_BOOL && locals->as.boolean)
        hdx_doc_paragraph(&r->p,
                          "The dump has stacks, but neither locals nor JNI roots: objects that only those hold count "
                          "as unreachable.");
    if (hdx_cell_member(info, "stripping")->kind == HDX_CELL_OBJECT)
        hdx_doc_paragraph(&r->p,
                          "Contents were removed from the dump, so answers about Strings and arrays are incomplete.");
}

/* What was left out of the report. */
static void put_omitted(report *r)
{
    if (r->options->quick)
        hdx_doc_paragraph(&r->p, "Equal Strings, arrays and collections were left out (--quick).");
    if (r->options->redact)
        hdx_doc_paragraph(
            &r->p, "Texts of the heap were left out: Strings, labels, properties and names of threads (--redact).");
    if (hdx_doc_is_full(&r->p))
        hdx_doc_paragraph(&r->p,
                          r->options->format == HDX_REPORT_HTML
                              ? "Rows that exceed the size of a document to mail were left out."
                              : "Sections that exceed the size of a comment were left out; the HTML report has them.");
    for (unsigned i = 0; i < r->failures; i++) {
        hdx_buffer line = hdx_buffer_of(NULL);
        hdx_buffer_format(&line, "%s: %s", r->failed[i], r->why[i]);
        hdx_doc_paragraph(&r->p, line.at != NULL ? line.at : r->failed[i]);
        hdx_buffer_free(&line);
    }
}

static void put_missing(report *r, const hdx_rows *rows, const hdx_cell *info)
{
    hdx_doc_section(&r->p, "missing", "What this report does not contain");
    hdx_doc_paragraph(
        &r->p, "A heap dump is one moment. It does not show when or where objects were allocated, how often, or "
               "which garbage collections took place. It also lacks memory outside of the Java heap: code, stacks, "
               "and what native libraries allocate.");
    put_lacks(r, rows, info);
    put_omitted(r);
    hdx_doc_section_end(&r->p);
}

hdx_code hdx_section_dump(report *r, hdx_error *err)
{
    hdx_rows       *rows = NULL;
    const hdx_cell *info;
    const hdx_code  code = hdx_section_info(r->s, &rows, &info, err);
    if (code == HDX_OK) {
        put_dump(r, rows, info);
        put_missing(r, rows, info);
    }
    hdx_rows_close(rows);
    return code;
}
