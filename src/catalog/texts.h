/*
 * texts.h - numbers the different texts of a catalog that is being written, in the order of their first use. For this
 * room only.
 */
#ifndef HDX_CATALOG_TEXTS_H
#define HDX_CATALOG_TEXTS_H

#include "base/base.h"

#define HDX_TEXT_RECENT 4096u

typedef struct hdx_text_slot {
    uint32_t number; /* + 1; 0: free */
    uint32_t hash;   /* low bits of the hash of its text */
} hdx_text_slot;

typedef struct hdx_text_table {
    hdx_mem       *mem;
    hdx_text      *texts;
    uint64_t       count, capacity;
    hdx_text_slot *slots;
    uint64_t       slot_count; /* a power of two */
    uint64_t       seed;
    /* Pointers of recent texts, so that a name of 65 535 fields is read once. */
    struct {
        hdx_text text;
        uint32_t number;
    } recent[HDX_TEXT_RECENT];
} hdx_text_table;

void hdx_text_table_init(hdx_text_table *t, hdx_mem *mem);
void hdx_text_table_free(hdx_text_table *t);
/* Reads the text, and prefetches the slot in which its number will be looked up. */
void hdx_text_ahead(const hdx_text_table *t, hdx_text text);
/* Returns the number of a text. REQUIRES: texts do not move while the table is in use. */
hdx_code hdx_text_number(hdx_text_table *t, hdx_text text, uint32_t *number, hdx_error *err);

#endif
