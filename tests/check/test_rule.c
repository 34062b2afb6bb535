/*
 * test_rule.c - lines of text as rules: what each word means, what is refused and with which words, files.
 */
#include "check/check.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>

static hdx_arena arena;
static hdx_error err;
static hdx_rule  rule;

static void enter(void) { arena = hdx_arena_of(NULL); }
static void leave(void) { hdx_arena_free(&arena); }
TestSuite(rule, .init = enter, .fini = leave);

static hdx_code read(const char *verb, const char *text)
{
    err = (hdx_error){ .offset = HDX_NOWHERE };
    return hdx_rule_read(&(hdx_rule_source){ .verb = verb }, (hdx_text){ text, (uint32_t)strlen(text) }, &arena, &rule,
                         &err);
}

static void reads(const char *text) { cr_assert(read(NULL, text) == HDX_OK, "%s: %s", text, err.message); }

static bool same(const char *a, const char *b) { return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0; }

Test(rule, of_each_measure_has_its_pattern_and_its_limit)
{
    static const struct {
        const char *text;
        hdx_measure measure;
        const char *pattern;
        bool        subclasses, percent;
        uint64_t    limit;
        double      share;
    } all[] = {
        { "max objects com.acme.Session 10k", HDX_MEASURE_OBJECTS, "com.acme.Session", false, false, 10000, 0 },
        { "max objects /Session$/ 7", HDX_MEASURE_OBJECTS, "/Session$/", false, false, 7, 0 },
        { "max shallow byte[] 200M", HDX_MEASURE_SHALLOW, "byte[]", false, false, 200ull << 20, 0 },
        { "max retained com.acme.* 50M", HDX_MEASURE_RETAINED, "com.acme.*", false, false, 50ull << 20, 0 },
        { "max retained com.acme.Session+ 12.5%", HDX_MEASURE_RETAINED, "com.acme.Session", true, true, 0, 12.5 },
        { "max live 512M", HDX_MEASURE_LIVE, NULL, false, false, 512ull << 20, 0 },
        { "max unreachable 20%", HDX_MEASURE_UNREACHABLE, NULL, false, true, 0, 20 },
        { "max classes 20k", HDX_MEASURE_CLASSES, NULL, false, false, 20000, 0 },
        { "max loaders 100", HDX_MEASURE_LOADERS, NULL, false, false, 100, 0 },
        { "max threads 200", HDX_MEASURE_THREADS, NULL, false, false, 200, 0 },
        { "max threads 'pool 1*' 8", HDX_MEASURE_THREADS, "pool 1*", false, false, 8, 0 },
        { "max threads a+ 8", HDX_MEASURE_THREADS, "a+", false, false, 8, 0 }, /* a name, no class */
        { "max duplicate-classes 0", HDX_MEASURE_DUPLICATE_CLASSES, NULL, false, false, 0, 0 },
        { "max open-files file 500", HDX_MEASURE_OPEN_FILES, "file", false, false, 500, 0 },
        { "max direct-buffers 1.5G", HDX_MEASURE_DIRECT_BUFFERS, NULL, false, false, 3ull << 29, 0 },
        { "max waste strings 10M", HDX_MEASURE_WASTE, NULL, false, false, 10ull << 20, 0 },
        { "max objects + 5", HDX_MEASURE_OBJECTS, "+", false, false, 5, 0 }, /* + of nothing is a name */
        { "max retained x 100%", HDX_MEASURE_RETAINED, "x", false, true, 0, 100 },
        { "max objects x 0.05%", HDX_MEASURE_OBJECTS, "x", false, true, 0, 0.05 },
        { "max objects x 9.95%", HDX_MEASURE_OBJECTS, "x", false, true, 0, 9.95 },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        reads(all[i].text);
        cr_expect(rule.verb == HDX_VERB_MAX && rule.measure == all[i].measure && rule.limit == all[i].limit &&
                      rule.percent == all[i].percent && rule.subclasses == all[i].subclasses &&
                      fabs(rule.share - all[i].share) < 1e-9 && same(rule.pattern, all[i].pattern),
                  "%s: measure %d, %s%s, %llu, %f", all[i].text, rule.measure, rule.pattern, rule.subclasses ? "+" : "",
                  (unsigned long long)rule.limit, rule.share);
        cr_expect_str_eq(rule.text, all[i].text);
        cr_expect(rule.name == NULL && rule.reason == NULL);
    }
    reads("min waste collections 0");
    cr_expect(rule.verb == HDX_VERB_MIN && rule.waste == HDX_WASTE_COLLECTIONS);
    reads("min waste arrays 0");
    cr_expect(eq(int, (int)rule.waste, HDX_WASTE_ARRAYS));
}

