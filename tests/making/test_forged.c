/*
 * test_forged.c - what the first pass kept (scan.tmp) and the second (columns.tmp), changed by somebody who makes their
 * sums right again: what cannot be is refused and the build begins anew, what stands in another order means the same.
 * In the end the bytes are those of a build in one go.
 */
#include "making/partial_build.h"
#include "reading/reading.h"
#include "support/dump_maker.h"
#include "support/folder.h"

#include <criterion/criterion.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { CLASSES = 7, ROOTS = 9, HEAPS = 2 };

static char          folder[TEST_FOLDER];
static partial_build want, kept;
static char          words[8192]; /* of roots, classes, heaps and damage of the index */
static uint64_t      class_ids[CLASSES], file_size;

/* Where things are in scan.tmp. */
static size_t class_at[CLASSES], class_count_at, roots_at, uses_at, use_count, heaps_at;

/* With so many more objects, which do not fit the fields of their class, in several segments. */
static void make_dump(unsigned more)
{
    dump_maker *m = dump_maker_new(8);
    uint64_t    made[ROOTS], classes[CLASSES];
    dump_maker_heap_info(m, 1, "zygote");
    const uint64_t object = classes[0] = dump_maker_class(m, "java.lang.Object", 0, "");
    classes[1] = dump_maker_class(m, "java.lang.Class", object, "");
    classes[2] = dump_maker_class(m, "app.One", object, "a:L b:I");
    classes[3] = dump_maker_class(m, "app.Two", object, "a:L");
    for (unsigned i = 0; i < ROOTS; i++) {
        if (i == 4)
            dump_maker_heap_info(m, 2, "app");
        made[i] = dump_maker_instance(m, classes[2 + i % 2], DUMP_VALUES(i == 0 ? 0 : made[i - 1], i));
        dump_maker_segment(m);
    }
    classes[4] = dump_maker_class(m, "app.Three", classes[2], "c:J");
    classes[5] = dump_maker_class(m, "app.Four", object, "");
    classes[6] = dump_maker_class(m, "app.Five", classes[5], "d:B");
    for (unsigned i = 0; i < ROOTS; i++)
        dump_maker_root(m, i % 2 == 0 ? HDX_SUB_ROOT_JNI_GLOBAL : HDX_SUB_ROOT_STICKY_CLASS,
                        i < CLASSES ? classes[i] : made[i], 0, 0);
    for (unsigned i = 0; i < 12; i++) {
        dump_maker_segment(m);
        (void)dump_maker_instance(m, classes[6], DUMP_VALUES(i));
    }
    for (unsigned i = 0; i < more; i++) {
        uint8_t record[1 + 8 + 4 + 8 + 4 + 8] = { HDX_SUB_INSTANCE };
        for (unsigned b = 0; b < 8; b++) {
            record[1 + b] = (uint8_t)((0x900000 + 32 * (uint64_t)i) >> 8 * (7 - b));
            record[13 + b] = (uint8_t)(classes[3 + i % 2] >> 8 * (7 - b));
        }
        record[24] = 8;
        dump_maker_raw(m, record, sizeof record);
        if (i % 500 == 499)
            dump_maker_segment(m);
    }
    memcpy(class_ids, classes, sizeof classes);
    size_t len;
    (void)dump_maker_bytes(m, &len);
    file_size = len;
    dump_maker_save(m, "a.hprof");
    dump_maker_free(m);
}

