/*
 * source.h - the room that hands out bytes of a dump. Its public face is <heapdex/source.h>; this header adds what only the
 * library itself may use: the io door of tests and
 * the memory door.
 */
#ifndef HDX_SOURCE_SOURCE_H
#define HDX_SOURCE_SOURCE_H

#include "base/io.h"
#include "base/mem.h"
#include <heapdex/source.h>

hdx_code hdx_source_open_io(hdx_io *io, const char *path, const hdx_source_options *options, hdx_source **out, hdx_error *err);

/* The same with a budget for all memory of the source and its streams; mem outlives the source and may be NULL. */
hdx_code hdx_source_open_mem(hdx_io *io, hdx_mem *mem, const char *path, const hdx_source_options *options, hdx_source **out, hdx_error *err);

#endif
