/*
 * test_refused.c - catalogs whose keys and values do not fit each other though their checksums are right, and checksums
 * of other lengths and formats: the code, the words and the place of each.
 */
#include "catalog/small_manifest.h"
#include "catalog/store.h"
#include "support/folder.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[TEST_FOLDER];

static void make_folder(void) { test_folder_make(folder, "refused"); }
static void remove_folder(void) { test_folder_remove(folder); }

TestSuite(refused, .init = make_folder, .fini = remove_folder);

/* ---- keys and values ---- */

typedef struct entry {
    uint8_t    key[16];
    size_t     len;
    hdx_buffer value;
} entry;

/* A heap of 100 objects: two classes, three roots of two objects, a thread, a heap, four texts in two chunks. */
enum { MANIFEST, NUMBERS_, CLASS0, CLASS1, HEAP0, ROOTS0, ROOTS1, THREAD0, TEXTS0, TEXTS2, ENTRIES };

static void put_all(hdx_buffer *b, const uint64_t *v, unsigned n)
{
    hdx_buffer_clear(b);
    for (unsigned i = 0; i < n; i++)
        hdx_put_number(b, v[i]);
}
#define PUT(b, ...)                                                                                                    \
    put_all(b, (const uint64_t[]){ __VA_ARGS__ }, sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))
#define NUMBERED(e, letter, n) ((e)->len = hdx_key_numbered((e)->key, letter, n))

