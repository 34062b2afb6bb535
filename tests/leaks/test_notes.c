/*
 * test_notes.c - answers kept beside an index that somebody crafted: their sums are right, what they say is not.
 *
 * One sound note is written as a list of numbers and texts; a row of the table changes one of them. None may be read
 * beyond its bytes, hang or be believed: it is searched anew, or its trace says that it makes no sense (exit code 5).
 */
#include "../query/heap.h"
#include "leaks/leaks.h"

#include <sys/stat.h>
#include <unistd.h>

#define HEAD 48u
#define BIG  (1ull << 62)

/* Places of the numbers of the one answer. */
enum {
    WATCHED,
    RETAINED,
    DANGLING,
    FACTS,
    LEAKS,
    KIND,
    SIGNATURE,
    PATTERN,
    NOTE,
    SUSPECTS,
    SIZED,
    BYTES,
    OBJECTS,
    TRACES,
    ROOT,
    ADDRESS,
    CLASS,
    OWN,
    TRACE_SIZED,
    TRACE_BYTES,
    TRACE_OBJECTS,
    STEPS,
    LENGTH,
    FLAGS,
    STEP_ADDRESS,
    STEP_CLASS,
    CONFLICT,
    INHERITED,
    STEP_BYTES,
    STEP_OBJECTS,
    REASONS,
    LABELS,
    NUMBERS,
    /* and of what is not a number of it */
    NOTHING,
    TEXT_COUNT,
    TEXT_LENGTH,
    TEXT_END,
    CUT,
    MORE
};
enum { FOUND_ANEW, NOT_PRINTED, TAKEN };

static const char *const texts[] = { "p.Leak", "d26d168877ef3c5e7eac3653aeb21b4ccac80d50", "", "STICKY_CLASS" };
static const struct {
    int         place;
    uint64_t    value;
    int         outcome;
    const char *what;
} crafted[] = {
    { NOTHING, 0, TAKEN, "nothing is changed" },
    { TEXT_COUNT, BIG, FOUND_ANEW, "more texts than bytes" },
    { TEXT_COUNT, 3, FOUND_ANEW, "a text is not counted" },
    { TEXT_LENGTH, BIG, FOUND_ANEW, "a text longer than the note" },
    { TEXT_LENGTH, UINT64_MAX, FOUND_ANEW, "a text whose length and its end wrap" },
    { TEXT_LENGTH, 3, FOUND_ANEW, "a text that ends elsewhere" },
    { TEXT_END, 'x', FOUND_ANEW, "a text without an end" },
    { CUT, 1, FOUND_ANEW, "the last byte is missing" },
    { CUT, 40, FOUND_ANEW, "the last 40 bytes are missing" },
    { MORE, 1, FOUND_ANEW, "a byte too many" },
    { FACTS, BIG, FOUND_ANEW, "more facts than bytes" },
    { FACTS, 1, FOUND_ANEW, "a fact that is not there" },
    { LEAKS, BIG, FOUND_ANEW, "more leaks than bytes" },
    { LEAKS, 2, FOUND_ANEW, "a leak that is not there" },
    { LEAKS, 0, FOUND_ANEW, "bytes of a leak that is not counted" },
    { KIND, 3, FOUND_ANEW, "no such kind of leak" },
    { KIND, 2, FOUND_ANEW, "unreachable and with a root" },
    { SIGNATURE, 5, FOUND_ANEW, "a text that is not there" },
    { SIGNATURE, 1, FOUND_ANEW, "a signature of six characters" },
    { SIGNATURE, 0, FOUND_ANEW, "no signature" },
    { PATTERN, BIG, FOUND_ANEW, "a pattern that is not there" },
    { SUSPECTS, 0, FOUND_ANEW, "no suspects" },
    { SIZED, 2, FOUND_ANEW, "sized is neither yes nor no" },
    { TRACES, 0, FOUND_ANEW, "a leak without a trace" },
    { TRACES, BIG, FOUND_ANEW, "more traces than bytes" },
    { ROOT, 0, FOUND_ANEW, "a reachable leak without a root" },
    { ROOT, 99, FOUND_ANEW, "a root type that is not there" },
    { ADDRESS, 0x123456, FOUND_ANEW, "an address of no object" },
    { CLASS, 0, FOUND_ANEW, "an object without a class" },
    { OWN, 4, FOUND_ANEW, "a signature of twelve characters" },
    { STEPS, 0, FOUND_ANEW, "a trace without steps" },
    { STEPS, BIG, FOUND_ANEW, "more steps than bytes" },
    { STEPS, 2, FOUND_ANEW, "a step that is not there" },
    { LENGTH, BIG, FOUND_ANEW, "steps longer than the note" },
    { LENGTH, 8, FOUND_ANEW, "steps that are cut" },
    { FLAGS, 3 | 32, NOT_PRINTED, "no such kind of object" },
    { FLAGS, 3 << 2 | 32, NOT_PRINTED, "no such status" },
    { FLAGS, 128, NOT_PRINTED, "a flag that is none" },
    { FLAGS, 1, NOT_PRINTED, "the last step refers on" },
    { STEP_CLASS, 0, NOT_PRINTED, "a step without a class" },
    { STEP_CLASS, 77, NOT_PRINTED, "a class that is not there" },
    { CONFLICT, BIG, NOT_PRINTED, "a conflict that is not there" },
    { REASONS, 1, NOT_PRINTED, "a reason that is not there" },
    { REASONS, BIG, NOT_PRINTED, "more reasons than bytes" },
    { LABELS, 1ull << 33, NOT_PRINTED, "more labels than bytes" },
    { WATCHED, UINT64_MAX, TAKEN, "as many as there may be" },
    { BYTES, 1ull << 63, TAKEN, "as many bytes" },
    { TRACE_SIZED, 1, TAKEN, "a trace with sizes" },
    { TRACE_SIZED, 2, FOUND_ANEW, "a trace that is neither with sizes nor without" },
    { SIZED, 1, TAKEN, "with sizes" },
    { KIND, 1, TAKEN, "of a library" },
    { NOTE, 4, TAKEN, "a note" },
    { NOTE, 5, FOUND_ANEW, "a note that is not there" },
    { FLAGS, 2 | 2 << 2 | 32 | 16 | 64, TAKEN, "an array, to blame, with sizes" },
    { INHERITED, 4, TAKEN, "inherited" },
    { INHERITED, 5, NOT_PRINTED, "inherited from a text that is not there" },
};
#define CRAFTED (sizeof crafted / sizeof *crafted)

