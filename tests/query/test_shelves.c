/*
 * test_shelves.c - collections of every layout (shelves.h): what each is said to hold, entry by entry, and in how many
 * steps; sums of them; the same without the dump, and with one request for memory or one read of the dump refused.
 *
 * The answers stand in shelves.txt to be read; HDX_WRITE_CHECKSUMS=/tmp/new makes the test write them as they are now.
 */
#include "answers.h"
#include "shelves.h"

#include "query/common/contents.h"
#include <unistd.h>

#define must(h, call) cr_assert(eq(int, (call), HDX_OK), "%s", (h)->err.message)
#define NO_END        400u /* steps that none of them needs */

static hdx_layouts       layouts;
static hdx_bound_layouts bound;

static void open_layouts(heap *h)
{
    hdx_ask ask;
    must(h, hdx_ask_begin(&h->q, &ask, &h->err));
    must(h, hdx_layouts_begin(&layouts, NULL, &h->err));
    must(h, hdx_layouts_read(&layouts, "mine", shelves_layouts, strlen(shelves_layouts), &h->err));
    must(h, hdx_layouts_known(&layouts, &h->err));
    must(h, hdx_layouts_bind(&layouts, &ask, &bound, &h->err));
}

static void close_layouts(void)
{
    hdx_layouts_unbind(&bound);
    hdx_layouts_free(&layouts);
}

/* ---- one collection ---- */

static void put_value(const shelves *s, hdx_buffer *b, const hdx_value *v)
{
    const char *name = v->type == 2 ? shelves_name(s, v->as.address) : NULL;
    if (v->absent)
        hdx_buffer_text(b, "!");
    else if (name != NULL)
        hdx_buffer_text(b, name);
    else if (v->type == 2)
        hdx_buffer_text(b, v->as.address == 0 ? "null" : v->as.address == GONE ? "gone" : "an object");
    else if (v->type == 6 || v->type == 7)
        hdx_buffer_format(b, "%.1f", v->type == 6 ? (double)v->as.single : v->as.real);
    else
        hdx_buffer_format(b, "%lld",
                          v->type == 4   ? (long long)v->as.boolean
                          : v->type == 5 ? (long long)v->as.character
                                         : (long long)v->as.integer);
}

static hdx_code facts_of(heap *h, hdx_id id, bool scan, uint64_t most, hdx_collection_facts *f)
{
    hdx_contents c;
    must(h, hdx_contents_open(&c, h->g, &bound, NULL, &h->err));
    const hdx_code code = hdx_contents_facts(&c, id, scan, most, f, &h->err);
    hdx_contents_close(&c);
    return code;
}

/* "list 3 of 4 (used 3, waste 4), in Inner, damaged" */
static void put_facts(const shelves *s, hdx_buffer *b, const hdx_collection_facts *f)
{
    if (f->layout == NULL) {
        hdx_buffer_text(b, "no collection");
        return;
    }
    hdx_buffer_text(b, hdx_collection_kind_name(f->layout->kind));
    if (f->sized)
        hdx_buffer_format(b, " %llu", (unsigned long long)f->size);
    if (f->arrays)
        hdx_buffer_format(b, " of %llu", (unsigned long long)f->capacity);
    if (f->hashed)
        hdx_buffer_text(b, " buckets");
    if (f->scanned)
        hdx_buffer_format(b, " used %llu waste %llu", (unsigned long long)f->used, (unsigned long long)f->waste);
    if (f->backing != HDX_NO_ID) {
        const char *name = shelves_name(s, hdx_graph_address(s->heap.g, f->backing));
        hdx_buffer_format(b, " backed by %s", name != NULL ? name : "another");
    }
    if (f->note != HDX_NOTE_NONE)
        hdx_buffer_format(b, " %s", hdx_collection_note_name(f->note));
}

