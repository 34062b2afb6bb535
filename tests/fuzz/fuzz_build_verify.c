/*
 * fuzz_build_verify.c - any bytes as a dump, built as the input says: whatever `index` builds, `verify --full` accepts,
 * and where the dump was refused or did not fit, it was said with the code for that.
 *
 *   input   0     bits 0-1 --until, bits 2-3 threads - 1, bits 4-6 compressed how, bit 7 another build, which must come
 *                 to the same bytes
 *           1     budget: 0 none, else 40 MB and a little more than that for each
 *           then  the dump
 *
 * With libFuzzer half of the mutations change ids, types, counts and tags of records (build/mutate.h), the others
 * whatever libFuzzer likes.
 */
#include "making/mutate.h"
#include "making/partial_build.h"
#include "fuzz/folder.h"
#include "support/gzip_maker.h"

#include <heapdex/heapdex.h>

#define HEAD 2u

int    LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size) __attribute__((weak));

static char dump[FOLDER_PATH], place[FOLDER_PATH];

static void must(bool ok, const char *what, const hdx_error *err)
{
    if (ok)
        return;
    fprintf(stderr, "%s: %s: %s: %s\n", what, hdx_code_name(err->code), err->where, err->message);
    abort();
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    static mutate_places places;
    uint64_t             state = seed;
    if (size <= HEAD || mutate_random(&state, 4) == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    if (mutate_random(&state, 8) == 0)
        data[mutate_random(&state, HEAD)] = (uint8_t)mutate_random(&state, 256);
    for (uint64_t n = 1 + mutate_random(&state, 4); n > 0; n--) {
        mutate_find(&places, data + HEAD, size - HEAD);
        if (places.count == 0)
            return LLVMFuzzerMutate(data, size, max_size);
        mutate_once(&places, data + HEAD, &state);
    }
    return size;
}

static void save(const uint8_t *data, size_t size, unsigned how)
{
    gm_bytes        out = { NULL, 0, 0 };
    const gm_bytes  plain = { (uint8_t *)(uintptr_t)data, size, size };
    const gm_member member = { .flush_every = how == 4 ? 100 : 0 };
    const size_t    half = size / 2;
    switch (how) {
    case 1: gm_jdk_put(&out, &plain, 300); break;
    case 2: gm_bgzf_put(&out, &plain); break;
    case 3: /* an empty member between two */
        gm_member_put(&out, data, half, &member);
        gm_member_put(&out, data, 0, &member);
        gm_member_put(&out, data + half, size - half, &member);
        break;
    case 4: gm_member_put(&out, data, size, &member); break;
    default: folder_save(dump, data, size); return;
    }
    folder_save(dump, out.at, out.len);
    gm_free(&out);
}

static hdx_code build(const hdx_index_options *options)
{
    hdx_index_report report;
    hdx_graph       *g;
    hdx_error        err = { .code = HDX_OK };
    const hdx_code   code = hdx_index_build(options, &report, &err);
    must(code == HDX_OK || code == HDX_BAD_DUMP || code == HDX_LIMIT, "build", &err);
    if (code != HDX_OK)
        return code;
    must(hdx_graph_open(place, dump, &g, &err) == HDX_OK, "open", &err);
    must(hdx_graph_verify(g, true, &err) == HDX_OK, "verify", &err);
    hdx_graph_close(g);
    return HDX_OK;
}

/* Index files are equal however they came to be; the catalog tells of times. */
static void compare(partial_build *a, partial_build *b)
{
    const hdx_error err = { .code = HDX_OK };
    must(a->count == b->count, "files", &err);
    for (unsigned i = 0; i < a->count; i++) {
        const partial_file *f = partial_find(b, a->files[i].name);
        must(f != NULL && (strstr(f->name, ".hdx") == NULL ||
                           (f->len == a->files[i].len && memcmp(f->at, a->files[i].at, f->len) == 0)),
             a->files[i].name, &err);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hdx_index_options options = { .dump = dump, .max_uncompressed = 64u << 20 };
    char              path[FOLDER_PATH];
    partial_build     first = { .count = 0 }, second = { .count = 0 };
    if (size < HEAD)
        return 0;
    folder_path(dump, "a.hprof");
    folder_path(place, "a.hprof.hdx");
    save(data + HEAD, size - HEAD, data[0] >> 4 & 7);
    options.until = (hdx_step)(data[0] & 3);
    options.threads = 1 + (data[0] >> 2 & 3);
    options.memory = data[1] == 0 ? 0 : (40ull << 20) + ((uint64_t)data[1] << 14);
    hdx_code code = build(&options);
    if (code == HDX_OK && (data[0] & 128) != 0) {
        partial_read_folder(&first, place);
        (void)hdx_index_remove(&options, path, sizeof path, NULL);
        options.threads = 1;
        options.memory = 0;
        const hdx_error err = { .code = HDX_OK };
        must(build(&options) == HDX_OK, "again", &err);
        partial_read_folder(&second, place);
        compare(&first, &second);
        partial_free(&first);
        partial_free(&second);
    }
    (void)hdx_index_remove(&options, path, sizeof path, NULL);
    return 0;
}
