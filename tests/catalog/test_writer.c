/* test_writer.c - what a writer of catalogs refuses, and the numbers that it gives to texts. */
#include "catalog/small_manifest.h"
#include "catalog/store.h"
#include "catalog/texts.h"
#include "support/folder.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

static char folder[TEST_FOLDER];

static void make_folder(void) { test_folder_make(folder, "writer"); }
static void remove_folder(void) { test_folder_remove(folder); }

TestSuite(writer, .init = make_folder, .fini = remove_folder);

Test(writer, manifests_that_a_catalog_has_no_room_for)
{
    static const struct {
        uint32_t    format, warnings, steps, files;
        const char *message;
    } cases[] = {
        { HDX_CATALOG_FORMAT, 16, 32, 32, "" },
        { HDX_CATALOG_FORMAT - 1, 0, 0, 0, "manifest with format 2, 0 warnings, 0 steps, 0 files" },
        { HDX_CATALOG_FORMAT + 1, 0, 0, 0, "manifest with format 4, 0 warnings, 0 steps, 0 files" },
        { HDX_CATALOG_FORMAT, 17, 0, 0, "manifest with format 3, 17 warnings, 0 steps, 0 files" },
        { HDX_CATALOG_FORMAT, 0, 33, 0, "manifest with format 3, 0 warnings, 33 steps, 0 files" },
        { HDX_CATALOG_FORMAT, 0, 0, 33, "manifest with format 3, 0 warnings, 0 steps, 33 files" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hdx_catalog_writer *w;
        hdx_manifest        m = small_manifest();
        hdx_error           err = { 0 };
        m.format = cases[i].format;
        m.warning_count = cases[i].warnings;
        m.step_count = cases[i].steps;
        m.file_count = cases[i].files;
        cr_assert(hdx_catalog_create(hdx_io_system(), folder, NULL, &w, NULL) == HDX_OK);
        const hdx_code code = hdx_catalog_put_manifest(w, &m, &err);
        cr_expect(code == (cases[i].message[0] == '\0' ? HDX_OK : HDX_USAGE));
        cr_expect_str_eq(err.message, cases[i].message);
        if (code == HDX_OK) { /* nor two of them */
            cr_expect(hdx_catalog_put_manifest(w, &m, &err) == HDX_USAGE);
            cr_expect_str_eq(err.message, "key m is written twice");
        }
        hdx_catalog_abandon(w);
    }
}

Test(writer, roots_that_no_search_would_find)
{
    static const struct {
        hdx_root    roots[2];
        const char *message;
    } cases[] = {
        { { { 1, 1, 5, 3 }, { 1, 1, 5, 3 } }, "" },
        { { { 1, 1, 5, 3 }, { 1, 1, 5, 4 } }, "" },
        { { { 1, 1, 5, 3 }, { 1, 1, 5, 2 } }, "roots are not sorted: number 1" },
        { { { 1, 1, 5, 3 }, { 1, 1, 6, 2 } }, "" },
        { { { 1, 1, 5, 3 }, { 1, 1, 4, 9 } }, "roots are not sorted: number 1" },
        { { { 1, 1, 5, 3 }, { 1, 2, 4, 2 } }, "" },
        { { { 1, 1, 5, 3 }, { 1, 0, 9, 9 } }, "roots are not sorted: number 1" },
        { { { 1, 1, 5, 3 }, { 2, 0, 4, 2 } }, "" },
        { { { 1, 1, 5, 3 }, { 0, 9, 9, 9 } }, "roots are not sorted: number 1" },
        { { { 1, 1, 5, -1 }, { 2, 1, 5, INT32_MAX } }, "" },
        { { { 1, 1, 5, -1 }, { 2, 1, 5, -2 } }, "root 1 has type 1, frame -2" },
        { { { 1, 1, 5, INT32_MIN }, { 2, 1, 5, 0 } }, "root 0 has type 1, frame -2147483648" },
        { { { 1, 1, 5, 3 }, { 2, HDX_ROOT_TYPES - 1, 5, 3 } }, "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hdx_catalog_writer *w;
        hdx_error           err = { 0 };
        cr_assert(hdx_catalog_create(hdx_io_system(), folder, NULL, &w, NULL) == HDX_OK);
        cr_expect(hdx_catalog_put_roots(w, cases[i].roots, 2, &err) ==
                      (cases[i].message[0] == '\0' ? HDX_OK : HDX_USAGE),
                  "case %zu", i);
        cr_expect_str_eq(err.message, cases[i].message);
        hdx_catalog_abandon(w);
    }
    const hdx_root      wrong = { 1, HDX_ROOT_TYPES, 5, 0 };
    hdx_catalog_writer *w;
    hdx_error           err = { 0 };
    char                want[80];
    cr_assert(hdx_catalog_create(hdx_io_system(), folder, NULL, &w, NULL) == HDX_OK);
    cr_expect(hdx_catalog_put_roots(w, &wrong, 1, &err) == HDX_USAGE);
    (void)snprintf(want, sizeof want, "root 0 has type %d, frame 0", HDX_ROOT_TYPES);
    cr_expect_str_eq(err.message, want);
    hdx_catalog_abandon(w);
}

Test(writer, more_than_32_bits_count_and_classes_out_of_order)
{
    const uint64_t       above = (uint64_t)UINT32_MAX + 1;
    hdx_catalog_writer  *w;
    hdx_error            err = { 0 };
    const hdx_heap_space heaps[] = { { 'A', { "app", 3 }, 1, 2, 3, 4 }, { 'B', { "boot", 4 }, 1, 2, 3, 4 } };
    const hdx_thread     threads[] = { { .object = 1 }, { .object = 2 } };
    cr_assert(hdx_catalog_create(hdx_io_system(), folder, NULL, &w, NULL) == HDX_OK);
    cr_expect(hdx_catalog_put_heaps(w, heaps, above, &err) == HDX_LIMIT);
    cr_expect_str_eq(err.message, "4294967296 heaps; the maximum is 4294967295");
    cr_expect(hdx_catalog_put_threads(w, threads, above, &err) == HDX_LIMIT);
    cr_expect_str_eq(err.message, "4294967296 threads; the maximum is 4294967295");
    cr_assert(hdx_catalog_put_heaps(w, heaps, 1, NULL) == HDX_OK);
    cr_assert(hdx_catalog_put_heaps(w, heaps + 1, 1, NULL) == HDX_OK);
    cr_expect(hdx_catalog_put_heaps(w, heaps, UINT32_MAX - 1, &err) == HDX_LIMIT);
    cr_expect_str_eq(err.message, "4294967294 heaps; the maximum is 4294967295");
    cr_assert(hdx_catalog_put_threads(w, threads, 2, NULL) == HDX_OK);
    cr_expect(hdx_catalog_put_threads(w, threads, UINT32_MAX - 1, &err) == HDX_LIMIT);
    hdx_class c = { .number = 1, .super = HDX_NO_CLASS, .id = HDX_NO_ID };
    cr_expect(hdx_catalog_put_class(w, &c, &err) == HDX_USAGE);
    cr_expect_str_eq(err.message, "class 1 is written as number 0");
    c.number = 0;
    cr_expect(hdx_catalog_put_class(w, &c, &err) == HDX_OK);
    cr_expect(hdx_catalog_put_class(w, &c, &err) == HDX_USAGE);
    cr_expect_str_eq(err.message, "class 0 is written as number 1");
    hdx_manifest          m = small_manifest();
    hdx_catalog          *r;
    const hdx_heap_space *back;
    uint64_t              count;
    cr_assert(hdx_catalog_put_manifest(w, &m, NULL) == HDX_OK && hdx_catalog_commit(w, NULL) == HDX_OK);
    cr_assert(hdx_catalog_open(hdx_io_system(), folder, &r, NULL) == HDX_OK);
    cr_assert(hdx_catalog_heaps(r, &back, &count, NULL) == HDX_OK && count == 2);
    for (unsigned i = 0; i < 2; i++)
        cr_expect(back[i].number == heaps[i].number && hdx_text_same(back[i].name, heaps[i].name) &&
                  back[i].objects == 1 && back[i].bytes == 2 && back[i].live_objects == 3 && back[i].live_bytes == 4);
    hdx_catalog_close(r);
    hdx_catalog_close(NULL);
    hdx_catalog_abandon(NULL);
}

Test(writer, folders_whose_path_is_too_long)
{
    char *path = malloc(5000), file[HDX_PATH_MAX];
    memset(path, 'x', 5000);
    for (size_t len = 4082; len <= 4085; len++) { /* "/catalog.mdb" has twelve, and there is a NUL */
        hdx_error err = { 0 };
        path[len] = '\0';
        cr_expect(hdx_catalog_path(file, path, HDX_CATALOG_FILE, &err) == (len <= 4083 ? HDX_OK : HDX_USAGE), "%zu",
                  len);
        cr_expect_str_eq(err.message, len <= 4083 ? "" : "path too long");
        hdx_catalog *c = (hdx_catalog *)1;
        cr_expect(hdx_catalog_open(hdx_io_system(), path, &c, NULL) == (len <= 4083 ? HDX_IO : HDX_USAGE));
        cr_expect(c == NULL);
        hdx_catalog_writer *w = (hdx_catalog_writer *)1;
        cr_expect(hdx_catalog_create(hdx_io_system(), path, NULL, &w, NULL) == (len <= 4083 ? HDX_IO : HDX_USAGE));
        cr_expect(w == NULL);
        path[len] = 'x';
    }
    free(path);
}

Test(writer, no_text_gets_two_numbers)
{
    enum { MOST = 5000 };
    static char     text[2][MOST][24];
    hdx_mem         mem = { 0 };
    hdx_text_table *t = malloc(sizeof *t);
    uint32_t        number;
    hdx_text_table_init(t, &mem);
    for (unsigned round = 0; round < 2; round++)
        for (uint32_t i = 0; i < MOST; i++) {
            (void)snprintf(text[round][i], sizeof text[round][i], "%.*s%u", (int)(i % 17), "abcdefghijklmnopq", i);
            const hdx_text one = { text[round][i], (uint32_t)strlen(text[round][i]) };
            cr_assert(hdx_text_number(t, one, &number, NULL) == HDX_OK);
            cr_assert(number == i, "%u: %u", i, number); /* in the order of first sight, whatever its place in memory */
            cr_assert(hdx_text_number(t, one, &number, NULL) == HDX_OK && number == i);
            if (round == 0) {
                uint64_t slots = 1024;
                while (slots < 2 * (uint64_t)(i + 1))
                    slots *= 2;
                cr_assert(t->slot_count == slots, "%u texts: %llu slots", i + 1, (unsigned long long)t->slot_count);
            }
        }
    cr_expect(t->count == MOST);
    const hdx_text part = { text[0][4000], 3 }, none = { NULL, 0 }, empty = { "", 0 };
    cr_expect(hdx_text_number(t, part, &number, NULL) == HDX_OK && number == MOST); /* the same place, another length */
    cr_expect(hdx_text_number(t, none, &number, NULL) == HDX_OK && number == MOST + 1);
    cr_expect(hdx_text_number(t, empty, &number, NULL) == HDX_OK && number == MOST + 1);
    cr_expect(hdx_text_number(t, none, &number, NULL) == HDX_OK && number == MOST + 1);
    hdx_text_table_free(t);
    cr_expect(mem.used == 0);
    free(t);
}