/* A command line has the verb in the name of the option. */
Test(rule, goes_on_behind_a_verb_that_is_given)
{
    static const struct {
        const char *verb, *text, *whole;
        hdx_verb    is;
        hdx_measure measure;
    } all[] = {
        { "max", "live 1M", "max live 1M", HDX_VERB_MAX, HDX_MEASURE_LIVE },
        { "min", "classes 5", "min classes 5", HDX_VERB_MIN, HDX_MEASURE_CLASSES },
        { "growth", "5%", "growth 5%", HDX_VERB_GROWTH, HDX_MEASURE_RETAINED },
        { "no", "damage", "no damage", HDX_VERB_NO, HDX_MEASURE_DAMAGE },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        cr_assert(read(all[i].verb, all[i].text) == HDX_OK, "%s: %s", all[i].whole, err.message);
        cr_expect(rule.verb == all[i].is && rule.measure == all[i].measure, "%s", all[i].whole);
        cr_expect_str_eq(rule.text, all[i].whole);
    }
    cr_expect(eq(int, read("max", "  "), HDX_USAGE));
    cr_expect_str_eq(err.message, "rule 'max': a measure is missing");
    cr_expect(eq(int, read("max", "because of it"), HDX_USAGE)); /* a reason, and nothing before it */
    cr_expect_str_eq(err.message, "rule 'max because of it': a measure is missing");
    cr_expect(eq(int, read("most", ""), HDX_USAGE));
    cr_expect_str_eq(err.message, "rule 'most': unknown rule 'most'");
}

/* Texts are pieces of files: whatever stands behind one is not read. */
Test(rule, ends_where_its_text_ends)
{
    static const char *const all[] = {
        "max live 5",  "max live 5M",   "max live 5.25M", "max objects 'a b'", "max objects 'a'+", "max live 5Mi",
        "max objects", "no suspects 5", "growth 5 above", "max live 5 M",      "max live 5 Mi",    "no leaks all",
    };
    static const char behind[] = "059.kMiBb%+'# xz:";
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const size_t    len = strlen(all[i]);
        const hdx_code  code = read(NULL, all[i]);
        const hdx_rule  alone = rule;
        const hdx_error said = err;
        for (const char *c = behind; *c != '\0'; c++) {
            char text[40];
            (void)snprintf(text, sizeof text, "%s%c%c", all[i], *c, *c);
            err = (hdx_error){ .offset = HDX_NOWHERE };
            cr_assert(
                eq(int,
                   hdx_rule_read(&(hdx_rule_source){ NULL }, (hdx_text){ text, (uint32_t)len }, &arena, &rule, &err),
                   code),
                "%s before %c: %s", all[i], *c, err.message);
            cr_expect(strcmp(err.message, said.message) == 0 && strcmp(err.hint, said.hint) == 0,
                      "%s before %c: %s, %s", all[i], *c, err.message, err.hint);
            cr_expect(rule.limit == alone.limit && rule.share == alone.share && same(rule.pattern, alone.pattern) &&
                          same(rule.text, alone.text),
                      "%s before %c: %llu %s", all[i], *c, (unsigned long long)rule.limit, rule.text);
        }
    }
}

