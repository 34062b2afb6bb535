/* test_verify.c - a sound index passes; one with a changed byte does not, and no question to it does harm. */
#include "graph/little_index.h"

#include <dirent.h>

static uint64_t seed_state;

static uint64_t random_below(uint64_t below)
{
    seed_state = seed_state * 6364136223846793005u + 1442695040888963407u;
    return (seed_state >> 33) % below;
}

/* Nodes that refer to each other at random, some arrays, some roots. */
static little *random_heap(uint64_t seed, void (*lie)(little_writer *w, hdx_kind next, uint64_t *values, uint64_t n))
{
    little  *l = little_new();
    uint64_t node = little_class(l, "app.Node", l->object, "left:L right:L count:I"), next = l->m->next_id;
    seed_state = seed;
    unsigned n = 8 + (unsigned)random_below(60);
    l->lie = lie;
    for (unsigned i = 0; i < n; i++) { /* ids are counted up by 32: those to come are known */
        uint64_t values[3] = { next + 32 * random_below(n), random_below(3) == 0 ? next + 32 * random_below(n) : 0, i };
        uint64_t few[5];
        for (unsigned k = 0; k < 5; k++)
            few[k] = random_below(2) == 0 ? 0 : next + 32 * random_below(n + 1);
        if (random_below(6) == 0)
            (void)little_array(l, l->objects, few, (uint32_t)random_below(6));
        else
            (void)little_instance(l, node, values);
    }
    little_root(l, HDX_ROOT_SYSTEM_CLASS, l->object, 0);
    for (uint64_t i = 0; i < 1 + n / 16; i++)
        little_root(l, HDX_ROOT_NATIVE_STATIC, next + 32 * ((i * 16 + random_below(16)) % n), 0);
    little_open(l);
    return l;
}

Test(verify, passes_what_is_sound)
{
    for (uint64_t seed = 1; seed <= 25; seed++) {
        little   *l = random_heap(seed, NULL);
        hdx_error err;
        hdx_code  code = hdx_graph_verify(l->g, true, &err);
        cr_assert(eq(int, code, HDX_OK), "seed %llu: %s: %s", (unsigned long long)seed, err.where, err.message);
        cr_assert(eq(int, hdx_graph_verify(l->g, false, &err), HDX_OK));
        little_close(l);
    }
}

/* Asks for everything about every object; nothing is expected but an end. */
static void ask_everything(hdx_graph *g)
{
    hdx_refs   refs;
    hdx_id     to;
    hdx_values v = { 0 };
    hdx_error  err;
    uint64_t   n = 0;
    for (hdx_id id = 0; id < hdx_graph_objects(g); id++) {
        char *text = NULL;
        n += hdx_graph_shallow(g, id) + hdx_graph_retained(g, id) + hdx_graph_dominator(g, id) +
             hdx_graph_nearest(g, id);
        for (hdx_graph_outbound(g, id, HDX_LIVE, &refs); hdx_refs_next(&refs, &to);)
            n += to;
        for (hdx_graph_inbound(g, id, HDX_GARBAGE, &refs); hdx_refs_next(&refs, &to);)
            n += to;
        for (hdx_graph_dominated(g, id, &refs); hdx_refs_next(&refs, &to);)
            n += to;
        (void)hdx_graph_fields(g, id, &v, &err);
        if (hdx_graph_label(g, id, &text, &err) == HDX_OK)
            hdx_text_free(text);
    }
    hdx_values_free(&v);
    cr_expect(n != 1);
}

static void flip(const char *path, long at, uint8_t mask)
{
    FILE *f = fopen(path, "r+b");
    cr_assert(f != NULL);
    (void)fseek(f, at, SEEK_SET);
    int c = fgetc(f);
    (void)fseek(f, at, SEEK_SET);
    (void)fputc(c ^ mask, f);
    (void)fclose(f);
}

/*
 * Padding between sections and after them is nobody's, so a byte there may change unseen: but then nothing may look
 * different.
 */
Test(verify, finds_a_changed_byte_in_every_file)
{
    little   *l = random_heap(7, NULL);
    unsigned  found = 0, tried = 0;
    hdx_error err;
    for (unsigned k = 0; k < HDX_KINDS - HDX_CUT_KINDS; k++) {
        char path[256];
        if (k == HDX_KIND_HEAP || k == HDX_KIND_SEEK)
            continue;
        (void)snprintf(path, sizeof path, "%s/%s.hdx", l->index, hdx_kind_name((hdx_kind)k));
        FILE *f = fopen(path, "rb");
        cr_assert(f != NULL, "%s", path);
        (void)fseek(f, 0, SEEK_END);
        long size = ftell(f);
        (void)fclose(f);
        for (long at = 0; at < size; at += 1 + size / 9) {
            hdx_graph *g = NULL;
            flip(path, at, 0x10);
            tried++;
            cr_assert(eq(int, hdx_graph_open(l->index, l->dump, &g, &err), HDX_OK));
            hdx_code code = hdx_graph_verify(g, false, &err);
            cr_assert(code == HDX_OK || code == HDX_DAMAGED, "%s at %ld: %d", path, at, (int)code);
            found += code == HDX_DAMAGED;
            ask_everything(g);
            hdx_graph_close(g);
            flip(path, at, 0x10);
        }
        (void)remove(path);
        hdx_graph *g = NULL;
        cr_assert(eq(int, hdx_graph_open(l->index, l->dump, &g, &err), HDX_OK));
        cr_expect(eq(int, hdx_graph_verify(g, false, &err), HDX_DAMAGED), "without %s", path);
        ask_everything(g);
        hdx_graph_close(g);
        little_close(l); /* the next file needs a whole index again */
        l = random_heap(7, NULL);
    }
    cr_expect(found * 2 > tried, "%u of %u", found, tried);
    little_close(l);
}

