/* text.h - a growing text. One flag records whether memory sufficed, so that single calls need no checks. */
#ifndef HDX_BASE_TEXT_H
#define HDX_BASE_TEXT_H

#include "base/mem.h"

typedef struct hdx_buffer {
    char    *at; /* has a final NUL after the first call that adds text; NULL before */
    uint64_t len;
    uint64_t capacity;
    bool     failed; /* memory was refused: the content is incomplete */
    hdx_mem *mem;    /* may be NULL */
} hdx_buffer;

static inline hdx_buffer hdx_buffer_of(hdx_mem *mem) { return (hdx_buffer){ NULL, 0, 0, false, mem }; }
void                     hdx_buffer_put(hdx_buffer *b, const void *bytes, uint64_t len);
bool                     hdx_buffer_grow(hdx_buffer *b, uint64_t more);
/*
 * Returns the end of the content, with room for `most` bytes and a NUL; NULL: no memory. A caller that writes there
 * increases len.
 */
static inline char *hdx_buffer_room(hdx_buffer *b, uint64_t most)
{
    return (!b->failed && b->capacity - b->len > most) || hdx_buffer_grow(b, most) ? b->at + b->len : NULL;
}
void hdx_buffer_text(hdx_buffer *b, const char *text);
void hdx_buffer_format(hdx_buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void hdx_buffer_clear(hdx_buffer *b); /* empties it without freeing its memory */
void hdx_buffer_free(hdx_buffer *b);
/* Parses "768M", "4G", "1048576"; suffixes are powers of 1024. False: not a size. */
bool hdx_size_of(const char *text, uint64_t *bytes);
/* Formats "1.5 MB", "312 bytes": powers of 1024, at most 4 digits. */
void hdx_human_size(uint64_t bytes, char out[16]);

#endif