Test(rule, is_named_by_letters_digits_and_three_signs)
{
    for (unsigned c = 1; c < 256; c++) {
        char text[32];
        if (isspace((int)c) || c == '#' || c == '\'' || c == '"')
            continue;
        for (unsigned at = 0; at < 2; at++) { /* in front, and behind another */
            (void)snprintf(text, sizeof text, "%s%c: max live 1M", at == 0 ? "" : "a", (char)c);
            const bool good = c < 128 && (isalnum((int)c) || c == '-' || c == '_' || c == '.');
            cr_expect(eq(int, read(NULL, text), good ? HDX_OK : HDX_USAGE), "%s", text);
            cr_expect(good == false || (rule.name != NULL && rule.name[at] == (char)c), "%s", text);
        }
    }
    cr_expect(eq(int, read(NULL, ": max live 1M"), HDX_USAGE));
    cr_expect_str_eq(err.message, "rule ': max live 1M': unknown rule ':'");
    cr_expect(eq(int, read(NULL, "'a:' max live 1M"), HDX_USAGE));
}

Test(rule, values_are_counts_by_thousands_and_sizes_by_1024)
{
    static const struct {
        const char *text;
        uint64_t    limit;
    } all[] = {
        { "objects x 1K", 1000 },
        { "objects x 2m", 2000000 },
        { "objects x 1.5k", 1500 },
        { "objects x 3t", 3000000000000 },
        { "objects x 18446744073709551615", UINT64_MAX },
        { "shallow x 1k", 1024 },
        { "shallow x 1KB", 1024 },
        { "shallow x 1KiB", 1024 },
        { "shallow x 5B", 5 },
        { "shallow x 0.5g", 1ull << 29 },
        { "shallow x 16777215T", 16777215ull << 40 },
        { "shallow x 1.25K", 1280 },
        { "objects x 1.000001t", 1000001000000 },
        { "objects x 1.0000019t", 1000001000000 }, /* six digits count */
    };
    static const char *const refused[] = { "objects x 1.5",  "objects x",      "objects x -1",
                                           "objects x 10kb", "shallow x 1.M",  "shallow x .5M",
                                           "shallow x 5x",   "shallow x 5%%",  "shallow x 16777216T",
                                           "objects x k",    "objects x 1e5",  "objects x 18446744073709551616",
                                           "objects x 0x10", "shallow x 101%", "threads 5%",
                                           "shallow x 5iB",  "objects x 1ki",  "shallow x 1kx",
                                           "shallow x 1.",   "objects x .",    "shallow x 5i" };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        cr_expect(read("max", all[i].text) == HDX_OK && rule.limit == all[i].limit, "%s: %llu %s", all[i].text,
                  (unsigned long long)rule.limit, err.message);
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        cr_expect(read("max", refused[i]) == HDX_USAGE, "%s: %llu", refused[i], (unsigned long long)rule.limit);
}

Test(rule, may_have_a_name_a_reason_and_a_comment)
{
    reads("sessions: max objects com.acme.Session 10k because each holds a connection (#12)");
    cr_expect_str_eq(rule.name, "sessions");
    cr_expect_str_eq(rule.reason, "each holds a connection (#12)");
    cr_expect_str_eq(rule.text, "max objects com.acme.Session 10k");
    reads("  max\tlive   1M   # because of nothing");
    cr_expect_str_eq(rule.text, "max live 1M");
    cr_expect(rule.reason == NULL && rule.name == NULL);
    cr_assert(read("max", "a-b.c_1: live 1M because x") == HDX_OK, "%s", err.message);
    cr_expect_str_eq(rule.name, "a-b.c_1");
    cr_expect_str_eq(rule.text, "max live 1M");
    reads("max objects '#x because \"y\"'+ 1");
    cr_expect_str_eq(rule.pattern, "#x because \"y\"");
    cr_expect(rule.subclasses);
    cr_expect_str_eq(rule.text, "max objects '#x because \"y\"+' 1");
    reads("max objects 'com.acme'+ 1 because of  blanks \t ");
    cr_expect_str_eq(rule.pattern, "com.acme");
    cr_expect_str_eq(rule.text, "max objects 'com.acme+' 1");
    cr_expect_str_eq(rule.reason, "of  blanks");
    reads("max objects \"it's\" 1");
    cr_expect_str_eq(rule.pattern, "it's");
}

