/*
 * strip.c - the answers detect, strip and restore, which do not use an index. Rows are for tables; the document has the
 * same values as members.
 */
#include "answer/answer.h"

#include <stdio.h>

/* ---- detect ---- */

static const hdx_column evidence_item[] = { HDX_ITEM(TEXT, "piece of evidence") };
static const hdx_column affects_item[] = { HDX_ITEM(TEXT, "affected answer") };
static const hdx_column detect_document[] = {
    HDX_COLUMN("format", TEXT, NONE, 0, "format in the file header"),
    HDX_COLUMN("compression", TEXT, NONE, 0, "none, gzip or zlib"),
    HDX_COLUMN("policy", TEXT, NONE, 0,
               "tool that stripped the dump: none, matrix, koom, tailor, shark, redacted, limited or unknown"),
    HDX_COLUMN("confidence", REAL, NONE, 0, "from 0 to 1"),
    HDX_NESTED("evidence", LIST, 0, "evidence for the policy", evidence_item),
    HDX_COLUMN("bytes_read", UNSIGNED, BYTES, 0, "bytes of the dump that were read"),
    HDX_NESTED("affects", LIST, 0, "answers that stripping affects", affects_item),
};
static const hdx_column detect_columns[] = {
    HDX_COLUMN("key", TEXT, NONE, 0, "key of the document; a list has a row for each entry"),
    HDX_COLUMN("value", ANY, NONE, HDX_COLUMN_NULLABLE, "value of the key"),
};
static const hdx_form      detect_form = { NULL, NULL, detect_columns, HDX_COUNT(detect_columns) };
static const hdx_parameter detect_parameters[] = {
    { "full", HDX_PARAMETER_FLAG, 0, NULL, NULL, NULL, NULL, NULL, 0, 0, "read the whole dump" },
};

const hdx_answer hdx_answer_detect = {
    .name = "detect",
    .sentence = "detect whether and by which tool a dump was stripped",
    .more = "Recognizes Matrix, KOOM, Tailor, Shark, redaction and arrays cut to their first elements. Reads at most "
            "64 MiB of a large dump; --full reads all of it. Every command accepts stripped dumps; info lists the "
            "affected answers.",
    .examples = { "heapdex detect app.hprof", "heapdex detect app.hprof --full --format json" },
    .forms = &detect_form,
    .form_count = 1,
    .document = detect_document,
    .document_count = HDX_COUNT(detect_document),
    .parameters = detect_parameters,
    .parameter_count = HDX_COUNT(detect_parameters),
};

static const char *compression_name(int compression)
{
    return compression == HDX_GZIP ? "gzip" : compression == HDX_ZLIB ? "zlib" : "none";
}

/* Lists text(what, 0), text(what, 1), ... up to NULL. */
static hdx_cell list_of(hdx_arena           *arena, const char *(*text)(const hdx_stripping *what, unsigned i),
                        const hdx_stripping *what)
{
    unsigned count = 0;
    while (text(what, count) != NULL)
        count++;
    hdx_cell *cells = hdx_arena_get(arena, (count + 1) * sizeof *cells);
    for (unsigned i = 0; cells != NULL && i < count; i++)
        cells[i] = hdx_cell_copy(arena, text(what, i));
    return hdx_cell_list(cells, cells != NULL ? count : 0);
}

static const char *evidence(const hdx_stripping *what, unsigned i)
{
    return i < what->evidence_count ? what->evidence[i] : NULL;
}

hdx_code hdx_answer_run_detect(hdx_session *s, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    const hdx_detect_options options = { .full = hdx_argument_flag(a, "full"),
                                         .max_uncompressed = s->options.max_uncompressed };
    hdx_detected             d;
    hdx_table               *table;
    hdx_code                 code = hdx_strip_detect(s->dumps[0].path, &options, &d, err);
    if (code != HDX_OK || (code = hdx_table_new(detect_columns, HDX_COUNT(detect_columns), &table, err)) != HDX_OK)
        return code;
    hdx_arena       *arena = hdx_table_arena(table);
    const hdx_member members[] = {
        { "format", hdx_cell_copy(arena, d.format) },
        { "compression", hdx_cell_string(compression_name(d.compression)) },
        { "policy", hdx_cell_string(hdx_strip_name(d.what.policy)) },
        { "confidence", hdx_cell_real(d.what.confidence / 100.0) },
        { "evidence", list_of(arena, evidence, &d.what) },
        { "bytes_read", hdx_cell_uint(d.what.bytes_read) },
        { "affects", list_of(arena, hdx_strip_affected, &d.what) },
    };
    _Static_assert(HDX_COUNT(members) == HDX_COUNT(detect_document), "all keys are declared");
    for (unsigned i = 0; i < HDX_COUNT(members) && code == HDX_OK; i++) {
        const hdx_cell *v = &members[i].value;
        if (v->kind != HDX_CELL_LIST)
            code = hdx_table_add(table, (hdx_cell[]){ hdx_cell_string(members[i].key), *v }, err);
        for (uint64_t k = 0; v->kind == HDX_CELL_LIST && k < v->as.list.count && code == HDX_OK; k++)
            code = hdx_table_add(table, (hdx_cell[]){ hdx_cell_string(members[i].key), v->as.list.at[k] }, err);
    }
    code = hdx_answer_of_table(table, code, out, err);
    for (unsigned i = 0; i < HDX_COUNT(members) && code == HDX_OK; i++)
        code = hdx_answer_or_close(out, hdx_rows_add_extra(*out, members[i].key, members[i].value, err));
    return code;
}

