/*
 * rules.c - reads the caller's matchers and state rules from two files of lines, and adds the built-in matchers.
 *
 *     # matchers: a reference that is not followed, or a known leak of a library
 *     ignored  instance-field com.acme.Cache#owner
 *     library  static-field   com.acme.Sdk#sContext  sdk=21..28 manufacturer=samsung|LGE  the SDK keeps its first
 *              context
 *     library  native-global  com.acme.Stub
 *     ignored  java-local     worker-1
 *
 *     # state rules: reasons, labels, and what --finder filters accepts
 *     leaking      com.acme.Screen+ closed = true      the screen is closed           (+: subclasses too)
 *     not-leaking  com.acme.Server
 *     label        com.acme.Job     state != null      it has a state
 *
 * In:  untrusted text; the first invalid line is an error that names its number.
 * Out: arrays in the arena of the rules. Built-in matchers come first; of equal ones the later wins (SHARK 3.7).
 */
#include "leaks/leaks.h"

#include <stdlib.h>

#define LINES_MOST 10000u /* of a file, because roots, classes and objects are compared with each of them */

typedef struct words {
    const char *at, *end;
} words;

/* Returns the next word; "" at the end. */
static hdx_text word(words *w)
{
    while (w->at < w->end && (unsigned char)*w->at <= ' ')
        w->at++;
    const char *from = w->at;
    while (w->at < w->end && (unsigned char)*w->at > ' ')
        w->at++;
    return (hdx_text){ from, (uint32_t)(w->at - from) };
}

static hdx_text rest_of_line(words *w)
{
    while (w->at < w->end && (unsigned char)*w->at <= ' ')
        w->at++;
    const char *end = w->end;
    while (end > w->at && (unsigned char)end[-1] <= ' ')
        end--;
    return (hdx_text){ w->at, (uint32_t)(end - w->at) };
}

static char *copy(leak_rules *r, hdx_text t) { return hdx_arena_copy(&r->arena, t.at, t.len); }

static hdx_code fault(const hdx_leak_file *f, uint64_t line, const char *what, hdx_text seen, hdx_error *err)
{
    return hdx_fail(err, HDX_USAGE, f->name, HDX_NOWHERE, "line %llu: %s: '%.*s'", (unsigned long long)line, what,
                    (int)(seen.len < 100 ? seen.len : 100), seen.at);
}

/* Reads a number of at most 5 digits; false: anything else. */
static bool small_number(hdx_text t, uint16_t *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < t.len; i++) {
        if (t.at[i] < '0' || t.at[i] > '9' || i > 4)
            return false;
        n = 10 * n + (uint32_t)(t.at[i] - '0');
    }
    *out = n <= UINT16_MAX ? (uint16_t)n : 0;
    return n <= UINT16_MAX;
}

/*
 * Reads "sdk=21..28", "sdk=21..", "sdk=21", "manufacturer=A|B" or "build=ID". *is false: no condition, the note begins.
 */
static bool condition(leak_rules *r, hdx_text t, hdx_leak_matcher *m, bool *is)
{
    const char *equals = memchr(t.at, '=', t.len);
    hdx_text    name = { t.at, equals != NULL ? (uint32_t)(equals - t.at) : 0 };
    hdx_text    value = { t.at + name.len + 1, equals != NULL ? t.len - name.len - 1 : 0 };
    *is = true;
    if (hdx_text_is(name, "manufacturer"))
        return (m->manufacturer = copy(r, value)) != NULL;
    if (hdx_text_is(name, "build"))
        return (m->build_id = copy(r, value)) != NULL;
    if (!hdx_text_is(name, "sdk")) {
        *is = false;
        return true;
    }
    const char *dots = value.len >= 2 ? memmem(value.at, value.len, "..", 2) : NULL;
    if (dots == NULL)
        return small_number(value, &m->sdk_min) && (m->sdk_max = m->sdk_min, true);
    const uint32_t before = (uint32_t)(dots - value.at);
    return small_number((hdx_text){ value.at, before }, &m->sdk_min) &&
           small_number((hdx_text){ dots + 2, value.len - before - 2 }, &m->sdk_max);
}

