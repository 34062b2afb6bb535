/*
 * render.h - what the room gives besides <heapdex/render.h>: single cells as JSON text. Knows no questions and no
 * heaps.
 */
#ifndef HDX_RENDER_RENDER_H
#define HDX_RENDER_RENDER_H

#include "base/base.h"
#include <heapdex/render.h>

/* One cell as JSON text, appended. */
void hdx_render_json_cell(hdx_buffer *out, const hdx_cell *cell);

#endif
