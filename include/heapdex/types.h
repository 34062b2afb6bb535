/* types.h - basic types that every header uses. */
#ifndef HEAPDEX_TYPES_H
#define HEAPDEX_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define HDX_API __attribute__((visibility("default")))
#else
#define HDX_API
#endif

/* dense object id, 0 .. objects - 1: the rank of its address among all objects of the dump */
typedef uint64_t hdx_id;
typedef uint64_t hdx_addr; /* address as the dump writes it, 4 or 8 bytes wide there; compared as unsigned */
typedef uint64_t hdx_pos;  /* byte position in the uncompressed dump */

#define HDX_NO_ID    UINT64_MAX /* "none": never a valid id */
#define HDX_NO_CLASS UINT32_MAX /* "none": never a valid class number */

/* Read-only bytes, borrowed: valid as long as the object that they were obtained from. */
typedef struct hdx_view {
    const uint8_t *at;
    size_t         len;
} hdx_view;

/* Borrowed UTF-8 text. It has no final NUL and may contain any byte, because names in dumps do. */
typedef struct hdx_text {
    const char *at;
    uint32_t    len;
} hdx_text;

#endif
