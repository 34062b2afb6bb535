/*
 * test_faults.c - every read, every request for memory, every question whether to stop and every call of a sink fails
 * once, in surveys, walks and samples of dumps of every shape: the code comes back, and nothing is left.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "hprof/sample.h"
#include "large.h"

#include <errno.h>

enum fault { NONE, READ, MEMORY, STOP, HEAP, TOP, RESTART, BEGIN, EVENTS, END, FAULTS };
static const hdx_code codes[FAULTS] = { HDX_OK,   HDX_IO,   HDX_LIMIT, HDX_CANCELLED, HDX_BUSY,
                                        HDX_BUSY, HDX_BUSY, HDX_BUSY,  HDX_BUSY,      HDX_BUSY };

static enum fault kind;
static unsigned   before; /* so many go well */
static bool       fired;

static bool fails(enum fault what)
{
    if (kind != what || before-- != 0)
        return false;
    fired = true;
    return true;
}

static int64_t (*read_well)(hdx_io *io, int fd, void *to, uint64_t len, uint64_t offset);
static int64_t read_at(hdx_io *io, int fd, void *to, uint64_t len, uint64_t offset)
{
    return fails(READ) ? -EIO : read_well(io, fd, to, len, offset);
}
static bool refuse(void *context, uint64_t bytes)
{
    (void)context, (void)bytes;
    return fails(MEMORY);
}
static bool stop(void *context)
{
    (void)context;
    return fails(STOP);
}
static hdx_code called(enum fault what, hdx_error *err)
{
    return fails(what) ? hdx_fail(err, HDX_BUSY, "", HDX_NOWHERE, "not now") : HDX_OK;
}
static hdx_code heap(void *context, unsigned worker, const hdx_event *events, size_t n, hdx_error *err)
{
    (void)context, (void)worker, (void)events;
    cr_expect(n > 0);
    return called(HEAP, err);
}
static hdx_code top(void *context, const hdx_top *record, hdx_error *err)
{
    (void)context, (void)record;
    return called(TOP, err);
}
static hdx_code restart(void *context, hdx_error *err)
{
    (void)context;
    return called(RESTART, err);
}
static hdx_code begin(void *context, unsigned worker, uint64_t stretch, hdx_error *err)
{
    (void)context, (void)worker, (void)stretch;
    return called(BEGIN, err);
}
static hdx_code events_of(void *context, unsigned worker, const hdx_event *events, size_t n, hdx_error *err)
{
    (void)context, (void)worker, (void)events;
    cr_expect(n > 0);
    return called(EVENTS, err);
}
static hdx_code end(void *context, unsigned worker, uint64_t stretch, hdx_error *err)
{
    (void)context, (void)worker, (void)stretch;
    return called(END, err);
}

/* How a dump is read: surveyed and walked, or sampled to so many bytes. */
typedef struct reading {
    bool     packed, in_order;
    uint64_t sample;
} reading;

static hdx_code sample_all(hdx_source *source, uint64_t bytes, hdx_mem *mem, hdx_ticker *tick, hdx_error *err)
{
    hdx_sample sample;
    hdx_code   code = hdx_sample_open(source, 1, bytes, mem, tick, &sample, err);
    if (code != HDX_OK)
        return code;
    uint8_t *all = malloc(sample.size + 1);
    if (!sample.whole && sample.io.read_at(&sample.io, 0, all, sample.size, 0) != (int64_t)sample.size)
        code = hdx_fail(err, HDX_IO, "", HDX_NOWHERE, "the sample cannot be read");
    free(all);
    hdx_sample_close(&sample);
    return code;
}

