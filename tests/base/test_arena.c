/* test_arena.c - what an arena says of itself: refusals, sizes, blocks; joined, emptied and freed. */
#include "base/arena.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

enum { BLOCK = 64 << 10, HEAD = 32 };

static bool refuse_when(void *context, uint64_t bytes)
{
    (void)bytes;
    return *(const bool *)context;
}

Test(arena, that_joined_another_was_refused_where_either_was)
{
    for (unsigned i = 0; i < 4; i++) {
        bool      refuse = false;
        hdx_mem   mem = { .refuse = refuse_when, .context = &refuse };
        hdx_arena to = hdx_arena_of(&mem), from = hdx_arena_of(&mem);
        refuse = i % 2 == 1;
        cr_expect((hdx_arena_get(&to, 10) == NULL) == refuse && to.refused == refuse);
        refuse = i / 2 == 1;
        cr_expect((hdx_arena_get(&from, 10) == NULL) == refuse && from.refused == refuse);
        hdx_arena_join(&to, &from);
        cr_expect(to.refused == (i != 0), "%u", i);
        cr_expect(!from.refused && from.last == NULL && from.size == 0);
        cr_expect(to.size == (uint64_t)BLOCK * (i == 0 ? 2 : i == 3 ? 0 : 1));
        hdx_arena_free(&to);
        cr_expect(!to.refused && to.last == NULL && to.size == 0 && mem.used == 0);
        hdx_arena_free(&from);
    }
}

/* A block holds 64 KiB with its head of 32 bytes; a larger thing has one of its own and leaves the open one open. */
Test(arena, takes_blocks_by_what_fits)
{
    static const struct {
        uint64_t first, second, size; /* bytes of both things; of the arena then */
    } cases[] = {
        { 1, 0, BLOCK },
        { BLOCK - HEAD, 0, BLOCK },
        { BLOCK - HEAD + 1, 0, BLOCK + 16 },
        { BLOCK - HEAD - 16, 16, BLOCK },
        { BLOCK - HEAD - 16, 17, 2 * BLOCK },
        { 16, BLOCK - HEAD - 16, BLOCK },
        { 16, BLOCK - HEAD - 15, 2 * BLOCK },
        { 16, BLOCK - HEAD, 2 * BLOCK },
        { 16, BLOCK - HEAD + 1, 2 * BLOCK + 16 },
        { 0, 0, BLOCK },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hdx_mem        mem = { 0 };
        hdx_arena      a = hdx_arena_of(&mem);
        const uint8_t *one = hdx_arena_get(&a, cases[i].first);
        cr_assert(one != NULL && (uintptr_t)one % 16 == 0);
        const uint8_t *two = hdx_arena_get(&a, cases[i].second);
        cr_assert(two != NULL && two != one && (uintptr_t)two % 16 == 0);
        if (cases[i].second > 0)
            cr_expect(a.size == cases[i].size, "case %zu: %llu", i, (unsigned long long)a.size);
        cr_expect(mem.used == a.size);
        uint8_t *three = hdx_arena_get(&a, 1);
        cr_assert(three != NULL && *three == 0);
        *three = 7;
        const uint64_t before = a.size;
        hdx_arena_empty(&a);
        cr_expect((a.size == BLOCK || a.size == 0) && a.size <= before && mem.used == a.size, "case %zu", i);
        three = hdx_arena_get(&a, 64);
        cr_assert(three != NULL);
        for (unsigned k = 0; k < 64; k++)
            cr_assert(three[k] == 0);
        hdx_arena_free(&a);
        hdx_arena_empty(&a);
        cr_expect(mem.used == 0 && a.last == NULL);
    }
}

Test(arena, refuses_what_no_memory_holds)
{
    static const uint64_t sizes[] = { UINT64_MAX, UINT64_MAX - 1, UINT64_MAX / 4 + 1, UINT64_MAX / 4 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        hdx_mem   mem = { 0 };
        hdx_arena a = hdx_arena_of(&mem);
        cr_expect(hdx_arena_get(&a, sizes[i]) == NULL && a.refused && a.last == NULL);
        cr_expect(hdx_arena_copy(&a, "x", sizes[i]) == NULL);
        char *copy = hdx_arena_copy(&a, "text", 4);
        cr_assert(copy != NULL);
        cr_expect_str_eq(copy, "text");
        copy = hdx_arena_copy(&a, NULL, 0);
        cr_assert(copy != NULL && copy[0] == '\0');
        cr_expect(a.refused); /* once and for all, until it is freed */
        hdx_arena_free(&a);
        cr_expect(!a.refused && mem.used == 0);
    }
}

/* A copy has its end, at every length, whatever is got next. */
Test(arena, copies_texts_with_their_end)
{
    hdx_mem   mem = { 0 };
    hdx_arena a = hdx_arena_of(&mem);
    char     *copies[64], text[64];
    memset(text, 'x', sizeof text);
    for (size_t len = 0; len < 64; len++) {
        copies[len] = hdx_arena_copy(&a, text, len);
        uint8_t *next = hdx_arena_get(&a, 1);
        cr_assert(copies[len] != NULL && next != NULL);
        *next = 'y';
    }
    for (size_t len = 0; len < 64; len++)
        cr_expect(strlen(copies[len]) == len, "%zu: %zu", len, strlen(copies[len]));
    hdx_arena_free(&a);
}

/* A block that was made for one large thing is no block to begin again with. */
Test(arena, emptied_of_one_large_thing_holds_nothing)
{
    for (uint64_t bytes = BLOCK - HEAD; bytes <= BLOCK - HEAD + 1; bytes++) {
        hdx_mem        mem = { 0 };
        hdx_arena      a = hdx_arena_of(&mem);
        const uint64_t kept = bytes > BLOCK - HEAD ? 0 : BLOCK;
        cr_assert(hdx_arena_get(&a, bytes) != NULL);
        hdx_arena_empty(&a);
        cr_expect(mem.used == kept && a.size == kept && (a.last == NULL) == (kept == 0));
        hdx_arena_free(&a);
        cr_expect(mem.used == 0);
    }
}
