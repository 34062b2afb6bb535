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
 * Semi-NCA (Georgiadis 2005; Georgiadis, Tarjan, Werneck 2006): predecessors are pulled in reverse preorder, and labels
 * hold the semidominator itself instead of a vertex. With w going down, every number above w is linked to its parent in
 * the search tree, and
 *
 *     semi(w) = the least of
 *                   u         for a predecessor u < w: an ancestor of w, the search being a depth-first one
 *                   eval(u)   for a predecessor u > w: the least semi on the linked path above u, u included
 *     idom(w) = the nearest ancestor of w in the dominator tree that is not above semi(w), found going forwards from
 *               parent(w)
 *
 * 1 to 10 % of the nodes have a semidominator that is not their parent, and so a dominator that is not: only those are
 * written down.
 */
#include "algo/wide.h"

#include <assert.h>

#define AHEAD     16u    /* predecessors whose ancestors are prefetched, */
#define FAR_AHEAD 40u    /* and distance at which they are prefetched themselves */
#define VISITS    8192u  /* read from the tape at a time */
#define PULLED    32768u /* predecessors read from the tape at a time */
#define PATH_NEAR 64u

typedef WIDE(hdx_visit) visit;
typedef WIDE(hdx_semi)  semi;
typedef struct link {
    NID ancestor; /* in the linked forest, paths compressed */
    NID label;    /* the least semidominator on the path from here to the node below ancestor */
} link;
typedef struct backwards { /* reads a tape of NIDs from its end */
    const hdx_tape *tape;
    uint64_t        left; /* on the tape, before the piece */
    NID            *piece;
    uint32_t        at;   /* next: piece[at - 1] */
    NID             next; /* the number whose list is next; 0: no more */
} backwards;

static hdx_code read_visits(const hdx_taped *visits, uint64_t first, uint64_t n, visit *to, hdx_error *err)
{
    assert(n <= VISITS && first + n <= visits->count); /* A6 */
    return visits->tape->read(visits->tape->context, first * sizeof(visit), to, n * sizeof(visit), err);
}

/* ---- semidominators ---- */
typedef struct pulling {
    const hdx_taped     *visits;
    const hdx_resources *with;
    visit               *piece; /* of the visits */
    hdx_span             links; /* by number */
    backwards            of_referrers, of_classes;
    hdx_tape_writer      out;
} pulling;

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

/* Skips the next n. */
static void skip(backwards *b, uint64_t n)
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
            if (b->at >= FAR_AHEAD)
                __builtin_prefetch(links + b->piece[b->at - FAR_AHEAD]); /* harmless for a count or a number */
            if (part - i > AHEAD) { /* belongs to this list, and is linked if it is greater */
                const NID next = b->piece[b->at - AHEAD];
                if (next > w)
                    __builtin_prefetch(links + links[next].ancestor);
            }
            const NID candidate = u < w ? u : eval(links, u, (NID)(w + 1));
            *least = candidate < *least ? candidate : *least;
        }
        n -= i;
    }
    skip(b, n); /* no number is less than the virtual root */
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

/* Reads the list of w, which is next. */
static hdx_code pull_list(backwards *b, link *links, NID w, NID *least, hdx_error *err)
{
    NID      count;
    hdx_code code = pop(b, &count, err);
    if (code == HDX_OK && (code = pull(b, links, w, count, least, err)) == HDX_OK)
        code = pop(b, &b->next, err);
    return code;
}

static hdx_code all_semidominators(pulling *p, hdx_error *err)
{
    link      *links = (link *)(void *)p->links.at;
    backwards *of_referrers = &p->of_referrers, *of_classes = &p->of_classes;
    visit     *piece = p->piece;
    hdx_code   code = pop(of_referrers, &of_referrers->next, err);
    if (code == HDX_OK)
        code = pop(of_classes, &of_classes->next, err);
    for (uint64_t end = p->visits->count; end > 0 && code == HDX_OK;) {
        const uint64_t first = end > VISITS ? end - VISITS : 0;
        if (!hdx_mem_span_reach(p->with->mem, &p->links, (first + 1) * sizeof(link)))
            return hdx_no_memory(err, "semidominators", p->links.bytes);
        if ((code = read_visits(p->visits, first, end - first, piece, err)) != HDX_OK)
            return code;
        for (uint64_t i = end - first; i-- > 0;) {
            const NID w = (NID)(first + i + 1), parent = piece[i].parent;
            NID       least = parent;
            if ((w == of_referrers->next && (code = pull_list(of_referrers, links, w, &least, err)) != HDX_OK) ||
                (w == of_classes->next && (code = pull_list(of_classes, links, w, &least, err)) != HDX_OK))
                return code;
            links[w] = (link){ parent, least };
            if (least != parent) {
                const semi found = { w, least };
                if ((code = hdx_tape_writer_put(&p->out, &found, sizeof found, err)) != HDX_OK)
                    return code;
            }
        }
        if (hdx_tick(p->with->tick, end - first))
            return hdx_tick_stop(err);
        end = first;
    }
    return code == HDX_OK ? hdx_tape_writer_flush(&p->out, err) : code;
}

