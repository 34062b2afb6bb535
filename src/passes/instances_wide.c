/*
 * instances_wide.c - the index instances: the objects of each class.
 *
 * In:  the index class, read in the order of ids.
 * Cost: a counting sort over class numbers, as many values at a time as fit the budget; each further range reads the
 *       column again.
 */
#include "passes/wide.h"

typedef struct group {
    hdx_work               *w;
    const hdx_dump_tables  *t;
    const hdx_column_files *files;
    uint64_t               *begins; /* of each class's list; classes + 1 entries */
    uint64_t               *cursor;
    NID                    *to;
    uint64_t                first, last; /* current range of values */
} group;

static hdx_code fill_degrees(void *context, uint64_t first, uint32_t n, uint64_t *degrees, hdx_error *err)
{
    const group *k = context;
    (void)err;
    for (uint32_t i = 0; i < n; i++)
        degrees[i] = k->begins[first + i + 1] - k->begins[first + i];
    return HDX_OK;
}

static hdx_code fill_lists(void *context, uint64_t first, uint32_t n, uint64_t *values, uint64_t *keys, hdx_error *err)
{
    const group *k = context;
    /* The last class whose list starts at or before `first`. */
    uint64_t number = hdx_upper_bound(HDX_NUMBERS(k->begins, k->t->class_count), first) - 1;
    (void)err;
    for (uint32_t i = 0; i < n; i++) {
        while (k->begins[number + 1] <= first + i)
            number++;
        assert(first + i < k->last && number < k->t->class_count); /* P8 */
        values[i] = k->to[first - k->first + i];
        keys[i] = number;
    }
    return HDX_OK;
}

static hdx_code count(group *k, hdx_error *err)
{
    const hdx_dump_tables *t = k->t;
    uint64_t               numbers[HDX_SHALLOWS];
    for (uint64_t first = 0; first < t->objects; first += HDX_SHALLOWS) {
        const uint32_t n = t->objects - first < HDX_SHALLOWS ? (uint32_t)(t->objects - first) : HDX_SHALLOWS;
        if (first % HDX_FORGET == 0)
            hdx_pass_forget_columns(k->files);
        hdx_ints_read(k->files->class, first, n, numbers);
        for (uint32_t i = 0; i < n; i++)
            k->begins[numbers[i] + 1]++;
    }
    for (uint32_t c = 0; c < t->class_count; c++)
        k->begins[c + 1] += k->begins[c];
    assert(k->begins[t->class_count] == t->objects); /* P8, P10 */
    return hdx_note_check(k->files->note, err);
}

static hdx_code place(group *k, hdx_error *err)
{
    const hdx_dump_tables *t = k->t;
    uint64_t               numbers[HDX_SHALLOWS];
    const uint64_t         places = k->last - k->first;
    memcpy(k->cursor, k->begins, t->class_count * sizeof *k->cursor);
    for (uint64_t first = 0; first < t->objects; first += HDX_SHALLOWS) {
        const uint32_t n = t->objects - first < HDX_SHALLOWS ? (uint32_t)(t->objects - first) : HDX_SHALLOWS;
        if (first % HDX_FORGET == 0)
            hdx_pass_forget_columns(k->files);
        hdx_ints_read(k->files->class, first, n, numbers);
        for (uint32_t i = 0; i < n; i++) {
            const uint64_t at = k->cursor[numbers[i]]++ - k->first;
            if (at < places)
                k->to[at] = (NID)(first + i);
        }
    }
    hdx_pass_forget_columns(k->files);
    return hdx_note_check(k->files->note, err);
}

hdx_code WIDE(hdx_pass_instances)(hdx_work *w, const hdx_dump_tables *t, const hdx_column_files *files,
                                  hdx_index_file *out, hdx_error *err)
{
    group                k = { .w = w, .t = t, .files = files };
    hdx_one_to_n_writer *writer = NULL;
    const uint64_t       n = t->objects,
                   left = hdx_work_room(w) / 4 / sizeof(NID) / HDX_PART * HDX_PART; /* tasks run in parallel */
    const uint64_t part = left >= n ? n : left < 16 * HDX_PART ? 16 * HDX_PART : left;
    hdx_code       code;
    k.begins = hdx_mem_array(&w->mem, t->class_count + 1u, sizeof *k.begins);
    k.cursor = hdx_mem_array(&w->mem, t->class_count, sizeof *k.cursor);
    k.to = hdx_mem_raw(&w->mem, part, sizeof(NID));
    if (k.begins == NULL || k.cursor == NULL || k.to == NULL)
        code = hdx_no_memory(err, "objects by class", part * sizeof(NID));
    else if ((code = count(&k, err)) == HDX_OK &&
             (code = hdx_one_to_n_begin(&w->place, HDX_KIND_INSTANCES, t->class_count, n, &writer, err)) == HDX_OK)
        code = hdx_one_to_n_append_degrees(writer, t->class_count, fill_degrees, &k, err);
    for (k.first = 0; k.first < n && code == HDX_OK; k.first = k.last) {
        k.last = n - k.first < part ? n : k.first + part;
        if ((code = place(&k, err)) == HDX_OK)
            code = hdx_one_to_n_append_values(writer, k.last - k.first, fill_lists, &k, err);
    }
    if (code != HDX_OK)
        hdx_one_to_n_abandon(writer);
    else
        code = hdx_one_to_n_end(writer, out, err);
    hdx_mem_put(&w->mem, k.to, part * sizeof(NID));
    hdx_mem_put(&w->mem, k.cursor, t->class_count * sizeof *k.cursor);
    hdx_mem_put(&w->mem, k.begins, (t->class_count + 1u) * sizeof *k.begins);
    return code;
}
