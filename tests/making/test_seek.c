/*
 * test_seek.c - indexes of dumps in every kind of compression: the same files as of the plain dump, the same answers,
 * from the points that the index holds; and a dump that changed behind its index.
 */
#include "making/making.h"
#include "support/dump_maker.h"
#include "support/faulty.h"
#include "support/folder.h"
#include "support/gzip_maker.h"
#include "support/own.h"
#include <heapdex/graph.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define STRINGS 9000u

enum { SINGLE, JDK, BGZF, STORED, ZLIB, GIANT_BLOCK, KINDS };
static const char *const names[] = { "single", "jdk", "bgzf", "stored", "zlib", "one fixed block" };

static char folder[TEST_FOLDER], plain_path[96], packed_path[96];

static void put_file(const char *path, const gm_bytes *b)
{
    FILE *f = fopen(path, "wb");
    cr_assert(f != NULL && fwrite(b->at, 1, b->len, f) == b->len && fclose(f) == 0);
}

static gm_bytes take_file(const char *path)
{
    gm_bytes b = { 0 };
    uint8_t  part[65536];
    size_t   n;
    FILE    *f = fopen(path, "rb");
    cr_assert(f != NULL, "%s", path);
    while ((n = fread(part, 1, sizeof part, f)) > 0)
        gm_put(&b, part, n);
    (void)fclose(f);
    return b;
}

/* Strings of some hundred letters each, and an array of 2 MB in their midst: a dump of some 5 MB. */
static void enter(void)
{
    char        text[700];
    uint64_t    seed = 31, big[1000];
    dump_maker *m = dump_maker_new(8);
    uint64_t    object = dump_maker_class(m, "java.lang.Object", 0, "");
    (void)dump_maker_class(m, "java.lang.Class", object, "");
    (void)dump_maker_class(m, "java.lang.ClassLoader", object, "");
    uint64_t string = dump_maker_class(m, "java.lang.String", object, "value:L coder:B hash:I");
    for (unsigned i = 0; i < 1000; i++)
        big[i] = gm_random(&seed);
    for (unsigned i = 0; i < STRINGS; i++) {
        int n = snprintf(text, sizeof text, "string %u ", i);
        for (unsigned more = (unsigned)(gm_random(&seed) % 500); more-- > 0 && n < (int)sizeof text - 1;)
            text[n++] = (char)(' ' + 1 + gm_random(&seed) % 90);
        text[n] = '\0';
        dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, dump_maker_string(m, string, text), 0, 0);
        if (i % 300 == 0)
            (void)dump_maker_primitives(m, 'J', big, 1000);
        if (i == STRINGS / 2)
            (void)dump_maker_primitives(m, 'J', NULL, 250000);
    }
    test_folder_make(folder, "seek");
    (void)snprintf(plain_path, sizeof plain_path, "%s/a.hprof", folder);
    (void)snprintf(packed_path, sizeof packed_path, "%s/a.hprof.gz", folder);
    dump_maker_save(m, plain_path);
    dump_maker_free(m);
}

static void leave(void) { test_folder_remove(folder); }

TestSuite(seek, .init = enter, .fini = leave);

static void pack(int kind)
{
    gm_bytes plain = take_file(plain_path), packed = { 0 }, body = { 0 };
    gm_bits  b = { &body, 0, 0 };
    switch (kind) {
    case JDK: gm_jdk_put(&packed, &plain, 1u << 20); break;
    case BGZF: gm_bgzf_put(&packed, &plain); break;
    case STORED: gm_member_put(&packed, plain.at, plain.len, &(gm_member){ .stored = true }); break;
    case ZLIB: gm_zlib_put(&packed, plain.at, plain.len, 6); break;
    case GIANT_BLOCK:
        gm_fixed_begin(&b, true);
        for (size_t i = 0; i < plain.len; i++)
            gm_literal(&b, plain.at[i]);
        gm_fixed_end(&b);
        gm_bits_end(&b);
        gm_member_put(&packed, plain.at, plain.len, &(gm_member){ .body = &body });
        break;
    default: gm_member_put(&packed, plain.at, plain.len, &(gm_member){ .level = 1 }); break;
    }
    put_file(packed_path, &packed);
    gm_free(&plain);
    gm_free(&packed);
    gm_free(&body);
}

