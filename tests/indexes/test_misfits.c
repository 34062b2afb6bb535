/*
 * test_misfits.c - files whose sums are right and whose numbers do not fit each other: counts, sections, entries,
 * pages. What is still told, what is not, and in which words.
 */
#include "tests/indexes/hostile.h"
#include "tests/indexes/place.h"
#include "indexes/addresses/set.h"
#include "indexes/ints/ints.h"
#include "indexes/one_to_n/one_to_n.h"

typedef struct forgery {
    memory_io       m;
    hdx_mem         mem;
    hdx_index_place place;
    hdx_index_file  file;
    hdx_damage_note note;
} forgery;

static void forge(forgery *f, hdx_kind kind, const uint64_t counts[3], const hdx_view *sections, unsigned n)
{
    memset(f, 0, sizeof *f);
    f->m = memory_io_new();
    f->place = (hdx_index_place){ .io = &f->m.io, .folder = "memory", .mem = &f->mem, .threads = 1 };
    cr_assert(eq(int, hostile_write(&f->place, kind, counts, sections, n, &f->file), HDX_OK));
}
static void forge_end(forgery *f)
{
    cr_expect(eq(u64, atomic_load(&f->mem.used), 0));
    memory_io_free(&f->m);
}
/* What was noted, without the place; "" for nothing. The next note is the first again. */
static const char *noted(forgery *f)
{
    static hdx_error err;
    err = (hdx_error){ 0 };
    if (hdx_note_check(&f->note, &err) == HDX_OK)
        return "";
    if (strncmp(err.message, "asked for ", 10) == 0)
        cr_expect(err.offset % 64 == 0, "byte %llu", (unsigned long long)err.offset); /* where a section begins */
    char *place = strstr(err.message, " (section");
    if (place != NULL)
        *place = '\0';
    memset(&f->note, 0, sizeof f->note);
    return err.message;
}
#define NOTED(f, what)                                                                                                 \
    do {                                                                                                               \
        const char *noted_ = noted(f);                                                                                 \
        cr_expect(strcmp(noted_, (what)) == 0, "line %d: noted \"%s\"", __LINE__, noted_);                             \
    } while (0)

#define BEYOND_KEY  "key out of range: two files of the index disagree"
#define BEYOND_LIST "list out of range: two files of the index disagree"
#define BEYOND_VAL  "value out of range: two files of the index disagree"
#define BEYOND_ID   "id out of range: two files of the index disagree"
#define BEYOND_RANK "rank out of range: two files of the index disagree"
#define BOUND       "a value exceeds its bound"
#define NO_FORM     "a page has an unknown form"
#define SHORT       "a page is too short for its values"
#define CONTRADICTS "a page contradicts itself"
#define SIZE        "a page has an impossible size"

/* ---- one page of numbers ---- */
typedef struct one_page {
    unsigned    count;
    uint64_t    below, first, second;
    uint32_t    len;
    uint8_t     bytes[40];
    unsigned    key;
    uint64_t    value;
    const char *get, *read; /* what is noted; read: of all numbers at once */
} one_page;

#define WORD(form, w, shift, exceptions)                                                                               \
    ((uint64_t)(w) << 40 | (uint64_t)(shift) << 47 | (uint64_t)(exceptions) << 53 | (uint64_t)(form) << 61)
#define PLAIN(w)  WORD(0, w, 0, 0)
#define LINEAR(w) WORD(1, w, 0, 0)

/* Four fields of four bits: 1, all ones, 2, all ones; exceptions at 1 and 3, whose least is 5: 95 and 195 more. */
#define WINDOW_BYTES                                                                                                   \
    {                                                                                                                  \
        0xf1, 0xf2, 8, 1, 3, 5, 100, 200                                                                               \
    }

static const one_page pages[] = {
    { 4, 0, 10, PLAIN(8), 4, { 1, 2, 3, 4 }, 3, 14, "", "" },
    { 4, 15, 10, PLAIN(8), 4, { 1, 2, 3, 4 }, 3, 14, "", "" },
    { 4, 14, 10, PLAIN(8), 4, { 1, 2, 3, 4 }, 3, 0, BOUND, BOUND },
    { 5, 0, 10, PLAIN(8), 4, { 1, 2, 3, 4 }, 3, 14, "", CONTRADICTS },
    { 5, 0, 10, PLAIN(8), 4, { 1, 2, 3, 4 }, 4, 0, SHORT, CONTRADICTS },
    { 5, 0, 10, PLAIN(7), 4, { 0x81, 0x81, 0x81, 0x81 }, 3, 10 + 12, "", CONTRADICTS }, /* 35 bits of 32 */
    { 5, 0, 10, PLAIN(7), 4, { 1 }, 4, 0, SHORT, CONTRADICTS },
    { 4, 0, 10, PLAIN(0), 0, { 0 }, 2, 10, "", "" },
    { 4, 0, 10, WORD(0, 8, 3, 0), 4, { 1, 2, 3, 4 }, 2, 34, "", "" },
    { 1, 0, 0, PLAIN(56), 7, { 1, 2, 3, 4, 5, 6, 7 }, 0, 0x07060504030201, "", "" },
    { 1, 0, 0, PLAIN(57), 8, { 1 }, 0, 0, NO_FORM, CONTRADICTS },
    { 1, 0, 0, PLAIN(63), 8, { 1 }, 0, 0, NO_FORM, CONTRADICTS },
    { 1, 0, 0, PLAIN(64), 8, { 1, 2, 3, 4, 5, 6, 7, 8 }, 0, 0x0807060504030201, "", "" },
    { 1, 0, 0, PLAIN(65), 16, { 1 }, 0, 0, NO_FORM, CONTRADICTS },
    { 1, 0, 0, PLAIN(127), 16, { 1 }, 0, 0, NO_FORM, CONTRADICTS },
    { 2, 0, 5, WORD(3, 8, 0, 0), 2, { 1, 2 }, 1, 0, NO_FORM, CONTRADICTS },
    { 2, 0, 5, WORD(7, 8, 0, 0), 2, { 1, 2 }, 1, 0, NO_FORM, CONTRADICTS },
    /* linear: base 1000, slope 2 */
    { 4, 0, 1000, LINEAR(8) | 2ull << 47, 4, { 9, 8, 7, 6 }, 3, 1006 + (3 * 2 << 16 >> 16), "", "" },
    { 4, 1012, 1000, LINEAR(8) | 2ull << 47, 4, { 9, 8, 7, 6 }, 3, 0, BOUND, BOUND },
    { 5, 0, 1000, LINEAR(8) | 2ull << 47, 4, { 9, 8, 7, 6 }, 3, 1012, "", CONTRADICTS },
    { 5, 0, 1000, LINEAR(8) | 2ull << 47, 4, { 9, 8, 7, 6 }, 4, 0, SHORT, CONTRADICTS },
    /* window */
    { 4, 0, 50, WORD(2, 4, 0, 2), 8, WINDOW_BYTES, 0, 51, "", "" },
    { 4, 0, 50, WORD(2, 4, 0, 2), 8, WINDOW_BYTES, 1, 145, "", "" },
    { 4, 0, 50, WORD(2, 4, 0, 2), 8, WINDOW_BYTES, 2, 52, "", "" },
    { 4, 0, 50, WORD(2, 4, 0, 2), 8, WINDOW_BYTES, 3, 245, "", "" },
    { 4, 0, 50, WORD(2, 4, 1, 2), 8, WINDOW_BYTES, 3, 50 + 390, "", "" },
    { 4, 246, 50, WORD(2, 4, 0, 2), 8, WINDOW_BYTES, 3, 245, "", "" },
    { 4, 245, 50, WORD(2, 4, 0, 2), 8, WINDOW_BYTES, 3, 0, BOUND, BOUND },
    { 4, 0, 50, WORD(2, 4, 0, 2), 7, WINDOW_BYTES, 0, 51, "", CONTRADICTS },
    { 4, 0, 50, WORD(2, 4, 0, 2), 7, WINDOW_BYTES, 1, 0, CONTRADICTS, CONTRADICTS },
    { 4, 0, 50, WORD(2, 4, 0, 0), 2, { 0xf1, 0xf2 }, 0, 51, "", CONTRADICTS },
    { 4, 0, 50, WORD(2, 4, 0, 0), 2, { 0xf1, 0xf2 }, 1, 0, CONTRADICTS, CONTRADICTS },
    { 4, 0, 50, WORD(2, 4, 0, 2), 8, { 0xf1, 0xf2, 57, 1, 3, 5, 100, 200 }, 1, 0, CONTRADICTS, CONTRADICTS },
    /* all but one are the base: fields of no bits */
    { 4, 0, 50, WORD(2, 0, 0, 1), 4, { 8, 2, 0, 9 }, 1, 50, "", "" },
    { 4, 0, 50, WORD(2, 0, 0, 1), 4, { 8, 2, 0, 9 }, 2, 59, "", "" },
    { 4, 0, 50, WORD(2, 0, 0, 1), 3, { 8, 2, 0 }, 1, 0, CONTRADICTS, CONTRADICTS },
};

