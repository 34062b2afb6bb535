/* work.c - room in the budget, and damage that passes find (work.h). */
#include "reading/work.h"
#include "hprof/hprof.h"

#include <stdarg.h>
#include <stdio.h>

#define COMFORT 23u /* bytes per object for ids of 32 bits */

/*
 * The memory that all arrays of a pass may use if there is no budget: memory that the kernel provides for the first
 * time costs more than another range.
 */
uint64_t hdx_work_comfort(uint64_t objects, unsigned width) { return COMFORT * objects * (width / 32); }

uint64_t hdx_work_room(const hdx_work *w)
{
    const uint64_t used = atomic_load(&w->mem.used), beside = w->threads * HDX_BUILD_WORKER;
    const unsigned width = w->objects >= UINT32_MAX - 2 ? 64 : 32;
    uint64_t       most = w->tables_bytes + beside + HDX_WORK_LEAST + hdx_work_comfort(w->objects, width);
    if (w->room != 0)
        return w->room;
    if (w->mem.limit != 0 && w->mem.limit < most)
        most = w->mem.limit;
    return used + beside < most ? most - used - beside : 0;
}

void hdx_work_measure(hdx_work *w, uint64_t objects)
{
    w->objects = objects;
    w->tables_bytes = atomic_load(&w->mem.used);
}

hdx_code hdx_work_damage(hdx_work *w, hdx_damage_kind kind, hdx_pos pos, const char *record, uint64_t lost,
                         hdx_error *err, const char *format, ...)
{
    hdx_damage d = { .kind = kind, .offset = pos, .lost_bytes = lost };
    va_list    args;
    hdx_code   code = HDX_OK;
    (void)snprintf(d.record, sizeof d.record, "%s", record);
    va_start(args, format);
    (void)vsnprintf(d.expected, sizeof d.expected, format, args);
    va_end(args);
    (void)pthread_mutex_lock(&w->lock);
    if (w->damage.count >= HDX_DAMAGE_MAX)
        w->damage.more++;
    else if (!hdx_mem_room(&w->mem, (void **)&w->damage.list, &w->damage.capacity, w->damage.count, sizeof d))
        code = hdx_no_memory(err, "the list of damage", 0);
    else
        w->damage.list[w->damage.count++] = d;
    assert(w->damage.count <= w->damage.capacity && w->damage.count <= HDX_DAMAGE_MAX);
    (void)pthread_mutex_unlock(&w->lock);
    return code;
}
