/* test_nearest.c - how far a misspelt name is from a right one, and which one was meant. */
#include "base/nearest.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

static hdx_text t(const char *s) { return (hdx_text){ s, (uint32_t)strlen(s) }; }

Test(distance, counts_what_a_typist_does)
{
    cr_expect(eq(u32, hdx_edit_distance(t("java.lang.String"), t("java.lang.String"), 3), 0));
    cr_expect(eq(u32, hdx_edit_distance(t("java.lang.string"), t("java.lang.String"), 3), 0), "case is no error");
    cr_expect(eq(u32, hdx_edit_distance(t("java.lang.Strnig"), t("java.lang.String"), 3), 1), "a swap is one");
    cr_expect(eq(u32, hdx_edit_distance(t("java.lang.Sting"), t("java.lang.String"), 3), 1));
    cr_expect(eq(u32, hdx_edit_distance(t("java.lang.Stringg"), t("java.lang.String"), 3), 1));
    cr_expect(eq(u32, hdx_edit_distance(t("kitten"), t("sitting"), 9), 3));
    cr_expect(eq(u32, hdx_edit_distance(t("kitten"), t("sitting"), 2), 3), "over the limit: limit + 1");
    cr_expect(eq(u32, hdx_edit_distance(t(""), t("ab"), 4), 2));
    cr_expect(eq(u32, hdx_edit_distance(t(""), t(""), 0), 0));
}

Test(distance, refuses_names_that_are_too_long_for_a_typing_error)
{
    char a[301];
    memset(a, 'a', 300);
    a[300] = '\0';
    cr_expect(eq(u32, hdx_edit_distance(t(a), t(a), 5), 6));
    a[200] = '\0';
    cr_expect(eq(u32, hdx_edit_distance(t(a), t(a), 5), 0));
}

/* The textbook definition, exponential, for words of up to five letters. */
static unsigned slow(const char *a, size_t m, const char *b, size_t n)
{
    if (m == 0 || n == 0)
        return (unsigned)(m + n);
    unsigned best = slow(a, m - 1, b, n - 1) + (a[m - 1] != b[n - 1]);
    unsigned d = slow(a, m - 1, b, n) + 1;
    best = d < best ? d : best;
    d = slow(a, m, b, n - 1) + 1;
    best = d < best ? d : best;
    if (m > 1 && n > 1 && a[m - 1] == b[n - 2] && a[m - 2] == b[n - 1]) {
        d = slow(a, m - 2, b, n - 2) + 1;
        best = d < best ? d : best;
    }
    return best;
}

Test(distance, agrees_with_the_definition)
{
    unsigned seed = 20240611;
    for (int i = 0; i < 3000; i++) {
        char a[6] = "", b[6] = "";
        for (unsigned k = 0, n = (seed = seed * 1103515245 + 12345) >> 16 & 7; k < n && k < 5; k++)
            a[k] = (char)('a' + ((seed = seed * 1103515245 + 12345) >> 16) % 3);
        for (unsigned k = 0, n = (seed = seed * 1103515245 + 12345) >> 16 & 7; k < n && k < 5; k++)
            b[k] = (char)('a' + ((seed = seed * 1103515245 + 12345) >> 16) % 3);
        cr_assert(eq(uint, hdx_edit_distance(t(a), t(b), 20), slow(a, strlen(a), b, strlen(b))),
                  "%s %s, round %d of seed 20240611", a, b, i);
    }
}

