/*
 * saved_answers.c - whole answers to slow questions, saved next to the index (saved_answers.h).
 *
 * In:  a question with its arguments.
 * Out: its rows, from a note HDX_NOTE_ANSWERS + n of the index (graph.h), where n is a hash of the request: an answer
 *      replaces another with the same n.
 * Cost: the first call writes one file of at most 1 MB; later ones read it. An answer of more bytes is computed once
 *      more by the first call, and the file then says so. A folder that cannot be written costs nothing but that.
 *
 *     offset size   little-endian
 *          0    8   version of this format
 *          8    8   length of the request
 *         16    8   number of remarks; 2^64 - 1: the answer is too large to be saved, and nothing follows the request
 *         24        the request: texts with a final NUL: name of the question; five numbers in a text: is the
 *                   dump missing, scope, length of texts, labels of sizes (query.h), named columns; then name and
 *                   value of each argument
 *                   the remarks, each with a final NUL
 *                   the rows (rows/saved.c)
 */
#include "query/saved_answers.h"
#include "graph/graph.h"
#include "query/questions.h"
#include "rows/arguments.h"

#include <stdio.h>
#include <stdlib.h>

#define VERSION   1u
#define HEAD      24u
#define TOO_LARGE UINT64_MAX
#define ARGUMENTS 32u /* most arguments of a saved request */

/* ---- the request ---- */

static void put_text(hdx_buffer *b, const char *text) { hdx_buffer_put(b, text, strlen(text) + 1); }

static bool has_file(const hdx_arguments *a)
{
    for (unsigned i = 0; i < a->answer->parameter_count; i++)
        if (a->answer->parameters[i].kind == HDX_PARAMETER_FILE &&
            hdx_argument_text(a, a->answer->parameters[i].name) != NULL)
            return true;
    return false;
}

static uint64_t columns_with(const hdx_form *form, unsigned flags)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < form->column_count && i < 64; i++)
        if ((form->columns[i].flags & flags) != 0)
            bits |= 1ull << i;
    return bits;
}

/* Columns that are computed only if they are named, and are. */
static uint64_t extra_columns(const hdx_query *q, const hdx_form *form)
{
    return q->wanted.named & columns_with(form, HDX_COLUMN_NULLABLE | HDX_COLUMN_OPTIONAL);
}

static void put_request(const hdx_query *q, const hdx_arguments *a, const hdx_form *form, hdx_buffer *out)
{
    put_text(out, a->answer->name);
    hdx_buffer_format(out, "%u %u %u %u %llx", (unsigned)hdx_graph_lacks_dump(q->graph), (unsigned)q->scope,
                      (unsigned)q->whole, (unsigned)q->sizes, (unsigned long long)extra_columns(q, form));
    hdx_buffer_put(out, "", 1);
    for (size_t i = 0; i < a->count;
         i++) /* the others shape the finished rows (answer/shape.c), or are numbers above */
        if (hdx_argument_declared(a, a->at[i].name)) {
            put_text(out, a->at[i].name);
            put_text(out, a->at[i].value == NULL ? "true" : a->at[i].value);
        }
}

static uint64_t note_of(const hdx_buffer *request)
{
    return HDX_NOTE_ANSWERS + hdx_hash_bytes(0, request->at, request->len) % HDX_NOTE_ANSWERS_COUNT;
}

/* ---- remarks ---- */

typedef struct remarks {
    hdx_buffer lines; /* each with a final NUL */
    uint64_t   count;
} remarks;

static void take_remark(void *context, const char *line)
{
    remarks *r = context;
    put_text(&r->lines, line);
    r->count++;
}

/* ---- saving ---- */

/* Computes the bytes of a note. *too_large: the rows need more than the most; out has the request only. */
static hdx_code compute(const hdx_question *question, const hdx_query *q, const hdx_arguments *a, const hdx_form *form,
                        const hdx_buffer *request, hdx_buffer *out, bool *too_large, hdx_error *err)
{
    remarks    said = { hdx_buffer_of(q->mem), 0 };
    hdx_buffer bytes = hdx_buffer_of(q->mem);
    hdx_query  whole = *q;
    hdx_rows  *rows = NULL;
    bool       fits = false;
    uint8_t    head[HEAD];
    whole.notice = take_remark;
    whole.notice_context = &said;
    whole.wanted = (hdx_wanted){ .columns = ~columns_with(form, HDX_COLUMN_LATE), .named = extra_columns(q, form) };
    hdx_code code = hdx_question_open(question, &whole, a, &rows, err);
    if (code == HDX_OK)
        code = hdx_rows_save(rows, HDX_SAVED_ANSWER_MOST, &bytes, &fits, err);
    hdx_rows_close(rows);
    *too_large = !fits;
    hdx_put64(head, VERSION);
    hdx_put64(head + 8, request->len);
    hdx_put64(head + 16, fits ? said.count : TOO_LARGE);
    hdx_buffer_put(out, head, HEAD);
    hdx_buffer_put(out, request->at, request->len);
    if (fits) {
        hdx_buffer_put(out, said.lines.at, said.lines.len);
        hdx_buffer_put(out, bytes.at, bytes.len);
    }
    if (code == HDX_OK && (out->failed || said.lines.failed))
        code = hdx_no_memory(err, "an answer", bytes.len);
    hdx_buffer_free(&said.lines);
    hdx_buffer_free(&bytes);
    return code;
}

