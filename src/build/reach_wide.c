/*
 * reach_wide.c - what follows from the GC roots: who lives, nearest roots, dominators, retained sizes.
 *
 * What is resident decides how large a dump fits, so each step holds what it needs and hands the rest on in files (N
 * objects, R of them reached; packed lists take some 8 N bytes; ids have 4):
 *
 *     references   packed lists; bits; a stack and a queue; parents of the N/10 to N/3 objects that need one    depth
 *                  first || breadth first
 *     dominators   numbers 4 N, predecessors of a range of numbers; then 8 R (links); then 4 R (dominators). Where
 *                  there is room the tapes of predecessors besides, and the numbers on, with the sizes of the next step
 *     retained     numbers 4 N, sizes 4 R or 8 R; nodes 4 R and what special objects need, beside that or behind it
 *
 * The depth-first search and the semidominators cannot be split: each step of them depends on the one before.
 */
#include "algo/width.h"
#include "build/passes.h"

#define FORGET      (16u << 20) /* values read before the pages they came from are given back */
#define PIECE       (64u * HDX_SHALLOWS)
#define LINKS_READY (16ull << 20) /* bytes that others keep ready for semidominators */

typedef struct reach {
    hdx_pass *p;
    WIDE(hdx_digraph) graph;
    NID     *class_object;
    NID     *roots;
    uint64_t root_count, root_capacity;
    WIDE(hdx_ranked) wanted;     /* nodes that may have another parent than their only referrer, live or not */
    NID *nearest;                /* by rank in wanted */
    WIDE(hdx_ranked) special;    /* wanted, and garbage; words are the pass's */
    NID *dominator;              /* by rank in special: as in the index dominator */
    WIDE(hdx_ranked) dominators; /* nodes that dominate a special object */
} reach;

static hdx_code no_memory(hdx_error *err) { return hdx_no_memory(err, "reachability", 0); }

static uint64_t words(const reach *r) { return hdx_bits_words(r->p->b->objects); }

static void free_words(reach *r, uint64_t **bits)
{
    hdx_mem_put(&r->p->b->mem, *bits, words(r) * 8);
    *bits = NULL;
}

static void free_ids(reach *r, NID **array, uint64_t count)
{
    hdx_mem_put(&r->p->b->mem, *array, count * sizeof(NID));
    *array = NULL;
}

static void free_ranked(reach *r, WIDE(hdx_ranked) * set)
{
    free_words(r, &set->words);
    free_ids(r, &set->before, words(r));
}

/* ---- the graph ---- */
static hdx_code make_graph(reach *r, hdx_error *err)
{
    hdx_pass  *p = r->p;
    hdx_build *b = p->b;
    if ((r->class_object = hdx_mem_array(&b->mem, b->class_count, sizeof(NID))) == NULL)
        return no_memory(err);
    for (uint32_t i = 0; i < b->class_count; i++)
        r->class_object[i] = (NID)b->classes[i].id;
    r->graph =
        (WIDE(hdx_digraph)){ .outbound = &p->outbound, .classes = b->class_count, .class_object = r->class_object };
    return HDX_OK;
}

/* Roots in the order of the file, each object once. */
static hdx_code find_roots(reach *r, hdx_error *err)
{
    hdx_pass  *p = r->p;
    hdx_build *b = p->b;
    r->root_capacity = b->root_count;
    r->roots = hdx_mem_array(&b->mem, r->root_capacity, sizeof(NID));
    if (p->is_root == NULL)
        p->is_root = hdx_mem_array(&b->mem, words(r), 8);
    if (p->is_root == NULL || r->roots == NULL)
        return no_memory(err);
    memset(p->is_root, 0, words(r) * 8); /* a checkpoint has had it filled */
    for (uint64_t i = 0; i < b->root_count; i++)
        if (b->roots[i].thread == HDX_NO_ID && hdx_bits_set(p->is_root, b->roots[i].object))
            r->roots[r->root_count++] = (NID)b->roots[i].object;
    r->graph.roots = r->roots;
    r->graph.root_count = r->root_count;
    b->manifest.gc_roots = r->root_count;
    return HDX_OK;
}

