/* frames.h - frames of stacks: which one holds an object, and its name. */
#ifndef HDX_QUERY_COMMON_FRAMES_H
#define HDX_QUERY_COMMON_FRAMES_H

#include "query/query.h"

/*
 * Of the frames of a thread that have the object as a local, the innermost whose class is none of the JDK; where all
 * are, the innermost. NULL: no frame has it, or the dump has no stack of the thread.
 */
const hdx_frame *hdx_frame_of_local(hdx_graph *g, hdx_id thread, hdx_id object);
/*
 * The frame behind the one that makes an OutOfMemoryError, from where HotSpot writes its dump; it may be the end of the
 * frames. NULL: the thread makes none, or t is NULL.
 */
const hdx_frame *hdx_frame_behind_out_of_memory(const hdx_thread *t);
/* Sets *out to CLASS.METHOD (SOURCE:LINE), without the parts that are unknown. f NULL: *out is null. */
hdx_code hdx_frame_cell(hdx_arena *arena, const hdx_frame *f, hdx_cell *out, hdx_error *err);

#endif