/* Entries as text, with the note in the end; *note. */
static hdx_code walk(const shelves *s, hdx_id id, uint64_t most, hdx_mem *mem, hdx_buffer *b, hdx_collection_note *note)
{
    hdx_contents   c;
    hdx_entry_walk w;
    hdx_entry      e;
    hdx_error      err = { .code = HDX_OK };
    bool           more = true;
    uint64_t       n = 0;
    hdx_code       code = hdx_contents_open(&c, s->heap.g, &bound, mem, &err);
    if (code != HDX_OK)
        return code;
    code = hdx_entry_walk_begin(&w, &c, id, most, &err);
    while (code == HDX_OK && (code = hdx_entry_walk_next(&w, &e, &more, &err)) == HDX_OK && more) {
        hdx_buffer_text(b, n > 0 ? ", " : " ");
        if (e.index != n++)
            hdx_buffer_format(b, "#%llu: ", (unsigned long long)e.index);
        if (e.has_key)
            put_value(s, b, &e.key);
        if (e.has_key && e.has_value)
            hdx_buffer_text(b, " = ");
        if (e.has_value)
            put_value(s, b, &e.value);
    }
    if (code == HDX_OK) { /* what has ended stays so */
        cr_expect(hdx_entry_walk_next(&w, &e, &more, &err) == HDX_OK && !more);
        if ((*note = w.note) != HDX_NOTE_NONE)
            hdx_buffer_format(b, " ... %s", hdx_collection_note_name(w.note));
    }
    hdx_entry_walk_end(&w);
    hdx_contents_close(&c);
    return code;
}

/* What is found in no fewer steps, and with how many; both are 0 where no number of steps is enough. */
static void put_collection(shelves *s, hdx_buffer *b, hdx_id id)
{
    hdx_collection_facts f, plain, few;
    hdx_collection_note  note = HDX_NOTE_NONE;
    unsigned             steps = 0, walked = 0;
    heap                *h = &s->heap;
    cr_assert(eq(int, facts_of(h, id, true, NO_END, &f), HDX_OK), "%s", h->err.message);
    cr_assert(eq(int, facts_of(h, id, false, NO_END, &plain), HDX_OK), "%s", h->err.message);
    while (f.note != HDX_NOTE_LONG && facts_of(h, id, true, steps, &few) == HDX_OK && few.note == HDX_NOTE_LONG)
        steps++;
    put_facts(s, b, &f);
    hdx_buffer_format(b, "; %u steps\n", steps);
    if (memcmp(&plain, &f, sizeof f) != 0) {
        hdx_buffer_text(b, "  at a glance: ");
        put_facts(s, b, &plain);
        hdx_buffer_text(b, "\n");
    }
    hdx_buffer_text(b, " ");
    cr_assert(eq(int, walk(s, id, NO_END, NULL, b, &note), HDX_OK));
    hdx_buffer few_text = hdx_buffer_of(NULL);
    for (hdx_collection_note of = HDX_NOTE_LONG; note != HDX_NOTE_LONG && of == HDX_NOTE_LONG; walked++) {
        hdx_buffer_clear(&few_text);
        cr_assert(eq(int, walk(s, id, walked, NULL, &few_text, &of), HDX_OK));
    }
    hdx_buffer_free(&few_text);
    hdx_buffer_format(b, "; %u steps\n", walked == 0 ? 0 : walked - 1);
}

/* ---- against the file ---- */

static void expect_collections(shelves *s, const char *file)
{
    hdx_buffer b = hdx_buffer_of(NULL);
    for (unsigned i = s->first; i < s->count; i++) {
        hdx_buffer one = hdx_buffer_of(NULL);
        put_collection(s, &one, id_at(&s->heap, s->named[i].id));
        const bool absent = strstr(one.at, " values absent; 1 steps\n  ... values absent; 1 steps\n") != NULL;
        hdx_buffer_format(&b, "%s\n  %s", s->named[i].name, absent ? "values absent\n" : one.at);
        hdx_buffer_free(&one);
    }
    expect_file(file, &b);
    hdx_buffer_free(&b);
}

Test(shelves, hold_what_was_put_in)
{
    shelves s;
    shelves_make(&s);
    open_layouts(&s.heap);
    expect_collections(&s, "shelves.txt");
    close_layouts();
    shelves_close(&s);
}

