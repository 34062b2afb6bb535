/*
 * list.h - a growing array: elements, count and capacity. All zero is an empty list.
 *
 *     HDX_LIST(event) events;
 *     if (!hdx_list_room(mem, HDX_LIST_REF(&events))) return hdx_no_memory(...);
 *     events.at[events.count++] = e;
 *     hdx_list_free(mem, HDX_LIST_REF(&events));
 *
 * A list that is passed to another owner has a named type: typedef HDX_LIST(event) event_list.
 */
#ifndef HDX_BASE_LIST_H
#define HDX_BASE_LIST_H

#include "base/mem.h"

#define HDX_LIST(type)                                                                                                 \
    struct {                                                                                                           \
        type    *at;                                                                                                   \
        uint64_t count, capacity;                                                                                      \
    }

/* A list with elements of any type, for functions. */
typedef struct hdx_list_ref {
    void    **at;
    uint64_t *count, *capacity, size; /* size: bytes of an element */
} hdx_list_ref;
#define HDX_LIST_REF(list)                                                                                             \
    ((hdx_list_ref){ (void **)&(list)->at, &(list)->count, &(list)->capacity, sizeof *(list)->at })

/* Makes room for one more element. False: refused, and the list is unchanged. */
static inline bool hdx_list_room(hdx_mem *mem, hdx_list_ref list)
{
    return hdx_mem_room(mem, list.at, list.capacity, *list.count, list.size);
}

/* Frees the array; the list is then empty. */
static inline void hdx_list_free(hdx_mem *mem, hdx_list_ref list)
{
    hdx_mem_put(mem, *list.at, *list.capacity * list.size);
    *list.at = NULL;
    *list.count = *list.capacity = 0;
}

#endif
