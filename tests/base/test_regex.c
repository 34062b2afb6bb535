/*
 * test_regex.c - regular expressions: what they take, what is refused, and that their cost is bounded, counted in
 * steps.
 */
#include "base/base.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>

static hdx_regex *opened(const char *pattern, const hdx_progress *progress)
{
    hdx_regex *r;
    hdx_error  err = { .code = HDX_OK };
    cr_assert(eq(int, hdx_regex_open(pattern, strlen(pattern), progress, &r, &err), HDX_OK), "%s: %s", pattern,
              err.message);
    return r;
}

static bool found_in(const char *pattern, const char *text, size_t len)
{
    hdx_regex *r = opened(pattern, NULL);
    bool       yes = false;
    cr_assert(eq(int, hdx_regex_match(r, (hdx_text){ text, (uint32_t)len }, &yes, NULL), HDX_OK), "%s", pattern);
    hdx_regex_close(r);
    return yes;
}

static bool found(const char *pattern, const char *text) { return found_in(pattern, text, strlen(text)); }

Test(regex, finds_anywhere_and_to_the_very_end)
{
    cr_expect(found("^com\\.acme", "com.acme.Cache"));
    cr_expect(found("(Cache|Map)", "com.acme.Cache"));
    cr_expect(found("[[:upper:]][[:lower:]]+$", "com.acme.Cache"));
    cr_expect(found("a{2,3}b", "caab"));
    cr_expect(not(found("com\\.acme", "comXacme")));
    cr_expect(not(found("Cache$", "Cache\n")));
    cr_expect(found("a.b", "a\nb"));
    cr_expect(found("(?i)cache(?!s)", "com.acme.Cache"));
    cr_expect(found("", ""));
    cr_expect(found_in("^$", NULL, 0));
    cr_expect(not(found_in("d", "abcdef", 3))); /* borrowed, no NUL after it */
    cr_expect(found_in("b$", "a\0b", 3));
}

Test(regex, takes_characters_of_utf8_and_passes_over_what_is_none)
{
    cr_expect(found("^.$", "\xc3\xa9"));
    cr_expect(found("^[\xc3\xa9]+$", "\xc3\xa9\xc3\xa9"));
    cr_expect(found("abc$", "\xff\xc3 abc"));
    cr_expect(not(found("^..$", "\xed\xa0\x80"))); /* half a surrogate pair is no character */
    cr_expect(not(found("\\xff", "\xff")));
    cr_expect(found("b", "\x80\x80\x80\x80"
                         "b"));
}

Test(regex, says_what_is_wrong_and_where)
{
    static const struct {
        const char *pattern, *words;
    } wrong[] = {
        { "(a", "regular expression \"(a\": missing closing parenthesis at byte 2" },
        { "ab[z-a]", "at byte 5" },
        { "*a", "at byte 0" },
        { "a\\", "at byte 2" },
        { "(?<n>a)\\k<m>", "at byte" },
        { "a\xff", "at byte 1" },
        { "\\C", "at byte 2" },
        { "((a{9999}){9999}){9999}", "at byte" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        hdx_regex *r;
        hdx_error  err;
        cr_assert(eq(int, hdx_regex_open(wrong[i].pattern, strlen(wrong[i].pattern), NULL, &r, &err), HDX_USAGE), "%s",
                  wrong[i].pattern);
        cr_expect(eq(int, err.code, HDX_USAGE));
        cr_expect(strstr(err.message, wrong[i].words) != NULL, "%s: %s", wrong[i].pattern, err.message);
        cr_expect(eq(ptr, r, NULL));
    }
}

Test(regex, has_groups_in_groups_as_deep_as_a_small_stack_allows)
{
    for (size_t depth = 100; depth <= 101; depth++) {
        char       pattern[256];
        hdx_regex *r;
        hdx_error  err = { .message = "" };
        memset(pattern, '(', depth);
        pattern[depth] = 'a';
        memset(pattern + depth + 1, ')', depth);
        const hdx_code code = hdx_regex_open(pattern, 2 * depth + 1, NULL, &r, &err);
        cr_expect(eq(int, code, depth == 100 ? HDX_OK : HDX_USAGE), "%zu: %s", depth, err.message);
        cr_expect(depth == 100 || strstr(err.message, "too deeply nested at byte 101") != NULL, "%s", err.message);
        hdx_regex_close(r);
    }
}

/*
 * Patterns that backtrack without end on these texts, each in another way: powers of two, of the length, of the places
 * to begin at.
 */
static const struct {
    const char *pattern;
    char        fill;
} costly[] = {
    { "(a+)+[!?]$", 'a' },       { "(a|a)*[!?]$", 'a' },         { "(a|aa)+[!?]", 'a' },  { "(.*)*[!?]", 'a' },
    { "a*a*a*a*[!?]", 'a' },     { "(?:a?){40}a{40}[!?]", 'a' }, { "(a*)*\\1[!?]", 'a' }, { "(?=(a+)+[!?])", 'a' },
    { "((a*)(?1)?)+[!?]", 'a' }, { "(\\w+\\s?)*[!?]$", 'b' },
};

static void expect_costly(const char *pattern, char fill, const char *start)
{
    const uint32_t len = 20000;
    char          *text = malloc(len), whole[64];
    hdx_error      err = { .message = "" };
    bool           yes = true;
    memset(text, fill, len);
    (void)snprintf(whole, sizeof whole, "%s%s", start, pattern);
    hdx_regex *r = opened(whole, NULL);
    cr_expect(eq(int, hdx_regex_match(r, (hdx_text){ text, len }, &yes, &err), HDX_USAGE), "%s", whole);
    cr_expect(eq(int, err.code, HDX_USAGE));
    cr_expect(strstr(err.message, whole) != NULL && strstr(err.message, "too costly") != NULL, "%s", err.message);
    cr_expect(not(yes));
    cr_expect(le(u64, hdx_regex_steps(r), HDX_REGEX_STEPS + (uint64_t)HDX_REGEX_STEPS_BYTE * len + len));
    hdx_regex_close(r);
    free(text);
}

Test(regex, too_costly_ends_by_count_compiled_to_machine_code_or_not)
{
    for (size_t i = 0; i < sizeof costly / sizeof *costly; i++) {
        expect_costly(costly[i].pattern, costly[i].fill, "");
        expect_costly(costly[i].pattern, costly[i].fill, "(*NO_JIT)");
    }
}

/* A pattern slightly below any limit for one text adds up over many. */
Test(regex, all_texts_together_have_a_bound)
{
    hdx_regex *r = opened("(a|aa)+[!?]", NULL);
    hdx_code   code = HDX_OK;
    hdx_error  err;
    bool       yes;
    unsigned   n = 0;
    for (; code == HDX_OK && n < 2000000; n++)
        code = hdx_regex_match(r, (hdx_text){ "aaaaaaaaaaaaaaaaaaa", 19 }, &yes, &err);
    cr_expect(eq(int, code, HDX_USAGE));
    cr_expect(lt(u32, n, 10000));
    hdx_regex_close(r);
}

Test(regex, honest_patterns_over_many_names_stay_far_below_it)
{
    static const char *const patterns[] = { "^com\\.acme\\..*Repository$",
                                            "(Foo|Bar|Baz|Impl)\\$",
                                            "[a-z]+\\.[A-Z]",
                                            "\\$\\d+$",
                                            ".*Cache.*",
                                            "(\\w+\\.)+\\w+" };
    static const char        name[] = "com.acme.warehouse.persistence.CustomerRepositoryImpl$$Lambda$14";
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        hdx_regex *r = opened(patterns[i], NULL);
        bool       yes;
        for (unsigned n = 0; n < 100; n++)
            cr_assert(eq(int, hdx_regex_match(r, (hdx_text){ name, sizeof name - 1 }, &yes, NULL), HDX_OK));
        cr_expect(lt(u64, hdx_regex_steps(r), (uint64_t)100 * HDX_REGEX_STEPS_BYTE * (sizeof name - 1) / 8), "%s: %llu",
                  patterns[i], (unsigned long long)hdx_regex_steps(r));
        hdx_regex_close(r);
    }
}

