/*
 * saved.c - all rows of an answer as bytes that may be stored in a file.
 *
 *     offset size   little-endian
 *          0    8   number of rows
 *          8    8   rows that the source omitted because of a condition
 *         16        a row of three cells: title, reason for no rows (both text or null), an object with the extras
 *                   the rows, as store.c packs them
 *
 * The bytes that are restored may be anything: before store.c decodes a row, which it does without checks, each length
 * in it is checked against the size of the row, and each value against the type that its column declares.
 */
#include "rows/cursor.h"

#define HEAD      16u
#define DEPTH     16u /* levels of lists and objects in a row; answers have at most four */
#define MOST_TEXT (1u << 30)

/* ---- saving ---- */

static hdx_cell text_or_null(const char *text) { return text == NULL ? hdx_cell_null() : hdx_cell_string(text); }

hdx_code hdx_rows_save(hdx_rows *rows, uint64_t most, hdx_buffer *out, bool *fits, hdx_error *err)
{
    const hdx_rows *base = rows->base;
    const uint64_t  start = out->len;
    const hdx_cell  head[] = { text_or_null(base->title), text_or_null(base->nothing),
                               hdx_cell_object(base->extras, base->extra_count) };
    uint8_t         numbers[HEAD] = { 0 };
    uint64_t        count = 0, unused;
    const hdx_cell *row;
    *fits = false;
    hdx_put64(numbers + 8, base->left_out);
    hdx_buffer_put(out, numbers, HEAD);
    hdx_code code = hdx_row_pack(out, head, HDX_COUNT(head), HDX_COUNT(head), &unused, err);
    for (; code == HDX_OK && out->len - start <= most && hdx_rows_next(rows, &row); count++)
        code = hdx_row_pack(out, row, rows->column_count, rows->column_count, &unused, err);
    if (code != HDX_OK || out->len - start > most)
        return code;
    hdx_put64((uint8_t *)out->at + start, count);
    *fits = true;
    return hdx_rows_end(rows, err);
}

/* ---- checking ---- */

typedef struct reader {
    const uint8_t *at, *end;
} reader;

/* A number in groups of 7 bits. False: it does not end in the row, or has more than 64 bits. */
static bool read_number(reader *r, uint64_t *out)
{
    *out = 0;
    for (unsigned shift = 0; shift < 64 && r->at < r->end; shift += 7) {
        const uint8_t byte = *r->at++;
        if (shift == 63 && byte > 1)
            return false;
        *out |= (uint64_t)(byte & 0x7f) << shift;
        if ((byte & 0x80) == 0)
            return true;
    }
    return false;
}

static bool skip(reader *r, uint64_t len)
{
    if (len > (uint64_t)(r->end - r->at))
        return false;
    r->at += len;
    return true;
}

/* A list or an object whose cells are read, and what is declared about them. */
typedef struct nesting {
    const hdx_column *members;
    unsigned          member_count;
    bool              keyed;
    uint64_t          left;
} nesting;

/* Returns the declaration of the next cell; NULL: there is none. Reads the key of a member. */
static const hdx_column *declared_next(reader *r, const nesting *n, hdx_column *entry)
{
    const bool same = n->member_count == 1 && n->members[0].name == NULL; /* one declaration for all cells */
    uint64_t   len;
    if (!n->keyed && !same) {
        *entry = (hdx_column){ .type = HDX_TYPE_OBJECT,
                               .flags = HDX_COLUMN_NULLABLE,
                               .members = n->members,
                               .member_count = n->member_count };
        return entry;
    }
    if (!n->keyed)
        return n->members;
    if (!read_number(r, &len) || len >= MOST_TEXT)
        return NULL;
    const char *key = (const char *)r->at;
    if (!skip(r, len + 1) || memchr(key, 0, (size_t)len + 1) != key + len)
        return NULL;
    for (unsigned i = 0; !same && i < n->member_count; i++)
        if (strcmp(n->members[i].name, key) == 0)
            return &n->members[i];
    return same ? n->members : NULL;
}

/* Skips the value of a cell; of a list or an object, reads the number of its cells. */
static bool read_value(reader *r, hdx_cell_kind kind, uint64_t *n)
{
    switch (kind) {
    case HDX_CELL_NULL:
    case HDX_CELL_ABSENT: return true;
    case HDX_CELL_BOOL: return skip(r, 1);
    case HDX_CELL_REAL: return skip(r, 8);
    case HDX_CELL_TEXT: return read_number(r, n) && *n < MOST_TEXT && skip(r, *n);
    default: return read_number(r, n);
    }
}

/* The declaration of what is in a cell, and whether the cells in it have keys. */
static nesting nesting_of(const hdx_column *c, hdx_cell_kind kind, uint64_t cells)
{
    return (nesting){ c->members, c->member_count, kind == HDX_CELL_OBJECT, cells };
}

