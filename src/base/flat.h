/* flat.h - reads JSON objects one level deep, such as manifests, status files and plans of a batch. */
#ifndef HDX_BASE_FLAT_H
#define HDX_BASE_FLAT_H

#include "base/base.h"

typedef struct hdx_flat_pair {
    const char *key;
    const char *value; /* decoded text; a number, true, false, a list or an object as written; NULL: null */
    bool        text;  /* the value was in quotes */
} hdx_flat_pair;
typedef struct hdx_flat {
    hdx_flat_pair *at;
    size_t         count;
} hdx_flat;
/* Reads one object. False: the text is not an object, or contains a NUL. *out and its texts are in the arena. */
bool hdx_flat_read(hdx_arena *arena, const char *text, size_t len, hdx_flat *out);
/* Returns the value of a key, the last one if it is repeated; NULL: missing. */
const char *hdx_flat_text(const hdx_flat *f, const char *key);
uint64_t    hdx_flat_number(const hdx_flat *f, const char *key);
double      hdx_flat_real(const hdx_flat *f, const char *key);

#endif
