/* progress.h - callbacks of long calls: progress reports and cancellation. */
#ifndef HEAPDEX_PROGRESS_H
#define HEAPDEX_PROGRESS_H

#include <heapdex/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hdx_progress_report {
    const char *step;   /* "scan", "outbound" ...; a constant string */
    unsigned    number; /* number of this step, from 1 */
    unsigned    steps;  /* number of all steps */
    uint64_t    done;   /* part of `total` that is done, in `unit` */
    uint64_t    total;  /* 0: unknown */
    const char *unit;   /* "bytes", "objects"; a constant string */
} hdx_progress_report;

/*
 * Callbacks of a long call. Either may be NULL.
 * `report` is called at the start of each step and then at most every 50 ms, possibly from several threads, but never
 * from two at once. `cancelled` may be called often and from any thread, also from several at once, so it must be fast
 * and thread-safe. If it returns true, the running call ends with HDX_CANCELLED and leaves no partial result, except
 * that a build leaves the partial build that index.h describes.
 */
typedef struct hdx_progress {
    void *context;
    void (*report)(void *context, const hdx_progress_report *report);
    bool (*cancelled)(void *context);
} hdx_progress;

#ifdef __cplusplus
}
#endif

#endif