/* False: not all of the heap is there yet. */
static bool find_places(const partial_file *f)
{
    size_t end = 0;
    for (unsigned c = 0; c < CLASSES; c++) {
        class_at[c] = 0;
        for (size_t i = PARTIAL_KEPT_HEAD; i + 32 < f->len && class_at[c] == 0; i++) {
            const uint64_t len = hdx_le64(f->at + i + 16);
            if (hdx_le64(f->at + i + 8) == class_ids[c] && len < 200 && i + 24 + len < f->len &&
                hdx_be_id(f->at + i + 25, 8) /* behind its tag */ == class_ids[c]) {
                class_at[c] = i;
                end = i + 24 + len > end ? i + 24 + len : end;
            }
        }
        if (class_at[c] == 0)
            return false;
    }
    class_count_at = class_at[0] - 8;
    roots_at = end + 8;
    if (hdx_le64(f->at + class_count_at) != CLASSES || hdx_le64(f->at + end) != ROOTS)
        return false;
    uses_at = roots_at + ROOTS * sizeof(hdx_scan_root) + 8;
    use_count = hdx_le64(f->at + uses_at - 8);
    heaps_at = uses_at + use_count * sizeof(hdx_class_use) + 8;
    return hdx_le64(f->at + heaps_at - 8) == HEAPS && heaps_at + HEAPS * sizeof(hdx_heap_name) + 4 == f->len;
}

/* Where things are in columns.tmp (columns.c): six numbers, how far it is, units, misfits, arrays of each stretch. */
enum { STRETCHES = 1, SPILL_BYTES = 3, LONGEST = 4, NUMBERS = 6 };
static const size_t numbers_at = PARTIAL_KEPT_HEAD, halt_at = PARTIAL_KEPT_HEAD + NUMBERS * 8;
static size_t       misfits_at, arrays_at;

/* False: no class is known to have misfits yet, or there is no unit. */
static bool find_numbers(const partial_file *f)
{
    const size_t units_at = halt_at + sizeof(hdx_halt) + 8;
    misfits_at = units_at + hdx_le64(f->at + units_at - 8) * sizeof(hdx_spilled) + 8;
    arrays_at = misfits_at + hdx_le64(f->at + misfits_at - 8) * 16;
    const hdx_halt *halt = (const hdx_halt *)(const void *)(f->at + halt_at);
    return misfits_at > units_at + 8 && arrays_at > misfits_at && halt->count > 0 &&
           arrays_at + 32 * hdx_le64(f->at + numbers_at + 8 * STRETCHES) + 4 == f->len;
}

static const hdx_index_options options = { .dump = "a.hprof", .threads = 1 };

/* What the catalog says, which has times, too. */
static void words_of_index(char to[8192])
{
    uint64_t   roots, heaps;
    uint32_t   classes;
    size_t     len = 0;
    hdx_error  err;
    hdx_graph *g;
    cr_assert(hdx_graph_open("a.hprof.hdx", "a.hprof", &g, &err) == HDX_OK, "%s", err.message);
    const hdx_root *root = hdx_graph_roots(g, &roots);
    const hdx_class *class = hdx_graph_classes(g, &classes);
    const hdx_heap_space *heap = hdx_graph_heaps(g, &heaps);
    for (uint64_t i = 0; i < roots; i++)
        len += (size_t)snprintf(to + len, 8192 - len, "%llu %d %d\n", (unsigned long long)root[i].object,
                                (int)root[i].type, (int)root[i].frame);
    for (uint32_t i = 0; i < classes; i++)
        len += (size_t)snprintf(to + len, 8192 - len, "%.*s %llx %u %u %u\n", (int)class[i].name.len, class[i].name.at,
                                (unsigned long long)class[i].address, class[i].super, class[i].field_count,
                                class[i].flags);
    for (uint64_t i = 0; i < heaps; i++)
        len += (size_t)snprintf(to + len, 8192 - len, "%.*s\n", (int)heap[i].name.len, heap[i].name.at);
    for (uint64_t i = 0; i < hdx_graph_summary_of(g)->damage_count; i++)
        len += (size_t)snprintf(to + len, 8192 - len, "%llu %s\n",
                                (unsigned long long)hdx_graph_summary_of(g)->damage[i].offset,
                                hdx_graph_summary_of(g)->damage[i].expected);
    cr_assert(len < 8192);
    hdx_graph_close(g);
}

