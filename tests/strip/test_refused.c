/*
 * test_refused.c - whichever request for memory is refused, or whichever read fails: writing, recognising, restoring
 * and reading a stripped dump say so, and no file is left.
 */
#include "told.h"

#include "base/crc.h"
#include "support/refusing.h"

static char dump[64], stripped[64], back[64];

typedef struct question {
    const char      *name;
    hdx_strip_policy policy;
    bool             bitmaps;
} question;

static uint64_t sum; /* of the answer */

static uint64_t sum_of(const char *path)
{
    bytes          all = slurp(path);
    const uint32_t crc = hdx_crc32c(0, all.at, all.len);
    free(all.at);
    return crc;
}

static hdx_code write_it(const question *q, hdx_error *err)
{
    const char *const       drop[] = { "java.lang.Integer" };
    hdx_strip_report        r = { .policy = HDX_STRIP_NONE };
    const hdx_strip_options o = { .dump = dump,
                                  .output = stripped,
                                  .policy = q->policy,
                                  .keep_bitmaps = q->bitmaps,
                                  .drop_classes = drop,
                                  .drop_count = q->policy != HDX_STRIP_REDACTED };
    return hdx_strip_write(&o, &r, err);
}

static hdx_code detect_it(const question *q, hdx_error *err)
{
    const hdx_detect_options options = { .full = true };
    hdx_detected             d;
    const hdx_code           code = hdx_strip_detect(stripped, &options, &d, err);
    (void)q;
    sum = code == HDX_OK ? d.what.confidence + 1000u * d.what.evidence_count + 100000u * d.what.policy : 0;
    return code;
}

static hdx_code restore_it(const question *q, hdx_error *err)
{
    hdx_strip_report r = { .policy = HDX_STRIP_NONE };
    (void)q;
    return restore_to(stripped, back, &r, err);
}

/* All bytes of the overlay, once forwards and some at random places. */
static hdx_code read_it(const question *q, hdx_error *err)
{
    hdx_source   *source;
    hdx_stripping what;
    uint8_t       got[512];
    size_t        n = 0;
    hdx_code      code = hdx_source_open(stripped, NULL, &source, err);
    (void)q;
    sum = 0;
    if (code != HDX_OK)
        return code;
    if ((code = hdx_strip_recognise(source, NULL, HDX_STRIP_WINDOW, &what, err)) == HDX_OK &&
        (code = hdx_strip_overlay_set(source, what.overlay, err)) == HDX_OK)
        for (uint64_t at = 0; (code = hdx_source_read_at(source, at, got, sizeof got, &n, err)) == HDX_OK && n > 0;
             at += n)
            sum = sum * 31 + hdx_crc32c(0, got, n);
    for (uint64_t at = 3000; code == HDX_OK && at > 300; at -= 271) {
        code = hdx_source_read_at(source, at, got, 40, &n, err);
        sum = sum * 31 + hdx_crc32c(0, got, n);
    }
    hdx_source_close(source);
    return code;
}

static unsigned refuse_each(const question *q, const char *what, hdx_code (*ask)(const question *q, hdx_error *err),
                            const char *made, bool memory)
{
    hdx_error err = { .offset = 0 };
    unsigned  n = 1;
    cr_assert(ask(q, &err) == HDX_OK, "%s %s: %s", q->name, what, err.message);
    const uint64_t want = made == NULL ? sum : sum_of(made);
    for (bool fired = true; fired; n++) {
        if (made != NULL)
            (void)unlink(made);
        err = (hdx_error){ .offset = 0 };
        memory ? refusing_memory(n) : refusing_input(n);
        const hdx_code code = ask(q, &err);
        fired = refusing_ends();
        if (made != NULL && code == HDX_OK)
            sum = sum_of(made);
        /* what is only looked up, or kept for later reads of a compressed file, may be missing */
        cr_assert(code == HDX_OK || (fired && err.message[0] != '\0'), "%s %s, request %u: %d", q->name, what, n,
                  (int)code);
        cr_assert(code == HDX_OK || (memory ? code == HDX_LIMIT : code != HDX_LIMIT), "%s %s, request %u: %d %s",
                  q->name, what, n, (int)code, err.message);
        cr_assert(made == NULL || (access(made, F_OK) == 0) == (code == HDX_OK));
        cr_assert(code != HDX_OK || sum == want, "%s %s, request %u: another answer", q->name, what, n);
    }
    return n;
}

static unsigned refuse_all(bool memory, bool slashes)
{
    static const question questions[] = {
        { "matrix", HDX_STRIP_MATRIX, false }, { "matrix with bitmaps", HDX_STRIP_MATRIX, true },
        { "koom", HDX_STRIP_KOOM, false },     { "tailor", HDX_STRIP_TAILOR, false },
        { "shark", HDX_STRIP_SHARK, false },   { "redacted", HDX_STRIP_REDACTED, false }
    };
    place    p;
    unsigned refusals = 0;
    test_folder_make_fast(p.folder, "refused");
    (void)snprintf(dump, sizeof dump, "%s/a.hprof", p.folder);
    (void)snprintf(stripped, sizeof stripped, "%s/b.hprof", p.folder);
    (void)snprintf(back, sizeof back, "%s/c.hprof", p.folder);
    dump_maker *m = android_dump_new(4, slashes);
    dump_maker_save(m, dump);
    dump_maker_free(m);
    for (size_t q = 0; q < sizeof questions / sizeof *questions; q++) {
        hdx_error err;
        sum = 0;
        refusals += refuse_each(&questions[q], "writing", write_it, stripped, memory);
        cr_assert(access(stripped, F_OK) == 0);
        refusals += refuse_each(&questions[q], "recognising", detect_it, NULL, memory);
        refusals += refuse_each(&questions[q], "reading", read_it, NULL, memory);
        sum = 0;
        if (restore_it(&questions[q], &err) == HDX_OK)
            refusals += refuse_each(&questions[q], "restoring", restore_it, back, memory);
        (void)unlink(back);
    }
    test_folder_remove(p.folder);
    return refusals;
}

Test(refused, memory_is_told) { cr_expect(refuse_all(true, false) > 200); }
Test(refused, input_is_told) { cr_expect(refuse_all(false, true) > 80); }