Test(shelves, say_that_values_are_absent_without_the_dump)
{
    shelves s;
    heap   *h = &s.heap;
    shelves_make(&s);
    hdx_graph_close(h->g);
    must(h, hdx_graph_open(h->index, NULL, &h->g, &h->err));
    h->q.graph = h->g;
    open_layouts(h);
    expect_collections(&s, "shelves_absent.txt");
    close_layouts();
    shelves_close(&s);
}

/* ---- with something refused ---- */

/* Facts and entries of one; what was found before something was refused is not looked at. */
static hdx_code whole(shelves *s, hdx_id id, hdx_mem *mem, hdx_buffer *b)
{
    hdx_contents         c;
    hdx_collection_facts f;
    hdx_collection_note  note;
    hdx_error            err = { .code = HDX_OK };
    hdx_buffer_clear(b);
    hdx_code code = hdx_contents_open(&c, s->heap.g, &bound, mem, &err);
    if (code == HDX_OK && (code = hdx_contents_facts(&c, id, true, NO_END, &f, &err)) == HDX_OK)
        put_facts(s, b, &f);
    hdx_contents_close(&c);
    cr_expect(code == HDX_OK || err.code == code);
    return code == HDX_OK ? walk(s, id, NO_END, mem, b, &note) : code;
}

static unsigned refused;

static void refuse_one_by_one(shelves *s, hdx_id id, const char *name, bool memory)
{
    hdx_buffer before = hdx_buffer_of(NULL), now = hdx_buffer_of(NULL);
    cr_assert(eq(int, whole(s, id, NULL, &before), HDX_OK), "%s", name);
    bool fired = true;
    for (unsigned n = 1; fired && n < 1000; n++) {
        hdx_mem    mem = { .limit = 0 };
        faulty_mem f;
        if (memory)
            faulty_mem_init(&f, &mem, n);
        else
            refusing_input(n);
        const hdx_code code = whole(s, id, memory ? &mem : NULL, &now);
        fired = memory ? faulty_mem_fired(&f) : refusing_ends();
        refused += fired;
        if (code == HDX_OK)
            cr_expect(eq(str, now.at, before.at), "%s, request %u", name, n);
        else
            cr_expect(fired && code == (memory ? HDX_LIMIT : HDX_IO), "%s, request %u: %s", name, n,
                      hdx_code_name(code));
        cr_expect(eq(u64, atomic_load(&mem.used), 0), "%s, request %u", name, n);
        cr_expect(memory || !fired || code == HDX_IO, "%s: read %u is refused, and it says nothing", name, n);
    }
    cr_expect(fired == false, "%s: no end", name);
    hdx_buffer_free(&before);
    hdx_buffer_free(&now);
}

Test(shelves, are_whole_or_not_at_all_when_memory_is_refused)
{
    shelves s;
    shelves_make(&s);
    open_layouts(&s.heap);
    for (unsigned i = s.first; i < s.count; i++)
        refuse_one_by_one(&s, id_at(&s.heap, s.named[i].id), s.named[i].name, true);
    cr_expect(gt(u32, refused, 500));
    close_layouts();
    shelves_close(&s);
}

Test(shelves, are_whole_or_not_at_all_when_the_dump_cannot_be_read)
{
    shelves s;
    shelves_make(&s);
    open_layouts(&s.heap);
    for (unsigned i = s.first; i < s.count; i++)
        refuse_one_by_one(&s, id_at(&s.heap, s.named[i].id), s.named[i].name, false);
    cr_expect(gt(u32, refused, 500));
    close_layouts();
    shelves_close(&s);
}

/* A dump of zeros behind the open index: nothing is absent, it is no longer the dump that was indexed. */
static void overwrite(const heap *h)
{
    FILE *f = fopen(h->dump, "r+");
    cr_assert(f != NULL && fseek(f, 0, SEEK_END) == 0);
    long left = ftell(f) - 64; /* of the head */
    cr_assert(eq(int, fseek(f, 64, SEEK_SET), 0));
    while (left-- > 0)
        cr_assert(eq(int, fputc(0, f), 0));
    cr_assert(eq(int, fclose(f), 0));
}