/* Stops where all that the first pass has is kept, or some of what the second has. */
static void stop_where(bool second, unsigned more)
{
    hdx_index_report report;
    hdx_error        err;
    char             path[96];
    test_folder_make_fast(folder, "forged");
    cr_assert(chdir(folder) == 0);
    make_dump(more);
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
    partial_read_folder(&want, "a.hprof.hdx");
    words_of_index(words);
    cr_assert(hdx_index_remove(&options, path, sizeof path, &err) == HDX_OK);
    for (unsigned n = 0;; n++) {
        cr_assert(partial_interrupt(&options, n, &err) == HDX_CANCELLED, "it is never kept");
        partial_free(&kept);
        partial_read_folder(&kept, ".heapdex-part-a.hprof.hdx");
        const partial_file *scan = partial_find(&kept, "scan.tmp"), *columns = partial_find(&kept, "columns.tmp");
        if (second ? columns != NULL && find_numbers(columns) : scan != NULL && find_places(scan))
            return;
    }
}

static void enter(void) { stop_where(false, 0); }
static void enter_second(void) { stop_where(true, 80000); }

static void leave(void)
{
    partial_free(&want);
    partial_free(&kept);
    cr_assert(chdir("/") == 0);
    test_folder_remove(folder);
}

TestSuite(forged, .init = enter, .fini = leave, .timeout = 100);
TestSuite(forged_columns, .init = enter_second, .fini = leave, .timeout = 100);

/* Goes on from these files. Are the bytes those of a build in one go? */
static bool ends_as_it_should(partial_build *p)
{
    hdx_build_doors  doors = { .io = hdx_io_system(), .every_step = true };
    hdx_index_report report;
    hdx_error        err;
    char             path[96];
    partial_build    made = { .count = 0 };
    static char      now[8192];
    partial_seal_kept(p);
    partial_write(p, ".heapdex-part-a.hprof.hdx");
    cr_assert(hdx_index_build_through(&doors, &options, &report, &err) == HDX_OK, "%s", err.message);
    partial_read_folder(&made, "a.hprof.hdx");
    words_of_index(now);
    bool same = made.count == want.count && strcmp(now, words) == 0;
    for (unsigned i = 0; i < want.count; i++) {
        const partial_file *f = partial_find(&made, want.files[i].name);
        same = same && (strstr(want.files[i].name, ".hdx") == NULL ||
                        (f != NULL && f->len == want.files[i].len && memcmp(f->at, want.files[i].at, f->len) == 0));
    }
    partial_free(&made);
    cr_assert(hdx_index_remove(&options, path, sizeof path, &err) == HDX_OK);
    return same;
}

static bool same_with(const char *file, size_t at, uint64_t value, unsigned bytes)
{
    partial_build p = partial_copy(&kept);
    uint8_t       word[8];
    hdx_put64(word, value);
    memcpy(partial_find(&p, file)->at + at, word, bytes);
    const bool same = ends_as_it_should(&p);
    partial_free(&p);
    return same;
}

static void expect_same(size_t at, uint64_t value, unsigned bytes, const char *what)
{
    cr_expect(same_with("scan.tmp", at, value, bytes), "%s is %llx", what, (unsigned long long)value);
}

/* A root that means another object is none that could not be. */
Test(forged, what_could_be_is_believed)
{
    partial_build p = partial_copy(&kept);
    uint8_t      *root = partial_find(&p, "scan.tmp")->at + roots_at;
    cr_expect(ends_as_it_should(&p), "as it was");
    hdx_put64(root + offsetof(hdx_raw_root, addr), class_ids[5]);
    cr_expect(!ends_as_it_should(&p), "another object is a root");
    partial_free(&p);
}

