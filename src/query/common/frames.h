/* frames.h - stack frames: which one refers to an object, and its name. */
#ifndef HDX_QUERY_COMMON_FRAMES_H
#define HDX_QUERY_COMMON_FRAMES_H

#include "query/query.h"

/*
 * Of the frames of a thread that have the object as a local, returns the innermost whose class is not part of the JDK,
 * or the innermost if all are. NULL: no frame has it, or the dump has no stack of the thread.
 */
const hdx_frame *hdx_frame_of_local(hdx_graph *g, hdx_id thread, hdx_id object);
/*
 * Returns the frame after the one that creates an OutOfMemoryError, from which HotSpot writes its dump; it may be the
 * end of the frames. NULL: the thread creates none, or t is NULL.
 */
const hdx_frame *hdx_frame_creating_out_of_memory(const hdx_thread *t);
/* Sets *out to CLASS.METHOD (SOURCE:LINE), without the parts that are unknown; f NULL: a null cell. */
hdx_code hdx_frame_cell(hdx_arena *arena, const hdx_frame *f, hdx_cell *out, hdx_error *err);

#endif
