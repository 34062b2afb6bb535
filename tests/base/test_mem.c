/*
 * test_mem.c - what the memory door takes of the address space and gives back, where pages cannot be had or moved, and
 * the words about a limit.
 */
#include "base/base.h"
#include "support/wait.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MIB  (1ull << 20)
#define PAGE (2 * MIB)

static bool moves_refused;

/* Instead of that of the C library: a kernel that moves no pages. */
void *mremap(void *from, size_t old_size, size_t new_size, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    void *to = va_arg(args, void *);
    va_end(args);
    if (moves_refused) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return (void *)syscall(SYS_mremap, from, old_size, new_size, flags, to);
}

static size_t shift; /* where a mapping begins, from where the kernel would have put it; kernels differ in that */

void *mmap64(void *at, size_t size, int protection, int flags, int fd, off64_t offset)
{
    const size_t more = at == NULL ? shift : 0;
    void *const  p = (void *)syscall(SYS_mmap, at, size + more, protection, flags, fd, offset);
    if (p == MAP_FAILED || more == 0)
        return p;
    (void)munmap(p, more);
    return (uint8_t *)p + more;
}

/* Bytes of addresses that this process has mapped. */
static int64_t mapped(void)
{
    char          text[64] = "";
    const int     fd = open("/proc/self/statm", O_RDONLY);
    const ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    (void)close(fd);
    cr_assert(n > 0);
    return (int64_t)(strtoull(text, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE));
}

/* Half a huge page is less than any fault here leaves mapped, and more than the test itself takes meanwhile. */
static void expect_mapped(int64_t before, uint64_t more, const char *what)
{
    const int64_t now = mapped() - before - (int64_t)more;
    cr_expect(now > -(int64_t)MIB && now < (int64_t)MIB, "%s: %lld bytes too many", what, (long long)now);
}

static uint64_t whole(uint64_t bytes) { return bytes < PAGE ? bytes : (bytes + PAGE - 1) / PAGE * PAGE; }

static void set_data_limit(struct rlimit *before, bool none)
{
    if (none)
        cr_assert(getrlimit(RLIMIT_DATA, before) == 0);
    const struct rlimit little = { 1, before->rlim_max };
    cr_assert(setrlimit(RLIMIT_DATA, none ? &little : before) == 0);
}

