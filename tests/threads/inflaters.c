/*
 * inflaters.c - one compressed dump, read by many threads at once in every way there is: streams with workers ahead of
 * them, reads at random, many reads at once; first while nobody knows a seek point, then with all of them. Every byte
 * must be right.
 */
#include "place.h"
#include "source/source.h"
#include "support/gzip_maker.h"

#include <string.h>

#define READERS 6u
#define SIZE    (6u << 20)

typedef struct crowd {
    hdx_source     *source;
    const gm_bytes *plain;
} crowd;

static void compare(const crowd *c, hdx_pos at, const uint8_t *bytes, size_t got)
{
    if (got > c->plain->len - at || memcmp(bytes, c->plain->at + at, got) != 0)
        die("wrong bytes", NULL);
}

static void stream_whole(const crowd *c, hdx_pos from, size_t piece)
{
    uint8_t    *bytes = malloc(piece);
    hdx_stream *stream;
    size_t      got;
    hdx_error   err;
    if (hdx_stream_open(c->source, from, &stream, &err) != HDX_OK)
        die("stream", &err);
    do {
        if (hdx_stream_read(stream, bytes, piece, &got, &err) != HDX_OK)
            die("stream", &err);
        compare(c, from, bytes, got);
        from += got;
    } while (got > 0);
    if (from != c->plain->len)
        die("a stream ended early", NULL);
    hdx_stream_close(stream);
    free(bytes);
}

static void read_some(void *context, unsigned n)
{
    const crowd *c = context;
    uint64_t     state = n + 1;
    uint8_t      bytes[3000], few[40][16];
    hdx_read     reads[40];
    size_t       got;
    hdx_error    err;
    if (n % 3 == 0) {
        stream_whole(c, n == 0 ? 0 : draw(&state, SIZE / 2), 40000);
        return;
    }
    for (unsigned i = 0; i < 60; i++) {
        hdx_pos at = draw(&state, SIZE);
        if (hdx_source_read_at(c->source, at, bytes, sizeof bytes, &got, &err) != HDX_OK)
            die("read", &err);
        compare(c, at, bytes, got);
    }
    for (unsigned i = 0; i < 40; i++)
        reads[i] = (hdx_read){ draw(&state, SIZE), few[i], sizeof few[i], 0 };
    if (hdx_source_read_many(c->source, reads, 40, &err) != HDX_OK)
        die("reads", &err);
    for (unsigned i = 0; i < 40; i++)
        compare(c, reads[i].at, few[i], reads[i].got);
}

int main(void)
{
    for (int kind = 0; kind < 3; kind++) {
        gm_bytes  plain = { 0 }, file = { 0 };
        hdx_error err;
        gm_data(&plain, SIZE, 9);
        if (kind == 0)
            gm_jdk_put(&file, &plain, 1u << 20);
        else if (kind == 1)
            gm_bgzf_put(&file, &plain);
        else
            gm_member_put(&file, plain.at, plain.len, &(gm_member){ .level = 1 });
        gm_file door = gm_file_of(&file);
        crowd   c = { .plain = &plain };
        if (hdx_source_open_io(&door.io, "app", &(hdx_source_options){ .threads = 4 }, &c.source, &err) != HDX_OK)
            die("open", &err);
        hdx_workers_run(READERS, read_some, &c);
        stream_whole(&c, 0, 100000);
        hdx_workers_run(READERS, read_some, &c);
        hdx_source_close(c.source);
        gm_free(&plain);
        gm_free(&file);
    }
    return 0;
}
