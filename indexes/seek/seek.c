/*
 * seek.c - writes and reads the seek points of a compressed dump. README.md documents the bytes.
 *
 * In:  points and packed windows, in the order of the dump.
 * Out: the same, with every number checked against the rules of seek.h.
 * Windows are opaque bytes here.
 * Cost: 20 bytes a point, plus 20 and the window for one inside of a member; reading is one pass over the points,
 *       windows stay in the map.
 */
#include "indexes/container/container.h"

#define ENTRY     20u
#define KIND_BITS 2u

enum { POINTS = 0, PLACES = 1, WINDOWS = 2 };

struct hdx_seek {
    hdx_container file;
    uint64_t      count, windows, size, file_bits;
};

static hdx_code put_point(hdx_container_writer *w, const hdx_seek_point *p, const uint8_t *window, uint64_t *places,
                          uint64_t *bytes, hdx_error *err)
{
    uint8_t  entry[ENTRY];
    hdx_code code;
    hdx_put64(entry, p->out);
    hdx_put64(entry + 8, p->bit << KIND_BITS | (uint64_t)p->kind);
    hdx_put32(entry + 16, p->sum);
    if ((code = hdx_container_put(w, POINTS, entry, ENTRY, err)) != HDX_OK || p->kind == HDX_SEEK_MEMBER)
        return code;
    hdx_put64(entry, p->kind == HDX_SEEK_INSIDE ? p->header_bit : 0);
    hdx_put64(entry + 8, *bytes);
    hdx_put16(entry + 16, (uint16_t)p->window_size);
    hdx_put16(entry + 18, (uint16_t)p->window_len);
    *bytes += p->window_size;
    ++*places;
    if ((code = hdx_container_put(w, PLACES, entry, ENTRY, err)) != HDX_OK)
        return code;
    return hdx_container_put(w, WINDOWS, window, p->window_size, err);
}

hdx_code hdx_seek_write(const hdx_index_place *place, uint64_t points, uint64_t windows, uint64_t size,
                        hdx_seek_fill *fill, void *context, hdx_index_file *out, hdx_error *err)
{
    hdx_container_writer w;
    const uint64_t       counts[3] = { points, windows, size };
    uint64_t             bytes[2], places = 0, window_bytes = 0;
    uint8_t             *window = hdx_mem_get(place->mem, HDX_SEEK_WINDOW);
    hdx_code             code;
    if (window == NULL)
        return hdx_no_memory(err, "a window of 32 KiB", HDX_SEEK_WINDOW);
    if (!hdx_mul(points, ENTRY, &bytes[0]) || !hdx_mul(windows, ENTRY, &bytes[1])) {
        hdx_mem_put(place->mem, window, HDX_SEEK_WINDOW);
        return hdx_fail(err, HDX_USAGE, hdx_kind_name(HDX_KIND_SEEK), HDX_NOWHERE, "%llu points",
                        (unsigned long long)points);
    }
    if ((code = hdx_container_create(&w, place, HDX_KIND_SEEK, counts, err)) != HDX_OK ||
        (code = hdx_container_section(&w, bytes[0], err)) != HDX_OK ||
        (code = hdx_container_section(&w, bytes[1], err)) != HDX_OK ||
        (code = hdx_container_section(&w, HDX_SECTION_OPEN, err)) != HDX_OK)
        goto out;
    for (uint64_t i = 0; i < points && code == HDX_OK; i++) {
        hdx_seek_point p = { 0 };
        if ((code = fill(context, i, &p, window, err)) != HDX_OK)
            break;
        if (p.window_size > p.window_len || p.window_len > HDX_SEEK_WINDOW)
            code = hdx_fail(err, HDX_USAGE, w.path, HDX_NOWHERE, "a window of %u bytes for %u", p.window_size,
                            p.window_len);
        else
            code = put_point(&w, &p, window, &places, &window_bytes, err);
        if (code == HDX_OK && hdx_tick(place->tick, 1))
            code = hdx_tick_stop(err);
    }
    if (code == HDX_OK)
        code = hdx_container_finish(&w, out, err); /* checks that as many points were written as announced */
out:
    hdx_container_drop(&w);
    hdx_mem_put(place->mem, window, HDX_SEEK_WINDOW);
    return code;
}

