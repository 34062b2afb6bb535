/*
 * test_first.c - a question whose answer an index keeps, asked for the first time and stopped, or without memory:
 * that is what it says, and nothing of it is kept.
 */
#include "answers.h"
#include "sample_dump.h"

TestSuite(first, .timeout = 120);

enum { TURNS, REQUESTS, KINDS };

/* Stopped at each turn, or each request for memory refused, until none is left; then there is the answer. */
static void expect_stops(const char *ask, unsigned what)
{
    hdx_buffer now = hdx_buffer_of(NULL), whole = hdx_buffer_of(NULL);
    heap       h;
    unsigned   n = 1;
    heap_open(&h, sample_dump(8, 0, 5));
    h.q.threads = 1;
    for (;; n++) {
        hdx_mem            mem = { .limit = 0 };
        faulty_mem         f;
        turns              t = { what == TURNS ? n : 0, false };
        const hdx_progress progress = { .context = &t, .cancelled = answers_stop };
        h.q.mem = &mem;
        h.q.progress = &progress;
        faulty_mem_init(&f, &mem, what == REQUESTS ? n : 0);
        const hdx_code code = answers_text(&h, ask, &now);
        const bool     fired = what == TURNS ? t.stopped : faulty_mem_fired(&f);
        cr_expect(eq(u64, atomic_load(&mem.used), 0), "%s", ask);
        if (!fired || (code == HDX_OK && what == REQUESTS)) /* what is refused last is room for what is to be kept */
            break;
        cr_expect(eq(int, code, what == TURNS ? HDX_CANCELLED : HDX_LIMIT), "%s, %s %u", ask,
                  what == TURNS ? "turn" : "request", n);
    }
    h.q.mem = NULL;
    h.q.progress = NULL;
    (void)answers_text(&h, ask, &whole);
    cr_expect_str_eq(now.at, whole.at, "%s", ask);
    cr_expect(gt(uint, n, what == TURNS ? 1 : 5), "%s", ask);
    heap_close(&h);
    hdx_buffer_free(&now);
    hdx_buffer_free(&whole);
}

Test(first, answers_that_are_stopped_say_so)
{
    static const char *const asks[] = { "live histogram retained", "live histogram by=package retained",
                                        "live histogram by=loader retained", "live histogram by=superclass retained" };
    for (size_t i = 0; i < HDX_COUNT(asks); i++)
        for (unsigned what = 0; what < KINDS; what++)
            expect_stops(asks[i], what);
}
