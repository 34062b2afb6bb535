/*
 * contents_read.h - shared by the files of contents.h: reads values of one collection step by step.
 *
 * A function that returns a bool returns false if it gave up: the reason is c->note, or c->code for an error.
 */
#ifndef HDX_QUERY_CONTENTS_READ_H
#define HDX_QUERY_CONTENTS_READ_H

#include "query/common/contents.h"

#define HDX_NO_PLACE UINT64_MAX

/* An object viewed as an instance of `class`, whose fields begin after `skip` bytes of fields of its subclasses. */
typedef struct hdx_object_as {
    hdx_id id;
    uint32_t class;
    uint64_t skip;
} hdx_object_as;
hdx_object_as hdx_object_seen(const hdx_contents *c, hdx_id id); /* as its own class */

bool hdx_contents_give_up(hdx_contents *c, hdx_collection_note note);
bool hdx_contents_fail(hdx_contents *c, hdx_code code);
bool hdx_contents_step(hdx_contents *c, uint64_t n);
void hdx_contents_begin(hdx_contents *c, uint64_t most, hdx_error *err);

/* Returns offset << 8 | type of a field in instances of a class; HDX_NO_PLACE: they have no field of this name. */
uint64_t hdx_contents_place(hdx_contents *c, uint32_t class, uint16_t name);
bool     hdx_contents_referred(hdx_contents *c, const hdx_value *v, hdx_id *out); /* HDX_NO_ID: null */
bool     hdx_contents_follow(hdx_contents *c, hdx_object_as *o, uint16_t name);
/* Reads a field of a given type and offset in the object's content. */
bool hdx_contents_field_at(hdx_contents *c, hdx_id id, uint8_t type, uint64_t from, hdx_value *out);
/* Reads the value at the end of a path, starting at step `from`; *null: an object before the end is null. */
bool hdx_contents_value(hdx_contents *c, hdx_object_as o, const hdx_field_path *p, unsigned from, hdx_value *v,
                        bool *null);
bool hdx_contents_object(hdx_contents *c, hdx_object_as o, const hdx_field_path *p, hdx_id *out);
bool hdx_contents_number(hdx_contents *c, const hdx_value *v, uint64_t *out);
bool hdx_contents_is_zero(const hdx_value *v);

bool hdx_contents_open_array(hdx_contents *c, hdx_id id, hdx_element_reader *r);
bool hdx_contents_element(hdx_contents *c, hdx_element_reader *r, uint64_t i, hdx_value *out);
bool hdx_contents_next_array(hdx_contents *c, hdx_object_as of, const hdx_field_paths *p, hdx_arrays *a, hdx_id *out);

hdx_layout_of_class hdx_contents_layout_of(const hdx_contents *c, hdx_id id);
/* Computes the sum of the terms of size=. */
bool hdx_contents_size_of(hdx_contents *c, hdx_object_as o, const hdx_layout *l, uint64_t *size);
/* Returns whether the size field was overwritten although elements can be counted without it. */
bool hdx_contents_size_is_lost(hdx_contents *c, const hdx_layout *l);
/*
 * Sets *yes if the layout finds the object empty, but a field that a subclass declares refers to another collection
 * with elements. FastHashMap and others that override all methods of their superclass are like that.
 */
bool hdx_contents_stored_elsewhere(hdx_contents *c, hdx_id id, bool *yes);
/*
 * Returns the number of elements in the first array of a walk that has just begun: of a ring buffer those between its
 * ends.
 */
bool hdx_entry_walk_span(hdx_entry_walk *w, uint64_t *count);

#endif