static bool after_some(void *context)
{
    unsigned *left = context;
    return *left == 0 || --*left == 0;
}

Test(regex, stops_inside_of_one_match_when_asked_to)
{
    unsigned     left = 10;
    hdx_progress progress = { .context = &left, .cancelled = after_some };
    hdx_regex   *r = opened("(a+)+[!?]$", &progress);
    bool         yes;
    cr_expect(eq(int, hdx_regex_match(r, (hdx_text){ "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 36 }, &yes, NULL),
                 HDX_CANCELLED));
    cr_expect(lt(u64, hdx_regex_steps(r), 100000));
    cr_expect(eq(int, hdx_regex_match(r, (hdx_text){ "a", 1 }, &yes, NULL), HDX_CANCELLED)); /* and stays stopped */
    hdx_regex_close(r);
}

/* Also where a glance at the text tells that nothing can be found. */
Test(regex, every_match_is_a_step)
{
    hdx_regex *r;
    hdx_error  err;
    bool       yes = true;
    cr_assert(hdx_regex_open("zebra", 5, NULL, &r, &err) == HDX_OK);
    for (unsigned i = 1; i <= 10; i++) {
        cr_assert(hdx_regex_match(r, (hdx_text){ "aaaa", 4 }, &yes, &err) == HDX_OK && yes == false);
        cr_expect(hdx_regex_steps(r) >= i);
    }
    hdx_regex_close(r);
}

/* A run of bytes that one item takes counts a step for sixteen of them, however far into the text it begins. */
Test(regex, runs_of_bytes_are_steps_by_their_length)
{
    enum { EACH = 1600, RUNS = 5 };
    char *text = malloc(EACH * RUNS);
    cr_assert(text != NULL);
    for (unsigned i = 0; i < RUNS; i++)
        memset(text + (size_t)EACH * i, (int)('a' + i), EACH);
    for (unsigned runs = 1; runs <= RUNS; runs++) {
        hdx_regex     *r = opened("^a*b*c*d*e*$", NULL);
        bool           yes = false;
        const uint64_t least = (uint64_t)runs * EACH / 16;
        cr_assert(hdx_regex_match(r, (hdx_text){ text, EACH * runs }, &yes, NULL) == HDX_OK && yes);
        cr_expect(hdx_regex_steps(r) >= least && hdx_regex_steps(r) <= least + 20, "%u runs: %llu steps", runs,
                  (unsigned long long)hdx_regex_steps(r));
        hdx_regex_close(r);
    }
    free(text);
}

/* Words have the first 80 bytes of a pattern. */
Test(regex, of_any_length_is_named_by_its_beginning)
{
    char pattern[100];
    memset(pattern, 'a', sizeof pattern);
    for (size_t len = 78; len <= 84; len++) {
        hdx_regex *r;
        hdx_error  err;
        char       words[160];
        pattern[0] = '(';
        cr_assert(eq(int, hdx_regex_open(pattern, len, NULL, &r, &err), HDX_USAGE));
        (void)snprintf(words, sizeof words, "\"%.*s\": ", (int)(len < 80 ? len : 80), pattern);
        cr_expect(strstr(err.message, words) != NULL, "%zu: %s", len, err.message);
    }
}
