/* error.h - fills an hdx_error. */
#ifndef HDX_BASE_ERROR_H
#define HDX_BASE_ERROR_H

#include <heapdex/damage.h>
#include <heapdex/error.h>

/* Fills *err unless err is NULL. Returns `code`, so that `return hdx_fail(...)` is the whole error path. */
hdx_code hdx_fail(hdx_error *err, hdx_code code, const char *where, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Adds a hint to an error that was just filled. Returns `code`. err may be NULL. */
hdx_code hdx_hint(hdx_error *err, hdx_code code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Reports HDX_LIMIT for a refused request of `bytes` bytes; 0: the size is unknown. */
hdx_code hdx_no_memory(hdx_error *err, const char *what, uint64_t bytes);

#endif