Test(rule, of_growth_takes_a_measure_a_pattern_and_a_floor_or_none)
{
    reads("growth 10%");
    cr_expect(rule.measure == HDX_MEASURE_RETAINED && rule.pattern == NULL && rule.percent && rule.floor == 1u << 20);
    reads("growth objects 10%");
    cr_expect(rule.measure == HDX_MEASURE_OBJECTS && rule.pattern == NULL && rule.floor == 1000);
    reads("growth com.acme.Session 5M");
    cr_expect(rule.measure == HDX_MEASURE_RETAINED && !rule.percent && rule.limit == 5u << 20 && rule.floor == 0);
    cr_expect_str_eq(rule.pattern, "com.acme.Session");
    reads("growth shallow com.acme.* 250% above 3k");
    cr_expect(rule.measure == HDX_MEASURE_SHALLOW && rule.share > 249 && rule.floor == 3072 && rule.floored);
    reads("growth com.acme.X+ 5M"); /* no measure of classes and those below them */
    cr_expect(rule.floor == 0 && !rule.subclasses);
    cr_expect_str_eq(rule.pattern, "com.acme.X+");
    reads("growth /x/ 10%");
    cr_expect(eq(u64, rule.floor, 1u << 20));
    reads("growth x? 10%");
    cr_expect(eq(u64, rule.floor, 1u << 20));
    reads("growth 'objects' 1k"); /* a class of that name */
    cr_expect(rule.measure == HDX_MEASURE_RETAINED && rule.limit == 1024);
    cr_expect_str_eq(rule.pattern, "objects");
}

Test(rule, of_what_there_must_not_be_says_which)
{
    reads("no leaks application");
    cr_expect(rule.verb == HDX_VERB_NO && rule.leaks == HDX_RULE_APPLICATION && !rule.filters);
    reads("no leaks all filters");
    cr_expect(rule.leaks == 7 && rule.filters);
    reads("no leaks library watched");
    cr_expect(rule.leaks == HDX_RULE_LIBRARY && !rule.filters);
    reads("no suspects");
    cr_expect(rule.percent && fabs(rule.share - 10) < 1e-9);
    reads("no suspects 30");
    cr_expect(rule.percent && fabs(rule.share - 30) < 1e-9);
    reads("no suspects 1%");
    cr_expect(fabs(rule.share - 1) < 1e-9);
    reads("no suspects 100");
    cr_expect(fabs(rule.share - 100) < 1e-9);
    reads("no damage");
    cr_expect(eq(int, rule.measure, HDX_MEASURE_DAMAGE));
}

