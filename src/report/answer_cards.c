/*
 * answer_cards.c - what a table does not show of leaks and of check: the result in a sentence, the path of each leak
 * with the state of its objects, and what each broken rule found.
 *
 * In:  rows and the document of the answer.
 */
#include "report/answer_page.h"

#define CARDS_MOST 25u /* as many leaks of a kind as a terminal shows */
#define STEPS_MOST 60u /* of a path; steps in its middle are omitted */
#define NOTES_MOST 20u /* reasons and labels of a step, and dumps of a leak */
#define NO_ROOT    25u /* unreachable objects of a leak */

static bool is_text(const hdx_cell *c) { return c->kind == HDX_CELL_TEXT; }

static uint64_t count_of(const hdx_cell *list) { return list->kind == HDX_CELL_LIST ? list->as.list.count : 0; }

static bool equals(const hdx_cell *c, const char *text) { return is_text(c) && hdx_text_is(c->as.text, text); }

static void put_text(page *p, const hdx_cell *c)
{
    if (is_text(c))
        hdx_doc_cut(p, c->as.text.at, c->as.text.len, HDX_PAGE_SENTENCE);
}

static void put_class(page *p, const hdx_cell *c)
{
    const hdx_column column = { .type = HDX_TYPE_TEXT, .flags = HDX_COLUMN_CLASS_NAME };
    hdx_page_value(p, &column, c, HDX_UNIT_NONE);
}

static void put_number(page *p, const hdx_cell *c, hdx_unit unit)
{
    const hdx_column column = { .type = HDX_TYPE_ANY };
    hdx_page_value(p, &column, c, unit);
}

static void put_count(page *p, uint64_t n, const char *one, const char *many)
{
    const hdx_cell cell = { .kind = HDX_CELL_UINT, .as.natural = n };
    put_number(p, &cell, HDX_UNIT_COUNT);
    hdx_doc_string(p, n == 1 ? one : many);
}

/* ---- leaks ---- */

static void say_leaks(page *p, const hdx_rows *rows)
{
    static const struct {
        const char *kind, *one, *many;
    } kinds[] = { { "application", " application leak", " application leaks" },
                  { "library", " known leak of a library", " known leaks of libraries" },
                  { "unreachable", " group of unreachable objects", " groups of unreachable objects" } };
    const hdx_cell *leaks = hdx_rows_extra_cell(rows, "leaks"),
                   *watched = hdx_cell_member(hdx_rows_extra_cell(rows, "watched"), "count");
    hdx_doc_paragraph_begin(p);
    for (size_t k = 0; k < HDX_COUNT(kinds); k++) {
        uint64_t n = 0;
        for (uint64_t i = 0; i < count_of(leaks); i++)
            n += equals(hdx_cell_member(&leaks->as.list.at[i], "kind"), kinds[k].kind);
        hdx_doc_string(p, k > 0 ? ", " : "");
        put_count(p, n, kinds[k].one, kinds[k].many);
    }
    hdx_doc_paragraph_end(p);
    if (count_of(leaks) == 0 && watched->kind == HDX_CELL_UINT && watched->as.natural == 0)
        hdx_doc_paragraph(
            p, "No object was watched by LeakCanary. Other ways to find what leaks: --finder filters searches "
               "objects whose state shows a leak, --finder classes --class NAME all instances of a class, and "
               "heapdex suspects what retains most, in any heap.");
    else if (count_of(leaks) > 0)
        hdx_doc_paragraph(
            p, "On the path of an application leak, one of the references in bold type should have been "
               "cleared. Known leaks name the pattern that says where they are. Unreachable objects should be "
               "gone: the next collection frees them.");
}

/* Returns the leak of a row: kind and signature identify it. */
static const hdx_cell *leak_of(const hdx_rows *rows, const hdx_cell *kind, const hdx_cell *signature)
{
    const hdx_cell *leaks = hdx_rows_extra_cell(rows, "leaks");
    for (uint64_t i = 0; i < count_of(leaks); i++) {
        const hdx_cell *leak = &leaks->as.list.at[i], *of = hdx_cell_member(leak, "kind"),
                       *is = hdx_cell_member(leak, "signature");
        const bool same = is_text(of) && is_text(kind) && hdx_text_order(of->as.text, kind->as.text) == 0;
        if (same && is_text(is) == is_text(signature) &&
            (!is_text(is) || hdx_text_order(is->as.text, signature->as.text) == 0))
            return leak;
    }
    return NULL;
}

