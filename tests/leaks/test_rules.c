/*
 * test_rules.c - conditions of the caller's rules against fields of every type: each operator below, at and above the
 * value. And the tables of what is known of Android, whose checksums are in tables.txt.
 */
#include "../query/heap.h"
#include "leaks/leaks.h"
#include "support/checksums.h"

#include <heapdex/answer.h>

static heap           h;
static leak_heap      lh;
static leak_inspector inspector;
static leak_rules     none = { .rule_count = 0 };
static uint64_t       object, other;

static uint64_t bits_of(double d)
{
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return bits;
}
static uint64_t bits_of_single(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static void enter(void)
{
    dump_maker    *m = dump_maker_new(8);
    const uint64_t top = dump_maker_class(m, "java/lang/Object", 0, "");
    const uint64_t string = dump_maker_class(m, "java/lang/String", top, "value:L coder:B hash:I");
    const uint64_t type =
        dump_maker_class(m, "p/T", top, "z:Z nz:Z c:C umlaut:C f:F d:D b:B s:S i:I j:J text:L obj:L null:L lost:L");
    const uint64_t text = dump_maker_string(m, string, "open");
    other = dump_maker_instance(m, top, NULL);
    object = dump_maker_instance(m, type,
                                 DUMP_VALUES(1, 0, 'k', 0xe4, bits_of_single(1.5f), bits_of(-2.25), (uint8_t)-3, 300,
                                             (uint32_t)-40, 5000000000, text, other, 0, 0xdead8));
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, object, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, other, 0, 0);
    heap_open(&h, m);
    ok(hdx_leak_heap_open(h.g, NULL, &lh, &h.err));
    ok(hdx_leak_inspector_open(&lh, &none, &inspector, &h.err));
}
static void leave(void)
{
    hdx_leak_inspector_close(&inspector);
    hdx_leak_heap_close(&lh);
    heap_close(&h);
}
TestSuite(rules_of_state, .init = enter, .fini = leave);

static bool holds(const char *field, const char *op, const char *value, uint64_t of)
{
    char                    line[128];
    leak_rules              r;
    const hdx_leaks_options o = {
        .rule_file = { "mine.txt", line, (size_t)snprintf(line, sizeof line, "label p.T %s %s %s", field, op, value) }
    };
    cr_assert(hdx_leak_rules_read(&o, &r, &h.err) == HDX_OK && r.rule_count == 1, "%s: %s", line, h.err.message);
    const bool yes = hdx_leak_rule_holds(&inspector, &r.rules[0], id_at(&h, of));
    hdx_leak_rules_free(&r);
    return yes;
}

static bool asked_once_more(void *context)
{
    ++*(unsigned *)context;
    return false;
}

/* How often somebody may stop the search for states, with so many rules that hold for nothing. */
static unsigned questions_with(unsigned rules)
{
    unsigned           asked = 0;
    const hdx_progress progress = { .context = &asked, .cancelled = asked_once_more };
    hdx_leaks_options  o = { .finder = HDX_LEAKS_FILTERS, .progress = &progress };
    hdx_buffer         b = hdx_buffer_of(NULL);
    leak_inspector     i;
    leak_rules         r;
    hdx_id            *leaking;
    uint64_t           count, capacity;
    for (unsigned n = 0; n < rules; n++)
        hdx_buffer_format(&b, "leaking p.T i = %u\n", n);
    o.rule_file = (hdx_leak_file){ "mine.txt", b.at, b.len };
    ok(hdx_leak_rules_read(&o, &r, &h.err));
    ok(hdx_leak_inspector_open(&lh, &r, &i, &h.err));
    ok(hdx_leak_find(&i, &o, &leaking, &count, &capacity, &h.err));
    cr_expect(eq(u64, count, 0));
    hdx_mem_put(NULL, leaking, capacity * sizeof *leaking);
    hdx_leak_inspector_close(&i);
    hdx_leak_rules_free(&r);
    hdx_buffer_free(&b);
    return asked;
}

Test(rules_of_state, of_which_there_are_many_leave_time_for_a_stop)
{
    cr_expect(eq(uint, questions_with(1), 0));
    cr_expect(eq(uint, questions_with(10000), 1), "six classes and an object, 10,000 comparisons each");
}

