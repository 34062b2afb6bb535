/*
 * dominators_wide.c - immediate dominators by Semi-NCA, and the sums over the dominator tree.
 *
 * In:  the tape of a depth-first search; the tapes of predecessors (predecessors_wide.c), all read from their ends.
 * Out: the tape of immediate dominators that are not the parent in the search, in preorder numbers; retained sizes in
 *      place.
 * Cost: two NIDs per reached node (label and ancestor, side by side: they are read together) for the first half, one
 *       (the result) for the second; everything else is read and written in order. Labels and ancestors come into
 *       memory as the tapes of predecessors go.
 *
 * Semi-NCA (Georgiadis 2005; Georgiadis, Tarjan, Werneck 2006): predecessors are pulled in reverse
 * preorder, and labels hold the semidominator itself instead of a vertex. With w going down, every number above w is
 * linked to its parent in the search tree, and
 *
 *     semi(w) = the least of: u            for a predecessor u < w: an ancestor of w, the search being a depth-first
 *                                          one
 *                             eval(u)      for a predecessor u > w: the least semi on the linked path above u, u
 *                                          included
 *     idom(w) = the nearest ancestor of w in the dominator tree that is not above semi(w), found going forwards from
 *     parent(w)
 *
 * 1 to 10 % of the nodes have a semidominator that is not their parent, and so a dominator that is not: only those are
 * written down.
 */
#include "algo/width.h"

#include <assert.h>

#define AHEAD     16u
#define VISITS    8192u  /* read from the tape at once */
#define PULLED    32768u /* predecessors read from the tape at once */
#define PATH_NEAR 64u

typedef WIDE(hdx_visit) visit;
typedef WIDE(hdx_semi)  semi;
typedef struct link {
    NID ancestor; /* in the linked forest, paths compressed */
    NID label;    /* the least semidominator on the path from here to below ancestor */
} link;
typedef struct backwards { /* a tape of NIDs, from its end */
    const hdx_tape *tape;
    uint64_t        left; /* on the tape, before the piece */
    NID            *piece;
    uint32_t        at;   /* next: piece[at - 1] */
    NID             next; /* the number whose list is next; 0: no more */
} backwards;
typedef struct pen {
    const hdx_tape *tape;
    semi           *at;
    uint32_t        count;
    uint64_t        written;
} pen;

static inline NID eval(link *links, NID v, NID linked);
static NID        compress(link *links, NID v, NID linked);
static inline NID settle(link *l, NID top, NID least);

static hdx_code refill(backwards *b, hdx_error *err)
{
    const uint32_t n = b->left < PULLED ? (uint32_t)b->left : PULLED;
    hdx_code       code = b->tape->read(b->tape->context, (b->left - n) * sizeof(NID), b->piece, n * sizeof(NID), err);
    b->left -= n;
    b->at = n;
    if (b->tape->cut != NULL)
        b->tape->cut(b->tape->context, b->left * sizeof(NID));
    return code;
}

/* The next n are not looked at. */
static void pass_over(backwards *b, uint64_t n)
{
    const uint32_t part = n < b->at ? (uint32_t)n : b->at;
    assert(part <= PULLED); /* A6 */
    b->at -= part;
    b->left -= n - part < b->left ? n - part : b->left;
}

/* The least semidominator candidate over the next n predecessors of w. */
static hdx_code pull(backwards *b, link *links, NID w, uint64_t n, NID *least, hdx_error *err)
{
    while (n > 0 && *least > 0) {
        hdx_code code;
        if (b->at == 0 && (code = refill(b, err)) != HDX_OK)
            return code;
        const uint32_t part = n < b->at ? (uint32_t)n : b->at;
        uint32_t       i = 0;
        for (; i<part && * least> 0; i++) {
            const NID u = b->piece[--b->at];
            if (b->at >= AHEAD)
                __builtin_prefetch(links + b->piece[b->at - AHEAD]); /* a count or a number of a node does no harm */
            const NID candidate = u < w ? u : eval(links, u, (NID)(w + 1));
            *least = candidate < *least ? candidate : *least;
        }
        n -= i;
    }
    pass_over(b, n); /* nothing is less than the virtual root */
    return HDX_OK;
}

static hdx_code pop(backwards *b, NID *value, hdx_error *err)
{
    hdx_code code = HDX_OK;
    if (b->at == 0 && b->left > 0)
        code = refill(b, err);
    *value = b->at == 0 ? 0 : b->piece[--b->at];
    return code;
}

