/* damage.h - damage in a dump that could be indexed all the same (doc/hprof.md, R1 to R20; README "Damaged dumps"). */
#ifndef HEAPDEX_DAMAGE_H
#define HEAPDEX_DAMAGE_H

#include <heapdex/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hdx_damage_kind {
    HDX_DAMAGE_TRUNCATED,   /* the file ends inside a record */
    HDX_DAMAGE_LENGTH,      /* an impossible length */
    HDX_DAMAGE_UNKNOWN_TAG, /* a record or sub-record of an unknown kind */
    HDX_DAMAGE_LAYOUT,      /* instance bytes differ from the class layout, an impossible type, or id 0 */
    HDX_DAMAGE_DUPLICATE,   /* two records with one id; the first is used */
    HDX_DAMAGE_MISSING,     /* a class, super class or name that is missing in the dump */
    HDX_DAMAGE_CYCLE,       /* a class that is its own ancestor */
    HDX_DAMAGE_COUNT,       /* a count that exceeds what the file can contain */
    HDX_DAMAGE_GARBAGE,     /* bytes that are not records */
    HDX_DAMAGE_GZIP,        /* broken deflate or gzip framing */
    HDX_DAMAGE_CRC,         /* data are readable, but the checksum of the container is wrong */
    HDX_DAMAGE_KINDS
} hdx_damage_kind;

typedef struct hdx_damage {
    hdx_damage_kind kind;
    uint64_t        offset;        /* position in the uncompressed dump; for gzip and crc in the compressed file */
    uint64_t        kept_objects;  /* number of objects that were read completely before this position */
    uint64_t        lost_bytes;    /* bytes that could not be used because of the damage */
    char            record[32];    /* "INSTANCE_DUMP", "HEAP_DUMP_SEGMENT", "gzip member" ... */
    char            expected[128]; /* what was expected and what was found, in one line */
} hdx_damage;

/* Returns the name of a kind as in JSON: "truncated", "unknown_tag" ... A constant string. */
HDX_API const char *hdx_damage_name(hdx_damage_kind kind);

#ifdef __cplusplus
}
#endif

#endif
