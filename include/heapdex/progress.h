/* progress.h - callbacks for long work: where it is, and whether to stop. */
#ifndef HEAPDEX_PROGRESS_H
#define HEAPDEX_PROGRESS_H

#include <heapdex/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hdx_progress_report {
    const char *step;   /* "scan", "outbound", ...; a constant string */
    unsigned    number; /* of this step, from 1 */
    unsigned    steps;  /* in all */
    uint64_t    done;   /* of total, in `unit`; total 0: not known */
    uint64_t    total;
    const char *unit; /* "bytes", "objects" */
} hdx_progress_report;

/*
 * Both may be NULL. `report` is called from one thread at a time, at most some tens of times a second; `cancelled` from
 * any thread, often: it must be quick. When it returns true the running call ends with HDX_CANCELLED and leaves nothing
 * half (of a build: index.h).
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