Test(shelves, of_another_dump_are_refused)
{
    shelves    s;
    hdx_buffer b = hdx_buffer_of(NULL);
    unsigned   told = 0;
    shelves_make(&s);
    overwrite(&s.heap);
    hdx_graph_close(s.heap.g);
    must(&s.heap, hdx_graph_open(s.heap.index, s.heap.dump, &s.heap.g, &s.heap.err));
    s.heap.q.graph = s.heap.g;
    open_layouts(&s.heap);
    for (unsigned i = s.first; i < s.count; i++) {
        const hdx_code code = whole(&s, id_at(&s.heap, s.named[i].id), NULL, &b);
        told += code == HDX_OK; /* nothing of it is read */
        cr_expect(code == HDX_BAD_DUMP || code == HDX_OK, "%s: %s", s.named[i].name, hdx_code_name(code));
    }
    cr_expect(eq(u32, told, 3), "an end, an array of none, and what nobody knows");
    hdx_buffer_free(&b);
    close_layouts();
    shelves_close(&s);
}

/* ---- questions ---- */

static void write_layouts(const heap *h)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/layouts", h->folder);
    FILE *f = fopen(path, "w");
    cr_assert(f != NULL && fputs(shelves_layouts, f) >= 0 && fclose(f) == 0);
    cr_assert(eq(int, chdir(h->folder), 0));
}

static const char *const asks[] = {
    "live collections layouts=layouts",
    "all collections layouts=layouts class=app.Ring",
    "live collections layouts=layouts class=app.Ring subclasses",
    "garbage collections layouts=layouts",
    "live collections layouts=layouts kind=set",
    "live collections layouts=layouts kind=queue min-size=3",
    "live collections layouts=layouts min-size=4 max-size=6 kind=list",
    "live collections layouts=layouts max-size=0 kind=map",
    "live collections layouts=layouts by=class",
    "live collections layouts=layouts by=class min-size=3 max-size=4",
    "all collections layouts=layouts by=holder",
    "live collections layouts=layouts by=holder class=app.View",
    "live collections arrays",
    "live collections arrays min-size=3",
    "live collections arrays by=holder",
    "live collections",
    "live collections class=app.Nowhere",
    "live collections layouts=gone",
    "live collections layouts=.",
    "live map-keys layouts=layouts",
    "live map-keys layouts=layouts max-size=3",
    "live map-keys layouts=layouts class=app.Pairs",
    "live map-keys",
    "sizes objects class=java.util.*",
    "live objects class=java.util.*",
    NULL,
};

/* Entries of some, an array among them. */
static void add_entries(shelves *s, hdx_buffer *all)
{
    for (unsigned i = s->first + 1; i < s->count; i += 6) {
        char ask[128];
        (void)snprintf(ask, sizeof ask, "live entries layouts=layouts object=0x%llx",
                       (unsigned long long)s->named[i].id);
        hdx_buffer_format(all, "-- %s\n", s->named[i].name);
        answers_add(&s->heap, (const char *const[]){ ask, NULL }, all);
        cr_expect(gt(u32, answers_refused(&s->heap, (const char *const[]){ ask, NULL }), 30));
    }
    answers_add(&s->heap, (const char *const[]){ "live entries object=#0", "live entries object=class:app.Ring", NULL },
                all);
}

Test(shelves, are_told_by_collections)
{
    shelves s;
    shelves_make(&s);
    write_layouts(&s.heap);
    hdx_buffer all = hdx_buffer_of(NULL);
    answers_add(&s.heap, asks, &all);
    add_entries(&s, &all);
    expect_file("shelves_told.txt", &all);
    hdx_buffer_free(&all);
    shelves_close(&s);
}

Test(shelves, are_told_as_a_whole_or_not_at_all)
{
    shelves s;
    shelves_make(&s);
    write_layouts(&s.heap);
    cr_expect(gt(u32, answers_refused(&s.heap, asks), 300));
    shelves_close(&s);
}
