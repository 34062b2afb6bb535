/*
 * picture.h - shared by the writers of pictures (picture.c): output, and text of a heap. For this room only.
 *
 * A failure (memory, sink) is sticky and is reported by hdx_picture_write.
 */
#ifndef HDX_REPORT_PICTURE_H
#define HDX_REPORT_PICTURE_H

#include "base/base.h"
#include "render/render.h"
#include "report/report.h"
#include "rows/rows.h"
#include <heapdex/heapdex.h>

typedef struct picture {
    const hdx_picture_options *options;
    const hdx_sink            *sink;
    hdx_buffer                 out;
    bool                       broken; /* the sink failed */
} picture;

/* Gives the buffer to the sink if it is large, or at the end. */
void hdx_picture_flush(picture *p, bool end);

/* The cell of this name in a row; a null cell if there is none. */
const hdx_cell *hdx_picture_cell(hdx_rows *rows, const hdx_cell *row, const char *name);
bool            hdx_picture_has(hdx_rows *rows, const char *column);
uint64_t        hdx_picture_number(hdx_rows *rows, const hdx_cell *row, const char *name); /* 0: null */

/* ---- profile.c: folded stacks, speedscope, pprof ---- */
hdx_code hdx_picture_profile(picture *p, hdx_rows *rows, hdx_error *err);
/* ---- dot.c ---- */
hdx_code hdx_picture_dot(picture *p, hdx_rows *rows, hdx_error *err);

#endif