/* Whether the field is less than the value, equal to it or greater decides all six operators. */
Test(rules_of_state, compare_as_the_type_of_the_field_does)
{
    static const struct {
        const char *field, *value;
        int         is; /* -1 less, 0 equal, 1 greater */
    } cases[] = {
        { "z", "true", 0 },       { "z", "false", 1 },      { "nz", "false", 0 },      { "nz", "true", -1 },
        { "c", "k", 0 },          { "c", "j", 1 },          { "c", "l", -1 },          { "umlaut", "?", 0 },
        { "f", "1.5", 0 },        { "f", "1.25", 1 },       { "f", "2", -1 },          { "d", "-2.25", 0 },
        { "d", "-2.5", 1 },       { "d", "0", -1 },         { "b", "-3", 0 },          { "b", "-4", 1 },
        { "b", "-2", -1 },        { "s", "300", 0 },        { "s", "299", 1 },         { "s", "301", -1 },
        { "i", "-40", 0 },        { "i", "-41", 1 },        { "i", "-39", -1 },        { "i", "-0x28", 0 },
        { "j", "5000000000", 0 }, { "j", "4999999999", 1 }, { "j", "5000000001", -1 }, { "text", "open", 0 },
        { "text", "opem", 1 },    { "text", "opeo", -1 },   { "obj", "set", 0 },       { "null", "null", 0 },
        { "lost", "set", 0 },
    };
    static const char *const operators[] = { "=", "!=", "<", "<=", ">", ">=" };
    for (size_t i = 0; i < HDX_COUNT(cases); i++) {
        const int  is = cases[i].is;
        const bool want[] = { is == 0, is != 0, is<0, is <= 0, is> 0, is >= 0 };
        for (size_t n = 0; n < 6; n++)
            cr_expect(holds(cases[i].field, operators[n], cases[i].value, object) == want[n], "%s %s %s",
                      cases[i].field, operators[n], cases[i].value);
    }
}

/* Of what cannot be compared only "not equal" holds; a field that is not there says nothing. */
Test(rules_of_state, hold_for_no_word_where_a_number_stands_and_for_no_field_that_is_not_there)
{
    static const char *const fields[] = { "f", "d", "b", "s", "i", "j" };
    static const char *const words[] = { "many", "3x", "0x" };
    for (size_t i = 0; i < HDX_COUNT(fields); i++)
        for (size_t w = 0; w < HDX_COUNT(words); w++) {
            cr_expect(holds(fields[i], "!=", words[w], object), "%s %s", fields[i], words[w]);
            cr_expect(holds(fields[i], "=", words[w], object) == false, "%s %s", fields[i], words[w]);
            cr_expect(holds(fields[i], "<=", words[w], object) == false, "%s %s", fields[i], words[w]);
            cr_expect(holds(fields[i], ">", words[w], object) == false, "%s %s", fields[i], words[w]);
        }
    cr_expect(holds("nothing", "!=", "1", object) == false);
    cr_expect(holds("i", "=", "-40", other) == false, "an object of another class");
}

/* ---- tables ---- */

static void put_word(hdx_buffer *b, const char *text) { hdx_buffer_format(b, " '%s'", text != NULL ? text : "-"); }