static hdx_graph *index_of(const char *path, unsigned threads, hdx_index_report *report)
{
    hdx_index_options options = { .dump = path, .threads = threads, .force = true };
    hdx_graph        *g;
    hdx_error         err = { 0 };
    cr_assert(eq(int, hdx_index_build(&options, report, &err), HDX_OK), "%s: %s", path, err.message);
    cr_assert(eq(int, hdx_graph_open(report->path, path, &g, &err), HDX_OK), "%s", err.message);
    return g;
}

static gm_bytes index_file(const hdx_index_report *report, hdx_kind kind)
{
    char path[4300];
    (void)snprintf(path, sizeof path, "%s/%s.hdx", report->path, hdx_kind_name(kind));
    return access(path, F_OK) == 0 ? take_file(path) : (gm_bytes){ 0 };
}

/* Labels of all objects, asked for in no order at all. */
static void shuffled_labels(hdx_graph *g, char **texts, hdx_code *code, hdx_error *err)
{
    const size_t n = (size_t)hdx_graph_objects(g);
    hdx_id      *ids = calloc(n, sizeof *ids);
    char       **mixed = calloc(n, sizeof *mixed);
    uint64_t     seed = 4;
    for (size_t i = 0; i < n; i++)
        ids[i] = i;
    for (size_t i = n; i > 1; i--) {
        size_t k = (size_t)(gm_random(&seed) % i);
        hdx_id id = ids[k];
        ids[k] = ids[i - 1];
        ids[i - 1] = id;
    }
    *code = hdx_graph_labels(g, ids, n, mixed, err);
    for (size_t i = 0; i < n; i++)
        texts[ids[i]] = mixed[i];
    free(ids);
    free(mixed);
}

static void free_texts(char **texts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hdx_text_free(texts[i]);
    free(texts);
}

Test(seek, every_kind_of_compression_gives_the_index_and_the_answers_of_the_plain_dump)
{
    hdx_index_report plain, report, again;
    hdx_error        err = { 0 };
    hdx_code         code;
    hdx_graph       *p = index_of(plain_path, 2, &plain), *g;
    const size_t     n = (size_t)hdx_graph_objects(p);
    char           **wanted = calloc(n, sizeof *wanted);
    shuffled_labels(p, wanted, &code, &err);
    cr_assert(eq(int, code, HDX_OK), "%s", err.message);
    for (int kind = 0; kind < KINDS; kind++) {
        pack(kind);
        char **got = calloc(n, sizeof *got);
        g = index_of(packed_path, 1, &report);
        gm_bytes one = index_file(&report, HDX_KIND_SEEK);
        for (int k = 0; k < HDX_KINDS; k++) {
            gm_bytes x = index_file(&plain, (hdx_kind)k), y = index_file(&report, (hdx_kind)k);
            if (k == HDX_KIND_SEEK)
                cr_expect(x.len == 0 && y.len > 0, "%s", names[kind]);
            else
                cr_expect(x.len == y.len && (x.len == 0 || memcmp(x.at, y.at, x.len) == 0), "%s: %s differs",
                          names[kind], hdx_kind_name((hdx_kind)k));
            gm_free(&x);
            gm_free(&y);
        }
        shuffled_labels(g, got, &code, &err);
        cr_assert(eq(int, code, HDX_OK), "%s: %s", names[kind], err.message);
        for (size_t i = 0; i < n; i++)
            cr_assert(got[i] != NULL ? wanted[i] != NULL && strcmp(wanted[i], got[i]) == 0 : wanted[i] == NULL,
                      "%s: object %zu", names[kind], i);
        cr_expect(eq(int, hdx_graph_verify(g, true, &err), HDX_OK), "%s: %s: %s", names[kind], err.where, err.message);
        /* the dump through the door of the graph: with points, so its size is known before anything was read */
        hdx_source *source;
        hdx_pos     size;
        cr_assert(eq(int, hdx_graph_dump(g, &source, &err), HDX_OK));
        cr_expect(hdx_source_size(source, &size) && size == hdx_graph_summary_of(g)->dump_size);
        hdx_graph_close(g);
        free_texts(got, n);
        g = index_of(packed_path, 5, &again);
        gm_bytes five = index_file(&again, HDX_KIND_SEEK);
        cr_expect(one.len == five.len && memcmp(one.at, five.at, one.len) == 0, "%s: seek depends on threads",
                  names[kind]);
        hdx_graph_close(g);
        gm_free(&one);
        gm_free(&five);
    }
    hdx_graph_close(p);
    free_texts(wanted, n);
}

