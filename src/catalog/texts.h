/*
 * texts.h - names while a catalog is written: each different text gets a number, in the order of first sight. Inside of
 * this room alone.
 */
#ifndef HDX_CATALOG_TEXTS_H
#define HDX_CATALOG_TEXTS_H

#include "base/base.h"

#define HDX_TEXT_RECENT 4096u

typedef struct hdx_text_slot {
    uint32_t number; /* + 1; 0: free */
    uint32_t hash;   /* of its text, the low bits */
} hdx_text_slot;

typedef struct hdx_text_table {
    hdx_mem       *mem;
    hdx_text      *texts;
    uint64_t       count, capacity;
    hdx_text_slot *slots;
    uint64_t       slot_count; /* a power of two */
    uint64_t       seed;
    /* Pointers seen last: one name borne by 65 535 fields is read once. */
    struct {
        hdx_text text;
        uint32_t number;
    } recent[HDX_TEXT_RECENT];
} hdx_text_table;

void hdx_text_table_init(hdx_text_table *t, hdx_mem *mem);
void hdx_text_table_free(hdx_text_table *t);
/* Reads the text, and asks for the line in which its number will be looked for soon. */
void hdx_text_ahead(const hdx_text_table *t, hdx_text text);
/* Texts stay where they are as long as the table is in use. */
hdx_code hdx_text_number(hdx_text_table *t, hdx_text text, uint32_t *number, hdx_error *err);

#endif