static uint64_t table_text(void *context, const char *ask, hdx_buffer *b)
{
    size_t                  count;
    const hdx_leak_matcher *m = hdx_leak_matchers(&count);
    (void)context;
    if (strcmp(ask, "matchers") == 0) {
        for (size_t i = 0; i < count; i++) {
            hdx_buffer_format(b, "%d %d %d %u %u", (int)m[i].kind, (int)m[i].ignored, (int)m[i].everywhere,
                              m[i].sdk_min, m[i].sdk_max);
            put_word(b, m[i].class_name);
            put_word(b, m[i].member);
            put_word(b, m[i].manufacturer);
            put_word(b, m[i].build_id);
            put_word(b, m[i].note);
            hdx_leak_pattern(&m[i], b);
            hdx_buffer_text(b, "\n");
        }
        return count;
    }
    if (strcmp(ask, "states") == 0) {
        for (size_t i = 0; i < hdx_leak_state_count; i++) {
            const leak_state *s = &hdx_leak_states[i];
            hdx_buffer_format(b, "%s %d %d", hdx_leak_class_names[s->of], (int)s->test, (int)s->means);
            put_word(b, s->field);
            put_word(b, s->code);
            put_word(b, s->text);
        }
        return hdx_leak_state_count;
    }
    if (strcmp(ask, "fields") == 0) {
        for (unsigned i = 0; i < LK_KNOWN; i++) {
            put_word(b, hdx_leak_known_fields[i].owner);
            put_word(b, hdx_leak_known_fields[i].name);
        }
        return LK_KNOWN;
    }
    if (strcmp(ask, "names") == 0) {
        for (int i = 0; i < LC_CLASSES; i++)
            put_word(b, hdx_leak_class_names[i]);
        for (int i = 0; i < LR_KINDS; i++)
            put_word(b, hdx_leak_root_names[i]);
        for (int i = 0; i < 4; i++) {
            put_word(b, hdx_leak_kind_name((hdx_leak_kind)i));
            put_word(b, hdx_leak_status_name((hdx_leak_status)i));
            put_word(b, hdx_leak_what_name((hdx_leak_what)i));
            put_word(b, hdx_leak_ref_kind_name((hdx_leak_ref_kind)i));
        }
        return LC_CLASSES;
    }
    cr_assert(strcmp(ask, "declared") == 0, "%s", ask);
    const hdx_answer *a = &hdx_leaks_answer;
    hdx_buffer_format(b, "%s %u %u %u %u", a->name, a->flags, a->form_count, a->document_count, a->parameter_count);
    for (unsigned i = 0; i < a->forms[0].column_count; i++)
        hdx_buffer_format(b, " %s %d %d %u", a->forms[0].columns[i].name, (int)a->forms[0].columns[i].type,
                          (int)a->forms[0].columns[i].unit, a->forms[0].columns[i].flags);
    for (unsigned i = 0; i < a->parameter_count; i++)
        hdx_buffer_format(b, " %s %d %u %llu %llu", a->parameters[i].name, (int)a->parameters[i].kind,
                          a->parameters[i].flags, (unsigned long long)a->parameters[i].least,
                          (unsigned long long)a->parameters[i].most);
    for (unsigned i = 0; i < a->document_count; i++) { /* all that is nested in it */
        const hdx_column *stack[8] = { &a->document[i] };
        unsigned          next[8] = { 0 }, depth = 1;
        hdx_buffer_format(b, " %s", stack[0]->name);
        while (depth > 0) {
            const hdx_column *c = stack[depth - 1];
            if (next[depth - 1] == c->member_count) {
                depth--;
                continue;
            }
            const hdx_column *of = &c->members[next[depth - 1]++];
            hdx_buffer_format(b, " %u %s %d %d %u", depth, of->name != NULL ? of->name : "-", (int)of->type,
                              (int)of->unit, of->flags);
            cr_assert(depth < 8);
            stack[depth] = of;
            next[depth++] = 0;
        }
    }
    return a->parameter_count;
}

Test(tables, of_what_is_known_are_what_they_were)
{
    checksums_check(HDX_TREE "/tests/leaks/tables.txt", table_text, NULL);
}

Test(tables, wrappers_are_those_of_java_lang)
{
    static const char *const yes[] = { "java.lang.Boolean", "java.lang.Character", "java.lang.Float",
                                       "java.lang.Double",  "java.lang.Byte",      "java.lang.Short",
                                       "java.lang.Integer", "java.lang.Long" };
    static const char *const no[] = {
        "java.lang.Void",   "java.lang.",        "java.lang",          "", "Integer", "java.lang.Integer2",
        "java.lang.Intege", "kava.lang.Integer", "java.lang.Integer[]"
    };
    for (size_t i = 0; i < HDX_COUNT(yes); i++)
        cr_expect(hdx_leak_is_wrapper((hdx_text){ yes[i], (uint32_t)strlen(yes[i]) }), "%s", yes[i]);
    for (size_t i = 0; i < HDX_COUNT(no); i++)
        cr_expect(hdx_leak_is_wrapper((hdx_text){ no[i], (uint32_t)strlen(no[i]) }) == false, "%s", no[i]);
}
