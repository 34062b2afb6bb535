/*
 * report.c - answers as rows, and as the document that `heapdex leaks --schema` describes.
 *
 * In:  the answers of one or several dumps.
 * Out: a row per leak, with nested cells on demand.
 * Knows when leaks of several dumps are the same: equal kind and signature.
 * Cost: a row is small; the document has a cell per step, reason and label.
 */
#include "leaks/leaks.h"
#include "rows/rows.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- columns and keys ---- */

#define SIZE_SENTENCE  "retained size of the leaking objects; null without sizes"
#define COUNT_SENTENCE "number of retained objects; null without sizes"
static const hdx_column columns[] = {
    HDX_COLUMN("kind", TEXT, NONE, 0, "kind of leak: application, library or unreachable"),
    HDX_COLUMN("signature", TEXT, NONE, HDX_COLUMN_NULLABLE,
               "signature, equal for leaks of the same cause in all dumps; null for unreachable objects"),
    HDX_COLUMN("objects", UNSIGNED, COUNT, HDX_COLUMN_SUM, "number of leaking objects with this signature"),
    HDX_COLUMN("dumps", UNSIGNED, COUNT, 0, "number of dumps with this leak"),
    HDX_COLUMN("retained", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE, SIZE_SENTENCE),
    HDX_COLUMN("retained_objects", UNSIGNED, COUNT, HDX_COLUMN_NULLABLE, COUNT_SENTENCE),
    HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_CLASS_NAME, "class of the leaking object of the first trace"),
    HDX_COLUMN("root", TEXT, NONE, HDX_COLUMN_NULLABLE, "type of the GC root of the first trace"),
    HDX_COLUMN("matcher", TEXT, NONE, HDX_COLUMN_NULLABLE, "rule that matches a known library leak"),
    HDX_COLUMN("suspects", TEXT, NONE, HDX_COLUMN_NULLABLE, "suspect references of the first trace"),
};

