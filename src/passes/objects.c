/*
 * objects.c - sorts the objects of the second pass from the order of the dump into the order of ids: the index files
 * position, class, size and heap, and the packed lists of references.
 *
 * Ids are processed in batches, with all columns at once, so that only a batch is resident; the files are written in as
 * many parts. The second pass has counted the entries of each list (entries.c), so lists are laid out before the batch
 * is read.
 * Cost: one reading of the spill file, if the dump is roughly in the order of addresses.
 */
#include "passes/passes.h"

/* Greater lengths are stored in a map: such arrays need 64 KB of the heap each, so there are few. */
#define LONG_LENGTH UINT16_MAX

/* Numbers by id, each in as many bytes as the greatest needs: resident in addition to the lists. */
typedef struct column {
    uint8_t *at;
    unsigned width; /* 0: no such column */
} column;

enum {
    POSITION = HDX_COLUMN_POSITION,
    CLASS,
    SIZE,
    HEAP,
    COLUMNS
}; /* position + 1, 0: no record; size: length of an array, 0 for others */
static const hdx_kind kinds[COLUMNS] = { HDX_KIND_POSITION, HDX_KIND_CLASS, HDX_KIND_SIZE, HDX_KIND_HEAP };

typedef struct batch {
    hdx_work              *w;
    const hdx_dump_tables *t;
    hdx_columns           *in;
    hdx_packed            *outbound;
    uint64_t               lo, hi, ids;
    column                 columns[COLUMNS];
    hdx_map                long_lengths;
    bool                   lists; /* whether lists are wanted */
    _Atomic uint64_t       piece; /* next piece to lay out */
    hdx_first_error        fault;
    pthread_mutex_t        lock; /* guards long_lengths */
} batch;

typedef struct fill { /* for one file */
    batch   *k;
    unsigned column;
} fill;

/* Writes exactly this many bytes: other workers write the neighbours. */
static inline void put(const column *c, uint64_t i, uint64_t value)
{
    uint8_t *to = c->at + i * c->width;
    switch (c->width) {
    case 2: hdx_put16(to, (uint16_t)value); return;
    case 4: hdx_put32(to, (uint32_t)value); return;
    default:
        for (unsigned k = 0; k < c->width; k++)
            to[k] = (uint8_t)(value >> 8 * k);
    }
}

static void get(const column *c, uint64_t first, uint32_t n, uint64_t *values)
{
    const uint8_t *at = c->at + first * c->width;
    const uint64_t mask = c->width == 8 ? ~0ull : ~(~0ull << 8 * c->width);
    switch (c->width) {
    case 2:
        for (uint32_t i = 0; i < n; i++)
            values[i] = hdx_le16(at + 2 * (size_t)i);
        return;
    case 4:
        for (uint32_t i = 0; i < n; i++)
            values[i] = hdx_le32(at + 4 * (size_t)i);
        return;
    default:
        for (uint32_t i = 0; i < n; i++)
            values[i] = hdx_le64(at + (size_t)i * c->width) & mask; /* a column has eight spare bytes at its end */
    }
}

/*
 * False: the length differs from the one for which it was laid out. That happens if a dump changes between two readings
 * and then has an object twice.
 */
static bool take_list(hdx_packed *lists, const hdx_spill_record *record)
{
    const hdx_packed_group g = hdx_packed_group_of(lists, record->id);
    uint64_t               begin, end;
    hdx_packed_ends(&g, (unsigned)(record->id & 7), &begin, &end);
    if (end - begin != hdx_packed_entries(record->class_number, record->count))
        return false;
    const uint64_t origin = record->id - hdx_spill_half(record->width), mask = hdx_spill_mask(record->width);
    uint8_t       *to = hdx_packed_begin(lists, record->id, record->class_number);
    const uint8_t *at = record->list;
    for (uint64_t i = 0; i < record->count; i++, at += record->width)
        to = hdx_packed_put(to, origin + (hdx_le64(at) & mask), lists->width);
    return true;
}

static bool put_long(batch *k, uint64_t id, uint64_t length)
{
    bool fresh;
    (void)pthread_mutex_lock(&k->lock);
    uint64_t *place = hdx_map_put(&k->long_lengths, id, &fresh);
    if (place != NULL)
        *place = length;
    (void)pthread_mutex_unlock(&k->lock);
    return place != NULL;
}

static void take(void *context, unsigned worker, const hdx_spill_record *record)
{
    batch         *k = context;
    const uint64_t i = record->id - k->lo;
    hdx_error      err;
    (void)worker;
    assert(i < k->hi - k->lo && k->hi - k->lo <= k->ids); /* P2 */
    put(&k->columns[POSITION], i, record->position);
    put(&k->columns[CLASS], i, record->class_number);
    put(&k->columns[SIZE], i, record->length < LONG_LENGTH ? record->length : LONG_LENGTH);
    if (k->columns[HEAP].width > 0)
        put(&k->columns[HEAP], i, record->heap);
    if (record->length >= LONG_LENGTH && !put_long(k, record->id, record->length))
        hdx_first_error_put(
            &k->fault, hdx_no_memory(&err, "lengths of arrays", k->long_lengths.capacity * sizeof(hdx_map_slot)), &err);
    if (k->lists && !take_list(k->outbound, record))
        hdx_first_error_put(
            &k->fault,
            hdx_fail(&err, HDX_BAD_DUMP, k->w->options->dump, HDX_NOWHERE, "changed while it was being read"), &err);
}

