/*
 * page.c - recognizes the question of which a cursor continues the rows.
 *
 * A cursor is the number of rows before the next page and a mark: a hash of the answer, of its arguments in any order
 * and of the heaps. Rows of one question have a fixed order, so that pages of any length follow each other without a
 * gap. A cursor of another question is refused, because its number would mean other rows.
 */
#include "answer/answer.h"
#include "base/map.h"

/* Arguments that select neither rows nor their order. */
static bool changes_rows(const char *name)
{
    static const char *const others[] = { "limit", "after", "columns", "document", "texts", "sizes" };
    for (size_t i = 0; i < HDX_COUNT(others); i++)
        if (strcmp(name, others[i]) == 0)
            return false;
    return true;
}

static uint64_t hash_text(uint64_t seed, const char *text)
{
    return text == NULL ? seed : hdx_hash_bytes(seed, text, strlen(text) + 1);
}

static uint64_t hash_heap(uint64_t seed, const hdx_graph_summary *heap)
{
    const uint64_t numbers[] = { heap->dump_size, heap->dump_number, heap->created_ms,
                                 heap->objects,   heap->live_bytes,  heap->references };
    return hash_text(hdx_hash_bytes(seed, numbers, sizeof numbers), heap->view_spec);
}

hdx_code hdx_answer_mark(const hdx_session *s, const hdx_arguments *a, uint32_t *mark, hdx_error *err)
{
    const char *after = hdx_answer_last(a, "after");
    uint64_t    hash = hash_text(0, a->answer->name), sum = 0, skip;
    uint32_t    of;
    for (size_t i = 0; s != NULL && i < s->dump_count; i++) {
        const hdx_graph_summary *heap = hdx_session_summary(s, i);
        hash = heap != NULL ? hash_heap(hash, heap) : hash;
    }
    for (size_t i = 0; i < a->count; i++)
        if (changes_rows(a->at[i].name))
            sum += hash_text(hash_text(0, a->at[i].name), a->at[i].value);
    *mark = (uint32_t)hdx_mix64(hash ^ hdx_mix64(sum));
    if (after == NULL || !hdx_cursor_parse(after, &skip, &of) || of == *mark)
        return HDX_OK;
    return hdx_hint(
        err,
        hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "the cursor '%.60s' is of another question or another heap", after),
        "repeat the arguments of the page before; only --limit and --columns may change");
}