static const hdx_column reason_members[] = {
    HDX_COLUMN("code", TEXT, NONE, 0, "rule for the status, such as activity.destroyed"),
    HDX_COLUMN("text", TEXT, NONE, 0, "text for people"),
    HDX_COLUMN("means", TEXT, NONE, HDX_COLUMN_OPTIONAL, "leaking or not_leaking; only if the rule decides"),
};
static const hdx_column label_members[] = {
    HDX_COLUMN("code", TEXT, NONE, 0, "kind of label, such as view.id"),
    HDX_COLUMN("text", TEXT, NONE, 0, "text for people"),
};
static const hdx_column reference_members[] = {
    HDX_COLUMN("name", TEXT, NONE, 0, "a field, an index, a key of a map; empty for a local"),
    HDX_COLUMN("owner", TEXT, NONE, HDX_COLUMN_NULLABLE, "class that declares the field"),
    HDX_COLUMN("kind", TEXT, NONE, 0, "instance_field, static_field, array_entry or local"),
    HDX_COLUMN("suspect", BOOL, NONE, 0, "true if the reference may be the cause of the leak"),
    HDX_COLUMN("name_object", ADDRESS, NONE, HDX_COLUMN_OPTIONAL, "key of the map; only for keys without text"),
    HDX_COLUMN("frame", TEXT, NONE, HDX_COLUMN_OPTIONAL, "frame of the local; only in dumps with stacks"),
};
static const hdx_column step_members[] = {
    HDX_COLUMN("address", ADDRESS, NONE, 0, "object of this step"),
    HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_CLASS_NAME, "its class"),
    HDX_COLUMN("kind", TEXT, NONE, 0, "class, instance or array"),
    HDX_COLUMN("status", TEXT, NONE, 0, "leaking, not_leaking or unknown"),
    HDX_COLUMN("conflict", TEXT, NONE, HDX_COLUMN_NULLABLE, "reasons for a different, overruled status; null: none"),
    HDX_COLUMN("inherited", TEXT, NONE, HDX_COLUMN_NULLABLE,
               "neighbour that determines the status; null: the object itself"),
    HDX_NESTED("reasons", LIST, 0, "reasons for the status", reason_members),
    HDX_NESTED("labels", LIST, 0, "labels with other facts", label_members),
    HDX_COLUMN("retained_bytes", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE, "retained size; null if it leaks in no trace"),
    HDX_COLUMN("retained_objects", UNSIGNED, COUNT, HDX_COLUMN_NULLABLE,
               "number of retained objects; null if it leaks in no trace"),
    HDX_NESTED("reference", OBJECT, HDX_COLUMN_NULLABLE, "reference to the next step; null in the last step",
               reference_members),
};
static const hdx_column root_members[] = {
    HDX_COLUMN("type", TEXT, NONE, 0, "type of the GC root, as LeakCanary names it"),
    HDX_COLUMN("object", ADDRESS, NONE, 0, "object that the root refers to"),
    HDX_COLUMN("description", TEXT, NONE, 0, "type of the GC root in words, such as 'a running thread'"),
};
static const hdx_column trace_members[] = {
    HDX_NESTED("root", OBJECT, HDX_COLUMN_NULLABLE, "GC root of the path; null for unreachable objects", root_members),
    HDX_COLUMN("signature", TEXT, NONE, HDX_COLUMN_NULLABLE, "signature of the leak; null for unreachable objects"),
    HDX_COLUMN("retained_bytes", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE,
               "largest retained size of its leaking objects; null without sizes"),
    HDX_COLUMN("retained_objects", UNSIGNED, COUNT, HDX_COLUMN_NULLABLE,
               "number of retained objects; null without sizes"),
    HDX_NESTED("steps", LIST, 0, "objects on the path, from the root object to the leaking object", step_members),
    HDX_COLUMN("dump", TEXT, NONE, 0, "dump of the trace"),
};
static const hdx_column in_dump_members[] = {
    HDX_COLUMN("dump", TEXT, NONE, 0, "the dump"),
    HDX_COLUMN("objects", UNSIGNED, COUNT, 0, "number of leaking objects"),
    HDX_COLUMN("retained_bytes", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE, "their retained size; null without sizes"),
};
static const hdx_column matcher_members[] = {
    HDX_COLUMN("pattern", TEXT, NONE, 0, "pattern of references"),
    HDX_COLUMN("note", TEXT, NONE, HDX_COLUMN_NULLABLE, "explanation of the known leak"),
};
static const hdx_column leak_members[] = {
    HDX_COLUMN("kind", TEXT, NONE, 0, "kind of leak: application, library or unreachable"),
    HDX_COLUMN("signature", TEXT, NONE, HDX_COLUMN_NULLABLE,
               "signature, equal for leaks of the same cause in all dumps; null for unreachable objects"),
    HDX_NESTED("matcher", OBJECT, HDX_COLUMN_NULLABLE, "rule that matches a known library leak; null: none",
               matcher_members),
    HDX_COLUMN("objects", UNSIGNED, COUNT, 0, "number of leaking objects with this signature"),
    HDX_COLUMN("retained_bytes", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE, SIZE_SENTENCE),
    HDX_COLUMN("retained_objects", UNSIGNED, COUNT, HDX_COLUMN_NULLABLE, COUNT_SENTENCE),
    HDX_NESTED("traces", LIST, 0, "path to each leaking object", trace_members),
    HDX_NESTED("dumps", LIST, 0, "the leak in each dump", in_dump_members),
};
static const hdx_column fact_item[] = { { NULL, HDX_TYPE_ANY, HDX_UNIT_NONE, HDX_COLUMN_NULLABLE,
                                          "value in the dump, a text or a number; null: unknown", NULL, 0 } };
static const hdx_column watched_members[] = {
    HDX_COLUMN("count", UNSIGNED, COUNT, 0, "number of references to watched objects, including cleared ones"),
    HDX_COLUMN("retained", UNSIGNED, COUNT, 0, "number of these whose object is retained"),
};
static const hdx_column dump_members[] = {
    HDX_COLUMN("dump", TEXT, NONE, 0, "the dump"),
    HDX_NESTED("metadata", OBJECT, 0, "device, build and application of this dump", fact_item),
    HDX_NESTED("watched", OBJECT, 0, "numbers of watched objects in the dump", watched_members),
};
static const hdx_column document[] = {
    HDX_NESTED("metadata", OBJECT, 0, "device, build and application, where all dumps agree", fact_item),
    HDX_NESTED("watched", OBJECT, 0, "numbers of watched objects in all dumps", watched_members),
    HDX_NESTED("dumps", LIST, 0, "facts about each dump", dump_members),
    HDX_NESTED("leaks", LIST, 0, "leaks: of the application, of libraries, unreachable objects", leak_members),
};

/* ---- leaks of several dumps ---- */

