/*
 * kept.h - files of what a reading of the dump has done so far, for a build that goes on from there (kept.c).
 *
 *     scan.tmp      what the first pass holds of the heap records that it has read (scan.c); behind a long one all of
 *                   them
 *     bits.tmp      beside a checkpoint, behind the searches: what lives and what is special; used with a seal alone
 *     lists.tmp     likewise, while references are turned round and searched: the packed lists, and who is referred to
 *     columns.tmp   which stretches the second pass has read, and what references.tmp holds of them (columns.c)
 *
 * A file has a head that names the dump and the version, what a step puts into it, and a CRC32C of all that. The sum
 * tells rot, where a seal (seal.c) does not say that there is none; whoever reads numbers out of it believes them as
 * little as those of a dump.
 */
#ifndef HDX_BUILD_KEPT_H
#define HDX_BUILD_KEPT_H

#include "build/passes.h"

#define HDX_KEPT_SCAN    "scan.tmp"
#define HDX_KEPT_COLUMNS "columns.tmp"
#define HDX_KEPT_BITS    "bits.tmp"
#define HDX_KEPT_LISTS   "lists.tmp"

typedef struct hdx_kept {
    hdx_work *w;
    int       fd;
    uint64_t  at, end; /* next byte; reading: where the sum is */
    uint32_t  sum;
    uint32_t  filled, taken;
    char      name[32];
    uint8_t   bytes[1u << 16];
} hdx_kept;

/* Writing: all of it stands under its name behind _end, or nothing has changed. Always ended. */
hdx_code hdx_kept_create(hdx_work *w, const hdx_keeping *keeping, const char *name, hdx_kept **out, hdx_error *err);
hdx_code hdx_kept_put(void *kept, const void *bytes, uint64_t len, hdx_error *err);
hdx_code hdx_kept_end(hdx_kept *k, hdx_code so_far, uint32_t *sum, hdx_error *err);
/*
 * Reading; HDX_NOT_FOUND: it is not there, of something else or damaged, or it has no more. *sum: names this content to
 * another file.
 */
hdx_code hdx_kept_open(hdx_work *w, const hdx_keeping *keeping, const char *name, hdx_kept **out, uint32_t *sum,
                       hdx_error *err);
hdx_code hdx_kept_get(void *kept, void *to, uint64_t len, hdx_error *err);
/*
 * An array of a count that stands before it: HDX_NOT_FOUND where the file cannot hold so many. From mem; empty: NULL.
 */
hdx_code hdx_kept_array(hdx_kept *k, uint64_t size, void **array, uint64_t *count, hdx_error *err);
hdx_code hdx_kept_put_array(hdx_kept *k, uint64_t size, const void *array, uint64_t count, hdx_error *err);
void     hdx_kept_close(hdx_kept *k);
void     hdx_kept_remove(hdx_work *w, const char *name); /* it has served */
hdx_code hdx_kept_refuse(hdx_error *err);                /* HDX_NOT_FOUND */

/* Is it worth keeping what was done since the last time? A moment is done again sooner. */
bool hdx_kept_is_worth(const hdx_work *w, const hdx_keeping *keeping, hdx_code code);

#endif
