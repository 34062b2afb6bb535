/*
 * render.h - what the room gives besides <heapdex/render.h>: single cells as text, for pages. Knows no questions and no
 * heaps.
 */
#ifndef HDX_RENDER_RENDER_H
#define HDX_RENDER_RENDER_H

#include "base/base.h"
#include <heapdex/render.h>

/* One cell as JSON text, appended. */
void hdx_render_json_cell(hdx_buffer *out, const hdx_cell *cell);

/*
 * A text as valid UTF-8 and nothing else, appended: half of a surrogate pair becomes U+FFFD, and so does any other byte
 * that is none.
 */
void hdx_render_utf8(hdx_buffer *out, const char *at, size_t len);

/* ---- shown.c: cells as people read them; what appends gives its width in columns of a terminal ---- */
uint32_t hdx_render_text(hdx_buffer *to, const char *at, size_t len, bool ascii);
uint32_t hdx_render_cell(hdx_buffer *to, const hdx_cell *cell, hdx_unit unit, const hdx_render_options *options);
/* All of it, however long. */
uint32_t hdx_render_full_text(hdx_buffer *to, const char *at, size_t len, bool ascii);
uint32_t hdx_render_columns(const char *at, size_t len); /* of a text that hdx_render_text wrote */
/* How many bytes the first or last of its columns take, as many as fit. */
size_t hdx_render_bytes(const char *at, size_t len, uint32_t columns, bool from_end);
/* A text in no more columns than these, or in 4: cut in its middle, since names say most at both ends. */
uint32_t hdx_render_cut(hdx_buffer *to, const char *at, size_t len, uint32_t columns, bool ascii);
/*
 * A class name (as hdx_render_text wrote it), packages shortened from the left as far as needed: j.u.concurrent.Future.
 * The name itself is whole even where it is wider than `columns`.
 */
uint32_t hdx_render_class(hdx_buffer *to, const char *name, size_t len, uint32_t columns);

typedef struct hdx_render_object { /* in bytes of what was appended: "class " | name | label */
    uint32_t name_at, name_len, width;
} hdx_render_object;
/* Class and label of an object as one text: class acme.Cache, java.lang.String "size", acme.Color RED. label NULL:
 * none. */
hdx_render_object hdx_render_object_text(hdx_buffer *to, const hdx_cell *class_name, const hdx_cell *label,
                                         const hdx_render_options *options);
/* " .next", " [3]", " <class>" after an object: the reference by which it leads on. NULL, or no text: nothing. */
uint32_t hdx_render_reference(hdx_buffer *to, const hdx_cell *name, const hdx_render_options *options);
/* An object's text in no more columns than these, where that can be: packages first, then the end of the label. */
uint32_t hdx_render_object_in(hdx_buffer *to, const char *at, size_t len, hdx_render_object o, uint32_t columns,
                              bool ascii);
/* The same, with the middle of the class name cut where the shortened name is still too wide. */
uint32_t hdx_render_object_cut(hdx_buffer *to, const char *at, size_t len, hdx_render_object o, uint32_t columns,
                               bool ascii);
/* The least that it can be shown in, and still be told from others. */
uint32_t hdx_render_object_least(const char *at, size_t len, hdx_render_object o);

#endif
