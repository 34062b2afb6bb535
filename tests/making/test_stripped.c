/*
 * test_stripped.c - what an index says of a dump that went through a stripping tool: one warning, and damage where the
 * tool's file cannot be read.
 */
#include "making/making.h"
#include "strip/android_dump.h"

static place here;

static void enter(void) { here = place_new(); }
static void leave(void) { place_remove(&here); }

TestSuite(stripped, .init = enter, .fini = leave, .timeout = 120);

/* What the index of a dump says; closed with hdx_graph_close. */
static hdx_graph *index_of(const char *dump)
{
    const hdx_index_options options = { .dump = dump, .threads = 2, .force = true };
    hdx_index_report        report;
    hdx_graph              *g = NULL;
    hdx_error               err;
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s: %s", dump, err.message);
    cr_assert(hdx_graph_open(report.path, dump, &g, &err) == HDX_OK, "%s: %s", dump, err.message);
    return g;
}

static const char *android_dump(void)
{
    const char *path = place_path(&here, "android.hprof");
    dump_maker *m = android_dump_new(4, true);
    dump_maker_save(m, path);
    dump_maker_free(m);
    return path;
}

Test(stripped, dumps_have_one_warning_that_names_the_tool)
{
    static const struct {
        hdx_strip_policy policy;
        const char      *file, *words;
    } cases[] = { { HDX_STRIP_MATRIX, "m.hprof", "stripped by Matrix" },
                  { HDX_STRIP_KOOM, "k.hprof", "stripped by KOOM" },
                  { HDX_STRIP_TAILOR, "t.hprof", "stripped by Tailor" },
                  { HDX_STRIP_SHARK, "s.hprof", "stripped by Shark" },
                  { HDX_STRIP_REDACTED, "r.hprof", "redacted" } };
    const char *whole = android_dump();
    hdx_graph  *g = index_of(whole);
    cr_expect(hdx_graph_summary_of(g)->warning_count == 0, "the whole one has none");
    hdx_graph_close(g);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char      *file = place_path(&here, cases[i].file);
        hdx_strip_report report;
        hdx_error        err;
        cr_assert(strip_to(whole, cases[i].policy, file, &report, &err) == HDX_OK, "%s", err.message);
        g = index_of(file);
        const hdx_graph_summary *s = hdx_graph_summary_of(g);
        const bool sure = s->stripping->confidence >= 80; /* of Matrix the little dump has not much to tell */
        cr_expect(sure == (i > 0), "%s: %u %%", cases[i].words,
                  s->stripping->confidence); /* the last: 80, just enough */
        cr_assert(s->warning_count == sure, "%s: %u warnings, %u %%", cases[i].words, s->warning_count,
                  s->stripping->confidence);
        cr_expect(sure == false || strncmp(s->warnings[0], cases[i].words, strlen(cases[i].words)) == 0, "%s",
                  s->warnings[0]);
        for (uint64_t k = 0; k < s->damage_count; k++)
            cr_expect(s->damage[k].kind != HDX_DAMAGE_GARBAGE && s->damage[k].kind != HDX_DAMAGE_TRUNCATED, "%s: %s",
                      cases[i].words, s->damage[k].expected);
        hdx_graph_close(g);
    }
}

/* Of entries that say so: how many. */
static unsigned count_damage(hdx_graph *g, hdx_damage_kind kind, const char *words)
{
    const hdx_graph_summary *s = hdx_graph_summary_of(g);
    unsigned                 n = 0;
    for (uint64_t i = 0; i < s->damage_count; i++)
        n += s->damage[i].kind == kind && strstr(s->damage[i].expected, words) != NULL;
    return n;
}

