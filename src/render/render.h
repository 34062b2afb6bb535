/*
 * render.h - what the room offers in addition to <heapdex/render.h>: single cells as text, for pages. It does not know
 * questions or heaps.
 */
#ifndef HDX_RENDER_RENDER_H
#define HDX_RENDER_RENDER_H

#include "base/base.h"
#include <heapdex/render.h>

/* ---- cells.c: the value of a key, a cell of a row, an extra of rows; a null cell if there is none ---- */
const hdx_cell *hdx_cell_member(const hdx_cell *object, const char *key);
const hdx_cell *hdx_cell_named(const hdx_column *columns, unsigned count, const hdx_cell *row, const char *name);
const hdx_cell *hdx_rows_extra_cell(const hdx_rows *rows, const char *key);

/* Appends a cell as JSON text. */
void hdx_render_json_cell(hdx_buffer *out, const hdx_cell *cell);

/* Appends a text as valid UTF-8: an unpaired surrogate, and any other invalid byte, becomes U+FFFD. */
void hdx_render_utf8(hdx_buffer *out, const char *at, size_t len);

/* ---- shown.c: cells for people; functions that append return the width in columns of a terminal ---- */
uint32_t hdx_render_text(hdx_buffer *to, const char *at, size_t len, bool ascii);
uint32_t hdx_render_cell(hdx_buffer *to, const hdx_cell *cell, hdx_unit unit, const hdx_render_options *options);
/* Appends the whole text, however long. */
uint32_t hdx_render_full_text(hdx_buffer *to, const char *at, size_t len, bool ascii);
uint32_t hdx_render_columns(const char *at, size_t len); /* of a text that hdx_render_text wrote */
/* Returns the number of bytes of its first or last `columns` columns, or of as many as fit. */
size_t hdx_render_bytes(const char *at, size_t len, uint32_t columns, bool from_end);
/*
 * Appends a text in at most `columns` columns, but at least 4: its middle is cut, because both ends of names are
 * significant.
 */
uint32_t hdx_render_cut(hdx_buffer *to, const char *at, size_t len, uint32_t columns, bool ascii);
/*
 * Appends a class name (as written by hdx_render_text), with packages shortened from the left as far as needed:
 * j.u.concurrent.Future. The name itself stays whole even if it is wider than `columns`.
 */
uint32_t hdx_render_class(hdx_buffer *to, const char *name, size_t len, uint32_t columns);

typedef struct hdx_render_object { /* in bytes of what was appended: "class " | name | label */
    uint32_t name_at, name_len, width;
} hdx_render_object;
/*
 * Appends class and label of an object as one text: class acme.Cache, java.lang.String "size", acme.Color RED. label
 * NULL: none.
 */
hdx_render_object hdx_render_object_text(hdx_buffer *to, const hdx_cell *class_name, const hdx_cell *label,
                                         const hdx_render_options *options);
/* Same for a phrase (HDX_COLUMN_PHRASE) in place of the label; without a class the phrase stands alone. */
hdx_render_object hdx_render_phrase_text(hdx_buffer *to, const hdx_cell *class_name, const hdx_cell *phrase,
                                         const hdx_render_options *options);
/*
 * Appends " .next", " [3]" or " <class>": the reference from an object to the next one. NULL, or not a text: nothing.
 */
uint32_t hdx_render_reference(hdx_buffer *to, const hdx_cell *name, const hdx_render_options *options);
/*
 * Appends the text of an object in at most `columns` columns, if possible: shortens packages first, then the end of the
 * label.
 */
uint32_t hdx_render_object_in(hdx_buffer *to, const char *at, size_t len, hdx_render_object o, uint32_t columns,
                              bool ascii);
/* Same, with the middle of the class name cut if the shortened name is still too wide. */
uint32_t hdx_render_object_cut(hdx_buffer *to, const char *at, size_t len, hdx_render_object o, uint32_t columns,
                               bool ascii);
/* Returns the least width in which it remains distinguishable from others. */
uint32_t hdx_render_object_least(const char *at, size_t len, hdx_render_object o);

#endif
