/*
 * error.h - how a call says that it failed: a code for programs, words for people.
 *
 * Functions return an hdx_code and fill an hdx_error that the caller owns (or NULL if the caller wants no words).
 * There is no thread-local "last error". Damage that a dump survives is no error: see damage.h.
 */
#ifndef HEAPDEX_ERROR_H
#define HEAPDEX_ERROR_H

#include <heapdex/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hdx_code {
    HDX_OK,
    HDX_USAGE,     /* the call is wrong (exit 2) */
    HDX_BAD_DUMP,  /* missing, no heap dump, refused; or no index and building not allowed (exit 3) */
    HDX_NOT_FOUND, /* what was asked for is not in the dump (exit 4) */
    HDX_DAMAGED,   /* the index is damaged (exit 5) */
    HDX_LIMIT,     /* does not fit in memory, on disk or in a stated limit (exit 6) */
    HDX_IO,        /* input or output failed underway (exit 7) */
    HDX_BUSY,      /* another builder holds the index, or replaced it while it was read (exit 76) */
    HDX_CANCELLED  /* the caller's cancel callback said so (exit 130; 75 by SIGTERM) */
} hdx_code;

#define HDX_NOWHERE UINT64_MAX

typedef struct hdx_error {
    hdx_code code;
    uint64_t offset;       /* byte at fault in `where`, or HDX_NOWHERE */
    char     where[256];   /* dump or index file: "app.hprof", "outbound" */
    char     message[256]; /* what is wrong, with the number seen and the numbers allowed; one line */
    char     hint[256];    /* what would help; empty where nothing is known to */
} hdx_error;

/* The code's stable name ("bad_dump", "damaged", ...): `kind` of the JSON error document. */
HDX_API const char *hdx_code_name(hdx_code code);

#ifdef __cplusplus
}
#endif

#endif
