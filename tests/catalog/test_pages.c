/*
 * test_pages.c - what is wrong with a page of LMDB is told at the same byte as when pages.txt was written; and what a
 * catalog refuses to hold, or to be made from.
 */
#include "catalog/catalog.h"
#include "catalog/values.h"
#include "support/checksums.h"
#include "support/folder.h"

static char folder[TEST_FOLDER];

static void make_folder(void) { test_folder_make(folder, "pages"); }
static void remove_folder(void) { test_folder_remove(folder); }

TestSuite(pages, .init = make_folder, .fini = remove_folder);

static hdx_catalog_writer *create(void)
{
    hdx_catalog_writer *w = NULL;
    cr_assert(hdx_catalog_create(hdx_io_system(), folder, NULL, &w, NULL) == HDX_OK);
    return w;
}

static hdx_manifest manifest(void)
{
    return (hdx_manifest){
        .format = HDX_CATALOG_FORMAT, .heapdex = "0.1.0", .version = "1.0.2", .id_size = 8, .objects = 100000
    };
}

static void put_class(hdx_catalog_writer *w, uint32_t number, uint32_t super, const char *name)
{
    const hdx_class c = { .name = { name, (uint32_t)strlen(name) },
                          .address = 0x1000 + number,
                          .id = number,
                          .number = number,
                          .super = super,
                          .super_address = super == HDX_NO_CLASS ? 0 : 0x1000 + super };
    cr_assert(hdx_catalog_put_class(w, &c, NULL) == HDX_OK);
}

static hdx_buffer file_of(const char *name)
{
    char       path[96], bytes[4096];
    hdx_buffer b = hdx_buffer_of(NULL);
    size_t     n;
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "rb");
    cr_assert(f != NULL);
    while ((n = fread(bytes, 1, sizeof bytes, f)) > 0)
        hdx_buffer_put(&b, bytes, n);
    (void)fclose(f);
    return b;
}

/* Classes enough for a branch page, and a value that takes pages of its own. */
static hdx_buffer some_catalog(void)
{
    hdx_catalog_writer *w = create();
    hdx_manifest        m = manifest();
    char                name[80];
    hdx_root           *roots = calloc(30000, sizeof *roots);
    for (uint32_t i = 0; i < 300; i++) {
        (void)snprintf(name, sizeof name, "app.package%u.Class%u", i / 10, i);
        put_class(w, i, i == 0 ? HDX_NO_CLASS : i / 2, name);
    }
    for (unsigned i = 0; i < 30000; i++)
        roots[i] = (hdx_root){ .object = i / 3, .type = HDX_ROOT_JAVA_LOCAL, .thread = 5, .frame = (int32_t)(i % 3) };
    cr_assert(hdx_catalog_put_roots(w, roots, 30000, NULL) == HDX_OK);
    cr_assert(hdx_catalog_put_manifest(w, &m, NULL) == HDX_OK && hdx_catalog_commit(w, NULL) == HDX_OK);
    free(roots);
    return file_of("catalog.mdb");
}

static uint64_t text_of(void *context, const char *ask, hdx_buffer *b)
{
    static const uint8_t masks[] = { 0x01, 0x02, 0x08, 0x40, 0xff };
    hdx_buffer          *file = context;
    unsigned             from, count;
    uint64_t             n = 0;
    cr_assert(sscanf(ask, "%u %u", &from, &count) == 2);
    for (uint64_t page = 0; page < file->len; page += page < 40 * 4096 ? 4096 : 9 * 4096)
        for (uint64_t at = page + from; at < page + from + count && at < file->len; at++)
            for (size_t k = 0; k < sizeof masks; k++, n++) {
                hdx_error err = { .offset = 0 };
                file->at[at] = (char)(file->at[at] ^ masks[k]);
                const hdx_code code = hdx_check_pages((hdx_view){ (const uint8_t *)file->at, file->len }, &err);
                file->at[at] = (char)(file->at[at] ^ masks[k]);
                hdx_buffer_format(b, "%llu %u %d %llu\n", (unsigned long long)at, masks[k], (int)code,
                                  (unsigned long long)(code == HDX_OK ? 0 : err.offset));
            }
    return n;
}

Test(pages, are_refused_where_they_were)
{
    hdx_buffer file = some_catalog();
    cr_assert(hdx_check_pages((hdx_view){ (const uint8_t *)file.at, file.len }, NULL) == HDX_OK);
    checksums_check(HDX_TREE "/tests/catalog/pages.txt", text_of, &file);
    hdx_buffer_free(&file);
}

