/*
 * test_bookshop.c - leaks of examples/bookshop.hprof.gz, whatever its objects are called: every trace with all its
 * steps, notes and sizes. bookshop.txt has the checksum of each search (support/checksums.h).
 */
#include "leaks/leaks.h"
#include "support/checksums.h"
#include "support/folder.h"
#include <heapdex/heapdex.h>

#include <criterion/criterion.h>

typedef unsigned long long ull;

static const char *or_dash(const char *s) { return s == NULL ? "-" : s; }

static void put_notes(hdx_buffer *b, const hdx_leak_note *at, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        hdx_buffer_format(b, " [%s %s %s]", at[i].code, at[i].text, hdx_leak_status_name(at[i].means));
}

static void put_step(hdx_buffer *b, const hdx_leak_step *s)
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

static void put_leak(hdx_buffer *b, const hdx_leaks *leaks, const hdx_leak *leak, hdx_leak_steps *steps)
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

static uint64_t text_of(void *context, const char *ask, hdx_buffer *b)
{
    char           words[256];
    const char    *classes[8];
    hdx_leaks     *leaks;
    hdx_leak_steps steps = { 0 };
    hdx_error      err;
    (void)snprintf(words, sizeof words, "%s", ask);
    hdx_leaks_options o = { .finder = HDX_LEAKS_CLASSES, .classes = classes, .no_memory_of_it = true };
    o.retained = strcmp(strtok(words, " "), "sizes") == 0;
    o.width = (unsigned)strtoul(strtok(NULL, " "), NULL, 10) == 64 ? 64 : 0;
    o.threads = (unsigned)strtoul(strtok(NULL, " "), NULL, 10);
    for (char *word; (word = strtok(NULL, " ")) != NULL;)
        classes[o.class_count++] = word;
    cr_assert(hdx_leaks_search(context, &o, &leaks, &err) == HDX_OK, "%s: %s", ask, err.message);
    hdx_buffer_format(b, "%llu %llu %llu\n", (ull)leaks->watched, (ull)leaks->watched_retained, (ull)leaks->dangling);
    for (uint64_t i = 0; i < leaks->metadata_count; i++)
        hdx_buffer_format(b, "%s=%s\n", leaks->metadata[i].name, leaks->metadata[i].text);
    for (uint64_t i = 0; i < leaks->leak_count; i++)
        put_leak(b, leaks, &leaks->leaks[i], &steps);
    const uint64_t count = leaks->leak_count;
    hdx_leak_steps_free(&steps);
    hdx_leaks_free(leaks);
    return count;
}

Test(bookshop, is_searched_as_before)
{
    static const char dump[] = HDX_TREE "/examples/bookshop.hprof.gz";
    char              folder[TEST_FOLDER], index[64];
    hdx_graph        *g;
    hdx_index_report  report;
    hdx_error         err;
    test_folder_make(folder, "bookshop");
    (void)snprintf(index, sizeof index, "%s/a.hdx", folder);
    const hdx_index_options options = { .dump = dump, .index_dir = index, .threads = 1 };
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
    cr_assert(hdx_graph_open(index, dump, &g, &err) == HDX_OK, "%s", err.message);
    checksums_check(HDX_TREE "/tests/leaks/bookshop.txt", text_of, g);
    hdx_graph_close(g);
    test_folder_remove(folder);
}