hdx_code hdx_seek_open(const hdx_index_place *place, const hdx_index_file *file, uint64_t size, uint64_t file_bytes,
                       hdx_damage_note *note, hdx_seek **out, hdx_error *err)
{
    hdx_seek *s = hdx_mem_get(place->mem, sizeof *s);
    hdx_code  code;
    *out = NULL;
    if (s == NULL)
        return hdx_no_memory(err, "an index handle", sizeof *s);
    if ((code = hdx_container_open(&s->file, place, HDX_KIND_SEEK, file, 3, note, err)) != HDX_OK) {
        hdx_mem_put(place->mem, s, sizeof *s);
        return code;
    }
    const hdx_section *section = s->file.section;
    s->count = s->file.counts[0];
    s->windows = s->file.counts[1];
    s->size = s->file.counts[2];
    s->file_bits = file_bytes > UINT64_MAX / 8 ? UINT64_MAX : file_bytes * 8;
    if (s->size != size || s->count == 0 || section[POINTS].bytes / ENTRY != s->count ||
        section[POINTS].bytes % ENTRY != 0 || section[PLACES].bytes / ENTRY != s->windows ||
        section[PLACES].bytes % ENTRY != 0) {
        code = hdx_container_damaged(&s->file, err,
                                     "the number of seek points or the size of the dump differs from the sections");
        hdx_seek_close(s);
        return code;
    }
    *out = s;
    return HDX_OK;
}

void hdx_seek_close(hdx_seek *s)
{
    if (s == NULL)
        return;
    hdx_mem *mem = s->file.mem;
    hdx_container_close(&s->file);
    hdx_mem_put(mem, s, sizeof *s);
}

uint64_t hdx_seek_count(const hdx_seek *s) { return s->count; }

/* R1 and R2, compared with the previous point. */
static bool rises(const hdx_seek *s, const hdx_seek_cursor *c, const hdx_seek_point *p)
{
    if (c->next == 0)
        return p->out == 0 && p->kind == HDX_SEEK_MEMBER && p->bit < s->file_bits;
    return p->out > c->out && p->out < s->size && p->bit > c->bit && p->bit < s->file_bits;
}

static bool place_of(const hdx_seek *s, hdx_seek_cursor *c, hdx_seek_point *p)
{
    if (c->windows == s->windows || !hdx_touch(&s->file, PLACES, c->windows * ENTRY, ENTRY))
        return false;
    const uint8_t *at = s->file.section[PLACES].at + c->windows * ENTRY;
    const uint64_t room = s->file.section[WINDOWS].bytes;
    p->header_bit = hdx_le64(at);
    p->window_at = hdx_le64(at + 8);
    p->window_size = hdx_le16(at + 16);
    p->window_len = hdx_le16(at + 18);
    c->windows++;
    if (p->kind == HDX_SEEK_INSIDE ? p->header_bit >= p->bit : p->header_bit != 0)
        return false;
    return p->window_len <= HDX_SEEK_WINDOW && p->window_size <= p->window_len &&
           (p->window_size == 0) == (p->window_len == 0) && p->window_at <= room &&
           p->window_size <= room - p->window_at;
}

bool hdx_seek_next(const hdx_seek *s, hdx_seek_cursor *c, hdx_seek_point *p)
{
    *p = (hdx_seek_point){ 0 };
    if (c->next == s->count) {
        if (c->windows != s->windows)
            hdx_container_note(&s->file, PLACES, c->windows * ENTRY, "windows without a seek point");
        return false;
    }
    if (!hdx_touch(&s->file, POINTS, c->next * ENTRY, ENTRY))
        return false;
    const uint8_t *at = s->file.section[POINTS].at + c->next * ENTRY;
    uint64_t       word = hdx_le64(at + 8);
    p->out = hdx_le64(at);
    p->bit = word >> KIND_BITS;
    p->sum = hdx_le32(at + 16);
    p->kind = (hdx_seek_kind)(word & 3);
    bool good = (word & 3) != 3 && rises(s, c, p);
    if (good && p->kind == HDX_SEEK_MEMBER)
        good = p->bit % 8 == 0;
    else if (good)
        good = place_of(s, c, p);
    if (!good) {
        hdx_container_note(&s->file, POINTS, c->next * ENTRY, "invalid seek point");
        return false;
    }
    c->next++;
    c->out = p->out;
    c->bit = p->bit;
    return true;
}

bool hdx_seek_window(const hdx_seek *s, uint64_t at, uint32_t size, uint8_t *to)
{
    if (!hdx_touch(&s->file, WINDOWS, at, size))
        return false;
    if (size > 0)
        memcpy(to, s->file.section[WINDOWS].at + at, size);
    return true;
}