static void free_graph(reach *r)
{
    free_ids(r, &r->class_object, r->p->b->class_count);
    free_ids(r, &r->roots, r->root_capacity);
}

/* ---- search ---- */
static hdx_code do_search(void *context, hdx_error *err)
{
    reach     *r = context;
    hdx_pass  *p = r->p;
    hdx_build *b = p->b;
    uint64_t   edges = 0;
    if (hdx_pass_has(p, HDX_TASK_SEARCH))
        return HDX_OK;
    hdx_code code =
        WIDE(hdx_depth_first)(&r->graph, &p->search.tape, &b->mem, &b->tick, &p->reached, &edges, &p->live, err);
    b->manifest.references = p->reached + edges; /* each has its class besides */
    if (code == HDX_OK)
        hdx_pass_did(p, HDX_TASK_SEARCH);
    return code;
}

/*
 * Whoever has exactly one reference to it, is no root and no class object, has that referrer for dominator and for
 * nearest parent.
 */
static hdx_code find_wanted(reach *r, hdx_error *err)
{
    hdx_build *b = r->p->b;
    if ((r->wanted.words = hdx_mem_array(&b->mem, words(r), 8)) == NULL)
        return no_memory(err);
    for (uint64_t i = 0; i < words(r); i++)
        r->wanted.words[i] = r->p->many[i] | ~r->p->once[i] | r->p->is_root[i];
    if (b->objects % 64 != 0)
        r->wanted.words[words(r) - 1] &= (1ull << (b->objects % 64)) - 1;
    for (uint32_t i = 0; i < b->class_count; i++) /* instances refer to it too, and stand in no inbound list */
        hdx_bits_put(r->wanted.words, b->classes[i].id);
    return WIDE(hdx_rank)(&r->wanted, b->objects, &b->mem, err);
}

static hdx_code do_nearest(void *context, hdx_error *err)
{
    reach     *r = context;
    hdx_build *b = r->p->b;
    hdx_code   code = hdx_pass_has(r->p, HDX_TASK_NEAREST) ? HDX_OK : find_wanted(r, err);
    if (code != HDX_OK || hdx_pass_has(r->p, HDX_TASK_NEAREST))
        return code;
    if ((r->nearest = hdx_mem_array(&b->mem, r->wanted.count, sizeof(NID))) == NULL)
        return no_memory(err);
    return WIDE(hdx_nearest)(&r->graph, &r->wanted, &b->mem, &b->tick, r->nearest, err);
}

/* Garbage joins the wanted: the special objects. */
static hdx_code find_special(reach *r, hdx_error *err)
{
    hdx_build *b = r->p->b;
    uint64_t  *special = hdx_mem_array(&b->mem, words(r), 8);
    if (special == NULL)
        return no_memory(err);
    r->p->special = special;
    for (uint64_t i = 0; i < words(r); i++)
        special[i] = r->wanted.words[i] | ~r->p->live[i];
    if (b->objects % 64 != 0)
        special[words(r) - 1] &= (1ull << (b->objects % 64)) - 1;
    b->manifest.specials = hdx_bits_count(special, words(r));
    return HDX_OK;
}

/* The member of a set that has this rank. */
static uint64_t member_of(const WIDE(hdx_ranked) * set, uint64_t n, uint64_t rank)
{
    uint64_t low = 0, high = hdx_bits_words(n) - 1; /* the last word with at most `rank` members before it */
    while (low < high) {
        const uint64_t mid = low + (high - low + 1) / 2;
        if (set->before[mid] <= rank)
            low = mid;
        else
            high = mid - 1;
    }
    uint64_t word = set->words[low];
    for (uint64_t left = rank - set->before[low]; left > 0; left--)
        word &= word - 1;
    return 64 * low + (uint64_t)__builtin_ctzll(word);
}

