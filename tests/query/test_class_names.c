/*
 * test_class_names.c - classes by the name that somebody typed: which are meant, and in which words it is refused. Of
 * classes that no dump need have.
 */
#include "query/query.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 12 };

/* Class i has the name names[i]; its super class is supers[i], or none. */
static void named(const char *const *names, const uint32_t *supers, const char *pattern, bool subclasses,
                  const char *want)
{
    hdx_class classes[MOST];
    uint32_t  count = 0, *numbers = NULL;
    size_t    found = 0;
    hdx_error err = { 0 };
    hdx_mem   mem = { 0 };
    char      is[700] = "";
    for (; count < MOST && names[count] != NULL; count++)
        classes[count] = (hdx_class){ .name = { names[count], (uint32_t)strlen(names[count]) },
                                      .number = count,
                                      .super = supers == NULL ? HDX_NO_CLASS : supers[count] };
    const hdx_code code = hdx_classes_named(classes, count, pattern, subclasses, NULL, &mem, &numbers, &found, &err);
    cr_expect(err.code == code, "%s: the words say %s", pattern, hdx_code_name(err.code));
    if (code != HDX_OK)
        (void)snprintf(is, sizeof is, "%s: %s (%s)", hdx_code_name(code), err.message, err.hint);
    for (size_t i = 0; i < found; i++)
        (void)snprintf(is + strlen(is), sizeof is - strlen(is), "%s%u", i == 0 ? "" : " ", numbers[i]);
    cr_expect(strcmp(is, want) == 0, "%s: \"%s\", should be \"%s\"", pattern, is, want);
    cr_expect((numbers != NULL) == (code == HDX_OK));
    hdx_numbers_free(numbers);
    cr_expect(mem.used == 0);
}

