/* types.h - the few words everything is said in. */
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

typedef uint64_t hdx_id;   /* dense object id: rank of the address among all objects of the dump, 0 .. objects - 1 */
typedef uint64_t hdx_addr; /* address as the dump writes it, 4- or 8-byte ids alike; compared unsigned */
typedef uint64_t hdx_pos;  /* byte position in the uncompressed dump */

#define HDX_NO_ID    UINT64_MAX /* "none": never a valid id */
#define HDX_NO_CLASS UINT32_MAX /* "none": never a valid class number */

/* Borrowed bytes, read-only; they live as long as the object they came from. */
typedef struct hdx_view {
    const uint8_t *at;
    size_t         len;
} hdx_view;

/* Borrowed UTF-8 text; not NUL-terminated, may hold any byte (names in dumps do). */
typedef struct hdx_text {
    const char *at;
    uint32_t    len;
} hdx_text;

#endif
