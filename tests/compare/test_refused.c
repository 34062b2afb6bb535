/*
 * test_refused.c - comparisons whose memory is refused, one request after another, that are cancelled, that are of
 * dumps whose retained sizes were kept before, or whose conditions are wrong.
 */
#include "compare/pair.h"
#include "cli/leaky.h"
#include "support/faulty.h"

static pair p;
static void enter(void)
{
    pair_open(&p);
    cache_save("a.hprof", &(cache){ .entries = 3, .lambdas = 2, .nodes = 5, .run = 1 });
    cache_save("b.hprof", &(cache){ .entries = 9, .lambdas = 1, .nodes = 7, .run = 2, .more = "app.New" });
    cache_save("c.hprof", &(cache){ .entries = 6, .lambdas = 4, .nodes = 8, .run = 3 });
    leaky_make("less.hprof", false);
    leaky_make("more.hprof", true);
}
static void leave(void) { pair_close(&p); }
TestSuite(refused, .init = enter, .fini = leave);

static hdx_code told(hdx_session *s, const char *ask, hdx_buffer *text)
{
    char words[512];
    (void)snprintf(words, sizeof words, "rows %s", ask);
    hdx_buffer_clear(text);
    return asked_text(s, words, text);
}

Test(refused, memory_ends_a_comparison_wherever_it_is_refused)
{
    static const char *const asks[][2] = {
        { "a.hprof b.hprof", "diff fail-on=percent+>+1" },
        { "a.hprof b.hprof c.hprof", "diff by=package all" },
        { "a.hprof b.hprof", "diff by=loader" },
        { "a.hprof b.hprof", "diff by=dominator" },
        { "a.hprof b.hprof", "diff by=path where=key+~+app fail-on=total.objects_delta+>+1" },
        { "less.hprof more.hprof", "diff by=leak all" },
        { "a.hprof b.hprof c.hprof", "trend" },
        { "a.hprof b.hprof", "trend by=path" },
        { "a.hprof b.hprof", "trend by=package of=objects all" },
        { "less.hprof more.hprof", "trend by=leak all" },
        { "a.hprof b.hprof c.hprof a.hprof a.hprof", "trend outliers deviations=1" },
    };
    for (size_t i = 0; i < HDX_COUNT(asks); i++) {
        hdx_session *s = session_of(asks[i][0]);
        hdx_buffer   whole = hdx_buffer_of(NULL), text = hdx_buffer_of(NULL);
        cr_assert(eq(int, told(s, asks[i][1], &whole), HDX_OK), "%s", asks[i][1]);
        unsigned refusals = 0;
        for (unsigned n = 1;; n++) {
            faulty_mem f;
            faulty_mem_init(&f, &s->mem, n);
            const hdx_code code = told(s, asks[i][1], &text);
            const bool     fired = faulty_mem_fired(&f);
            cr_expect(code == HDX_LIMIT ||
                          (code == HDX_OK && text.len == whole.len && memcmp(text.at, whole.at, whole.len) == 0),
                      "%s, request %u: %s", asks[i][1], n, hdx_code_name(code));
            refusals += code == HDX_LIMIT;
            if (!fired)
                break;
        }
        cr_expect(refusals > 10, "%s: %u", asks[i][1], refusals);
        s->mem.refuse = NULL;
        cr_expect(eq(int, told(s, asks[i][1], &text), HDX_OK), "%s: asked again", asks[i][1]);
        cr_expect(eq(u64, s->mem.used, 0), "%s", asks[i][1]);
        hdx_buffer_free(&text);
        hdx_buffer_free(&whole);
        hdx_session_close(s);
    }
}

/* What was kept is of classes that have objects; a row is of those that have none, too, or of several classes. */
Test(refused, retained_sizes_that_a_histogram_kept_are_told_as_if_they_were_not)
{
    static const char *const asks[] = { "diff all", "diff by=package all", "diff by=loader all", "trend all" };
    hdx_buffer               before[HDX_COUNT(asks)], text = hdx_buffer_of(NULL);
    hdx_session             *s = session_of("a.hprof b.hprof");
    for (size_t i = 0; i < HDX_COUNT(asks); i++) {
        before[i] = hdx_buffer_of(NULL);
        cr_assert(eq(int, told(s, asks[i], &before[i]), HDX_OK));
    }
    hdx_session_close(s);
    for (size_t d = 0; d < 2; d++) {
        static const char *const by[] = { "class", "package", "loader" };
        hdx_session             *one = session_of(d == 0 ? "a.hprof" : "b.hprof");
        for (size_t i = 0; i < HDX_COUNT(by); i++) {
            char words[64];
            (void)snprintf(words, sizeof words, "histogram by=%s retained", by[i]);
            cr_assert(eq(int, told(one, words, &text), HDX_OK), "%s", text.at);
        }
        hdx_session_close(one);
    }
    s = session_of("a.hprof b.hprof");
    for (size_t i = 0; i < HDX_COUNT(asks); i++) {
        cr_assert(eq(int, told(s, asks[i], &text), HDX_OK));
        cr_expect(eq(str, text.at, before[i].at), "%s", asks[i]);
        hdx_buffer_free(&before[i]);
    }
    hdx_session_close(s);
    hdx_buffer_free(&text);
}

/* Before any dump is opened: these are not there. */
Test(refused, a_wrong_condition_is_told_before_dumps_are_read)
{
    static const char *const asks[][2] = {
        { "diff fail-on=size+>+1", "--fail-on \"size > 1\": the rows have no such column of numbers" },
        { "diff fail-on=retained_delta+>+1 fail-on=key+>+1",
          "--fail-on \"key > 1\": the rows have no such column of numbers" },
        { "diff fail-on=retained_c+>+1", "--fail-on \"retained_c > 1\": the rows have no such column of numbers" },
        { "diff fail-on=retained_delta+>+1", "no such file" },
    };
    for (size_t i = 0; i < HDX_COUNT(asks); i++) {
        hdx_session *s = session_of("absent.hprof absent.hprof");
        hdx_rows    *rows = NULL;
        hdx_error    err;
        cr_expect(ask_session(s, asks[i][0], &rows, &err) != HDX_OK);
        cr_expect(eq(str, err.message, (char *)asks[i][1]));
        hdx_session_close(s);
    }
}
