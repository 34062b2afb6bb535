/* test_kinds.c - the table of kinds row by row, and files opened by it. */
#include "tests/indexes/hostile.h"
#include "tests/indexes/place.h"
#include "indexes/addresses/set.h"

#include <heapdex/index.h>

/* Every number of an index another one, so that none is taken for its neighbour. */
static const hdx_amounts amounts = { .of = { [HDX_OF_OBJECTS] = 1000,
                                             [HDX_OF_CLASSES] = 200,
                                             [HDX_OF_HEAPS] = 3,
                                             [HDX_OF_SPECIALS] = 400,
                                             [HDX_OF_DOMINATORS] = 500,
                                             [HDX_OF_DUMP_BYTES] = 60000,
                                             [HDX_OF_FILE_BYTES] = 7000,
                                             [HDX_OF_LIVE_BYTES] = 80000,
                                             [HDX_OF_CUT_FROM] = 90,
                                             [HDX_OF_CUT_TO] = 91 } };

/* there: of the steps 1 to 4, one bit each; without heaps, with one, with two; plain and compressed. */
static const struct {
    const char  *name;
    hdx_encoding encoding;
    uint64_t     keys, below;
    hdx_amount   members;
    unsigned     there[3][2];
} wanted[HDX_KINDS] = {
    { "address", HDX_ENCODING_ADDRESSES, 1000, 0, HDX_OF_OBJECTS, { { 15, 15 }, { 15, 15 }, { 15, 15 } } },
    { "position", HDX_ENCODING_INTS, 1000, 60001, HDX_OF_NOTHING, { { 15, 15 }, { 15, 15 }, { 15, 15 } } },
    { "class", HDX_ENCODING_INTS, 1000, 200, HDX_OF_NOTHING, { { 15, 15 }, { 15, 15 }, { 15, 15 } } },
    { "size", HDX_ENCODING_INTS, 1000, 1ull << 33, HDX_OF_NOTHING, { { 15, 15 }, { 15, 15 }, { 15, 15 } } },
    { "heap", HDX_ENCODING_INTS, 1000, 4, HDX_OF_NOTHING, { { 0, 0 }, { 15, 15 }, { 15, 15 } } },
    { "outbound", HDX_ENCODING_ONE_TO_N, 1000, 1000, HDX_OF_NOTHING, { { 14, 14 }, { 14, 14 }, { 14, 14 } } },
    { "inbound", HDX_ENCODING_ONE_TO_N, 1000, 1000, HDX_OF_NOTHING, { { 12, 12 }, { 12, 12 }, { 12, 12 } } },
    { "instances", HDX_ENCODING_ONE_TO_N, 200, 1000, HDX_OF_NOTHING, { { 15, 15 }, { 15, 15 }, { 15, 15 } } },
    { "special", HDX_ENCODING_RANKS, 1000, 0, HDX_OF_SPECIALS, { { 8, 8 }, { 8, 8 }, { 8, 8 } } },
    { "dominator", HDX_ENCODING_INTS, 400, 1002, HDX_OF_NOTHING, { { 8, 8 }, { 8, 8 }, { 8, 8 } } },
    { "nearest", HDX_ENCODING_INTS, 400, 1002, HDX_OF_NOTHING, { { 8, 8 }, { 8, 8 }, { 8, 8 } } },
    { "dominators", HDX_ENCODING_RANKS, 1000, 0, HDX_OF_DOMINATORS, { { 8, 8 }, { 8, 8 }, { 8, 8 } } },
    { "dominated", HDX_ENCODING_ONE_TO_N, 501, 1000, HDX_OF_NOTHING, { { 8, 8 }, { 8, 8 }, { 8, 8 } } },
    { "retained", HDX_ENCODING_INTS, 1000, 80001, HDX_OF_NOTHING, { { 8, 8 }, { 8, 8 }, { 8, 8 } } },
    { "seek", HDX_ENCODING_SEEK, 0, 60000, HDX_OF_NOTHING, { { 0, 15 }, { 0, 15 }, { 0, 15 } } },
    { "cut_from", HDX_ENCODING_RANKS, 1000, 0, HDX_OF_CUT_FROM, { { 8, 8 }, { 8, 8 }, { 8, 8 } } },
    { "cut", HDX_ENCODING_ONE_TO_N, 90, 1000, HDX_OF_NOTHING, { { 8, 8 }, { 8, 8 }, { 8, 8 } } },
    { "cut_to", HDX_ENCODING_RANKS, 1000, 0, HDX_OF_CUT_TO, { { 8, 8 }, { 8, 8 }, { 8, 8 } } },
    { "cut_by", HDX_ENCODING_ONE_TO_N, 91, 1000, HDX_OF_NOTHING, { { 8, 8 }, { 8, 8 }, { 8, 8 } } },
};

