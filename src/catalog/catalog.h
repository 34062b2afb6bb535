/*
 * catalog.h - the small, keyed things of an index, in LMDB: manifest, classes, roots, threads, Android heaps. Alone in
 * seeing lmdb.h; knows no pages and no dump. Keys and values are documented byte for byte in src/catalog/README.md.
 *
 * Files in the index folder: catalog.mdb (LMDB, one file, no lock file for readers) and catalog.sum (magic, format
 * version, identity, size and CRC32C of catalog.mdb and of itself). A reader checks catalog.sum against catalog.mdb
 * before LMDB sees a byte of it, because LMDB trusts its file, and walks the pages of its tree once; whatever LMDB
 * hands out is decoded with every length, id and number checked: damage is HDX_DAMAGED naming "catalog". What comes out
 * can be relied on: ids are below manifest.objects, class numbers below the count of classes, and chains of super
 * classes end.
 *
 * Writing is done by one thread at a time: create, put ..., commit. Texts and frames handed in stay where they are
 * until then. The same content gives the same sorted keys and values.
 * Reading is thread-safe; texts and arrays handed out live as long as the catalog.
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

typedef struct hdx_manifest_file { /* one index file; name "" : not written */
    char     name[16];
    uint64_t bytes;
    uint32_t sum;
} hdx_manifest_file;

typedef struct hdx_manifest_step {
    char     name[24];
    uint64_t wall_ns, cpu_ns, peak_bytes, written_bytes;
} hdx_manifest_step;

/*
 * Everything said once about an index. Fields of the two groups at the end (source, build) are no part of "same bytes".
 */
typedef struct hdx_manifest {
    uint32_t format;       /* HDX_CATALOG_FORMAT */
    char     heapdex[24];  /* version that built it */
    uint8_t  identity[16]; /* as in the heads of the index files */
    /* dump */
    char     version[8]; /* "1.0.2" */
    uint32_t id_size;
    uint64_t created_ms; /* time of the chosen dump (header + first heap record) */
    uint64_t dump_size;  /* uncompressed bytes */
    uint32_t dump_number, dumps_in_file;
    char     jvm[128]; /* "" where not found */
    /* layout */
    uint32_t reference_size, alignment;
    bool     compressed_oops, stated_sizes;
    /* counts */
    uint64_t          objects; /* ids, object 0 included */
    uint64_t          records; /* objects in the dump */
    uint64_t          live_objects, live_bytes, unreachable_objects, unreachable_bytes;
    uint64_t          references;      /* distinct pairs between live objects, class references included */
    uint64_t          all_references;  /* the same of all objects */
    uint64_t          outbound_values; /* entries of the index outbound (class references left out) */
    uint64_t          classes, live_classes, live_loaders;
    uint64_t          gc_roots; /* distinct root objects, locals of known threads not counted */
    uint64_t          roots;    /* entries in the table of roots, locals included */
    uint64_t          threads;
    uint64_t          dangling_references, dangling_roots;
    uint64_t          specials, dominators;  /* sizes of the ranks files */
    uint64_t          record_counts[2][256]; /* [0] top-level, [1] sub-records, by tag */
    uint32_t          step; /* last step held: 1 objects, 2 outbound, 3 inbound, 4 dominators (everything) */
    uint32_t          file_count;
    hdx_manifest_file files[HDX_KINDS_MAX]; /* by hdx_kind */
    /* damage and warnings */
    uint64_t      damage_count, damage_more;
    hdx_damage   *damage; /* reading: owned by the catalog */
    uint32_t      warning_count;
    char          warnings[HDX_WARNINGS_MAX][192];
    hdx_stripping stripping; /* what tool the dump went through; bytes_read is not kept */
    /* source */
    char     dump_name[256];            /* file name without folder */
    char     dump_path[4096];           /* absolute, links resolved; "": not known, and in views */
    uint32_t compression;               /* hdx_compression */
    uint64_t file_size;                 /* as it lies on disk */
    uint64_t file_mtime_ns, file_inode; /* a shortcut only */
    uint8_t  file_sample[16];           /* hash of sampled content: what really identifies the dump */
    /* build */
    uint64_t          built_at_ms, wall_ns, cpu_ns, peak_rss;
    uint32_t          step_count;
    hdx_manifest_step steps[HDX_STEPS_MAX];
    /* of a view of an index; view "": it is none, and the rest is nothing */
    char     view[HDX_VIEW_NAME_SIZE];
    char     view_spec[HDX_VIEW_SPEC_SIZE]; /* what it leaves out, in words that say the same the same way */
    uint64_t cut_references;                /* references between objects that it leaves out */
    uint64_t cut_from, cut_to;              /* objects that have one, that one leads to: sizes of ranks files */
    uint32_t view_layout;                   /* hdx_jvm_layout: the rules that sizes follow */
} hdx_manifest;