/* ---- strip and restore ---- */

static const hdx_column dropped_item[] = { HDX_COLUMN(NULL, UNSIGNED, COUNT, 0, "records of this kind") };
static const hdx_column report_document[] = {
    HDX_COLUMN("policy", TEXT, NONE, 0, "policy used, or policy by which the dump had been stripped"),
    HDX_COLUMN("records_in", UNSIGNED, COUNT, 0, "records read"),
    HDX_COLUMN("records_out", UNSIGNED, COUNT, 0, "records written"),
    HDX_COLUMN("bytes_in", UNSIGNED, BYTES, 0, "size of the input file"),
    HDX_COLUMN("bytes_out", UNSIGNED, BYTES, 0, "size of the output file"),
    HDX_COLUMN("plain_bytes_out", UNSIGNED, BYTES, 0, "uncompressed size of the output file"),
    HDX_NESTED("dropped", OBJECT, 0, "omitted records by kind", dropped_item),
    HDX_COLUMN("dropped_shared", UNSIGNED, COUNT, 0, "omitted objects of the zygote and image heaps"),
    HDX_COLUMN("merged_bitmaps", UNSIGNED, COUNT, 0, "bitmap buffers omitted as copies of another one"),
    HDX_COLUMN("absent_bytes", UNSIGNED, BYTES, 0, "missing contents, written as zeros"),
    HDX_COLUMN("truncated", BOOL, NONE, 0, "true if the input ended early or contains more than one dump"),
    HDX_COLUMN("damage_at", UNSIGNED, NONE, HDX_COLUMN_NULLABLE, "offset of unreadable data"),
    HDX_COLUMN("graph_before", TEXT, NONE, HDX_COLUMN_NULLABLE,
               "hash of ids, classes, references and sizes in the input; only for redact"),
    HDX_COLUMN("graph_after", TEXT, NONE, HDX_COLUMN_NULLABLE, "same hash for the output file; always equal"),
};
static const hdx_column report_columns[] = {
    HDX_COLUMN("record", TEXT, NONE, 0, "kind of record"),
    HDX_COLUMN("in", UNSIGNED, COUNT, 0, "read"),
    HDX_COLUMN("dropped", UNSIGNED, COUNT, 0, "left out"),
    HDX_COLUMN("bytes_in", UNSIGNED, BYTES, 0, "bytes read"),
    HDX_COLUMN("bytes_out", UNSIGNED, BYTES, 0, "bytes written"),
};
static const hdx_form report_form = { NULL, NULL, report_columns, HDX_COUNT(report_columns) };

#define OUTPUT_PARAMETER                                                                                               \
    {                                                                                                                  \
        "output", HDX_PARAMETER_FILE, HDX_PARAMETER_REQUIRED, "FILE", NULL, NULL, NULL, NULL, 0, 0,                    \
            "write the dump to FILE; FILE.gz is compressed"                                                            \
    }
static const hdx_parameter strip_parameters[] = {
    { "policy", HDX_PARAMETER_CHOICE, HDX_PARAMETER_REQUIRED, "POLICY", "matrix koom tailor shark redact", NULL, NULL,
      NULL, 0, 0, "policy: what to keep and what to drop" },
    OUTPUT_PARAMETER,
    { "keep-class", HDX_PARAMETER_CLASSES, HDX_PARAMETER_REPEATED, "PATTERN", NULL, NULL, NULL, NULL, 0, 0,
      "always keep instances of a class (byte[]: contents); may be repeated" },
    { "drop-class", HDX_PARAMETER_CLASSES, HDX_PARAMETER_REPEATED, "PATTERN", NULL, NULL, NULL, NULL, 0, 0,
      "drop instances and arrays of a class; may be repeated" },
    { "keep-bitmaps", HDX_PARAMETER_FLAG, 0, NULL, NULL, NULL, NULL, NULL, 0, 0,
      "matrix: keep bitmaps that occur once" },
    { "map-names", HDX_PARAMETER_FLAG, 0, NULL, NULL, NULL, NULL, NULL, 0, 0,
      "redact: rename everything outside the platform" },
    { "plain", HDX_PARAMETER_FLAG, 0, NULL, NULL, NULL, NULL, NULL, 0, 0,
      "tailor: write the container without zlib compression" },
};
static const hdx_strip_policy policies[] = { HDX_STRIP_MATRIX, HDX_STRIP_KOOM, HDX_STRIP_TAILOR, HDX_STRIP_SHARK,
                                             HDX_STRIP_REDACTED }; /* order of the choices */