typedef struct dump_leak { /* a leak of one dump */
    const hdx_leak *leak;
    size_t          dump;
    uint64_t        order, group;
} dump_leak;
typedef struct maker {
    const hdx_leaks *const *leaks;
    const char *const      *names;
    size_t                  count;
    dump_leak              *at;
    uint64_t                all;
    hdx_arena              *arena;
    bool                    failed; /* out of memory */
    hdx_leak_steps          steps;
    hdx_code                code; /* of reading the steps */
    hdx_error              *err;
} maker;

static void *room(maker *m, uint64_t count, uint64_t size)
{
    uint64_t bytes;
    void    *p = hdx_mul(count, size, &bytes) ? hdx_arena_get(m->arena, bytes) : NULL;
    m->failed |= p == NULL;
    return p;
}

static hdx_cell members(maker *m, const hdx_member *from, uint64_t count)
{
    hdx_member *at = room(m, count, sizeof *at);
    if (at == NULL)
        return hdx_cell_null();
    memcpy(at, from, count * sizeof *at);
    return hdx_cell_object(at, count);
}

static hdx_cell name_of(const maker *m, size_t dump) { return hdx_cell_string(m->names != NULL ? m->names[dump] : ""); }

static hdx_cell number_or_null(bool there, uint64_t n) { return there ? hdx_cell_uint(n) : hdx_cell_null(); }

/* ---- the document ---- */

static hdx_cell notes(maker *m, const hdx_leak_note *from, uint32_t count)
{
    hdx_cell *at = room(m, count, sizeof *at);
    for (uint32_t i = 0; at != NULL && i < count; i++) {
        const hdx_member note[] = { { "code", hdx_cell_string(from[i].code) },
                                    { "text", hdx_cell_string(from[i].text) },
                                    { "means", hdx_cell_string(hdx_leak_status_name(from[i].means)) } };
        at[i] = members(m, note, from[i].means == HDX_LEAK_UNKNOWN ? 2 : 3);
    }
    return hdx_cell_list(at, at != NULL ? count : 0);
}

static hdx_cell reference(maker *m, const hdx_leak_step *s)
{
    hdx_member ref[6] = { { "name", hdx_cell_string(s->ref_name) },
                          { "owner", hdx_cell_string(s->ref_owner) },
                          { "kind", hdx_cell_string(hdx_leak_ref_kind_name(s->ref_kind)) },
                          { "suspect", hdx_cell_bool(s->suspect) } };
    uint64_t   n = 4;
    if (s->last)
        return hdx_cell_null();
    /* the key is not a text: its address replaces it, in the name and in a column of its own */
    if (s->ref_name == NULL) {
        char name[40];
        (void)snprintf(name, sizeof name, "instance @0x%llx", (unsigned long long)s->ref_key);
        ref[0].value = hdx_cell_copy(m->arena, name);
        ref[n++] = (hdx_member){ "name_object", hdx_cell_address(s->ref_key) };
    }
    if (s->ref_frame != NULL)
        ref[n++] = (hdx_member){ "frame", hdx_cell_string(s->ref_frame) };
    return members(m, ref, n);
}

static hdx_cell step(maker *m, const hdx_leak_step *s)
{
    const hdx_member all[] = { { "address", hdx_cell_address(s->address) },
                               { "class", hdx_cell_string(s->class_name) },
                               { "kind", hdx_cell_string(hdx_leak_what_name(s->what)) },
                               { "status", hdx_cell_string(hdx_leak_status_name(s->status)) },
                               { "conflict", hdx_cell_string(s->conflict) },
                               { "inherited", hdx_cell_string(s->inherited) },
                               { "reasons", notes(m, s->reasons, s->reason_count) },
                               { "labels", notes(m, s->labels, s->label_count) },
                               { "retained_bytes", number_or_null(s->sized, s->retained_bytes) },
                               { "retained_objects", number_or_null(s->sized, s->retained_objects) },
                               { "reference", reference(m, s) } };
    return members(m, all, sizeof all / sizeof *all);
}

static const char *description_of(const char *root_type)
{
    const char *words = root_type == NULL ? NULL : hdx_root_type_description(root_type, strlen(root_type));
    return words != NULL ? words : root_type;
}

