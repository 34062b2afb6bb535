/*
 * store.c - packs rows that must outlive their `next` into one buffer: about 5 bytes for a number instead of 24.
 *
 * A cell is its kind and then its value: a number in groups of 7 bits (signed numbers in zigzag encoding), a real in 8
 * bytes, a text after its length, a list or object as its count and then its cells. The cell of a member comes after
 * the length and the NUL-terminated bytes of its key. These bytes never reach a file, so the decoder checks nothing.
 */
#include "rows/cursor.h"
#include "rows/walk.h"

#define ROW_HEAD 4u /* size of the row in bytes, including the size itself */

static unsigned put_number(uint8_t *to, uint64_t v)
{
    unsigned n = 0;
    for (; v >= 0x80; v >>= 7)
        to[n++] = (uint8_t)(v | 0x80);
    to[n++] = (uint8_t)v;
    return n;
}

static uint64_t get_number(const uint8_t **at)
{
    uint64_t v = 0;
    unsigned shift = 0;
    uint8_t  byte;
    do {
        byte = *(*at)++;
        v |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    return v;
}

static void put_cell(hdx_buffer *store, const hdx_cell *c)
{
    uint8_t  bytes[16] = { (uint8_t)c->kind };
    unsigned n = 1;
    switch (c->kind) {
    case HDX_CELL_INT: n += put_number(bytes + 1, hdx_zigzag(c->as.integer)); break;
    case HDX_CELL_UINT: n += put_number(bytes + 1, c->as.natural); break;
    case HDX_CELL_ADDRESS: n += put_number(bytes + 1, c->as.address); break;
    case HDX_CELL_BOOL: bytes[n++] = c->as.boolean; break;
    case HDX_CELL_REAL:
        memcpy(bytes + 1, &c->as.real, 8);
        n += 8;
        break;
    case HDX_CELL_TEXT: n += put_number(bytes + 1, c->as.text.len); break;
    case HDX_CELL_LIST: n += put_number(bytes + 1, c->as.list.count); break;
    case HDX_CELL_OBJECT: n += put_number(bytes + 1, c->as.object.count); break;
    default: break;
    }
    hdx_buffer_put(store, bytes, n);
    if (c->kind == HDX_CELL_TEXT)
        hdx_buffer_put(store, c->as.text.at, c->as.text.len);
}

static bool put_nested(hdx_buffer *store, const hdx_cell *cell)
{
    hdx_walk      walk;
    hdx_walk_at   at;
    hdx_walk_step step;
    hdx_walk_begin(&walk, cell, 1);
    while ((step = hdx_walk_next(&walk, &at)) == HDX_WALK_CELL || step == HDX_WALK_IN || step == HDX_WALK_OUT) {
        if (step == HDX_WALK_OUT)
            continue;
        if (at.key != NULL) {
            uint8_t len[10];
            size_t  n = strlen(at.key);
            hdx_buffer_put(store, len, put_number(len, n));
            hdx_buffer_put(store, at.key, n + 1);
        }
        put_cell(store, at.cell);
    }
    hdx_walk_end(&walk);
    return step == HDX_WALK_END;
}

hdx_code hdx_row_pack(hdx_buffer *store, const hdx_cell *row, unsigned count, unsigned key, uint64_t *key_text,
                      hdx_error *err)
{
    uint64_t start = store->len;
    bool     good = true;
    hdx_buffer_put(store, "\0\0\0\0", ROW_HEAD);
    for (unsigned i = 0; good && i < count; i++) {
        if (row[i].kind == HDX_CELL_LIST || row[i].kind == HDX_CELL_OBJECT)
            good = put_nested(store, &row[i]);
        else
            put_cell(store, &row[i]);
        if (i == key)
            *key_text = store->len - (row[i].kind == HDX_CELL_TEXT ? row[i].as.text.len : 0);
    }
    if (!good || store->failed || store->len - start > UINT32_MAX)
        return hdx_no_memory(err, "rows to sort", store->len);
    hdx_put32((uint8_t *)store->at + start, (uint32_t)(store->len - start));
    return HDX_OK;
}

uint64_t hdx_row_size(const hdx_buffer *store, uint64_t offset)
{
    return hdx_le32((const uint8_t *)store->at + offset);
}

/* Decodes one cell; of a list or object only the count. */
static hdx_cell get_cell(const uint8_t **at)
{
    hdx_cell c = { .kind = (hdx_cell_kind) * (*at)++ };
    switch (c.kind) {
    case HDX_CELL_INT: c.as.integer = hdx_unzigzag(get_number(at)); break;
    case HDX_CELL_UINT: c.as.natural = get_number(at); break;
    case HDX_CELL_ADDRESS: c.as.address = get_number(at); break;
    case HDX_CELL_BOOL: c.as.boolean = *(*at)++ != 0; break;
    case HDX_CELL_REAL:
        memcpy(&c.as.real, *at, 8);
        *at += 8;
        break;
    case HDX_CELL_TEXT:
        c.as.text.len = (uint32_t)get_number(at);
        c.as.text.at = (const char *)*at;
        *at += c.as.text.len;
        break;
    case HDX_CELL_LIST: c.as.list.count = get_number(at); break;
    case HDX_CELL_OBJECT: c.as.object.count = get_number(at); break;
    default: break;
    }
    return c;
}

/* A list or object with `left` cells to decode. */
typedef struct open_cell {
    hdx_cell   *cells;
    hdx_member *members;
    uint64_t    left;
} open_cell;

static bool open_nested(hdx_cell *c, hdx_arena *arena, open_cell *open)
{
    *open = (open_cell){ 0 };
    if (c->kind == HDX_CELL_LIST) {
        open->left = c->as.list.count;
        open->cells = hdx_arena_get(arena, open->left * sizeof *open->cells);
        c->as.list.at = open->cells;
        return open->cells != NULL;
    }
    open->left = c->as.object.count;
    open->members = hdx_arena_get(arena, open->left * sizeof *open->members);
    c->as.object.at = open->members;
    return open->members != NULL;
}

static bool fill_nested(const uint8_t **at, hdx_cell *cell, hdx_arena *arena)
{
    open_cell *stack = NULL;
    uint64_t   capacity = 0, depth = 0;
    bool       good =
        hdx_mem_room(arena->mem, (void **)&stack, &capacity, 1, sizeof *stack) && open_nested(cell, arena, &stack[0]);
    for (depth = 1; good && depth > 0;) {
        open_cell *top = &stack[depth - 1];
        if (top->left == 0) {
            depth--;
            continue;
        }
        top->left--;
        hdx_cell *to;
        if (top->members != NULL) {
            uint64_t len = get_number(at);
            top->members->key = (const char *)*at;
            *at += len + 1;
            to = &top->members++->value;
        } else
            to = top->cells++;
        *to = get_cell(at);
        if (to->kind == HDX_CELL_LIST || to->kind == HDX_CELL_OBJECT) {
            good = hdx_mem_room(arena->mem, (void **)&stack, &capacity, depth, sizeof *stack) &&
                   open_nested(to, arena, &stack[depth]);
            depth++;
        }
    }
    hdx_mem_put(arena->mem, stack, capacity * sizeof *stack);
    return good;
}

const hdx_cell *hdx_row_unpack(const hdx_buffer *store, uint64_t offset, unsigned count, hdx_arena *arena)
{
    const uint8_t *at = (const uint8_t *)store->at + offset + ROW_HEAD;
    hdx_cell      *row = hdx_arena_get(arena, (uint64_t)count * sizeof *row);
    for (unsigned i = 0; row != NULL && i < count; i++) {
        row[i] = get_cell(&at);
        if ((row[i].kind == HDX_CELL_LIST || row[i].kind == HDX_CELL_OBJECT) && !fill_nested(&at, &row[i], arena))
            return NULL;
    }
    return row;
}
