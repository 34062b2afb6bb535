/*
 * overview.c - the beginning of the report: what the heap is, what stands out, and the suspects with their paths.
 */
#include "report/sections.h"

#define STEPS 40u /* of a path */

/* ---- what it is, and what stands out ---- */

/* A finding and the command that shows more. Sentences may quote the heap, and commands may name its threads. */
static void put_findings(report *r, const hdx_cell *triage)
{
    for (uint64_t i = 0; triage->kind == HDX_CELL_LIST && i < triage->as.list.count; i++) {
        const hdx_cell *one = &triage->as.list.at[i], *kind = hdx_cell_member(one, "kind"),
                       *next = hdx_cell_member(one, "next");
        if (kind->kind == HDX_CELL_TEXT && hdx_text_is(kind->as.text, "suspect"))
            continue; /* the next section says it with its path */
        hdx_doc_paragraph_begin(&r->p);
        hdx_doc_sentence(&r->p, hdx_cell_member(one, "sentence"));
        if (next->kind == HDX_CELL_TEXT) {
            hdx_doc_string(&r->p, " Details: ");
            hdx_doc_code(&r->p, next->as.text, r->dump, NULL);
        }
        hdx_doc_paragraph_end(&r->p);
    }
}

static void put_facts(report *r, const hdx_rows *rows, const hdx_cell *info)
{
    static const struct {
        const char *key, *name;
        hdx_unit    unit;
    } facts[] = {
        { "live_bytes", "live bytes", HDX_UNIT_BYTES },
        { "live_objects", "live objects", HDX_UNIT_COUNT },
        { "classes", "classes", HDX_UNIT_COUNT },
        { "class_loaders", "class loaders", HDX_UNIT_COUNT },
        { "threads", "threads", HDX_UNIT_COUNT },
        { "gc_roots", "GC roots", HDX_UNIT_COUNT },
        { "unreachable_bytes", "unreachable bytes", HDX_UNIT_BYTES },
    };
    static const char *const about[] = { "version", "created", "jvm" };
    hdx_doc_paragraph_begin(&r->p);
    hdx_doc_string(&r->p, "Heap dump, HPROF");
    for (size_t i = 0; i < HDX_COUNT(about); i++) {
        const hdx_cell *value = hdx_cell_member(info, about[i]);
        if (value->kind != HDX_CELL_TEXT || (i == 2 && r->options->redact))
            continue; /* the name of the JVM is a property */
        hdx_doc_string(&r->p, i == 1 ? ", written " : i == 2 ? " by " : " ");
        hdx_doc_text(&r->p, value->as.text.at, value->as.text.len);
    }
    hdx_doc_string(&r->p, ". Report by heapdex ");
    hdx_doc_value(&r->p, hdx_section_head(rows, "heapdex"), HDX_UNIT_NONE);
    hdx_doc_string(&r->p, ".");
    hdx_doc_paragraph_end(&r->p);
    hdx_doc_facts(&r->p);
    for (size_t i = 0; i < HDX_COUNT(facts); i++) {
        const hdx_cell *value = hdx_cell_member(info, facts[i].key);
        if (value->kind != HDX_CELL_NULL)
            hdx_doc_fact(&r->p, facts[i].name, value, facts[i].unit);
    }
    hdx_doc_facts_end(&r->p);
}

/* What a reader must know before any number. */
static void put_warnings(report *r, const hdx_rows *rows, const hdx_cell *info)
{
    const hdx_cell *damage = hdx_section_head(rows, "damage");
    if (damage->kind == HDX_CELL_LIST && damage->as.list.count > 0)
        hdx_doc_paragraph(&r->p, "The dump is damaged: parts of it could not be read, and numbers cover the rest. The "
                                 "section about the dump file lists the damaged places.");
    if (r->lacks_dump)
        hdx_doc_paragraph(&r->p,
                          "Only the index is available, not the dump: names of fields and contents are missing.");
    if (hdx_section_lacks_roots(info))
        hdx_doc_paragraph(&r->p, "The dump has no GC roots: only classes and what they refer to count as live.");
}

hdx_code hdx_section_overview(report *r, hdx_error *err)
{
    hdx_rows       *rows = NULL;
    const hdx_cell *info;
    const hdx_code  code = hdx_section_info(r->s, &rows, &info, err);
    if (code == HDX_OK) {
        r->lacks_dump = hdx_session_lacks(r->s, 0, hdx_answer_named("dominators")) != NULL;
        put_facts(r, rows, info);
        put_warnings(r, rows, info);
        if (!r->options->redact)
            put_findings(r, hdx_cell_member(info, "triage"));
        hdx_doc_command(&r->p, "info", r->dump);
    }
    hdx_rows_close(rows);
    return code;
}

/* ---- suspects ---- */

static void put_name(report *r, const hdx_cell *step)
{
    const hdx_cell *class_name = hdx_cell_member(step, "class"), *label = hdx_cell_member(step, "label");
    const bool      text = label->kind == HDX_CELL_TEXT;
    if (hdx_section_put_class(r, class_name, label))
        return;
    if (class_name->kind == HDX_CELL_TEXT)
        hdx_doc_class(&r->p, class_name->as.text);
    if (text && !r->options->redact) {
        hdx_doc_string(&r->p, " \"");
        hdx_doc_text(&r->p, label->as.text.at, label->as.text.len);
        hdx_doc_string(&r->p, "\"");
    }
}

