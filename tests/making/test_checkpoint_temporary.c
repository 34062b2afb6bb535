/*
 * test_checkpoint_temporary.c - checkpoints whose temporary files (the search, dominators, referrers) have other
 * numbers, with right checksums: the build begins again.
 */
#include "making/resumed_build.h"

TestSuite(checkpoint, .init = make, .fini = drop, .timeout = 250);

/* ---- the search and dominators ---- */

static uint32_t *numbers_of(partial_build *p, const char *name)
{
    return (uint32_t *)(void *)partial_find(p, name)->at;
}

static uint64_t count_of(partial_build *p, const char *name) { return partial_find(p, name)->len / 8; }

/* Visits are pairs: who, and the number of its parent, or 0; each of them has the number of its place, from 1 on. */
static void spoil_visit(partial_build *p, uint64_t at, unsigned way)
{
    uint32_t      *v = numbers_of(p, "search.tmp");
    const uint64_t n = count_of(p, "search.tmp"), other = at == 0 ? 1 : at - 1;
    cr_assert_lt(at, n);
    if (way == 0)
        v[2 * at] = (uint32_t)bounds.objects;
    else if (way == 1)
        v[2 * at] = v[2 * other];
    else if (way == 2)
        v[2 * at + 1] = (uint32_t)at + 1;
    else if (v[2 * at + 1] == 0)
        v[2 * at + 1] = (uint32_t)at + (at == 0);
    else
        v[2 * at + 1] = 0;
}

Test(checkpoint, with_a_search_that_nobody_made_is_left)
{
    change_catalog(0, look, "as it is", true);
    for (unsigned k = 2; k < PARTIAL_STEPS; k++) {
        const uint64_t n = count_of(&left[k], "search.tmp"), places[] = { 0, 1, n / 2, n - 1 };
        for (size_t i = 0; i < sizeof places / sizeof *places; i++)
            for (unsigned way = 0; way < 4; way++) {
                partial_build p = partial_copy(&left[k]);
                char          what[64];
                spoil_visit(&p, places[i], way);
                (void)snprintf(what, sizeof what, "step %u, visit %llu, way %u", k, (unsigned long long)places[i], way);
                tell_again(&p, what);
            }
    }
}

Test(checkpoint, of_a_large_search_is_read_to_its_end)
{
    static const uint64_t places[] = { 8192, 20000 };
    width = 32;
    make_large();
    change_catalog(0, look, "as it is", true);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        for (unsigned way = 1; way < 3; way++) {
            partial_build p = partial_copy(&left[2]);
            spoil_visit(&p, places[i], way);
            tell_again(&p, "a visit");
        }
}

/* Dominators are pairs: a number, and the lesser one of its dominator. */
Test(checkpoint, with_dominators_that_are_none_is_left)
{
    change_catalog(0, look, "as it is", true);
    const uint64_t n = count_of(&left[3], "idoms.tmp"), places[] = { 0, 1, n / 2, n - 1 };
    cr_assert_gt(n, 4);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        for (unsigned way = 0; way < 5; way++) {
            partial_build  p = partial_copy(&left[3]);
            uint32_t      *v = numbers_of(&p, "idoms.tmp");
            const uint64_t at = places[i];
            if (way == 0)
                v[2 * at] = at == 0 ? 0 : v[2 * at - 2];
            else if (way == 1)
                v[2 * n - 2] = (uint32_t)partial_head(&p)->reached + 1;
            else if (way == 2)
                v[2 * at + 1] = v[2 * at];
            else if (way == 3)
                v[2 * at + 1] = v[2 * at] + 1;
            else
                partial_find(&p, "idoms.tmp")->len = partial_head(&p)->idoms_bytes = 8 * at + 4;
            tell_again(&p, "dominators");
        }
}

