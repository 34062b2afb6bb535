/*
 * contents_read.h - what the files of contents.h share: values of one collection, read step by step.
 *
 * Every function that returns a bool returns false when it gave up: c->note says why, or c->code where that is a
 * failure.
 */
#ifndef HDX_QUERY_CONTENTS_READ_H
#define HDX_QUERY_CONTENTS_READ_H

#include "query/common/contents.h"

#define HDX_NO_PLACE UINT64_MAX

/* An object seen as one of `class`, whose fields begin after `skip` bytes: of those below it. */
typedef struct hdx_object_as {
    hdx_id id;
    uint32_t class;
    uint64_t skip;
} hdx_object_as;
hdx_object_as hdx_object_seen(const hdx_contents *c, hdx_id id); /* as what it is */

bool hdx_contents_give_up(hdx_contents *c, hdx_collection_note note);
bool hdx_contents_fail(hdx_contents *c, hdx_code code);
bool hdx_contents_step(hdx_contents *c, uint64_t n);
void hdx_contents_begin(hdx_contents *c, uint64_t most, hdx_error *err);

/* Offset << 8 | type of a field in the objects of a class; HDX_NO_PLACE: they have none of that name. */
uint64_t hdx_contents_place(hdx_contents *c, uint32_t class, uint16_t name);
bool     hdx_contents_referred(hdx_contents *c, const hdx_value *v, hdx_id *out); /* HDX_NO_ID: null */
bool     hdx_contents_go(hdx_contents *c, hdx_object_as *o, uint16_t name);
/* A field of that type, so many bytes after the beginning of the object's fields. */
bool hdx_contents_field_at(hdx_contents *c, hdx_id id, uint8_t type, uint64_t from, hdx_value *out);
/* The value at the end of a path, from its step `from` on; *null: something before the end is null. */
bool hdx_contents_value(hdx_contents *c, hdx_object_as o, const hdx_field_path *p, unsigned from, hdx_value *v,
                        bool *null);
bool hdx_contents_object(hdx_contents *c, hdx_object_as o, const hdx_field_path *p, hdx_id *out);
bool hdx_contents_number(hdx_contents *c, const hdx_value *v, uint64_t *out);
bool hdx_contents_is_zero(const hdx_value *v);

bool hdx_contents_open_array(hdx_contents *c, hdx_id id, hdx_element_reader *r);
bool hdx_contents_element(hdx_contents *c, hdx_element_reader *r, uint64_t i, hdx_value *out);
bool hdx_contents_next_array(hdx_contents *c, hdx_object_as of, const hdx_field_paths *p, hdx_arrays *a, hdx_id *out);

hdx_layout_of_class hdx_contents_layout_of(const hdx_contents *c, hdx_id id);
/* The sum of the terms of size=. */
bool hdx_contents_size_of(hdx_contents *c, hdx_object_as o, const hdx_layout *l, uint64_t *size);
/* Was the field with the size overwritten, while elements can be counted without it? */
bool hdx_contents_size_is_lost(hdx_contents *c, const hdx_layout *l);
/*
 * *yes: the object, whose line finds it empty, has another collection with elements in a field that a subclass of the
 * line's class declares. So do FastHashMap and others that override all methods of the class they extend.
 */
bool hdx_contents_kept_elsewhere(hdx_contents *c, hdx_id id, bool *yes);
/* Elements of the first array of a walk that has just begun: of a ring those between its ends. */
bool hdx_entry_walk_span(hdx_entry_walk *w, uint64_t *count);

#endif
