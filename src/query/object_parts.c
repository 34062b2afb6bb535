/*
 * object_parts.c - the parts of the answer `object` that are answers of their own: the path to the object, its
 * referrers, its references, and what it keeps by class.
 *
 * In:  an object, and the number of rows that a part may have.
 * Out: a document per part. Each is opened as the question that answers it (`path`, `refs`, `dominators`), so that its
 *      numbers, order and names are those of that question.
 * Does not know how any of them is found.
 */
#include "query/holding/holding.h"
#include "query/object_parts.h"
#include "query/objects.h"
#include "query/paths/paths.h"
#include "query/questions.h"

#include <stdio.h>

#define COUNT_MS 20u /* time for counting rows that are omitted: a page about an object should open at once */

/* ---- declarations ---- */

#define PART_OF(columns, of)                                                                                           \
    HDX_NESTED("rows", LIST, 0, of, columns),                                                                          \
        HDX_COLUMN("rest", UNSIGNED, COUNT, HDX_COLUMN_NULLABLE,                                                       \
                   "number of rows that --limit omits; null if there are such rows, but too many to count them")
const hdx_column hdx_object_in_members[HDX_OBJECT_PART_MEMBERS] = { PART_OF(hdx_refs_columns,
                                                                            "referrers, a row for each reference") };
const hdx_column hdx_object_out_members[HDX_OBJECT_PART_MEMBERS] = { PART_OF(hdx_refs_columns,
                                                                             "references, as in `refs --out`") };
const hdx_column hdx_object_keeps_members[HDX_OBJECT_PART_MEMBERS] = { PART_OF(
    hdx_dominated_class_columns, "classes of the objects that it immediately dominates") };

/* ---- rows of a question ---- */

/* Opens the question about one object with one more argument; `name` NULL: none. All of its columns are wanted. */
static hdx_code ask(const hdx_query *q, const hdx_question *question, hdx_id id, const char *name, const char *value,
                    hdx_rows **out, hdx_error *err)
{
    char object[24];
    (void)snprintf(object, sizeof object, "#%llu", (unsigned long long)id);
    const hdx_argument  at[] = { { "object", object }, { name, value } };
    const hdx_arguments a = { &question->declared, at, name == NULL ? 1 : 2 };
    hdx_query           own = *q;
    own.wanted = (hdx_wanted){ 0 };
    own.fields = NULL;
    own.field_count = 0;
    return hdx_question_open(question, &own, &a, out, err);
}

/* Copies a cell that is neither a list nor an object. */
static hdx_cell copy_of(hdx_arena *arena, const hdx_cell *cell)
{
    return cell->kind == HDX_CELL_TEXT ? hdx_text_cell(arena, cell->as.text) : *cell;
}

typedef struct row_list {
    hdx_cell *at;
    uint64_t  count, capacity;
} row_list;

/* Adds the row as an object with a member for each column. */
static hdx_code add_row(row_list *list, const hdx_column *columns, unsigned count, const hdx_cell *row,
                        hdx_arena *arena, hdx_mem *mem, hdx_error *err)
{
    hdx_member *members = hdx_arena_get(arena, count * sizeof *members);
    if (members == NULL || !hdx_mem_room(mem, (void **)&list->at, &list->capacity, list->count, sizeof *list->at))
        return hdx_no_memory(err, "parts of an object", list->count * sizeof *list->at);
    for (unsigned i = 0; i < count; i++)
        members[i] = (hdx_member){ columns[i].name, copy_of(arena, &row[i]) };
    list->at[list->count++] = hdx_cell_object(members, count);
    return HDX_OK;
}

/* Reads the rows, at most `most` of them (0: all), as {rows, rest}, and closes them. */
static hdx_code read_rows(const hdx_query *q, hdx_rows *rows, uint64_t most, hdx_arena *arena, hdx_cell *out,
                          hdx_error *err)
{
    const hdx_cell *row;
    hdx_rows_cut    what;
    unsigned        count;
    row_list        list = { NULL, 0, 0 };
    hdx_code        code = hdx_rows_limit_counted(&rows, most, COUNT_MS, err);
    if (code != HDX_OK)
        return code;
    const hdx_column *columns = hdx_rows_columns(rows, &count);
    while (code == HDX_OK && hdx_rows_next(rows, &row))
        code = add_row(&list, columns, count, row, arena, q->mem, err);
    if (code == HDX_OK)
        code = hdx_rows_end(rows, err);
    const bool  cut = code == HDX_OK && hdx_rows_cut_off(rows, &what);
    hdx_member *m = hdx_arena_get(arena, 2 * sizeof *m);
    hdx_cell   *cells = hdx_arena_get(arena, list.count * sizeof *cells);
    if (code == HDX_OK && (m == NULL || cells == NULL))
        code = hdx_no_memory(err, "parts of an object", list.count * sizeof *cells);
    if (code == HDX_OK) {
        if (list.count > 0)
            memcpy(cells, list.at, list.count * sizeof *cells);
        m[0] = (hdx_member){ "rows", hdx_cell_list(cells, list.count) };
        m[1] = (hdx_member){ "rest", cut && what.rows == 0 ? hdx_cell_null()
                                     : cut                 ? hdx_cell_uint(what.rows)
                                                           : hdx_cell_uint(0) };
        *out = hdx_cell_object(m, 2);
    }
    hdx_mem_put(q->mem, list.at, list.capacity * sizeof *list.at);
    hdx_rows_close(rows);
    return code;
}

