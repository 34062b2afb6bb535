/*
 * damage.c - the damage of a container, in the order of the file; each place is recorded once, however many decoders
 * find it.
 */
#include "source/inner.h"

bool hdx_damage_init(hdx_damage_list *list, hdx_mem *mem)
{
    *list = (hdx_damage_list){ .entries = hdx_mem_array(mem, HDX_SOURCE_DAMAGE_MAX, sizeof *list->entries) };
    if (list->entries == NULL)
        return false;
    (void)pthread_mutex_init(&list->lock, NULL);
    return true;
}

void hdx_damage_free(hdx_damage_list *list, hdx_mem *mem)
{
    if (list->entries == NULL)
        return;
    hdx_mem_put(mem, list->entries, HDX_SOURCE_DAMAGE_MAX * sizeof *list->entries);
    (void)pthread_mutex_destroy(&list->lock);
    list->entries = NULL;
}

void hdx_damage_note(hdx_damage_list *list, uint64_t nth, bool last, const hdx_damage *entry)
{
    (void)pthread_mutex_lock(&list->lock);
    if (nth == list->seen) {
        list->seen++;
        if (list->count + (last ? 0 : 1) < HDX_SOURCE_DAMAGE_MAX)
            list->entries[list->count++] = *entry;
    }
    (void)pthread_mutex_unlock(&list->lock);
}
