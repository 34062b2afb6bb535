/*
 * spill.c - the spill file (spill.h).
 */
#include "passes/spill.h"

#define BATCH_PIECES 4u /* 8 M objects: a few hundred MB of columns at most */

hdx_code hdx_spill_open(hdx_work *w, const char *name, hdx_spill *s, hdx_error *err)
{
    *s = (hdx_spill){ .open = true };
    (void)pthread_mutex_init(&s->lock, NULL);
    return hdx_temp_create(w, name, &s->file, err);
}

hdx_code hdx_spill_reopen(hdx_work *w, const char *name, hdx_spill *s, hdx_error *err)
{
    *s = (hdx_spill){ .open = true };
    (void)pthread_mutex_init(&s->lock, NULL);
    return hdx_temp_change(w, name, &s->file, err);
}

void hdx_spill_close(hdx_work *w, hdx_spill *s)
{
    if (s->open) {
        hdx_temp_close(&s->file);
        (void)pthread_mutex_destroy(&s->lock);
    }
    hdx_mem_put(&w->mem, s->units, s->capacity * sizeof *s->units); /* a checkpoint may have a table and no file */
    *s = (hdx_spill){ .edges = s->edges };
}

void hdx_spill_remove(hdx_work *w, hdx_spill *s)
{
    if (s->open)
        hdx_temp_remove(&s->file);
    hdx_spill_close(w, s);
}

hdx_code hdx_spill_put(hdx_work *w, hdx_spill *s, hdx_spilled *unit, const uint8_t *bytes, hdx_error *err)
{
    hdx_code code = HDX_OK;
    assert(s->open && unit->bytes > 0 && unit->objects > 0); /* P9 */
    unit->sum = hdx_crc32c(0, bytes, (size_t)unit->bytes);
    (void)pthread_mutex_lock(&s->lock);
    unit->at = s->file.end;
    s->file.end += unit->bytes;
    s->edges += unit->edges;
    s->longest = unit->bytes > s->longest ? unit->bytes : s->longest;
    if (!hdx_mem_room(&w->mem, (void **)&s->units, &s->capacity, s->count, sizeof *s->units))
        code = hdx_no_memory(err, "units of references", s->capacity * sizeof *s->units);
    else
        s->units[s->count++] = *unit;
    (void)pthread_mutex_unlock(&s->lock);
    if (code != HDX_OK)
        return code;
    int rc = w->io->write_at(w->io, s->file.fd, bytes, unit->bytes, unit->at);
    return rc < 0 ? hdx_fail(err, HDX_IO, s->file.path, unit->at, "cannot write: %s", strerror(-rc)) : HDX_OK;
}

hdx_code hdx_spill_get(const hdx_dump_tables *t, const hdx_spill *s, uint64_t i, uint8_t *to, hdx_spill_reader *reader,
                       hdx_error *err)
{
    assert(i < s->count && s->units[i].bytes <= s->longest); /* P9 */
    const hdx_spilled *u = &s->units[i];
    hdx_code           code = s->file.tape.read(s->file.tape.context, u->at, to, u->bytes, err);
    if (code != HDX_OK)
        return code;
    if (hdx_crc32c(0, to, (size_t)u->bytes) != u->sum)
        return hdx_fail(err, HDX_IO, s->file.path, u->at, "content differs from what was written");
    *reader = (hdx_spill_reader){ .classes = t->classes,
                                  .at = to,
                                  .end = to + u->bytes,
                                  .pos = u->pos,
                                  .heaps = t->heap_count > 0,
                                  .bare = u->bare };
    hdx_spill_widths(t->objects, reader->widths);
    for (unsigned k = 0; k < 4; k++)
        reader->parts[k] = (65535u + reader->widths[k]) / reader->widths[k];
    return HDX_OK;
}

typedef struct each {
    hdx_work              *w;
    const hdx_dump_tables *t;
    const hdx_spill       *spill;
    const hdx_spill_range *range;
    _Atomic uint64_t       next;
    hdx_first_error        fault;
} each;

static void read_units(void *context, unsigned worker)
{
    each                  *e = context;
    const hdx_spill_range *range = e->range;
    const uint64_t         room = e->spill->longest + HDX_PACKED_SLACK;
    uint8_t               *bytes = hdx_mem_get(&e->w->mem, room);
    uint64_t               i;
    hdx_error              err = { 0 };
    if (bytes == NULL) {
        hdx_first_error_put(&e->fault, hdx_no_memory(&err, "a unit of references", room), &err);
        return;
    }
    while (!hdx_first_error_any(&e->fault) && (i = atomic_fetch_add(&e->next, 1)) < e->spill->count) {
        const hdx_spilled *u = &e->spill->units[i];
        hdx_spill_reader   reader;
        hdx_spill_record   record;
        uint64_t           taken = 0;
        if (u->objects == 0 || u->first >= range->hi || u->last < range->lo)
            continue;
        const hdx_code code = hdx_spill_get(e->t, e->spill, i, bytes, &reader, &err);
        if (code != HDX_OK) {
            hdx_first_error_put(&e->fault, code, &err);
            break;
        }
        while (hdx_spill_next(&reader, &record))
            if (record.id - range->lo < range->hi - range->lo) {
                range->take(range->context, worker, &record);
                taken++;
            }
        if (hdx_tick(&e->w->tick, taken))
            hdx_first_error_put(&e->fault, hdx_tick_stop(&err), &err);
    }
    hdx_mem_put(&e->w->mem, bytes, room);
}

hdx_code hdx_spill_each(hdx_work *w, const hdx_dump_tables *t, const hdx_spill *s, const hdx_spill_range *range,
                        hdx_error *err)
{
    each e = { .w = w, .t = t, .spill = s, .range = range };
    hdx_workers_run(w->threads, read_units, &e);
    return hdx_first_error_take(&e.fault, err);
}

/* Returns the bytes read if `batch` ids are processed at a time. */
static uint64_t reading(const hdx_spill *s, uint64_t batch)
{
    uint64_t bytes = 0;
    for (uint64_t i = 0; i < s->count; i++)
        if (s->units[i].objects > 0)
            bytes += s->units[i].bytes * (s->units[i].last / batch - s->units[i].first / batch + 1);
    return bytes;
}

uint64_t hdx_spill_batch(const hdx_work *w, const hdx_spill *s, uint64_t bytes)
{
    const uint64_t all = (w->objects + HDX_PACKED_PIECE - 1) / HDX_PACKED_PIECE,
                   left = hdx_work_room(w) / (HDX_PACKED_PIECE * bytes);
    const uint64_t most = left == 0 ? 1 : left < all ? left : all;
    uint64_t       pieces = most < BATCH_PIECES ? most : BATCH_PIECES;
    while (pieces < most && reading(s, pieces * HDX_PACKED_PIECE) > s->file.end + s->file.end / 2)
        pieces = 2 * pieces < most ? 2 * pieces : most;
    assert(pieces > 0 && pieces <= (all > 0 ? all : 1)); /* P2 */
    return pieces * HDX_PACKED_PIECE;
}
