/*
 * outbound.c - the index outbound from the packed lists; and back, for a build that resumes after they were written.
 *
 * Cost: two readings of the lists, and encoding.
 */
#include "passes/passes.h"

static hdx_code fill_degrees(void *context, uint64_t first, uint32_t n, uint64_t *degrees, hdx_error *err)
{
    (void)err;
    hdx_packed_lengths(context, first, n, degrees); /* parts of a file are whole blocks */
    return HDX_OK;
}

static hdx_code fill_lists(void *context, uint64_t first, uint32_t n, uint64_t *values, uint64_t *keys, hdx_error *err)
{
    const hdx_packed *lists = context;
    uint64_t          sources[256 + HDX_PACKED_MORE], targets[256 + HDX_PACKED_MORE];
    hdx_packed_walk   walk = hdx_packed_walk_from(lists, first);
    for (uint32_t done = 0; done < n;) {
        const uint32_t count = hdx_packed_pairs(lists, &walk, 256, sources, targets),
                       take = count < n - done ? count : n - done;
        if (take == 0) /* an object occurred twice, because a dump changed between two readings */
            return hdx_fail(err, HDX_BAD_DUMP, "", HDX_NOWHERE, "the dump changed while it was read");
        memcpy(values + done, targets, take * sizeof *values);
        memcpy(keys + done, sources, take * sizeof *keys);
        done += take;
    }
    return HDX_OK;
}

hdx_code hdx_pass_write_outbound(hdx_work *w, hdx_packed *lists, hdx_index_file *out, hdx_error *err)
{
    hdx_one_to_n_writer *writer = NULL;
    hdx_code             code;
    if ((code = hdx_one_to_n_begin(&w->place, HDX_KIND_OUTBOUND, lists->nodes, lists->edges, &writer, err)) != HDX_OK)
        return code;
    if ((code = hdx_one_to_n_append_degrees(writer, lists->nodes, fill_degrees, lists, err)) == HDX_OK) {
        hdx_packed_sum(lists);
        code = hdx_one_to_n_append_values(writer, lists->edges, fill_lists, lists, err);
    }
    if (code != HDX_OK)
        hdx_one_to_n_abandon(writer);
    else
        code = hdx_one_to_n_end(writer, out, err);
    return code;
}

#define PART 1024u /* nodes whose lengths are read at a time */

typedef struct rereader {
    hdx_work               *w;
    const hdx_dump_tables  *t;
    const hdx_column_files *columns;
    const hdx_one_to_n     *file;
    const hdx_cuts         *cuts;
    hdx_packed             *lists;
    _Atomic uint64_t        piece; /* next piece to lay out */
    _Atomic uint64_t        edges; /* so far */
    hdx_first_error         fault;
} rereader;

/* Excluded targets of a node, in their order; `at` is the current one. */
typedef struct excluded {
    const hdx_one_to_n *lists;
    uint64_t            key, at, end;
} excluded;

static excluded cuts_of(const hdx_cuts *cuts, uint64_t node)
{
    excluded c = { .lists = cuts->of };
    uint64_t length;
    if (cuts->from == NULL || !hdx_ranks_find(cuts->from, node, &c.key))
        return c;
    hdx_one_to_n_list(cuts->of, c.key, &c.at, &length);
    c.end = c.at + length;
    return c;
}

static bool is_cut(excluded *c, uint64_t target)
{
    const bool cut = c->at < c->end && hdx_one_to_n_get(c->lists, c->key, c->at) == target;
    c->at += cut;
    return cut;
}

/* Returns whether any of these nodes has exclusions. In most parts of a heap none has. */
static bool have_cuts(const hdx_cuts *cuts, uint64_t first, uint32_t n)
{
    uint64_t       from = 0, end = cuts->from == NULL ? 0 : hdx_ranks_count(cuts->from);
    const uint64_t all = end;
    while (from < end) {
        const uint64_t middle = from + (end - from) / 2;
        if (hdx_ranks_at(cuts->from, middle) < first)
            from = middle + 1;
        else
            end = middle;
    }
    return from < all && hdx_ranks_at(cuts->from, from) < first + n;
}

/*
 * Counts the entries of the lists of the nodes first .. first + n - 1 (at most PART). False: no build writes such
 * lists; later passes rely on their order.
 */
static bool read_entries(rereader *a, uint64_t first, uint32_t n, uint32_t *entries)
{
    const uint64_t most = a->lists->nodes < UINT32_MAX ? a->lists->nodes : UINT32_MAX;
    const bool     some = have_cuts(a->cuts, first, n);
    uint64_t       degrees[PART], classes[PART], edges = 0;
    hdx_one_to_n_degrees(a->file, first, n, degrees);
    hdx_ints_read(a->columns->class, first, n, classes);
    for (uint32_t i = 0; i < n; i++) {
        const excluded c = some ? cuts_of(a->cuts, first + i) : (excluded){ 0 };
        if (degrees[i] >= most || c.end - c.at > degrees[i])
            return false;
        degrees[i] -= c.end - c.at;
        entries[i] = (uint32_t)hdx_packed_entries((uint32_t)classes[i], degrees[i]);
        edges += degrees[i];
    }
    (void)atomic_fetch_add(&a->edges, edges);
    return true;
}

/* A list that is being written to the packed ones. */
typedef struct list_writer {
    uint8_t *to;
    unsigned width;
    uint64_t last, left; /* left: number of laid out entries that remain */
    uint64_t class_object;
    bool     begun;
    excluded cut;
} list_writer;

