/*
 * test_told.c - what every policy writes and restores, byte for byte, what its report counts, and what becomes of a
 * file with one byte changed: told.txt has the checksums (support/checksums.h).
 */
#include "told.h"
#include "support/checksums.h"

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
    dump_maker *m = android_dump_new(w->ids, w->slashes);
    dump_maker_save(m, w->dump);
    dump_maker_free(m);
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
            put_refusal(b, code, &err);
            cr_expect((access(w->stripped, F_OK) == 0) == (code == HDX_OK));
            if (code == HDX_OK) {
                put_report(b, &r);
                (void)put_file(b, w->stripped);
                (void)unlink(w->stripped);
            }
        } else {
            put_detected(b, path);
            put_overlay(b, path);
            put_restored(b, w->stripped, w->back);
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
            put_restored(b, w.stripped, w.back);
            put_overlay(b, w.stripped);
            n = b->len;
        } else
            n = put_harmed(&w, w.stripped, b, false);
    }
    test_folder_remove(w.p.folder);
    return n;
}

Test(told, is_what_it_was) { checksums_check(HDX_TREE "/tests/strip/told.txt", text_of, NULL); }