Test(kinds, have_the_rows_of_the_readme)
{
    for (unsigned k = 0; k < HDX_KINDS; k++) {
        const hdx_kind      kind = (hdx_kind)k;
        const hdx_kind_row *row = hdx_kind_of(kind);
        cr_expect(eq(str, (char *)(uintptr_t)hdx_kind_name(kind), (char *)(uintptr_t)wanted[k].name));
        cr_expect(row->encoding == wanted[k].encoding && row->members == wanted[k].members, "%s", wanted[k].name);
        cr_expect(eq(u64, hdx_kind_keys(kind, &amounts), wanted[k].keys), "%s", wanted[k].name);
        cr_expect(eq(u64, hdx_measured(&amounts, row->below), wanted[k].below), "%s", wanted[k].name);
        for (unsigned heaps = 0; heaps < 3; heaps++)
            for (unsigned compressed = 0; compressed < 2; compressed++) {
                hdx_amounts some = amounts;
                unsigned    there_at = 0;
                some.of[HDX_OF_HEAPS] = heaps;
                for (unsigned step = HDX_STEP_OBJECTS; step <= HDX_STEP_DOMINATORS; step++)
                    there_at |= (unsigned)hdx_kind_there(kind, step, &some, compressed == 1) << (step - 1);
                cr_expect(eq(u32, there_at, wanted[k].there[heaps][compressed]), "%s, %u heaps, compressed %u",
                          wanted[k].name, heaps, compressed);
            }
    }
    cr_expect(eq(str, (char *)(uintptr_t)hdx_kind_name(HDX_KINDS), "unknown"));
    cr_expect(eq(str, (char *)(uintptr_t)hdx_kind_name((hdx_kind)-1), "unknown"));
}

Test(kinds, have_no_lists_of_what_is_left_out_where_nothing_is)
{
    hdx_amounts none = amounts;
    none.of[HDX_OF_CUT_FROM] = 0;
    for (unsigned k = 0; k < HDX_KINDS; k++)
        cr_expect(
            eq(u32, hdx_kind_there((hdx_kind)k, HDX_STEP_DOMINATORS, &none, true), k < HDX_KINDS - HDX_CUT_KINDS));
}

Test(kinds, of_a_view_are_those_that_depend_on_what_it_leaves_out)
{
    static const hdx_kind own[] = { HDX_KIND_SPECIAL,   HDX_KIND_DOMINATOR, HDX_KIND_NEAREST,  HDX_KIND_DOMINATORS,
                                    HDX_KIND_DOMINATED, HDX_KIND_RETAINED,  HDX_KIND_CUT_FROM, HDX_KIND_CUT,
                                    HDX_KIND_CUT_TO,    HDX_KIND_CUT_BY };
    for (unsigned k = 0; k < HDX_KINDS; k++) {
        bool is_own = false;
        for (size_t i = 0; i < sizeof own / sizeof *own; i++)
            is_own = is_own || own[i] == (hdx_kind)k;
        cr_expect(eq(u32, hdx_kind_of_view((hdx_kind)k), is_own), "%s", hdx_kind_name((hdx_kind)k));
    }
}

/* ---- files opened by their row ---- */

