/*
 * gzip_maker.h - makes gzip files and zlib containers for tests, right ones and wrong ones, and a file door over bytes
 * in memory.
 *
 *     gm_bytes plain = { 0 }, file = { 0 };
 *     gm_data(&plain, 3 << 20, 7);
 *     gm_member_put(&file, plain.at, plain.len, &(gm_member){ .comment = "HPROF BLOCKSIZE=1", .hcrc = true });
 *     gm_file door = gm_file_of(&file);                    door.io goes to hdx_source_open_io
 *
 * Out of memory is abort(): these are tests.
 */
#ifndef HDX_TESTS_GZIP_MAKER_H
#define HDX_TESTS_GZIP_MAKER_H

#include "base/io.h"

typedef struct gm_bytes {
    uint8_t *at;
    size_t   len, room;
} gm_bytes;

void gm_put(gm_bytes *b, const void *bytes, size_t len);
void gm_byte(gm_bytes *b, unsigned byte);
void gm_free(gm_bytes *b);

/* Numbers that look random and are the same for the same seed. */
uint64_t gm_random(uint64_t *state);

/* Bytes as a heap dump has them: headers that repeat, small numbers, text, runs of zeros, some noise. */
void gm_data(gm_bytes *b, size_t len, uint64_t seed);

/* One member; all zero: level 6, no optional fields, everything right. */
typedef struct gm_member {
    int             level;       /* 0: 6 */
    int             strategy;    /* of deflateInit2 */
    int             window_bits; /* 0: 15 */
    int             mem_level;   /* 0: 8 */
    bool            stored;      /* stored blocks only */
    size_t          flush_every; /* bytes between sync flushes; 0: none */
    const char     *name, *comment;
    const gm_bytes *extra;
    bool            hcrc, bad_hcrc, bad_crc, bad_size;
    unsigned        flags;  /* more header flags */
    unsigned        method; /* 0: 8 */
    const gm_bytes *body;   /* this instead of deflated data */
} gm_member;

void gm_member_put(gm_bytes *out, const void *data, size_t len, const gm_member *how);
void gm_deflate(gm_bytes *out, const void *data, size_t len, const gm_member *how); /* raw */
void gm_zlib_put(gm_bytes *out, const void *data, size_t len, int level);
/* Members of `block` bytes, the first with a comment, as JDK 17 and later write them. */
void gm_jdk_put(gm_bytes *out, const gm_bytes *plain, size_t block);
/* Members of at most 64 KiB with the extra field BC, and the end marker. */
void gm_bgzf_put(gm_bytes *out, const gm_bytes *plain);

/* A deflate block by hand, with the fixed codes. */
typedef struct gm_bits {
    gm_bytes *to;
    uint32_t  hold;
    unsigned  have;
} gm_bits;

void gm_bits_put(gm_bits *b, uint32_t value, unsigned width);
void gm_bits_end(gm_bits *b); /* fills the last byte */
void gm_fixed_begin(gm_bits *b, bool last);
void gm_literal(gm_bits *b, uint8_t byte);
void gm_match(gm_bits *b, unsigned length, unsigned distance);
void gm_fixed_end(gm_bits *b);
/* A final fixed block of literals and matches, and what it says, about `len` bytes. */
void gm_giant(gm_bytes *body, gm_bytes *plain, size_t len, uint64_t seed);

/* A file in memory; any path opens it. */
typedef struct gm_file {
    hdx_io         io;
    const uint8_t *bytes;
    uint64_t       len;
    uint64_t       stat_len;   /* what stat says */
    uint64_t       fail_from;  /* reads that touch bytes from here on fail with EIO */
    int            open_fails; /* errno */
    unsigned       open_now;
} gm_file;

gm_file gm_file_of(const gm_bytes *b);

#endif