/* The next member behind one. */
static uint64_t next_member(const WIDE(hdx_ranked) * set, uint64_t at)
{
    uint64_t i = (at + 1) >> 6, word = set->words[i] & ~0ull << ((at + 1) & 63);
    while (word == 0)
        word = set->words[++i];
    return 64 * i + (uint64_t)__builtin_ctzll(word);
}

static hdx_code fill_nearest(void *context, uint64_t first, uint32_t n, uint64_t *values, hdx_error *err)
{
    const reach *r = context;
    uint64_t     id = n == 0 ? 0 : member_of(&r->special, r->p->b->objects, first);
    (void)err;
    for (uint32_t i = 0; i < n; i++) {
        const NID parent = hdx_bits_test(r->p->live, id) ? r->nearest[HDX_RANK(&r->wanted, id)] : NONE;
        values[i] = parent == NONE ? 0 : parent == id ? 1 : (uint64_t)parent + 2;
        if (i + 1 < n)
            id = next_member(&r->special, id);
    }
    return HDX_OK;
}

static hdx_code write_nearest(reach *r, hdx_error *err)
{
    hdx_build     *b = r->p->b;
    hdx_index_file file;
    hdx_code       code;
    r->special.words = r->p->special;
    if ((code = WIDE(hdx_rank)(&r->special, b->objects, &b->mem, err)) != HDX_OK ||
        (code = hdx_ranks_write(&b->place, HDX_KIND_SPECIAL, b->objects, r->p->special, &file, err)) != HDX_OK)
        return code;
    hdx_manifest_file_written(b, HDX_KIND_SPECIAL, &file);
    if ((code = hdx_ints_write(&b->place, HDX_KIND_NEAREST, b->manifest.specials, fill_nearest, r, &file, err)) ==
        HDX_OK)
        hdx_manifest_file_written(b, HDX_KIND_NEAREST, &file);
    return code;
}

static hdx_code do_write_nearest(void *context, hdx_error *err)
{
    reach   *r = context;
    hdx_code code;
    if (hdx_pass_has(r->p, HDX_TASK_NEAREST))
        return HDX_OK;
    if ((code = find_special(r, err)) == HDX_OK && (code = write_nearest(r, err)) == HDX_OK)
        hdx_pass_did(r->p, HDX_TASK_NEAREST);
    return code;
}

hdx_code WIDE(hdx_pass_search)(hdx_pass *p, bool inbound, hdx_error *err)
{
    reach r = { .p = p };
    /*
     * inbound is last: at its end all threads are at work, while the others have one each; and it takes the memory that
     * nearest roots give back
     */
    const hdx_task all[] = {
        { do_search, &r, 0 }, { do_nearest, &r, 0 }, { do_write_nearest, &r, 3 }, { hdx_pass_do_inbound, p, 0 }
    };
    hdx_code code;
    if ((code = make_graph(&r, err)) == HDX_OK && (code = find_roots(&r, err)) == HDX_OK &&
        (hdx_pass_has(p, HDX_TASK_SEARCH) ||
         (code = hdx_tape_file_open(p->b, "search.tmp", &p->search, err)) == HDX_OK))
        code = hdx_run_tasks(p->b->threads, all, inbound ? 4 : 3, err);
    free_ids(&r, &r.special.before, words(&r));
    free_ids(&r, &r.nearest, r.wanted.count);
    free_ranked(&r, &r.wanted);
    free_graph(&r);
    return code;
}

/* ---- dominators ---- */
static hdx_code read_chunk(void *context, uint64_t chunk, uint8_t *to, uint64_t *len, uint64_t *node, hdx_error *err)
{
    hdx_pass                 *p = context;
    const hdx_referrer_chunk *c = &p->chunks[chunk];
    hdx_code                  code = p->referrer_file.tape.read(&p->referrer_file, c->at, to, c->bytes, err);
    if (code != HDX_OK)
        return code;
    if (hdx_crc32c(0, to, (size_t)c->bytes) != c->sum)
        return hdx_fail(err, HDX_IO, p->referrer_file.path, c->at, "reads otherwise than it was written");
    *len = c->bytes;
    *node = c->node;
    return HDX_OK;
}