/* ---- reading ---- */

/* Passes the remarks on. Returns the offset of the rows; 0: the bytes are not those of a note. */
static uint64_t pass_remarks(const hdx_query *q, const uint8_t *at, uint64_t size, uint64_t from, uint64_t count)
{
    for (; count > 0; count--) {
        const uint8_t *end = from < size ? memchr(at + from, 0, (size_t)(size - from)) : NULL;
        if (end == NULL)
            return 0;
        if (q != NULL && q->notice != NULL)
            q->notice(q->notice_context, (const char *)at + from);
        from = (uint64_t)(end - at) + 1;
    }
    return from;
}

/* Returns the rows of a note; *out is NULL if it is another one, or not sound. */
static hdx_code read_note(const hdx_query *q, const hdx_arguments *a, const hdx_form *form, const hdx_buffer *request,
                          const uint8_t *at, uint64_t size, bool *too_large, hdx_rows **out, hdx_error *err)
{
    *out = NULL;
    *too_large = false;
    if (at == NULL || size < HEAD || hdx_le64(at) != VERSION || hdx_le64(at + 8) != request->len ||
        request->len > size - HEAD || memcmp(at + HEAD, request->at, request->len) != 0)
        return HDX_OK;
    const uint64_t count = hdx_le64(at + 16), lines = HEAD + request->len;
    *too_large = count == TOO_LARGE && lines == size;
    const uint64_t from = *too_large ? 0 : pass_remarks(NULL, at, size, lines, count);
    if (from == 0)
        return HDX_OK;
    const hdx_code code = hdx_rows_restore(q->mem, at + from, size - from, form->columns, form->column_count,
                                           a->answer->document, a->answer->document_count, out, err);
    if (code == HDX_OK && *out != NULL)
        (void)pass_remarks(q, at, size, lines, count);
    return code;
}

static hdx_code open_saved(const hdx_question *question, const hdx_query *q, const hdx_arguments *a,
                           const hdx_form *form, const hdx_buffer *request, hdx_rows **out, hdx_error *err)
{
    const uint64_t key = note_of(request);
    hdx_remembered was = hdx_graph_recall(q->graph, key);
    hdx_buffer     now = hdx_buffer_of(q->mem);
    bool           too_large = false;
    hdx_code       code = read_note(q, a, form, request, was.at, was.size, &too_large, out, err);
    hdx_mem_put(NULL, was.at, was.size);
    if (code == HDX_OK && *out == NULL && !too_large && hdx_argument_text(a, "columns") == NULL &&
        q->wanted.bound_count == 0) {
        if ((code = compute(question, q, a, form, request, &now, &too_large, err)) == HDX_OK)
            code = read_note(q, a, form, request, (uint8_t *)now.at, now.len, &too_large, out, err);
        if (code == HDX_OK && (too_large || *out != NULL))
            (void)hdx_graph_remember(q->graph, key, now.at, now.len);
        hdx_buffer_free(&now);
    }
    return code == HDX_OK && *out == NULL ? hdx_question_open(question, q, a, out, err) : code;
}

hdx_code hdx_saved_answer_open(const hdx_question *question, const hdx_query *q, const hdx_arguments *a, hdx_rows **out,
                               hdx_error *err)
{
    const hdx_form *form = hdx_arguments_form(a);
    const uint64_t  late = columns_with(form, HDX_COLUMN_LATE);
    /* late columns that decide are computed by the question for all rows */
    if (!question->saved || q->wanted.columns == 0 || (q->wanted.columns & late) != 0 || q->field_count > 0 ||
        form->column_count > 64 || a->count > ARGUMENTS || has_file(a))
        return hdx_question_open(question, q, a, out, err);
    hdx_buffer request = hdx_buffer_of(q->mem);
    put_request(q, a, form, &request);
    const hdx_code code = request.failed ? hdx_no_memory(err, "a request", request.len)
                                         : open_saved(question, q, a, form, &request, out, err);
    hdx_buffer_free(&request);
    return code;
}