Test(class_names, are_whole_simple_or_patterns)
{
    static const char *const names[] = { "java.lang.Object", "app.Node",       "app.list.Node",
                                         "app.Map$Entry",    "app.Tree$Entry", "app.Leaf",
                                         "byte[]",           "Entry",          "Nodes",
                                         "app.Only$Once",    "app.Leaf",       NULL };
    static const struct {
        const char *pattern, *want;
    } cases[] = {
        { "app.Node", "1" },
        { "app.Leaf", "5 10" }, /* of two loaders */
        { "Leaf", "5 10" },     /* both have one name: it is clear which */
        { "Entry", "7" },       /* the name itself goes before simple ones */
        { "Node", "not_found: several classes are called Node (choose one of them, such as app.Node, app.list.Node)" },
        { "app.Nude", "not_found: no class is called app.Nude (did you mean app.Node?)" },
        { "Map$Entry", "3" },
        { "Once", "9" },
        { "Only$Once", "9" },
        { "Nodes", "8" },
        { "odes", "not_found: no class is called odes (did you mean Nodes?)" },
        { "byte[]", "6" },
        { "app.*", "1 2 3 4 5 9 10" },
        { "*Node", "1 2" },
        { "*.Node", "1 2" },
        { "app.????", "1 5 10" },
        { "/Node$/", "1 2" },
        { "/^app.[LN]/", "1 5 10" },
        { "/x/", "not_found: no class is called /x/ (class names have the Java form, such as java.lang.String or "
                 "byte[]; * and ? are wildcards)" },
        { "//", "not_found: no class is called // (class names have the Java form, such as java.lang.String or "
                "byte[]; * and ? are wildcards)" },
        { "", "usage: class name is empty ()" },
        { "*", "0 1 2 3 4 5 6 7 8 9 10" },
        { "app/Node", "not_found: no class is called app/Node (did you mean app.Node?)" },
        { "App.node", "not_found: no class is called App.node (did you mean app.Node?)" },
        { "obejct", "not_found: no class is called obejct (did you mean java.lang.Object?)" },
        { "zzzzzzzzz", "not_found: no class is called zzzzzzzzz (class names have the Java form, such as "
                       "java.lang.String or byte[]; * and ? are wildcards)" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        named(names, NULL, cases[i].pattern, false, cases[i].want);
}

/* Up to four of several, as long as they fit 160 bytes with their commas and their end. */
Test(class_names, that_stand_for_several_are_listed_as_far_as_there_is_room)
{
    static const char *const five[] = { "a.X", "b.X", "c$X", "d.X", "e.X", NULL };
    named(five, NULL, "X", false,
          "not_found: several classes are called X (choose one of them, such as a.X, b.X, c$X, d.X)");
    for (int more = -2; more <= 2; more++) {
        char              first[200], second[200], want[600];
        const char *const names[] = { first, second, "third.X", NULL };
        const size_t      len = (size_t)(160 - 3 - 80 + more);
        memset(first, 'f', sizeof first);
        memcpy(first + 78, ".X", 3); /* 80 bytes */
        memset(second, 's', sizeof second);
        memcpy(second + len - 2, ".X", 3);
        const bool fits = 80 + len + 3 < 160;
        (void)snprintf(want, sizeof want,
                       "not_found: several classes are called X (choose one of them, such as %s%s%s%s)", first,
                       fits ? ", " : "", fits ? second : "", fits ? "" : ", third.X");
        named(names, NULL, "X", false, want);
    }
}

/* A name of 256 bytes or more is looked at once for all classes that have it at one place; it is no other name. */
Test(class_names, that_are_long_match_as_short_ones_do)
{
    for (size_t len = 254; len <= 258; len++) {
        char              one[300], other[300];
        const char *const names[] = { one, other, one, "app.Short", NULL };
        memset(one, 'l', len);
        memset(other, 'l', len);
        one[len] = other[len] = '\0';
        other[len - 1] = 'm';
        named(names, NULL, one, false, "0 2");
        named(names, NULL, other, false, "1");
        named(names, NULL, "l*m", false, "1");
        named(names, NULL, "/l$/", false, "0 2");
        named(names, NULL, "/[lm]$/", false, "0 1 2");
        named(names, NULL, "l*", false, "0 1 2");
    }
}

/* How many letters may be wrong grows with the length: 2 up to 8 letters, a third of it, 8 at most. */
Test(class_names, that_are_near_are_offered)
{
    static const struct {
        const char *name, *typed;
        bool        offered;
    } cases[] = {
        { "abcdef", "abcdef.", true },
        { "abcdef", "abxyef.", false },
        { "abcdefgh", "abcdefxy", true },
        { "abcdefgh", "abcdexyz", false },
        { "abcdefghi", "abcdefxyz", true },
        { "abcdefghi", "abcdexyzw", false },
        { "app.abcdef", "abcdxy", true },
        { "app.abcdef", "abcxyz", false },
        { "abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnopqr12345678", true },
        { "abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnopq123456789", false },
        { "abcdefghijklmnopqrstuvwxyzABCDEFGHIJ", "abcdefghijklmnopqrstuvwxyzAB12345678", true },
        { "abcdefghijklmnopqrstuvwxyzABCDEFGHIJ", "abcdefghijklmnopqrstuvwxyzA123456789", false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const names[] = { cases[i].name, NULL };
        char              want[300];
        if (cases[i].offered)
            (void)snprintf(want, sizeof want, "not_found: no class is called %s (did you mean %s?)", cases[i].typed,
                           cases[i].name);
        else
            (void)snprintf(want, sizeof want,
                           "not_found: no class is called %s (class names have the Java form, such as "
                           "java.lang.String or byte[]; * and ? are wildcards)",
                           cases[i].typed);
        named(names, NULL, cases[i].typed, false, want);
    }
    static const char *const alike[] = { "app.Cart", "app.Card", "app.Care", NULL };
    named(alike, NULL, "app.Carx", false, "not_found: no class is called app.Carx (did you mean app.Cart?)");
    named(alike, NULL, "app.card", false, "not_found: no class is called app.card (did you mean app.Card?)");
}

/* Classes below those named, however deep and in whatever order they are numbered; a chain in a circle ends. */
Test(class_names, with_subclasses_have_all_below_them)
{
    static const char *const names[] = { "o", "a", "b", "c", "d", "e", "x", NULL };
    static const struct {
        uint32_t    supers[7];
        const char *pattern, *want;
    } cases[] = {
        { { HDX_NO_CLASS, 0, 1, 2, 3, 4, 0 }, "o", "0 1 2 3 4 5 6" },
        { { HDX_NO_CLASS, 0, 1, 2, 3, 4, 0 }, "b", "2 3 4 5" },
        { { HDX_NO_CLASS, 2, 3, 4, 5, 0, 0 }, "c", "1 2 3" },
        { { HDX_NO_CLASS, 2, 3, 4, 5, 0, 0 }, "e", "1 2 3 4 5" },
        { { HDX_NO_CLASS, 2, 3, 4, 5, 0, 0 }, "/[ax]/", "1 6" },
        { { 6, 0, 1, 2, 3, 4, 5 }, "x", "0 1 2 3 4 5 6" },
        { { HDX_NO_CLASS, 2, 1, 0, 0, 0, 0 }, "x", "6" },
        { { HDX_NO_CLASS, 2, 1, 1, 0, 0, 0 }, "b", "1 2 3" },
        { { HDX_NO_CLASS, 9, 1, 0, 0, 0, 0 }, "a", "1 2" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        named(names, cases[i].supers, cases[i].pattern, true, cases[i].want);
}