static hdx_code give_value(void *context, uint64_t first, uint32_t n, uint64_t *values, hdx_error *err)
{
    (void)err;
    for (uint32_t i = 0; i < n; i++)
        values[i] = first + i == 1 ? *(const uint64_t *)context : 0;
    return HDX_OK;
}
static hdx_code give_one_each(void *context, uint64_t first, uint32_t n, uint64_t *degrees, hdx_error *err)
{
    (void)context;
    (void)err;
    for (uint32_t i = 0; i < n; i++)
        degrees[i] = first + i < 2;
    return HDX_OK;
}
static hdx_code give_lists(void *context, uint64_t first, uint32_t n, uint64_t *values, uint64_t *keys, hdx_error *err)
{
    for (uint32_t i = 0; i < n; i++)
        keys[i] = first + i;
    return give_value(context, first, n, values, err);
}
static hdx_code give_point(void *context, uint64_t i, hdx_seek_point *point, uint8_t window[HDX_SEEK_WINDOW],
                           hdx_error *err)
{
    (void)context;
    (void)i;
    (void)window;
    (void)err;
    *point = (hdx_seek_point){ .kind = HDX_SEEK_MEMBER };
    return HDX_OK;
}

/* Numbers and lists have `value` at key 1; sets have so many members more than the amounts say. */
static hdx_index_file file_of(test_place *t, hdx_kind kind, uint64_t keys, uint64_t value, uint64_t members)
{
    uint64_t       words[16] = { 0 };
    hdx_index_file file;
    hdx_addresses *s;
    hdx_error      err = { 0 };
    hdx_code       code = HDX_OK;
    bool           fresh;
    switch (hdx_kind_of(kind)->encoding) {
    case HDX_ENCODING_ADDRESSES:
        cr_assert(eq(int, hdx_addresses_new(&t->mem, 8, &s, &err), HDX_OK));
        for (uint64_t i = 0; i < keys; i++)
            cr_assert(eq(int, hdx_addresses_insert_one(s, 8 * i, &fresh, &err), HDX_OK));
        cr_assert(eq(int, hdx_addresses_freeze(s, &err), HDX_OK));
        code = hdx_addresses_write(&t->place, kind, s, &file, &err);
        hdx_addresses_close(s);
        break;
    case HDX_ENCODING_INTS: code = hdx_ints_write(&t->place, kind, keys, give_value, &value, &file, &err); break;
    case HDX_ENCODING_ONE_TO_N:
        code = hdx_one_to_n_write(&t->place, kind, keys, 2, give_one_each, give_lists, &value, &file, &err);
        break;
    case HDX_ENCODING_RANKS:
        for (uint64_t i = 0; i < members; i++)
            hdx_bits_put(words, i);
        code = hdx_ranks_write(&t->place, kind, keys, words, &file, &err);
        break;
    case HDX_ENCODING_SEEK: code = hdx_seek_write(&t->place, 1, 0, 60000, give_point, NULL, &file, &err); break;
    }
    cr_assert(code == HDX_OK, "%s: %s", hdx_kind_name(kind), err.message);
    return file;
}

