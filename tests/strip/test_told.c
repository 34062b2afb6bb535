/*
 * test_told.c - what every policy writes and restores, byte for byte, what its report counts, and what becomes of a
 * file with one byte changed: told.txt has the checksums (support/checksums.h).
 */
#include "droid.h"
#include "support/checksums.h"

typedef unsigned long long ull;

typedef struct work {
    place             p;
    uint32_t          ids;
    bool              slashes;
    hdx_strip_options o;
    const char       *keep[1], *drop[1];
    char              words[256], dump[64], stripped[64], back[64];
} work;

/* "4 koom slashes drop=android.*" */
static void read_ask(work *w, const char *ask)
{
    (void)snprintf(w->words, sizeof w->words, "%s", ask);
    w->ids = (uint32_t)strtoul(strtok(w->words, " "), NULL, 10);
    const char *policy = strtok(NULL, " ");
    for (int k = HDX_STRIP_NONE; k < HDX_STRIP_POLICIES; k++)
        if (strcmp(hdx_strip_name((hdx_strip_policy)k), policy) == 0)
            w->o.policy = (hdx_strip_policy)k;
    for (const char *word; (word = strtok(NULL, " ")) != NULL;) {
        w->slashes |= strcmp(word, "slashes") == 0;
        w->o.keep_bitmaps |= strcmp(word, "bitmaps") == 0;
        w->o.map_names |= strcmp(word, "names") == 0;
        if (strncmp(word, "keep=", 5) == 0) {
            w->keep[w->o.keep_count++] = word + 5;
            w->o.keep_classes = w->keep;
        }
        if (strncmp(word, "drop=", 5) == 0) {
            w->drop[w->o.drop_count++] = word + 5;
            w->o.drop_classes = w->drop;
        }
    }
    test_folder_make_fast(w->p.folder, "told");
    (void)snprintf(w->dump, sizeof w->dump, "%s/a.hprof", w->p.folder);
    (void)snprintf(w->stripped, sizeof w->stripped, "%s/b.hprof", w->p.folder);
    (void)snprintf(w->back, sizeof w->back, "%s/c.hprof", w->p.folder);
    w->o.dump = w->dump;
    w->o.output = w->stripped;
    w->o.plain = true;
    dump_maker *m = droid_new(w->ids, w->slashes);
    dump_maker_save(m, w->dump);
    dump_maker_free(m);
}

static void put_report(hdx_buffer *b, const hdx_strip_report *r)
{
    hdx_buffer_format(b, "%llu %llu %llu %llu %llu %llu %llu %llu %llu %d %llu %llu %llu %d\n", (ull)r->records_in,
                      (ull)r->records_out, (ull)r->bytes_in, (ull)r->bytes_out, (ull)r->plain_in, (ull)r->plain_out,
                      (ull)r->dropped_shared, (ull)r->merged, (ull)r->absent_bytes, r->truncated, (ull)r->damage_at,
                      (ull)r->graph_in, (ull)r->graph_out, (int)r->policy);
    for (unsigned i = 0; i < r->kind_count; i++)
        hdx_buffer_format(b, "%s %llu %llu %llu %llu\n", r->kinds[i].record, (ull)r->kinds[i].in,
                          (ull)r->kinds[i].dropped, (ull)r->kinds[i].bytes_in, (ull)r->kinds[i].bytes_out);
}

static uint64_t put_file(hdx_buffer *b, const char *path)
{
    bytes          all = slurp(path);
    const uint64_t len = all.len;
    hdx_buffer_put(b, all.at, all.len);
    free(all.at);
    return len;
}

static void put_detected(hdx_buffer *b, const char *path)
{
    for (unsigned full = 0; full < 2; full++) {
        const hdx_detect_options options = { .full = full == 1 };
        hdx_detected             d = { .id_size = 0 };
        hdx_error                err = { .offset = 0 };
        const hdx_code           code = hdx_strip_detect(path, &options, &d, &err);
        hdx_buffer_format(b, "%d %llu %s %d %u %u %s %u %llu\n", (int)code, (ull)(code == HDX_OK ? 0 : err.offset),
                          hdx_strip_name(d.what.policy), (int)d.what.view, d.what.confidence, d.what.evidence_count,
                          d.format, d.id_size, (ull)d.what.bytes_read);
        for (unsigned i = 0; i < d.what.evidence_count; i++)
            hdx_buffer_format(b, "%s\n", d.what.evidence[i]);
    }
}

