/* flat.h - objects of JSON one level deep: manifests, status and plan of a batch are made of them. */
#ifndef HDX_BASE_FLAT_H
#define HDX_BASE_FLAT_H

#include "base/base.h"

typedef struct hdx_flat_pair {
    const char *key;
    const char *value; /* decoded text, or a number, true, false, a list or an object as it stands; NULL: null */
    bool        text;  /* it was in quotes */
} hdx_flat_pair;
typedef struct hdx_flat {
    hdx_flat_pair *at;
    size_t         count;
} hdx_flat;
/* One object; false: it is none, or holds a NUL. What it points to comes from the arena. */
bool        hdx_flat_read(hdx_arena *arena, const char *text, size_t len, hdx_flat *out);
const char *hdx_flat_text(const hdx_flat *f, const char *key); /* NULL: not there; the last one of that key */
uint64_t    hdx_flat_number(const hdx_flat *f, const char *key);
double      hdx_flat_real(const hdx_flat *f, const char *key);

#endif