typedef struct members {
    hdx_pass     *p;
    hdx_one_to_n *lists; /* the index instances */
    uint64_t      read;
} members;

static uint64_t member_count(void *context, uint32_t number)
{
    const members *m = context;
    uint64_t       first, length;
    hdx_one_to_n_list(m->lists, number, &first, &length);
    return length;
}

static hdx_code read_members(void *context, uint32_t number, uint64_t from, uint32_t n, uint64_t *nodes, hdx_error *err)
{
    members *m = context;
    uint64_t first, length;
    hdx_one_to_n_list(m->lists, number, &first, &length);
    hdx_one_to_n_read(m->lists, number, first + from, n, nodes);
    if ((m->read += n) > FORGET) {
        hdx_one_to_n_forget(m->lists);
        m->read = 0;
    }
    return hdx_note_check(&m->p->note, err);
}

/* At the most: what the records of referrers hold; what classes whose object is no root do. */
static uint64_t predecessors_bytes(const hdx_pass *p)
{
    return (p->referrer_entries + p->referrer_entries / 2) * sizeof(NID);
}

static uint64_t instances_bytes(const hdx_pass *p)
{
    const hdx_build *b = p->b;
    uint64_t         ids = 0;
    for (uint32_t i = 0; i < b->class_count; i++)
        if (!hdx_bits_test(p->is_root, b->classes[i].id) && !hdx_add(ids, b->classes[i].instances, &ids))
            ids = b->objects;
    ids = ids < b->objects ? ids : b->objects; /* each is of one class, whatever a checkpoint's classes say */
    return (ids + 3 * (uint64_t)b->class_count) * sizeof(NID);
}

hdx_code WIDE(hdx_pass_numbers)(hdx_pass *p, hdx_error *err)
{
    hdx_build *b = p->b;
    NID       *numbers = NULL;
    hdx_code   code = WIDE(hdx_numbers)(&p->search.tape, p->reached, b->objects, b->threads, &b->mem, &numbers, err);
    const uint64_t predecessors = predecessors_bytes(p), instances = instances_bytes(p);
    /* beside the tapes: lists of one range, then links (predecessors_wide.c, dominators_wide.c) */
    const uint64_t lists = (p->reached + p->referrer_entries + p->referrer_entries / 3) * sizeof(NID),
                   links = 2 * p->reached * sizeof(NID);
    const uint64_t beside = lists > links ? lists : links;
    p->numbers = numbers;
    p->numbers_bytes = numbers == NULL ? 0 : b->objects * sizeof(NID);
    const bool stays =
        b->resumed !=
        NULL; /* what was stopped before may be again: tapes in memory are cut while they are read, files stay */
    if (code == HDX_OK && !hdx_pass_has(p, HDX_TASK_PREDECESSORS))
        code = stays ? hdx_tape_file_open(b, "predecessors.tmp", &p->predecessors, err)
                     : hdx_tape_open(b, "predecessors.tmp", predecessors, beside + instances, &p->predecessors, err);
    if (code == HDX_OK && !hdx_pass_has(p, HDX_TASK_MEMBERS))
        code = stays ? hdx_tape_file_open(b, "members.tmp", &p->members, err)
                     : hdx_tape_open(b, "members.tmp", instances, beside, &p->members, err);
    return code;
}

hdx_code WIDE(hdx_pass_predecessors)(hdx_pass *p, hdx_error *err)
{
    hdx_build    *b = p->b;
    hdx_referrers referrers = { p, p->chunk_count, p->chunk_longest, p->referrer_entries, read_chunk };
    return WIDE(hdx_predecessors)(p->numbers, p->reached, p->is_root, &referrers, hdx_build_room(b), b->threads,
                                  &b->mem, &b->tick, &p->predecessors.tape, &p->predecessor_count, err);
}