static hdx_code fill_column(void *context, uint64_t first, uint32_t n, uint64_t *values, hdx_error *err)
{
    const fill  *f = context;
    const batch *k = f->k;
    (void)err;
    assert(first >= k->lo && first + n <= k->hi); /* P2 */
    get(&k->columns[f->column], first - k->lo, n, values);
    for (uint32_t i = 0; f->column == SIZE && i < n; i++) {
        const uint64_t *length = values[i] == LONG_LENGTH ? hdx_map_get(&k->long_lengths, first + i) : NULL;
        if (length != NULL) /* NULL if a dump changes meanwhile and has an object twice, for two threads */
            values[i] = *length;
    }
    return HDX_OK;
}

/* ---- lists ---- */
static void take_entries(void *context, unsigned worker, const hdx_spill_record *record)
{
    batch    *k = context;
    hdx_error err;
    (void)worker;
    if (hdx_entries_put(&k->in->entries, record->id, hdx_packed_entries(record->class_number, record->count)))
        return;
    hdx_first_error_put(&k->fault, hdx_no_memory(&err, "lengths of lists", k->t->objects), &err);
}

/* Counts entries again if a build resumes after the second pass, whose counts are lost. */
static hdx_code find_entries(batch *k, hdx_error *err)
{
    const hdx_spill_range all = { 0, k->t->objects, take_entries, k };
    hdx_code              code = hdx_entries_begin(k->w, &k->in->entries, err);
    if (code == HDX_OK && (code = hdx_spill_each(k->w, k->t, &k->in->spill, &all, err)) == HDX_OK)
        code = hdx_first_error_take(&k->fault, err);
    return code;
}

static void lay_pieces(void *context, unsigned worker)
{
    batch         *k = context;
    hdx_mem       *mem = &k->w->mem;
    const uint64_t room = k->t->objects < HDX_PACKED_PIECE ? k->t->objects : HDX_PACKED_PIECE;
    uint32_t      *entries = NULL;
    uint64_t       piece;
    hdx_error      err = { 0 };
    (void)worker;
    while (!hdx_first_error_any(&k->fault) &&
           (piece = atomic_fetch_add(&k->piece, 1)) << HDX_PACKED_PIECE_BITS < k->hi) {
        hdx_code code = HDX_OK;
        if (entries == NULL && (entries = hdx_mem_array(mem, room, sizeof *entries)) == NULL)
            code = hdx_no_memory(&err, "lengths of lists", room * sizeof *entries);
        if (code == HDX_OK) {
            hdx_entries_take(&k->in->entries, piece, entries);
            code = hdx_packed_lay(k->outbound, piece, entries, mem, &err);
        }
        hdx_first_error_put(&k->fault, code, &err);
    }
    hdx_mem_put(mem, entries, room * sizeof *entries);
}

static hdx_code lay_lists(batch *k, hdx_error *err)
{
    atomic_store(&k->piece, k->lo >> HDX_PACKED_PIECE_BITS);
    hdx_workers_run(k->w->threads, lay_pieces, k);
    return hdx_first_error_take(&k->fault, err);
}

/* ---- batches ---- */
static unsigned bytes_of(uint64_t most) { return most == 0 ? 1 : (hdx_width(most) + 7) / 8; }

static hdx_code get_batch(batch *k, hdx_error *err)
{
    hdx_work              *w = k->w;
    const hdx_dump_tables *t = k->t;
    const uint64_t         packed = k->lists ? 4 + hdx_packed_forecast(t, k->in->spill.edges) / t->objects + 1
                                             : 0; /* plus the lists of the batch */
    const unsigned         widths[COLUMNS] = { bytes_of(t->dump_size), bytes_of(t->class_count), bytes_of(LONG_LENGTH),
                                               t->heap_count > 0 };
    uint64_t               all = 0;
    for (unsigned i = 0; i < COLUMNS; i++)
        all += widths[i];
    k->ids = hdx_spill_batch(w, &k->in->spill, packed + all);
    k->ids = k->ids < t->objects ? k->ids : t->objects;
    k->long_lengths = hdx_map_of(&w->mem);
    for (unsigned i = 0; i < COLUMNS; i++) {
        if (widths[i] > 0 && (k->columns[i].at = hdx_mem_get(&w->mem, k->ids * widths[i] + 8)) == NULL)
            return hdx_no_memory(err, "columns of objects", k->ids * all);
        k->columns[i].width = widths[i];
    }
    return HDX_OK;
}

static void put_batch(batch *k)
{
    for (unsigned i = 0; i < COLUMNS; i++)
        hdx_mem_put(&k->w->mem, k->columns[i].at, k->ids * k->columns[i].width + 8);
    hdx_map_free(&k->long_lengths);
}