/* The middle of a path through a long list is not worth reading. */
static void put_gap(report *r, uint64_t count)
{
    hdx_cell number = hdx_cell_uint(count);
    hdx_doc_step(&r->p, true, false);
    hdx_doc_string(&r->p, "(");
    hdx_doc_value(&r->p, &number, HDX_UNIT_COUNT);
    hdx_doc_string(&r->p, " more objects)");
    hdx_doc_step_end(&r->p);
}

static void put_path(report *r, const hdx_cell *path)
{
    const hdx_cell *steps = hdx_cell_member(path, "steps"),
                   *types = hdx_cell_member(hdx_cell_member(path, "root"), "types");
    if (steps->kind != HDX_CELL_LIST || steps->as.list.count == 0)
        return;
    hdx_doc_path(&r->p);
    hdx_doc_step(&r->p, true, false);
    hdx_doc_string(&r->p, "GC root: ");
    for (uint64_t i = 0; types->kind == HDX_CELL_LIST && i < types->as.list.count; i++) {
        hdx_doc_string(&r->p, i > 0 ? ", " : "");
        hdx_doc_root_type(&r->p, types->as.list.at[i].as.text);
    }
    hdx_doc_step_end(&r->p);
    for (uint64_t i = 0; i < steps->as.list.count && !hdx_doc_is_full(&r->p); i++) {
        if (steps->as.list.count > STEPS && i == STEPS / 2) {
            i = steps->as.list.count - STEPS / 2; /* the goal is last */
            put_gap(r, steps->as.list.count - STEPS);
        }
        const hdx_cell *step = &steps->as.list.at[i], *reference = hdx_cell_member(step, "reference"),
                       *name = hdx_cell_member(reference, "name"), *frame = hdx_cell_member(reference, "frame");
        hdx_doc_step(&r->p, false, i + 1 == steps->as.list.count);
        put_name(r, step);
        if (name->kind == HDX_CELL_TEXT) {
            hdx_doc_string(&r->p, name->as.text.len > 0 && strchr("[<", *name->as.text.at) != NULL ? " " : " .");
            hdx_doc_text(&r->p, name->as.text.at, name->as.text.len);
        }
        hdx_doc_string(&r->p, " (retains ");
        hdx_doc_value(&r->p, hdx_cell_member(step, "retained"), HDX_UNIT_BYTES);
        hdx_doc_string(&r->p, ")");
        if (frame->kind == HDX_CELL_TEXT) {
            hdx_doc_string(&r->p, ", in ");
            hdx_doc_text(&r->p, frame->as.text.at, frame->as.text.len);
        }
        hdx_doc_step_end(&r->p);
    }
    hdx_doc_path_end(&r->p);
}

/* A sentence may quote the heap, so a redacted report has class and size instead. */
static void put_suspect(report *r, const hdx_cell *suspect)
{
    const hdx_cell *object = hdx_cell_member(suspect, "object");
    hdx_doc_card_begin(&r->p);
    if (!r->options->redact) {
        hdx_doc_paragraph_begin(&r->p);
        hdx_doc_sentence(&r->p, hdx_cell_member(suspect, "sentence"));
        hdx_doc_paragraph_end(&r->p);
    } else {
        const hdx_cell *class_name = hdx_cell_member(suspect, "class");
        hdx_doc_paragraph_begin(&r->p);
        if (class_name->kind == HDX_CELL_TEXT)
            hdx_doc_class(&r->p, class_name->as.text);
        hdx_doc_string(&r->p, ": ");
        hdx_doc_value(&r->p, hdx_cell_member(suspect, "objects"), HDX_UNIT_COUNT);
        hdx_doc_string(&r->p, " objects retain ");
        hdx_doc_value(&r->p, hdx_cell_member(suspect, "bytes"), HDX_UNIT_BYTES);
        hdx_doc_paragraph_end(&r->p);
    }
    put_path(r, hdx_cell_member(suspect, "path"));
    if (object->kind == HDX_CELL_ADDRESS) {
        hdx_doc_paragraph_begin(&r->p);
        hdx_doc_string(&r->p, "What it holds: ");
        hdx_doc_code(&r->p, (hdx_text){ "dominators", 10 }, r->dump, object);
        hdx_doc_paragraph_end(&r->p);
    }
    hdx_doc_card_end(&r->p);
}

hdx_code hdx_section_suspects(report *r, hdx_error *err)
{
    hdx_rows       *rows = NULL;
    const hdx_cell *row;
    hdx_code        code = hdx_section_run(r->s, &(section){ .answer = "suspects" }, &rows, err);
    hdx_doc_section(&r->p, "suspects", "Suspects");
    while (code == HDX_OK && hdx_rows_next(rows, &row))
        ;
    if (code == HDX_OK && (code = hdx_rows_end(rows, err)) == HDX_OK) {
        const hdx_cell *all = hdx_rows_extra_cell(rows, "suspects");
        const uint64_t  count = all->kind == HDX_CELL_LIST ? all->as.list.count : 0;
        for (uint64_t i = 0; i < count && !hdx_doc_is_full(&r->p); i++)
            put_suspect(r, &all->as.list.at[i]);
        if (count == 0)
            hdx_doc_paragraph(&r->p,
                              "No object and no group of objects of one class retains more than a tenth of the heap.");
    }
    hdx_rows_close(rows);
    code = code == HDX_OK ? HDX_OK : hdx_section_tolerate(r, "suspects", code, err);
    hdx_doc_command(&r->p, "suspects", r->dump);
    hdx_doc_section_end(&r->p);
    return code;
}
