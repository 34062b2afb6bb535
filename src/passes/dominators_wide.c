/*
 * dominators_wide.c - immediate dominators of live objects, from the search, the file of referrers and the index
 * instances.
 *
 * Memory (N objects, R of them reached; for ids of 4 bytes): numbers 4 N, predecessors of a range of numbers; then 8 R
 * (links); then 4 R (dominators). If there is room, also the files of predecessors, and from the numbers on the sizes
 * for the next step. Semidominators cannot be split: each step depends on the one before.
 */
#include "passes/wide.h"

#define FORGET (16u << 20) /* values read before the pages they came from are released */

typedef struct class_instances {
    const hdx_instances_in *in;
    const hdx_one_to_n     *lists; /* the index instances */
    uint64_t                read;
} class_instances;

static uint64_t count_instances(void *context, uint32_t number)
{
    const class_instances *m = context;
    uint64_t               first, length;
    hdx_one_to_n_list(m->lists, number, &first, &length);
    return length;
}

static hdx_code read_instances(void *context, uint32_t number, uint64_t from, uint32_t n, uint64_t *nodes,
                               hdx_error *err)
{
    class_instances *m = context;
    uint64_t         first, length;
    hdx_one_to_n_list(m->lists, number, &first, &length);
    hdx_one_to_n_read(m->lists, number, first + from, n, nodes);
    if ((m->read += n) > FORGET) {
        hdx_one_to_n_forget(m->lists);
        m->read = 0;
    }
    return hdx_note_check(m->in->note, err);
}

hdx_code WIDE(hdx_pass_numbers)(hdx_work *w, const hdx_search *search, hdx_numbered *out, hdx_error *err)
{
    const hdx_taped     visits = hdx_search_visits(search);
    const hdx_resources with = hdx_work_resources(w);
    NID                *numbers = NULL;
    const hdx_code      code = WIDE(hdx_numbers)(&visits, w->objects, &with, &numbers, err);
    out->numbers = numbers;
    out->numbers_bytes = numbers == NULL ? 0 : w->objects * sizeof(NID);
    return code;
}

static WIDE(hdx_numbering) numbering_of(const hdx_search *search, const hdx_numbered *numbered)
{
    assert(numbered->numbers != NULL && search->is_root != NULL); /* P6 */
    return (WIDE(hdx_numbering)){ numbered->numbers, search->reached, search->is_root };
}

hdx_code WIDE(hdx_pass_predecessors)(hdx_work *w, const hdx_search *search, const hdx_referrers *referrers,
                                     const hdx_numbered *numbered, hdx_predecessor_file *out, hdx_error *err)
{
    const WIDE(hdx_numbering) numbering = numbering_of(search, numbered);
    const hdx_resources       with = hdx_work_resources(w);
    hdx_taped                 to = { .tape = &out->file.tape };
    const hdx_code            code = WIDE(hdx_predecessors)(&numbering, referrers, hdx_work_room(w), &with, &to, err);
    out->count = to.count;
    return code;
}

hdx_code WIDE(hdx_pass_class_instances)(hdx_work *w, const hdx_dump_tables *t, const hdx_instances_in *in,
                                        hdx_predecessor_file *out, hdx_error *err)
{
    class_instances           m = { .in = in, .lists = in->instances };
    const hdx_class_instances instances = { &m, count_instances, read_instances };
    const hdx_resources       with = hdx_work_resources(w);
    const WIDE(hdx_numbering) numbering = numbering_of(in->search, in->numbered);
    hdx_taped                 to = { .tape = &out->file.tape };
    NID                      *class_object = hdx_mem_array(&w->mem, t->class_count, sizeof(NID));
    if (class_object == NULL)
        return hdx_no_memory(err, "reachability", t->class_count * sizeof(NID));
    for (uint32_t i = 0; i < t->class_count; i++)
        class_object[i] = (NID)t->classes[i].id;
    const WIDE(hdx_digraph) graph = { .classes = t->class_count, .class_object = class_object };
    const hdx_code          code = WIDE(hdx_class_predecessors)(&graph, &numbering, &instances, &with, &to, err);
    out->count = to.count;
    hdx_mem_put(&w->mem, class_object, t->class_count * sizeof(NID));
    return code;
}

hdx_code WIDE(hdx_pass_dominators)(hdx_work *w, const hdx_dominators_in *in, hdx_temp *idoms, hdx_error *err)
{
    hdx_temp            semis_file = { 0 };
    const hdx_taped     visits = hdx_search_visits(in->search);
    const hdx_resources with = hdx_work_resources(w);
    const hdx_preds     preds = { .of_referrers = { &in->predecessors->file.tape, in->predecessors->count },
                                  .of_classes = { &in->instances->file.tape, in->instances->count } };
    hdx_taped           semis = { .tape = &semis_file.tape };
    const uint64_t      links = 2 * visits.count * sizeof(NID), one = sizeof(WIDE(hdx_semi)),
                   most = visits.count / 4 * one; /* usually a tenth have one */
    hdx_code code;
    if ((code = hdx_temp_begin(w, "semis.tmp", most, links, &semis_file, err)) == HDX_OK &&
        (code = WIDE(hdx_semidominators)(&visits, &preds, &with, &semis, err)) == HDX_OK &&
        (code = hdx_temp_begin(w, "idoms.tmp", semis.count * one, in->next_step, idoms, err)) == HDX_OK)
        code = WIDE(hdx_dominators)(&visits, &semis, &with, &idoms->tape, err);
    assert(code != HDX_OK || semis.count <= visits.count); /* P6 */
    hdx_temp_remove(&semis_file);
    if (code != HDX_CANCELLED) { /* otherwise they are saved (order.c) */
        hdx_temp_remove(&in->predecessors->file);
        hdx_temp_remove(&in->instances->file);
    }
    return code;
}
