/*
 * policy.c - the stripping tools as tables: what each keeps, drops, cuts or overwrites (STRIP 1, 7.1), and what is
 * missing afterwards (STRIP 6.6).
 */
#include "strip/inside.h"

const char *hdx_strip_name(hdx_strip_policy p)
{
    static const char *const names[HDX_STRIP_POLICIES] = { "none",  "matrix",   "koom",    "tailor",
                                                           "shark", "redacted", "unknown", "limited" };
    return p < HDX_STRIP_POLICIES ? names[p] : "unknown";
}

const char *hdx_strip_affects(hdx_strip_policy p, unsigned i)
{
    static const char *const affected[HDX_STRIP_POLICIES][6] = {
        [HDX_STRIP_MATRIX] = { "array_shallow_sizes", "primitive_array_rows", "duplicates", "collections_of_primitives",
                               "retained_sizes" },
        [HDX_STRIP_KOOM] = { "strings", "duplicates", "array_contents", "zygote_and_image_objects", "retained_sizes" },
        [HDX_STRIP_TAILOR] = { "strings", "duplicates", "byte_and_char_contents", "thread_frames" },
        [HDX_STRIP_SHARK] = { "strings", "duplicates", "array_contents", "wrapper_values" },
        [HDX_STRIP_REDACTED] = { "strings", "duplicates", "array_contents", "wrapper_values" },
        [HDX_STRIP_UNKNOWN] = { "everything" },
        [HDX_STRIP_LIMITED] = { "strings", "duplicates", "array_contents" },
    };
    return p < HDX_STRIP_POLICIES && i < 5 ? affected[p][i] : NULL;
}

const char *hdx_strip_affected(const hdx_stripping *what, unsigned i)
{
    static const char *const in_part[] = { "strings", "duplicates", "byte_and_char_contents" }, *const fields[] = {
        "field_values", "collection_sizes", "thread_states"
    };
    const char *const *first = NULL;
    unsigned           count = 0;
    if (!what->detailed || (what->kept == 0 && !what->fields))
        return hdx_strip_affects(what->policy, i);
    if (what->kept == 0) {
        count = 4;
        if (i < count)
            return hdx_strip_affects(what->policy, i);
    } else if ((what->kept & 1u << 8) == 0) {
        first = in_part;
        count = 3;
    }
    if (i < count)
        return first[i];
    return what->fields && i - count < 3 ? fields[i - count] : NULL;
}

#define BYTES (1u << 8)
#define CHARS (1u << 5)

static const rule matrix_rules[] = {
    { .entries = RULE_ARRAY, .role = ROLE_TEXT, .action = RULE_KEEP },
    { .entries = RULE_ARRAY, .role = ROLE_BITMAP, .action = RULE_KEEP },
    { .entries = RULE_NODATA, .role = ROLE_TEXT, .action = RULE_KEEP },
    { .entries = RULE_ARRAY | RULE_NODATA, .action = RULE_DROP },
};
static const rule koom_rules[] = {
    { .entries = RULE_HEAP | RULE_INSTANCE | RULE_OBJECTS | RULE_ARRAY, .shared_heaps = true, .action = RULE_DROP },
    { .entries = RULE_ARRAY, .action = RULE_CUT },
};
static const rule tailor_rules[] = {
    { .entries = RULE_ARRAY, .types = BYTES | CHARS, .action = RULE_CUT },
};
static const rule shark_rules[] = {
    { .entries = RULE_ARRAY, .types = BYTES, .action = RULE_BLANK, .fill = '?' },
    { .entries = RULE_ARRAY, .types = CHARS, .action = RULE_BLANK, .fill = '?' },
    { .entries = RULE_ARRAY, .action = RULE_BLANK },
    { .entries = RULE_INSTANCE, .role = ROLE_WRAPPER, .action = RULE_BLANK },
};
static const rule redact_rules[] = {
    /* Differs from Shark's constant, so that the two can be distinguished. */
    { .entries = RULE_ARRAY, .types = BYTES, .action = RULE_BLANK, .fill = '*' },
    { .entries = RULE_ARRAY, .types = CHARS, .action = RULE_BLANK, .fill = '*' },
    { .entries = RULE_ARRAY, .action = RULE_BLANK },
    { .entries = RULE_INSTANCE, .role = ROLE_WRAPPER, .action = RULE_BLANK },
};

#define RULES(list) .rules = list, .count = sizeof list / sizeof *list

static const policy policies[HDX_STRIP_POLICIES] = {
    [HDX_STRIP_MATRIX] = { "matrix", RULES(matrix_rules), .resizes = true, .texts = true, .clears = true },
    [HDX_STRIP_KOOM] = { "koom", RULES(koom_rules), .resizes = true },
    [HDX_STRIP_TAILOR] = { "tailor", RULES(tailor_rules), .container = true },
    [HDX_STRIP_SHARK] = { "shark", RULES(shark_rules), .wrappers = true },
    [HDX_STRIP_REDACTED] = { "redact", RULES(redact_rules), .wrappers = true, .proves = true },
};

const policy *hdx_strip_policy_of(hdx_strip_policy p)
{
    return p < HDX_STRIP_POLICIES && policies[p].name != NULL ? &policies[p] : NULL;
}

const rule *hdx_strip_policy_rule(const policy *p, unsigned what, uint8_t type, bool shared_heap, rule_role role)
{
    for (unsigned i = 0; i < p->count; i++) {
        const rule *r = &p->rules[i];
        if ((r->entries & what) != 0 && (!r->shared_heaps || shared_heap) &&
            (r->types == 0 || (r->types >> type & 1) != 0) && (r->role == ROLE_ANY || r->role == role))
            return r;
    }
    return NULL;
}