/* Checks the cells of a row, which `columns` declare. */
static bool cells_are_sound(reader *r, const hdx_column *columns, unsigned count)
{
    nesting  stack[DEPTH] = { { 0 } };
    unsigned depth = 0, next = 0;
    for (;;) {
        while (depth > 0 && stack[depth - 1].left == 0)
            depth--;
        if (depth == 0 && next == count)
            return r->at == r->end;
        hdx_column        entry; /* of a list whose members have names: an object with these */
        uint64_t          n = 0;
        const hdx_column *c = depth == 0 ? &columns[next++] : declared_next(r, &stack[depth - 1], &entry);
        if (depth > 0)
            stack[depth - 1].left--;
        if (c == NULL || r->at == r->end)
            return false;
        const hdx_cell_kind kind = (hdx_cell_kind)*r->at++;
        if (kind > HDX_CELL_OBJECT || !hdx_cell_is(&(hdx_cell){ .kind = kind }, c) || !read_value(r, kind, &n))
            return false;
        if (kind != HDX_CELL_LIST && kind != HDX_CELL_OBJECT)
            continue;
        if (depth == DEPTH || n > (uint64_t)(r->end - r->at)) /* each cell in it has at least one byte */
            return false;
        stack[depth++] = nesting_of(c, kind, n);
    }
}

/* ---- restoring ---- */

/* Decodes the row at *offset and moves past it. *row is NULL if the bytes are no such row. */
static hdx_code next_row(const hdx_buffer *bytes, uint64_t *offset, const hdx_column *columns, unsigned count,
                         hdx_arena *arena, const hdx_cell **row, hdx_error *err)
{
    const uint8_t *at = (const uint8_t *)bytes->at + *offset;
    const uint64_t left = bytes->len - *offset, size = left < 4 ? 0 : hdx_le32(at);
    reader         r = { at + 4, at + size };
    *row = NULL;
    if (size < 4 || size > left || !cells_are_sound(&r, columns, count))
        return HDX_OK;
    if ((*row = hdx_row_unpack(bytes, *offset, count, arena)) == NULL)
        return hdx_no_memory(err, "a saved answer", size);
    *offset += size;
    return HDX_OK;
}

/* Sets what is stored before the rows. */
static hdx_code set_head(hdx_rows *rows, const hdx_cell *head, uint64_t left_out, hdx_error *err)
{
    hdx_arena *arena = hdx_rows_arena(rows);
    hdx_code   code = HDX_OK;
    if (head[0].kind == HDX_CELL_TEXT)
        code = hdx_rows_set_title(rows, hdx_arena_copy(arena, head[0].as.text.at, head[0].as.text.len), err);
    if (code == HDX_OK && head[1].kind == HDX_CELL_TEXT) {
        const char *why = hdx_arena_copy(arena, head[1].as.text.at, head[1].as.text.len);
        code = why == NULL ? hdx_no_memory(err, "a line", head[1].as.text.len) : hdx_rows_set_nothing(rows, why, err);
    }
    for (uint64_t i = 0; code == HDX_OK && head[2].kind == HDX_CELL_OBJECT && i < head[2].as.object.count; i++)
        code = hdx_rows_add_extra(rows, head[2].as.object.at[i].key, head[2].as.object.at[i].value, err);
    hdx_rows_set_left_out(rows, left_out);
    return code;
}

/* Adds the rows to a table. *sound is false if the bytes are not `rows` rows and nothing else. */
static hdx_code add_rows(hdx_table *t, const hdx_buffer *bytes, uint64_t offset, uint64_t rows,
                         const hdx_column *columns, unsigned count, bool *sound, hdx_error *err)
{
    const hdx_cell *row = NULL;
    hdx_code        code = HDX_OK;
    *sound = true;
    for (uint64_t i = 0; code == HDX_OK && *sound && i < rows; i++) {
        code = next_row(bytes, &offset, columns, count, hdx_table_arena(t), &row, err);
        *sound = row != NULL;
        if (code == HDX_OK && row != NULL)
            code = hdx_table_add(t, row, err);
    }
    *sound = *sound && offset == bytes->len;
    return code;
}

hdx_code hdx_rows_restore(hdx_mem *mem, const uint8_t *at, uint64_t size, const hdx_column *columns, unsigned count,
                          const hdx_column *extras, unsigned extra_count, hdx_rows **out, hdx_error *err)
{
    const hdx_column head_columns[] = {
        HDX_COLUMN("title", TEXT, NONE, HDX_COLUMN_NULLABLE, ""),
        HDX_COLUMN("nothing", TEXT, NONE, HDX_COLUMN_NULLABLE, ""),
        { "extras", HDX_TYPE_OBJECT, HDX_UNIT_NONE, 0, "", extras, extra_count },
    };
    hdx_table *t = NULL;
    bool       sound = false;
    *out = NULL;
    if (size < HEAD)
        return HDX_OK;
    hdx_code code = hdx_table_in(mem, columns, count, &t, err);
    if (code != HDX_OK)
        return code;
    const hdx_buffer bytes = { .at = hdx_arena_copy(hdx_table_arena(t), (const char *)at, size), .len = size };
    const hdx_cell  *head = NULL;
    uint64_t         offset = HEAD;
    if (bytes.at == NULL)
        code = hdx_no_memory(err, "a saved answer", size);
    if (code == HDX_OK)
        code = next_row(&bytes, &offset, head_columns, HDX_COUNT(head_columns), hdx_table_arena(t), &head, err);
    if (code == HDX_OK && head != NULL)
        code = add_rows(t, &bytes, offset, hdx_le64(at), columns, count, &sound, err);
    if (code != HDX_OK || !sound) {
        hdx_table_free(t);
        return code;
    }
    if ((code = hdx_table_rows(t, out, err)) == HDX_OK)
        code = set_head(*out, head, hdx_le64(at + 8), err);
    return code == HDX_OK ? code : hdx_rows_drop(out, code);
}
