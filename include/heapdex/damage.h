/*
 * damage.h - what was wrong in a dump that could be indexed all the same (doc/hprof.md, R1 to R20; README "Damaged
 * dumps").
 */
#ifndef HEAPDEX_DAMAGE_H
#define HEAPDEX_DAMAGE_H

#include <heapdex/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hdx_damage_kind {
    HDX_DAMAGE_TRUNCATED,   /* the file ends inside a record */
    HDX_DAMAGE_LENGTH,      /* a length that cannot be right */
    HDX_DAMAGE_UNKNOWN_TAG, /* a record or sub-record of no known kind */
    HDX_DAMAGE_LAYOUT,      /* instance bytes and class layout differ, impossible types, id 0 */
    HDX_DAMAGE_DUPLICATE,   /* two records for one id; the first stands */
    HDX_DAMAGE_MISSING,     /* a class, super class or name that is nowhere */
    HDX_DAMAGE_CYCLE,       /* a class that is its own ancestor */
    HDX_DAMAGE_COUNT,       /* a count that no file could hold */
    HDX_DAMAGE_GARBAGE,     /* bytes that are no records */
    HDX_DAMAGE_GZIP,        /* deflate or gzip framing broken */
    HDX_DAMAGE_CRC,         /* data readable, checksum of the container wrong */
    HDX_DAMAGE_KINDS
} hdx_damage_kind;

typedef struct hdx_damage {
    hdx_damage_kind kind;
    uint64_t        offset;        /* in the uncompressed dump; for gzip and crc in the file as it is */
    uint64_t        kept_objects;  /* objects read whole before this place */
    uint64_t        lost_bytes;    /* bytes that could not be used because of it */
    char            record[32];    /* "INSTANCE_DUMP", "HEAP_DUMP_SEGMENT", "gzip member" ... */
    char            expected[128]; /* what was expected and what was found, one line */
} hdx_damage;

/* The kind's name in JSON: "truncated", "unknown_tag" ... */
HDX_API const char *hdx_damage_name(hdx_damage_kind kind);

#ifdef __cplusplus
}
#endif

#endif