static hdx_cell trace(maker *m, const hdx_leak_trace *t, size_t dump)
{
    if (m->code == HDX_OK && (m->code = hdx_leak_steps_read(m->leaks[dump], t, &m->steps, m->err)) != HDX_OK)
        return hdx_cell_null();
    const hdx_member root[] = { { "type", hdx_cell_string(t->root_type) },
                                { "object", hdx_cell_address(m->steps.count > 0 ? m->steps.at[0].address : 0) },
                                { "description", hdx_cell_string(description_of(t->root_type)) } };
    hdx_cell        *steps = room(m, t->step_count, sizeof *steps);
    for (uint64_t i = 0; steps != NULL && i < m->steps.count; i++)
        steps[i] = step(m, &m->steps.at[i]);
    const hdx_member all[] = { { "root", t->root_type != NULL ? members(m, root, 3) : hdx_cell_null() },
                               { "signature",
                                 t->signature[0] != '\0' ? hdx_cell_string(t->signature) : hdx_cell_null() },
                               { "retained_bytes", number_or_null(t->sized, t->retained_bytes) },
                               { "retained_objects", number_or_null(t->sized, t->retained_objects) },
                               { "steps", hdx_cell_list(steps, steps != NULL ? t->step_count : 0) },
                               { "dump", name_of(m, dump) } };
    return members(m, all, sizeof all / sizeof *all);
}

static uint64_t traces_of(const dump_leak *from, uint64_t count)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < count; i++)
        n += from[i].leak->trace_count;
    return n;
}

static uint64_t bytes_of(const dump_leak *from, uint64_t count, bool objects)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < count; i++)
        n += objects ? from[i].leak->retained_objects : from[i].leak->retained_bytes;
    return n;
}

static hdx_cell leak(maker *m, const dump_leak *from, uint64_t count)
{
    const hdx_leak *k = from[0].leak;
    const uint64_t  n = traces_of(from, count);
    hdx_cell       *traces = room(m, n, sizeof *traces), *dumps = room(m, count, sizeof *dumps);
    uint64_t        next = 0;
    for (uint64_t i = 0; traces != NULL && dumps != NULL && i < count; i++) {
        const hdx_leak  *l = from[i].leak;
        const hdx_member in[] = { { "dump", name_of(m, from[i].dump) },
                                  { "objects", hdx_cell_uint(l->trace_count) },
                                  { "retained_bytes", number_or_null(l->sized, l->retained_bytes) } };
        dumps[i] = members(m, in, 3);
        for (uint64_t t = 0; t < l->trace_count; t++)
            traces[next++] = trace(m, &l->traces[t], from[i].dump);
    }
    const hdx_member matcher[] = { { "pattern", hdx_cell_string(k->pattern) }, { "note", hdx_cell_string(k->note) } };
    const hdx_member all[] = { { "kind", hdx_cell_string(hdx_leak_kind_name(k->kind)) },
                               { "signature",
                                 k->signature[0] != '\0' ? hdx_cell_string(k->signature) : hdx_cell_null() },
                               { "matcher", k->pattern != NULL ? members(m, matcher, 2) : hdx_cell_null() },
                               { "objects", hdx_cell_uint(n) },
                               { "retained_bytes", number_or_null(k->sized, bytes_of(from, count, false)) },
                               { "retained_objects", number_or_null(k->sized, bytes_of(from, count, true)) },
                               { "traces", hdx_cell_list(traces, next) },
                               { "dumps", hdx_cell_list(dumps, count) } };
    return members(m, all, sizeof all / sizeof *all);
}

static hdx_cell fact(const hdx_leak_fact *f)
{
    return f->kind == HDX_LEAK_FACT_NUMBER ? hdx_cell_uint(f->number)
           : f->kind == HDX_LEAK_FACT_TEXT ? hdx_cell_string(f->text)
                                           : hdx_cell_null();
}

static bool says(const hdx_leaks *l, const hdx_leak_fact *f)
{
    for (uint64_t i = 0; i < l->metadata_count; i++)
        if (strcmp(l->metadata[i].name, f->name) == 0)
            return strcmp(l->metadata[i].text, f->text) == 0;
    return false;
}

/* Returns the facts that all these dumps have in common, in the order of the first. */
static hdx_cell metadata(maker *m, const hdx_leaks *const *of, size_t count)
{
    hdx_member *at = room(m, of[0]->metadata_count, sizeof *at);
    uint64_t    n = 0;
    for (uint64_t i = 0; at != NULL && i < of[0]->metadata_count; i++) {
        const hdx_leak_fact *f = &of[0]->metadata[i];
        bool                 alike = true;
        for (size_t d = 1; d < count; d++)
            alike = alike && says(of[d], f);
        if (alike)
            at[n++] = (hdx_member){ f->name, fact(f) };
    }
    return hdx_cell_object(at, n);
}