Test(ints_page, that_does_not_fit_is_damage_and_gives_0)
{
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        const one_page *p = &pages[i];
        const uint64_t  counts[3] = { p->count };
        uint8_t         directory[32];
        uint64_t        out[301];
        forgery         f;
        hdx_ints       *ints;
        hdx_put64(directory, p->first);
        hdx_put64(directory + 8, p->second);
        hdx_put64(directory + 16, 0);
        hdx_put64(directory + 24, p->len);
        const hdx_view sections[] = { { directory, 32 }, { p->bytes, p->len } };
        forge(&f, HDX_KIND_CLASS, counts, sections, 2);
        cr_assert(eq(int, hdx_ints_open(&f.place, HDX_KIND_CLASS, &f.file, p->count, p->below, &f.note, &ints, NULL),
                     HDX_OK));
        for (unsigned round = 0; round < 2; round++) { /* not looked at before; all blocks known */
            cr_expect(eq(u64, hdx_ints_get(ints, p->key), p->value), "case %zu, round %u", i, round);
            NOTED(&f, p->get);
            out[p->count] = 4711;
            hdx_ints_read(ints, 0, p->count, out);
            const char *read = noted(&f);
            cr_expect(strcmp(read, p->read) == 0, "case %zu: %s", i, read);
            cr_expect(eq(u64, out[p->key], p->read[0] == '\0' ? p->value : 0), "case %zu", i);
            cr_expect(eq(u64, out[p->count], 4711));
            hdx_index_whole(ints, HDX_KIND_CLASS);
        }
        hdx_ints_close(ints);
        forge_end(&f);
    }
}

/* Where the page lies: the offsets of its entry and of the next. */
Test(ints_page, lies_in_its_section_and_has_up_to_2304_bytes)
{
    static const struct {
        uint64_t    from, to;
        const char *message;
    } cases[] = { { 0, 2304, "" },
                  { 696, 3000, "" },
                  { 0, 2305, SIZE },
                  { 695, 3000, SIZE },
                  { 2, 1, SIZE },
                  { 3000, 3000, "" },
                  { 3001, 3001, "position outside the section" },
                  { 2000, 3001, "position outside the section" },
                  { 1ull << 39, 1ull << 39, "position outside the section" },
                  { 0, 0, "" } };
    static const uint8_t bytes[3000];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint64_t counts[3] = { 3 };
        uint8_t        directory[32] = { 42 };
        uint64_t       out[3];
        forgery        f;
        hdx_ints      *ints;
        hdx_put64(directory + 8, cases[i].from);
        hdx_put64(directory + 24, cases[i].to);
        const hdx_view sections[] = { { directory, 32 }, { bytes, 3000 } };
        forge(&f, HDX_KIND_CLASS, counts, sections, 2);
        cr_assert(eq(int, hdx_ints_open(&f.place, HDX_KIND_CLASS, &f.file, 3, 0, &f.note, &ints, NULL), HDX_OK));
        for (unsigned round = 0; round < 2; round++) {
            hdx_ints_read(ints, 0, 3, out);
            NOTED(&f, cases[i].message);
            cr_expect(eq(u64, out[2], cases[i].message[0] == '\0' ? 42 : 0), "case %zu, round %u", i, round);
            hdx_index_whole(ints, HDX_KIND_CLASS);
            f.note.state = 0;
        }
        hdx_ints_close(ints);
        forge_end(&f);
    }
}

