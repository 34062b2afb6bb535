/*
 * error.h - error codes and messages.
 *
 * Functions that can fail return an hdx_code and describe the failure in an hdx_error that the caller owns. `err` may
 * be NULL if the caller needs no message; its content is undefined after HDX_OK. There is no thread-local "last error".
 * Damage in a dump that can be indexed all the same is not an error: see damage.h.
 */
#ifndef HEAPDEX_ERROR_H
#define HEAPDEX_ERROR_H

#include <heapdex/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hdx_code {
    HDX_OK,
    HDX_USAGE, /* the call is wrong: an argument, an option, a name of a column (exit 2) */
    /* the dump is missing, is not a heap dump or was refused; or no index, and building is not allowed (exit 3) */
    HDX_BAD_DUMP,
    HDX_NOT_FOUND, /* the object, class, thread or index that the call names does not exist (exit 4) */
    HDX_DAMAGED,   /* the index is damaged (exit 5) */
    HDX_LIMIT,     /* memory, disk space or a stated limit is too small (exit 6) */
    HDX_IO,        /* reading or writing failed (exit 7) */
    HDX_BUSY,      /* another builder holds the index, or replaced it while it was being read (exit 76) */
    HDX_CANCELLED  /* the caller's callback `cancelled` returned true (exit 130; 75 after SIGTERM) */
} hdx_code;

#define HDX_NOWHERE UINT64_MAX

typedef struct hdx_error {
    hdx_code code;
    uint64_t offset;       /* byte at fault in `where`, or HDX_NOWHERE */
    char     where[256];   /* name of the dump or of the index file: "app.hprof", "outbound"; may be empty */
    char     message[256]; /* the problem in one line, with the number found and the numbers allowed */
    char     hint[256];    /* a remedy, in one line; empty if none is known */
} hdx_error;

/*
 * Returns the stable name of a code ("bad_dump", "damaged" ...), which the JSON error document has as `kind`. A
 * constant string.
 */
HDX_API const char *hdx_code_name(hdx_code code);

#ifdef __cplusplus
}
#endif

#endif
