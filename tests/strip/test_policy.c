/* test_policy.c - what each tool does with each kind of entry, and what is missing afterwards. */
#include "over.h"

Test(policy, names_are_those_of_the_tools)
{
    static const char *const names[] = {
        "none", "matrix", "koom", "tailor", "shark", "redacted", "unknown", "limited"
    };
    for (int p = 0; p < HDX_STRIP_POLICIES; p++)
        cr_expect_str_eq(hdx_strip_name((hdx_strip_policy)p), names[p]);
    cr_expect_str_eq(hdx_strip_name(HDX_STRIP_POLICIES), "unknown");
}

Test(policy, answers_that_are_affected_end_with_null)
{
    static const unsigned counts[] = { 0, 5, 5, 4, 4, 4, 1, 3 };
    for (int p = 0; p < HDX_STRIP_POLICIES; p++)
        for (unsigned i = 0; i < 9; i++)
            cr_expect((hdx_strip_affects((hdx_strip_policy)p, i) != NULL) == (i < counts[p]), "%d, %u", p, i);
    cr_expect(hdx_strip_affects(HDX_STRIP_POLICIES, 0) == NULL);
    cr_expect_str_eq(hdx_strip_affects(HDX_STRIP_MATRIX, 4), "retained_sizes");
    cr_expect_str_eq(hdx_strip_affects(HDX_STRIP_KOOM, 0), "strings");
}

static void affected_are(const hdx_stripping *what, const char *const *words, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        cr_expect_str_eq(hdx_strip_affected(what, i), words[i]);
    for (unsigned i = count; i < count + 3; i++)
        cr_expect(hdx_strip_affected(what, i) == NULL, "%u", i);
}

Test(policy, what_redaction_left_is_not_affected)
{
    static const char *const        all[] = { "strings",      "duplicates",       "array_contents", "wrapper_values",
                                              "field_values", "collection_sizes", "thread_states" },
                             *const texts[] = { "strings",      "duplicates",       "byte_and_char_contents",
                                                "field_values", "collection_sizes", "thread_states" };
    hdx_stripping                   what = { .policy = HDX_STRIP_REDACTED };
    affected_are(&what, all, 4);
    what.detailed = true;
    affected_are(&what, all, 4);
    what.fields = true;
    affected_are(&what, all, 7);
    what.kept = 1u << 10 | 1u << 11;
    affected_are(&what, texts, 6);
    what.fields = false;
    affected_are(&what, texts, 3);
    what = (hdx_stripping){ .policy = HDX_STRIP_REDACTED, .detailed = true, .fields = true, .kept = 0xff0 };
    affected_are(&what, all + 4, 3);
    what = (hdx_stripping){ .policy = HDX_STRIP_LIMITED, .limit = { 9, 0 } };
    affected_are(&what, all, 3);
}

Test(policy, to_strip_by_are_five)
{
    for (int p = 0; p <= HDX_STRIP_POLICIES; p++)
        cr_expect((hdx_strip_policy_of((hdx_strip_policy)p) != NULL) ==
                  (p >= HDX_STRIP_MATRIX && p <= HDX_STRIP_REDACTED));
    static const struct {
        hdx_strip_policy policy;
        bool             container, resizes, texts, wrappers, clears, proves;
    } flags[] = { { HDX_STRIP_MATRIX, false, true, true, false, true, false },
                  { HDX_STRIP_KOOM, false, true, false, false, false, false },
                  { HDX_STRIP_TAILOR, true, false, false, false, false, false },
                  { HDX_STRIP_SHARK, false, false, false, true, false, false },
                  { HDX_STRIP_REDACTED, false, false, false, true, false, true } };
    for (unsigned k = 0; k < 5; k++) {
        const policy *p = hdx_strip_policy_of(flags[k].policy);
        cr_expect(p->container == flags[k].container && p->resizes == flags[k].resizes && p->texts == flags[k].texts &&
                      p->wrappers == flags[k].wrappers && p->clears == flags[k].clears && p->proves == flags[k].proves,
                  "%s", p->name);
    }
}

/* "keep", "drop", "cut", "blank" and what with. */
static const char *action(hdx_strip_policy p, unsigned what, uint8_t type, bool shared, rule_role role)
{
    static char              words[16];
    static const char *const actions[] = { "keep", "drop", "cut", "blank" };
    const rule              *r = hdx_strip_policy_rule(hdx_strip_policy_of(p), what, type, shared, role);
    (void)snprintf(words, sizeof words, r != NULL && r->fill != 0 ? "%s %c" : "%s",
                   r == NULL ? "keep" : actions[r->action], r == NULL ? 0 : r->fill);
    return words;
}