static void number(hdx_buffer *b, uint64_t v)
{
    uint8_t byte;
    do {
        byte = (uint8_t)((v & 127) | (v > 127 ? 128 : 0));
        hdx_buffer_put(b, &byte, 1);
        v >>= 7;
    } while (v != 0);
}

/* The answer of one row, without its head. */
static void craft(hdx_buffer *out, hdx_addr leak, int place, uint64_t value)
{
    uint64_t   at[NUMBERS] = { [LEAKS] = 1, [SIGNATURE] = 2,           [SUSPECTS] = 3,        [TRACES] = 1,
                               [ROOT] = 4,  [ADDRESS] = leak,          [CLASS] = 1,           [OWN] = 2,
                               [STEPS] = 1, [FLAGS] = 1 | 2 << 2 | 32, [STEP_ADDRESS] = leak, [STEP_CLASS] = 1 };
    hdx_buffer steps = hdx_buffer_of(NULL);
    if (place < NUMBERS)
        at[place] = value;
    for (int i = FLAGS; i < NUMBERS; i++)
        number(&steps, at[i]);
    number(out, place == TEXT_COUNT ? value : 4);
    for (int t = 0; t < 4; t++) {
        number(out, place == TEXT_LENGTH && t == 1 ? value : strlen(texts[t]));
        hdx_buffer_put(out, texts[t], strlen(texts[t]));
        hdx_buffer_put(out, place == TEXT_END && t == 2 ? "x" : "", 1);
    }
    for (int i = 0; i < FLAGS; i++)
        number(out, i == LENGTH && place != LENGTH ? steps.len : at[i]);
    hdx_buffer_put(out, steps.at, steps.len);
    if (place == CUT)
        out->len -= value;
    if (place == MORE)
        hdx_buffer_put(out, "x", 1);
    cr_assert(out->failed == false);
    hdx_buffer_free(&steps);
}

/* ---- a heap with one leak, and its note ---- */

static heap                    h;
static hdx_addr                leak;
static uint8_t                 head[HEAD]; /* of the note that the first search left */
static char                    note[320];
static const char *const       of_class[] = { "p.Leak" };
static const hdx_leaks_options options = {
    .finder = HDX_LEAKS_CLASSES, .classes = of_class, .class_count = 1, .retained = true, .threads = 1
};

static hdx_leaks *search(void)
{
    hdx_leaks *leaks = NULL;
    cr_assert(eq(int, hdx_leaks_search(h.g, &options, &leaks, &h.err), HDX_OK), "%s", h.err.message);
    cr_assert(leaks->leak_count == 1 && leaks->leaks[0].trace_count == 1);
    return leaks;
}

