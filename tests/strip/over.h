/* over.h - bytes as a file, and a reader over it, to try one part of stripping alone. */
#ifndef HDX_TESTS_STRIP_OVER_H
#define HDX_TESTS_STRIP_OVER_H

#include "android_dump.h"
#include "strip/inside.h"

typedef struct over {
    char        folder[TEST_FOLDER], path[64];
    hdx_source *source;
    reader      r;
} over;

static inline void over_open(over *o, const void *bytes, size_t len, size_t chunk)
{
    hdx_error err = { 0 };
    test_folder_make_fast(o->folder, "over");
    (void)snprintf(o->path, sizeof o->path, "%.*s/a.hprof", TEST_FOLDER, o->folder);
    dump_maker_save_bytes(o->path, bytes, len);
    cr_assert(hdx_source_open(o->path, NULL, &o->source, &err) == HDX_OK, "%s", err.message);
    o->r = hdx_strip_reader_of(o->source, true, chunk, NULL, NULL);
}
static inline void over_dump(over *o, dump_maker *m, size_t chunk) /* takes the maker */
{
    size_t         len;
    const uint8_t *bytes = dump_maker_bytes(m, &len);
    over_open(o, bytes, len, chunk);
    dump_maker_free(m);
}
static inline void over_close(over *o)
{
    hdx_strip_reader_free(&o->r);
    hdx_source_close(o->source);
    test_folder_remove(o->folder);
}

#endif
