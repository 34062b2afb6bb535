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