Test(mem, blocks_take_whole_huge_pages_and_give_back_what_they_took)
{
    static const uint64_t sizes[] = { MIB, MIB + 1, PAGE - 1, PAGE, PAGE + 1, 3 * PAGE, 3 * PAGE + 4097, 8 * PAGE - 1 };
    hdx_mem               limited = { 0 };
    for (unsigned round = 0; round < 24; round++) {
        const uint64_t bytes = sizes[round % 8];
        shift = round / 8 * 4096 * 17;
        hdx_mem      *mem = round % 3 == 0 ? NULL : &limited;
        void         *gap = mmap(NULL, (round + 1) * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        const int64_t before = mapped();
        uint8_t      *p = hdx_mem_get(mem, bytes);
        cr_assert(gap != MAP_FAILED && p != NULL);
        cr_expect((uintptr_t)p % (bytes < PAGE ? 4096 : PAGE) == 0, "%llu bytes at %p", (unsigned long long)bytes,
                  (void *)p);
        cr_expect(limited.used == (mem == NULL ? 0 : whole(bytes)));
        expect_mapped(before, whole(bytes), "got");
        for (uint64_t i = 0; i < whole(bytes); i += 4096)
            p[i] = 1;
        p[whole(bytes) - 1] = 1;
        hdx_mem_put(mem, p, bytes);
        cr_expect(limited.used == 0);
        expect_mapped(before, 0, "put");
    }
}

Test(mem, a_block_that_still_fits_its_pages_stays_in_place)
{
    static const struct {
        uint64_t from, to;
        bool     stays;
    } cases[] = {
        { 3 * PAGE, 2 * PAGE + 1, true }, { 2 * PAGE + 1, 3 * PAGE, true }, { 3 * PAGE, 3 * PAGE, true },
        { 3 * PAGE, 2 * PAGE, true },     { 3 * PAGE, PAGE, true },         { 3 * PAGE, 3 * PAGE + 1, false },
        { PAGE, 6 * PAGE, false },        { 3 * PAGE, PAGE - 1, false },
    };
    for (unsigned keep = 0; keep < 2; keep++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            hdx_mem        mem = { .keep = keep };
            const int64_t  before = mapped();
            const uint64_t from = cases[i].from, to = cases[i].to, less = from < to ? from : to;
            uint8_t *p = hdx_mem_get(&mem, from), *const old = p;
            for (uint64_t k = 0; k < from; k++)
                p[k] = (uint8_t)(1 + k % 251);
            p = hdx_mem_resize(&mem, p, from, to);
            cr_assert(p != NULL && mem.used == whole(to));
            cr_expect((p == old) == cases[i].stays, "case %zu", i);
            for (uint64_t k = 0; k < whole(to); k++)
                cr_assert(k < less ? p[k] == (uint8_t)(1 + k % 251) : k >= to || p[k] == 0, "case %zu: %llu", i,
                          (unsigned long long)k);
            expect_mapped(before, whole(to) + PAGE * mem.pooled, "resized");
            cr_expect(keep == 1 || mem.pooled == 0);
            hdx_mem_put(&mem, p, to);
            hdx_mem_close(&mem);
            expect_mapped(before, 0, "closed");
        }
}

Test(mem, a_page_goes_into_the_pool_and_out_of_it)
{
    hdx_mem       mem = { .keep = true };
    const int64_t before = mapped();
    void         *two[2];
    for (unsigned i = 0; i < 2; i++)
        two[i] = hdx_mem_get(&mem, PAGE);
    hdx_mem_put(&mem, two[0], PAGE);
    cr_expect(mem.pooled == 1 && mem.pool_capacity == 2 && mem.pool[0] == two[0]);
    hdx_mem_put(&mem, two[1], PAGE);
    cr_expect(mem.pooled == 2 && mem.pool_capacity == 2 && mem.pool[1] == two[1]);
    expect_mapped(before, 2 * PAGE, "two in the pool");
    void *small = hdx_mem_get(&mem, PAGE - 1);
    cr_expect(mem.pooled == 2, "less than a page is not taken from it");
    hdx_mem_put(&mem, small, PAGE - 1);
    cr_expect(mem.pooled == 2);
    two[0] = hdx_mem_get(&mem, PAGE);
    cr_expect(mem.pooled == 1);
    hdx_mem_put(&mem, two[0], PAGE);
    void *many = hdx_mem_get(&mem, 9 * PAGE);
    cr_expect(mem.pooled == 0);
    hdx_mem_put(&mem, many, 9 * PAGE);
    cr_expect(mem.pooled == 9 && mem.pool_capacity == 18);
    expect_mapped(before, 9 * PAGE, "nine in the pool");
    hdx_mem_close(&mem);
    cr_expect(mem.pooled == 0 && mem.pool_capacity == 0 && mem.pool == NULL);
    expect_mapped(before, 0, "closed");
}

Test(mem, that_the_kernel_does_not_give_counts_for_nothing)
{
    hdx_mem       mem = { .keep = true };
    struct rlimit before;
    hdx_span      span;
    uint8_t      *p = hdx_mem_get(&mem, 2 * PAGE);
    memset(p, 7, 2 * PAGE);
    set_data_limit(&before, true);
    void *const huge = hdx_mem_get(&mem, 3 * PAGE), *const large = hdx_mem_get(&mem, MIB),
                *const resized = hdx_mem_resize(&mem, p, 2 * PAGE, 5 * PAGE);
    const bool         spanned = hdx_mem_span(&mem, 3 * PAGE, 1, &span);
    set_data_limit(&before, false);
    cr_expect(huge == NULL && large == NULL && resized == NULL && !spanned && span.at == NULL);
    cr_expect(mem.used == 2 * PAGE);
    cr_expect(hdx_mem_resize(&mem, p, 2 * PAGE, UINT64_MAX) == NULL && mem.used == 2 * PAGE);
    cr_expect(hdx_mem_resize(&mem, p, 2 * PAGE, SIZE_MAX / 2) == NULL && mem.used == 2 * PAGE);
    for (uint64_t i = 0; i < 2 * PAGE; i++)
        cr_assert(p[i] == 7);
    hdx_mem_put(&mem, p, 2 * PAGE);
    span = (hdx_span){ (uint8_t *)&mem, 5, 5 };
    cr_expect(!hdx_mem_span(&mem, UINT64_MAX / 4, 8, &span) && span.at == NULL && span.bytes == 0 && span.from == 0);
    hdx_mem_close(&mem);
}

/* Contents are copied where pages cannot be moved; a page of the pool is lost then, the block whole. */
Test(mem, pages_that_cannot_be_moved_are_copied)
{
    hdx_mem       mem = { .keep = true };
    const int64_t before = mapped();
    hdx_mem_put(&mem, hdx_mem_get(&mem, 4 * PAGE), 4 * PAGE);
    moves_refused = true;
    uint8_t *p = hdx_mem_get(&mem, 2 * PAGE);
    cr_assert(p != NULL && mem.pooled == 3);
    expect_mapped(before, 5 * PAGE, "got");
    for (uint64_t i = 0; i < 2 * PAGE; i++) {
        cr_assert(p[i] == 0);
        p[i] = (uint8_t)(i >> 12 ^ i);
    }
    p = hdx_mem_resize(&mem, p, 2 * PAGE, 5 * PAGE);
    cr_assert(p != NULL && mem.used == 5 * PAGE && mem.pooled == 2);
    for (uint64_t i = 0; i < 5 * PAGE; i++)
        cr_assert(p[i] == (i < 2 * PAGE ? (uint8_t)(i >> 12 ^ i) : 0), "%llu", (unsigned long long)i);
    expect_mapped(before, 7 * PAGE, "resized");
    moves_refused = false;
    hdx_mem_put(&mem, p, 5 * PAGE);
    hdx_mem_close(&mem);
    expect_mapped(before, 0, "closed");
}

Test(mem, spans_give_back_what_was_reached_and_what_was_not)
{
    static const uint64_t sizes[] = { PAGE - 1, PAGE, 3 * PAGE, 3 * PAGE + 5 };
    for (unsigned keep = 0; keep < 2; keep++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (uint64_t from = 0; from <= 2 * PAGE; from += PAGE) {
                hdx_mem       mem = { .keep = keep };
                hdx_span      span;
                const int64_t before = mapped();
                cr_assert(hdx_mem_span(&mem, sizes[i], 1, &span) && span.bytes == sizes[i]);
                cr_expect(mem.used == (sizes[i] < PAGE ? sizes[i] : 0));
                expect_mapped(before, whole(sizes[i]), "a span");
                const uint64_t end = span.from;
                cr_assert(hdx_mem_span_reach(&mem, &span, from) && span.from == (from < end ? from : end));
                const uint64_t there = whole(sizes[i]) - span.from;
                cr_expect(mem.used == there);
                memset(span.at + span.from, 1, sizes[i] - span.from);
                hdx_mem_span_put(&mem, &span);
                cr_expect(mem.used == 0 && mem.pooled == (keep ? there / PAGE : 0));
                expect_mapped(before, PAGE * mem.pooled, "given back");
                hdx_mem_close(&mem);
                expect_mapped(before, 0, "closed");
            }
}

/* ---- pages made ready ---- */

Test(mem, pages_made_ready_are_aligned_and_all_that_is_mapped)
{
    for (uint64_t pages = 1; pages <= 5; pages++) {
        shift = (pages - 1) * 4096 * 127;
        hdx_mem       mem = { .keep = true };
        const int64_t before = mapped();
        hdx_mem_want(&mem, pages * PAGE + PAGE - 1);
        hdx_mem_help(&mem, false);
        cr_assert(mem.pooled == pages);
        expect_mapped(before, pages * PAGE, "made ready");
        for (uint64_t i = 0; i < pages; i++) {
            const uint8_t *at = mem.pool[i];
            cr_expect((uintptr_t)at % PAGE == 0);
            for (uint64_t k = 0; k < PAGE; k++)
                cr_assert(at[k] == 0);
        }
        hdx_mem_close(&mem);
        expect_mapped(before, 0, "closed");
        hdx_mem_want(&mem, pages * PAGE);
        hdx_mem_help(&mem, false);
        cr_expect(mem.pooled == 0, "whoever was closed makes none");
        hdx_mem_close(&mem);
    }
}

Test(mem, no_addresses_no_pages)
{
    hdx_mem       mem = { .keep = true };
    struct rlimit before;
    hdx_mem_want(&mem, PAGE);
    cr_assert(getrlimit(RLIMIT_AS, &before) == 0);
    const struct rlimit none = { 1, before.rlim_max };
    cr_assert(setrlimit(RLIMIT_AS, &none) == 0);
    hdx_mem_help(&mem, true);
    const uint64_t pooled = mem.pooled;
    cr_assert(setrlimit(RLIMIT_AS, &before) == 0);
    cr_expect(pooled == 0);
    hdx_mem_close(&mem);
}

static void *help_on(void *mem)
{
    hdx_mem_help(mem, true);
    return NULL;
}

static void wait_for_one(hdx_mem *mem)
{
    uint64_t there = 0;
    for (unsigned naps = 0; there < 1; wait_nap(&naps, "a prepared page is in the pool")) {
        (void)pthread_mutex_lock(&mem->lock);
        there = mem->pooled;
        (void)pthread_mutex_unlock(&mem->lock);
        cr_assert(there <= 1);
    }
}

Test(mem, a_single_page_that_is_wanted_is_made_again_and_again)
{
    hdx_mem   mem = { .keep = true };
    pthread_t helper;
    void     *at[20];
    hdx_mem_want(&mem, PAGE);
    cr_assert(pthread_create(&helper, NULL, help_on, &mem) == 0);
    for (unsigned i = 0; i < 20; i++) {
        wait_for_one(&mem);
        at[i] = hdx_mem_get(&mem, PAGE);
    }
    hdx_mem_want(&mem, 0);
    cr_assert(pthread_join(helper, NULL) == 0);
    for (unsigned i = 0; i < 20; i++)
        hdx_mem_put(&mem, at[i], PAGE);
    hdx_mem_close(&mem);
}

/* Less than a page is not worth a thread; and where the system gives none, there is none to wait for. */
Test(mem, is_prepared_by_a_thread_or_not_at_all)
{
    hdx_mem mem = { .keep = true };
    hdx_mem_prepare(&mem, PAGE - 1);
    cr_expect(mem.prepare == 0 && mem.preparing == 0);
    hdx_mem_prepare(&mem, 2 * PAGE - 1);
    cr_expect(mem.prepare == PAGE && mem.preparing != 0);
    wait_for_one(&mem);
    hdx_mem_close(&mem);
    cr_expect(mem.prepare == 0);
    hdx_mem_close(&mem);
    pthread_attr_t attr;
    mem = (hdx_mem){ .keep = true };
    cr_assert(pthread_attr_init(&attr) == 0 && pthread_attr_setstacksize(&attr, (size_t)1 << 46) == 0 &&
              pthread_setattr_default_np(&attr) == 0);
    hdx_mem_prepare(&mem, PAGE);
    cr_expect(mem.prepare == 0);
    hdx_mem_close(&mem);
}

/* ---- counts and words ---- */

static bool refuse_above(void *context, uint64_t bytes) { return bytes > *(const uint64_t *)context; }

Test(mem, keeps_what_it_refused_last)
{
    uint64_t above = 100;
    hdx_mem  mem = { .limit = 1000, .refuse = refuse_above, .context = &above };
    cr_expect(!hdx_mem_charge(&mem, 101) && mem.refused == 101 && mem.used == 0 && mem.peak == 0);
    cr_expect(hdx_mem_charge(&mem, 100) && mem.refused == 101 && mem.used == 100 && mem.peak == 100);
    above = 5000;
    cr_expect(hdx_mem_charge(&mem, 900) && mem.used == 1000 && mem.peak == 1000);
    cr_expect(!hdx_mem_charge(&mem, 1) && mem.refused == 1 && mem.used == 1000);
    hdx_mem_discharge(&mem, 600);
    cr_expect(mem.used == 400 && mem.peak == 1000);
    cr_expect(hdx_mem_charge(&mem, 10) && mem.used == 410 && mem.peak == 1000);
    cr_expect(hdx_mem_charge(NULL, 1ull << 60));
    hdx_mem_discharge(NULL, 1ull << 60);
}

Test(mem, explains_that_a_limit_was_reached)
{
    static const struct {
        hdx_code    code;
        uint64_t    limit, refused;
        const char *message, *hint, *words;
    } cases[] = {
        { HDX_LIMIT, 1000, 4096, "no memory for rows (77 bytes)", "",
          "no memory for rows: 4096 more bytes exceed the limit of 1000 for queries" },
        { HDX_LIMIT, 1, 1, "no memory for rows", "",
          "no memory for rows: 1 more bytes exceed the limit of 1 for queries" },
        { HDX_LIMIT, 0, 4096, "no memory for rows (77 bytes)", "", NULL },
        { HDX_LIMIT, 1000, 0, "no memory for rows (77 bytes)", "", NULL },
        { HDX_LIMIT, 1000, 4096, "no memory for rows (77 bytes)", "said already", NULL },
        { HDX_LIMIT, 1000, 4096, "too many rows (77)", "", NULL },
        { HDX_LIMIT, 1000, 4096, "no memory for", "", NULL },
        { HDX_IO, 1000, 4096, "no memory for rows (77 bytes)", "", NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hdx_mem   mem = { .limit = cases[i].limit, .refused = cases[i].refused };
        hdx_error err = { .code = cases[i].code }, as_it_was;
        (void)snprintf(err.message, sizeof err.message, "%s", cases[i].message);
        (void)snprintf(err.hint, sizeof err.hint, "%s", cases[i].hint);
        as_it_was = err;
        cr_expect(hdx_mem_explain(&mem, cases[i].code, NULL) == cases[i].code);
        cr_expect(hdx_mem_explain(NULL, cases[i].code, &err) == cases[i].code);
        cr_expect(strcmp(err.message, as_it_was.message) == 0 && strcmp(err.hint, as_it_was.hint) == 0);
        cr_expect(hdx_mem_explain(&mem, cases[i].code, &err) == cases[i].code);
        cr_expect_str_eq(err.message, cases[i].words == NULL ? as_it_was.message : cases[i].words, "case %zu", i);
        cr_expect_str_eq(err.hint, cases[i].words == NULL ? as_it_was.hint : "raise the limit with --memory",
                         "case %zu", i);
    }
}

/* ---- scopes ---- */

static bool holds(const uint8_t *at, uint64_t bytes, uint8_t value)
{
    for (uint64_t i = 0; i < bytes; i++)
        if (at[i] != value)
            return false;
    return true;
}

Test(mem, a_scope_gives_back_what_was_not_put_and_counts_in_another)
{
    hdx_mem  mem = { .limit = 64u << 20 };
    hdx_mem *scope = hdx_mem_scope(&mem);
    uint8_t *blocks[200];
    cr_assert(scope != NULL);
    for (unsigned i = 0; i < 200; i++) {
        blocks[i] = hdx_mem_get(scope, 100 + i);
        cr_assert(blocks[i] != NULL);
        memset(blocks[i], (int)i, 100 + i);
    }
    for (unsigned i = 0; i < 200; i += 3) { /* in the middle of runs of the table */
        hdx_mem_put(scope, blocks[i], 100 + i);
        blocks[i] = NULL;
    }
    for (unsigned i = 1; i < 200; i += 3)
        cr_assert((blocks[i] = hdx_mem_resize(scope, blocks[i], 100 + i, 5000)) != NULL);
    for (unsigned i = 0; i < 200; i++)
        cr_assert(blocks[i] == NULL || holds(blocks[i], 100 + i, (uint8_t)i));
    uint8_t *large = hdx_mem_array(scope, 3, 1u << 20);
    cr_assert(large != NULL);
    cr_assert((large = hdx_mem_resize(scope, large, 3u << 20, 9u << 20)) != NULL); /* moved page by page */
    cr_assert((large = hdx_mem_resize(scope, large, 9u << 20, 5u << 20)) != NULL); /* in place */
    cr_assert(hdx_mem_get(scope, 128u << 20) == NULL);
    cr_assert(mem.refused == 128u << 20);
    cr_assert(hdx_mem_counter(scope) == &mem);
    cr_assert(mem.used > 5u << 20);
    hdx_mem_scope_close(scope);
    cr_assert(mem.used == 0);
}

Test(mem, a_scope_in_a_scope_counts_where_the_outer_one_does)
{
    hdx_mem  mem = { 0 };
    hdx_mem *outer = hdx_mem_scope(&mem), *inner = hdx_mem_scope(outer), *alone = hdx_mem_scope(NULL);
    void    *left = hdx_mem_get(inner, 1000);
    cr_assert(hdx_mem_get(outer, 500) != NULL);
    cr_assert(hdx_mem_get(alone, 700) != NULL);
    cr_assert(mem.used == 1500);
    hdx_mem_disown(inner, left, 1000);
    cr_assert(mem.used == 500);
    hdx_mem_scope_close(inner);
    hdx_mem_put(NULL, left, 1000);
    hdx_mem_scope_close(outer);
    hdx_mem_scope_close(alone);
    cr_assert(mem.used == 0);
}