hdx_code WIDE(hdx_pass_members)(hdx_pass *p, hdx_error *err)
{
    reach       r = { .p = p };
    hdx_build  *b = p->b;
    void       *file = NULL;
    members     m = { .p = p };
    hdx_members of_class = { &m, member_count, read_members };
    hdx_code    code = make_graph(&r, err);
    if (code == HDX_OK && (code = hdx_build_file_open(b, HDX_KIND_INSTANCES, &p->note, &file, err)) == HDX_OK)
        m.lists = file;
    if (code == HDX_OK)
        code = WIDE(hdx_instances)(&r.graph, p->numbers, p->is_root, &of_class, &b->mem, &b->tick, &p->members.tape,
                                   &p->member_count, err);
    hdx_one_to_n_close(m.lists);
    free_graph(&r);
    return code;
}

/* ---- shallow sizes by number ---- */
void WIDE(hdx_pass_put_sums)(const hdx_pass *p, uint64_t first, uint32_t n, const uint64_t *shallow)
{
    const NID     *numbers = (const NID *)p->numbers + first;
    const unsigned shift = (unsigned)__builtin_ctzll(p->size_unit);
    for (uint32_t i = 0; i < n; i++) {
        if (numbers[i] == 0)
            continue;
        if (p->narrow)
            ((uint32_t *)p->sums)[numbers[i]] = (uint32_t)(shallow[i] >> shift);
        else
            ((uint64_t *)p->sums)[numbers[i]] = shallow[i] >> shift;
    }
}

typedef struct sizes {
    hdx_pass        *p;
    _Atomic uint64_t next;
} sizes;

static void fill_shallow(void *context, unsigned worker)
{
    sizes         *s = context;
    const uint64_t n = s->p->b->objects;
    uint64_t       shallow[HDX_SHALLOWS], piece;
    (void)worker;
    while ((piece = atomic_fetch_add(&s->next, 1)) * PIECE < n) {
        if (piece % (HDX_FORGET / PIECE) == 0)
            hdx_pass_forget_columns(s->p);
        for (uint64_t first = piece * PIECE, end = n - first < PIECE ? n : first + PIECE; first < end;
             first += HDX_SHALLOWS) {
            const uint32_t part = end - first < HDX_SHALLOWS ? (uint32_t)(end - first) : HDX_SHALLOWS;
            hdx_pass_shallows(s->p, first, part, shallow, NULL);
            WIDE(hdx_pass_put_sums)(s->p, first, part, shallow);
        }
    }
}

hdx_code WIDE(hdx_pass_begin_sums)(hdx_pass *p, hdx_error *err)
{
    hdx_build *b = p->b;
    p->sums_bytes = (p->reached + 1) * (p->narrow ? 4 : 8);
    p->sums = hdx_mem_get(&b->mem, p->sums_bytes);
    return p->sums != NULL ? HDX_OK : hdx_no_memory(err, "retained sizes", p->sums_bytes);
}

hdx_code WIDE(hdx_pass_sums)(hdx_pass *p, hdx_error *err)
{
    hdx_build *b = p->b;
    sizes      s = { .p = p };
    NID       *numbers = NULL;
    hdx_code   code = WIDE(hdx_numbers)(&p->search.tape, p->reached, b->objects, b->threads, &b->mem, &numbers, err);
    if (code != HDX_OK)
        return code;
    p->numbers = numbers;
    p->numbers_bytes = b->objects * sizeof(NID);
    p->narrow = b->manifest.live_bytes / p->size_unit < UINT32_MAX;
    if ((code = WIDE(hdx_pass_begin_sums)(p, err)) != HDX_OK)
        return code;
    hdx_workers_run(b->threads, fill_shallow, &s);
    hdx_pass_forget_columns(p);
    return hdx_note_check(&p->note, err);
}

/* ---- dominators ---- */
/*
 * What the next step holds at most, beside sums and numbers that are there: those, nodes, and dominators of special
 * objects.
 */
static uint64_t retained_bytes(const hdx_pass *p)
{
    const uint64_t sums = p->sums != NULL ? 0 : p->b->objects * (sizeof(NID) + 8);
    return sums + p->reached * sizeof(NID) + 4 * p->b->manifest.specials * sizeof(NID);
}

