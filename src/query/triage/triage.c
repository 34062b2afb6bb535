/*
 * triage.c - the most conspicuous facts about a heap: at most eight sentences, each with a command for more details.
 *
 *     4 loaders of class acme.PluginLoader define the same 312 classes; objects of these take 40.0 MB
 *     heapdex loaders app.hprof
 *
 * A finder (finders.h) uses the rows of another question, or examines some objects itself, and reports nothing if
 * nothing is wrong. The most useful finders come first: the reason for the dump and what it lacks, what keeps the heap
 * alive, others. Cost: that of suspects, of a pass over the threads, and of one over the classes. Finders that take
 * longer only run on heaps with fewer than LARGE objects; for others, the last sentence lists what was not examined.
 */
#include "query/triage/finders.h"

#include "rows/arguments.h"

#include <inttypes.h>
#include <stdio.h>

#define LARGE 1000000u /* live objects */

const hdx_column hdx_triage_members[HDX_TRIAGE_MEMBERS] = {
    HDX_COLUMN("kind", TEXT, NONE, 0, "subject of the finding: suspect, loaders, deadlock, waste and others"),
    HDX_COLUMN("sentence", TEXT, NONE, 0, "finding as a sentence; its wording may change"),
    HDX_COLUMN("bytes", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE, "bytes that the finding is about; null if unknown"),
    HDX_COLUMN("next", TEXT, NONE, 0, "command that shows more; the dump is added after its first word"),
};

/* ---- output ---- */

hdx_code hdx_triage_report(hdx_triage *t, const char *kind, hdx_cell bytes, const char *next,
                           const hdx_buffer *sentence, hdx_error *err)
{
    hdx_member *m = hdx_arena_get(t->arena, HDX_TRIAGE_MEMBERS * sizeof *m);
    char       *text = sentence->failed ? NULL : hdx_arena_copy(t->arena, sentence->at, sentence->len);
    if (m == NULL || text == NULL)
        return hdx_no_memory(err, "a sentence", sentence->len);
    if (t->count == HDX_TRIAGE_MOST)
        return HDX_OK;
    m[0] = (hdx_member){ "kind", hdx_cell_string(kind) };
    m[1] = (hdx_member){ "sentence", hdx_cell_text((hdx_text){ text, (uint32_t)sentence->len }) };
    m[2] = (hdx_member){ "bytes", bytes };
    m[3] = (hdx_member){ "next", hdx_cell_copy(t->arena, next) };
    if (m[3].value.kind == HDX_CELL_NULL)
        return hdx_no_memory(err, "a sentence", strlen(next));
    t->at[t->count++] = hdx_cell_object(m, HDX_TRIAGE_MEMBERS);
    return HDX_OK;
}

void hdx_triage_put_text(hdx_buffer *b, const hdx_cell *cell)
{
    if (cell->kind == HDX_CELL_TEXT)
        hdx_buffer_put(b, cell->as.text.at, cell->as.text.len);
}

/* "40.0 MB (12 %)" */
void hdx_triage_put_share(const hdx_triage *t, hdx_buffer *b, uint64_t bytes)
{
    char human[16];
    hdx_human_size(bytes, human);
    hdx_buffer_format(b, "%s (%.0f%%)", human, t->live == 0 ? 0 : 100.0 * (double)bytes / (double)t->live);
}

void hdx_triage_put_size(hdx_buffer *b, uint64_t bytes)
{
    char human[16];
    hdx_human_size(bytes, human);
    hdx_buffer_text(b, human);
}

void hdx_triage_put_count(hdx_buffer *b, uint64_t n, const char *one, const char *many)
{
    char      digits[32];
    const int len = snprintf(digits, sizeof digits, "%" PRIu64, n);
    for (int i = 0; i < len; i++) {
        hdx_buffer_text(b, i > 0 && (len - i) % 3 == 0 ? "," : "");
        hdx_buffer_put(b, &digits[i], 1);
    }
    hdx_buffer_format(b, " %s", n == 1 ? one : many);
}

bool hdx_triage_is_relevant(const hdx_triage *t, uint64_t bytes)
{
    return bytes >= HDX_TRIAGE_LEAST && bytes > t->live / (100 / HDX_TRIAGE_PERCENT);
}

