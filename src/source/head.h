/*
 * head.h - the header of a gzip member (RFC 1952 2.3), fed in pieces of any size: fields may be longer than any buffer.
 *
 *     10 bytes: 1f 8b 08 FLG MTIME(4) XFL OS | FEXTRA: length(2), bytes | FNAME: text, 0 | FCOMMENT: text, 0 | FHCRC:
 *     crc(2)
 *
 * Why not zlib's own: it stops at a wrong FHCRC, where the data may be whole, and it cannot say where a member begins.
 * Nothing in a header is believed but its flags: the comment "HPROF BLOCKSIZE=" lies as easily as it is true (GZIP 1.4,
 * 3.8).
 */
#ifndef HDX_SOURCE_HEAD_H
#define HDX_SOURCE_HEAD_H

#include <heapdex/types.h>

typedef enum hdx_head_state { HDX_HEAD_MORE, HDX_HEAD_DONE, HDX_HEAD_OTHER } hdx_head_state;

typedef struct hdx_head {
    uint32_t crc;    /* of the header so far */
    uint32_t left;   /* bytes of the extra field still to come */
    uint16_t stored; /* FHCRC as stored */
    uint8_t  step, have;
    uint8_t  flags;
    bool     bad_sum; /* DONE: FHCRC is there and wrong; the member may be good all the same */
} hdx_head;

void hdx_head_begin(hdx_head *head);
/* Takes bytes; *used says how many. MORE: all taken. OTHER: this is no member (magic, method or reserved flags). */
hdx_head_state hdx_head_feed(hdx_head *head, const uint8_t *bytes, size_t len, size_t *used);

#endif
