/*
 * fuzz_dump.c - any bytes as a dump: surveyed by both readers, which must agree, walked, and every record looked up
 * again.
 */
#include "hprof/hprof.h"
#include "source/source.h"
#include "support/gzip_maker.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct seen {
    uint64_t events, sum, bodies;
    hdx_pos  first[64];
    size_t   positions;
} seen;

static void must(bool ok)
{
    if (!ok)
        abort();
}

static hdx_code heap(void *context, unsigned worker, const hdx_event *events, size_t n, hdx_error *err)
{
    seen *s = context;
    (void)worker;
    (void)err;
    for (size_t k = 0; k < n; k++) {
        s->events++;
        s->sum += events[k].pos * 3 + events[k].addr * 5 + events[k].class_addr * 7 + events[k].count * 11u +
                  events[k].heap + events[k].tag;
        for (uint32_t b = 0; events[k].body != NULL && b < events[k].body_len; b++)
            s->sum += events[k].body[b];
        if (s->positions < sizeof s->first / sizeof *s->first)
            s->first[s->positions++] = events[k].pos;
    }
    return HDX_OK;
}

static hdx_code top(void *context, const hdx_top *record, hdx_error *err)
{
    seen *s = context;
    (void)err;
    s->sum += record->pos + record->id + record->serial;
    for (size_t k = 0; k < record->body.len; k++)
        s->sum += record->body.at[k];
    return HDX_OK;
}

static hdx_code restart(void *context, hdx_error *err)
{
    (void)err;
    *(seen *)context = (seen){ 0 };
    return HDX_OK;
}

static hdx_code nothing(void *context, unsigned worker, uint64_t stretch, hdx_error *err)
{
    (void)context;
    (void)worker;
    (void)stretch;
    (void)err;
    return HDX_OK;
}

static hdx_code bodies(void *context, unsigned worker, const hdx_event *events, size_t n, hdx_error *err)
{
    seen *s = context;
    (void)worker;
    (void)err;
    for (size_t k = 0; k < n; k++) {
        s->bodies += events[k].body_from == 0;
        for (uint32_t b = 0; b < events[k].body_len; b++)
            s->sum += events[k].body[b];
    }
    return HDX_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gm_bytes                 bytes = { (uint8_t *)(uintptr_t)data, size, size };
    gm_file                  door = gm_file_of(&bytes);
    hdx_source              *source;
    hdx_survey               survey[2];
    seen                     got[2] = { { 0 }, { 0 } };
    hdx_code                 code[2];
    const hdx_source_options limits = { .max_uncompressed = 64u << 20 };
    if (hdx_source_open_io(&door.io, "fuzz", &limits, &source, NULL) != HDX_OK)
        return 0;
    for (unsigned k = 0; k < 2; k++) {
        const hdx_survey_options options = { .threads = 1, .sequential = k == 1 };
        const hdx_survey_sink    sink = { &got[k], heap, top, restart };
        code[k] = hdx_hprof_survey(source, &options, &sink, &survey[k], NULL);
    }
    must(code[0] == code[1]);
    if (code[0] == HDX_OK) {
        must(survey[0].objects == survey[1].objects && survey[0].damage_count == survey[1].damage_count &&
             got[0].sum == got[1].sum);
        for (unsigned k = 0; k < 2; k++) {
            const hdx_walk_visitor visitor = { &got[k], nothing, bodies, nothing };
            must(hdx_hprof_walk(source, &survey[k], 1, &visitor, NULL, NULL, NULL, NULL) == HDX_OK);
            must(got[k].bodies == got[k].events); /* the walk sees what the survey kept */
        }
        for (size_t k = 0; k < got[0].positions; k++) {
            hdx_event e;
            hdx_pos   at;
            uint64_t  len;
            (void)hdx_hprof_record_at(source, survey[0].head.id_size, got[0].first[k], &e, &at, &len, NULL);
        }
        hdx_survey_free(&survey[0]);
        hdx_survey_free(&survey[1]);
    }
    hdx_source_close(source);
    return 0;
}