/* ---- rows of another question ---- */

hdx_code hdx_triage_ask(hdx_triage *t, const hdx_question *question, const hdx_argument *arguments, size_t count,
                        const char *const *columns, hdx_asked *out, hdx_error *err)
{
    const hdx_arguments a = { &question->declared, arguments, count };
    const hdx_form     *form = hdx_arguments_form(&a);
    hdx_query           q = t->q;
    *out = (hdx_asked){ .rows = NULL };
    q.wanted = (hdx_wanted){ .columns = 0 };
    for (; columns[out->count] != NULL; out->count++) {
        unsigned place = 0;
        while (place < form->column_count && strcmp(form->columns[place].name, columns[out->count]) != 0)
            place++;
        assert(place < form->column_count && place < 64 && out->count < HDX_ASKED_COLUMNS);
        out->places[out->count] = place;
        q.wanted.columns |= 1ull << place;
    }
    q.wanted.named = q.wanted.columns;
    return hdx_question_open(question, &q, &a, &out->rows, err);
}

bool hdx_triage_next(hdx_asked *a)
{
    const hdx_cell *cells;
    if (!hdx_rows_next(a->rows, &cells))
        return false;
    for (unsigned i = 0; i < a->count; i++)
        a->cells[i] = &cells[a->places[i]];
    return true;
}

hdx_code hdx_triage_end(hdx_asked *a, hdx_code code, hdx_error *err)
{
    if (code == HDX_OK)
        code = hdx_rows_end(a->rows, err);
    hdx_rows_close(a->rows);
    return code;
}

uint64_t hdx_triage_number(const hdx_cell *cell) { return cell->kind == HDX_CELL_UINT ? cell->as.natural : 0; }

/* ---- the reason for the dump, and what it lacks ---- */

static const hdx_cell *member(const hdx_cell *of, const char *key)
{
    for (uint64_t i = 0; of->kind == HDX_CELL_OBJECT && i < of->as.object.count; i++)
        if (strcmp(of->as.object.at[i].key, key) == 0)
            return &of->as.object.at[i].value;
    return NULL;
}

/* Reports the thread that ran out of memory; another one may have filled the heap. */
static hdx_code find_death(hdx_triage *t, const hdx_cell *died, hdx_error *err)
{
    const hdx_cell *name = member(died, "name"), *frame = member(died, "frame");
    if (name == NULL || frame == NULL)
        return HDX_OK;
    hdx_buffer b = hdx_buffer_of(t->q.mem);
    hdx_buffer_text(&b, "written when ");
    hdx_buffer_text(&b, name->kind == HDX_CELL_TEXT ? "thread \"" : "a thread");
    hdx_triage_put_text(&b, name);
    hdx_buffer_text(&b, name->kind == HDX_CELL_TEXT ? "\" ran out of memory" : " ran out of memory");
    hdx_buffer_text(&b, frame->kind == HDX_CELL_TEXT ? " at " : "");
    hdx_triage_put_text(&b, frame);
    return hdx_triage_report(t, "out-of-memory", hdx_cell_null(), "threads --stacks --locals", &b, err);
}

static hdx_code find_stripping(hdx_triage *t, hdx_error *err)
{
    const hdx_stripping *s = hdx_graph_summary_of(t->g)->stripping;
    if (s == NULL || s->policy == HDX_STRIP_NONE)
        return HDX_OK;
    hdx_buffer b = hdx_buffer_of(t->q.mem);
    hdx_buffer_format(&b, "contents were stripped from the dump (%s)", hdx_strip_name(s->policy));
    for (unsigned i = 0; hdx_strip_affected(s, i) != NULL; i++)
        hdx_buffer_format(&b, "%s%s", i == 0 ? ", which affects " : ", ", hdx_strip_affected(s, i));
    return hdx_triage_report(t, "stripped", hdx_cell_null(), "info --verbose", &b, err);
}

static hdx_code report_skipped(hdx_triage *t, hdx_error *err)
{
    hdx_buffer b = hdx_buffer_of(t->q.mem);
    if (t->tight)
        hdx_buffer_text(&b, "some checks were skipped because they need more memory than allowed");
    else if (t->suspects)
        hdx_buffer_text(&b, "waste by equal Strings and empty slots was not checked because it takes longer");
    else
        hdx_buffer_text(&b, "no single object retains much; finding what holds the heap together takes longer");
    return hdx_triage_report(t, "not-asked", hdx_cell_null(),
                             t->tight      ? "suspects"
                             : t->suspects ? "duplicates"
                                           : "holders",
                             &b, err);
}

