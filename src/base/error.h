/* error.h - filling an hdx_error. */
#ifndef HDX_BASE_ERROR_H
#define HDX_BASE_ERROR_H

#include <heapdex/damage.h>
#include <heapdex/error.h>

/* Fills *err if the caller wants words; returns code, so `return hdx_fail(...)` is the whole error path. */
hdx_code hdx_fail(hdx_error *err, hdx_code code, const char *where, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Adds "hint: ..." to an error that was just filled; returns its code. err may be NULL (then `code` comes back). */
hdx_code hdx_hint(hdx_error *err, hdx_code code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Out of memory or over the budget, in one wording. */
hdx_code hdx_no_memory(hdx_error *err, const char *what, uint64_t bytes);

#endif
