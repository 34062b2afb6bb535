/* test_long_text.c - labels are cut for people alone: machine formats, --full-text and conditions have all of a text.
 */
#include "support/dump_maker.h"
#include "tool.h"

#define LONG 5000u /* characters: a first, pairs of surrogates from the second on, so that one lies across 1,024; z */

/* Addresses: 0x100 the String, 0x200 its char[], 0x300 a byte[] with "needle" at its end, 0x400 a thread of that name.
 */
static void make(const char *path)
{
    static uint64_t units[LONG], bytes[3000];
    dump_maker     *m = dump_maker_new(8);
    const uint64_t  object = dump_maker_class(m, "java.lang.Object", 0, "");
    const uint64_t  string = dump_maker_class(m, "java.lang.String", object, "value:L hash:I");
    const uint64_t  thread = dump_maker_class(m, "java.lang.Thread", object, "name:L");
    units[0] = 'a';
    for (unsigned i = 1; i + 1 < LONG; i += 2) {
        units[i] = 0xd83d; /* U+1F600 */
        units[i + 1] = 0xde00;
    }
    units[LONG - 1] = 'z';
    memset(bytes, 0, sizeof bytes);
    for (unsigned i = 0; i < 3000; i++)
        bytes[i] = i < 2994 ? 'x' : (uint64_t) "needle"[i - 2994];
    dump_maker_primitives_at(m, 0x200, 'C', units, LONG);
    dump_maker_instance_at(m, 0x100, string, DUMP_VALUES(0x200, 0));
    dump_maker_primitives_at(m, 0x300, 'B', bytes, 3000);
    dump_maker_instance_at(m, 0x400, thread, DUMP_VALUES(0x100));
    for (uint64_t id = 0x100; id < 0x400; id += 0x100)
        dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, id, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_THREAD_OBJECT, 0x400, 1, 0);
    dump_maker_save(m, path);
    dump_maker_free(m);
}

static char *folder;
static void  enter(void)
{
    folder = tool_enter();
    make("a.hprof");
}
static void leave(void) { tool_leave(folder); }
TestSuite(long_text, .init = enter, .fini = leave);

static unsigned smiles(const char *text)
{
    unsigned n = 0;
    for (; (text = strstr(text, "\xf0\x9f\x98\x80")) != NULL; text += 4)
        n++;
    return n;
}

Test(long_text, is_whole_in_every_machine_format_of_every_command_with_labels)
{
    static const char *const asked[] = {
        "objects a.hprof --class java.lang.String",
        "objects a.hprof --class 'char[]' --full-text",
        "object a.hprof 0x100",
        "refs a.hprof 0x400 --out --where 'name = name'",
        "dominators a.hprof --where 'class = java.lang.String'",
        "roots a.hprof --where 'class = java.lang.String'",
        "path a.hprof 0x100",
        "path a.hprof 0x100 --merge --where 'address = 0x100'",
    };
    static const char *const formats[] = { "json", "jsonl", "csv", "tsv" };
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        for (size_t f = 0; f < 4; f++) {
            ran            r = tool_sh("\"$H\" %s --format %s", asked[i], formats[f]);
            const bool     paths = f == 0 && strncmp(asked[i], "path", 4) == 0; /* the document has them beside rows */
            const unsigned n = smiles(r.out), one = (LONG - 2) / 2;
            const bool     value = strncmp(asked[i], "object ", 7) == 0; /* its char[] has the beginning as well */
            cr_expect(r.code == 0 &&
                          (paths ? n >= 2 * one && n % one == 0 : (value ? n > one && n < 2 * one : n == one)),
                      "%s %s: %d, %u characters", asked[i], formats[f], r.code, n);
            cr_expect(strstr(r.out, "z") != NULL && (value || strstr(r.out, "...") == NULL), "%s %s", asked[i],
                      formats[f]);
            ran_free(&r);
        }
}

