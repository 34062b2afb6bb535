/*
 * index_file.h - turns fuzz input into an index file in memory: sections of the sizes that open asks for, filled from
 * the input (and with zeros where it ends), with the right sums. So the fuzzer gets past the sums and at the pages.
 */
#ifndef HDX_TESTS_FUZZ_INDEX_FILE_H
#define HDX_TESTS_FUZZ_INDEX_FILE_H

#include "indexes/container/slices.h"
#include "tests/indexes/hostile.h"

typedef struct index_file {
    memory_io       m;
    hdx_index_place place;
    hdx_index_file  file;
} index_file;

/* Two bytes of the input, modulo `below`. */
static inline uint64_t index_file_number(const uint8_t **data, size_t *size, uint64_t below)
{
    uint64_t n = *size < 2 ? 0 : hdx_le16(*data) % below;
    *data += *size < 2 ? *size : 2;
    *size -= *size < 2 ? *size : 2;
    return n;
}

/* A size of HDX_SECTION_OPEN takes all that is left. */
static inline bool index_file_make(index_file *f, hdx_kind kind, const uint64_t counts[3], const uint64_t *sizes,
                                   unsigned n, const uint8_t *data, size_t size)
{
    hdx_view sections[HDX_SECTIONS] = { { 0 } };
    uint8_t *room[HDX_SECTIONS] = { 0 };
    memset(f, 0, sizeof *f);
    f->m = memory_io_new();
    f->place = (hdx_index_place){ .io = &f->m.io, .folder = "memory", .threads = 1 };
    for (unsigned i = 0; i < n; i++) {
        size_t len = sizes[i] == HDX_SECTION_OPEN ? size : (size_t)sizes[i], have = len < size ? len : size;
        room[i] = calloc(1, len + 1);
        if (have > 0)
            memcpy(room[i], data, have);
        data += have;
        size -= have;
        sections[i] = (hdx_view){ room[i], len };
    }
    bool made = hostile_write(&f->place, kind, counts, sections, n, &f->file) == HDX_OK;
    for (unsigned i = 0; i < n; i++)
        free(room[i]);
    return made;
}
static inline void index_file_free(index_file *f) { memory_io_free(&f->m); }

#endif