Test(forged, classes_that_cannot_be_are_refused)
{
    const uint8_t *scan = partial_find(&kept, "scan.tmp")->at;
    for (unsigned c = 0; c < CLASSES; c += 3) {
        const uint64_t len = hdx_le64(scan + class_at[c] + 16);
        expect_same(class_at[c], file_size, 8, "position");
        expect_same(class_at[c], file_size + 1, 8, "position");
        expect_same(class_at[c], UINT64_MAX, 8, "position");
        expect_same(class_at[c] + 8, class_ids[c] + 1, 8, "address");
        expect_same(class_at[c] + 8, class_ids[(c + 1) % CLASSES], 8, "address");
        expect_same(class_at[c] + 16, len + 1, 8, "length");
        expect_same(class_at[c] + 16, len - 1, 8, "length");
        expect_same(class_at[c] + 16, UINT64_MAX, 8, "length");
        expect_same(class_at[c] + 16, len + (1ull << 32), 8, "length");
        expect_same(class_at[c] + 16, UINT32_MAX, 8, "length");
        expect_same(class_at[c] + 24, 0x21, 1, "tag");
        expect_same(class_at[c] + 24 + 8, 0x77, 1, "address in the record");
        for (size_t i = 65; i < 71; i++) /* of constants, statics and fields: more than there is room for */
            expect_same(class_at[c] + 24 + i, 0xff, 1, "counts in the record");
    }
    const uint64_t counts[] = { 0, CLASSES - 1, CLASSES + 1, UINT64_MAX };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        expect_same(class_count_at, counts[i], 8, "classes");
}

/* The same record twice, in the place of one that is as long. */
Test(forged, a_class_that_is_there_twice_is_refused)
{
    partial_build  p = partial_copy(&kept);
    uint8_t       *scan = partial_find(&p, "scan.tmp")->at;
    const uint64_t len = hdx_le64(scan + class_at[0] + 16);
    cr_assert(len == hdx_le64(scan + class_at[1] + 16));
    memcpy(scan + class_at[1], scan + class_at[0], 24 + len);
    cr_expect(ends_as_it_should(&p));
    partial_free(&p);
}

Test(forged, roots_that_cannot_be_are_refused)
{
    for (unsigned r = 0; r < ROOTS; r += 4) {
        const size_t   at = roots_at + r * sizeof(hdx_scan_root);
        const uint64_t positions[] = { file_size, file_size + 1, UINT64_MAX }, tags[] = {
            0x00, 0x7f, HDX_SUB_INSTANCE, HDX_SUB_CLASS, HDX_SUB_OBJECT_ARRAY, HDX_SUB_PRIMITIVE_ARRAY
        };
        for (size_t i = 0; i < sizeof positions / sizeof *positions; i++)
            expect_same(at + offsetof(hdx_raw_root, pos), positions[i], 8, "position");
        for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
            expect_same(at + offsetof(hdx_raw_root, tag), tags[i], 1, "tag");
    }
    const uint64_t counts[] = { 0, ROOTS - 1, ROOTS + 1, 1ull << 40, UINT64_MAX };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        expect_same(roots_at - 8, counts[i], 8, "roots");
        if (counts[i] > HEAPS) /* fewer could be */
            expect_same(heaps_at - 8, counts[i], 8, "heaps");
    }
}

static void turn(uint8_t *at, size_t count, size_t size)
{
    uint8_t one[128];
    for (size_t i = 0; i < count / 2; i++) {
        memcpy(one, at + i * size, size);
        memcpy(at + i * size, at + (count - 1 - i) * size, size);
        memcpy(at + (count - 1 - i) * size, one, size);
    }
}

/* As several workers leave them. */
Test(forged, what_stands_in_another_order_means_the_same)
{
    partial_build p = partial_copy(&kept);
    uint8_t      *scan = partial_find(&p, "scan.tmp")->at, *turned = malloc(roots_at);
    size_t        len = 0;
    for (unsigned c = CLASSES; c-- > 0;) {
        const size_t bytes = 24 + hdx_le64(scan + class_at[c] + 16);
        memcpy(turned + len, scan + class_at[c], bytes);
        len += bytes;
    }
    cr_assert(class_at[0] + len + 8 == roots_at);
    memcpy(scan + class_at[0], turned, len);
    cr_expect(ends_as_it_should(&p), "classes");
    free(turned);
    turn(scan + roots_at, ROOTS, sizeof(hdx_scan_root));
    cr_expect(ends_as_it_should(&p), "classes and roots");
    turn(scan + uses_at, use_count, sizeof(hdx_class_use));
    cr_expect(ends_as_it_should(&p), "classes, roots and what instances say");
    turn(scan + heaps_at, HEAPS, sizeof(hdx_heap_name));
    cr_expect(ends_as_it_should(&p), "all of it");
    partial_free(&p);
}