/* The greatest value that the row allows is read, the next one is damage. */
Test(kinds, open_files_with_the_keys_and_the_bounds_of_their_row)
{
    for (unsigned k = 0; k < HDX_KINDS; k++)
        for (unsigned over = 0; over < 2; over++) {
            const hdx_kind     kind = (hdx_kind)k;
            const hdx_encoding encoding = wanted[k].encoding;
            const uint64_t     value = wanted[k].below + over - 1;
            test_place         t;
            hdx_error          err = { 0 };
            void              *handle;
            place_open(&t, 1);
            const hdx_index_file file = file_of(&t, kind, wanted[k].keys, value, amounts.of[wanted[k].members]);
            cr_assert(hdx_index_open(&t.place, kind, &file, &amounts, &t.note, &handle, &err) == HDX_OK, "%s: %s",
                      wanted[k].name, err.message);
            if (encoding == HDX_ENCODING_INTS || encoding == HDX_ENCODING_ONE_TO_N) {
                const uint64_t got =
                    encoding == HDX_ENCODING_INTS ? hdx_ints_get(handle, 1) : hdx_one_to_n_get(handle, 1, 1);
                cr_expect(eq(u64, got, over == 1 ? 0 : value), "%s", wanted[k].name);
                cr_expect(eq(int, hdx_note_check(&t.note, &err), over == 1 ? HDX_DAMAGED : HDX_OK), "%s",
                          wanted[k].name);
            }
            place_clear(&t);
            hdx_index_whole(handle, kind);
            cr_expect(eq(int, hdx_note_check(&t.note, &err), HDX_OK), "%s", err.message);
            const hdx_container *c =
                encoding == HDX_ENCODING_ADDRESSES ? &((const hdx_addresses *)handle)->file : handle;
            cr_expect(not(hdx_index_handle_fault(handle, kind, c->map - 1)));
            cr_expect(not(hdx_index_handle_fault(handle, kind, c->map + c->map_bytes)));
            cr_expect(hdx_index_handle_fault(handle, kind, c->map));
            cr_expect(hdx_index_handle_fault(handle, kind, c->map + c->map_bytes - 1));
            cr_expect(hdx_le64(c->map) == 0); /* zeros stand there now */
            hdx_index_close(kind, handle);
            hdx_index_close(kind, NULL);
            place_close(&t);
        }
}

Test(kinds, refuse_sets_of_other_sizes_than_the_manifest_says)
{
    static const hdx_kind kinds[] = { HDX_KIND_SPECIAL, HDX_KIND_DOMINATORS };
    for (unsigned i = 0; i < 2; i++)
        for (int more = -1; more <= 1; more++) {
            const uint64_t members = amounts.of[wanted[kinds[i]].members], has = members + (uint64_t)more;
            test_place     t;
            hdx_error      err = { 0 };
            void          *handle = &t;
            char           want[100];
            place_open(&t, 1);
            const hdx_index_file file = file_of(&t, kinds[i], 1000, 0, has);
            const hdx_code       code = hdx_index_open(&t.place, kinds[i], &file, &amounts, &t.note, &handle, &err);
            cr_expect(eq(int, code, more == 0 ? HDX_OK : HDX_DAMAGED));
            (void)snprintf(want, sizeof want, "%llu members; the manifest has %llu", (unsigned long long)has,
                           (unsigned long long)members);
            if (more == 0) {
                hdx_index_close(kinds[i], handle);
            } else {
                cr_expect(handle == NULL);
                cr_expect(eq(str, err.message, want));
                cr_expect(eq(str, err.where, (char *)(uintptr_t)wanted[kinds[i]].name));
                cr_expect(eq(u64, err.offset, HDX_NOWHERE));
            }
            place_close(&t);
        }
}

Test(kinds, refuse_files_that_are_missing_or_of_other_counts)
{
    for (unsigned k = 0; k < HDX_KINDS; k++) {
        const hdx_kind       kind = (hdx_kind)k;
        test_place           t;
        hdx_error            err = { 0 };
        void                *handle = &t;
        hdx_amounts          other = amounts;
        const hdx_index_file none = { 1000, 0 };
        place_open(&t, 1);
        cr_expect(eq(int, hdx_index_open(&t.place, kind, &none, &amounts, &t.note, &handle, &err), HDX_DAMAGED));
        cr_expect(handle == NULL);
        const hdx_index_file file = file_of(&t, kind, wanted[k].keys, 0, amounts.of[wanted[k].members]);
        for (unsigned a = HDX_OF_OBJECTS; a < HDX_AMOUNTS; a++)
            other.of[a]++;
        cr_expect(eq(int, hdx_index_open(&t.place, kind, &file, &other, &t.note, &handle, &err), HDX_DAMAGED), "%s",
                  wanted[k].name);
        cr_expect(handle == NULL);
        place_close(&t);
    }
}