Test(ints, beyond_the_last_are_told_as_0)
{
    const uint64_t counts[3] = { 3 };
    uint8_t        directory[32] = { 42 };
    uint64_t       out[4] = { 1, 2, 3, 4 };
    forgery        f;
    hdx_ints      *ints;
    memset(directory + 8, 0, 24);
    const hdx_view sections[] = { { directory, 32 }, { directory, 0 } };
    forge(&f, HDX_KIND_CLASS, counts, sections, 2);
    cr_assert(eq(int, hdx_ints_open(&f.place, HDX_KIND_CLASS, &f.file, 3, 0, &f.note, &ints, NULL), HDX_OK));
    cr_expect(eq(u64, hdx_ints_get(ints, 2), 42));
    NOTED(&f, "");
    cr_expect(eq(u64, hdx_ints_get(ints, 3), 0));
    NOTED(&f, BEYOND_KEY);
    cr_expect(eq(u64, hdx_ints_get(ints, UINT64_MAX), 0));
    NOTED(&f, BEYOND_KEY);
    hdx_ints_read(ints, 3, 0, out);
    NOTED(&f, "");
    hdx_ints_read(ints, 4, 0, out);
    NOTED(&f, BEYOND_KEY);
    hdx_ints_read(ints, 2, 1, out);
    NOTED(&f, "");
    cr_expect(out[0] == 42 && out[1] == 2);
    hdx_ints_read(ints, 2, 2, out);
    NOTED(&f, BEYOND_KEY);
    cr_expect(out[0] == 0 && out[1] == 0 && out[2] == 3);
    hdx_ints_close(ints);
    hdx_ints_close(NULL);
    forge_end(&f);
}

/* ---- sections of other sizes than the counts ask for ---- */
static const uint8_t zeros[8192];
typedef struct shape {
    uint64_t keys;      /* as the manifest says */
    uint64_t counts[3]; /* as the file says */
    uint64_t sizes[6];
    unsigned sections;
    bool     fits;
} shape;

/* Opens; the message of what is refused, "" else. */
static const char *opened(hdx_encoding encoding, const shape *s)
{
    static hdx_error err;
    hdx_view         sections[6];
    forgery          f;
    hdx_ints        *ints = NULL;
    hdx_one_to_n    *lists = NULL;
    hdx_ranks       *ranks = NULL;
    hdx_addresses   *set = NULL;
    hdx_code         code = HDX_OK;
    err = (hdx_error){ 0 };
    for (unsigned i = 0; i < s->sections; i++)
        sections[i] = (hdx_view){ zeros, (size_t)s->sizes[i] };
    forge(&f, HDX_KIND_CLASS, s->counts, sections, s->sections);
    switch (encoding) {
    case HDX_ENCODING_INTS:
        code = hdx_ints_open(&f.place, HDX_KIND_CLASS, &f.file, s->keys, 0, &f.note, &ints, &err);
        break;
    case HDX_ENCODING_ONE_TO_N:
        code = hdx_one_to_n_open(&f.place, HDX_KIND_CLASS, &f.file, s->keys, 0, &f.note, &lists, &err);
        break;
    case HDX_ENCODING_RANKS:
        code = hdx_ranks_open(&f.place, HDX_KIND_CLASS, &f.file, s->keys, &f.note, &ranks, &err);
        break;
    default: code = hdx_addresses_open(&f.place, HDX_KIND_CLASS, &f.file, s->keys, &f.note, &set, &err); break;
    }
    cr_expect(eq(int, ints != NULL || lists != NULL || ranks != NULL || set != NULL, code == HDX_OK));
    cr_expect(code == HDX_OK || (code == HDX_DAMAGED && strstr(err.hint, "--force") != NULL));
    hdx_ints_close(ints);
    hdx_one_to_n_close(lists);
    hdx_ranks_close(ranks);
    hdx_addresses_close(set);
    forge_end(&f);
    return err.message;
}
static void shapes_are(hdx_encoding encoding, const shape *s, size_t n, const char *message)
{
    for (size_t i = 0; i < n; i++) {
        const char *said = opened(encoding, &s[i]);
        cr_expect(strcmp(said, s[i].fits ? "" : message) == 0, "case %zu: \"%s\"", i, said);
    }
}
#define SHAPES(encoding, s, message) shapes_are(encoding, s, sizeof(s) / sizeof *(s), message)

Test(ints, have_a_directory_of_their_count)
{
    static const shape s[] = {
        { 0, { 0 }, { 16, 0 }, 2, true },      { 0, { 0 }, { 32, 0 }, 2, false },
        { 0, { 0 }, { 0, 0 }, 2, false },      { 1, { 1 }, { 32, 9 }, 2, true },
        { 1, { 0 }, { 32, 9 }, 2, false },     { 0, { 1 }, { 16, 0 }, 2, false },
        { 256, { 256 }, { 32, 0 }, 2, true },  { 257, { 257 }, { 32, 0 }, 2, false },
        { 257, { 257 }, { 48, 0 }, 2, true },  { 256, { 256 }, { 48, 0 }, 2, false },
        { 256, { 256 }, { 33, 0 }, 2, false }, { 256, { 256 }, { 47, 0 }, 2, false },
        { 256, { 256 }, { 31, 0 }, 2, false },
    };
    SHAPES(HDX_ENCODING_INTS, s, "the number of values differs from the manifest");
    static const shape other[] = { { 1, { 1 }, { 32 }, 1, false }, { 1, { 1 }, { 32, 0, 0 }, 3, false } };
    SHAPES(HDX_ENCODING_INTS, other, "wrong number of sections");
}

Test(one_to_n, have_lines_and_a_directory_of_their_counts)
{
    static const shape s[] = {
        { 0, { 0, 0 }, { 64, 0, 16, 0 }, 4, true },         { 0, { 0, 0 }, { 128, 0, 16, 0 }, 4, false },
        { 0, { 0, 0 }, { 64, 0, 32, 0 }, 4, false },        { 1, { 1, 0 }, { 128, 0, 16, 0 }, 4, true },
        { 1, { 0, 0 }, { 128, 0, 16, 0 }, 4, false },       { 0, { 1, 0 }, { 64, 0, 16, 0 }, 4, false },
        { 128, { 128, 0 }, { 128, 0, 16, 0 }, 4, true },    { 129, { 129, 0 }, { 128, 0, 16, 0 }, 4, false },
        { 129, { 129, 0 }, { 192, 5, 16, 0 }, 4, true },    { 129, { 129, 256 }, { 192, 5, 32, 0 }, 4, true },
        { 129, { 129, 257 }, { 192, 5, 32, 0 }, 4, false }, { 129, { 129, 257 }, { 192, 5, 48, 7 }, 4, true },
        { 129, { 129, 257 }, { 191, 5, 48, 7 }, 4, false }, { 129, { 129, 257 }, { 193, 5, 48, 7 }, 4, false },
        { 129, { 129, 257 }, { 192, 5, 49, 7 }, 4, false }, { 129, { 129, 257 }, { 192, 5, 47, 7 }, 4, false },
    };
    SHAPES(HDX_ENCODING_ONE_TO_N, s, "the number of lists differs from the manifest");
    static const shape other[] = { { 0, { 0 }, { 64, 0, 16 }, 3, false }, { 0, { 0 }, { 64, 0, 16, 0, 0 }, 5, false } };
    SHAPES(HDX_ENCODING_ONE_TO_N, other, "wrong number of sections");
}