/* ---- the second pass ---- */
static void refuses(size_t at, uint64_t value, unsigned bytes, const char *what)
{
    cr_expect(same_with("columns.tmp", at, value, bytes), "%s is %llx", what, (unsigned long long)value);
}

Test(forged_columns, numbers_that_cannot_be_are_refused)
{
    const uint8_t *columns = partial_find(&kept, "columns.tmp")->at;
    const size_t   spilled = partial_find(&kept, "references.tmp")->len;
    const uint64_t stretches = hdx_le64(columns + numbers_at + 8 * STRETCHES);
    const uint64_t bytes = hdx_le64(columns + numbers_at + 8 * SPILL_BYTES);
    cr_expect(same_with("columns.tmp", numbers_at, 0, 0), "as it was");
    cr_expect(!same_with("columns.tmp", misfits_at + 8, file_size - 1, 8) ||
                  !same_with("columns.tmp", misfits_at + 8, 1, 8),
              "what could be is believed");
    refuses(numbers_at + 8 * STRETCHES, stretches + 1, 8, "stretches");
    refuses(numbers_at + 8 * STRETCHES, stretches - 1, 8, "stretches");
    refuses(numbers_at + 8 * SPILL_BYTES, spilled + 1, 8, "bytes of references");
    refuses(numbers_at + 8 * SPILL_BYTES, UINT64_MAX, 8, "bytes of references");
    refuses(numbers_at + 8 * LONGEST, bytes + 1, 8, "the longest list");
    refuses(numbers_at + 8 * LONGEST, UINT64_MAX, 8, "the longest list");
    refuses(halt_at + offsetof(hdx_halt, next), stretches + 1, 8, "the next stretch");
    refuses(halt_at + offsetof(hdx_halt, next), UINT64_MAX, 8, "the next stretch");
    refuses(halt_at + offsetof(hdx_halt, count), HDX_WORKERS_MAX + 1, 4, "runs");
    refuses(halt_at + offsetof(hdx_halt, count), UINT32_MAX, 4, "runs");
    const hdx_halt *halt = (const hdx_halt *)(const void *)(columns + halt_at);
    for (uint32_t i = 0; i < halt->count; i++) {
        const size_t at = halt_at + offsetof(hdx_halt, left) + i * sizeof(hdx_left);
        refuses(at + offsetof(hdx_left, from), halt->left[i].end, 8, "the first stretch of a run");
        refuses(at + offsetof(hdx_left, from), halt->left[i].end + 1, 8, "the first stretch of a run");
        refuses(at + offsetof(hdx_left, end), halt->next + 1, 8, "the end of a run");
        refuses(at + offsetof(hdx_left, end), UINT64_MAX, 8, "the end of a run");
        refuses(at + offsetof(hdx_left, pos), 1, 8, "the place in a run");
        refuses(at + offsetof(hdx_left, pos), file_size, 8, "the place in a run");
        refuses(at + offsetof(hdx_left, pos), UINT64_MAX, 8, "the place in a run");
    }
    refuses(misfits_at - 8, UINT64_MAX, 8, "misfits");
    refuses(misfits_at, 1000, 8, "class of misfits");
    refuses(misfits_at, UINT64_MAX, 8, "class of misfits");
    refuses(misfits_at + 8, 0, 8, "place of misfits");
    refuses(misfits_at + 8, file_size + 1, 8, "place of misfits");
    for (uint64_t i = 0; i < stretches; i += 92)
        refuses(arrays_at + 32 * i + 24, 2, 1, "whether arrays overlap");
}
