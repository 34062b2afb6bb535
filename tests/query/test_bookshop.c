/*
 * test_bookshop.c - every question asked of examples/bookshop.hprof.gz: what is declared, all rows, the document.
 *
 * A line of bookshop.txt (support/checksums.h) counts the rows of one ask: the scope, the question, its arguments.
 */
#include "support/questions.h"
#include "asks.h"
#include "support/checksums.h"
#include "support/faulty.h"

/* "live histogram by=package class=java.*", "declared histogram" */
static uint64_t ask(void *context, const char *line, hdx_buffer *b)
{
    heap             *h = context;
    const hdx_answer *declared;
    hdx_rows         *rows;
    cr_assert(eq(int, open_ask(h, line, &declared, &rows), HDX_OK), "%s: %s", line, h->err.message);
    if (declared != NULL)
        return declared_text(declared, b);
    uint64_t n;
    cr_assert(eq(int, answer_text(rows, b, &n, &h->err), HDX_OK), "%s: %s", line, h->err.message);
    hdx_rows_close(rows);
    return n;
}

static void open_bookshop(heap *h)
{
    static const char dump[] = HDX_TREE "/examples/bookshop.hprof.gz";
    hdx_index_report  report;
    memset(h, 0, sizeof *h);
    test_folder_make(h->folder, "bookshop");
    (void)snprintf(h->index, sizeof h->index, "%s/a.hdx", h->folder);
    const hdx_index_options options = { .dump = dump, .index_dir = h->index, .threads = 1 };
    cr_assert(eq(int, hdx_index_build(&options, &report, &h->err), HDX_OK), "%s", h->err.message);
    cr_assert(eq(int, hdx_graph_open(h->index, dump, &h->g, &h->err), HDX_OK), "%s", h->err.message);
    h->q = (hdx_query){ .graph = h->g, .threads = 2 };
}

/* ---- in little memory ---- */

/* The same, its rows sorted by their first column, counted in mem. */
static hdx_code bounded(heap *h, const char *line, hdx_mem *mem, hdx_buffer *b)
{
    const hdx_answer *declared;
    hdx_rows         *rows;
    unsigned          count;
    uint64_t          n;
    h->q.mem = mem;
    h->err = (hdx_error){ .offset = HDX_NOWHERE };
    hdx_code code = open_ask(h, line, &declared, &rows);
    if (code == HDX_OK && rows != NULL)
        code = hdx_rows_sort(&rows, hdx_rows_columns(rows, &count)[0].name, true, &h->err);
    if (code == HDX_OK && rows != NULL)
        code = answer_text(rows, b, &n, &h->err);
    hdx_rows_close(rows);
    cr_expect(atomic_load(&mem->used) == 0, "%s: %llu bytes are left", line, (unsigned long long)mem->used);
    return code;
}

/* Calls `each` for every ask of bookshop.txt that gives rows. */
static void every_ask(heap *h, void (*each)(heap *h, const char *line, const hdx_buffer *whole, uint64_t peak))
{
    char        line[CHECKSUMS_LINE];
    const char *one;
    unsigned    asked = 0;
    FILE       *file = fopen(HDX_TREE "/tests/query/bookshop.txt", "r");
    cr_assert(file != NULL);
    h->q.threads = 1; /* what each of several threads holds at one time is not the same twice */
    while ((one = checksums_next_ask(file, line)) != NULL) {
        if (strncmp(one, "declared ", strlen("declared ")) == 0)
            continue;
        hdx_mem    mem = { .limit = 0 };
        hdx_buffer whole = hdx_buffer_of(NULL);
        (void)bounded(h, one, &mem, &whole); /* what is kept beside the index is from now on */
        hdx_buffer_clear(&whole);
        mem = (hdx_mem){ .limit = 0 };
        cr_assert(bounded(h, one, &mem, &whole) == HDX_OK, "%s: %s", one, h->err.message);
        each(h, one, &whole, mem.peak);
        hdx_buffer_free(&whole);
        asked++;
    }
    cr_expect(asked > 50, "%u", asked);
    (void)fclose(file);
}

static unsigned refused;

/* Steps from one limit, or one refused request, to the next: wider where much is held, as each ask takes long. */
static uint64_t part_of(uint64_t n, uint64_t peak) { return 1 + n / (peak > 256u << 10 ? 1 : 3); }

static void under_falling_limits(heap *h, const char *line, const hdx_buffer *whole, uint64_t peak)
{
    cr_expect(peak > 0, "%s holds nothing", line);
    for (uint64_t limit = peak; limit > 100; limit -= part_of(limit / 2, peak)) {
        hdx_mem        mem = { .limit = limit };
        hdx_buffer     text = hdx_buffer_of(NULL);
        const hdx_code code = bounded(h, line, &mem, &text);
        cr_expect(mem.peak <= limit, "%s", line);
        if (code == HDX_OK) {
            const bool same = text.len == whole->len && memcmp(text.at, whole->at, text.len) == 0;
            /* info alone leaves out what stands out, and says so in the answer */
            cr_expect(same || strstr(text.at, "because they need more memory than allowed") != NULL,
                      "%s: another answer in %llu bytes", line, (unsigned long long)limit);
        } else {
            cr_expect(code == HDX_LIMIT && limit < peak, "%s: %s in %llu of %llu bytes: %s", line, hdx_code_name(code),
                      (unsigned long long)limit, (unsigned long long)peak, h->err.message);
            refused++;
        }
        hdx_buffer_free(&text);
    }
}

static void refused_once(heap *h, const char *line, const hdx_buffer *whole, uint64_t peak)
{
    for (unsigned n = 1;; n += (unsigned)part_of(n, peak)) {
        hdx_mem    mem = { .limit = 0 };
        hdx_buffer text = hdx_buffer_of(NULL);
        faulty_mem f;
        faulty_mem_init(&f, &mem, n);
        const hdx_code code = bounded(h, line, &mem, &text);
        cr_expect(code == HDX_LIMIT ||
                      (code == HDX_OK && text.len == whole->len && memcmp(text.at, whole->at, text.len) == 0),
                  "%s, request %u: %s, %s", line, n, hdx_code_name(code), h->err.message);
        hdx_buffer_free(&text);
        if (!faulty_mem_fired(&f))
            return;
        refused++;
    }
}

Test(bookshop, in_less_memory_gives_the_same_answers_or_says_that_it_does_not_fit)
{
    heap h;
    open_bookshop(&h);
    every_ask(&h, under_falling_limits);
    cr_expect(refused > 500, "%u", refused);
    heap_close(&h);
}

Test(bookshop, survives_each_request_for_memory_that_is_refused)
{
    heap h;
    open_bookshop(&h);
    every_ask(&h, refused_once);
    cr_expect(refused > 500, "%u", refused);
    heap_close(&h);
}

Test(bookshop, is_answered_as_before)
{
    heap h;
    open_bookshop(&h);
    checksums_check(HDX_TREE "/tests/query/bookshop.txt", ask, &h);
    heap_close(&h);
}