hdx_code WIDE(hdx_pass_dominators)(hdx_pass *p, hdx_error *err)
{
    hdx_build      *b = p->b;
    hdx_tape_file   semis = { 0 };
    const hdx_preds predecessors = { &p->predecessors.tape, p->predecessor_count },
                    instances = { &p->members.tape, p->member_count };
    const uint64_t links = 2 * p->reached * sizeof(NID),
                   most = p->reached / 4 * sizeof(WIDE(hdx_semi)); /* mostly a tenth have one */
    uint64_t semi_count = 0;
    hdx_code code;
    if (b->threads > 1 && b->mem.limit == 0)
        hdx_mem_want(&b->mem, LINKS_READY);
    if ((code = hdx_tape_open(b, "semis.tmp", most, links, &semis, err)) == HDX_OK &&
        (code = WIDE(hdx_semidominators)(&p->search.tape, p->reached, &predecessors, &instances, &b->mem, &b->tick,
                                         &semis.tape, &semi_count, err)) == HDX_OK &&
        (code = hdx_tape_open(b, "idoms.tmp", semi_count * sizeof(WIDE(hdx_semi)), retained_bytes(p), &p->idoms,
                              err)) == HDX_OK)
        code = WIDE(hdx_dominators)(&p->search.tape, p->reached, &semis.tape, semi_count, &b->mem, &b->tick,
                                    &p->idoms.tape, err);
    hdx_mem_want(&b->mem, 0);
    hdx_tape_file_remove(&semis);
    if (code != HDX_CANCELLED) { /* else they are kept (passes.c) */
        hdx_tape_file_remove(&p->predecessors);
        hdx_tape_file_remove(&p->members);
    }
    return code;
}

/* ---- retained sizes ---- */
static hdx_code fill_retained(void *context, uint64_t first, uint32_t n, uint64_t *values, hdx_error *err)
{
    const hdx_pass *p = context;
    const NID      *numbers = p->numbers;
    const unsigned  shift = (unsigned)__builtin_ctzll(p->size_unit);
    (void)err;
    for (uint32_t i = 0; i < n; i++) {
        const NID number = numbers[first + i];
        values[i] = number == 0
                        ? 0
                        : (p->narrow ? ((const uint32_t *)p->sums)[number] : ((const uint64_t *)p->sums)[number])
                              << shift;
    }
    return HDX_OK;
}

static hdx_code do_sums(void *context, hdx_error *err)
{
    hdx_pass *p = context;
    if (hdx_pass_has(p, HDX_TASK_RETAINED))
        return HDX_OK;
    hdx_code code = p->sums != NULL ? HDX_OK : WIDE(hdx_pass_sums)(p, err);
    return code != HDX_OK
               ? code
               : WIDE(hdx_retained)(&p->search.tape, p->reached, &p->idoms.tape, p->idoms.end / sizeof(WIDE(hdx_semi)),
                                    &p->b->mem, p->sums, p->narrow, err);
}

static hdx_code do_write_retained(void *context, hdx_error *err)
{
    hdx_pass      *p = context;
    hdx_build     *b = p->b;
    hdx_index_file file;
    if (hdx_pass_has(p, HDX_TASK_RETAINED))
        return HDX_OK;
    const hdx_code code = hdx_ints_write(&b->place, HDX_KIND_RETAINED, b->objects, fill_retained, p, &file, err);
    if (code == HDX_OK) {
        hdx_manifest_file_written(b, HDX_KIND_RETAINED, &file);
        hdx_pass_did(p, HDX_TASK_RETAINED);
    }
    hdx_pass_free_sums(p);
    return code;
}

/* ---- what does not follow from the only referrer ---- */
typedef struct by_number {
    reach *r;
    NID   *node; /* in preorder */
} by_number;