Test(policy, says_of_every_entry_what_becomes_of_it)
{
    static const struct {
        hdx_strip_policy policy;
        unsigned         what;
        rule_role        role;
        const char      *bytes, *chars, *ints, *shared; /* shared: ints of a zygote or image heap */
    } rows[] = {
        { HDX_STRIP_MATRIX, RULE_ARRAY, ROLE_ANY, "drop", "drop", "drop", "drop" },
        { HDX_STRIP_MATRIX, RULE_ARRAY, ROLE_TEXT, "keep", "keep", "keep", "keep" },
        { HDX_STRIP_MATRIX, RULE_ARRAY, ROLE_BITMAP, "keep", "keep", "keep", "keep" },
        { HDX_STRIP_MATRIX, RULE_NODATA, ROLE_ANY, "drop", "drop", "drop", "drop" },
        { HDX_STRIP_MATRIX, RULE_NODATA, ROLE_TEXT, "keep", "keep", "keep", "keep" },
        { HDX_STRIP_MATRIX, RULE_NODATA, ROLE_BITMAP, "drop", "drop", "drop", "drop" },
        { HDX_STRIP_MATRIX, RULE_INSTANCE, ROLE_ANY, "keep", "keep", "keep", "keep" },
        { HDX_STRIP_MATRIX, RULE_OBJECTS, ROLE_ANY, "keep", "keep", "keep", "keep" },
        { HDX_STRIP_MATRIX, RULE_HEAP, ROLE_ANY, "keep", "keep", "keep", "keep" },
        { HDX_STRIP_KOOM, RULE_ARRAY, ROLE_ANY, "cut", "cut", "cut", "drop" },
        { HDX_STRIP_KOOM, RULE_NODATA, ROLE_ANY, "keep", "keep", "keep", "keep" },
        { HDX_STRIP_KOOM, RULE_INSTANCE, ROLE_ANY, "keep", "keep", "keep", "drop" },
        { HDX_STRIP_KOOM, RULE_OBJECTS, ROLE_ANY, "keep", "keep", "keep", "drop" },
        { HDX_STRIP_KOOM, RULE_HEAP, ROLE_ANY, "keep", "keep", "keep", "drop" },
        { HDX_STRIP_TAILOR, RULE_ARRAY, ROLE_ANY, "cut", "cut", "keep", "keep" },
        { HDX_STRIP_TAILOR, RULE_INSTANCE, ROLE_ANY, "keep", "keep", "keep", "keep" },
        { HDX_STRIP_SHARK, RULE_ARRAY, ROLE_ANY, "blank ?", "blank ?", "blank", "blank" },
        { HDX_STRIP_SHARK, RULE_INSTANCE, ROLE_WRAPPER, "blank", "blank", "blank", "blank" },
        { HDX_STRIP_SHARK, RULE_INSTANCE, ROLE_ANY, "keep", "keep", "keep", "keep" },
        { HDX_STRIP_SHARK, RULE_OBJECTS, ROLE_ANY, "keep", "keep", "keep", "keep" },
        { HDX_STRIP_REDACTED, RULE_ARRAY, ROLE_ANY, "blank *", "blank *", "blank", "blank" },
        { HDX_STRIP_REDACTED, RULE_INSTANCE, ROLE_WRAPPER, "blank", "blank", "blank", "blank" },
        { HDX_STRIP_REDACTED, RULE_INSTANCE, ROLE_ANY, "keep", "keep", "keep", "keep" },
    };
    for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++) {
        cr_expect_str_eq(action(rows[k].policy, rows[k].what, 8, false, rows[k].role), rows[k].bytes, "row %u", k);
        cr_expect_str_eq(action(rows[k].policy, rows[k].what, 5, false, rows[k].role), rows[k].chars, "row %u", k);
        cr_expect_str_eq(action(rows[k].policy, rows[k].what, 10, false, rows[k].role), rows[k].ints, "row %u", k);
        cr_expect_str_eq(action(rows[k].policy, rows[k].what, 10, true, rows[k].role), rows[k].shared, "row %u", k);
    }
}
