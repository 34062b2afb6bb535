/*
 * resume.h - files with the progress of reading the dump, from which a later build resumes (resume.c).
 *
 *   scan.tmp      the first pass: results of the heap records read so far (scan.c); after a long one all results
 *   bits.tmp      next to a checkpoint, after the searches: live and special objects; only used with a seal
 *   lists.tmp     likewise, while references are transposed and searched: the packed lists, and which objects are
 *                 referenced
 *   view.tmp      numbers of a view that is being built, and the same bits; only used with a seal
 *   columns.tmp   the second pass: which ranges it has read, and their part of references.tmp (columns.c)
 *
 * A file has a head that names the dump and the version, the data of a step, and a CRC32C of everything. The sum
 * detects corruption, unless a seal (seal.c) proves that there is none. Code that reads numbers from these files trusts
 * them as little as those of a dump.
 */
#ifndef HDX_READING_RESUME_H
#define HDX_READING_RESUME_H

#include "reading/work.h"
#include "catalog/catalog.h"

#define HDX_RESUME_SCAN    "scan.tmp"
#define HDX_RESUME_COLUMNS "columns.tmp"
#define HDX_RESUME_BITS    "bits.tmp"
#define HDX_RESUME_LISTS   "lists.tmp"
#define HDX_RESUME_VIEW    "view.tmp"

/*
 * The state of one file, and of all files, of a partial build when the build left them (seal.c). Written as in memory,
 * without padding.
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
    uint64_t   sum; /* CRC32C of everything before it */
} hdx_seal;

/* What is saved for a later build, and what this build resumes from. */
typedef struct hdx_saving {
    const hdx_manifest *of;       /* identifies the dump: hdx_place_sample */
    uint64_t            version;  /* of everything that must be equal to resume: hdx_checkpoint_version */
    char                boot[40]; /* of this machine: hdx_owner_boot; empty: unknown */
    uint64_t            begun_cpu;
    bool                checkpointed; /* there is a checkpoint in the folder */
    bool has_scan, has_columns; /* such files (resume.h) are in the folder: to resume from, or written by this build */
    uint32_t scan_sum;          /* identifies the content of scan.tmp */
    hdx_seal seal;              /* of the files to resume from; count 0: none */
    bool     sealed;            /* all files from which this build resumes are as the seal says */
    /* this build resumes from files that were not yet read completely: they must not be sealed */
    bool unproven;
    bool every_step; /* of hdx_build_doors */
    /* when the last checkpoint was complete (at first: when the build began), and how long saving took */
    uint64_t saved_at, saving_ns;
} hdx_saving;

typedef struct hdx_resume_file {
    hdx_work *w;
    int       fd;
    uint64_t  at, end; /* at: position of the next byte; end: when reading, position of the sum */
    uint32_t  sum;
    uint32_t  filled, taken;
    char      name[32];
    uint8_t   bytes[1u << 16];
} hdx_resume_file;

/* Writing. After hdx_resume_end the file is complete under its name, or nothing has changed. Always call
 * hdx_resume_end. */
hdx_code hdx_resume_create(hdx_work *w, const hdx_saving *saving, const char *name, hdx_resume_file **out,
                           hdx_error *err);
hdx_code hdx_resume_put(void *file, const void *bytes, uint64_t len, hdx_error *err);
hdx_code hdx_resume_end(hdx_resume_file *k, hdx_code so_far, uint32_t *sum, hdx_error *err);
/*
 * Reading. Returns HDX_NOT_FOUND if the file is missing, belongs to another dump or version, is damaged, or has no more
 * data. *sum identifies its content in other files.
 */
hdx_code hdx_resume_open(hdx_work *w, const hdx_saving *saving, const char *name, hdx_resume_file **out, uint32_t *sum,
                         hdx_error *err);
hdx_code hdx_resume_get(void *file, void *to, uint64_t len, hdx_error *err);
/*
 * Reads a count and an array of this size, allocated from mem; NULL if empty. Returns HDX_NOT_FOUND if the file cannot
 * contain so many elements.
 */
hdx_code hdx_resume_array(hdx_resume_file *k, uint64_t size, void **array, uint64_t *count, hdx_error *err);
hdx_code hdx_resume_put_array(hdx_resume_file *k, uint64_t size, const void *array, uint64_t count, hdx_error *err);
void     hdx_resume_close(hdx_resume_file *k);
void     hdx_resume_remove(hdx_work *w, const char *name); /* after its use */
hdx_code hdx_resume_refuse(hdx_error *err);                /* returns HDX_NOT_FOUND */

/* Returns whether enough was done since the last save to save again; little work is repeated faster. */
bool hdx_resume_is_worth(const hdx_work *w, const hdx_saving *saving, hdx_code code);

/*
 * seal.c: hdx_seal_put records that the files in the folder were written by this build, hdx_seal_get reads that record.
 * If it cannot be established there is no seal.
 */
void hdx_seal_put(hdx_work *w, const hdx_saving *saving);
void hdx_seal_get(const hdx_work *w, hdx_saving *saving);
bool hdx_seal_has(const hdx_work *w, const hdx_saving *saving,
                  const char *name); /* the file is unchanged since then; NAME is within the folder */
void hdx_seal_remove(const hdx_work *w);

#endif
