/*
 * source.h - the room that hands out bytes of a dump. Its public face is <heapdex/source.h>; this header adds what only the
 * library itself may use: the io door of tests.
 */
#ifndef HDX_SOURCE_SOURCE_H
#define HDX_SOURCE_SOURCE_H

#include "base/io.h"
#include <heapdex/source.h>

hdx_code hdx_source_open_io(hdx_io *io, const char *path, const hdx_source_options *options, hdx_source **out, hdx_error *err);

#endif