static backwards backwards_of(const hdx_taped *numbers, hdx_mem *mem)
{
    return (
        backwards){ .tape = numbers->tape, .left = numbers->count, .piece = hdx_mem_array(mem, PULLED, sizeof(NID)) };
}

hdx_code WIDE(hdx_semidominators)(const hdx_taped *visits, const hdx_preds *predecessors, const hdx_resources *with,
                                  hdx_taped *semis, hdx_error *err)
{
    hdx_mem *mem = with->mem;
    pulling  p = { .visits = visits,
                   .with = with,
                   .piece = hdx_mem_array(mem, VISITS, sizeof(visit)),
                   .of_referrers = backwards_of(&predecessors->of_referrers, mem),
                   .of_classes = backwards_of(&predecessors->of_classes, mem) };
    bool     got = hdx_mem_span(mem, visits->count + 1, sizeof(link), &p.links);
    hdx_code code;
    got &= hdx_tape_writer_open(&p.out, semis->tape, VISITS * sizeof(semi), mem);
    if (!got || p.piece == NULL || p.of_referrers.piece == NULL || p.of_classes.piece == NULL)
        code = hdx_no_memory(err, "semidominators", (visits->count + 1) * sizeof(link));
    else
        code = all_semidominators(&p, err);
    semis->count = p.out.written / sizeof(semi);
    hdx_tape_writer_close(&p.out, mem);
    hdx_mem_span_put(mem, &p.links);
    hdx_mem_put(mem, p.of_classes.piece, PULLED * sizeof(NID));
    hdx_mem_put(mem, p.of_referrers.piece, PULLED * sizeof(NID));
    hdx_mem_put(mem, p.piece, VISITS * sizeof(visit));
    return code;
}

static inline NID eval(link *links, NID v, NID linked)
{
    return links[v].ancestor < linked ? links[v].label : compress(links, v, linked);
}

/*
 * Path compression. Nearly all paths fit in path[], whose addresses the processor knows in advance (1.5 times faster on
 * a list with random backward references). A path may be as long as the heap's longest list: beyond path[] it needs no
 * memory either, because each ancestor on the way up is reversed to point to the previous node, and set to the top on
 * the way down.
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

/* ---- dominators ---- */
typedef struct settling {
    const hdx_taped *visits, *semis;
    hdx_ticker      *tick;
    NID             *idom;   /* by number */
    visit           *piece;  /* of the visits */
    semi            *cached; /* cached semidominators; next: cached[at - 1] */
    uint64_t         at;
    uint64_t         left; /* on the tape, before the cached ones */
    hdx_tape_writer  out;
} settling;

/* Reads semidominators from the end of their tape. */
static hdx_code refill_cache(settling *s, hdx_error *err)
{
    const hdx_tape *tape = s->semis->tape;
    s->at = s->left < VISITS ? s->left : VISITS;
    s->left -= s->at;
    return tape->read(tape->context, s->left * sizeof(semi), s->cached, s->at * sizeof(semi), err);
}

/* Forward, semidominators become dominators: those of smaller numbers are final already. */
static hdx_code nearest_common(settling *s, hdx_error *err)
{
    const uint64_t reached = s->visits->count;
    const visit   *piece = s->piece;
    NID           *idom = s->idom;
    hdx_code       code = HDX_OK;
    for (uint64_t first = 0; first < reached; first += VISITS) {
        const uint64_t n = reached - first < VISITS ? reached - first : VISITS;
        if ((code = read_visits(s->visits, first, n, s->piece, err)) != HDX_OK)
            return code;
        for (uint64_t i = 0; i < n; i++) {
            const NID w = (NID)(first + i + 1);
            NID       d = piece[i].parent;
            if (s->at == 0 && s->left > 0 && (code = refill_cache(s, err)) != HDX_OK)
                return code;
            if (s->at > 0 && s->cached[s->at - 1].number == w) {
                const NID value = s->cached[--s->at].value;
                while (d > value)
                    d = idom[d];
                const semi found = { w, d };
                if ((code = hdx_tape_writer_put(&s->out, &found, sizeof found, err)) != HDX_OK)
                    return code;
            }
            idom[w] = d;
        }
        if (hdx_tick(s->tick, 0)) /* ticks were counted in the other direction */
            return hdx_tick_stop(err);
    }
    return hdx_tape_writer_flush(&s->out, err);
}

hdx_code WIDE(hdx_dominators)(const hdx_taped *visits, const hdx_taped *semis, const hdx_resources *with,
                              const hdx_tape *exceptions, hdx_error *err)
{
    hdx_mem       *mem = with->mem;
    const uint64_t entries = visits->count + 1;
    settling       s = { .visits = visits,
                         .semis = semis,
                         .tick = with->tick,
                         .idom = hdx_mem_raw(mem, entries, sizeof(NID)),
                         .piece = hdx_mem_array(mem, VISITS, sizeof(visit)),
                         .cached = hdx_mem_array(mem, VISITS, sizeof(semi)),
                         .left = semis->count };
    const bool     got = hdx_tape_writer_open(&s.out, exceptions, VISITS * sizeof(semi), mem);
    const hdx_code code = !got || s.idom == NULL || s.piece == NULL || s.cached == NULL
                              ? hdx_no_memory(err, "dominators", entries * sizeof(NID))
                              : nearest_common(&s, err);
    hdx_tape_writer_close(&s.out, mem);
    hdx_mem_put(mem, s.cached, VISITS * sizeof(semi));
    hdx_mem_put(mem, s.piece, VISITS * sizeof(visit));
    hdx_mem_put(mem, s.idom, entries * sizeof(NID));
    return code;
}