static void enter(void)
{
    dump_maker *m = dump_maker_new(8);
    uint64_t    object = dump_maker_class(m, "java/lang/Object", 0, "");
    uint64_t    type = dump_maker_class(m, "p/Leak", object, "a:L");
    leak = dump_maker_instance(m, type, DUMP_VALUES(0));
    dump_maker_static(m, "it", 'L', leak);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, dump_maker_class(m, "p/Holder", object, ""), 0, 0);
    heap_open(&h, m);
    hdx_leaks_free(search());
    const char *name;
    uint64_t    bytes;
    cr_assert(hdx_graph_saved(h.g, 0, &name, &bytes));
    (void)snprintf(note, sizeof note, "%s/%s", h.index, name);
    FILE *f = fopen(note, "rb");
    cr_assert(f != NULL && fread(head, 1, HEAD, f) == HEAD);
    (void)fclose(f);
}
static void leave(void) { heap_close(&h); }
TestSuite(notes, .init = enter, .fini = leave);

/* With sums that are right, as one who wants to be believed writes them. */
static void put_note(const hdx_buffer *body, uint64_t length)
{
    uint8_t own[HEAD];
    memcpy(own, head, HEAD);
    hdx_put64(own + 32, length);
    hdx_put32(own + 40, hdx_crc32c(0, body->at, body->len));
    hdx_put32(own + 44, hdx_crc32c(0, own, 44));
    FILE *f = fopen(note, "wb");
    cr_assert(f != NULL && fwrite(own, 1, HEAD, f) == HEAD && fwrite(body->at, 1, body->len, f) == body->len);
    (void)fclose(f);
}

Test(notes, with_right_sums_that_make_no_sense_are_not_believed)
{
    cr_assert(eq(int, hdx_leaks_verify(h.g, &h.err), HDX_OK), "%s", h.err.message);
    for (size_t i = 0; i < CRAFTED; i++) {
        hdx_buffer     body = hdx_buffer_of(NULL);
        hdx_leak_steps steps = { .count = 0 };
        craft(&body, leak, crafted[i].place, crafted[i].value);
        put_note(&body, body.len);
        cr_expect(eq(int, hdx_graph_verify(h.g, false, &h.err), HDX_OK), "%s: the sums are right", crafted[i].what);
        const hdx_code checked = hdx_leaks_verify(h.g, &h.err);
        cr_expect(eq(int, checked, crafted[i].outcome == TAKEN ? HDX_OK : HDX_DAMAGED), "%s: verify", crafted[i].what);
        cr_expect(checked == HDX_OK || strncmp(h.err.where, "leaks-", 6) == 0, "%s: %s", crafted[i].what, h.err.where);
        hdx_leaks *leaks = search();
        cr_expect(eq(int, leaks->remembered, crafted[i].outcome != FOUND_ANEW), "%s", crafted[i].what);
        cr_expect(leaks->leaks[0].traces[0].address == leak, "%s", crafted[i].what);
        const hdx_code code = hdx_leak_steps_read(leaks, &leaks->leaks[0].traces[0], &steps, &h.err);
        cr_expect(eq(int, code, crafted[i].outcome == NOT_PRINTED ? HDX_DAMAGED : HDX_OK), "%s: steps",
                  crafted[i].what);
        hdx_leak_steps_free(&steps);
        cr_expect(steps.count == 0 && steps.at == NULL);
        hdx_rows      *rows;
        const hdx_code printed = hdx_leaks_rows((const hdx_leaks *const *)&leaks, NULL, 1, true, &rows, &h.err);
        cr_expect(eq(int, printed, code), "%s: the document", crafted[i].what);
        if (printed == HDX_OK)
            hdx_rows_close(rows);
        hdx_leaks_free(leaks);
        hdx_buffer_free(&body);
    }
}

/* A number of 64 bits takes ten bytes, the last of which is 1. */
Test(notes, with_numbers_of_more_than_64_bits_are_not_believed)
{
    static const struct {
        uint64_t value;
        uint8_t  last;
        bool     taken;
    } cases[] = { { UINT64_MAX, 1, true },     { UINT64_MAX, 0, true },     { UINT64_MAX, 2, false },
                  { UINT64_MAX, 0x81, false }, { UINT64_MAX, 0x80, false }, { 1ull << 63, 1, true },
                  { 1ull << 63, 3, false } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hdx_buffer body = hdx_buffer_of(NULL), plain = hdx_buffer_of(NULL);
        craft(&plain, leak, NOTHING, 0);
        craft(&body, leak, BYTES, cases[i].value);
        size_t at = 0;
        while (body.at[at] == plain.at[at]) /* to the number that differs */
            at++;
        cr_assert(body.at[at + 9] == 1);
        body.at[at + 9] = (char)cases[i].last;
        uint8_t *copy = hdx_mem_get(NULL, body.len);
        memcpy(copy, body.at, body.len);
        leak_answer *a = hdx_leak_decode(copy, body.len);
        cr_expect(cases[i].taken == (a != NULL), "case %zu", i);
        if (a == NULL)
            hdx_mem_put(NULL, copy, body.len);
        else {
            const uint64_t bytes = (cases[i].value & INT64_MAX) | (uint64_t)cases[i].last << 63;
            cr_expect(eq(u64, a->out.leaks[0].retained_bytes, bytes));
        }
        hdx_leaks_free(a != NULL ? &a->out : NULL);
        hdx_buffer_free(&body);
        hdx_buffer_free(&plain);
    }
}

