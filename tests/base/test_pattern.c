/* test_pattern.c - names by glob and regular expression. */
#include "base/base.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

static hdx_text t(const char *s) { return (hdx_text){ s, (uint32_t)strlen(s) }; }

Test(glob, matches_the_whole_text_and_knows_two_wildcards)
{
    cr_expect(hdx_glob_match(t("com.acme.*"), t("com.acme.Cache")));
    cr_expect(not(hdx_glob_match(t("com.acme.*"), t("xcom.acme.Cache"))));
    cr_expect(hdx_glob_match(t("*Cache"), t("com.acme.Cache")));
    cr_expect(not(hdx_glob_match(t("*Cache"), t("com.acme.Caches"))));
    cr_expect(hdx_glob_match(t("c?m.*.C*e"), t("com.acme.Cache")));
    cr_expect(hdx_glob_match(t("byte[]"), t("byte[]")), "brackets mean themselves");
    cr_expect(not(hdx_glob_match(t("byte[]"), t("byteb"))));
    cr_expect(hdx_glob_match(t("*"), t("")));
    cr_expect(hdx_glob_match(t(""), t("")));
    cr_expect(not(hdx_glob_match(t("?"), t(""))));
    cr_expect(hdx_glob_match(t("a?b"), t("a\xc3\xa9"
                                         "b")),
              "one character, not one byte");
}

/* The obvious recursive definition. */
static bool slow(const char *p, const char *s)
{
    if (*p == '\0')
        return *s == '\0';
    if (*p == '*')
        return slow(p + 1, s) || (*s != '\0' && slow(p, s + 1));
    return *s != '\0' && (*p == '?' || *p == *s) && slow(p + 1, s + 1);
}

Test(glob, agrees_with_the_recursive_definition)
{
    unsigned seed = 20260701;
    for (unsigned round = 0; round < 20000; round++) {
        char     pattern[9], text[13];
        unsigned n = (unsigned)rand_r(&seed) % 8, m = (unsigned)rand_r(&seed) % 12;
        for (unsigned i = 0; i < n; i++)
            pattern[i] = "ab*?"[rand_r(&seed) % 4];
        for (unsigned i = 0; i < m; i++)
            text[i] = "ab"[rand_r(&seed) % 2];
        pattern[n] = text[m] = '\0';
        cr_assert(eq(int, hdx_glob_match(t(pattern), t(text)), slow(pattern, text)), "seed 20260701 round %u: %s on %s",
                  round, pattern, text);
    }
}

Test(glob, does_not_explode_on_many_stars)
{
    char pattern[401], text[3001];
    for (unsigned i = 0; i < 400; i += 2) {
        pattern[i] = '*';
        pattern[i + 1] = 'a';
    }
    pattern[400] = '\0';
    memset(text, 'a', 2999);
    text[2999] = 'b';
    text[3000] = '\0';
    cr_expect(not(hdx_glob_match(t(pattern), t(text))));
}

static bool matches(const char *pattern, const char *name)
{
    hdx_pattern p;
    hdx_error   err;
    bool        yes = false;
    cr_assert(eq(int, hdx_pattern_open(&p, pattern, NULL, NULL, &err), HDX_OK), "%s", pattern);
    cr_assert(eq(int, hdx_pattern_match(&p, t(name), &yes, &err), HDX_OK), "%s", pattern);
    hdx_pattern_close(&p);
    return yes;
}

Test(pattern, is_a_name_a_glob_or_between_slashes_a_regex)
{
    cr_expect(matches("com.acme.Cache", "com.acme.Cache"));
    cr_expect(not(matches("com.acme.Cache", "com_acme.Cache")), "dots of a name mean themselves");
    cr_expect(not(matches("com.acme", "com.acme.Cache")));
    cr_expect(matches("com.*.Cache", "com.acme.Cache"));
    cr_expect(matches("/acme.Cach/", "com.acme.Cache"), "found anywhere");
    cr_expect(not(matches("/^acme/", "com.acme.Cache")));
    cr_expect(matches("//", "//"), "nothing between slashes is a name");
    cr_expect(not(matches("", "x")));
}

Test(pattern, that_is_no_regex_is_refused_and_may_be_closed)
{
    hdx_pattern p;
    hdx_error   err;
    cr_expect(eq(int, hdx_pattern_open(&p, "/(/", NULL, NULL, &err), HDX_USAGE));
    hdx_pattern_close(&p);
}

Test(pattern, is_matched_once_with_a_long_name)
{
    char        name[HDX_LONG_PATTERNED + 1];
    hdx_pattern p;
    hdx_error   err;
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    cr_assert(eq(int, hdx_pattern_open(&p, "/a+$/", NULL, NULL, &err), HDX_OK));
    uint64_t steps = 0;
    for (unsigned n = 0; n < 100; n++) {
        bool yes = false;
        cr_assert(eq(int, hdx_pattern_match(&p, t(name), &yes, &err), HDX_OK));
        cr_expect(yes);
        steps = n == 0 ? hdx_regex_steps(p.regex) : steps;
    }
    cr_expect(gt(u64, steps, 0));
    cr_expect(eq(u64, hdx_regex_steps(p.regex), steps));
    bool yes = true; /* a shorter one at the same place is looked at by itself */
    cr_assert(eq(int, hdx_pattern_match(&p, (hdx_text){ name, 3 }, &yes, &err), HDX_OK));
    cr_expect(yes);
    cr_expect(gt(u64, hdx_regex_steps(p.regex), steps));
    hdx_pattern_close(&p);
}