/* One line, the rule in it, and what to write instead. */
Test(rule, that_is_wrong_is_refused_with_what_would_be_right)
{
    static const struct {
        const char *text, *message, *hint;
    } all[] = {
        { "", "rule '': the rule is empty", "for example max retained com.acme.* 50M" },
        { "mxa live 5M", "rule 'mxa live 5M': unknown rule 'mxa'", "did you mean 'max'?" },
        { "live 5M", "rule 'live 5M': expected max, min, growth or no", "max live 512M" },
        { "leaks library", "rule 'leaks library': expected max, min, growth or no", "no leaks application" },
        { "max retaind x 5M", "rule 'max retaind x 5M': unknown measure 'retaind'", "did you mean 'retained'?" },
        { "max retained com.acme.*", "rule 'max retained com.acme.*': a value is missing",
          "for example max retained com.acme.* 50M" },
        { "max retained 50M", "rule 'max retained 50M': a class is missing",
          "for example max retained com.acme.* 50M" },
        { "max waste 5M", "rule 'max waste 5M': the kind of waste is missing", "for example max waste strings 10M" },
        { "max waste air 5M", "rule 'max waste air 5M': unknown kind of waste",
          "expected strings, collections or arrays" },
        { "max retained x 5X", "rule 'max retained x 5X': '5X' is no size",
          "a size is 1048576, 50M or 1.5G (powers of 1024), a share of the heap 20%" },
        { "max threads many", "rule 'max threads many': 'many' is no number", "a number is 200 or 10k" },
        { "max threads 5%", "rule 'max threads 5%': 'threads' cannot be a percentage", "for example max threads 200" },
        { "max leaks 5", "rule 'max leaks 5': 'leaks' needs a number", "no leaks" },
        { "max live 5M now", "rule 'max live 5M now': unexpected 'now'",
          "put a pattern with blanks in quotes, and the word because before a reason" },
        { "max objects 'a 5", "rule 'max objects 'a 5': ' is never closed", "" },
        { "max objects 'a'5 1", "rule 'max objects 'a'5 1': a blank is missing after a closing quote", "" },
        { "max objects /a 5", "rule 'max objects /a 5': write a regular expression as /.../",
          "put a pattern with blanks in quotes" },
        { "max objects /x(/ 5",
          "rule 'max objects /x(/ 5': regular expression \"x(\": missing closing parenthesis at byte 2", "" },
        { "growth '/a /b*+*/' 5%",
          "rule 'growth '/a /b*+*/' 5%': regular expression \"a /b*+*\": quantifier does not follow a repeatable item "
          "at "
          "byte 6",
          "" },
        { "max objects '' 5", "rule 'max objects '' 5': an empty pattern", "" },
        { "no leaks", "rule 'no leaks': which leaks?", "use no leaks application, no leaks library or no leaks all" },
        { "no suspects 0.5%", "rule 'no suspects 0.5%': use 1% to 100% of the heap", "" },
        { "no damages", "rule 'no damages': unknown rule after no 'damages'", "did you mean 'damage'?" },
        { "growth", "rule 'growth': a value is missing", "for example growth com.acme.* 10%, growth 10%" },
        { " ", "rule '': the rule is empty", "for example max retained com.acme.* 50M" },
        { "mxa live 5M \t ", "rule 'mxa live 5M': unknown rule 'mxa'", "did you mean 'max'?" },
        { "groth 5M", "rule 'groth 5M': unknown rule 'groth'", "did you mean 'growth'?" },
        { "because of it", "rule 'because of it': unknown rule 'because'",
          "start a rule with max, min, growth or no, or with a name and a colon" },
        { "objects x 5", "rule 'objects x 5': expected max, min, growth or no", "max objects com.acme.Session 10k" },
        { "max objects / 5", "rule 'max objects / 5': write a regular expression as /.../",
          "put a pattern with blanks in quotes" },
        { "max live 50 MB", "rule 'max live 50 MB': unexpected word 'MB'", "write a value as one word, such as 50MB" },
        { "max live 50 kib", "rule 'max live 50 kib': unexpected word 'kib'",
          "write a value as one word, such as 50MB" },
        { "max live 50 g", "rule 'max live 50 g': unexpected word 'g'", "write a value as one word, such as 50MB" },
        { "max live 50 B", "rule 'max live 50 B': unexpected word 'B'", "write a value as one word, such as 50MB" },
        { "max live 50 %", "rule 'max live 50 %': unexpected word '%'", "write a value as one word, such as 50MB" },
        { "max live 50 MBs", "rule 'max live 50 MBs': unexpected 'MBs'",
          "put a pattern with blanks in quotes, and the word because before a reason" },
        { "max live 50 xi", "rule 'max live 50 xi': unexpected 'xi'",
          "put a pattern with blanks in quotes, and the word because before a reason" },
        { "max live 50 ''", "rule 'max live 50 ''': unexpected ''",
          "put a pattern with blanks in quotes, and the word because before a reason" },
        { "no suspects many", "rule 'no suspects many': invalid percentage", "no suspects 30%" },
        { "no suspects 30k", "rule 'no suspects 30k': invalid percentage", "no suspects 30%" },
        { "no suspects 5b", "rule 'no suspects 5b': invalid percentage", "no suspects 30%" },
        { "no suspects 101", "rule 'no suspects 101': use 1% to 100% of the heap", "" },
        { "growth objects", "rule 'growth objects': 'objects' is no size",
          "a size is 1048576, 50M or 1.5G (powers of 1024), a share of the heap 20%" },
        { "growth above 5", "rule 'growth above 5': a value is missing",
          "for example growth com.acme.* 10%, growth 10%" },
        { "growth a 5 x above 3", "rule 'growth a 5 x above 3': unexpected 'x'",
          "put a pattern with blanks in quotes, and the word because before a reason" },
        { "growth a 5 above", "rule 'growth a 5 above': unexpected 'above'",
          "put a pattern with blanks in quotes, and the word because before a reason" },
        { "growth 5% above 1%", "rule 'growth 5% above 1%': the value after above is not a size",
          "for example growth 10% above 1M" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        cr_expect(eq(int, read(NULL, all[i].text), HDX_USAGE), "%s", all[i].text);
        cr_expect_str_eq(err.message, all[i].message);
        cr_expect_str_eq(err.hint, all[i].hint);
    }
    char nul[] = "max objects a.b 5";
    nul[13] = '\0';
    cr_expect(eq(int, hdx_rule_read(&(hdx_rule_source){ NULL }, (hdx_text){ nul, sizeof nul - 1 }, &arena, &rule, &err),
                 HDX_USAGE));
}

static hdx_code read_file(hdx_rules *rules, const char *text)
{
    *rules = (hdx_rules){ .at = NULL };
    err = (hdx_error){ .offset = HDX_NOWHERE };
    return hdx_rules_read_file(rules, "heap.rules", (hdx_text){ text, (uint32_t)strlen(text) }, &arena, &err);
}

Test(rule, of_a_file_knows_its_line)
{
    hdx_rules rules;
    cr_assert(read_file(&rules, "\xef\xbb\xbf# of the shop\r\n\r\nmax live 1M\r\n  # more\n\nno damage") == HDX_OK,
              "%s", err.message);
    cr_assert(eq(u64, rules.count, 2));
    cr_expect_str_eq(rules.at[0].text, "max live 1M");
    cr_expect_str_eq(rules.at[0].file, "heap.rules");
    cr_expect(eq(u64, rules.at[0].line, 3));
    cr_expect(eq(u64, rules.at[1].line, 6));
    cr_expect(eq(int, read_file(&rules, "max live 1M\nmax lve 1M\n"), HDX_USAGE));
    cr_expect_str_eq(err.where, "heap.rules");
    cr_expect_str_eq(err.message, "line 2: rule 'max lve 1M': unknown measure 'lve'");
    cr_expect_str_eq(err.hint, "did you mean 'live'?");
    cr_expect(read_file(&rules, "# nothing\n") == HDX_OK && rules.count == 0);
    cr_expect(read_file(&rules, "\xef\xbb\xbf") == HDX_OK && rules.count == 0, "%s", err.message);
    hdx_buffer many = hdx_buffer_of(NULL);
    for (unsigned i = 0; i < 1000; i++)
        hdx_buffer_format(&many, "r%u: max objects c%u %u\n", i, i, i);
    cr_assert(read_file(&rules, many.at) == HDX_OK && rules.count == 1000);
    cr_expect(rules.at[999].limit == 999 && strcmp(rules.at[500].name, "r500") == 0);
    hdx_buffer_free(&many);
}

Test(rule, of_a_file_is_one_of_ten_thousand_at_most)
{
    hdx_rules  rules;
    hdx_buffer many = hdx_buffer_of(NULL);
    for (unsigned i = 0; i < 10000; i++)
        hdx_buffer_text(&many, "max live 1M # as before\n\n");
    cr_assert(read_file(&rules, many.at) == HDX_OK && rules.count == 10000, "%s", err.message);
    cr_expect(hdx_rules_read_file(&rules, "b.rules", (hdx_text){ "no damage", 9 }, &arena, &err) == HDX_OK &&
              rules.count == 10001);
    hdx_buffer_text(&many, "# as before\nno damage");
    cr_expect(eq(int, read_file(&rules, many.at), HDX_USAGE));
    cr_expect_str_eq(err.where, "heap.rules");
    cr_expect_str_eq(err.message, "line 20002: more than 10000 rules");
    hdx_buffer_free(&many);
}

Test(rule, too_long_for_a_line_of_an_error_is_cut)
{
    char text[5000];
    (void)memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    cr_expect(eq(int, read("max", text), HDX_USAGE));
    cr_expect(strlen(err.message) < sizeof err.message - 1, "%s", err.message);
    text[70] = '\0';
    cr_expect(eq(int, read(NULL, text), HDX_USAGE));
    cr_expect(strncmp(err.message, "rule 'xx", 8) == 0 && strncmp(err.message + 76, "': ", 3) == 0, "%s", err.message);
    text[70] = 'x';
    text[71] = '\0';
    cr_expect(eq(int, read(NULL, text), HDX_USAGE));
    cr_expect(strncmp(err.message + 73, "...': ", 6) == 0, "%s", err.message);
}