/* An address that cannot be read is not the address in the record, and that is no change of the dump. */
Test(verify, blames_the_index_and_not_the_dump_for_a_damaged_address)
{
    little    *l = random_heap(7, NULL);
    hdx_values v = { 0 };
    hdx_error  err;
    unsigned   damaged = 0;
    char       path[256];
    (void)snprintf(path, sizeof path, "%s/%s.hdx", l->index, hdx_kind_name(HDX_KIND_ADDRESS));
    for (long at = 64; at < 128; at += 4) {
        hdx_graph *g = NULL;
        flip(path, at, 0xff);
        cr_assert(eq(int, hdx_graph_open(l->index, l->dump, &g, &err), HDX_OK));
        for (hdx_id id = 1; id < hdx_graph_objects(g); id++) {
            hdx_code code = hdx_graph_fields(g, id, &v, &err);
            cr_expect(code == HDX_OK || code == HDX_DAMAGED, "byte %ld: %s: %s", at, err.where, err.message);
            damaged += code == HDX_DAMAGED;
        }
        hdx_graph_close(g);
        flip(path, at, 0xff);
    }
    cr_expect(damaged > 0);
    hdx_values_free(&v);
    little_close(l);
}

/* ---- indexes whose pages are sound and whose content is not ---- */

static void lie_about_retained(little_writer *w, hdx_kind next, uint64_t *values, uint64_t n)
{
    (void)n;
    if (next == HDX_KIND_RETAINED)
        values[little_id(w->l, w->l->objects)] += 8;
}

static void lie_about_garbage(little_writer *w, hdx_kind next, uint64_t *values, uint64_t n)
{
    (void)n;
    if (next == HDX_KIND_RETAINED)
        values[little_id(w->l, w->l->ints)] += 8; /* a class without instances: nothing refers to it */
}

static void lie_about_inbound(little_writer *w, hdx_kind next, uint64_t *values, uint64_t n)
{
    unsigned from = little_id(w->l, w->l->class), to = little_id(w->l, w->l->object); /* <super> */
    (void)values, (void)n;
    if (next == HDX_KIND_INBOUND || next == HDX_KIND_INSTANCES)
        w->edge[from][to] = next != HDX_KIND_INBOUND;
}

static void lie_about_instances(little_writer *w, hdx_kind next, uint64_t *values, uint64_t n)
{
    unsigned ints = little_id(w->l, w->l->ints);
    (void)values, (void)n;
    if (next == HDX_KIND_INSTANCES || next == HDX_KIND_DOMINATOR)
        w->class_of[ints] = little_id(w->l, next == HDX_KIND_INSTANCES ? w->l->bytes : w->l->class);
}

static void lie_about_sizes(little_writer *w, hdx_kind next, uint64_t *values, uint64_t n)
{
    (void)values, (void)n;
    for (unsigned i = 0; next == HDX_KIND_OUTBOUND && i < w->n; i++)
        w->shallow[i] += 8;
}

/* The last special object that has one above it hangs from the virtual root instead. */
static void lie_about_a_dominator(little_writer *w, hdx_kind next, uint64_t *values, uint64_t n)
{
    (void)w;
    while (next == HDX_KIND_DOMINATOR && n-- > 0)
        if (values[n] > 1) {
            values[n] = 1;
            return;
        }
}

/* ... or is said to be held by the class int[], which refers to java.lang.Object and the boot loader alone. */
static void lie_about_a_parent(little_writer *w, hdx_kind next, uint64_t *values, uint64_t n)
{
    while (next == HDX_KIND_NEAREST && n-- > 0)
        if (values[n] > 1) {
            values[n] = little_id(w->l, w->l->object) + 2;
            return;
        }
}

static void expect_lie(void (*lie)(little_writer *w, hdx_kind next, uint64_t *values, uint64_t n), const char *where)
{
    little   *l = random_heap(11, lie);
    hdx_error err = { .code = HDX_OK };
    cr_expect(eq(int, hdx_graph_verify(l->g, false, &err), HDX_OK), "%s: %s: %s", where, err.where, err.message);
    cr_expect(eq(int, hdx_graph_verify(l->g, true, &err), HDX_DAMAGED), "%s", where);
    cr_expect(eq(str, err.where, (char *)where), "%s", err.message);
    little_close(l);
}

Test(verify, finds_what_is_not_so)
{
    expect_lie(lie_about_retained, "retained");
    expect_lie(lie_about_garbage, "retained");
    expect_lie(lie_about_inbound, "inbound");
    expect_lie(lie_about_instances, "instances");
    expect_lie(lie_about_sizes, "catalog");
    expect_lie(lie_about_a_dominator, "dominated");
    expect_lie(lie_about_a_parent, "nearest");
}