/* The list of w, which is next. */
static hdx_code pull_list(backwards *b, link *links, NID w, NID *least, hdx_error *err)
{
    NID      count;
    hdx_code code = pop(b, &count, err);
    if (code == HDX_OK && (code = pull(b, links, w, count, least, err)) == HDX_OK)
        code = pop(b, &b->next, err);
    return code;
}

static hdx_code flush(pen *p, hdx_error *err)
{
    hdx_code code = p->count == 0 ? HDX_OK : p->tape->write(p->tape->context, p->at, p->count * sizeof(semi), err);
    p->written += p->count;
    p->count = 0;
    return code;
}

static hdx_code all_semidominators(const hdx_tape *search, uint64_t reached, backwards *preds, backwards *instances,
                                   hdx_span *span, visit *piece, pen *out, hdx_mem *mem, hdx_ticker *tick,
                                   hdx_error *err)
{
    link    *links = (link *)(void *)span->at;
    hdx_code code = pop(preds, &preds->next, err);
    if (code == HDX_OK)
        code = pop(instances, &instances->next, err);
    for (uint64_t end = reached; end > 0 && code == HDX_OK;) {
        const uint64_t first = end > VISITS ? end - VISITS : 0;
        if (!hdx_mem_span_reach(mem, span, (first + 1) * sizeof(link)))
            return hdx_no_memory(err, "semidominators", span->bytes);
        if ((code = search->read(search->context, first * sizeof(visit), piece, (end - first) * sizeof(visit), err)) !=
            HDX_OK)
            return code;
        for (uint64_t i = end - first; i-- > 0;) {
            const NID w = (NID)(first + i + 1), parent = piece[i].parent;
            NID       least = parent;
            if ((w == preds->next && (code = pull_list(preds, links, w, &least, err)) != HDX_OK) ||
                (w == instances->next && (code = pull_list(instances, links, w, &least, err)) != HDX_OK))
                return code;
            links[w] = (link){ parent, least };
            if (least != parent) {
                out->at[out->count++] = (semi){ w, least };
                if (out->count == VISITS && (code = flush(out, err)) != HDX_OK)
                    return code;
            }
        }
        if (hdx_tick(tick, end - first))
            return hdx_tick_stop(err);
        end = first;
    }
    return code == HDX_OK ? flush(out, err) : code;
}

hdx_code WIDE(hdx_semidominators)(const hdx_tape *search, uint64_t reached, const hdx_preds *predecessors,
                                  const hdx_preds *instances, hdx_mem *mem, hdx_ticker *tick, const hdx_tape *semis,
                                  uint64_t *count, hdx_error *err)
{
    hdx_span  links;
    bool      got = hdx_mem_span(mem, reached + 1, sizeof(link), &links);
    visit    *piece = hdx_mem_array(mem, VISITS, sizeof *piece);
    backwards preds = { .tape = predecessors->tape,
                        .left = predecessors->count,
                        .piece = hdx_mem_array(mem, PULLED, sizeof(NID)) };
    backwards of_class = { .tape = instances->tape,
                           .left = instances->count,
                           .piece = hdx_mem_array(mem, PULLED, sizeof(NID)) };
    pen       out = { semis, hdx_mem_array(mem, VISITS, sizeof(semi)), 0, 0 };
    hdx_code  code;
    if (!got || piece == NULL || preds.piece == NULL || of_class.piece == NULL || out.at == NULL)
        code = hdx_no_memory(err, "semidominators", (reached + 1) * sizeof(link));
    else
        code = all_semidominators(search, reached, &preds, &of_class, &links, piece, &out, mem, tick, err);
    *count = out.written;
    hdx_mem_put(mem, out.at, VISITS * sizeof(semi));
    hdx_mem_put(mem, of_class.piece, PULLED * sizeof(NID));
    hdx_mem_put(mem, preds.piece, PULLED * sizeof(NID));
    hdx_mem_put(mem, piece, VISITS * sizeof *piece);
    hdx_mem_span_put(mem, &links);
    return code;
}

static inline NID eval(link *links, NID v, NID linked)
{
    return links[v].ancestor < linked ? links[v].label : compress(links, v, linked);
}