/* ": yes (Activity.mDestroyed is true)": those reasons that agree with the status. */
static void put_status(page *p, const hdx_cell *step)
{
    const hdx_cell *status = hdx_cell_member(step, "status"), *reasons = hdx_cell_member(step, "reasons"),
                   *inherited = hdx_cell_member(step, "inherited"), *conflict = hdx_cell_member(step, "conflict");
    const char *between = " (";
    hdx_doc_string(p, equals(status, "leaking")       ? "leaking: yes"
                      : equals(status, "not_leaking") ? "leaking: no"
                                                      : "leaking: unknown");
    if (is_text(inherited)) {
        hdx_doc_string(p, between);
        put_text(p, inherited);
        between = "; ";
    }
    for (uint64_t i = 0; i < count_of(reasons) && i < NOTES_MOST; i++) {
        const hdx_cell *means = hdx_cell_member(&reasons->as.list.at[i], "means");
        if (!is_text(means) || !is_text(status) || hdx_text_order(means->as.text, status->as.text) != 0)
            continue;
        hdx_doc_string(p, between);
        put_text(p, hdx_cell_member(&reasons->as.list.at[i], "text"));
        between = "; ";
    }
    if (is_text(conflict)) {
        hdx_doc_string(p, between);
        put_text(p, conflict);
        between = "; ";
    }
    hdx_doc_string(p, *between == ';' ? ")" : "");
}

/* "static Holder.sActivity", "Object[].[2]", "Thread.<Java Local> in com.acme.Main.run(Main.java:12)". */
static void put_reference(page *p, const hdx_cell *reference)
{
    const hdx_cell *owner = hdx_cell_member(reference, "owner"), *name = hdx_cell_member(reference, "name"),
                   *kind = hdx_cell_member(reference, "kind"), *frame = hdx_cell_member(reference, "frame"),
                   *suspect = hdx_cell_member(reference, "suspect");
    const bool  bold = suspect->kind == HDX_CELL_BOOL && suspect->as.boolean, array = equals(kind, "array_entry");
    const char *dot =
        is_text(owner) && owner->as.text.len > 0 ? memrchr(owner->as.text.at, '.', owner->as.text.len) : NULL;
    if (reference->kind != HDX_CELL_OBJECT)
        return;
    hdx_doc_break(p);
    hdx_doc_string(p, equals(kind, "static_field") ? "↓ static " : "↓ ");
    if (is_text(owner)) {
        const char *simple = dot != NULL ? dot + 1 : owner->as.text.at;
        hdx_doc_text(p, simple, owner->as.text.len - (size_t)(simple - owner->as.text.at));
    }
    hdx_doc_string(p, array ? "" : ".");
    if (bold)
        hdx_doc_strong_begin(p);
    hdx_doc_string(p, array ? "[" : equals(kind, "local") ? "<Java Local>" : "");
    put_text(p, name);
    hdx_doc_string(p, array ? "]" : "");
    if (bold)
        hdx_doc_strong_end(p);
    if (is_text(frame)) {
        hdx_doc_string(p, " in ");
        put_text(p, frame);
    }
}

static void put_step(page *p, const hdx_cell *step, bool last)
{
    const hdx_cell *bytes = hdx_cell_member(step, "retained_bytes"), *labels = hdx_cell_member(step, "labels"),
                   *objects = hdx_cell_member(step, "retained_objects");
    hdx_doc_step(p, false, last);
    put_class(p, hdx_cell_member(step, "class"));
    hdx_doc_string(p, " ");
    put_text(p, hdx_cell_member(step, "kind"));
    hdx_doc_string(p, " ");
    put_number(p, hdx_cell_member(step, "address"), HDX_UNIT_NONE);
    hdx_doc_break(p);
    hdx_doc_dim_begin(p);
    put_status(p, step);
    if (bytes->kind == HDX_CELL_UINT && objects->kind == HDX_CELL_UINT) {
        hdx_doc_string(p, ", retains ");
        put_number(p, bytes, HDX_UNIT_BYTES);
        hdx_doc_string(p, " in ");
        put_count(p, objects->as.natural, " object", " objects");
    }
    for (uint64_t i = 0; i < count_of(labels) && i < NOTES_MOST; i++) {
        hdx_doc_string(p, "; ");
        put_text(p, hdx_cell_member(&labels->as.list.at[i], "text"));
    }
    hdx_doc_dim_end(p);
    put_reference(p, hdx_cell_member(step, "reference"));
    hdx_doc_step_end(p);
}