/* On texts that end where their memory does: what lies behind is never looked at. */
Test(glob, takes_one_character_of_one_to_four_bytes_for_a_question_mark)
{
    static const struct {
        const char *pattern, *text;
        bool        yes;
    } cases[] = {
        { "?", "\xc3\xa9", true },
        { "?", "\xe2\x82\xac", true },
        { "?", "\xf0\x9f\x98\x80", true },
        { "?", "\xf0\x9f\x98\x80\x80", false }, /* no character has five */
        { "??", "\xf0\x9f\x98\x80\x80", true },
        { "?b",
          "\xc3\xa9"
          "b",
          true },
        { "?", "\xc3", true }, /* cut short */
        { "??", "\xc3", false },
        { "a?", "a\xe2\x82", true },
        { "?", "ab", false },
        { "*?", "\xc3\xa9", true },
        { "*?", "", false },
        { "**", "", true },
        { "a*", "", false },
        { "a**", "a", true },
        { "a", "", false },
        { "", "a", false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t m = strlen(cases[i].pattern), n = strlen(cases[i].text);
        char        *pattern = malloc(m + (m == 0)), *text = malloc(n + (n == 0));
        memcpy(pattern, cases[i].pattern, m);
        memcpy(text, cases[i].text, n);
        cr_expect(hdx_glob_match((hdx_text){ pattern, (uint32_t)m }, (hdx_text){ text, (uint32_t)n }) == cases[i].yes,
                  "case %zu: %s", i, cases[i].pattern);
        free(pattern);
        free(text);
    }
    cr_expect(hdx_is_glob(t("a*")) && hdx_is_glob(t("?")) && hdx_is_glob(t("xy?z")));
    cr_expect(not(hdx_is_glob(t("")) || hdx_is_glob(t("a.b[c]"))));
    cr_expect(not(hdx_is_glob((hdx_text){ "ab*", 2 })));
}

Test(pattern, between_slashes_has_one_byte_at_least)
{
    cr_expect(matches("/a/", "xay"));
    cr_expect(not(matches("/a", "a")));
    cr_expect(not(matches("a/", "a")));
    cr_expect(matches("/a", "/a"));
    cr_expect(matches("/", "/"));
    cr_expect(matches("/?", "/a"));
}

static bool refuse_now(void *context)
{
    (void)context;
    return true;
}

static bool refuse_all(void *context, uint64_t bytes)
{
    (void)context;
    (void)bytes;
    return true;
}

/* Names from 256 bytes on are remembered; where there is no memory for that, it is said. A failed match is none. */
Test(pattern, remembers_long_names_alone)
{
    hdx_mem     mem = { 0 };
    hdx_pattern p;
    hdx_error   err;
    char        name[HDX_LONG_PATTERNED + 1];
    bool        yes = true;
    memset(name, 'a', sizeof name);
    cr_assert(hdx_pattern_open(&p, "a*b", NULL, &mem, &err) == HDX_OK);
    cr_expect(hdx_pattern_match(&p, (hdx_text){ name, HDX_LONG_PATTERNED - 1 }, &yes, &err) == HDX_OK && !yes);
    cr_expect(p.known.count == 0);
    mem.refuse = refuse_all;
    yes = true;
    cr_expect(hdx_pattern_match(&p, (hdx_text){ name, HDX_LONG_PATTERNED }, &yes, &err) == HDX_LIMIT);
    cr_expect(err.code == HDX_LIMIT && p.known.count == 0);
    mem.refuse = NULL;
    for (unsigned i = 0; i < 3; i++) {
        yes = true;
        cr_expect(hdx_pattern_match(&p, (hdx_text){ name, HDX_LONG_PATTERNED }, &yes, &err) == HDX_OK && !yes);
        cr_expect(p.known.count == 1);
    }
    name[HDX_LONG_PATTERNED - 1] = 'b';
    for (unsigned i = 0; i < 3; i++)
        cr_expect(hdx_pattern_match(&p, (hdx_text){ name, HDX_LONG_PATTERNED }, &yes, &err) == HDX_OK && !yes,
                  "at the same place as before, so it is the same name");
    cr_expect(hdx_pattern_match(&p, (hdx_text){ name + 1, HDX_LONG_PATTERNED - 1 }, &yes, &err) == HDX_OK && yes);
    hdx_pattern_close(&p);
    cr_expect(mem.used == 0);
    unsigned           left = 0;
    const hdx_progress stop = { .context = &left, .cancelled = refuse_now };
    cr_assert(hdx_pattern_open(&p, "/a+$/", &stop, &mem, &err) == HDX_OK);
    yes = true;
    cr_expect(hdx_pattern_match(&p, (hdx_text){ name, HDX_LONG_PATTERNED }, &yes, &err) == HDX_CANCELLED && !yes);
    hdx_pattern_close(&p);
}