/* A container of Tailor, whole, that ends inside a token, and that has none at some place. */
Test(stripped, a_single_name_that_is_cut_is_told_of)
{
    const char *file = place_path(&here, "cut.hprof");
    dump_maker *m = android_dump_new(4, true);
    dump_maker_class(m, "app.Caf\303\251", 0, "");
    dump_maker_save(m, file);
    dump_maker_free(m);
    bytes    b = slurp(file);
    uint8_t *name = memmem(b.at, b.len, "Caf\303\251", 5);
    cr_assert(name != NULL);
    memmove(name + 4, name + 5, b.len - (size_t)(name + 5 - b.at));
    dump_maker_save_bytes(file, b.at, b.len - 1);
    free(b.at);
    hdx_graph *g = index_of(file);
    cr_expect(count_damage(g, HDX_DAMAGE_LENGTH, "1 non-ASCII names are truncated") == 1);
    cr_expect(hdx_graph_summary_of(g)->damage_count == 1 && hdx_graph_summary_of(g)->damage[0].lost_bytes == 1);
    hdx_graph_close(g);
}

Test(stripped, containers_that_cannot_be_read_to_their_end_are_damaged)
{
    const char *whole = android_dump(), *file = place_path(&here, "t.hprof"), *harmed = place_path(&here, "h.hprof");
    hdx_strip_options options = { .dump = whole, .output = file, .policy = HDX_STRIP_TAILOR, .plain = true };
    hdx_strip_report  report;
    hdx_error         err;
    cr_assert(hdx_strip_write(&options, &report, &err) == HDX_OK, "%s", err.message);
    bytes    b = slurp(file);
    unsigned cut = 0, broken = 0, neither = 0;
    for (size_t less = 0; less < 60; less += 3) { /* two of these lengths end with a token */
        dump_maker_save_bytes(harmed, b.at, b.len - less);
        hdx_graph     *g = index_of(harmed);
        const unsigned c = count_damage(g, HDX_DAMAGE_TRUNCATED, "the container ends inside a token"),
                       w = count_damage(g, HDX_DAMAGE_GARBAGE, "no token of the container begins");
        cr_expect(c + w <= 1, "%zu bytes less", less);
        cut += c, neither += c + w == 0;
        hdx_graph_close(g);
    }
    for (size_t at = b.len / 2; at + 1 < b.len; at += b.len / 17) {
        const uint8_t kept = b.at[at];
        b.at[at] = 0xF7;
        dump_maker_save_bytes(harmed, b.at, b.len);
        hdx_graph *g = index_of(harmed);
        broken += count_damage(g, HDX_DAMAGE_GARBAGE, "no token of the container begins");
        hdx_graph_close(g);
        b.at[at] = kept;
    }
    cr_expect(cut == 18 && broken == 1 && neither == 2, "%u cut, %u broken, %u neither", cut, broken, neither);
    free(b.at);
}

/* A record of KOOM's that is as long in neither reading. */
Test(stripped, records_that_come_out_even_in_no_reading_are_damaged)
{
    for (unsigned lies = 0; lies < 2; lies++) {
        const char *file = place_path(&here, lies == 1 ? "lie.hprof" : "even.hprof");
        dump_maker *m = dump_maker_new(4);
        m->version = "1.0.3";
        const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
        (void)dump_maker_class(m, "java.lang.Class", object, "");
        (void)dump_maker_class(m, "java.lang.ClassLoader", object, "");
        (void)dump_maker_class(m, "byte[]", object, "");
        for (unsigned k = 0; k < 30; k++) {
            if (k % 3 == 0)
                dump_maker_segment(m);
            const uint8_t head[] = { HDX_SUB_PRIMITIVE_ARRAY, 0, 2, (uint8_t)k, 16, 0, 0, 0, 0, 0, 0, 0, 40, 8 };
            dump_maker_raw(m, head, sizeof head);
            if (k % 3 == 2)
                dump_maker_segment_says(m, lies == 1 && k == 14 ? 3 * 54 + 1000 : 3 * 54);
        }
        dump_maker_save(m, file);
        dump_maker_free(m);
        hdx_graph *g = index_of(file);
        cr_expect(count_damage(g, HDX_DAMAGE_GARBAGE, "1 heap records cannot be parsed") == lies);
        cr_expect(hdx_graph_summary_of(g)->stripping->policy == HDX_STRIP_KOOM);
        hdx_graph_close(g);
    }
}