static hdx_code take_dominators(void *context, uint64_t first, uint64_t n, const NID *idom, hdx_error *err)
{
    const by_number *k = context;
    (void)err;
    for (uint64_t i = 0; i < n; i++) {
        const NID v = k->node[first + i + 1];
        if (hdx_bits_test(k->r->special.words, v))
            k->r->dominator[HDX_RANK(&k->r->special, v)] = idom[i] == 0 ? 1 : (NID)(k->node[idom[i]] + 2);
    }
    return HDX_OK;
}

/* Dominators of special objects, from the search and the dominators in preorder. */
static hdx_code find_dominators(reach *r, hdx_error *err)
{
    hdx_pass  *p = r->p;
    hdx_build *b = p->b;
    by_number  k = { r, NULL };
    hdx_code   code = WIDE(hdx_nodes)(&p->search.tape, p->reached, &b->mem, &k.node, err);
    r->special.words = p->special;
    if (code == HDX_OK && (code = WIDE(hdx_rank)(&r->special, b->objects, &b->mem, err)) == HDX_OK &&
        (r->dominator = hdx_mem_array(&b->mem, r->special.count, sizeof(NID))) == NULL)
        code = no_memory(err);
    if (code == HDX_OK)
        code = WIDE(hdx_each_idom)(&p->search.tape, p->reached, &p->idoms.tape, p->idoms.end / sizeof(WIDE(hdx_semi)),
                                   false, &b->mem, take_dominators, &k, err);
    free_ids(r, &k.node, p->reached + 1);
    return code;
}

static hdx_code fill_dominator(void *context, uint64_t first, uint32_t n, uint64_t *values, hdx_error *err)
{
    const reach *r = context;
    (void)err;
    for (uint32_t i = 0; i < n; i++)
        values[i] = r->dominator[first + i];
    return HDX_OK;
}

/* Key of a special object's dominator in `dominated`: 0 the virtual root, else its rank + 1. */
static uint64_t key_of(const reach *r, NID dominator)
{
    return dominator == 1 ? 0 : 1 + HDX_RANK(&r->dominators, (uint64_t)dominator - 2);
}

typedef struct grouped {
    uint64_t keys;
    NID     *at, *to;
} grouped;

static hdx_code fill_group_degrees(void *context, uint64_t first, uint32_t n, uint64_t *degrees, hdx_error *err)
{
    const grouped *g = context;
    (void)err;
    for (uint32_t i = 0; i < n; i++)
        degrees[i] = (uint64_t)g->at[first + i + 1] - g->at[first + i];
    return HDX_OK;
}

static hdx_code fill_group(void *context, uint64_t first, uint32_t n, uint64_t *values, uint64_t *keys, hdx_error *err)
{
    const grouped *g = context;
    uint64_t       low = 0, high = g->keys; /* the last key whose list begins at or before `first` */
    (void)err;
    while (low < high) {
        uint64_t mid = low + (high - low + 1) / 2;
        if (g->at[mid] <= first)
            low = mid;
        else
            high = mid - 1;
    }
    for (uint32_t i = 0; i < n; i++) {
        while (g->at[low + 1] <= first + i)
            low++;
        values[i] = g->to[first + i];
        keys[i] = low;
    }
    return HDX_OK;
}

/* Special objects by their dominator: a counting sort. */
static hdx_code write_dominated(reach *r, hdx_error *err)
{
    hdx_build     *b = r->p->b;
    grouped        g = { .keys = r->dominators.count + 1 };
    uint64_t       live = 0, count = r->special.count, id = 0;
    hdx_index_file file;
    hdx_code       code;
    for (uint64_t i = 0; i < count; i++)
        live += r->dominator[i] != 0;
    g.at = hdx_mem_array(&b->mem, g.keys + 1, sizeof(NID));
    g.to = hdx_mem_array(&b->mem, live, sizeof(NID));
    NID *fill = hdx_mem_array(&b->mem, g.keys, sizeof(NID));
    if (g.at == NULL || g.to == NULL || fill == NULL) {
        code = no_memory(err);
        goto out;
    }
    for (uint64_t i = 0; i < count; i++)
        if (r->dominator[i] != 0)
            g.at[key_of(r, r->dominator[i]) + 1]++;
    for (uint64_t i = 0; i < g.keys; i++) {
        g.at[i + 1] = (NID)(g.at[i + 1] + g.at[i]);
        fill[i] = g.at[i];
    }
    for (uint64_t i = 0; i < count; i++) {
        id = i == 0 ? member_of(&r->special, b->objects, 0) : next_member(&r->special, id);
        if (r->dominator[i] != 0)
            g.to[fill[key_of(r, r->dominator[i])]++] = (NID)id;
    }
    if ((code = hdx_one_to_n_write(&b->place, HDX_KIND_DOMINATED, g.keys, live, fill_group_degrees, fill_group, &g,
                                   &file, err)) == HDX_OK)
        hdx_manifest_file_written(b, HDX_KIND_DOMINATED, &file);
out:
    free_ids(r, &fill, g.keys);
    free_ids(r, &g.to, live);
    free_ids(r, &g.at, g.keys + 1);
    return code;
}

