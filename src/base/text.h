/* text.h - text that grows; one flag says at the end whether memory sufficed, so calls need no checks in between. */
#ifndef HDX_BASE_TEXT_H
#define HDX_BASE_TEXT_H

#include "base/mem.h"

typedef struct hdx_buffer {
    char    *at; /* NUL-terminated once anything was put; NULL before */
    uint64_t len;
    uint64_t capacity;
    bool     failed; /* memory was refused: the content is incomplete */
    hdx_mem *mem;    /* may be NULL */
} hdx_buffer;

static inline hdx_buffer hdx_buffer_of(hdx_mem *mem) { return (hdx_buffer){ NULL, 0, 0, false, mem }; }
void                     hdx_buffer_put(hdx_buffer *b, const void *bytes, uint64_t len);
bool                     hdx_buffer_grow(hdx_buffer *b, uint64_t more);
/* The place after the content, with room for `most` bytes and a NUL; NULL: no memory. Who writes there raises len. */
static inline char *hdx_buffer_room(hdx_buffer *b, uint64_t most)
{
    return (!b->failed && b->capacity - b->len > most) || hdx_buffer_grow(b, most) ? b->at + b->len : NULL;
}
void hdx_buffer_text(hdx_buffer *b, const char *text);
void hdx_buffer_format(hdx_buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void hdx_buffer_clear(hdx_buffer *b); /* empties, keeps the memory */
void hdx_buffer_free(hdx_buffer *b);
/* "768M", "4G", "1048576"; suffixes are powers of 1024. */
bool hdx_size_of(const char *text, uint64_t *bytes);
/* "1.5 MB", "312 bytes": powers of 1024, at most 4 digits. */
void hdx_human_size(uint64_t bytes, char out[16]);

#endif