Test(seek, a_dump_that_changed_behind_its_index_is_an_error_not_an_answer)
{
    static const int kinds[] = { SINGLE, JDK, STORED };
    uint64_t         seed = 12;
    for (unsigned i = 0; i < 3; i++) {
        hdx_index_report report;
        hdx_error        err = { 0 };
        hdx_code         code;
        unsigned         noticed = 0;
        pack(kinds[i]);
        hdx_graph *g = index_of(packed_path, 2, &report);
        size_t     n = (size_t)hdx_graph_objects(g);
        char     **right = calloc(n, sizeof *right);
        shuffled_labels(g, right, &code, &err);
        hdx_graph_close(g);
        gm_bytes file = take_file(packed_path);
        for (int flip = 0; flip < 6; flip++) {
            size_t place = file.len / 8 + gm_random(&seed) % (file.len / 2);
            file.at[place] ^= 4;
            put_file(packed_path, &file);
            file.at[place] ^= 4;
            cr_assert(eq(int, hdx_graph_open(report.path, packed_path, &g, &err), HDX_OK));
            for (hdx_id id = 0; id < n; id += 7) {
                char *text;
                code = hdx_graph_label(g, id, &text, &err);
                cr_assert(code == HDX_OK || code == HDX_BAD_DUMP, "%s", err.message);
                noticed += code == HDX_BAD_DUMP;
                if (code == HDX_BAD_DUMP) {
                    cr_expect(strstr(err.message, "changed") != NULL && !hdx_graph_lacks_dump(g), "%s", err.message);
                    break;
                }
                cr_assert(text != NULL ? right[id] != NULL && strcmp(text, right[id]) == 0 : right[id] == NULL,
                          "%s: a wrong label", names[kinds[i]]);
                hdx_text_free(text);
            }
            hdx_graph_close(g);
        }
        cr_expect(noticed >= 2, "%s: %u of 6 noticed", names[kinds[i]],
                  noticed); /* the others lie in slices of the array, which no label needs */
        free_texts(right, n);
        gm_free(&file);
    }
}

/* An index that was made before there were points, or of the plain dump: the same answers, only slower. */
Test(seek, another_packing_than_the_index_was_made_from_is_read_without_points)
{
    hdx_index_report report;
    hdx_error        err = { 0 };
    hdx_graph       *p = index_of(plain_path, 2, &report), *g;
    char            *a, *b;
    pack(SINGLE);
    cr_assert(eq(int, hdx_graph_open(report.path, packed_path, &g, &err), HDX_OK));
    for (hdx_id id = hdx_graph_objects(p); id-- > hdx_graph_objects(p) - 50;) {
        cr_assert(eq(int, hdx_graph_label(p, id, &a, &err), HDX_OK));
        cr_assert(eq(int, hdx_graph_label(g, id, &b, &err), HDX_OK));
        cr_expect(a != NULL ? b != NULL && strcmp(a, b) == 0 : b == NULL);
        hdx_text_free(a);
        hdx_text_free(b);
    }
    hdx_graph_close(g);
    hdx_graph_close(p);
}