const hdx_answer hdx_answer_strip = {
    .name = "strip",
    .sentence = "write a smaller dump, or one without private data",
    .more = "matrix drops primitive arrays except texts and equal bitmaps; koom drops zygote and image objects and "
            "cuts contents; tailor writes its container; shark overwrites contents; redact overwrites contents with a "
            "constant and verifies that nothing else changed. OUT.gz is compressed.",
    .examples = { "heapdex strip app.hprof --policy koom -o small.hprof",
                  "heapdex strip app.hprof --policy redact --map-names -o redacted.hprof.gz" },
    .forms = &report_form,
    .form_count = 1,
    .document = report_document,
    .document_count = HDX_COUNT(report_document),
    .parameters = strip_parameters,
    .parameter_count = HDX_COUNT(strip_parameters),
};
static const hdx_parameter restore_parameters[] = { OUTPUT_PARAMETER };

const hdx_answer hdx_answer_restore = {
    .name = "restore",
    .sentence = "convert a dump that KOOM or Tailor stripped to plain HPROF, for other tools",
    .more = "Missing contents are written as zeros. Dumps without anything to restore (not stripped, Matrix, Shark) "
            "are refused with exit code 3.",
    .examples = { "heapdex restore small.hprof -o whole.hprof",
                  "heapdex restore small.hprof -o whole.hprof.gz --format json" },
    .forms = &report_form,
    .form_count = 1,
    .document = report_document,
    .document_count = HDX_COUNT(report_document),
    .parameters = restore_parameters,
    .parameter_count = HDX_COUNT(restore_parameters),
};

static hdx_code report_of(hdx_rows *rows, const hdx_strip_report *r, bool restored, hdx_error *err)
{
    hdx_arena  *arena = hdx_rows_arena(rows);
    hdx_member *dropped = hdx_arena_get(arena, HDX_STRIP_KINDS * sizeof *dropped);
    uint64_t    kinds = 0;
    char        line[160], in[16], to[16];
    char        hashes[2][20];
    hdx_code    code = HDX_OK;
    if (dropped == NULL)
        return hdx_no_memory(err, "the report", 0);
    for (unsigned i = 0; i < r->kind_count; i++)
        if (r->kinds[i].dropped > 0)
            dropped[kinds++] = (hdx_member){ r->kinds[i].record, hdx_cell_uint(r->kinds[i].dropped) };
    (void)snprintf(hashes[0], sizeof hashes[0], "%016llx", (unsigned long long)r->graph_in);
    (void)snprintf(hashes[1], sizeof hashes[1], "%016llx", (unsigned long long)r->graph_out);
    const bool       proved = r->policy == HDX_STRIP_REDACTED;
    const hdx_member members[] = {
        { "policy", hdx_cell_string(hdx_strip_name(r->policy)) },
        { "records_in", hdx_cell_uint(r->records_in) },
        { "records_out", hdx_cell_uint(r->records_out) },
        { "bytes_in", hdx_cell_uint(r->bytes_in) },
        { "bytes_out", hdx_cell_uint(r->bytes_out) },
        { "plain_bytes_out", hdx_cell_uint(r->plain_out) },
        { "dropped", hdx_cell_object(dropped, kinds) },
        { "dropped_shared", hdx_cell_uint(r->dropped_shared) },
        { "merged_bitmaps", hdx_cell_uint(r->merged) },
        { "absent_bytes", hdx_cell_uint(r->absent_bytes) },
        { "truncated", hdx_cell_bool(r->truncated) },
        { "damage_at", r->damage_at == HDX_NOWHERE ? hdx_cell_null() : hdx_cell_uint(r->damage_at) },
        { "graph_before", proved ? hdx_cell_copy(arena, hashes[0]) : hdx_cell_null() },
        { "graph_after", proved ? hdx_cell_copy(arena, hashes[1]) : hdx_cell_null() },
    };
    _Static_assert(HDX_COUNT(members) == HDX_COUNT(report_document), "all keys are declared");
    for (unsigned i = 0; i < HDX_COUNT(members) && code == HDX_OK; i++)
        code = hdx_rows_add_extra(rows, members[i].key, members[i].value, err);
    hdx_human_size(r->bytes_in, in);
    hdx_human_size(r->bytes_out, to);
    (void)snprintf(line, sizeof line, "%s: %s in, %s out%s", restored ? "Restored" : "Stripped", in, to,
                   proved ? "; ids, classes, references and sizes are unchanged" : "");
    return code == HDX_OK ? hdx_rows_set_title(rows, line, err) : code;
}