/* ---- reading dominators ---- */
typedef struct reader {
    const hdx_idoms *idoms;
    visit           *visits;
    NID             *idom;
    semi            *cached; /* exceptions cached_first .. cached_first + cached_count - 1 */
    uint64_t         cached_first, cached_count;
    bool             down;
} reader;

/* Returns exception i; its neighbours are read with it, because they are needed next. */
static hdx_code look_up(reader *r, uint64_t i, semi *out, hdx_error *err)
{
    const hdx_taped *exceptions = &r->idoms->exceptions;
    hdx_code         code = HDX_OK;
    if (i - r->cached_first >= r->cached_count) {
        r->cached_first = !r->down ? i : i < VISITS ? 0 : i - (VISITS - 1);
        r->cached_count = exceptions->count - r->cached_first;
        r->cached_count = r->cached_count < VISITS ? r->cached_count : VISITS;
        code = exceptions->tape->read(exceptions->tape->context, r->cached_first * sizeof(semi), r->cached,
                                      r->cached_count * sizeof(semi), err);
    }
    assert(i >= r->cached_first && i - r->cached_first < r->cached_count && r->cached_count <= VISITS); /* A6 */
    *out = r->cached[i - r->cached_first];
    return code;
}

/*
 * Reads the dominators of first + 1 .. first + n. *next: the first exception that was not used yet or, going down, the
 * last one + 1.
 */
static hdx_code read_piece(reader *r, uint64_t first, uint64_t n, uint64_t *next, hdx_error *err)
{
    semi     s;
    hdx_code code = read_visits(&r->idoms->visits, first, n, r->visits, err);
    for (uint64_t i = 0; i < n; i++)
        r->idom[i] = r->visits[i].parent;
    while (code == HDX_OK && (r->down ? *next > 0 : *next < r->idoms->exceptions.count)) {
        if ((code = look_up(r, r->down ? *next - 1 : *next, &s, err)) != HDX_OK || s.number - first - 1 >= n)
            break;
        r->idom[s.number - first - 1] = s.value;
        *next = r->down ? *next - 1 : *next + 1;
    }
    return code;
}

hdx_code WIDE(hdx_each_idom)(const hdx_idoms *idoms, bool down, hdx_mem *mem, WIDE(hdx_take_idoms) *take, void *context,
                             hdx_error *err)
{
    const uint64_t reached = idoms->visits.count;
    reader         r = { .idoms = idoms, .down = down };
    uint64_t       next = down ? idoms->exceptions.count : 0;
    hdx_code       code = HDX_OK;
    r.visits = hdx_mem_array(mem, VISITS, sizeof *r.visits);
    r.idom = hdx_mem_array(mem, VISITS, sizeof *r.idom);
    r.cached = hdx_mem_array(mem, VISITS, sizeof *r.cached);
    if (r.visits == NULL || r.idom == NULL || r.cached == NULL)
        code = hdx_no_memory(err, "dominators", VISITS * sizeof *r.visits);
    for (uint64_t done = 0; done < reached && code == HDX_OK;) {
        const uint64_t n = reached - done < VISITS ? reached - done : VISITS, first = down ? reached - done - n : done;
        if ((code = read_piece(&r, first, n, &next, err)) == HDX_OK)
            code = take(context, first, n, r.idom, err);
        done += n;
    }
    hdx_mem_put(mem, r.cached, VISITS * sizeof *r.cached);
    hdx_mem_put(mem, r.idom, VISITS * sizeof *r.idom);
    hdx_mem_put(mem, r.visits, VISITS * sizeof *r.visits);
    return code;
}

static hdx_code add_narrow(void *context, uint64_t first, uint64_t n, const NID *idom, hdx_error *err)
{
    uint32_t *retained = context;
    (void)err;
    while (n-- > 0)
        retained[idom[n]] += retained[first + n + 1];
    return HDX_OK;
}

static hdx_code add_wide(void *context, uint64_t first, uint64_t n, const NID *idom, hdx_error *err)
{
    uint64_t *retained = context;
    (void)err;
    while (n-- > 0)
        retained[idom[n]] += retained[first + n + 1];
    return HDX_OK;
}

/* Exact because a dominator has the smaller number: every sum is complete before it is added to another (MAT 6.3). */
hdx_code WIDE(hdx_retained)(const hdx_idoms *idoms, hdx_mem *mem, const hdx_sums *sums, hdx_error *err)
{
    return WIDE(hdx_each_idom)(idoms, true, mem, sums->narrow ? add_narrow : add_wide, sums->at, err);
}