Test(ranks, have_lines_and_samples_of_their_counts)
{
    static const shape s[] = {
        { 0, { 0, 0 }, { 0, 0 }, 2, true },           { 1, { 1, 0 }, { 64, 0 }, 2, true },
        { 1, { 1, 1 }, { 64, 8 }, 2, true },          { 1, { 1, 2 }, { 64, 8 }, 2, false }, /* 2 of 1 */
        { 1, { 1, 1 }, { 64, 0 }, 2, false },         { 1, { 1, 0 }, { 64, 8 }, 2, false },
        { 1, { 0, 0 }, { 64, 0 }, 2, false },         { 0, { 1, 0 }, { 0, 0 }, 2, false },
        { 448, { 448, 448 }, { 64, 8 }, 2, true },    { 449, { 449, 448 }, { 64, 8 }, 2, false },
        { 449, { 449, 448 }, { 128, 8 }, 2, true },   { 448, { 448, 448 }, { 128, 8 }, 2, false },
        { 448, { 448, 448 }, { 65, 8 }, 2, false },   { 448, { 448, 448 }, { 63, 8 }, 2, false },
        { 600, { 600, 512 }, { 128, 8 }, 2, true },   { 600, { 600, 513 }, { 128, 8 }, 2, false },
        { 600, { 600, 513 }, { 128, 16 }, 2, true },  { 600, { 600, 512 }, { 128, 16 }, 2, false },
        { 600, { 600, 513 }, { 128, 15 }, 2, false }, { 600, { 600, 513 }, { 128, 17 }, 2, false },
    };
    SHAPES(HDX_ENCODING_RANKS, s, "the size of the set differs from the manifest");
}

Test(addresses, have_the_sections_of_their_form)
{
    enum { C = HDX_CHUNK_BYTES };
    const uint64_t map = 3 << 16, hashed = 3 << 16 | 1 << 8;
    const shape    s[] = {
           { 0, { 0, map }, { 0, 0, 0, 0 }, 4, true },
           { 1, { 1, map }, { 16, 4, C, 5 + 3 }, 4, false },
           { 1, { 1, map }, { 16, 4, C, 5 }, 4, true },
           { 2, { 1, map }, { 16, 4, C, 5 }, 4, false },
           { 1, { 2, map }, { 16, 4, C, 5 }, 4, false },
           { 1, { 1, map }, { 17, 4, C, 5 }, 4, false },
           { 1, { 1, map }, { 15, 4, C, 5 }, 4, false },
           { 1, { 1, map }, { 16, 5, C, 5 }, 4, false },
           { 1, { 1, map }, { 16, 3, C, 5 }, 4, false },
           { 1, { 1, map }, { 16, 0, C, 5 }, 4, true }, /* nothing is found; nothing is read outside */
           { 1, { 1, map }, { 16, 4, C - 1, 5 }, 4, false },
           { 1, { 1, map }, { 16, 4, C + 1, 5 }, 4, false },
           { 1, { 1, map }, { 16, 4, 0, 5 }, 4, false },
           { 1, { 1, map }, { 16, 4, C, 4 }, 4, false },
           { 1, { 1, map }, { 16, 4, C, 6 }, 4, false },
           { 1, { 1, map }, { 16, 4, C, 10 }, 4, false },
           { 64, { 64, map }, { 16, 4, C, 5 }, 4, true },
           { 65, { 65, map }, { 16, 4, C, 5 }, 4, false },
           { 65, { 65, map }, { 16, 4, C, 10 }, 4, true },
           { 1, { 1, map }, { 0, 4, 0, 5 }, 4, false },  /* members without chunks */
           { 0, { 0, map }, { 16, 4, C, 0 }, 4, false }, /* a chunk without members */
           { 1, { 1, map | 1 << 24 }, { 16, 4, C, 5 }, 4, false },
           { 1, { 1, 12 << 16 }, { 16, 4, C, 5 }, 4, true },
           { 1, { 1, 13 << 16 }, { 16, 4, C, 5 }, 4, false },
           { 1, { 1, 0 }, { 16, 4, C, 5 }, 4, true },
           { 1, { 1, map | 2 }, { 16, 4, C, 5 }, 4, false },
           { 1, { 1, hashed }, { 16, 64, C, 5 }, 4, true },
           { 1, { 1, hashed }, { 16, 4, C, 5 }, 4, true },
           { 1, { 1, hashed }, { 16, 12, C, 5 }, 4, false }, /* no power of two */
           { 1, { 1, map }, { 16, 12, C, 5 }, 4, true },
           { 1, { 1, 3 << 16 | 2 << 8 }, { 16, 4, C, 5 }, 4, false },
           { 1, { 1, map }, { 16, 4, C }, 3, false },
           { 1, { 1, map }, { 16, 4, C, 5, 0 }, 5, false },
           { 2, { 2, map | 1 }, { 16 }, 1, true },
           { 0, { 0, map | 1 }, { 0 }, 1, true },
           { 2, { 2, map | 1 }, { 15 }, 1, false },
           { 2, { 2, map | 1 }, { 17 }, 1, false },
           { 2, { 2, map | 1 }, { 24 }, 1, false },
           { 2, { 2, map | 1 }, { 8 }, 1, false },
           { 2, { 2, map | 1 }, { 16, 0 }, 2, false },
    };
    SHAPES(HDX_ENCODING_ADDRESSES, s, "the set of addresses does not have the size in the manifest");
}

/* ---- sets with ranks ---- */
static void put_line(uint8_t *line, uint64_t before, uint64_t first, uint64_t last)
{
    memset(line, 0, 64);
    hdx_put64(line, before);
    hdx_put64(line + 8, first);
    hdx_put64(line + 56, last);
}

