/*
 * faulty.h - doors that fail on demand: an hdx_io whose n-th call fails, an hdx_mem that refuses its n-th request.
 *
 *     for (unsigned n = 1;; n++) {
 *         faulty_io f = faulty_io_failing_at(n, ENOSPC);
 *         ... use &f.io ...
 *         if (!faulty_io_fired(&f)) break;      no call was left to fail
 *     }
 */
#ifndef HDX_TESTS_FAULTY_H
#define HDX_TESTS_FAULTY_H

#include "base/io.h"
#include "base/mem.h"

typedef struct faulty_io {
    hdx_io           io; /* first: the door is cast back to this */
    _Atomic unsigned calls;
    unsigned         fail_at; /* 0: never */
    int              with;    /* errno */
    bool             writes_only;
    int (*lock)(int fd); /* what flock says there; NULL: the truth */
} faulty_io;

#define FAULTY_KILL (-1) /* instead of an errno: the call kills the process, before it does anything */
/*
 * Fails the n-th call that can fail (from 1); writes_only counts creating, writing, syncing, renaming, making folders
 * alone.
 */
void faulty_io_init(faulty_io *f, unsigned n, int with, bool writes_only);
bool faulty_io_fired(const faulty_io *f);

typedef struct faulty_mem {
    _Atomic unsigned requests;
    unsigned         refuse_at;
} faulty_mem;
/* Makes mem refuse its n-th request. */
void faulty_mem_init(faulty_mem *f, hdx_mem *mem, unsigned n);
bool faulty_mem_fired(const faulty_mem *f);

#endif