/* ---- the path ---- */

static hdx_cell member_of(const hdx_cell *object, const char *key)
{
    for (uint64_t i = 0; object->kind == HDX_CELL_OBJECT && i < object->as.object.count; i++)
        if (strcmp(object->as.object.at[i].key, key) == 0)
            return object->as.object.at[i].value;
    return hdx_cell_null();
}

/*
 * Omits steps in the middle of a path until `most` remain (0: all). Where steps are missing already, half of the others
 * are before the gap (path.c).
 */
static hdx_code shorten(const hdx_cell *path, uint64_t most, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    const hdx_cell steps = member_of(path, "steps"), cut = member_of(path, "steps_cut");
    const uint64_t all = steps.as.list.count, head = most / 2;
    *out = *path;
    if (most == 0 || all <= most)
        return HDX_OK;
    hdx_member *m = hdx_arena_get(arena, HDX_PATH_MEMBERS * sizeof *m);
    hdx_cell   *ends = hdx_arena_get(arena, most * sizeof *ends);
    if (m == NULL || ends == NULL)
        return hdx_no_memory(err, "a path", most * sizeof *ends);
    memcpy(ends, steps.as.list.at, head * sizeof *ends);
    memcpy(ends + head, steps.as.list.at + all - (most - head), (most - head) * sizeof *ends);
    uint64_t n = 0;
    for (uint64_t i = 0; i < path->as.object.count; i++) {
        const hdx_member *is = &path->as.object.at[i];
        if (strcmp(is->key, "steps_cut") == 0)
            continue;
        m[n++] = *is;
        if (strcmp(is->key, "steps") != 0)
            continue;
        m[n - 1].value = hdx_cell_list(ends, most);
        m[n++] =
            (hdx_member){ "steps_cut", hdx_cell_uint(all - most + (cut.kind == HDX_CELL_UINT ? cut.as.natural : 0)) };
    }
    *out = hdx_cell_object(m, n);
    return HDX_OK;
}

static hdx_code path_part(hdx_object_parts_reader *r, hdx_id id, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    hdx_object_parts_done(r);
    const hdx_code code = ask(r->q, &hdx_question_path, id, NULL, NULL, &r->path, err);
    if (code != HDX_OK)
        return code;
    for (unsigned i = 0;; i++) {
        const hdx_member *extra = hdx_rows_extra(r->path, i);
        if (extra->key == NULL)
            return HDX_OK;
        if (strcmp(extra->key, "paths") == 0 && extra->value.as.list.count > 0)
            return shorten(&extra->value.as.list.at[0], r->most, arena, out, err);
    }
}

/* ---- parts ---- */

static hdx_code rows_part(const hdx_object_parts_reader *r, hdx_id id, unsigned part, hdx_arena *arena, hdx_cell *out,
                          hdx_error *err)
{
    hdx_rows      *rows = NULL;
    const hdx_code code = part == HDX_OBJECT_KEEPS ? ask(r->q, &hdx_question_dominators, id, "by", "class", &rows, err)
                                                   : ask(r->q, &hdx_question_refs, id,
                                                         part == HDX_OBJECT_IN ? "in" : "out", NULL, &rows, err);
    return code != HDX_OK ? code : read_rows(r->q, rows, r->most, arena, out, err);
}

hdx_code hdx_object_parts_read(hdx_object_parts_reader *r, hdx_id id, hdx_arena *arena,
                               hdx_cell cells[HDX_OBJECT_PARTS], hdx_error *err)
{
    hdx_code code = HDX_OK;
    for (unsigned part = 0; part < HDX_OBJECT_PARTS; part++)
        cells[part] = hdx_cell_null();
    for (unsigned part = 0; code == HDX_OK && part < HDX_OBJECT_PARTS; part++)
        if ((r->which >> part & 1) != 0)
            code = part == HDX_OBJECT_PATH ? path_part(r, id, arena, &cells[part], err)
                                           : rows_part(r, id, part, arena, &cells[part], err);
    return code;
}

void hdx_object_parts_done(hdx_object_parts_reader *r)
{
    hdx_rows_close(r->path);
    r->path = NULL;
}