Test(ranks, tell_nothing_about_what_is_not_in_them)
{
    uint8_t        lines[128], samples[8] = { 0 };
    const uint64_t counts[3] = { 450, 4 };
    uint64_t       rank;
    forgery        f;
    hdx_ranks     *r;
    put_line(lines, 0, 5, 1ull << 63); /* 0, 2 and 447 */
    put_line(lines + 64, 3, 2, 0);     /* 449 */
    const hdx_view sections[] = { { lines, 128 }, { samples, 8 } };
    forge(&f, HDX_KIND_SPECIAL, counts, sections, 2);
    cr_assert(eq(int, hdx_ranks_open(&f.place, HDX_KIND_SPECIAL, &f.file, 450, &f.note, &r, NULL), HDX_OK));
    static const uint64_t members[] = { 0, 2, 447, 449 };
    for (uint64_t i = 0, k = 0; i < 450; i++) {
        rank = 4711;
        const bool in = k < 4 && members[k] == i;
        cr_expect(eq(int, hdx_ranks_find(r, i, &rank), in), "%llu", (unsigned long long)i);
        cr_expect(eq(u64, rank, in ? k : 0)); /* 0 where it is none */
        k += in;
    }
    for (uint64_t k = 0; k < 4; k++)
        cr_expect(eq(u64, hdx_ranks_at(r, k), members[k]));
    NOTED(&f, "");
    rank = 4711;
    cr_expect(not(hdx_ranks_find(r, 450, &rank)));
    cr_expect(eq(u64, rank, 0));
    NOTED(&f, BEYOND_ID);
    cr_expect(eq(u64, hdx_ranks_at(r, 4), 0));
    NOTED(&f, BEYOND_RANK);
    hdx_ranks_close(r);
    hdx_ranks_close(NULL);
    forge_end(&f);
}

