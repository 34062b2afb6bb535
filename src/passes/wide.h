/*
 * wide.h - the passes over ids, for the current width (algo/width.h); see hdx_wide in passes.h for their inputs and
 * results. For the files *_wide.c only; all other code calls hdx_wide_of.
 */
#ifndef HDX_PASSES_WIDE_H
#define HDX_PASSES_WIDE_H

#include "algo/wide.h"
#include "passes/passes.h"

/* instances_wide.c */
hdx_code WIDE(hdx_pass_instances)(hdx_work *w, const hdx_dump_tables *t, const hdx_column_files *files,
                                  hdx_index_file *out, hdx_error *err);
/* inbound_wide.c */
hdx_code WIDE(hdx_pass_inbound)(hdx_work *w, const hdx_dump_tables *t, const hdx_inbound_in *in, hdx_inbound *out,
                                hdx_error *err);
/* search_wide.c */
hdx_code WIDE(hdx_pass_search)(hdx_work *w, const hdx_dump_tables *t, const hdx_search_in *in, _Atomic uint64_t *whole,
                               hdx_search *out, hdx_error *err);
/* dominators_wide.c */
hdx_code WIDE(hdx_pass_numbers)(hdx_work *w, const hdx_search *search, hdx_numbered *out, hdx_error *err);
hdx_code WIDE(hdx_pass_predecessors)(hdx_work *w, const hdx_search *search, const hdx_referrers *referrers,
                                     const hdx_numbered *numbered, hdx_predecessor_file *out, hdx_error *err);
hdx_code WIDE(hdx_pass_class_instances)(hdx_work *w, const hdx_dump_tables *t, const hdx_instances_in *in,
                                        hdx_predecessor_file *out, hdx_error *err);
hdx_code WIDE(hdx_pass_dominators)(hdx_work *w, const hdx_dominators_in *in, hdx_temp *idoms, hdx_error *err);
/* retained_wide.c */
hdx_code WIDE(hdx_pass_begin_sums)(hdx_work *w, const hdx_search *search, hdx_numbered *out, hdx_error *err);
void WIDE(hdx_pass_put_sums)(const hdx_numbered *numbered, uint64_t first, uint32_t n, const uint64_t *shallow);
hdx_code WIDE(hdx_pass_sums)(hdx_work *w, const hdx_dump_tables *t, const hdx_column_files *files,
                             const hdx_search *search, hdx_numbered *out, hdx_error *err);
hdx_code WIDE(hdx_pass_retained)(hdx_work *w, const hdx_search *search, const hdx_temp *idoms, hdx_numbered *numbered,
                                 hdx_error *err);
hdx_code WIDE(hdx_pass_write_retained)(hdx_work *w, const hdx_numbered *numbered, hdx_index_file *out, hdx_error *err);
/* tree_wide.c */
hdx_code WIDE(hdx_pass_tree)(hdx_work *w, const hdx_search *search, const hdx_temp *idoms, hdx_tree *out,
                             hdx_error *err);

/* Returns the resources that a pass gives to the functions of algo. */
static inline hdx_resources hdx_work_resources(hdx_work *w)
{
    return (hdx_resources){ .mem = &w->mem, .tick = &w->tick, .threads = w->threads };
}

static inline hdx_taped hdx_search_visits(const hdx_search *search)
{
    return (hdx_taped){ &search->file.tape, search->reached };
}

static inline hdx_idoms WIDE(hdx_search_idoms)(const hdx_search *search, const hdx_temp *idoms)
{
    return (hdx_idoms){ hdx_search_visits(search), { &idoms->tape, idoms->end / sizeof(WIDE(hdx_semi)) } };
}

/* Returns the member of a set with this rank. */
static inline uint64_t WIDE(hdx_ranked_member)(const WIDE(hdx_ranked) *set, uint64_t n, uint64_t rank)
{
    /* the last word with at most `rank` members before it */
    const uint64_t i = hdx_upper_bound(HDX_NUMBERS(set->before, hdx_bits_words(n)), rank) - 1;
    uint64_t       word = set->words[i];
    for (uint64_t left = rank - set->before[i]; left > 0; left--)
        word &= word - 1;
    return 64 * i + (uint64_t)__builtin_ctzll(word);
}

/* Returns the next member after one. */
static inline uint64_t WIDE(hdx_ranked_next)(const WIDE(hdx_ranked) *set, uint64_t at)
{
    uint64_t i = (at + 1) >> 6, word = set->words[i] & ~0ull << ((at + 1) & 63);
    while (word == 0)
        word = set->words[++i];
    return 64 * i + (uint64_t)__builtin_ctzll(word);
}

#endif