static hdx_cell watched(maker *m, const hdx_leaks *const *of, size_t count)
{
    uint64_t all = 0, retained = 0;
    for (size_t d = 0; d < count; d++) {
        all += of[d]->watched;
        retained += of[d]->watched_retained;
    }
    const hdx_member both[] = { { "count", hdx_cell_uint(all) }, { "retained", hdx_cell_uint(retained) } };
    return members(m, both, 2);
}

static hdx_cell dumps_of(maker *m)
{
    hdx_cell *at = room(m, m->count, sizeof *at);
    for (size_t i = 0; at != NULL && i < m->count; i++) {
        const hdx_member dump[] = { { "dump", name_of(m, i) },
                                    { "metadata", metadata(m, &m->leaks[i], 1) },
                                    { "watched", watched(m, &m->leaks[i], 1) } };
        at[i] = members(m, dump, 3);
    }
    return hdx_cell_list(at, at != NULL ? m->count : 0);
}

static hdx_code add_documents(maker *m, hdx_rows *rows, hdx_error *err)
{
    hdx_cell *leaks;
    uint64_t  n = 0;
    hdx_code  code;
    m->arena = hdx_rows_arena(rows);
    m->err = err;
    leaks = room(m, m->all, sizeof *leaks);
    for (uint64_t i = 0, end; leaks != NULL && i < m->all; i = end) {
        for (end = i + 1; end < m->all && m->at[end].group == m->at[i].group; end++)
            ;
        leaks[n++] = leak(m, &m->at[i], end - i);
    }
    const hdx_cell about = metadata(m, m->leaks, m->count), seen = watched(m, m->leaks, m->count), dumps = dumps_of(m);
    hdx_leak_steps_free(&m->steps);
    if (m->code != HDX_OK)
        return m->code;
    if (m->failed)
        return hdx_no_memory(err, "the document", m->all * sizeof *leaks);
    if ((code = hdx_rows_add_extra(rows, "metadata", about, err)) != HDX_OK ||
        (code = hdx_rows_add_extra(rows, "watched", seen, err)) != HDX_OK ||
        (code = hdx_rows_add_extra(rows, "dumps", dumps, err)) != HDX_OK)
        return code;
    return hdx_rows_add_extra(rows, "leaks", hdx_cell_list(leaks, n), err);
}

/* ---- rows ---- */