/* The whole of it as the library reads it, and which bytes are made up. */
static void put_view(hdx_buffer *b, const char *path)
{
    hdx_source   *source;
    hdx_stripping what;
    hdx_error     err;
    uint8_t       got[1024];
    size_t        n = 0;
    if (hdx_source_open(path, NULL, &source, &err) != HDX_OK)
        return;
    if (hdx_strip_recognise(source, NULL, HDX_STRIP_WINDOW, &what, &err) == HDX_OK &&
        hdx_strip_view_set(source, what.view, &err) == HDX_OK) {
        for (uint64_t at = 0; hdx_source_read_at(source, at, got, sizeof got, &n, &err) == HDX_OK && n > 0; at += n) {
            hdx_buffer_put(b, got, n);
            for (uint64_t k = at; k < at + n; k += 5)
                hdx_buffer_text(b, hdx_source_absent(source, k) ? "!" : ".");
        }
        hdx_buffer_format(b, "%d\n", (int)what.policy);
    }
    hdx_source_close(source);
}

static void put_restored(work *w, hdx_buffer *b)
{
    hdx_strip_report r = { .policy = HDX_STRIP_NONE };
    hdx_error        err = { .offset = 0 };
    const hdx_code   code = restore_to(w->stripped, w->back, &r, &err);
    hdx_buffer_format(b, "%d %llu\n", (int)code, (ull)(code == HDX_OK ? 0 : err.offset));
    cr_expect((access(w->back, F_OK) == 0) == (code == HDX_OK));
    if (code != HDX_OK)
        return;
    put_report(b, &r);
    (void)put_file(b, w->back);
    (void)unlink(w->back);
}

static uint64_t put_harmed(work *w, const char *path, hdx_buffer *b, bool as_source)
{
    bytes    all = slurp(path);
    uint64_t tries = 0;
    for (size_t at = 0; at < all.len; at += as_source ? 41 : 23, tries++) {
        static const uint8_t masks[] = { 0x01, 0xff, 0x20, 0x80 };
        const uint8_t        mask = masks[tries % 4];
        all.at[at] ^= mask;
        FILE *f = fopen(path, "wb");
        cr_assert(f != NULL && fwrite(all.at, 1, all.len, f) == all.len && fclose(f) == 0);
        all.at[at] ^= mask;
        hdx_buffer_format(b, "%zu\n", at);
        if (as_source) {
            hdx_strip_report r = { .policy = HDX_STRIP_NONE };
            hdx_error        err = { .offset = 0 };
            const hdx_code   code = hdx_strip_write(&w->o, &r, &err);
            hdx_buffer_format(b, "%d %llu\n", (int)code, (ull)(code == HDX_OK ? 0 : err.offset));
            cr_expect((access(w->stripped, F_OK) == 0) == (code == HDX_OK));
            if (code == HDX_OK) {
                put_report(b, &r);
                (void)put_file(b, w->stripped);
                (void)unlink(w->stripped);
            }
        } else {
            put_detected(b, path);
            put_view(b, path);
            put_restored(w, b);
        }
    }
    free(all.at);
    return tries;
}

static uint64_t text_of(void *context, const char *ask, hdx_buffer *b)
{
    work             w = { .ids = 0 };
    hdx_strip_report r = { .policy = HDX_STRIP_NONE };
    hdx_error        err = { .offset = 0 };
    uint64_t         n;
    (void)context;
    read_ask(&w, strchr(ask, ' ') + 1);
    if (ask[0] == 's') {
        n = put_harmed(&w, w.dump, b, true);
    } else {
        cr_assert(hdx_strip_write(&w.o, &r, &err) == HDX_OK, "%s: %s", ask, err.message);
        if (ask[0] == 'w') {
            put_report(b, &r);
            put_detected(b, w.stripped);
            n = put_file(b, w.stripped);
        } else if (ask[0] == 'r') {
            put_restored(&w, b);
            put_view(b, w.stripped);
            n = b->len;
        } else
            n = put_harmed(&w, w.stripped, b, false);
    }
    test_folder_remove(w.p.folder);
    return n;
}

Test(told, is_what_it_was) { checksums_check(HDX_TREE "/tests/strip/told.txt", text_of, NULL); }
