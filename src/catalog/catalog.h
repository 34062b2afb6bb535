/*
 * catalog.h - the small, keyed data of an index, in LMDB: manifest, classes, roots, threads, Android heaps. The only
 * room that includes lmdb.h; it does not know pages or dumps. src/catalog/README.md documents keys and values byte for
 * byte.
 *
 * Files in the index folder: catalog.mdb (LMDB, one file, no lock file for readers) and catalog.sum (magic, format
 * version, identity, size and CRC32C of catalog.mdb and of itself). A reader compares catalog.mdb with catalog.sum
 * before LMDB sees a byte of it, because LMDB trusts its file, and walks the pages of its tree once. Everything that
 * LMDB returns is decoded with checks of every length, id and number: damage is HDX_DAMAGED with the name "catalog".
 * Results are therefore reliable: ids are below manifest.objects, class numbers below the number of classes, and chains
 * of super classes end.
 *
 * One thread at a time may write: create, put ..., commit. REQUIRES: texts and frames that were passed do not move
 * until then. Equal content gives equal sorted keys and values.
 * Reading is thread-safe; texts and arrays are valid until the catalog is closed.
 */
#ifndef HDX_CATALOG_CATALOG_H
#define HDX_CATALOG_CATALOG_H

#include "base/base.h"
#include <heapdex/graph.h>
#include <heapdex/heap.h>
#include <heapdex/strip.h>

#define HDX_KINDS_MAX    32u
#define HDX_STEPS_MAX    32u
#define HDX_WARNINGS_MAX 16u

typedef struct hdx_manifest_file { /* one index file; name "": not written */
    char     name[16];
    uint64_t bytes;
    uint32_t sum;
} hdx_manifest_file;

typedef struct hdx_manifest_step {
    char     name[24];
    uint64_t wall_ns, cpu_ns, peak_bytes, written_bytes;
} hdx_manifest_step;

/*
 * All facts about an index that exist once. Fields of the two groups at the end (source, build) may differ between
 * indexes with "the same bytes".
 */
typedef struct hdx_manifest {
    uint32_t format;       /* HDX_CATALOG_FORMAT */
    char     heapdex[24];  /* version that built it */
    uint8_t  identity[16]; /* as in the headers of the index files */
    /* dump */
    char     version[8]; /* "1.0.2" */
    uint32_t id_size;
    uint64_t created_ms; /* time of the chosen dump (header + first heap record) */
    uint64_t dump_size;  /* uncompressed bytes */
    uint32_t dump_number, dumps_in_file;
    char     jvm[128]; /* "" if not found */
    /* layout */
    uint32_t reference_size, alignment;
    bool     compressed_oops, stated_sizes;
    /* counts */
    uint64_t          objects; /* ids, including object 0 */
    uint64_t          records; /* objects in the dump */
    uint64_t          live_objects, live_bytes, unreachable_objects, unreachable_bytes;
    uint64_t          references;      /* distinct pairs of live objects, including class references */
    uint64_t          all_references;  /* the same for all objects */
    uint64_t          outbound_values; /* entries of the index outbound (without class references) */
    uint64_t          classes, live_classes, live_loaders;
    uint64_t          gc_roots; /* distinct root objects, without locals of known threads */
    uint64_t          roots;    /* entries in the table of roots, including locals */
    uint64_t          threads;
    uint64_t          dangling_references, dangling_roots;
    uint64_t          specials, dominators;  /* sizes of the ranks files */
    uint64_t          record_counts[2][256]; /* [0] top-level records, [1] sub-records, by tag */
    uint32_t          step; /* last step that was built: 1 objects, 2 outbound, 3 inbound, 4 dominators (everything) */
    uint32_t          file_count;
    hdx_manifest_file files[HDX_KINDS_MAX]; /* by hdx_kind */
    /* damage and warnings */
    uint64_t      damage_count, damage_more;
    hdx_damage   *damage; /* after reading owned by the catalog */
    uint32_t      warning_count;
    char          warnings[HDX_WARNINGS_MAX][192];
    hdx_stripping stripping; /* which tool stripped the dump; bytes_read is not stored */
    /* source */
    char     dump_name[256];            /* file name without folder */
    char     dump_path[4096];           /* absolute, links resolved; "": unknown, and in views */
    uint32_t compression;               /* hdx_compression */
    uint64_t file_size;                 /* size on disk */
    uint64_t file_mtime_ns, file_inode; /* only to avoid reading the dump */
    uint8_t  file_sample[16];           /* hash of sampled content: the real identity of the dump */
    /* build */
    uint64_t          built_at_ms, wall_ns, cpu_ns, peak_rss;
    uint32_t          step_count;
    hdx_manifest_step steps[HDX_STEPS_MAX];
    /* of a view of an index; view "": not a view, and the following members are unset */
    char     view[HDX_VIEW_NAME_SIZE];
    char     view_spec[HDX_VIEW_SPEC_SIZE]; /* what it ignores, normalized */
    uint64_t cut_references;                /* number of references between objects that it ignores */
    /* number of objects that have one, and to which one leads: sizes of ranks files */
    uint64_t cut_from, cut_to;
    uint32_t view_layout; /* hdx_jvm_layout: the rules for shallow sizes */
} hdx_manifest;

