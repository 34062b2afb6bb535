/*
 * kept.h - files of what a reading of the dump has done so far, for a build that goes on from there (kept.c).
 *
 *     scan.tmp      what the first pass holds of the heap records that it has read (scan.c); after a long one all of
 *                   them
 *     bits.tmp      beside a checkpoint, after the searches: what lives and what is special; used with a seal alone
 *     lists.tmp     likewise, while references are transposed and searched: the packed lists, and who is referenced to
 *     view.tmp      numbers of a view that is being made, and the same bits; used with a seal alone
 *     columns.tmp   which stretches the second pass has read, and what references.tmp holds of them (columns.c)
 *
 * A file has a head that names the dump and the version, what a step puts into it, and a CRC32C of all that. The sum
 * tells rot, where a seal (seal.c) does not say that there is none; whatever reads numbers out of it believes them as
 * little as those of a dump.
 */
#ifndef HDX_READING_KEPT_H
#define HDX_READING_KEPT_H

#include "reading/work.h"
#include "catalog/catalog.h"

#define HDX_KEPT_SCAN    "scan.tmp"
#define HDX_KEPT_COLUMNS "columns.tmp"
#define HDX_KEPT_BITS    "bits.tmp"
#define HDX_KEPT_LISTS   "lists.tmp"
#define HDX_KEPT_VIEW    "view.tmp"

/*
 * A file of a partial build as the build left it, and all of them (seal.c). Written as they lie in memory: no padding.
 */
typedef struct hdx_sealed {
    char     name[32];
    uint64_t device, inode, size, mtime_ns, ctime_ns;
} hdx_sealed;

#define HDX_SEAL_FILES 40u
typedef struct hdx_seal {
    uint64_t   magic, version;
    char       boot[40];
    uint64_t   count;
    hdx_sealed files[HDX_SEAL_FILES];
    uint64_t   sum; /* CRC32C of all before it */
} hdx_seal;

/* What is kept for a build that goes on from this one, and what this one goes on from. */
typedef struct hdx_keeping {
    const hdx_manifest *of;       /* names the dump: hdx_place_sample */
    uint64_t            version;  /* of all that must be alike to go on: hdx_checkpoint_version */
    char                boot[40]; /* of this machine: hdx_owner_boot; empty: the system does not say */
    uint64_t            begun_cpu;
    bool                checkpointed; /* there is a checkpoint in the folder */
    bool                kept_scan,
        kept_columns;       /* there are such files (kept.h) in the folder: to go on from, or written by this build */
    uint32_t kept_scan_sum; /* which one it is */
    hdx_seal seal;          /* of what there is to go on from; count 0: none */
    bool     sealed;        /* all that this build goes on from is as the seal says */
    bool     unproven;      /* it goes on from files that nobody has read through yet: not to be sealed */
    bool     every_step;    /* of hdx_build_doors */
    uint64_t saved_at,
        saving_ns; /* when the last checkpoint stood (at first: when the build began), and what it took */
} hdx_keeping;

typedef struct hdx_kept {
    hdx_work *w;
    int       fd;
    uint64_t  at, end; /* next byte; reading: where the sum is */
    uint32_t  sum;
    uint32_t  filled, taken;
    char      name[32];
    uint8_t   bytes[1u << 16];
} hdx_kept;

/* Writing: all of it stands under its name when _end is done, or nothing has changed. Always ended. */
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

/*
 * seal.c: what the folder holds now is what this build wrote; what there is of that. Where it cannot be said there is
 * none.
 */
void hdx_seal_put(hdx_work *w, const hdx_keeping *keeping);
void hdx_seal_get(const hdx_work *w, hdx_keeping *keeping);
bool hdx_seal_has(const hdx_work *w, const hdx_keeping *keeping,
                  const char *name); /* this file is as it was then; NAME is within the folder */
void hdx_seal_remove(const hdx_work *w);

#endif