static hdx_code write_dominators(reach *r, hdx_error *err)
{
    hdx_build     *b = r->p->b;
    hdx_index_file file;
    hdx_code code = hdx_ints_write(&b->place, HDX_KIND_DOMINATOR, r->special.count, fill_dominator, r, &file, err);
    if (code != HDX_OK)
        return code;
    hdx_manifest_file_written(b, HDX_KIND_DOMINATOR, &file);
    if ((r->dominators.words = hdx_mem_array(&b->mem, words(r), 8)) == NULL)
        return no_memory(err);
    for (uint64_t i = 0; i < r->special.count; i++)
        if (r->dominator[i] > 1)
            hdx_bits_put(r->dominators.words, (uint64_t)r->dominator[i] - 2);
    if ((code = WIDE(hdx_rank)(&r->dominators, b->objects, &b->mem, err)) != HDX_OK ||
        (code = hdx_ranks_write(&b->place, HDX_KIND_DOMINATORS, b->objects, r->dominators.words, &file, err)) != HDX_OK)
        return code;
    hdx_manifest_file_written(b, HDX_KIND_DOMINATORS, &file);
    b->manifest.dominators = r->dominators.count;
    return write_dominated(r, err);
}

static hdx_code do_catalog(void *context, hdx_error *err)
{
    return hdx_build_catalog_begin(((hdx_pass *)context)->b, err);
}

static hdx_code do_find_dominators(void *context, hdx_error *err)
{
    return hdx_pass_has(((reach *)context)->p, HDX_TASK_TREE) ? HDX_OK : find_dominators(context, err);
}

static hdx_code do_write_dominators(void *context, hdx_error *err)
{
    reach *r = context;
    if (hdx_pass_has(r->p, HDX_TASK_TREE))
        return HDX_OK;
    const hdx_code code = write_dominators(r, err);
    if (code == HDX_OK)
        hdx_pass_did(r->p, HDX_TASK_TREE);
    return code;
}

hdx_code WIDE(hdx_pass_retained)(hdx_pass *p, hdx_error *err)
{
    enum {
        CATALOG,
        SUMS,
        WRITE_RETAINED,
        DOMINATORS,
        WRITE_DOMINATORS,
        TASKS
    }; /* one by one: sums are gone before dominators take their room */
    reach          r = { .p = p };
    const hdx_task all[TASKS] = {
        [CATALOG] = { do_catalog, p, 0 },
        [SUMS] = { do_sums, p, 0 },
        [WRITE_RETAINED] = { do_write_retained, p, 1u << SUMS },
        [DOMINATORS] = { do_find_dominators, &r, 0 },
        [WRITE_DOMINATORS] = { do_write_dominators, &r, 1u << DOMINATORS },
    };
    hdx_code code = hdx_run_tasks(hdx_build_room(p->b) > retained_bytes(p) ? p->b->threads : 1, all, TASKS, err);
    free_ids(&r, &r.special.before, words(&r));
    free_ids(&r, &r.dominator, r.special.count);
    free_ranked(&r, &r.dominators);
    return code;
}