static void put_trace(page *p, const hdx_cell *trace)
{
    const hdx_cell *steps = hdx_cell_member(trace, "steps"),
                   *type = hdx_cell_member(hdx_cell_member(trace, "root"), "type");
    const uint64_t count = count_of(steps);
    hdx_doc_path(p);
    if (is_text(type)) {
        const char *words = hdx_root_type_words(type->as.text.at, type->as.text.len);
        hdx_doc_step(p, true, false);
        hdx_doc_string(p, "GC root: ");
        hdx_doc_string(p, words != NULL ? words : "unknown kind");
        hdx_doc_string(p, " (");
        put_text(p, type);
        hdx_doc_string(p, ")");
        hdx_doc_step_end(p);
    }
    for (uint64_t i = 0; i < count; i++) {
        if (count > STEPS_MOST && i == STEPS_MOST / 2) {
            const uint64_t omitted = count - STEPS_MOST;
            hdx_doc_step(p, true, false);
            put_count(p, omitted, " step is not shown", " steps are not shown");
            hdx_doc_step_end(p);
            i += omitted;
        }
        put_step(p, &steps->as.list.at[i], i + 1 == count);
    }
    hdx_doc_path_end(p);
}

/* "2 leaking objects in a.hprof, 1 in b.hprof". */
static void put_dumps(page *p, const hdx_cell *dumps)
{
    hdx_doc_paragraph_begin(p);
    for (uint64_t i = 0; i < count_of(dumps) && i < NOTES_MOST; i++) {
        const hdx_cell *dump = &dumps->as.list.at[i];
        hdx_doc_string(p, i > 0 ? ", " : "");
        put_number(p, hdx_cell_member(dump, "objects"), HDX_UNIT_COUNT);
        hdx_doc_string(p, " in ");
        put_text(p, hdx_cell_member(dump, "dump"));
    }
    hdx_doc_string(p, count_of(dumps) > NOTES_MOST ? ", …" : "");
    hdx_doc_paragraph_end(p);
}

static bool put_leak(page *p, const hdx_rows *rows, const hdx_cell *row)
{
    unsigned          count;
    const hdx_column *columns = hdx_rows_columns(rows, &count);
    const hdx_cell   *kind = hdx_cell_named(columns, count, row, "kind"),
                   *signature = hdx_cell_named(columns, count, row, "signature"),
                   *leak = leak_of(rows, kind, signature);
    if (leak == NULL)
        return false;
    const hdx_cell *traces = hdx_cell_member(leak, "traces"), *matcher = hdx_cell_member(leak, "matcher"),
                   *bytes = hdx_cell_member(leak, "retained_bytes"), *dumps = hdx_cell_member(leak, "dumps"),
                   *note = hdx_cell_member(matcher, "note");
    const uint64_t most = equals(kind, "unreachable") ? NO_ROOT : 1;
    hdx_doc_card_begin(p);
    hdx_doc_paragraph_begin(p);
    hdx_doc_strong_begin(p);
    put_class(p, hdx_cell_named(columns, count, row, "class"));
    hdx_doc_strong_end(p);
    hdx_doc_string(p, ": ");
    put_count(p, count_of(traces), " leaking object", " leaking objects");
    hdx_doc_string(p, " (");
    put_text(p, kind);
    hdx_doc_string(p, ")");
    if (bytes->kind == HDX_CELL_UINT) {
        hdx_doc_string(p, ", ");
        put_number(p, bytes, HDX_UNIT_BYTES);
        hdx_doc_string(p, " retained");
    }
    hdx_doc_paragraph_end(p);
    if (is_text(hdx_cell_member(matcher, "pattern"))) {
        hdx_doc_paragraph_begin(p);
        hdx_doc_string(p, "Pattern: ");
        put_text(p, hdx_cell_member(matcher, "pattern"));
        if (is_text(note) && note->as.text.len > 0) {
            hdx_doc_string(p, ". ");
            put_text(p, note);
        }
        hdx_doc_paragraph_end(p);
    }
    if (is_text(signature)) {
        hdx_doc_paragraph_begin(p);
        hdx_doc_string(p, "Signature: ");
        put_text(p, signature);
        hdx_doc_paragraph_end(p);
    }
    if (count_of(dumps) > 1)
        put_dumps(p, dumps);
    if (count_of(traces) > most)
        hdx_doc_paragraph(p, most == 1 ? "The path to the first of these objects:" : "Some of these objects:");
    for (uint64_t i = 0; i < count_of(traces) && i < most; i++)
        put_trace(p, &traces->as.list.at[i]);
    hdx_doc_card_end(p);
    return true;
}