/*
 * Path compression. Nearly all paths fit path[], whose addresses the processor knows ahead (1.5 times faster on a list
 * with random references backwards). A path may be as long as the heap's longest list, though: beyond path[] it needs
 * no memory either, as each ancestor is turned round on the way up to point at where we came from, and set to the top
 * on the way down.
 */
static NID compress(link *links, NID v, NID linked)
{
    NID      path[PATH_NEAR], came_from = NONE, x = v, up = links[v].ancestor;
    unsigned count = 0;
    for (; up >= linked && count < PATH_NEAR; up = links[x].ancestor) {
        path[count++] = x;
        x = up;
    }
    for (; up >= linked; up = links[x].ancestor) {
        links[x].ancestor = came_from;
        came_from = x;
        x = up;
    }
    const NID top = links[x].ancestor;
    NID       least = links[x].label;
    while (came_from != NONE) {
        x = came_from;
        came_from = links[x].ancestor;
        least = settle(&links[x], top, least);
    }
    while (count > 0)
        least = settle(&links[path[--count]], top, least);
    return least;
}

static inline NID settle(link *l, NID top, NID least)
{
    l->ancestor = top;
    return l->label = l->label < least ? l->label : least;
}

/* Forwards, semidominators become dominators: everything at smaller numbers is one already. */
static hdx_code nearest_common(const hdx_tape *search, uint64_t reached, const hdx_tape *semis, uint64_t left,
                               NID *idom, visit *piece, semi *kept, pen *out, hdx_ticker *tick, hdx_error *err)
{
    uint32_t at = 0; /* next: kept[at - 1] */
    hdx_code code = HDX_OK;
    for (uint64_t first = 0; first < reached && code == HDX_OK;) {
        const uint64_t n = reached - first < VISITS ? reached - first : VISITS;
        if ((code = search->read(search->context, first * sizeof(visit), piece, n * sizeof(visit), err)) != HDX_OK)
            return code;
        for (uint64_t i = 0; i < n; i++) {
            const NID w = (NID)(first + i + 1);
            NID       d = piece[i].parent;
            if (at == 0 && left > 0) {
                at = left < VISITS ? (uint32_t)left : VISITS;
                left -= at;
                if ((code = semis->read(semis->context, left * sizeof(semi), kept, at * sizeof(semi), err)) != HDX_OK)
                    return code;
            }
            if (at > 0 && kept[at - 1].number == w) {
                const NID value = kept[--at].value;
                while (d > value)
                    d = idom[d];
                out->at[out->count++] = (semi){ w, d };
                if (out->count == VISITS && (code = flush(out, err)) != HDX_OK)
                    return code;
            }
            idom[w] = d;
        }
        if (hdx_tick(tick, 0)) /* counted once, in the other direction */
            return hdx_tick_stop(err);
        first += n;
    }
    return flush(out, err);
}

hdx_code WIDE(hdx_dominators)(const hdx_tape *search, uint64_t reached, const hdx_tape *semis, uint64_t semi_count,
                              hdx_mem *mem, hdx_ticker *tick, const hdx_tape *idoms, hdx_error *err)
{
    NID     *idom = hdx_mem_raw(mem, reached + 1, sizeof *idom);
    visit   *piece = hdx_mem_array(mem, VISITS, sizeof *piece);
    semi    *kept = hdx_mem_array(mem, VISITS, sizeof *kept);
    pen      out = { idoms, hdx_mem_array(mem, VISITS, sizeof(semi)), 0, 0 };
    hdx_code code;
    if (idom == NULL || piece == NULL || kept == NULL || out.at == NULL)
        code = hdx_no_memory(err, "dominators", (reached + 1) * sizeof *idom);
    else
        code = nearest_common(search, reached, semis, semi_count, idom, piece, kept, &out, tick, err);
    hdx_mem_put(mem, out.at, VISITS * sizeof(semi));
    hdx_mem_put(mem, kept, VISITS * sizeof *kept);
    hdx_mem_put(mem, piece, VISITS * sizeof *piece);
    hdx_mem_put(mem, idom, (reached + 1) * sizeof *idom);
    return code;
}

/* ---- read back ---- */
typedef struct reader {
    const hdx_tape *search, *idoms;
    visit          *visits;
    NID            *idom;
    semi           *kept; /* numbers kept_first .. kept_first + kept_count - 1 of the tape idoms */
    uint64_t        kept_first, kept_count, all;
    bool            down;
} reader;