Test(notes, whose_steps_name_other_objects_are_found_by_verify)
{
    static const struct {
        int      place;
        uint64_t value;
    } lies[] = { { STEP_ADDRESS, 0x123456 }, { STEP_CLASS, 4 } };
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        hdx_buffer body = hdx_buffer_of(NULL);
        craft(&body, leak, lies[i].place, lies[i].value);
        put_note(&body, body.len);
        cr_expect(eq(int, hdx_leaks_verify(h.g, &h.err), HDX_DAMAGED));
        hdx_buffer_free(&body);
    }
}

/* What the head says: each is passed over by a search, and verify says why. */
Test(notes, of_another_index_length_name_or_kind_of_file_are_passed_over)
{
    static const struct {
        unsigned    at;
        const char *why;
    } heads[] = { { 0, "does not begin like a stored answer" },
                  { 8, "another index" },
                  { 24, "its key belongs to another name" },
                  { 32, "its length differs from its header" },
                  { 40, "its checksum is wrong" },
                  { 44, "its header has a wrong checksum" } };
    hdx_buffer body = hdx_buffer_of(NULL);
    craft(&body, leak, NOTHING, 0);
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        uint8_t kept[HEAD];
        put_note(&body, body.len);
        FILE *f = fopen(note, "r+b");
        cr_assert(f != NULL && fread(kept, 1, HEAD, f) == HEAD);
        kept[heads[i].at] ^= 1;
        if (heads[i].at != 44)
            hdx_put32(kept + 44, hdx_crc32c(0, kept, 44));
        rewind(f);
        cr_assert(fwrite(kept, 1, HEAD, f) == HEAD);
        (void)fclose(f);
        cr_expect(eq(int, hdx_graph_verify(h.g, false, &h.err), HDX_DAMAGED), "%s", heads[i].why);
        cr_expect(strstr(h.err.message, heads[i].why) != NULL, "'%s' for %s", h.err.message, heads[i].why);
        cr_expect(strstr(h.err.hint, "safe to delete") != NULL, "%s", h.err.hint);
        hdx_leaks *leaks = search();
        cr_expect(leaks->remembered == false, "%s", heads[i].why);
        hdx_leaks_free(leaks);
    }
    hdx_buffer_free(&body);
    cr_assert(eq(int, unlink(note), 0));
    cr_assert(eq(int, mkfifo(note, 0600), 0)); /* nobody writes into it: whoever opened it would wait */
    cr_expect(eq(int, hdx_graph_verify(h.g, false, &h.err), HDX_DAMAGED));
    hdx_leaks *leaks = search();
    cr_expect(leaks->remembered == false);
    hdx_leaks_free(leaks);
    cr_expect(eq(int, hdx_graph_verify(h.g, false, &h.err), HDX_DAMAGED), "only regular files are replaced");
    (void)unlink(note);
    FILE *f = fopen(note, "wb");
    cr_assert(f != NULL && fseek(f, (1l << 40) - 1, SEEK_SET) == 0 && fputc(0, f) == 0 && fclose(f) == 0);
    cr_expect(eq(int, hdx_graph_verify(h.g, false, &h.err), HDX_DAMAGED), "a terabyte of nothing");
}

Test(notes, are_counted_among_the_files_of_the_index)
{
    const char *name;
    uint64_t    bytes, all = 0, kept = 0;
    struct stat st;
    for (unsigned i = 0; hdx_graph_file(h.g, i, &name, &bytes); i++) {
        all++;
        kept += strncmp(name, "leaks-", 6) == 0;
        if (strncmp(name, "leaks-", 6) == 0)
            cr_expect(stat(note, &st) == 0 && (uint64_t)st.st_size == bytes);
    }
    cr_expect(eq(u64, kept, 1));
    cr_expect(all > 10);
}