static hdx_code add_matcher(leak_rules *r, const hdx_leak_matcher *m, hdx_error *err)
{
    if (!hdx_mem_room(NULL, (void **)&r->matchers, &r->matcher_capacity, r->matcher_count, sizeof *r->matchers) ||
        r->matcher_count >= UINT32_MAX - 1)
        return hdx_no_memory(err, "matchers", r->matcher_count * sizeof *m);
    r->matchers[r->matcher_count++] = *m;
    return HDX_OK;
}

static hdx_code matcher_line(leak_rules *r, const hdx_leak_file *f, uint64_t line, words w, hdx_error *err)
{
    static const char *const kinds[] = { "instance-field", "static-field", "native-global", "java-local" };
    hdx_leak_matcher         m = { .class_name = "", .member = "", .manufacturer = "", .build_id = "", .note = "" };
    hdx_text                 effect = word(&w), kind = word(&w);
    unsigned                 k = 0;
    m.ignored = hdx_text_is(effect, "ignored");
    if (!m.ignored && !hdx_text_is(effect, "library"))
        return fault(f, line, "expected 'ignored' or 'library'", effect, err);
    while (k < 4 && !hdx_text_is(kind, kinds[k]))
        k++;
    if (k == 4)
        return fault(f, line, "expected instance-field, static-field, native-global or java-local", kind, err);
    m.kind = (hdx_leak_matcher_kind)k;
    hdx_text    what = word(&w), class_name = what, member = { "", 0 };
    const char *hash = what.len > 0 ? memchr(what.at, '#', what.len) : NULL;
    if (k <= 1) {
        if (hash == NULL || hash == what.at || hash + 1 == what.at + what.len)
            return fault(f, line, "expected CLASS#FIELD", what, err);
        class_name.len = (uint32_t)(hash - what.at);
        member = (hdx_text){ hash + 1, what.len - class_name.len - 1 };
    } else if (what.len == 0) {
        return fault(f, line, k == 2 ? "expected a class" : "expected the name of a thread", what, err);
    } else if (k == 3) {
        member = what;
        class_name.len = 0;
    }
    m.class_name = copy(r, class_name);
    m.member = copy(r, member);
    bool device = false, is = true, good = m.class_name != NULL && m.member != NULL;
    while (good && is) {
        const words before = w;
        hdx_text    t = word(&w);
        if (t.len == 0)
            break;
        if (!condition(r, t, &m, &is))
            return fault(f, line, "expected sdk=FROM..TO with whole numbers", t, err);
        device |= is;
        if (!is)
            good = (m.note = copy(r, (w = before, rest_of_line(&w)))) != NULL;
    }
    m.everywhere = !device; /* without a condition it applies to every device */
    return good ? add_matcher(r, &m, err) : hdx_no_memory(err, "matchers", 0);
}

static hdx_code rule_line(leak_rules *r, const hdx_leak_file *f, uint64_t line, words w, hdx_error *err)
{
    static const char *const operators[] = { "", "=", "!=", "<", "<=", ">", ">=" };
    leak_rule                rule = { .op = 0 };
    hdx_text                 means = word(&w), name = word(&w);
    if (hdx_text_is(means, "leaking"))
        rule.means = HDX_LEAK_LEAKING;
    else if (hdx_text_is(means, "not-leaking"))
        rule.means = HDX_LEAK_NOT_LEAKING;
    else if (hdx_text_is(means, "label"))
        rule.means = HDX_LEAK_UNKNOWN;
    else
        return fault(f, line, "expected 'leaking', 'not-leaking' or 'label'", means, err);
    if (name.len == 0 || hdx_text_is(name, "+"))
        return fault(f, line, "expected a class", name, err);
    rule.subclasses = name.at[name.len - 1] == '+';
    name.len -= rule.subclasses;
    const words before = w;
    hdx_text    field = word(&w), op = word(&w);
    for (int n = 1; n < 7; n++)
        if (hdx_text_is(op, operators[n]))
            rule.op = n;
    hdx_text value = { "", 0 };
    if (rule.op == 0) {
        w = before; /* no condition: the remaining line is the text */
        field.len = 0;
    } else if ((value = word(&w)).len == 0)
        return fault(f, line, "expected a value after", op, err);
    hdx_text text = rest_of_line(&w);
    rule.class_name = copy(r, name);
    rule.field = copy(r, field);
    rule.value = copy(r, value);
    if (text.len > 0) {
        rule.text = copy(r, text);
    } else { /* without a text the condition itself is the reason */
        hdx_buffer own = hdx_buffer_of(NULL);
        if (rule.op == 0)
            hdx_buffer_format(&own, "%.*s matches a rule", (int)name.len, name.at);
        else
            hdx_buffer_format(&own, "%.*s.%.*s %s %.*s", (int)name.len, name.at, (int)field.len, field.at,
                              operators[rule.op], (int)value.len, value.at);
        rule.text = own.failed ? NULL : hdx_arena_copy(&r->arena, own.at, own.len);
        hdx_buffer_free(&own);
    }
    if (rule.class_name == NULL || rule.field == NULL || rule.value == NULL || rule.text == NULL ||
        !hdx_mem_room(NULL, (void **)&r->rules, &r->rule_capacity, r->rule_count, sizeof *r->rules))
        return hdx_no_memory(err, "rules", r->rule_count * sizeof *r->rules);
    r->rules[r->rule_count++] = rule;
    return HDX_OK;
}