static void entries_of(entry e[ENTRIES])
{
    const hdx_manifest m = small_manifest();
    for (unsigned i = 0; i < ENTRIES; i++)
        e[i] = (entry){ .value = hdx_buffer_of(NULL) };
    e[MANIFEST].len = hdx_key_of(e[MANIFEST].key, HDX_KEY_MANIFEST);
    hdx_encode_manifest(&e[MANIFEST].value, &m);
    e[NUMBERS_].len = hdx_key_of(e[NUMBERS_].key, HDX_KEY_NUMBERS);
    PUT(&e[NUMBERS_].value, 2, 1, 3, 1, 4);
    for (uint32_t i = 0; i < 2; i++) {
        NUMBERED(&e[CLASS0 + i], HDX_KEY_CLASS, i);
        PUT(&e[CLASS0 + i].value, i, 16, 1 + i, i, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    }
    NUMBERED(&e[HEAP0], HDX_KEY_HEAP, 0);
    PUT(&e[HEAP0].value, 65, 2, 3, 4, 5, 6);
    e[ROOTS0].len = hdx_key_root(e[ROOTS0].key, 10, 0);
    PUT(&e[ROOTS0].value, 0, 0, 5, 2);
    e[ROOTS1].len = hdx_key_root(e[ROOTS1].key, 15, 0);
    PUT(&e[ROOTS1].value, 0, 4);
    NUMBERED(&e[THREAD0], HDX_KEY_THREAD, 0);
    PUT(&e[THREAD0].value, 11, 1, 1, 0, 1, 2, 3, 34);
    NUMBERED(&e[TEXTS0], HDX_KEY_TEXT, 0);
    hdx_buffer_put(&e[TEXTS0].value, "\1A\2bb", 5);
    NUMBERED(&e[TEXTS2], HDX_KEY_TEXT, 2);
    hdx_buffer_put(&e[TEXTS2].value, "\0\3ccc", 5);
}

static void write_entries(const entry e[ENTRIES])
{
    static const char *files[] = { "work", "catalog.mdb", "catalog.sum" };
    char               path[3][128];
    MDB_env           *env;
    MDB_txn           *txn;
    MDB_dbi            dbi;
    for (unsigned i = 0; i < 3; i++) {
        (void)snprintf(path[i], sizeof path[i], "%s/%s", folder, files[i]);
        (void)remove(path[i]);
    }
    cr_assert(mdb_env_create(&env) == 0 &&
              mdb_env_open(env, path[0], MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOSYNC, 0600) == 0);
    cr_assert(mdb_txn_begin(env, NULL, 0, &txn) == 0 && mdb_dbi_open(txn, NULL, 0, &dbi) == 0);
    for (unsigned i = 0; i < ENTRIES; i++) {
        MDB_val k = { e[i].len, (void *)(uintptr_t)e[i].key }, v = { (size_t)e[i].value.len, e[i].value.at };
        cr_assert(e[i].len == 0 || mdb_put(txn, dbi, &k, &v, 0) == 0);
    }
    cr_assert(mdb_txn_commit(txn) == 0);
    int fd = open(path[1], O_RDWR | O_CREAT, 0600);
    cr_assert(fd >= 0 && mdb_env_copyfd2(env, fd, MDB_CP_COMPACT) == 0);
    mdb_env_close(env);
    const off_t size = lseek(fd, 0, SEEK_END);
    uint8_t    *bytes = malloc((size_t)size), sum[HDX_SUM_SIZE];
    cr_assert(pread(fd, bytes, (size_t)size, 0) == size);
    (void)close(fd);
    hdx_encode_sum(sum, (const uint8_t *)"0123456789abcdef", (uint64_t)size, hdx_crc32c(0, bytes, (size_t)size));
    FILE *f = fopen(path[2], "wb");
    cr_assert(f != NULL && fwrite(sum, 1, sizeof sum, f) == sizeof sum);
    (void)fclose(f);
    free(bytes);
}

static const char *what(hdx_code code, const hdx_error *err)
{
    if (code == HDX_OK)
        return "";
    cr_expect(code == HDX_DAMAGED, "%d", (int)code);
    cr_expect_str_eq(err->where, "catalog");
    return err->message;
}

/*
 * What opening says, and each question by itself: classes, roots, threads, heaps, roots of object 15. NULL: the answer
 * is right. texts: what classes, threads and heaps say, which have names; NULL: each says its own.
 */
typedef struct answers {
    const char *open, *classes, *roots, *threads, *heaps, *roots_of, *texts;
} answers;

static void expect_said(const char *said, const char *want, const char *question, unsigned which)
{
    cr_expect(strcmp(said, want != NULL ? want : "") == 0, "case %u, %s: \"%s\"", which, question, said);
}

static void answers_are(const entry e[ENTRIES], const answers *want, unsigned which)
{
    hdx_catalog          *c = (hdx_catalog *)1;
    hdx_error             err = { 0 };
    const hdx_class      *classes = NULL;
    const hdx_root       *roots = NULL;
    const hdx_thread     *threads = NULL;
    const hdx_heap_space *heaps = NULL;
    hdx_root              some[4];
    uint32_t              n;
    uint64_t              count;
    write_entries(e);
    const char *said = what(hdx_catalog_open(hdx_io_system(), folder, &c, &err), &err);
    expect_said(said, want->open, "open", which);
    if (c == NULL)
        return;
    for (unsigned round = 0; round < 2; round++) { /* what failed fails again */
        said = what(hdx_catalog_roots_of(c, 15, some, 4, &count, &err), &err);
        expect_said(said, want->roots_of, "roots of", which);
        if (said[0] == '\0')
            cr_expect(count == 2 && some[0].object == 15 && some[0].type == 1 && some[1].type == 2, "case %u", which);
        said = what(hdx_catalog_classes(c, &classes, &n, &err), &err);
        expect_said(said, want->texts != NULL ? want->texts : want->classes, "classes", which);
        cr_expect(said[0] == '\0' ? n == 2 && classes[1].super == 0 && hdx_text_is(classes[1].name, "bb")
                                  : n == 0 && classes == NULL);
        said = what(hdx_catalog_threads(c, &threads, &count, &err), &err);
        expect_said(said, want->texts != NULL ? want->texts : want->threads, "threads", which);
        cr_expect(said[0] == '\0' ? count == 1 && threads[0].object == 10 && threads[0].frames[0].line == 17 &&
                                        hdx_text_is(threads[0].frames[0].source, "ccc")
                                  : count == 0 && threads == NULL);
        said = what(hdx_catalog_heaps(c, &heaps, &count, &err), &err);
        expect_said(said, want->texts != NULL ? want->texts : want->heaps, "heaps", which);
        cr_expect(said[0] == '\0' ? count == 1 && heaps[0].live_bytes == 6 && heaps[0].name.len == 0
                                  : count == 0 && heaps == NULL);
        said = what(hdx_catalog_roots(c, &roots, &count, &err), &err);
        expect_said(said, want->roots, "roots", which);
        cr_expect(said[0] == '\0' ? count == 3 && roots[2].object == 15 && roots[2].type == 2
                                  : count == 0 && roots == NULL);
    }
    hdx_catalog_close(c);
}

static void free_entries(entry e[ENTRIES])
{
    for (unsigned i = 0; i < ENTRIES; i++)
        hdx_buffer_free(&e[i].value);
}

Test(refused, keys_that_do_not_fit_each_other)
{
    static const char root_key_12[] = "root key is 12 bytes; expected 13";
    static const char root_key_14[] = "root key is 14 bytes; expected 13";
    static const struct {
        unsigned entry, len; /* len: of its key; 0: the entry is missing */
        unsigned at;         /* of the byte of the key that is another one */
        uint8_t  byte;
        answers  want;
    } cases[] = {
        { MANIFEST, 1, 0, HDX_KEY_MANIFEST, { NULL } }, /* as it is */
        { MANIFEST, 0, 0, 0, { .open = "key m is missing" } },
        { NUMBERS_, 0, 0, 0, { .open = "key n is missing" } },
        { CLASS0, 0, 0, 0, { .classes = "0 classes; key n has 2" } },
        { CLASS1, 5, 4, 2, { .classes = "1 classes; key n has 2" } },
        { CLASS1, 4, 3, 1, { .classes = "1 classes; key n has 2" } },
        { CLASS1, 6, 5, 0, { .classes = "1 classes; key n has 2" } },
        { TEXTS2, 5, 4, 3, { .texts = "2 texts; key n has 4" } },
        { TEXTS2, 5, 4, 1, { .texts = "2 texts; key n has 4" } },
        { TEXTS2, 6, 5, 0, { .texts = "2 texts; key n has 4" } },
        { TEXTS2, 4, 3, 0, { .texts = "0 texts; key n has 4" } },
        { TEXTS0, 0, 0, 0, { .texts = "0 texts; key n has 4" } },
        { TEXTS2, 0, 0, 0, { .texts = "2 texts; key n has 4" } },
        { ROOTS1, 12, 11, 0, { .roots = root_key_12, .roots_of = root_key_12 } },
        { ROOTS1, 14, 13, 0, { .roots = root_key_14, .roots_of = root_key_14 } },
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        entry e[ENTRIES];
        entries_of(e);
        e[cases[i].entry].len = cases[i].len;
        e[cases[i].entry].key[cases[i].at] = cases[i].byte;
        answers_are(e, &cases[i].want, i);
        free_entries(e);
    }
}

Test(refused, values_that_do_not_fit_each_other)
{
    static const char next_root[] = "roots from object 15: next root 85; the maximum is 100";
    static const struct {
        unsigned entry, at; /* of the byte of the value that is another one; all numbers take one byte */
        uint8_t  byte;
        answers  want;
    } cases[] = {
        { MANIFEST, 0, HDX_CATALOG_FORMAT - 1, { .open = "manifest format is 2; catalog.sum has 3" } },
        { NUMBERS_, 0, 3, { .classes = "2 classes; key n has 3" } },
        { NUMBERS_, 0, 1, { .classes = "1 classes; key n has 1" } },
        { NUMBERS_, 0, 10, { .classes = "2 classes; key n has 10" } },
        { NUMBERS_, 0, 11, { .classes = "10 classes; key n has 11" } },
        { NUMBERS_, 1, 2, { .heaps = "1 heaps; key n has 2" } },
        { NUMBERS_, 1, 0, { .heaps = "0 heaps; key n has 0" } },
        { NUMBERS_, 1, 11, { .heaps = "10 heaps; key n has 11" } },
        { NUMBERS_, 3, 2, { .threads = "1 threads; key n has 2" } },
        { NUMBERS_, 3, 0, { .threads = "0 threads; key n has 0" } },
        { NUMBERS_, 3, 11, { .threads = "10 threads; key n has 11" } },
        { NUMBERS_, 2, 4, { .roots = "3 roots; key n has 4" } },
        { NUMBERS_, 2, 2, { .roots = "3 roots; key n has 2" } },
        { NUMBERS_, 4, 5, { .texts = "4 texts; key n has 5" } },
        { NUMBERS_, 4, 3, { .texts = "texts from number 2: excess bytes: 4; the maximum is 0" } },
        { TEXTS2, 1, 4, { .texts = "texts from number 2: bytes of text 4; the maximum is 3" } },
        { ROOTS1, 0, 85, { .roots = next_root, .roots_of = next_root } },
        { CLASS0, 3, 2, { .classes = "class 0 is its own ancestor" } },
        { CLASS0, 2, 101, { .classes = "class 0: object id 101; the maximum is 100" } },
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        entry e[ENTRIES];
        entries_of(e);
        e[cases[i].entry].value.at[cases[i].at] = (char)cases[i].byte;
        answers_are(e, &cases[i].want, i);
        free_entries(e);
    }
}

/* A text takes a byte at least: more than the whole file has are not looked for. */
Test(refused, more_texts_than_the_file_has_bytes)
{
    entry       e[ENTRIES];
    char        text[80], path[128];
    struct stat s;
    entries_of(e);
    PUT(&e[NUMBERS_].value, 2, 1, 3, 1, UINT32_MAX);
    write_entries(e);
    (void)snprintf(path, sizeof path, "%s/catalog.mdb", folder);
    cr_assert(stat(path, &s) == 0);
    (void)snprintf(text, sizeof text, "%lld texts; key n has 4294967295", (long long)s.st_size);
    answers_are(e, &(answers){ .texts = text }, 0);
    free_entries(e);
}

Test(refused, a_chunk_of_roots_that_begins_before_the_last_one_ended)
{
    entry           e[ENTRIES];
    hdx_catalog    *c;
    hdx_root        some[4];
    uint64_t        count;
    hdx_error       err = { 0 };
    const hdx_root *roots;
    entries_of(e);
    e[ROOTS1].len = hdx_key_root(e[ROOTS1].key, 14, 0);
    write_entries(e);
    cr_assert(hdx_catalog_open(hdx_io_system(), folder, &c, NULL) == HDX_OK);
    cr_expect(hdx_catalog_roots(c, &roots, &count, &err) == HDX_DAMAGED);
    cr_expect_str_eq(err.message, "root 2 is out of order");
    cr_expect(hdx_catalog_roots_of(c, 14, some, 4, &count, &err) == HDX_OK);
    hdx_catalog_close(c);
    free_entries(e);
}

/* No roots at all, and nothing after the place where they would be. */
Test(refused, roots_that_are_all_missing)
{
    entry        e[ENTRIES];
    hdx_catalog *c;
    hdx_root     some[4];
    uint64_t     count = 9;
    entries_of(e);
    e[ROOTS0].len = e[ROOTS1].len = 0;
    write_entries(e);
    cr_assert(hdx_catalog_open(hdx_io_system(), folder, &c, NULL) == HDX_OK);
    cr_expect(hdx_catalog_roots_of(c, 15, some, 4, &count, NULL) == HDX_OK && count == 0);
    hdx_catalog_close(c);
    free_entries(e);
}

/* Roots are found where they are the first keys of the file, the last, or the only ones. */
Test(refused, roots_are_found_wherever_their_keys_lie)
{
    for (unsigned before = 0; before < 2; before++)
        for (unsigned behind = 0; behind < 2; behind++)
            for (hdx_id object = 9; object <= 17; object++) {
                entry        e[ENTRIES];
                hdx_catalog *c;
                hdx_root     some[2] = { { 0 } };
                uint64_t     count = 9;
                entries_of(e);
                if (before == 0)
                    e[CLASS0].len = e[CLASS1].len = e[HEAP0].len = 0;
                if (behind == 0)
                    e[THREAD0].len = e[TEXTS0].len = e[TEXTS2].len = 0;
                if (object == 17) { /* beside others, an object of which there are three, in three chunks */
                    e[ROOTS0].len = hdx_key_root(e[ROOTS0].key, 17, 0);
                    PUT(&e[ROOTS0].value, 0, 0);
                    e[ROOTS1].len = hdx_key_root(e[ROOTS1].key, 17, 1);
                    PUT(&e[ROOTS1].value, 0, 2, 0, 4);
                }
                write_entries(e);
                cr_assert(hdx_catalog_open(hdx_io_system(), folder, &c, NULL) == HDX_OK);
                for (unsigned decoded = 0; decoded < 2; decoded++) {
                    const uint64_t  want = object == 10 ? 1 : object == 15 ? 2 : object == 17 ? 3 : 0;
                    const hdx_root *all;
                    uint64_t        n;
                    for (uint64_t max = 0; max <= 2; max++) {
                        some[0].object = some[1].object = 4711;
                        cr_assert(hdx_catalog_roots_of(c, object, some, max, &count, NULL) == HDX_OK);
                        cr_expect(count == want, "object %llu: %llu", (unsigned long long)object,
                                  (unsigned long long)count);
                        for (uint64_t k = 0; k < 2; k++)
                            cr_expect(some[k].object == (k < max && k < want ? object : 4711));
                    }
                    cr_assert(hdx_catalog_roots(c, &all, &n, NULL) == HDX_OK && n == 3);
                }
                hdx_catalog_close(c);
                free_entries(e);
            }
}

/* ---- the sum ---- */
Test(refused, sums_of_other_lengths_and_formats)
{
    uint8_t  sum[80] = { 0 }, identity[16];
    uint64_t size;
    uint32_t crc;
    hdx_encode_sum(sum, (const uint8_t *)"0123456789abcdef", 1, 2);
    static const struct {
        unsigned    at, len;
        uint8_t     value;
        hdx_code    code;
        uint64_t    offset;
        const char *message;
    } cases[] = {
        { 0, 48, 'h', HDX_OK, 0, "" },
        { 0, 48, 'H', HDX_DAMAGED, 0, "48 bytes without the header of a catalog.sum" },
        { 7, 48, 'X', HDX_DAMAGED, 0, "48 bytes without the header of a catalog.sum" },
        { 0, 15, 'h', HDX_DAMAGED, 0, "15 bytes without the header of a catalog.sum" },
        { 0, 16, 'h', HDX_DAMAGED, 12, "16 bytes; expected 48 with zero at byte 12" },
        { 0, 47, 'h', HDX_DAMAGED, 12, "47 bytes; expected 48 with zero at byte 12" },
        { 0, 49, 'h', HDX_DAMAGED, 12, "49 bytes; expected 48 with zero at byte 12" },
        { 12, 48, 1, HDX_DAMAGED, 12, "48 bytes; expected 48 with zero at byte 12" },
        { 15, 48, 1, HDX_DAMAGED, 12, "48 bytes; expected 48 with zero at byte 12" },
        { 8, 48, 9, HDX_NOT_FOUND, 8, "index has format 9; this heapdex reads format 3" },
        { 8, 60, 9, HDX_NOT_FOUND, 8, "index has format 9; this heapdex reads format 3" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t   copy[80];
        hdx_error err = { 0 };
        memcpy(copy, sum, sizeof sum);
        copy[cases[i].at] = cases[i].value;
        if (cases[i].len >= 20 || cases[i].len == 16) {
            uint8_t *own = copy + cases[i].len - 4;
            hdx_put32(own, hdx_crc32c(0, copy, cases[i].len - 4));
        }
        const hdx_code code = hdx_decode_sum((hdx_view){ copy, cases[i].len }, identity, &size, &crc, &err);
        cr_expect(code == cases[i].code, "case %zu: %d", i, (int)code);
        cr_expect_str_eq(err.message, cases[i].message);
        cr_expect(err.offset == cases[i].offset);
        cr_expect((err.hint[0] != '\0') == (code == HDX_NOT_FOUND));
    }
    sum[20] ^= 1;
    hdx_error err = { 0 };
    cr_expect(hdx_decode_sum((hdx_view){ sum, 48 }, identity, &size, &crc, &err) == HDX_DAMAGED);
    cr_expect(strncmp(err.message, "checksum is ", 12) == 0 && err.offset == 44);
}