/*
 * Returns whether a name is valid: 1 to 63 letters, digits, _ and -, without a leading -, because it is the name of a
 * folder.
 */
bool hdx_view_name_is_one(const char *name);
/* Computes the identity of the files of a view from that of the index and the definition of the view. */
void hdx_view_identity(const uint8_t index[16], const char *name, const char *spec, uint8_t out[16]);

/*
 * The format of the whole folder, which distinguishes an older index from a damaged one. It also increases when the
 * format of the other files (HDX_INDEX_FORMAT) does.
 */
#define HDX_CATALOG_FORMAT 3u

typedef struct hdx_catalog hdx_catalog;

/* ---- writing ---- */
typedef struct hdx_catalog_writer hdx_catalog_writer;
/* Creates a catalog. io: used to create and remove files, and for the .sum file; LMDB writes its file itself. */
hdx_code hdx_catalog_create(hdx_io *io, const char *folder, hdx_mem *mem, hdx_catalog_writer **out, hdx_error *err);
/* Adds a class with names, counts and bytes. REQUIRES: classes are added by number 0 .. count - 1. */
hdx_code hdx_catalog_put_class(hdx_catalog_writer *w, const hdx_class *c, hdx_error *err);
/*
 * Prefetches what hdx_catalog_put_class will read for some of the next `left` - 1 classes after c in its array, so that
 * these cache misses overlap.
 */
void hdx_catalog_ahead(const hdx_catalog_writer *w, const hdx_class *c, uint32_t left);
/*
 * Adds all roots. REQUIRES: they are sorted by (object, type, thread, frame). They are stored in chunks that can be
 * searched by object.
 */
hdx_code hdx_catalog_put_roots(hdx_catalog_writer *w, const hdx_root *roots, uint64_t count, hdx_error *err);
hdx_code hdx_catalog_put_threads(hdx_catalog_writer *w, const hdx_thread *threads, uint64_t count, hdx_error *err);
hdx_code hdx_catalog_put_heaps(hdx_catalog_writer *w, const hdx_heap_space *heaps, uint64_t count, hdx_error *err);
hdx_code hdx_catalog_put_manifest(hdx_catalog_writer *w, const hdx_manifest *m, hdx_error *err);
/*
 * Commits and writes catalog.sum. The caller that puts the folder in place syncs it (hdx_io_sync_files); until then the
 * sum reveals a truncated file. Frees the writer, and removes its files on failure.
 */
hdx_code hdx_catalog_commit(hdx_catalog_writer *w, hdx_error *err);
void     hdx_catalog_abandon(hdx_catalog_writer *w); /* in place of commit; NULL is allowed */

/* ---- reading ---- */
/*
 * Opens a catalog. Returns HDX_NOT_FOUND if there is none, or one of another format version ("format n" in the
 * message), which must be built again.
 */
hdx_code            hdx_catalog_open(hdx_io *io, const char *folder, hdx_catalog **out, hdx_error *err);
void                hdx_catalog_close(hdx_catalog *c);
const hdx_manifest *hdx_catalog_manifest(const hdx_catalog *c); /* read when the catalog was opened */

/* Returns all classes by number. They are decoded in the first call (any thread) and cached. */
hdx_code hdx_catalog_classes(hdx_catalog *c, const hdx_class **classes, uint32_t *count, hdx_error *err);
/* Returns all roots, sorted by object. They are decoded in the first call and cached. */
hdx_code hdx_catalog_roots(hdx_catalog *c, const hdx_root **roots, uint64_t *count, hdx_error *err);
/* Returns the roots of one object without decoding all: at most `max` are copied, *count is their number. */
hdx_code hdx_catalog_roots_of(hdx_catalog *c, hdx_id object, hdx_root *out, uint64_t max, uint64_t *count,
                              hdx_error *err);
hdx_code hdx_catalog_threads(hdx_catalog *c, const hdx_thread **threads, uint64_t *count, hdx_error *err);
hdx_code hdx_catalog_heaps(hdx_catalog *c, const hdx_heap_space **heaps, uint64_t *count, hdx_error *err);

#endif
