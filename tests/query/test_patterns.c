/* test_patterns.c - globs and packages: the pure part of naming things. */
#include "query/query.h"

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

static void expect_package(const char *name, const char *want)
{
    hdx_text p = hdx_package_of(t(name));
    cr_expect(hdx_text_is(p, want), "package of %s is %.*s, not %s", name, (int)p.len, p.at, want);
}

Test(package, is_what_stands_before_the_last_dot)
{
    expect_package("java.util.HashMap$Node", "java.util");
    expect_package("java.lang.String[][]", "java.lang");
    expect_package("Zoo", "(default package)");
    expect_package("byte[]", "(default package)");
    expect_package("", "(default package)");
    expect_package(".x", "(default package)");
    expect_package("app.Main$$Lambda+0x00007f1c.04001200", "app");
    expect_package("app.Main$$Lambda$46/0x00.12", "app");
}