static hdx_code report_rows(const hdx_strip_report *r, bool restored, hdx_rows **out, hdx_error *err)
{
    hdx_table *table;
    hdx_code   code = hdx_table_new(report_columns, HDX_COUNT(report_columns), &table, err);
    if (code != HDX_OK)
        return code;
    for (unsigned i = 0; i < r->kind_count && code == HDX_OK; i++) {
        const hdx_strip_kind *k = &r->kinds[i];
        code = hdx_table_add(table,
                             (hdx_cell[]){ hdx_cell_string(k->record), hdx_cell_uint(k->in), hdx_cell_uint(k->dropped),
                                           hdx_cell_uint(k->bytes_in), hdx_cell_uint(k->bytes_out) },
                             err);
    }
    code = hdx_answer_of_table(table, code, out, err);
    return code != HDX_OK ? code : hdx_answer_or_close(out, report_of(*out, r, restored, err));
}

static hdx_code options_of(hdx_session *s, const hdx_arguments *a, hdx_strip_options *o, hdx_error *err)
{
    const int policy = hdx_argument_choice(a, "policy");
    hdx_code  code;
    *o = (hdx_strip_options){ .dump = s->dumps[0].path,
                              .output = hdx_argument_text(a, "output"),
                              .policy = policy < 0 ? HDX_STRIP_NONE : policies[policy],
                              .plain = hdx_argument_flag(a, "plain"),
                              .keep_bitmaps = hdx_argument_flag(a, "keep-bitmaps"),
                              .map_names = hdx_argument_flag(a, "map-names"),
                              .max_uncompressed = s->options.max_uncompressed,
                              .progress = s->progress,
                              .writing = s->events.writing,
                              .writing_context = s->events.context };
    if (strcmp(o->output, "-") != 0 && (code = hdx_output_check(o->output, &o->dump, 1, err)) != HDX_OK)
        return code;
    if (strcmp(o->output, "-") == 0)
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE,
                        "'%s' needs --output FILE: a dump is not written to standard output", a->answer->name);
    if ((code = hdx_argument_texts(a, "keep-class", &s->arena, &o->keep_classes, &o->keep_count, err)) != HDX_OK)
        return code;
    return hdx_argument_texts(a, "drop-class", &s->arena, &o->drop_classes, &o->drop_count, err);
}

/* Refuses options of another policy: ignoring --map-names, for example, would leave names in the dump unnoticed. */
static hdx_code check_policy(const hdx_arguments *a, hdx_error *err)
{
    static const struct {
        const char *flag, *policy;
    } only[] = { { "keep-bitmaps", "matrix" }, { "map-names", "redact" }, { "plain", "tailor" } };
    const char *policy = hdx_argument_text(a, "policy");
    for (unsigned i = 0; i < HDX_COUNT(only); i++)
        if (hdx_argument_flag(a, only[i].flag) && (policy == NULL || strcmp(policy, only[i].policy) != 0))
            return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "--%s requires the policy %s, but the policy is %s",
                            only[i].flag, only[i].policy, policy == NULL ? "none" : policy);
    return HDX_OK;
}

hdx_code hdx_answer_run_strip(hdx_session *s, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    hdx_strip_options options;
    hdx_strip_report  report;
    hdx_code          code = check_policy(a, err);
    if (code != HDX_OK || (code = options_of(s, a, &options, err)) != HDX_OK ||
        (code = hdx_strip_write(&options, &report, err)) != HDX_OK)
        return code;
    if (report.truncated)
        hdx_answer_notice(s, "warning: the container can store only one dump; later dumps are omitted");
    return report_rows(&report, false, out, err);
}

hdx_code hdx_answer_run_restore(hdx_session *s, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    hdx_strip_options options;
    hdx_strip_report  report;
    hdx_code          code = options_of(s, a, &options, err);
    if (code != HDX_OK || (code = hdx_strip_restore(&options, &report, err)) != HDX_OK)
        return code;
    if (report.truncated)
        hdx_answer_notice(s, "warning: the file is truncated; its complete part is restored");
    if (report.damage_at != HDX_NOWHERE)
        hdx_answer_notice(s, "warning: data at offset 0x%llx could not be read and is omitted",
                          (unsigned long long)report.damage_at);
    return report_rows(&report, true, out, err);
}