static hdx_code read_all(const gm_bytes *file, reading how, hdx_error *err)
{
    gm_file                  door = gm_file_of(file);
    hdx_mem                  mem = { .refuse = refuse };
    hdx_ticker               tick;
    const hdx_progress       progress = { NULL, NULL, stop };
    hdx_source              *source;
    hdx_survey               survey;
    const hdx_survey_sink    sink = { NULL, heap, top, restart };
    const hdx_walk_visitor   visitor = { NULL, begin, events_of, end };
    const hdx_survey_options options = { .threads = 1, .sequential = how.in_order, .mem = &mem, .tick = &tick };
    hdx_code                 code;
    const enum fault         wanted = kind;
    kind = NONE; /* opening is not what is asked for */
    read_well = door.io.read_at;
    door.io.read_at = read_at;
    cr_assert(eq(int, hdx_source_open_io(&door.io, "a.hprof", NULL, &source, NULL), HDX_OK));
    kind = wanted;
    hdx_ticker_init(&tick, &progress, 1);
    hdx_ticker_step(&tick, "survey", 1, "bytes");
    if (how.sample > 0)
        code = sample_all(source, how.sample, &mem, &tick, err);
    else {
        code = hdx_hprof_survey(source, &options, &sink, &survey, err);
        if (code == HDX_OK) {
            code = hdx_hprof_walk(source, &survey, 1, &visitor, NULL, &mem, &tick, err);
            hdx_survey_free(&survey);
        }
    }
    hdx_ticker_free(&tick);
    hdx_source_close(source);
    cr_expect(eq(u64, atomic_load(&mem.used), 0));
    return code;
}

/* Gives how often something failed. */
static unsigned every_fault(const gm_bytes *plain, const char *what)
{
    static const reading readings[] = { { false, false, 0 },     { false, true, 0 },       { true, false, 0 },
                                        { false, false, 30000 }, { false, false, 300000 }, { true, false, 30000 },
                                        { true, false, 600000 } };
    gm_bytes             packed = { 0 };
    unsigned             times = 0;
    gm_member_put(&packed, plain->at, plain->len, &(gm_member){ .stored = true });
    for (size_t r = 0; r < sizeof readings / sizeof *readings; r++)
        for (enum fault f = NONE; f < FAULTS; f++) {
            const unsigned already = times;
            for (unsigned n = 0;; n += 1 + n / 8) {
                hdx_error err = { .message = "" };
                kind = f;
                before = n;
                fired = false;
                const hdx_code code = read_all(readings[r].packed ? &packed : plain, readings[r], &err);
                const bool     unused = f == READ && readings[r].packed && readings[r].sample > 0 && code == HDX_OK;
                /* `unused`: read ahead of what the sample wanted */
                const bool right = (code == (fired ? codes[f] : HDX_OK) || unused) && err.code == code;
                cr_expect(right, "%s, reading %zu, fault %d, %u went well: %s %s", what, r, (int)f, n,
                          hdx_code_name(code), err.message);
                if (!fired)
                    break;
                times++;
            }
            cr_expect(times > already || (f != READ && f != MEMORY && f != STOP), "%s, reading %zu, fault %d", what, r,
                      (int)f);
        }
    gm_free(&packed);
    return times;
}

static void flip(large *l, unsigned head, unsigned byte, uint8_t mask) { l->bytes.at[l->heads[head] + byte] ^= mask; }

Test(faults, come_back_from_large_dumps)
{
    static const struct {
        const char *what;
        unsigned    head, byte;
        uint8_t     mask;
    } cases[] = {
        { "sound", 0, 0, 0 },
        { "an unknown record", 1, 0, 0x40 },
        { "a record too long", 1, 5, 0x01 },
        { "a segment too short", 2, 8, 0x10 },
        { "a segment a little too short", 5, 8, 0x01 },
        { "a segment longer than the file", 2, 5, 0x40 },
        { "a segment of no length", 7, 0, 0 },
        { "an unknown sub-record", 3, 0, 0x40 },
        { "an unknown sub-record at the beginning", 2, 9, 0x40 },
        { "an array too long", 7, 9 + 1 + 8 + 4, 0x40 },
        { "an array a little too long", 7, 9 + 1 + 8 + 4 + 3, 0x01 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        large l = large_make(8, false);
        flip(&l, cases[i].head, cases[i].byte, cases[i].mask);
        if (i == 6)
            memset(l.bytes.at + l.heads[7] + 5, 0, 4);
        cr_expect(every_fault(&l.bytes, cases[i].what) > 100, "%s", cases[i].what);
        large_free(&l);
    }
    for (unsigned i = 0; i < 3; i++) {
        large l = large_make(4, i > 0);
        l.bytes.len -= i == 0 ? 150000 : i == 1 ? 20 : 0;
        if (i == 2)
            memset(l.bytes.at + dump_maker_heap_at(l.m) + 5, 0, 4);
        cr_expect(every_fault(&l.bytes, i == 0 ? "cut" : i == 1 ? "one record, cut" : "one record of no length") > 100);
        large_free(&l);
    }
}