static int by_leak(const void *a, const void *b)
{
    const dump_leak *x = a, *y = b;
    if (x->leak->kind != y->leak->kind)
        return x->leak->kind < y->leak->kind ? -1 : 1;
    int c = strcmp(x->leak->signature, y->leak->signature);
    return c != 0 ? c : x->order < y->order ? -1 : x->order > y->order;
}
static int by_appearance(const void *a, const void *b)
{
    const dump_leak *x = a, *y = b;
    if (x->leak->kind != y->leak->kind)
        return x->leak->kind < y->leak->kind ? -1 : 1;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static hdx_code gather(maker *m, hdx_error *err)
{
    for (size_t d = 0; d < m->count; d++)
        m->all += m->leaks[d]->leak_count;
    if ((m->at = hdx_mem_array(NULL, m->all, sizeof *m->at)) == NULL)
        return hdx_no_memory(err, "leaks", m->all * sizeof *m->at);
    uint64_t n = 0;
    for (size_t d = 0; d < m->count; d++)
        for (uint64_t i = 0; i < m->leaks[d]->leak_count; i++, n++)
            m->at[n] = (dump_leak){ &m->leaks[d]->leaks[i], d, n, n };
    if (n > 1)
        qsort(m->at, (size_t)n, sizeof *m->at, by_leak);
    for (uint64_t i = 1; i < n; i++)
        if (m->at[i].leak->kind == m->at[i - 1].leak->kind &&
            strcmp(m->at[i].leak->signature, m->at[i - 1].leak->signature) == 0)
            m->at[i].group = m->at[i - 1].group;
    if (n > 1)
        qsort(m->at, (size_t)n, sizeof *m->at, by_appearance);
    return HDX_OK;
}

static hdx_code add_row(hdx_table *table, const dump_leak *from, uint64_t count, hdx_error *err)
{
    const hdx_leak       *k = from[0].leak;
    const hdx_leak_trace *t = &k->traces[0];
    const hdx_cell        cells[] = { hdx_cell_string(hdx_leak_kind_name(k->kind)),
                               k->signature[0] != '\0' ? hdx_cell_string(k->signature) : hdx_cell_null(),
                                      hdx_cell_uint(traces_of(from, count)),
                                      hdx_cell_uint(count),
                                      number_or_null(k->sized, bytes_of(from, count, false)),
                                      number_or_null(k->sized, bytes_of(from, count, true)),
                                      hdx_cell_string(t->class_name),
                                      hdx_cell_string(t->root_type),
                                      hdx_cell_string(k->pattern),
                                      hdx_cell_string(*k->suspects != '\0' ? k->suspects : NULL) };
    return hdx_table_add(table, cells, err);
}

hdx_code hdx_leaks_rows(const hdx_leaks *const *leaks, const char *const *names, size_t count, bool documents,
                        hdx_rows **out, hdx_error *err)
{
    maker      m = { .leaks = leaks, .names = names, .count = count };
    hdx_table *table = NULL;
    *out = NULL;
    hdx_code code = gather(&m, err);
    if (code == HDX_OK)
        code = hdx_table_new(columns, HDX_COUNT(columns), &table, err);
    for (uint64_t i = 0, end; code == HDX_OK && i < m.all; i = end) {
        for (end = i + 1; end < m.all && m.at[end].group == m.at[i].group; end++)
            ;
        code = add_row(table, &m.at[i], end - i, err);
    }
    if (code == HDX_OK) {
        code = hdx_table_rows(table, out, err);
        table = NULL;
    }
    if (code == HDX_OK && documents && (code = add_documents(&m, *out, err)) != HDX_OK) {
        hdx_rows_close(*out);
        *out = NULL;
    }
    if (table != NULL)
        hdx_table_free(table);
    hdx_mem_put(NULL, m.at, m.all * sizeof *m.at);
    return code;
}

/* ---- declared ---- */

static const hdx_form      form = { NULL, NULL, columns, HDX_COUNT(columns) };
static const hdx_parameter parameters[] = {
    { .name = "finder",
      .kind = HDX_PARAMETER_CHOICE,
      .value = "FINDER",
      .choices = "watched filters classes",
      .preset = "watched",
      .sentence = "how to find leaking objects; default: watched" },
    { .name = "class",
      .kind = HDX_PARAMETER_CLASSES,
      .flags = HDX_PARAMETER_REPEATED,
      .value = "PATTERN",
      .sentence = "with --finder classes: name, glob or /regular expression/; may be repeated" },
    { .name = "matchers",
      .kind = HDX_PARAMETER_FILE,
      .value = "FILE",
      .sentence = "file of references to ignore and known library leaks, in addition to the built-in ones" },
    { .name = "filters",
      .kind = HDX_PARAMETER_FILE,
      .value = "FILE",
      .sentence = "file of rules on object state, in addition to the built-in ones" },
    { .name = "mapping",
      .kind = HDX_PARAMETER_FILE,
      .value = "FILE",
      .sentence = "mapping of R8 or ProGuard, to restore original names" },
    { .name = "no-retained",
      .kind = HDX_PARAMETER_FLAG,
      .sentence = "skip retained sizes and end the search when all leaks are found" },
    { .name = "key",
      .kind = HDX_PARAMETER_TEXT,
      .value = "KEY",
      .sentence = "report only the watched object with this key" },
    { .name = "min-watch",
      .kind = HDX_PARAMETER_NUMBER,
      .value = "SECONDS",
      .most = UINT64_MAX / 1000,
      .sentence = "report only objects watched for at least this time" },
};

const hdx_answer hdx_leaks_answer = {
    .name = "leaks",
    .flags = HDX_ANSWER_DUMPS | HDX_ANSWER_HEAP | HDX_ANSWER_VALUES | HDX_ANSWER_NO_VIEWS,
    .sentence = "find memory leaks as LeakCanary does, with a path from a GC root to each",
    .more = "Finds watched objects that should be gone (KeyedWeakReference), objects whose state shows a leak "
            "(--finder filters), or all instances of classes. Leaks of the same cause have the same signature; several "
            "dumps are combined. The first answer is stored next to the index. The man page describes the files for "
            "--matchers and --filters.",
    .examples = { "heapdex leaks app.hprof", "heapdex leaks app.hprof --finder classes --class java.lang.Thread" },
    .forms = &form,
    .form_count = 1,
    .document = document,
    .document_count = HDX_COUNT(document),
    .parameters = parameters,
    .parameter_count = HDX_COUNT(parameters),
};