/*
 * A dump of 2 MB that packs to almost nothing, in one member: seek points with windows, and a build of some
 * milliseconds.
 */
static void make_small(void)
{
    dump_maker *m = dump_maker_new(8);
    uint64_t    object = dump_maker_class(m, "java.lang.Object", 0, "");
    (void)dump_maker_class(m, "java.lang.Class", object, "");
    (void)dump_maker_class(m, "java.lang.ClassLoader", object, "");
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, dump_maker_primitives(m, 'J', NULL, 250000), 0, 0);
    dump_maker_save(m, plain_path);
    dump_maker_free(m);
    pack(SINGLE);
}

static bool anything_there(void)
{
    char path[200];
    (void)snprintf(path, sizeof path, "%s.hdx", packed_path);
    if (access(path, F_OK) == 0)
        return true;
    (void)snprintf(path, sizeof path, "%s", own_of_dump("part", packed_path));
    return access(path, F_OK) == 0;
}

static void remove_index(void)
{
    hdx_index_options options = { .dump = packed_path };
    char              path[4300];
    (void)hdx_index_remove(&options, path, sizeof path, NULL);
}

Test(seek, a_build_survives_every_failing_call)
{
    hdx_index_options options = { .dump = packed_path, .threads = 1 };
    hdx_index_report  report;
    make_small();
    for (unsigned n = 1;; n++) {
        faulty_io       f;
        hdx_error       err = { 0 };
        hdx_build_doors doors = { .io = &f.io };
        faulty_io_init(&f, n, EIO, false);
        hdx_code code = hdx_index_build_through(&doors, &options, &report, &err);
        if (!faulty_io_fired(&f)) {
            cr_assert(code == HDX_OK && n > 40, "%u calls", n);
            break;
        }
        if (code != HDX_OK && !anything_there())
            continue;
        /* some calls may fail without harm, and from the rename on the index exists: then it must be whole */
        hdx_graph *g;
        cr_assert(hdx_graph_open(report.path, packed_path, &g, &err) == HDX_OK || code != HDX_OK, "call %u: %s", n,
                  err.message);
        if (code == HDX_OK) {
            cr_expect(eq(int, hdx_graph_verify(g, false, &err), HDX_OK), "call %u: %s: %s", n, err.where, err.message);
            hdx_graph_close(g);
        }
        remove_index();
    }
    remove_index();
}

typedef struct refuser {
    unsigned at, seen;
} refuser;

static bool refuse(void *context, uint64_t bytes)
{
    refuser *r = context;
    (void)bytes;
    return ++r->seen == r->at;
}

Test(seek, a_build_survives_every_refused_allocation)
{
    hdx_index_options options = { .dump = packed_path, .threads = 1 };
    hdx_index_report  report;
    make_small();
    for (unsigned n = 1;; n++) {
        refuser         r = { n, 0 };
        hdx_error       err = { 0 };
        hdx_build_doors doors = { .io = hdx_io_system(), .refuse = refuse, .context = &r };
        hdx_code        code = hdx_index_build_through(&doors, &options, &report, &err);
        if (r.seen < n) {
            cr_assert(code == HDX_OK && n > 50, "%u requests", n);
            break;
        }
        cr_expect(code == HDX_OK || code == HDX_LIMIT, "request %u gives %s: %s", n, hdx_code_name(code), err.message);
        if (code != HDX_OK &&
            n % 16 == 0) /* what it leaves, if anything, is a checkpoint that the next one goes on from */
            cr_expect(hdx_index_build(&options, &report, &err) == HDX_OK, "request %u: %s", n, err.message);
        remove_index();
    }
    remove_index();
}
