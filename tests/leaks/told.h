/* told.h - the whole of a search as text: counts, facts, every leak with its traces, every trace with its steps. */
#ifndef HDX_TESTS_LEAKS_TOLD_H
#define HDX_TESTS_LEAKS_TOLD_H

#include "base/base.h"
#include <heapdex/heapdex.h>

#include <criterion/criterion.h>

typedef unsigned long long ull;

static inline const char *or_dash(const char *s) { return s == NULL ? "-" : s; }

static inline void put_notes(hdx_buffer *b, const hdx_leak_note *at, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        hdx_buffer_format(b, " [%s %s %s]", at[i].code, at[i].text, hdx_leak_status_name(at[i].means));
}

static inline void put_step(hdx_buffer *b, const hdx_leak_step *s)
{
    hdx_buffer_format(b, "    %llx %s %s %s %s %s", (ull)s->address, s->class_name, hdx_leak_what_name(s->what),
                      hdx_leak_status_name(s->status), or_dash(s->conflict), or_dash(s->inherited));
    put_notes(b, s->reasons, s->reason_count);
    put_notes(b, s->labels, s->label_count);
    if (s->sized)
        hdx_buffer_format(b, " %llu %llu", (ull)s->retained_bytes, (ull)s->retained_objects);
    if (!s->last)
        hdx_buffer_format(b, " %s%s %s %llx %s %s", s->suspect ? "~" : "", hdx_leak_ref_kind_name(s->ref_kind),
                          or_dash(s->ref_name), (ull)s->ref_key, s->ref_owner, or_dash(s->ref_frame));
    hdx_buffer_text(b, "\n");
}

static inline void put_leak(hdx_buffer *b, const hdx_leaks *leaks, const hdx_leak *leak, hdx_leak_steps *steps)
{
    hdx_buffer_format(b, "%s %s %s %s %s", hdx_leak_kind_name(leak->kind), leak->signature, or_dash(leak->pattern),
                      or_dash(leak->note), leak->suspects);
    if (leak->sized)
        hdx_buffer_format(b, " %llu %llu", (ull)leak->retained_bytes, (ull)leak->retained_objects);
    hdx_buffer_text(b, "\n");
    for (uint64_t i = 0; i < leak->trace_count; i++) {
        const hdx_leak_trace *t = &leak->traces[i];
        hdx_buffer_format(b, "  %s %llx %s %s %llu", or_dash(t->root_type), (ull)t->address, t->class_name,
                          t->signature, (ull)t->step_count);
        if (t->sized)
            hdx_buffer_format(b, " %llu %llu", (ull)t->retained_bytes, (ull)t->retained_objects);
        hdx_buffer_text(b, "\n");
        cr_assert(hdx_leak_steps_read(leaks, t, steps, NULL) == HDX_OK && steps->count == t->step_count);
        for (uint64_t k = 0; k < steps->count; k++)
            put_step(b, &steps->at[k]);
    }
}

static inline uint64_t put_leaks(hdx_buffer *b, const hdx_leaks *leaks)
{
    hdx_leak_steps steps = { 0 };
    hdx_buffer_format(b, "%llu %llu %llu\n", (ull)leaks->watched, (ull)leaks->watched_retained, (ull)leaks->dangling);
    for (uint64_t i = 0; i < leaks->metadata_count; i++)
        hdx_buffer_format(b, "%s=%s\n", leaks->metadata[i].name, leaks->metadata[i].text);
    for (uint64_t i = 0; i < leaks->leak_count; i++)
        put_leak(b, leaks, &leaks->leaks[i], &steps);
    hdx_leak_steps_free(&steps);
    return leaks->leak_count;
}

static inline uint64_t put_search(hdx_buffer *b, hdx_graph *g, const hdx_leaks_options *o, const char *ask)
{
    hdx_leaks *leaks;
    hdx_error  err;
    cr_assert(hdx_leaks_search(g, o, &leaks, &err) == HDX_OK, "%s: %s", ask, err.message);
    const uint64_t count = put_leaks(b, leaks);
    hdx_leaks_free(leaks);
    return count;
}

#endif