/*
 * Reports garbage if it is larger than the live heap: the dump was written before a collection, or by a tool that
 * includes garbage.
 */
static hdx_code find_garbage(hdx_triage *t, hdx_error *err)
{
    const hdx_graph_summary *s = hdx_graph_summary_of(t->g);
    if (s->unreachable_bytes <= s->live_bytes || s->unreachable_bytes < HDX_TRIAGE_LEAST)
        return HDX_OK;
    hdx_buffer b = hdx_buffer_of(t->q.mem);
    hdx_triage_put_size(&b, s->unreachable_bytes);
    hdx_buffer_text(&b, " of the dump are in ");
    hdx_triage_put_count(&b, s->unreachable_objects, "unreachable object", "unreachable objects");
    hdx_buffer_text(&b, ", more than in all live objects");
    return hdx_triage_report(t, "unreachable", hdx_cell_uint(s->unreachable_bytes), "garbage", &b, err);
}

/* ---- all finders ---- */

/*
 * Skips findings that need a missing or changed dump, or more memory than queries may use. A read error of the dump
 * remains an error.
 */
static hdx_code skip_unavailable(hdx_triage *t, hdx_code code, const hdx_error *mine, hdx_error *err)
{
    const hdx_mem *mem = hdx_mem_counter(t->q.mem);
    if (code == HDX_LIMIT && mem != NULL && mem->limit != 0)
        t->tight = true;
    else if (code != HDX_OK && code != HDX_NOT_FOUND && code != HDX_BAD_DUMP) {
        if (err != NULL)
            *err = *mine;
        return code;
    }
    return HDX_OK;
}

static hdx_code find_all(hdx_triage *t, const hdx_cell *out_of_memory, hdx_error *err)
{
    static hdx_triage_finder *const finders[] = {
        hdx_triage_suspects,   hdx_triage_holders, hdx_triage_statics,    hdx_triage_loaders,       hdx_triage_waiting,
        hdx_triage_finalizers, hdx_triage_ended,   hdx_triage_outside,    hdx_triage_thread_locals, hdx_triage_pinned,
        hdx_triage_soft,       hdx_triage_pools,   hdx_triage_open_files, hdx_triage_waste,
    };
    hdx_error mine;
    hdx_code  code = find_death(t, out_of_memory, err);
    if (code == HDX_OK)
        code = find_stripping(t, err);
    if (code == HDX_OK)
        code = find_garbage(t, err);
    for (unsigned i = 0; code == HDX_OK && i < HDX_COUNT(finders) && t->count < HDX_TRIAGE_MOST; i++)
        code = skip_unavailable(t, finders[i](t, &mine), &mine, err);
    return code == HDX_OK && (t->large || t->tight) ? report_skipped(t, err) : code;
}

hdx_code hdx_triage_cell(const hdx_query *q, const hdx_cell *out_of_memory, hdx_arena *arena, hdx_cell *out,
                         hdx_error *err)
{
    const hdx_graph_summary *s = hdx_graph_summary_of(q->graph);
    hdx_triage               t = { .q = *q, .g = q->graph, .arena = arena, .live = s->live_bytes };
    t.large = s->live_objects >= LARGE;
    t.q.notice = NULL;
    t.q.scope = HDX_LIVE;
    *out = hdx_cell_list(NULL, 0);
    if (!s->complete)
        return HDX_OK;
    if ((t.at = hdx_arena_get(arena, HDX_TRIAGE_MOST * sizeof *t.at)) == NULL)
        return hdx_no_memory(err, "sentences", HDX_TRIAGE_MOST * sizeof *t.at);
    hdx_code code = hdx_ask_begin(&t.q, &t.ask, err);
    if (code == HDX_OK)
        code = find_all(&t, out_of_memory, err);
    hdx_fields_close(&t.fields);
    if (code == HDX_OK)
        *out = hdx_cell_list(t.at, t.count);
    return code;
}
