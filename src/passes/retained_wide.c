/*
 * retained_wide.c - shallow sizes by preorder number; retained sizes from those and the immediate dominators; the index
 * retained.
 *
 * Memory (N objects, R of them reached; for ids of 4 bytes): numbers 4 N, sums 4 R or 8 R.
 */
#include "passes/wide.h"

#define PIECE (256u * HDX_SHALLOWS)

void WIDE(hdx_pass_put_sums)(const hdx_numbered *numbered, uint64_t first, uint32_t n, const uint64_t *shallow)
{
    const NID     *numbers = (const NID *)numbered->numbers + first;
    const unsigned shift = (unsigned)__builtin_ctzll(numbered->unit);
    for (uint32_t i = 0; i < n; i++) {
        if (numbers[i] == 0)
            continue;
        assert(shallow[i] % numbered->unit == 0); /* P7 */
        if (numbered->narrow)
            ((uint32_t *)numbered->sums)[numbers[i]] = (uint32_t)(shallow[i] >> shift);
        else
            ((uint64_t *)numbered->sums)[numbers[i]] = shallow[i] >> shift;
    }
}

typedef struct sizes {
    hdx_work               *w;
    const hdx_dump_tables  *t;
    const hdx_column_files *files;
    const hdx_numbered     *out;
    _Atomic uint64_t        next;
} sizes;

static void fill_shallow(void *context, unsigned worker)
{
    sizes         *s = context;
    const uint64_t n = s->t->objects;
    uint64_t       shallow[HDX_SHALLOWS], piece;
    (void)worker;
    while ((piece = atomic_fetch_add(&s->next, 1)) * PIECE < n) {
        if (piece % (HDX_FORGET / PIECE) == 0)
            hdx_pass_forget_columns(s->files);
        for (uint64_t first = piece * PIECE, end = n - first < PIECE ? n : first + PIECE; first < end;
             first += HDX_SHALLOWS) {
            const uint32_t part = end - first < HDX_SHALLOWS ? (uint32_t)(end - first) : HDX_SHALLOWS;
            hdx_pass_shallows(s->t, s->files, first, part, shallow, NULL);
            WIDE(hdx_pass_put_sums)(s->out, first, part, shallow);
        }
    }
}

hdx_code WIDE(hdx_pass_begin_sums)(hdx_work *w, const hdx_search *search, hdx_numbered *out, hdx_error *err)
{
    assert(out->sums == NULL && out->numbers != NULL); /* P6 */
    out->sums_bytes = (search->reached + 1) * (out->narrow ? 4 : 8);
    out->sums = hdx_mem_get(&w->mem, out->sums_bytes);
    return out->sums != NULL ? HDX_OK : hdx_no_memory(err, "retained sizes", out->sums_bytes);
}

hdx_code WIDE(hdx_pass_sums)(hdx_work *w, const hdx_dump_tables *t, const hdx_column_files *files,
                             const hdx_search *search, hdx_numbered *out, hdx_error *err)
{
    sizes    s = { .w = w, .t = t, .files = files, .out = out };
    hdx_code code = WIDE(hdx_pass_numbers)(w, search, out, err);
    if (code != HDX_OK || (code = WIDE(hdx_pass_begin_sums)(w, search, out, err)) != HDX_OK)
        return code;
    hdx_workers_run(w->threads, fill_shallow, &s);
    hdx_pass_forget_columns(files);
    return hdx_note_check(files->note, err);
}

hdx_code WIDE(hdx_pass_retained)(hdx_work *w, const hdx_search *search, const hdx_temp *idoms, hdx_numbered *numbered,
                                 hdx_error *err)
{
    assert(idoms->end / sizeof(WIDE(hdx_semi)) <= search->reached); /* P6 */
    const hdx_idoms all = WIDE(hdx_search_idoms)(search, idoms);
    const hdx_sums  sums = { numbered->sums, numbered->narrow };
    return WIDE(hdx_retained)(&all, &w->mem, &sums, err);
}

static hdx_code fill_retained(void *context, uint64_t first, uint32_t n, uint64_t *values, hdx_error *err)
{
    const hdx_numbered *k = context;
    const NID          *numbers = k->numbers;
    const unsigned      shift = (unsigned)__builtin_ctzll(k->unit);
    (void)err;
    for (uint32_t i = 0; i < n; i++) {
        const NID number = numbers[first + i];
        values[i] = number == 0
                        ? 0
                        : (k->narrow ? ((const uint32_t *)k->sums)[number] : ((const uint64_t *)k->sums)[number])
                              << shift;
    }
    return HDX_OK;
}

hdx_code WIDE(hdx_pass_write_retained)(hdx_work *w, const hdx_numbered *numbered, hdx_index_file *out, hdx_error *err)
{
    hdx_numbered values = *numbered;
    assert(values.sums != NULL && values.numbers_bytes == w->objects * sizeof(NID)); /* P6, P7 */
    return hdx_ints_write(&w->place, HDX_KIND_RETAINED, w->objects, fill_retained, &values, out, err);
}