/* An array is no text, but may hold one: it has the label that MAT gives it. */
Test(long_text, of_an_array_is_cut_as_eclipse_mat_does)
{
    ran r = tool_sh("\"$H\" objects a.hprof --class 'char[]' --format json");
    cr_expect(r.code == 0 && smiles(r.out) == 511 && strstr(r.out, "...\"") != NULL, "%u", smiles(r.out));
    ran_free(&r);
}

Test(long_text, is_cut_in_tables_unless_they_are_asked_for_all)
{
    ran cut = tool_sh("\"$H\" objects a.hprof --class java.lang.String");
    ran whole = tool_sh("\"$H\" objects a.hprof --class java.lang.String --full-text");
    ran card = tool_sh("\"$H\" object a.hprof 0x100 --full-text");
    ran narrow = tool_sh("COLUMNS=60 \"$H\" path a.hprof 0x100 --full-text");
    cr_expect(smiles(cut.out) < 160 && strstr(cut.out, "…") != NULL, "%s", cut.out);
    cr_expect_eq(smiles(whole.out), (LONG - 2) / 2);
    cr_expect_eq(smiles(card.out), 2 * ((LONG - 2) / 2));
    cr_expect_eq(smiles(narrow.out), (LONG - 2) / 2);
    ran_free(&cut);
    ran_free(&whole);
    ran_free(&card);
    ran_free(&narrow);
    ran refused = tool_sh("\"$H\" histogram a.hprof --full-text");
    cr_expect_eq(refused.code, 2);
    ran_free(&refused);
}

Test(long_text, is_seen_whole_by_conditions)
{
    static const struct {
        const char *asked;
        unsigned    rows;
    } cases[] = {
        { "objects a.hprof --class java.lang.String --where 'label ~ z$'", 1 },
        { "objects a.hprof --class java.lang.String --where 'label ~ \\.\\.\\.$'", 0 },
        { "objects a.hprof --class 'char[]' --where 'label ~ z$'", 1 },
        { "objects a.hprof --class 'byte[]' --where 'label ~ needle'", 1 },
        { "refs a.hprof 0x400 --out --where 'label ~ z$'", 1 },
        { "roots a.hprof --where 'label ~ z$'", 3 },
        { "path a.hprof 0x100 --where 'label ~ z$'", 1 },
        { "dominators a.hprof --where 'label ~ z$' --sort label", 3 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ran r = tool_sh("\"$H\" %s --format jsonl --columns address", cases[i].asked);
        cr_expect(r.code == 0 && lines_of(r.out) == cases[i].rows, "%s: %d %s%s", cases[i].asked, r.code, r.out, r.err);
        ran_free(&r);
    }
}

/* A byte[] is no text: what it begins with is enough to tell it from others, and a heap is full of them. */
Test(long_text, of_a_byte_array_is_its_beginning_unless_all_is_asked_for)
{
    ran part = tool_sh("\"$H\" objects a.hprof --class 'byte[]' --format tsv --columns label | tail -1 | wc -c");
    ran all =
        tool_sh("\"$H\" objects a.hprof --class 'byte[]' --format tsv --columns label --full-text | tail -1 | wc -c");
    cr_expect_eq(atoi(part.out), 1025, "%s", part.out);
    cr_expect_eq(atoi(all.out), 3001, "%s", all.out);
    ran_free(&part);
    ran_free(&all);
}

Test(long_text, of_a_thread_finds_it)
{
    ran r = tool_sh("N=$(\"$H\" object a.hprof 0x400 --format tsv --columns label | tail -1); "
                    "\"$H\" object a.hprof \"thread:$N\" --format csv --columns address");
    cr_expect(r.code == 0 && strstr(r.out, "0x400") != NULL, "%d %s", r.code, r.err);
    ran_free(&r);
}

Test(long_text, is_held_in_the_memory_that_is_allowed)
{
    ran r =
        tool_sh("\"$H\" index a.hprof && \"$H\" objects a.hprof --class java.lang.String --format jsonl --memory 8K");
    cr_expect(r.code == 6 && strstr(r.err, "--memory") != NULL, "%d %s", r.code, r.err);
    ran_free(&r);
}
