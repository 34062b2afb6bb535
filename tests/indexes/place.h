/*
 * place.h - a folder of its own for each test, numbers at random from a printed seed, and files to look at and to harm.
 */
#ifndef HDX_TESTS_INDEXES_PLACE_H
#define HDX_TESTS_INDEXES_PLACE_H

#include "indexes/indexes.h"
#include "support/folder.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct test_place {
    hdx_index_place place;
    hdx_mem         mem;
    hdx_damage_note note;
    char            folder[TEST_FOLDER];
} test_place;

static inline void place_open(test_place *t, unsigned threads)
{
    memset(t, 0, sizeof *t);
    test_folder_make(t->folder, "indexes");
    t->place = (hdx_index_place){ .io = hdx_io_system(), .folder = t->folder, .mem = &t->mem, .threads = threads };
    for (unsigned i = 0; i < 16; i++)
        t->place.identity[i] = (uint8_t)(i + 1);
}
/* Removes the folder; every byte of memory must have come back. */
static inline void place_close(test_place *t)
{
    test_folder_remove(t->folder);
    cr_expect(eq(u64, atomic_load(&t->mem.used), 0));
}
static inline void place_clear(test_place *t) { memset(&t->note, 0, sizeof t->note); }
static inline void place_path(const test_place *t, hdx_kind kind, char path[128])
{
    (void)snprintf(path, 128, "%s/%s.hdx", t->folder, hdx_kind_name(kind));
}
static inline bool     there(const char *path) { return access(path, F_OK) == 0; }
static inline uint8_t *place_bytes(const test_place *t, hdx_kind kind, size_t *len)
{
    char path[128];
    place_path(t, kind, path);
    FILE *f = fopen(path, "rb");
    cr_assert(f != NULL);
    (void)fseek(f, 0, SEEK_END);
    *len = (size_t)ftell(f);
    rewind(f);
    uint8_t *bytes = malloc(*len + 1);
    cr_assert(fread(bytes, 1, *len, f) == *len);
    (void)fclose(f);
    return bytes;
}
static inline void place_replace(const test_place *t, hdx_kind kind, const uint8_t *bytes, size_t len)
{
    char path[128];
    place_path(t, kind, path);
    FILE *f = fopen(path, "wb");
    cr_assert(f != NULL && fwrite(bytes, 1, len, f) == len);
    (void)fclose(f);
}

typedef struct random_state {
    uint64_t state;
} random_state;
static inline uint64_t roll(random_state *d) /* splitmix64 */
{
    uint64_t z = d->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}
static inline uint64_t below(random_state *d, uint64_t n) { return n == 0 ? 0 : roll(d) % n; }
/* HDX_SEED, or another one every time; printed so that a failure can be had again. */
static inline random_state random_state_new(const char *test)
{
    const char *given = getenv("HDX_SEED");
    uint64_t    seed = given != NULL ? strtoull(given, NULL, 0) : hdx_now_ns();
    fprintf(stderr, "%s: HDX_SEED=%llu\n", test, (unsigned long long)seed);
    return (random_state){ seed };
}

static inline hdx_code fill_from(void *context, uint64_t first, uint32_t n, uint64_t *values, hdx_error *err)
{
    const uint64_t *all = context;
    (void)err;
    memcpy(values, all + first, n * sizeof *values);
    return HDX_OK;
}

#endif