static hdx_code lines(leak_rules *r, const hdx_leak_file *f,
                      hdx_code (*take)(leak_rules *, const hdx_leak_file *, uint64_t, words, hdx_error *),
                      hdx_error *err)
{
    hdx_code code = HDX_OK;
    uint64_t line = 1, taken = 0;
    for (size_t from = 0; f->at != NULL && from < f->len && code == HDX_OK; line++) {
        const char *end = memchr(f->at + from, '\n', f->len - from);
        size_t      n = end == NULL ? f->len - from : (size_t)(end - f->at) - from;
        words       w = { f->at + from, f->at + from + n }, peek = w;
        hdx_text    first = word(&peek);
        if (n > UINT16_MAX)
            return fault(f, line, "the line exceeds 65535 bytes", (hdx_text){ f->at + from, 20 }, err);
        if (memchr(f->at + from, '\0', n) != NULL)
            return fault(f, line, "a byte 0", (hdx_text){ "", 0 }, err);
        if (first.len > 0 && first.at[0] != '#')
            code =
                taken++ < LINES_MOST ? take(r, f, line, w, err) : fault(f, line, "more than 10000 lines", first, err);
        from += n + 1;
    }
    return code;
}

hdx_code hdx_leak_rules_read(const hdx_leaks_options *options, leak_rules *out, hdx_error *err)
{
    size_t                  count;
    const hdx_leak_matcher *own = hdx_leak_matchers(&count);
    hdx_code                code = HDX_OK;
    *out = (leak_rules){ .arena = hdx_arena_of(NULL) };
    for (size_t i = 0; code == HDX_OK && i < count; i++)
        code = add_matcher(out, &own[i], err);
    for (size_t i = 0; code == HDX_OK && i < options->matcher_count; i++)
        code = add_matcher(out, &options->matchers[i], err);
    if (code == HDX_OK)
        code = lines(out, &options->matcher_file, matcher_line, err);
    return code == HDX_OK ? lines(out, &options->rule_file, rule_line, err) : code;
}

void hdx_leak_rules_free(leak_rules *r)
{
    hdx_mem_put(NULL, r->matchers, r->matcher_capacity * sizeof *r->matchers);
    hdx_mem_put(NULL, r->rules, r->rule_capacity * sizeof *r->rules);
    hdx_arena_free(&r->arena);
}

void hdx_leak_pattern(const hdx_leak_matcher *m, hdx_buffer *out)
{
    switch (m->kind) {
    case HDX_LEAK_INSTANCE_FIELD: hdx_buffer_format(out, "instance field %s#%s", m->class_name, m->member); break;
    case HDX_LEAK_STATIC_FIELD: hdx_buffer_format(out, "static field %s#%s", m->class_name, m->member); break;
    case HDX_LEAK_NATIVE_GLOBAL: hdx_buffer_format(out, "native global variable referencing %s", m->class_name); break;
    case HDX_LEAK_JAVA_LOCAL: hdx_buffer_format(out, "local variable on thread %s", m->member); break;
    }
}