Test(pages, of_other_sizes_than_lmdb_has_are_refused)
{
    static const uint32_t sizes[] = { 0, 1, 256, 511, 513, 3000, 4095, 4097, 65536, 1u << 31 };
    hdx_buffer            file = some_catalog();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        hdx_error err;
        hdx_put32((uint8_t *)file.at + 40, sizes[i]);
        cr_expect(hdx_check_pages((hdx_view){ (const uint8_t *)file.at, file.len }, &err) == HDX_DAMAGED, "%u",
                  sizes[i]);
        cr_expect(err.offset == 40, "%u: %llu", sizes[i], (unsigned long long)err.offset);
    }
    hdx_put32((uint8_t *)file.at + 40, 4096);
    for (size_t len = 0; len < 2 * 4096; len += 113) {
        cr_expect(hdx_check_pages((hdx_view){ (const uint8_t *)file.at, len }, NULL) == HDX_DAMAGED, "%zu bytes", len);
    }
    hdx_buffer_free(&file);
}

/* ---- content ---- */

Test(pages, of_classes_that_are_their_own_ancestors_are_damage)
{
    static const uint32_t supers[][4] = {
        { HDX_NO_CLASS, 0, 1, 2 }, { 0, 0, 0, 0 },
        { HDX_NO_CLASS, 2, 3, 1 }, { 1, 0, HDX_NO_CLASS, 2 },
        { HDX_NO_CLASS, 0, 3, 3 }, { 3, 3, 3, HDX_NO_CLASS },
    };
    static const bool whole[] = { true, false, false, false, false, true };
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        hdx_catalog_writer *w = create();
        hdx_manifest        m = manifest();
        hdx_catalog        *c;
        const hdx_class    *classes;
        uint32_t            count = 9;
        for (uint32_t k = 0; k < 4; k++)
            put_class(w, k, supers[i][k], "app.A");
        cr_assert(hdx_catalog_put_manifest(w, &m, NULL) == HDX_OK && hdx_catalog_commit(w, NULL) == HDX_OK);
        cr_assert(hdx_catalog_open(hdx_io_system(), folder, &c, NULL) == HDX_OK);
        const hdx_code code = hdx_catalog_classes(c, &classes, &count, NULL);
        cr_expect(code == (whole[i] ? HDX_OK : HDX_DAMAGED), "%zu: %d", i, code);
        cr_expect(count == (whole[i] ? 4 : 0) && (classes != NULL) == whole[i], "%zu: %u classes", i, count);
        hdx_catalog_close(c);
    }
}

Test(pages, are_not_committed_without_a_manifest)
{
    hdx_error err;
    cr_expect(hdx_catalog_commit(create(), &err) == HDX_USAGE);
    cr_expect_str_eq(err.message, "commit without a manifest");
    hdx_catalog *c;
    cr_expect(hdx_catalog_open(hdx_io_system(), folder, &c, NULL) == HDX_NOT_FOUND);
}

Test(pages, hold_threads_that_come_in_parts_and_no_more_than_32_bits_count)
{
    hdx_catalog_writer *w = create();
    hdx_manifest        m = manifest();
    const hdx_thread    threads[] = { { .object = 3, .serial = 1 },
                                      { .object = 5, .serial = 2 },
                                      { .object = 9, .serial = 3 } };
    const hdx_thread   *back;
    hdx_catalog        *c;
    uint64_t            count = 0;
    cr_assert(hdx_catalog_put_threads(w, threads, 1, NULL) == HDX_OK);
    cr_assert(hdx_catalog_put_threads(w, threads + 1, 2, NULL) == HDX_OK);
    cr_expect(hdx_catalog_put_threads(w, threads, UINT32_MAX, NULL) == HDX_LIMIT);
    cr_assert(hdx_catalog_put_manifest(w, &m, NULL) == HDX_OK && hdx_catalog_commit(w, NULL) == HDX_OK);
    cr_assert(hdx_catalog_open(hdx_io_system(), folder, &c, NULL) == HDX_OK);
    cr_assert(hdx_catalog_threads(c, &back, &count, NULL) == HDX_OK && count == 3);
    cr_expect(back[0].object == 3 && back[1].object == 5 && back[2].object == 9 && back[2].serial == 3);
    hdx_catalog_close(c);
}
