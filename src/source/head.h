/*
 * head.h - parses the header of a gzip member (RFC 1952 2.3), in pieces of any size, because fields may be longer than
 * any buffer.
 *
 *     10 bytes: 1f 8b 08 FLG MTIME(4) XFL OS | FEXTRA: length(2), bytes | FNAME: text, 0 | FCOMMENT: text, 0 | FHCRC:
 *     crc(2)
 *
 * zlib's own parser is unsuitable: it stops at a wrong FHCRC, although the data may be intact, and it cannot report
 * where a member begins. Only the flags of a header are used: the comment is untrusted input (GZIP 1.4, 3.8), for
 * example "HPROF BLOCKSIZE=".
 */
#ifndef HDX_SOURCE_HEAD_H
#define HDX_SOURCE_HEAD_H

#include <heapdex/types.h>

typedef enum hdx_head_state { HDX_HEAD_MORE, HDX_HEAD_DONE, HDX_HEAD_OTHER } hdx_head_state;

typedef struct hdx_head {
    uint32_t crc;    /* of the header so far */
    uint32_t left;   /* remaining bytes of the extra field */
    uint16_t stored; /* FHCRC as stored */
    uint8_t  step, have;
    uint8_t  flags;
    bool     bad_sum; /* for DONE: there is a wrong FHCRC; the member may be intact nevertheless */
} hdx_head;

void hdx_head_begin(hdx_head *head);
/*
 * Parses bytes; *used is their number. MORE: all were used. OTHER: this is not a member (magic, method or reserved
 * flags).
 */
hdx_head_state hdx_head_feed(hdx_head *head, const uint8_t *bytes, size_t len, size_t *used);

#endif