/* ---- verifying ---- */

static const hdx_question *question_named(const char *name)
{
#define QUESTION(question) &hdx_question_##question,
    static const hdx_question *const all[] = { HDX_QUESTIONS(QUESTION) };
    for (size_t i = 0; i < HDX_COUNT(all); i++)
        if (strcmp(all[i]->declared.name, name) == 0 && all[i]->saved)
            return all[i];
    return NULL;
}

/* A request that was read from a note. Its texts point into the note. */
typedef struct request {
    const hdx_question *question;
    hdx_query           q;
    bool                lacks_dump;
    hdx_argument        arguments[ARGUMENTS];
    size_t              count;
} request;

/* Reads the numbers of a request. */
static bool parse_numbers(const char *text, request *r)
{
    unsigned           lacks, scope, whole, sizes;
    unsigned long long named;
    if (sscanf(text, "%u %u %u %u %llx", &lacks, &scope, &whole, &sizes, &named) != 5 || scope > HDX_GARBAGE ||
        whole > HDX_WHOLE_BYTES)
        return false;
    r->lacks_dump = lacks != 0;
    r->q.scope = (hdx_refs_scope)scope;
    r->q.whole = (hdx_whole)whole;
    r->q.sizes = sizes != 0;
    r->q.wanted = (hdx_wanted){ .columns = 1, .named = named };
    return true;
}

/* Returns false if the bytes are no note with a request. */
static bool parse_request(const hdx_query *q, const hdx_remembered *note, request *r)
{
    const uint64_t len = note->size < HEAD || hdx_le64(note->at) != VERSION ? 0 : hdx_le64(note->at + 8);
    *r = (request){ .q = *q };
    if (len == 0 || len > note->size - HEAD || note->at[HEAD + len - 1] != 0)
        return false;
    const char *text = (const char *)note->at + HEAD, *end = text + len;
    r->question = question_named(text);
    text += strlen(text) + 1;
    if (r->question == NULL || text == end || !parse_numbers(text, r))
        return false;
    for (text += strlen(text) + 1; text != end; text += strlen(text) + 1) {
        const char *name = text;
        text += strlen(text) + 1;
        if (text == end || r->count == HDX_COUNT(r->arguments))
            return false;
        r->arguments[r->count++] = (hdx_argument){ name, text };
    }
    const hdx_arguments a = { &r->question->declared, r->arguments, r->count };
    hdx_error           refused;
    return hdx_arguments_check(&a, NULL, 0, "", &refused) == HDX_OK;
}

/* Computes the answer of a note again; *same is false if it is not that. */
static hdx_code compare_note(const hdx_query *q, uint64_t key, const hdx_remembered *was, bool *same, hdx_error *err)
{
    request r;
    *same = false;
    if (!parse_request(q, was, &r))
        return HDX_OK;
    if (r.lacks_dump != hdx_graph_lacks_dump(q->graph)) { /* cannot be computed now */
        *same = true;
        return HDX_OK;
    }
    const hdx_arguments a = { &r.question->declared, r.arguments, r.count };
    const hdx_form     *form = hdx_arguments_form(&a);
    hdx_buffer          text = hdx_buffer_of(q->mem), is = hdx_buffer_of(q->mem);
    bool                too_large;
    hdx_code            code = HDX_OK;
    put_request(&r.q, &a, form, &text);
    if (!text.failed && note_of(&text) == key)
        code = compute(r.question, &r.q, &a, form, &text, &is, &too_large, err);
    *same = is.len == was->size && memcmp(is.at, was->at, is.len) == 0;
    hdx_buffer_free(&text);
    hdx_buffer_free(&is);
    return code;
}

hdx_code hdx_saved_answers_verify(const hdx_query *q, hdx_error *err)
{
    hdx_code code = HDX_OK;
    for (uint64_t i = 0; code == HDX_OK && i < HDX_NOTE_ANSWERS_COUNT; i++) {
        const uint64_t key = HDX_NOTE_ANSWERS + i;
        hdx_remembered r = hdx_graph_recall(q->graph, key);
        bool           same = true;
        if (r.at != NULL)
            code = compare_note(q, key, &r, &same, err);
        if (code == HDX_OK && !same)
            code = hdx_hint(err,
                            hdx_fail(err, HDX_DAMAGED, hdx_graph_saved_name(key), HDX_NOWHERE,
                                     "a stored answer differs from a computed one"),
                            "it is safe to delete");
        hdx_mem_put(NULL, r.at, r.size);
    }
    return code;
}