/* ---- check ---- */

static void say_check(page *p, const hdx_rows *rows)
{
    const hdx_cell *check = hdx_rows_extra_cell(rows, "check"), *all = hdx_cell_member(check, "rules"),
                   *broken = hdx_cell_member(check, "broken");
    if (all->kind != HDX_CELL_UINT || broken->kind != HDX_CELL_UINT)
        return;
    hdx_doc_paragraph_begin(p);
    hdx_doc_strong_begin(p);
    if (broken->as.natural == 0 && all->as.natural == 1) {
        hdx_doc_string(p, "The rule holds.");
    } else if (broken->as.natural == 0) {
        hdx_doc_string(p, "All ");
        put_count(p, all->as.natural, " rule holds.", " rules hold.");
    } else {
        put_count(p, broken->as.natural, " of ", " of ");
        put_count(p, all->as.natural, " rule", " rules");
        hdx_doc_string(p, broken->as.natural == 1 ? " is broken." : " are broken.");
    }
    hdx_doc_strong_end(p);
    hdx_doc_paragraph_end(p);
}

/* Writes a text of the row as a paragraph after our words; nothing if it is null. */
static void put_said(page *p, const char *before, const hdx_cell *text)
{
    if (!is_text(text))
        return;
    hdx_doc_paragraph_begin(p);
    hdx_doc_string(p, before);
    put_text(p, text);
    hdx_doc_paragraph_end(p);
}

static bool put_finding(page *p, const hdx_rows *rows, const hdx_cell *row)
{
    unsigned          count;
    const hdx_column *columns = hdx_rows_columns(rows, &count);
    const hdx_cell   *class_name = hdx_cell_named(columns, count, row, "class"),
                   *address = hdx_cell_named(columns, count, row, "address"),
                   *name = hdx_cell_named(columns, count, row, "name"),
                   *note = hdx_cell_named(columns, count, row, "note");
    const bool holds = !equals(hdx_cell_named(columns, count, row, "state"), "broken");
    if (holds && !is_text(note))
        return false;
    hdx_doc_card_begin(p);
    hdx_doc_paragraph_begin(p);
    hdx_doc_strong_begin(p);
    if (is_text(name)) {
        put_text(p, name);
        hdx_doc_string(p, ": ");
    }
    put_text(p, hdx_cell_named(columns, count, row, "rule"));
    hdx_doc_strong_end(p);
    hdx_doc_string(p, holds ? " holds: " : ": ");
    put_text(p, hdx_cell_named(columns, count, row, "message"));
    hdx_doc_paragraph_end(p);
    if (is_text(class_name) && address->kind == HDX_CELL_ADDRESS) {
        hdx_doc_paragraph_begin(p);
        put_class(p, class_name);
        hdx_doc_string(p, " ");
        put_number(p, address, HDX_UNIT_NONE);
        hdx_doc_string(p, " retains ");
        put_number(p, hdx_cell_named(columns, count, row, "retained"), HDX_UNIT_BYTES);
        hdx_doc_paragraph_end(p);
    }
    put_said(p, "Kept alive by ", hdx_cell_named(columns, count, row, "path"));
    put_said(p, "Reason for the rule: ", hdx_cell_named(columns, count, row, "reason"));
    put_said(p, "Note: ", note);
    hdx_doc_card_end(p);
    return true;
}

const hdx_page_special *hdx_page_special_of(const char *answer)
{
    static const hdx_page_special all[] = {
        { "leaks", "class kind objects dumps retained root suspects signature", "Leaks", CARDS_MOST, say_leaks,
          put_leak },
        { "check", "state rule name measured limit message", "Findings", HDX_PAGE_ROWS_MOST, say_check, put_finding },
    };
    for (size_t i = 0; i < HDX_COUNT(all); i++)
        if (strcmp(all[i].answer, answer) == 0)
            return &all[i];
    return NULL;
}