/* ---- who refers to whom: nodes from one to the next, for each how many, and these ---- */
typedef enum role { NODE, COUNT, FIRST, NEXT } role;
typedef struct token {
    role     role;
    uint64_t value, node, source; /* as written; as it is meant */
} token;

static token   *tokens;
static unsigned token_count;

static void take_apart(partial_build *p)
{
    const hdx_referrer_chunk *c = partial_chunks(p);
    const uint8_t            *at = partial_find(p, "referrers.tmp")->at + c->at, *end = at + c->bytes;
    uint64_t                  node = c->node, n = 0, i = 0, source = 0;
    role                      next = NODE;
    bool                      first = true;
    tokens = calloc(c->bytes + 1, sizeof *tokens);
    for (token_count = 0; at < end; token_count++) {
        token *t = &tokens[token_count];
        cr_assert(hdx_packed_number(&at, end, &t->value));
        t->role = next;
        if (next == NODE)
            node += t->value + !first, first = false;
        else if (next == COUNT)
            n = t->value, i = 0;
        else
            source = next == FIRST ? node + (uint64_t)hdx_unzigzag(t->value) : source + 1 + t->value, i++;
        t->node = node;
        t->source = source;
        next = next == NODE ? COUNT : i == n ? NODE : i == 0 ? FIRST : NEXT;
    }
}

static void put_together(partial_build *p)
{
    hdx_referrer_chunk *c = partial_chunks(p);
    uint8_t            *bytes = calloc(token_count + 1, 10), *at = bytes;
    for (unsigned i = 0; i < token_count; i++)
        at = hdx_pack(at, tokens[i].value);
    const size_t len = (size_t)(at - bytes);
    cr_assert(partial_head(p)->chunks == 1 && c->at == 0);
    (void)partial_put(p, "referrers.tmp", bytes, len);
    c->bytes = partial_head(p)->referrer_bytes = partial_head(p)->chunk_longest = len;
    free(bytes);
    free(tokens);
}

/* The last token of a role. */
static token *last_of(role r)
{
    unsigned i = token_count;
    while (i > 0 && tokens[i - 1].role != r)
        i--;
    cr_assert_gt(i, 0);
    return &tokens[i - 1];
}

Test(checkpoint, with_referrers_that_nobody_made_is_left)
{
    static const char *const ways[] = { "as it was",
                                        "a node behind the last",
                                        "a node that wraps around",
                                        "a first referrer behind the last",
                                        "a first referrer before all",
                                        "a referrer behind the last",
                                        "one more than there are",
                                        "one less than there are",
                                        "more than there are bytes",
                                        "a node twice",
                                        "no number at the end" };
    change_catalog(0, look, "as it is", true);
    for (unsigned way = 0; way < sizeof ways / sizeof *ways; way++) {
        partial_build p = partial_copy(&left[2]);
        take_apart(&p);
        token *node = last_of(NODE), *first = last_of(FIRST), *next = last_of(NEXT), *n = last_of(COUNT);
        switch (way) {
        case 1: node->value += bounds.objects - node->node; break;
        case 2: node->value = UINT64_MAX; break;
        case 3: first->value = hdx_zigzag((int64_t)(bounds.objects - first->node)); break;
        case 4: first->value = hdx_zigzag(-(int64_t)first->node - 1); break;
        case 5: next->value += bounds.objects - next->source; break;
        case 6: n->value++; break;
        case 7: n->value--; break;
        case 8: n->value = 1u << 20; break;
        case 9: node->value = UINT64_MAX - 1; break; /* + 1 is one less, and then the one before again */
        case 10: token_count--; break;
        default: break;
        }
        put_together(&p);
        partial_seal(&p, true);
        cr_expect(finish_from(&p, ways[way]) == (way == 0), "%s", ways[way]);
    }
    for (int more = -1; more <= 1; more += 2) {
        partial_build p = partial_copy(&left[2]);
        partial_head(&p)->referrer_entries += (uint64_t)more;
        tell_again(&p, "entries");
    }
}
