/*
 * fuzz_leak_rules.c - files of matchers (first byte even) and of rules of state (odd), read as a caller's, whatever is
 * in them. What is refused names the file and the line. What is read has all that a search needs, and reads the same
 * when it is written as lines again.
 */
#include "leaks/leaks.h"
#include "fuzz/told.h"

#define LINE_MOST UINT16_MAX

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put_matcher(const hdx_leak_matcher *m, hdx_buffer *b)
{
    static const char *const kinds[] = { "instance-field", "static-field", "native-global", "java-local" };
    if (m->kind > HDX_LEAK_JAVA_LOCAL)
        abort();
    hdx_buffer_format(b, "%s %s %s%s%s", m->ignored ? "ignored" : "library", kinds[m->kind], m->class_name,
                      m->kind <= HDX_LEAK_STATIC_FIELD ? "#" : "", m->member);
    if (!m->everywhere)
        hdx_buffer_format(b, " sdk=%u..%u", m->sdk_min, m->sdk_max);
    if (m->manufacturer[0] != '\0')
        hdx_buffer_format(b, " manufacturer=%s", m->manufacturer);
    if (m->build_id[0] != '\0')
        hdx_buffer_format(b, " build=%s", m->build_id);
    hdx_buffer_format(b, " %s\n", m->note);
}

static bool same_matcher(const hdx_leak_matcher *a, const hdx_leak_matcher *b)
{
    return a->kind == b->kind && a->ignored == b->ignored && a->everywhere == b->everywhere &&
           a->sdk_min == b->sdk_min && a->sdk_max == b->sdk_max && strcmp(a->class_name, b->class_name) == 0 &&
           strcmp(a->member, b->member) == 0 && strcmp(a->manufacturer, b->manufacturer) == 0 &&
           strcmp(a->build_id, b->build_id) == 0 && strcmp(a->note, b->note) == 0;
}

static void put_rule(const leak_rule *r, hdx_buffer *b)
{
    static const char *const means[] = {
        [HDX_LEAK_UNKNOWN] = "label", [HDX_LEAK_LEAKING] = "leaking", [HDX_LEAK_NOT_LEAKING] = "not-leaking"
    };
    static const char *const operators[] = { "", "=", "!=", "<", "<=", ">", ">=" };
    if (r->op < 0 || r->op > 6 || (r->op > 0 && r->value[0] == '\0') || r->text[0] == '\0')
        abort();
    hdx_buffer_format(b, "%s %s%s %s %s %s %s\n", means[r->means], r->class_name, r->subclasses ? "+" : "", r->field,
                      operators[r->op], r->value, r->text);
}

static bool same_rule(const leak_rule *a, const leak_rule *b)
{
    return a->means == b->means && a->subclasses == b->subclasses && a->op == b->op &&
           strcmp(a->class_name, b->class_name) == 0 && strcmp(a->field, b->field) == 0 &&
           strcmp(a->value, b->value) == 0 && strcmp(a->text, b->text) == 0;
}

/* A line may come out longer than it was: its conditions are written in full, and so is a text that it left out. */
static bool fits(const hdx_buffer *b, size_t from) { return b->len - from <= LINE_MOST; }

static bool write_all(const leak_rules *r, uint64_t own, hdx_buffer *out)
{
    bool fit = true;
    for (uint64_t i = own; i < r->matcher_count; i++) {
        const size_t from = out->len;
        put_matcher(&r->matchers[i], out);
        fit = fit && fits(out, from);
    }
    for (uint64_t i = 0; i < r->rule_count; i++) {
        const size_t from = out->len;
        put_rule(&r->rules[i], out);
        fit = fit && fits(out, from);
    }
    return fit;
}

static void read_again(const leak_rules *r, uint64_t own, hdx_leaks_options o)
{
    leak_rules     again;
    hdx_error      err = { .code = HDX_OK };
    hdx_buffer     b = hdx_buffer_of(NULL);
    const bool     fit = write_all(r, own, &b);
    hdx_leak_file *file = o.matcher_file.at != NULL ? &o.matcher_file : &o.rule_file;
    *file = (hdx_leak_file){ "again", b.at, b.len };
    if (fit && !b.failed) {
        if (hdx_leak_rules_read(&o, &again, &err) != HDX_OK)
            told_wrong(&err, "what was written is not read");
        if (again.matcher_count != r->matcher_count || again.rule_count != r->rule_count)
            abort();
        for (uint64_t i = own; i < r->matcher_count; i++)
            if (!same_matcher(&r->matchers[i], &again.matchers[i]))
                abort();
        for (uint64_t i = 0; i < r->rule_count; i++)
            if (!same_rule(&r->rules[i], &again.rules[i]))
                abort();
        hdx_leak_rules_free(&again);
    }
    hdx_buffer_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    leak_rules        rules;
    hdx_error         err = { .code = HDX_OK };
    hdx_leaks_options o = { .finder = HDX_LEAKS_WATCHED };
    size_t            own;
    if (size == 0)
        return 0;
    (void)hdx_leak_matchers(&own);
    hdx_leak_file file = { "rules", (const char *)data + 1, size - 1 };
    if (data[0] % 2 == 0)
        o.matcher_file = file;
    else
        o.rule_file = file;
    const hdx_code code = hdx_leak_rules_read(&o, &rules, &err);
    if (code == HDX_OK) {
        for (uint64_t i = 0; i < rules.matcher_count; i++) {
            hdx_buffer b = hdx_buffer_of(NULL);
            hdx_leak_pattern(&rules.matchers[i], &b);
            if (b.len == 0)
                abort();
            hdx_buffer_free(&b);
        }
        read_again(&rules, own, o);
    } else
        told_of_line(code, &err, "rules", file.at, file.len);
    hdx_leak_rules_free(&rules);
    return 0;
}