/* Number i of the tape idoms; those around it are read with it, as they are asked for next. */
static hdx_code look_up(reader *r, uint64_t i, semi *out, hdx_error *err)
{
    hdx_code code = HDX_OK;
    if (i - r->kept_first >= r->kept_count) {
        r->kept_first = !r->down ? i : i < VISITS ? 0 : i - (VISITS - 1);
        r->kept_count = r->all - r->kept_first < VISITS ? r->all - r->kept_first : VISITS;
        code =
            r->idoms->read(r->idoms->context, r->kept_first * sizeof(semi), r->kept, r->kept_count * sizeof(semi), err);
    }
    assert(i >= r->kept_first && i - r->kept_first < r->kept_count && r->kept_count <= VISITS); /* A6 */
    *out = r->kept[i - r->kept_first];
    return code;
}

/*
 * Dominators of first + 1 .. first + n; *next: of the tape idoms, the first one that was not asked for yet, or, going
 * down, the last one + 1.
 */
static hdx_code read_piece(reader *r, uint64_t first, uint64_t n, uint64_t *next, hdx_error *err)
{
    semi s;
    assert(n <= VISITS); /* A6 */
    hdx_code code = r->search->read(r->search->context, first * sizeof(visit), r->visits, n * sizeof(visit), err);
    for (uint64_t i = 0; i < n; i++)
        r->idom[i] = r->visits[i].parent;
    while (code == HDX_OK && (r->down ? *next > 0 : *next < r->all)) {
        if ((code = look_up(r, r->down ? *next - 1 : *next, &s, err)) != HDX_OK || s.number - first - 1 >= n)
            break;
        r->idom[s.number - first - 1] = s.value;
        *next = r->down ? *next - 1 : *next + 1;
    }
    return code;
}

hdx_code WIDE(hdx_each_idom)(const hdx_tape *search, uint64_t reached, const hdx_tape *idoms, uint64_t idom_count,
                             bool down, hdx_mem *mem, WIDE(hdx_take_idoms) *take, void *context, hdx_error *err)
{
    reader   r = { .search = search, .idoms = idoms, .all = idom_count, .down = down };
    uint64_t next = down ? idom_count : 0;
    hdx_code code = HDX_OK;
    r.visits = hdx_mem_array(mem, VISITS, sizeof *r.visits);
    r.idom = hdx_mem_array(mem, VISITS, sizeof *r.idom);
    r.kept = hdx_mem_array(mem, VISITS, sizeof *r.kept);
    if (r.visits == NULL || r.idom == NULL || r.kept == NULL)
        code = hdx_no_memory(err, "dominators", VISITS * sizeof *r.visits);
    for (uint64_t done = 0; done < reached && code == HDX_OK;) {
        const uint64_t n = reached - done < VISITS ? reached - done : VISITS, first = down ? reached - done - n : done;
        if ((code = read_piece(&r, first, n, &next, err)) == HDX_OK)
            code = take(context, first, n, r.idom, err);
        done += n;
    }
    hdx_mem_put(mem, r.kept, VISITS * sizeof *r.kept);
    hdx_mem_put(mem, r.idom, VISITS * sizeof *r.idom);
    hdx_mem_put(mem, r.visits, VISITS * sizeof *r.visits);
    return code;
}

static hdx_code add_slim(void *context, uint64_t first, uint64_t n, const NID *idom, hdx_error *err)
{
    uint32_t *retained = context;
    (void)err;
    while (n-- > 0)
        retained[idom[n]] += retained[first + n + 1];
    return HDX_OK;
}

static hdx_code add_full(void *context, uint64_t first, uint64_t n, const NID *idom, hdx_error *err)
{
    uint64_t *retained = context;
    (void)err;
    while (n-- > 0)
        retained[idom[n]] += retained[first + n + 1];
    return HDX_OK;
}

/* Exact because a dominator has the smaller number: every sum is whole before it is passed on (MAT 6.3). */
hdx_code WIDE(hdx_retained)(const hdx_tape *search, uint64_t reached, const hdx_tape *idoms, uint64_t idom_count,
                            hdx_mem *mem, void *retained, bool narrow, hdx_error *err)
{
    return WIDE(hdx_each_idom)(search, reached, idoms, idom_count, true, mem, narrow ? add_slim : add_full, retained,
                               err);
}