static hdx_code take_batches(batch *k, hdx_ints_writer *const *files, hdx_error *err)
{
    hdx_work              *w = k->w;
    const hdx_dump_tables *t = k->t;
    hdx_code               code = HDX_OK;
    for (k->lo = 0; k->lo < t->objects && code == HDX_OK; k->lo = k->hi) {
        k->hi = t->objects - k->lo < k->ids ? t->objects : k->lo + k->ids;
        const hdx_spill_range range = { k->lo, k->hi, take, k };
        if (!k->lists || (code = lay_lists(k, err)) == HDX_OK)
            code = hdx_spill_each(w, t, &k->in->spill, &range, err);
        if (code == HDX_OK)
            code = hdx_first_error_take(&k->fault, err);
        for (unsigned i = 0; i < COLUMNS && code == HDX_OK; i++) {
            fill f = { k, i };
            if (files[i] != NULL)
                code = hdx_ints_append(files[i], k->hi - k->lo, fill_column, &f, err);
        }
    }
    return code;
}

static hdx_code end_files(hdx_ints_writer *const *files, hdx_code so_far, hdx_objects *out, hdx_error *err)
{
    hdx_code code = so_far;
    for (unsigned i = 0; i < COLUMNS; i++) {
        if (files[i] == NULL)
            continue;
        if (code != HDX_OK)
            hdx_ints_abandon(files[i]);
        else
            code = hdx_ints_end(files[i], &out->files[i], err);
    }
    return code;
}

hdx_code hdx_pass_objects(hdx_work *w, const hdx_dump_tables *t, hdx_columns *columns, bool lists, hdx_objects *out,
                          hdx_error *err)
{
    batch            k = { .w = w, .t = t, .in = columns, .outbound = &out->outbound, .lists = lists };
    hdx_ints_writer *files[COLUMNS] = { NULL };
    hdx_code         code = HDX_OK;
    (void)pthread_mutex_init(&k.lock, NULL);
    if (lists && columns->entries.pieces == NULL)
        code = find_entries(&k, err);
    if (lists && code == HDX_OK && (code = hdx_packed_new(&out->outbound, t->objects, &w->mem, err)) == HDX_OK)
        out->outbound.edges = columns->spill.edges;
    if (code == HDX_OK)
        code = get_batch(&k, err);
    for (unsigned i = 0; i < COLUMNS && code == HDX_OK; i++)
        if (k.columns[i].width > 0)
            code = hdx_ints_begin(&w->place, kinds[i], t->objects, &files[i], err);
    if (code == HDX_OK)
        code = take_batches(&k, files, err);
    code = end_files(files, code, out, err);
    put_batch(&k);
    hdx_entries_free(&columns->entries);
    (void)pthread_mutex_destroy(&k.lock);
    return code;
}

/* ---- reading the columns again ---- */
void hdx_pass_forget_columns(const hdx_column_files *files)
{
    hdx_ints_forget(files->class);
    hdx_ints_forget(files->size);
}

#define AHEAD 64u
void hdx_pass_shallows(const hdx_dump_tables *t, const hdx_column_files *files, uint64_t first, uint32_t n,
                       uint64_t *shallow, uint32_t *classes)
{
    uint64_t numbers[HDX_SHALLOWS], lengths[HDX_SHALLOWS];
    assert(n <= HDX_SHALLOWS && first + n <= t->objects);
    hdx_ints_read(files->class, first, n, numbers);
    hdx_ints_read(files->size, first, n, lengths);
    for (uint32_t i = 0; i < n; i++) {
        const hdx_class *c = &t->classes[numbers[i]];
        if (t->class_count > HDX_CLASSES_CACHED && i + AHEAD < n) {
            __builtin_prefetch(&t->classes[numbers[i + AHEAD]].instance_size);
            if (numbers[i + AHEAD] == t->class_class)
                hdx_map_ahead(&t->class_objects, first + i + AHEAD);
        }
        if (classes != NULL)
            classes[i] = (uint32_t)numbers[i];
        switch (c->kind) {
        case HDX_OBJECT_ARRAY: shallow[i] = hdx_object_array_size(&t->sizing, lengths[i]); break;
        case HDX_PRIMITIVE_ARRAY: shallow[i] = hdx_primitive_array_size(&t->sizing, c->element_type, lengths[i]); break;
        default: shallow[i] = c->instance_size; break;
        }
        if ((c->flags & HDX_CLASS_OF_ARRAYS) != 0 && lengths[i] >= HDX_LENGTH_ODD)
            shallow[i] = hdx_object_array_size(&t->sizing, lengths[i] - HDX_LENGTH_ODD);
        if (numbers[i] == t->class_class) {
            /*
             * class objects weigh their statics (MAT 2.6); int.class and other primitive types are plain instances (MAT
             * 1.4)
             */
            const uint64_t *of = hdx_map_get(&t->class_objects, first + i);
            if (of != NULL)
                shallow[i] = t->classes[*of].class_shallow;
        }
    }
}