/* Two lines, four members; what a line says is before it, and what the sample says. */
Test(ranks, that_contradict_themselves_are_damage)
{
    static const struct {
        uint64_t    before0, bits0, before1, bits1, sample;
        uint64_t    find; /* id asked for, and rank */
        bool        found;
        const char *find_note;
        uint64_t    at, member;
        const char *at_note;
    } cases[] = {
        { 0, 5, 2, 3, 0, 449, true, "", 3, 449, "" },
        { 0, 5, 3, 3, 0, 449, false, "a rank exceeds the number of members", 3, 448, "" },
        { 0, 5, 3, 3, 0, 448, true, "", 2, 0, "a line has fewer members than the next one states" },
        { 0, 5, 2, 1, 0, 449, false, "", 3, 0, "a line has fewer members than the next one states" },
        { 0, 5, 2, 9, 0, 451, false, BEYOND_ID, 3, 0, "a line has fewer members than the next one states" },
        { 0, 5, 2, 3, 1, 449, true, "", 3, 449, "" },
        { 0, 5, 2, 3, 1, 0, true, "", 1, 0, "a line has fewer members than the next one states" },
        { 0, 5, 2, 3, 2, 449, true, "", 3, 0, "a sample refers to no line" },
        { 0, 5, 2, 3, UINT64_MAX, 449, true, "", 0, 0, "a sample refers to no line" },
        { 1, 5, 2, 3, 0, 0, true, "", 0, 0, "a line has fewer members than the next one states" },
        { 4, 5, 2, 3, 0, 0, false, "a rank exceeds the number of members", 3, 449, "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t        lines[128], sample[8];
        const uint64_t counts[3] = { 451, 4 };
        uint64_t       rank;
        forgery        f;
        hdx_ranks     *r;
        put_line(lines, cases[i].before0, cases[i].bits0, 0);
        put_line(lines + 64, cases[i].before1, cases[i].bits1, 0);
        hdx_put64(sample, cases[i].sample);
        const hdx_view sections[] = { { lines, 128 }, { sample, 8 } };
        forge(&f, HDX_KIND_SPECIAL, counts, sections, 2);
        cr_assert(eq(int, hdx_ranks_open(&f.place, HDX_KIND_SPECIAL, &f.file, 451, &f.note, &r, NULL), HDX_OK));
        cr_expect(eq(int, hdx_ranks_find(r, cases[i].find, &rank), cases[i].found), "case %zu", i);
        const char *said = noted(&f);
        cr_expect(strcmp(said, cases[i].find_note) == 0, "case %zu: %s", i, said);
        cr_expect(eq(u64, hdx_ranks_at(r, cases[i].at), cases[i].member), "case %zu", i);
        said = noted(&f);
        cr_expect(strcmp(said, cases[i].at_note) == 0, "case %zu: %s", i, said);
        hdx_ranks_close(r);
        forge_end(&f);
    }
}

/* ---- seek points ---- */

/* Three points: a member, one inside a block, a block; size 1000 bytes out of a file of 100 bytes. */
Test(seek, limits_of_a_point_are_its_neighbours_and_the_files)
{
    typedef struct spot {
        uint64_t out, bit, kind, header, at, size, len;
    } spot;
    static const struct {
        unsigned    which; /* of the three that is changed */
        spot        p;
        const char *message;
    } cases[] = {
#define NO "invalid seek point"
        { 1, { 10, 9, 2, 3, 0, 4, 5 }, "" },     { 1, { 1, 9, 2, 3, 0, 4, 5 }, "" },
        { 1, { 0, 9, 2, 3, 0, 4, 5 }, NO },      { 1, { 499, 9, 2, 3, 0, 4, 5 }, "" },
        { 1, { 500, 9, 2, 3, 0, 4, 5 }, NO },    { 1, { 10, 1, 2, 0, 0, 4, 5 }, "" },
        { 1, { 10, 0, 2, 0, 0, 4, 5 }, NO },     { 1, { 10, 399, 2, 3, 0, 4, 5 }, "" },
        { 1, { 10, 400, 2, 3, 0, 4, 5 }, NO },   { 1, { 10, 9, 2, 8, 0, 4, 5 }, "" },
        { 1, { 10, 9, 2, 9, 0, 4, 5 }, NO },     { 1, { 10, 9, 1, 0, 0, 4, 5 }, "" },
        { 1, { 10, 9, 1, 1, 0, 4, 5 }, NO },     { 1, { 10, 9, 3, 3, 0, 4, 5 }, NO },
        { 1, { 10, 9, 2, 3, 4, 4, 5 }, "" },     { 1, { 10, 9, 2, 3, 5, 4, 5 }, NO },
        { 1, { 10, 9, 2, 3, 9, 4, 5 }, NO },     { 1, { 10, 9, 2, 3, 0, 8, 8 }, "" },
        { 1, { 10, 9, 2, 3, 0, 9, 9 }, NO },     { 1, { 10, 9, 2, 3, 0, 5, 4 }, NO },
        { 1, { 10, 9, 2, 3, 0, 4, 4 }, "" },     { 1, { 10, 9, 2, 3, 0, 4, 32768 }, "" },
        { 1, { 10, 9, 2, 3, 0, 4, 32769 }, NO }, { 1, { 10, 9, 2, 3, 0, 0, 0 }, "" },
        { 1, { 10, 9, 2, 3, 8, 0, 0 }, "" },     { 1, { 10, 9, 2, 3, 9, 0, 0 }, NO },
        { 1, { 10, 9, 2, 3, 0, 0, 1 }, NO },     { 2, { 999, 799, 1, 0, 4, 4, 4 }, "" },
        { 2, { 1000, 799, 1, 0, 4, 4, 4 }, NO }, { 2, { 999, 800, 1, 0, 4, 4, 4 }, NO },
        { 0, { 0, 8, 0, 0, 0, 0, 0 }, "" },      { 0, { 1, 0, 0, 0, 0, 0, 0 }, NO },
        { 0, { 0, 4, 0, 0, 0, 0, 0 }, NO }, /* a member begins at a byte */
        { 0, { 0, 800, 0, 0, 0, 0, 0 }, NO },
#undef NO
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        spot            spots[3] = { { 0, 0, 0, 0, 0, 0, 0 }, { 10, 9, 2, 3, 0, 4, 5 }, { 500, 400, 1, 0, 4, 4, 4 } };
        uint8_t         points[60], places[40], windows[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, got[8];
        unsigned        k = 0;
        const uint64_t  counts[3] = { 3, 2, 1000 };
        forgery         f;
        hdx_seek       *s;
        hdx_seek_cursor cursor = { 0 };
        hdx_seek_point  p;
        spots[cases[i].which] = cases[i].p;
        for (unsigned n = 0; n < 3; n++) {
            hdx_put64(points + 20 * n, spots[n].out);
            hdx_put64(points + 20 * n + 8, spots[n].bit << 2 | spots[n].kind);
            hdx_put32(points + 20 * n + 16, 0x1234 + n);
            if (n == 0)
                continue;
            hdx_put64(places + 20 * k, spots[n].header);
            hdx_put64(places + 20 * k + 8, spots[n].at);
            hdx_put16(places + 20 * k + 16, (uint16_t)spots[n].size);
            hdx_put16(places + 20 * k++ + 18, (uint16_t)spots[n].len);
        }
        const hdx_view sections[] = { { points, 60 }, { places, 40 }, { windows, 8 } };
        forge(&f, HDX_KIND_SEEK, counts, sections, 3);
        cr_assert(eq(int, hdx_seek_open(&f.place, &f.file, 1000, 100, &f.note, &s, NULL), HDX_OK));
        unsigned n = 0;
        for (; hdx_seek_next(s, &cursor, &p); n++) {
            cr_expect(p.out == spots[n].out && p.bit == spots[n].bit && p.kind == (hdx_seek_kind)spots[n].kind &&
                      p.sum == 0x1234 + n && p.header_bit == spots[n].header && p.window_at == spots[n].at &&
                      p.window_size == spots[n].size && p.window_len == spots[n].len);
            memset(got, 99, 8);
            cr_expect(hdx_seek_window(s, p.window_at, p.window_size, got));
            for (unsigned b = 0; b < 8; b++)
                cr_expect(got[b] == (b < p.window_size ? p.window_at + b + 1 : 99));
        }
        const char *said = noted(&f);
        cr_expect(strcmp(said, cases[i].message) == 0, "case %zu: \"%s\"", i, said);
        const bool next =
            cases[i].p.out == 500 || cases[i].p.bit == 400; /* then it is the one behind it that is wrong */
        cr_expect(eq(u32, n, cases[i].message[0] == '\0' ? 3 : cases[i].which + next), "case %zu", i);
        cr_expect(not(hdx_seek_window(s, 1, 8, got)));
        NOTED(&f, "position outside the section");
        hdx_seek_close(s);
        hdx_seek_close(NULL);
        forge_end(&f);
    }
}

Test(seek, has_the_sections_of_its_counts)
{
    static const struct {
        uint64_t counts[3], sizes[3], size;
        bool     fits;
    } cases[] = {
        { { 2, 1, 50 }, { 40, 20, 9 }, 50, true },  { { 2, 1, 50 }, { 40, 20, 9 }, 51, false },
        { { 2, 1, 50 }, { 40, 20, 9 }, 49, false }, { { 3, 1, 50 }, { 40, 20, 9 }, 50, false },
        { { 1, 1, 50 }, { 40, 20, 9 }, 50, false }, { { 2, 2, 50 }, { 40, 20, 9 }, 50, false },
        { { 2, 0, 50 }, { 40, 20, 9 }, 50, false }, { { 2, 1, 50 }, { 41, 20, 9 }, 50, false },
        { { 2, 1, 50 }, { 59, 20, 9 }, 50, false }, { { 2, 1, 50 }, { 39, 20, 9 }, 50, false },
        { { 2, 1, 50 }, { 40, 21, 9 }, 50, false }, { { 2, 1, 50 }, { 40, 19, 9 }, 50, false },
        { { 1, 0, 50 }, { 20, 0, 0 }, 50, true },   { { 0, 0, 50 }, { 0, 0, 0 }, 50, false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hdx_view  sections[3];
        forgery   f;
        hdx_seek *s = (hdx_seek *)1;
        hdx_error err = { 0 };
        for (unsigned k = 0; k < 3; k++)
            sections[k] = (hdx_view){ zeros, (size_t)cases[i].sizes[k] };
        forge(&f, HDX_KIND_SEEK, cases[i].counts, sections, 3);
        cr_expect(eq(int, hdx_seek_open(&f.place, &f.file, cases[i].size, 100, &f.note, &s, &err),
                     cases[i].fits ? HDX_OK : HDX_DAMAGED),
                  "case %zu", i);
        cr_expect(eq(int, s != NULL, cases[i].fits));
        cr_expect(cases[i].fits ||
                  strcmp(err.message, "the number of seek points or the size of the dump differs from the sections") ==
                      0);
        hdx_seek_close(s);
        forge_end(&f);
    }
}

/* ---- lists ---- */

/* Three keys with lists of 1, 0 and 2 values; a page of four-bit fields. */
typedef struct three_lists {
    uint8_t  lines[128], directory[32], page[40];
    uint32_t len;
    uint64_t values;
} three_lists;
static three_lists three_lists_of(uint64_t first, uint64_t second, const uint8_t *page, uint32_t len)
{
    static const uint64_t degrees[3] = { 1, 0, 2 };
    three_lists           l = { .len = len, .values = 3 };
    uint64_t              sum;
    uint32_t              used;
    uint8_t               line[HDX_LINE + 8], spare[HDX_PAGE_BYTES];
    cr_assert(eq(int, hdx_offsets_encode(degrees, 3, 0, line, spare, 0, &used, &sum, NULL), HDX_OK));
    memcpy(l.lines, line, HDX_LINE);
    hdx_put64(l.lines + 64, 3);
    hdx_put64(l.directory, first);
    hdx_put64(l.directory + 8, second);
    hdx_put64(l.directory + 24, len);
    memcpy(l.page, page, len);
    return l;
}
static hdx_one_to_n *lists_opened(forgery *f, const three_lists *l, uint64_t below)
{
    const uint64_t counts[3] = { 3, l->values };
    const hdx_view sections[] = { { l->lines, 128 }, { l->lines, 0 }, { l->directory, 32 }, { l->page, l->len } };
    hdx_one_to_n  *lists;
    forge(f, HDX_KIND_OUTBOUND, counts, sections, 4);
    cr_assert(
        eq(int, hdx_one_to_n_open(&f->place, HDX_KIND_OUTBOUND, &f->file, 3, below, &f->note, &lists, NULL), HDX_OK));
    return lists;
}

Test(one_to_n, beyond_the_last_are_told_as_0)
{
    const three_lists l = three_lists_of(10, PLAIN(4), (const uint8_t[]){ 0x21, 0x03 }, 2);
    uint64_t          first, length, out[4] = { 5, 6, 7, 8 }, degrees[4] = { 5, 6, 7, 8 };
    forgery           f;
    hdx_one_to_n     *lists = lists_opened(&f, &l, 14);
    hdx_one_to_n_list(lists, 2, &first, &length);
    cr_expect(first == 1 && length == 2);
    NOTED(&f, "");
    hdx_one_to_n_list(lists, 3, &first, &length);
    cr_expect(first == 0 && length == 0);
    NOTED(&f, BEYOND_LIST);
    hdx_one_to_n_read(lists, 2, 1, 2, out);
    cr_expect(out[0] == 12 && out[1] == 13 && out[2] == 7);
    NOTED(&f, "");
    hdx_one_to_n_read(lists, 2, 3, 0, out);
    NOTED(&f, "");
    hdx_one_to_n_read(lists, 2, 4, 0, out);
    NOTED(&f, BEYOND_VAL);
    hdx_one_to_n_read(lists, 2, 2, 2, out);
    cr_expect(out[0] == 0 && out[1] == 0 && out[2] == 7);
    NOTED(&f, BEYOND_VAL);
    cr_expect(eq(u64, hdx_one_to_n_get(lists, 2, 3), 0));
    NOTED(&f, BEYOND_VAL);
    hdx_one_to_n_degrees(lists, 1, 2, degrees);
    cr_expect(degrees[0] == 0 && degrees[1] == 2 && degrees[2] == 7);
    NOTED(&f, "");
    hdx_one_to_n_degrees(lists, 2, 2, degrees);
    cr_expect(degrees[0] == 0 && degrees[1] == 0 && degrees[2] == 7);
    NOTED(&f, BEYOND_LIST);
    hdx_one_to_n_degrees(lists, 3, 0, degrees);
    NOTED(&f, "");
    hdx_one_to_n_degrees(lists, 4, 0, degrees);
    NOTED(&f, BEYOND_LIST);
    out[0] = 5;
    hdx_one_to_n_firsts(lists, 0, 3, degrees, out);
    cr_expect(degrees[0] == 1 && degrees[1] == 0 && degrees[2] == 2 && degrees[3] == 8);
    cr_expect(out[0] == 11 && out[1] == 0 && out[2] == 12 && out[3] == 8);
    NOTED(&f, "");
    hdx_one_to_n_firsts(lists, 1, 3, degrees, out);
    cr_expect(degrees[0] == 0 && degrees[1] == 0 && degrees[2] == 0 && degrees[3] == 8);
    cr_expect(out[0] == 0 && out[1] == 0 && out[2] == 0 && out[3] == 8);
    NOTED(&f, BEYOND_LIST);
    hdx_one_to_n_close(lists);
    hdx_one_to_n_close(NULL);
    forge_end(&f);
}

#define VALUES_CONTRADICT "a page of values contradicts itself"
#define LINE_CONTRADICTS  "a line of offsets contradicts itself"

/*
 * The three values of that page, read by their lists and as first ones; values 0 where there is damage. alone: the
 * first is right where only it is asked for.
 */
Test(values_page, that_does_not_fit_is_damage_and_gives_0)
{
    static const struct {
        uint64_t    below, first, second;
        uint32_t    len;
        uint8_t     bytes[24];
        uint64_t    values[4]; /* the fourth: alone */
        const char *message;
    } cases[] = {
        { 14, 10, PLAIN(4), 2, { 0x21, 0x03 }, { 11, 12, 13 }, "" },
        { 13, 10, PLAIN(4), 2, { 0x21, 0x03 }, { 0, 0, 0 }, BOUND },
        { 0, 10, PLAIN(4), 1, { 0x21 }, { 0, 0, 0 }, VALUES_CONTRADICT },
        { 0, 10, PLAIN(57), 24, { 0x21 }, { 0, 0, 0 }, VALUES_CONTRADICT },
        { 0, 10, WORD(5, 4, 0, 0), 2, { 0x21, 0x03 }, { 0, 0, 0 }, VALUES_CONTRADICT },
        { 0, 10, WORD(7, 4, 0, 0), 2, { 0x21, 0x03 }, { 0, 0, 0 }, VALUES_CONTRADICT },
        /* near: keys 0, 2, 2 */
        { 16, 10, WORD(1, 4, 0, 0), 2, { 0x21, 0x03 }, { 11, 14, 15 }, "" },
        { 15, 10, WORD(1, 4, 0, 0), 2, { 0x21, 0x03 }, { 0, 0, 0 }, BOUND },
        { 0, 10, WORD(1, 4, 0, 0), 1, { 0x21 }, { 0, 0, 0 }, VALUES_CONTRADICT },
        { 0, 10, WORD(1, 60, 0, 0), 24, { 0x21 }, { 0, 0, 0 }, VALUES_CONTRADICT },
        /* bands: the middle one is far, 100 + 7; the others are their keys + 1 and + 2, as zigzag 2 and 4 */
        { 108, 100, WORD(2, 4, 4, 0), 3, { 2, 0x42, 7 }, { 1, 107, 4 }, "" },
        { 107, 100, WORD(2, 4, 4, 0), 3, { 2, 0x42, 7 }, { 0, 0, 0 }, BOUND },
        { 0, 100, WORD(2, 4, 4, 0), 2, { 2, 0x42 }, { 0, 0, 0 }, VALUES_CONTRADICT },
        { 0, 100, WORD(2, 4, 4, 0), 0, { 0 }, { 0, 0, 0 }, VALUES_CONTRADICT },
        { 0, 100, WORD(2, 57, 4, 0), 24, { 2, 0x42, 7 }, { 0, 0, 0 }, VALUES_CONTRADICT },
        { 0, 100, WORD(2, 4, 57, 0), 24, { 2, 0x42, 7 }, { 0, 0, 0 }, VALUES_CONTRADICT },
        { 0, 100, WORD(2, 4, 4, 0), 3, { 0xfa, 0x42, 7 }, { 1, 107, 4 }, "" }, /* bits behind the last count nothing */
        /* window: one exception at 1, 100 - 5 more */
        { 146, 50, WORD(3, 4, 0, 0), 7, { 1, 0xf1, 0x02, 8, 1, 5, 100 }, { 51, 145, 52 }, "" },
        { 145, 50, WORD(3, 4, 0, 0), 7, { 1, 0xf1, 0x02, 8, 1, 5, 100 }, { 0, 0, 0 }, BOUND },
        { 0, 50, WORD(3, 4, 0, 0), 6, { 1, 0xf1, 0x02, 8, 1, 5 }, { 0, 0, 0, 51 }, VALUES_CONTRADICT },
        { 0, 50, WORD(3, 4, 0, 0), 2, { 1, 0xf1 }, { 0, 0, 0 }, VALUES_CONTRADICT },
        { 0, 50, WORD(3, 57, 0, 0), 24, { 1, 0xf1 }, { 0, 0, 0 }, VALUES_CONTRADICT },
        { 0, 50, WORD(3, 4, 0, 0), 3, { 0, 0x21, 0x03 }, { 51, 52, 53 }, "" }, /* no field is full: no tail is read */
        /* ascending: 5, 5 and 8 more, one low bit each: 1, 1, 0; above it 2, 2, 4 */
        { 509, 500, WORD(4, 1, 0, 0), 4, { 1, 0, 0x03, 0x4c }, { 505, 505, 508 }, "" },
        { 508, 500, WORD(4, 1, 0, 0), 4, { 1, 0, 0x03, 0x4c }, { 0, 0, 0 }, BOUND },
        /* two of three bits */
        { 0, 500, WORD(4, 1, 0, 0), 4, { 1, 0, 0x03, 0x0c }, { 0, 0, 0, 505 }, VALUES_CONTRADICT },
        { 0, 500, WORD(4, 1, 0, 0), 3, { 1, 0, 0x03 }, { 0, 0, 0 }, VALUES_CONTRADICT },
        { 0, 500, WORD(4, 1, 0, 0), 1, { 1 }, { 0, 0, 0 }, VALUES_CONTRADICT },
        { 0, 500, WORD(4, 57, 0, 0), 24, { 1 }, { 0, 0, 0 }, VALUES_CONTRADICT },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const three_lists l = three_lists_of(cases[i].first, cases[i].second, cases[i].bytes, cases[i].len);
        const bool        bound = strcmp(cases[i].message, BOUND) == 0;
        uint64_t          out[3] = { 1, 1, 1 }, degrees[3], firsts[3];
        forgery           f;
        hdx_one_to_n     *lists = lists_opened(&f, &l, cases[i].below);
        for (unsigned round = 0; round < 2; round++) {
            hdx_one_to_n_firsts(lists, 0, 3, degrees, firsts);
            const char *said = noted(&f);
            cr_expect(strcmp(said, cases[i].message) == 0, "case %zu: \"%s\"", i, said);
            cr_expect(firsts[0] == cases[i].values[0] && firsts[1] == 0 && firsts[2] == cases[i].values[1], "case %zu",
                      i);
            hdx_one_to_n_read(lists, 0, 0, 1, out);
            hdx_one_to_n_read(lists, 2, 1, 2, out + 1);
            said = noted(&f);
            cr_expect(strcmp(said, cases[i].message) == 0, "case %zu: \"%s\"", i, said);
            for (unsigned k = bound ? 1 : 0; k < 3; k++)
                cr_expect(eq(u64, out[k], k == 0 && cases[i].values[3] > 0 ? cases[i].values[3] : cases[i].values[k]),
                          "case %zu, value %u", i, k);
            hdx_index_whole(lists, HDX_KIND_OUTBOUND);
        }
        hdx_one_to_n_close(lists);
        forge_end(&f);
    }
}

/* What is before a line, and its lists, against the number of values. */
Test(offsets_line, that_does_not_fit_is_damage_and_gives_0)
{
    static const struct {
        uint64_t before, values;
        bool     fits;
    } cases[] = { { 0, 3, true }, { 0, 2, false }, { 1, 3, false },
                  { 1, 4, true }, { 4, 3, false }, { HDX_LISTED_MAX, 3, false } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        three_lists l = three_lists_of(10, PLAIN(4), (const uint8_t[]){ 0x21, 0x43 }, 2);
        uint64_t    degrees[3], firsts[3], first, length;
        forgery     f;
        hdx_put64(l.lines, cases[i].before);
        l.values = cases[i].values;
        hdx_one_to_n *lists = lists_opened(&f, &l, 0);
        for (unsigned round = 0; round < 2; round++) {
            hdx_one_to_n_list(lists, 2, &first, &length);
            NOTED(&f, cases[i].fits ? "" : LINE_CONTRADICTS);
            cr_expect(first == (cases[i].fits ? cases[i].before + 1 : 0) && length == (cases[i].fits ? 2 : 0));
            hdx_one_to_n_degrees(lists, 0, 3, degrees);
            NOTED(&f, cases[i].fits ? "" : LINE_CONTRADICTS);
            cr_expect(degrees[0] == cases[i].fits && degrees[1] == 0 && degrees[2] == (cases[i].fits ? 2 : 0));
            hdx_one_to_n_firsts(lists, 0, 3, degrees, firsts);
            NOTED(&f, cases[i].fits ? "" : LINE_CONTRADICTS);
            cr_expect(firsts[0] == (cases[i].fits ? 11 + cases[i].before : 0) && firsts[1] == 0);
            cr_expect(firsts[2] == (cases[i].fits ? 12 + cases[i].before : 0));
            hdx_index_whole(lists, HDX_KIND_OUTBOUND);
        }
        hdx_one_to_n_close(lists);
        forge_end(&f);
    }
}
