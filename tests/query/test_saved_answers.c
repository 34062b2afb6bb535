/*
 * test_saved_answers.c - answers to slow questions from what is saved next to an index: the same as without it, and
 * changed ones are found by verify.
 */
#include "random_heap.h"
#include "graph/graph.h"
#include "query/questions.h"
#include "query/saved_answers.h"

#include <unistd.h>

static const struct {
    const hdx_question *question;
    hdx_argument        at[2];
    size_t              count;
} asks[] = {
    { &hdx_question_holders, { { NULL, NULL } }, 0 },
    { &hdx_question_holders, { { "share", "50" }, { "most", "2" } }, 2 },
    { &hdx_question_top, { { NULL, NULL } }, 0 },
    { &hdx_question_top, { { "least", "20" } }, 1 },
    { &hdx_question_suspects, { { "threshold", "2" } }, 1 },
    { &hdx_question_collections, { { NULL, NULL } }, 0 },
    { &hdx_question_collections, { { "by", "class" } }, 1 },
    { &hdx_question_collections, { { "arrays", "true" } }, 1 },
    { &hdx_question_duplicates, { { "holders", "true" } }, 1 },
    { &hdx_question_sizes, { { NULL, NULL } }, 0 },
};

static void note(void *context, const char *line) { hdx_buffer_format(context, "(%s)", line); }

/* Rows with title, extras, remarks and the reason for no rows, as text. */
static hdx_buffer answer(heap *h, size_t i, bool from_saved)
{
    const hdx_arguments a = { &asks[i].question->declared, asks[i].at, asks[i].count };
    const hdx_form     *form = hdx_arguments_form(&a);
    hdx_buffer          remarks = hdx_buffer_of(NULL);
    hdx_query           q = h->q;
    hdx_rows           *rows;
    hdx_error           err = { .offset = HDX_NOWHERE };
    q.notice = note;
    q.notice_context = &remarks;
    q.wanted.columns = 0;
    for (unsigned c = 0; c < form->column_count; c++)
        q.wanted.columns |= (form->columns[c].flags & HDX_COLUMN_LATE) == 0 ? 1ull << c : 0;
    const hdx_code code = from_saved ? hdx_saved_answer_open(asks[i].question, &q, &a, &rows, &err)
                                     : hdx_question_open(asks[i].question, &q, &a, &rows, &err);
    cr_assert(eq(int, code, HDX_OK), "%s: %s", a.answer->name, err.message);
    hdx_buffer  text = rows_text(rows);
    const char *nothing = hdx_rows_empty_reason(rows), *title = hdx_rows_title(rows);
    hdx_buffer_format(&text, "%s %s %s", nothing == NULL ? "-" : nothing, title == NULL ? "-" : title,
                      remarks.len == 0 ? "-" : remarks.at);
    for (unsigned e = 0; hdx_rows_extra(rows, e)->key != NULL; e++)
        hdx_buffer_format(&text, " %s %d", hdx_rows_extra(rows, e)->key, (int)hdx_rows_extra(rows, e)->value.kind);
    hdx_rows_close(rows);
    hdx_buffer_free(&remarks);
    return text;
}

static void expect_same(heap *h, size_t i)
{
    hdx_buffer want = answer(h, i, false);
    for (unsigned times = 0; times < 2; times++) { /* the first computes what the second reads */
        hdx_buffer is = answer(h, i, true);
        cr_assert(eq(str, is.at, want.at), "%s, call %u", asks[i].question->declared.name, times + 1);
        hdx_buffer_free(&is);
    }
    hdx_buffer_free(&want);
}

/* Returns the first note with an answer from *slot on, and its slot. */
static bool next_note(const heap *h, uint64_t *slot, hdx_remembered *out)
{
    for (; *slot < HDX_NOTE_ANSWERS_COUNT; ++*slot) {
        *out = hdx_graph_recall(h->g, HDX_NOTE_ANSWERS + *slot);
        if (out->at != NULL)
            return true;
    }
    return false;
}

Test(saved_answers, are_those_that_are_computed)
{
    for (unsigned seed = 1; seed <= 20; seed++) {
        heap           h;
        hdx_remembered note;
        uint64_t       slot = 0;
        random_heap(&h, seed);
        for (size_t i = 0; i < HDX_COUNT(asks); i++)
            expect_same(&h, i);
        cr_expect(next_note(&h, &slot, &note), "nothing is saved");
        hdx_mem_put(NULL, note.at, note.size);
        cr_expect(eq(int, hdx_saved_answers_verify(&h.q, &h.err), HDX_OK), "%s", h.err.message);
        heap_close(&h);
    }
}

/* Whatever is in the file: the answer of that call may have other values, verify finds it, nothing is read outside. */
Test(saved_answers, that_were_changed_are_found_by_verify)
{
    heap           h;
    hdx_remembered note;
    unsigned       lot = 5;
    random_heap(&h, 3);
    for (size_t i = 0; i < HDX_COUNT(asks); i++)
        expect_same(&h, i);
    for (uint64_t slot = 0; next_note(&h, &slot, &note); slot++) {
        for (unsigned n = 0; n < 60; n++) {
            const uint64_t at = (uint64_t)rand_r(&lot) % note.size;
            const uint8_t  was = note.at[at];
            note.at[at] ^= (uint8_t)(1u << rand_r(&lot) % 8);
            cr_assert(hdx_graph_remember(h.g, HDX_NOTE_ANSWERS + slot, note.at, note.size));
            cr_expect(eq(int, hdx_saved_answers_verify(&h.q, &h.err), HDX_DAMAGED), "byte %llu of answers-%llx",
                      (unsigned long long)at, (unsigned long long)slot);
            for (size_t i = 0; i < HDX_COUNT(asks); i++) {
                hdx_buffer is = answer(&h, i, true);
                hdx_buffer_free(&is);
            }
            note.at[at] = was;
        }
        cr_assert(hdx_graph_remember(h.g, HDX_NOTE_ANSWERS + slot, note.at, note.size));
        hdx_mem_put(NULL, note.at, note.size);
    }
    for (size_t i = 0; i < HDX_COUNT(asks); i++)
        expect_same(&h, i);
    heap_close(&h);
}

/* A caller that names columns or bounds gets no more computed than that, and leaves no file. */
Test(saved_answers, are_not_written_for_bounds_and_named_columns)
{
    static const hdx_argument columns[] = { { "columns", "class" } };
    heap                      h;
    hdx_rows                 *rows;
    hdx_remembered            note;
    uint64_t                  slot = 0;
    random_heap(&h, 4);
    hdx_query     q = h.q;
    hdx_arguments a = { &hdx_question_suspects.declared, columns, 1 };
    q.wanted.columns = 1;
    cr_assert(eq(int, hdx_saved_answer_open(&hdx_question_suspects, &q, &a, &rows, &h.err), HDX_OK));
    hdx_rows_close(rows);
    a.count = 0;
    q.wanted.bounds[q.wanted.bound_count++] = (hdx_bound){ .column = 0, .text = "p0.C0" };
    cr_assert(eq(int, hdx_saved_answer_open(&hdx_question_suspects, &q, &a, &rows, &h.err), HDX_OK));
    hdx_rows_close(rows);
    cr_expect(not(next_note(&h, &slot, &note)));
    heap_close(&h);
}