/* 1 to 63 letters, digits, _ and -, no - at first: it is the name of a folder. */
bool hdx_view_name_is_one(const char *name);
/* Identity of the files of a view: of the index, and of what the view is. */
void hdx_view_identity(const uint8_t index[16], const char *name, const char *spec, uint8_t out[16]);

/*
 * The format of the whole folder, which is what tells an older index from a damaged one: it rises with that of the
 * other files (HDX_INDEX_FORMAT) too.
 */
#define HDX_CATALOG_FORMAT 3u

typedef struct hdx_catalog hdx_catalog;

/* ---- writing ---- */
typedef struct hdx_catalog_writer hdx_catalog_writer;
/* io: the files made and removed, and the .sum file, go through it; LMDB does its own writing. */
hdx_code hdx_catalog_create(hdx_io *io, const char *folder, hdx_mem *mem, hdx_catalog_writer **out, hdx_error *err);
/* Classes by number 0 .. count - 1 in order. `bytes`, counts and names included. */
hdx_code hdx_catalog_put_class(hdx_catalog_writer *w, const hdx_class *c, hdx_error *err);
/*
 * Asks for what putting some of the next `left` - 1 classes after c in its array will read: each is waited for
 * otherwise, and no wait depends on another.
 */
void hdx_catalog_ahead(const hdx_catalog_writer *w, const hdx_class *c, uint32_t left);
/* All roots, sorted by (object, type, thread, frame); stored in chunks that can be searched by object. */
hdx_code hdx_catalog_put_roots(hdx_catalog_writer *w, const hdx_root *roots, uint64_t count, hdx_error *err);
hdx_code hdx_catalog_put_threads(hdx_catalog_writer *w, const hdx_thread *threads, uint64_t count, hdx_error *err);
hdx_code hdx_catalog_put_heaps(hdx_catalog_writer *w, const hdx_heap_space *heaps, uint64_t count, hdx_error *err);
hdx_code hdx_catalog_put_manifest(hdx_catalog_writer *w, const hdx_manifest *m, hdx_error *err);
/*
 * Commits and writes catalog.sum. Whoever puts the folder in place syncs it (hdx_io_sync_files); until then the sum
 * tells a file that lost its end. The writer is gone afterwards, and so are its files where it failed.
 */
hdx_code hdx_catalog_commit(hdx_catalog_writer *w, hdx_error *err);
void     hdx_catalog_abandon(hdx_catalog_writer *w); /* instead of commit; NULL: nothing */

/* ---- reading ---- */
/* HDX_NOT_FOUND: no catalog there, or one of another format version ("format n" in the message): to be rebuilt. */
hdx_code            hdx_catalog_open(hdx_io *io, const char *folder, hdx_catalog **out, hdx_error *err);
void                hdx_catalog_close(hdx_catalog *c);
const hdx_manifest *hdx_catalog_manifest(const hdx_catalog *c); /* read at opening */

/* All classes by number; decoded on the first call (thread-safe), kept. */
hdx_code hdx_catalog_classes(hdx_catalog *c, const hdx_class **classes, uint32_t *count, hdx_error *err);
/* All roots, sorted by object; decoded on the first call, kept. */
hdx_code hdx_catalog_roots(hdx_catalog *c, const hdx_root **roots, uint64_t *count, hdx_error *err);
/* Roots of one object without decoding all: fills at most max, *count is how many there are. */
hdx_code hdx_catalog_roots_of(hdx_catalog *c, hdx_id object, hdx_root *out, uint64_t max, uint64_t *count,
                              hdx_error *err);
hdx_code hdx_catalog_threads(hdx_catalog *c, const hdx_thread **threads, uint64_t *count, hdx_error *err);
hdx_code hdx_catalog_heaps(hdx_catalog *c, const hdx_heap_space **heaps, uint64_t *count, hdx_error *err);

#endif