/* Sets members one by one: copying a complete struct costs as much as everything else for a short list. */
static inline void begin_list(rereader *a, list_writer *p, uint64_t node, uint64_t degree, uint32_t class_number,
                              bool some)
{
    p->cut.at = p->cut.end = 0;
    if (some)
        p->cut = cuts_of(a->cuts, node);
    const uint64_t out = p->cut.end - p->cut.at;
    p->to = hdx_packed_begin(a->lists, node, class_number);
    p->width = a->lists->width;
    p->left = out > degree ? 0 : degree - out;
    p->class_object = a->t->classes[class_number].id; /* an implicit reference that no list contains */
    p->begun = false;
}

static bool put_targets(list_writer *p, const uint64_t *targets, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        if ((p->begun && targets[i] <= p->last) || targets[i] == p->class_object)
            return false;
        p->begun = true;
        p->last = targets[i];
        if (is_cut(&p->cut, p->last))
            continue;
        if (p->left-- == 0) /* excluded entries do not count */
            return false;
        p->to = hdx_packed_put(p->to, p->last, p->width);
    }
    return true;
}

/* A list that is longer than what is read at once. */
static bool read_long(rereader *a, uint64_t node, uint64_t degree, uint32_t class_number, bool some)
{
    list_writer p;
    uint64_t    targets[256], begin, length;
    begin_list(a, &p, node, degree, class_number, some);
    hdx_one_to_n_list(a->file, node, &begin, &length);
    for (uint64_t done = 0; done < degree; done += 256) {
        const uint32_t part = degree - done < 256 ? (uint32_t)(degree - done) : 256;
        if (length != degree)
            return false;
        hdx_one_to_n_read(a->file, node, begin + done, part, targets);
        if (!put_targets(&p, targets, part))
            return false;
    }
    return p.left == 0;
}

/* Reads the lists; there is room for all. */
static bool read_lists(rereader *a, uint64_t first, uint32_t n)
{
    const bool some = have_cuts(a->cuts, first, n);
    uint64_t   degrees[PART], classes[PART], targets[PART];
    hdx_one_to_n_degrees(a->file, first, n, degrees);
    hdx_ints_read(a->columns->class, first, n, classes);
    for (uint32_t i = 0, end; i < n; i = end) {
        uint64_t sum = 0;
        for (end = i; end < n && degrees[end] <= PART - sum; end++)
            sum += degrees[end];
        if (end == i) {
            if (!read_long(a, first + i, degrees[i], (uint32_t)classes[i], some))
                return false;
            end++;
            continue;
        }
        hdx_one_to_n_run(a->file, first + i, end - i, degrees + i, targets);
        for (uint64_t at = 0; i < end; at += degrees[i++]) {
            list_writer p;
            begin_list(a, &p, first + i, degrees[i], (uint32_t)classes[i], some);
            if (!put_targets(&p, targets + at, degrees[i]) || p.left != 0)
                return false;
        }
    }
    return true;
}

static hdx_code unusable(hdx_error *err)
{
    return hdx_fail(err, HDX_NOT_FOUND, "", HDX_NOWHERE, "no usable checkpoint");
}

static hdx_code read_piece(rereader *a, uint64_t piece, uint32_t *entries, hdx_error *err)
{
    hdx_packed    *lists = a->lists;
    const uint64_t first = piece << HDX_PACKED_PIECE_BITS, end = first + hdx_packed_piece_nodes(lists, piece);
    hdx_code       code;
    for (uint64_t at = first; at < end; at += PART)
        if (!read_entries(a, at, end - at < PART ? (uint32_t)(end - at) : PART, entries + (at - first)))
            return unusable(err);
    if ((code = hdx_packed_lay(lists, piece, entries, &a->w->mem, err)) != HDX_OK)
        return code;
    for (uint64_t at = first; at < end; at += PART) {
        if (hdx_tick(&a->w->tick, 0))
            return hdx_tick_stop(err);
        if (!read_lists(a, at, end - at < PART ? (uint32_t)(end - at) : PART))
            return unusable(err);
    }
    hdx_one_to_n_forget(a->file); /* pages of files count for the budget */
    hdx_pass_forget_columns(a->columns);
    return hdx_note_check(a->columns->note, NULL) == HDX_OK ? HDX_OK : unusable(err);
}

static void read_pieces(void *context, unsigned worker)
{
    rereader      *a = context;
    hdx_mem       *mem = &a->w->mem;
    const uint64_t room = a->t->objects < HDX_PACKED_PIECE ? a->t->objects : HDX_PACKED_PIECE;
    uint32_t      *entries = hdx_mem_array(mem, room, sizeof *entries);
    uint64_t       piece;
    hdx_error      err = { 0 };
    (void)worker;
    while (!hdx_first_error_any(&a->fault) && (piece = atomic_fetch_add(&a->piece, 1)) < a->lists->piece_count)
        hdx_first_error_put(&a->fault,
                            entries == NULL ? hdx_no_memory(&err, "lists of references", room * sizeof *entries)
                                            : read_piece(a, piece, entries, &err),
                            &err);
    hdx_mem_put(mem, entries, room * sizeof *entries);
}

hdx_code hdx_pass_read_outbound(hdx_work *w, const hdx_dump_tables *t, const hdx_column_files *files,
                                const hdx_one_to_n *outbound, const hdx_cuts *cuts, hdx_packed *out, hdx_error *err)
{
    rereader a = { .w = w, .t = t, .columns = files, .file = outbound, .cuts = cuts, .lists = out };
    hdx_code code = hdx_packed_new(out, t->objects, &w->mem, err);
    if (code != HDX_OK)
        return code;
    if (cuts->count > hdx_one_to_n_values(outbound))
        return unusable(err);
    out->edges = hdx_one_to_n_values(outbound) - cuts->count;
    hdx_workers_run(w->threads, read_pieces, &a);
    code = hdx_first_error_take(&a.fault, err);
    return code != HDX_OK || atomic_load(&a.edges) == out->edges ? code : unusable(err);
}