Test(nearest, is_what_is_near_enough_to_be_meant)
{
    static const char *const names[] = { "histogram", "dominators", "objects", "object", "refs" };
    static const struct {
        const char *typed, *meant;
    } cases[] = {
        { "histgram", "histogram" }, { "dom", "dominators" }, { "obejct", "object" }, { "objcts", "objects" },
        { "ref", "refs" },           { "xylophone", NULL },   { "xy", NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hdx_nearest n = { .wanted = cases[i].typed };
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            hdx_nearest_offer(&n, names[k]);
        if (cases[i].meant == NULL)
            cr_expect(n.best == NULL, "%s: %s", cases[i].typed, n.best);
        else
            cr_expect_str_eq(n.best, cases[i].meant, "%s", cases[i].typed);
    }
}

/* A word cut short is as good as one wrong letter, not better. */
Test(nearest, is_the_first_of_those_that_are_as_near)
{
    hdx_nearest n = { .wanted = "hist" };
    hdx_nearest_offer(&n, "list");
    hdx_nearest_offer(&n, "histogram");
    cr_expect(strcmp(n.best, "list") == 0 && n.distance == 1);
    n = (hdx_nearest){ .wanted = "hist" };
    hdx_nearest_offer(&n, "histogram");
    hdx_nearest_offer(&n, "list");
    cr_expect(strcmp(n.best, "histogram") == 0);
    hdx_nearest_offer(&n, "HIST");
    cr_expect(strcmp(n.best, "HIST") == 0 && n.distance == 0);
}

/* Names of up to 200 bytes, each way round; the limit itself is still told, what is beyond it is not. */
Test(distance, is_told_up_to_its_limit)
{
    char long_one[203], other[203];
    memset(long_one, 'a', sizeof long_one);
    memset(other, 'a', sizeof other);
    for (uint32_t m = 199; m <= 202; m++)
        for (uint32_t n = 199; n <= 202; n++) {
            const unsigned apart = m > n ? m - n : n - m;
            cr_expect(eq(u32, hdx_edit_distance((hdx_text){ long_one, m }, (hdx_text){ other, n }, 2),
                         m > 200 || n > 200 || apart > 2 ? 3 : apart),
                      "%u, %u", m, n);
        }
    unsigned seed = 20261124;
    for (int i = 0; i < 4000; i++) {
        char     a[6], b[6];
        uint32_t lens[2];
        for (unsigned k = 0; k < 2; k++) {
            char *word = k == 0 ? a : b;
            lens[k] = ((seed = seed * 1103515245 + 12345) >> 16) % 6;
            for (unsigned c = 0; c < 6; c++)
                word[c] = (char)("abB"[((seed = seed * 1103515245 + 12345) >> 16) % 3]);
        }
        char small[2][6];
        for (unsigned c = 0; c < 6; c++) {
            small[0][c] = a[c] == 'B' ? 'b' : a[c];
            small[1][c] = b[c] == 'B' ? 'b' : b[c];
        }
        const unsigned far = slow(small[0], lens[0], small[1], lens[1]);
        for (unsigned limit = 0; limit < 7; limit++)
            cr_assert(eq(u32, hdx_edit_distance((hdx_text){ a, lens[0] }, (hdx_text){ b, lens[1] }, limit),
                         far > limit ? limit + 1 : far),
                      "%.6s %.6s, limit %u, round %d", a, b, limit, i);
    }
}

/* How many letters may be wrong in a word of so many; which beginnings are words cut short. */
Test(nearest, knows_how_much_of_a_word_may_be_wrong)
{
    static const struct {
        const char *typed, *offered;
        unsigned    distance; /* 9: not taken */
    } cases[] = {
        { "ab", "ab", 0 },
        { "ab", "ac", 9 },
        { "abc", "abd", 1 },
        { "abc", "axd", 9 },
        { "abcde", "abxde", 1 },
        { "abcde", "abxdx", 9 },
        { "abcdef", "abxdxf", 2 },
        { "abcdef", "xbxdxf", 9 },
        { "abcdefgh", "xbxdefgh", 2 },
        { "abcdefgh", "xbxdxfgh", 9 },
        { "abcdefghi", "xbxdxfghi", 3 },
        { "abcdefghi", "xbxdxfxhi", 9 },
        { "abcdefghijkl", "xbxdxfghijkl", 3 },
        { "abcdefghijkl", "xbxdxfxhijkl", 9 },
        { "abc", "abcdefghi", 1 },
        { "ab", "abcdefghi", 9 },
        { "abc", "abc", 0 },
        { "abc", "abcd", 1 },
        { "abcdefghi", "abcdef", 3 },
        { "abc", "xabcdefghi", 9 },
        { "abcdef", "abcdefgh", 1 },
        { "", "", 0 },
        { "", "a", 9 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hdx_nearest n = { .wanted = cases[i].typed };
        hdx_nearest_offer(&n, cases[i].offered);
        if (cases[i].distance == 9)
            cr_expect(n.best == NULL, "%s, %s: %u", cases[i].typed, cases[i].offered, n.distance);
        else
            cr_expect(n.best == cases[i].offered && n.distance == cases[i].distance, "%s, %s: %u", cases[i].typed,
                      cases[i].offered, n.distance);
    }
    char candidate[202];
    memset(candidate, 'x', sizeof candidate);
    candidate[201] = '\0';
    hdx_nearest n = { .wanted = "xxx" };
    hdx_nearest_offer(&n, candidate);
    cr_expect(n.best == NULL, "201 letters are not what was meant");
    candidate[200] = '\0';
    hdx_nearest_offer(&n, candidate);
    cr_expect(n.best == candidate && n.distance == 1);
}
