/*
 * test_figures.c - the numbers of a forecast, each reckoned a second time from what the heap was made of: references,
 * neighbours that are alike, disk, temporary files, memory of each step, to the byte.
 */
#include "making/making.h"
#include "support/dump_maker.h"
#include "support/folder.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#define STEPS   6u
#define MB      (1ull << 20)
#define RECORDS 5u /* of classes, which are walked by, too */

static char folder[TEST_FOLDER], dump[64], place[64];

static void enter(void)
{
    test_folder_make_fast(folder, "figures");
    (void)snprintf(dump, sizeof dump, "%s/a.hprof", folder);
    (void)snprintf(place, sizeof place, "%s/a.hdx", folder);
}
static void leave(void) { test_folder_remove(folder); }
TestSuite(figures, .init = enter, .fini = leave, .timeout = 60);

/* ---- a heap, and what is counted in it the slow way ---- */
typedef struct shape {
    uint8_t tag;
    unsigned class; /* 0, 1: known; 2: of no record */
    uint32_t count; /* elements, or bytes of fields */
    uint64_t refs[64];
} shape;

typedef struct made {
    uint64_t objects, references, like, likely, longest, locals, roots;
    shape    last;
    uint64_t from[2];
    bool     any;
} made;

static uint64_t seed;
static uint64_t lot(uint64_t of)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (seed >> 33) % of;
}

/* Fields of the two classes: so many of them are references. */
static const unsigned fields[2] = { 3, 10 };

/* `refs` of the object at `id`: all of them, as they stand. */
static void count(made *h, const shape *s, uint64_t id, const uint64_t *refs, uint64_t n)
{
    uint64_t   from[2] = { 0, 0 }, used = 0, changes = 0, last = 0;
    unsigned   k = 0;
    const bool known = s->tag != HDX_SUB_INSTANCE || s->class < 2;
    for (uint64_t i = 0; known && i < n; i++) {
        if (refs[i] == 0)
            continue;
        used++;
        changes += refs[i] != last;
        last = refs[i];
        if (k < 2 && i < 8)
            from[k++] = refs[i] - id;
    }
    h->objects++;
    h->references += s->tag == HDX_SUB_OBJECT_ARRAY ? changes : known ? used : s->count / 8;
    if (s->tag == HDX_SUB_OBJECT_ARRAY && used > h->longest)
        h->longest = used;
    const bool alike = h->any && s->tag == h->last.tag && s->class == h->last.class && s->count == h->last.count;
    h->like += alike && from[0] == h->from[0] && from[1] == h->from[1];
    h->likely += (alike && from[0] != 0 && from[0] == h->from[0]) + (alike && from[1] != 0 && from[1] == h->from[1]);
    h->from[0] = from[0];
    h->from[1] = from[1];
    h->last = *s;
    h->any = true;
}

static void put_unknown(dump_maker *m, uint64_t id, uint32_t bytes)
{
    uint8_t record[128] = { HDX_SUB_INSTANCE };
    for (unsigned i = 0; i < 8; i++) {
        record[1 + i] = (uint8_t)(id >> (56 - 8 * i));
        record[13 + i] = i == 6 ? 0x77 : i == 7 ? 0x70 : 0;
    }
    record[24] = (uint8_t)bytes;
    dump_maker_raw(m, record, 25 + bytes);
}

/*
 * Half of the objects are like the one before, or nearly: with another first or second reference, length or class.
 * `locals`: of so many roots.
 */
static made make_heap(unsigned objects, unsigned locals, unsigned long_array)
{
    made           h = { .objects = 0 };
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = dump_maker_class(m, "java/lang/Object", 0, "");
    uint64_t       classes[2], values[12], *slots = calloc(long_array + 1, 8), arrays[2];
    shape          s = { .tag = 0 };
    uint64_t       away[64] = { 0 };
    seed = objects;
    classes[0] = dump_maker_class(m, "app/A", object, "a:L i:I b:L c:L");
    classes[1] = dump_maker_class(m, "app/B", object, "a:L b:L c:L d:L e:L f:L g:L h:L i:L j:L");
    arrays[0] = dump_maker_class(m, "[Ljava/lang/Object;", object, "");
    arrays[1] = dump_maker_class(m, "[Lapp/A;", object, "");
    m->next_id = 1u << 20;
    for (unsigned i = 0; i < objects; i++) {
        const uint64_t what = lot(10), id = m->next_id;
        m->next_id += 256;
        if (s.tag == 0 || what < 3) { /* something else */
            static const uint8_t tags[] = { HDX_SUB_INSTANCE, HDX_SUB_INSTANCE, HDX_SUB_OBJECT_ARRAY,
                                            HDX_SUB_PRIMITIVE_ARRAY };
            s.tag = tags[lot(4)];
            s.class = (unsigned)lot(s.tag == HDX_SUB_INSTANCE ? 3 : s.tag == HDX_SUB_OBJECT_ARRAY ? 2 : 1);
            s.count = s.tag != HDX_SUB_INSTANCE ? (uint32_t)lot(14)
                      : s.class < 2             ? fields[s.class] * 8 + (s.class == 0 ? 4 : 0)
                                                : 24 + 4 * (uint32_t)lot(3);
            for (unsigned k = 0; k < 64; k++)
                away[k] = lot(3) == 0 ? 0 : 256 * (1 + lot(40));
        } else if (what < 6)
            away[lot(what == 5 ? 10 : 2)] = lot(4) == 0 ? 0 : 256 * (1 + lot(40));
        else if (what == 6 && s.tag != HDX_SUB_INSTANCE)
            s.count = (uint32_t)lot(14);
        const unsigned n = s.tag == HDX_SUB_PRIMITIVE_ARRAY ? 0
                           : s.tag == HDX_SUB_OBJECT_ARRAY  ? s.count
                           : s.class < 2                    ? fields[s.class]
                                                            : 0;
        for (unsigned k = 0; k < n; k++)
            s.refs[k] = away[k] == 0 ? 0 : id + away[k];
        if (s.tag == HDX_SUB_OBJECT_ARRAY)
            (void)dump_maker_array_at(m, id, arrays[s.class], s.refs, s.count);
        else if (s.tag == HDX_SUB_PRIMITIVE_ARRAY)
            (void)dump_maker_primitives_at(m, id, 'B', NULL, s.count);
        else if (s.class == 2)
            put_unknown(m, id, s.count);
        else {
            for (unsigned k = 0, at = 0; k < n; k++) {
                values[at++] = s.refs[k];
                if (s.class == 0 && k == 0)
                    values[at++] = i;
            }
            (void)dump_maker_instance_at(m, id, classes[s.class], values);
        }
        count(&h, &s, id, s.refs, n);
    }
    for (unsigned i = 0; i < long_array; i++)
        slots[i] = i % 7 == 3 ? 0 : (1u << 20) + 256ull * (i / 3);
    const uint64_t   id = m->next_id += 256;
    const shape      last = { .tag = HDX_SUB_OBJECT_ARRAY, .class = 0, .count = long_array };
    static const int tags[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    (void)dump_maker_array_at(m, id, arrays[0], slots, long_array);
    count(&h, &last, id, slots, long_array);
    for (unsigned i = 0; i < locals; i++) /* tag t has one in 2^t of them, about */
        for (unsigned t = 0; t < 8; t++)
            if (i % (1u << (t + 1)) == 0) {
                dump_maker_root(m, (uint8_t)tags[t], (1u << 20) + 256 * i, i + 1, 0);
                h.roots++;
                h.locals += tags[t] == 2 || tags[t] == 3 || tags[t] == 4 || tags[t] == 6;
            }
    dump_maker_save(m, dump);
    dump_maker_free(m);
    free(slots);
    return h;
}

/* ---- the figures again ---- */
static const struct {
    const char       *name;
    hdx_forecast_pass pass;
    double            object, reference; /* bytes, */
    double            object_ns, reference_ns, shared;
    unsigned          workers;
    hdx_step          from, to;
} costs[] = {
    { "scan", HDX_FORECAST_SCAN, 0, 0, 0, 0, 0, 0, HDX_STEP_OBJECTS, HDX_STEP_DOMINATORS },
    { "columns", HDX_FORECAST_COLUMNS, 0.75, 0, 12, 60, 0.95, 0, HDX_STEP_OBJECTS, HDX_STEP_DOMINATORS },
    { "objects", HDX_FORECAST_OBJECTS, 1.7, 0, 60, 0, 0.9, 0, HDX_STEP_OBJECTS, HDX_STEP_OBJECTS },
    { "objects", HDX_FORECAST_OBJECTS, 2.55, 1.7, 75, 25, 0.9, 0, HDX_STEP_OUTBOUND, HDX_STEP_DOMINATORS },
    { "references", HDX_FORECAST_REFERENCES, 1.05, 1.5, 5, 50, 0.85, 0, HDX_STEP_INBOUND, HDX_STEP_INBOUND },
    { "references", HDX_FORECAST_REFERENCES, 1.1, 1.7, 7, 85, 0.85, 0, HDX_STEP_DOMINATORS, HDX_STEP_DOMINATORS },
    { "dominators", HDX_FORECAST_DOMINATORS, 0, 0, 2, 24, 0.4, 2, HDX_STEP_DOMINATORS, HDX_STEP_DOMINATORS },
    { "retained", HDX_FORECAST_RETAINED, 0.8, 0.2, 11, 9, 0.55, 0, HDX_STEP_DOMINATORS, HDX_STEP_DOMINATORS },
};
#define COSTS (sizeof costs / sizeof *costs)

/* What is left of 1 where so many of all are alike. */
static double left_of(uint64_t alike, uint64_t all, double saved)
{
    return all == 0 ? 1 : 1 - saved * ((double)alike / (double)all) * ((double)alike / (double)all);
}

static void expect_bytes(const char *what, uint64_t got, uint64_t want, uint64_t off)
{
    cr_expect(got <= want + off && got + off >= want, "%s: %llu, not %llu", what, (unsigned long long)got,
              (unsigned long long)want);
}

static void expect_disk(const hdx_index_forecast *f, const made *h, hdx_step until, unsigned width)
{
    const double object = left_of(h->like, h->objects + RECORDS, 0.68),
                 reference = left_of(h->likely, h->references, 0.62);
    uint64_t all = 0;
    unsigned n = 0;
    for (size_t i = 0; i < COSTS; i++) {
        if (until < costs[i].from || until > costs[i].to)
            continue;
        const uint64_t want = (uint64_t)(costs[i].object * object * (double)f->objects +
                                         costs[i].reference * reference * (double)f->references);
        cr_assert_lt(n, f->step_count);
        cr_expect_str_eq(f->steps[n].name, costs[i].name);
        expect_bytes(costs[i].name, f->steps[n].disk, want, 1);
        all += f->steps[n++].disk;
    }
    cr_expect_eq(n, f->step_count);
    expect_bytes("disk", f->disk, all + all / 50 + 96 * 1024 + 160ull * f->classes + 16 * f->roots, 0);
    expect_bytes("temporary", f->temporary,
                 (uint64_t)((double)f->objects * left_of(h->like, h->objects + RECORDS, 0.1) * 7.2 * width / 32 +
                            (double)f->references * left_of(h->likely, h->references, 0.1) * 2),
                 1);
}

Test(figures, of_references_and_disk_are_those_of_the_heap)
{
    static const hdx_step until[] = { HDX_STEP_OBJECTS, HDX_STEP_OUTBOUND, HDX_STEP_INBOUND, HDX_STEP_DOMINATORS };
    static const unsigned heaps[][3] = {
        { 1, 0, 0 }, { 2, 1, 0 }, { 300, 40, 1 }, { 3000, 200, 40 }, { 20000, 7, 40000 }
    };
    for (size_t k = 0; k < sizeof heaps / sizeof *heaps; k++) {
        const made h = make_heap(heaps[k][0], heaps[k][1], heaps[k][2]);
        for (unsigned how = 0; how < 8; how++) {
            const hdx_index_options options = { .dump = dump,
                                                .index_dir = place,
                                                .threads = 1,
                                                .until = how == 3 ? (hdx_step)0 : until[how % 4],
                                                .width = how < 4 ? 0 : 64 };
            hdx_index_forecast      f;
            hdx_error               err;
            cr_assert(hdx_index_estimate(&options, &f, &err) == HDX_OK, "%s", err.message);
            cr_expect(f.whole && f.id_size == 8 && strcmp(f.version, "1.0.2") == 0);
            cr_expect_eq(f.roots, h.roots);
            cr_expect_eq(f.objects, f.classes + 1 + h.objects);
            cr_expect_eq(f.references, h.references + h.locals + 2 * f.classes, "heap %zu: %llu, not %llu", k,
                         (unsigned long long)f.references,
                         (unsigned long long)(h.references + h.locals + 2 * f.classes));
            expect_disk(&f, &h, until[how % 4], how < 4 ? 32 : 64);
        }
    }
}

/* ---- memory ---- */
static uint64_t raised(uint64_t n) { return (uint64_t)((double)n * 1.01 + 0.5); }

/* What is taken of a promise, as a rule. */
static uint64_t usual(const hdx_index_forecast *f, uint64_t n, unsigned threads, uint64_t budget, uint64_t promised)
{
    const uint64_t beside = HDX_BUILD_BESIDE + threads * HDX_BUILD_WORKER, roots = raised(f->roots) * 176,
                   few = 8 * MB + threads * MB + 64 * n, full = beside * 11 / 20, quarter = f->dump_size / 4,
                   ready = threads == 1 || budget != 0
                               ? 0
                               : 8 * MB + threads * 3 * MB + (quarter < 32 * MB ? quarter : 32 * MB);
    uint64_t most = few < full ? few : full;
    if (promised > beside + roots)
        promised -= roots;
    if (promised > beside)
        most += (promised - beside) * 17 / 20;
    return most > ready ? most : ready;
}

Test(figures, of_memory_are_those_that_a_budget_is_held_against)
{
    static const unsigned heaps[][3] = { { 5, 0, 0 }, { 3000, 800, 50 }, { 90000, 3000, 30000 } };
    static hdx_class      classes[64];
    for (size_t k = 0; k < sizeof heaps / sizeof *heaps; k++) {
        const made h = make_heap(heaps[k][0], heaps[k][1], heaps[k][2]);
        for (unsigned how = 0; how < 12; how++) {
            const unsigned          threads = how % 3 == 0 ? 1 : how % 3 == 1 ? 2 : 7, width = how < 6 ? 32 : 64;
            const uint64_t          budget = how / 3 % 2 == 0 ? 0 : 1ull << 30;
            const hdx_index_options options = {
                .dump = dump, .index_dir = place, .threads = threads, .width = width, .memory = budget
            };
            hdx_index_options  none = { .memory = 0 };
            hdx_index_forecast f;
            hdx_error          err;
            cr_assert(hdx_index_estimate(&options, &f, &err) == HDX_OK, "%s", err.message);
            cr_assert(f.step_count == STEPS && f.classes < 64);
            hdx_work        w = { .options = &none, .threads = threads };
            hdx_dump_tables t = { .classes = classes,
                                  .class_count = (uint32_t)f.classes,
                                  .objects = f.classes + 1 + raised(h.objects) };
            w.objects = t.objects;
            /* tables may be of any size: what they take follows from one of the steps */
            w.tables_bytes = f.steps[5].least - hdx_forecast(&w, &t, HDX_FORECAST_RETAINED, width, 0, true);
            uint64_t memory = 0, least = 0;
            for (unsigned i = 1; i < STEPS; i++) {
                const hdx_forecast_pass pass = (hdx_forecast_pass)i;
                const uint64_t          held = pass == HDX_FORECAST_COLUMNS ? h.longest : 0;
                expect_bytes("least", f.steps[i].least,
                             hdx_forecast(&w, &t, pass, width, raised(f.references), true) + 24 * held, 0);
                expect_bytes("memory", f.steps[i].memory,
                             usual(&f, t.objects, threads, budget,
                                   hdx_forecast(&w, &t, pass, width, raised(f.references), false)) +
                                 14 * held,
                             0);
            }
            const uint64_t scan = hdx_forecast(&w, &t, HDX_FORECAST_SCAN, width, 0, true);
            cr_expect(f.steps[0].least > scan, "what the tables took beside while they grew");
            expect_bytes("scan", f.steps[0].memory,
                         usual(&f, t.objects, threads, budget,
                               hdx_forecast(&w, &t, HDX_FORECAST_SCAN, width, raised(f.references), false)) +
                             (f.steps[0].least - scan),
                         0);
            for (unsigned i = 0; i < STEPS; i++) {
                memory = f.steps[i].memory > memory ? f.steps[i].memory : memory;
                least = f.steps[i].least > least ? f.steps[i].least : least;
            }
            cr_expect(f.memory == memory && f.least == least);
        }
    }
}

/* A root while it is resolved and in the catalog; what is hardly ever in use of that is not expected to be. */
Test(figures, of_memory_have_room_for_each_root)
{
    hdx_index_forecast f[2];
    uint64_t           roots[2];
    for (unsigned k = 0; k < 2; k++) {
        const hdx_index_options options = { .dump = dump, .index_dir = place, .threads = 1 };
        roots[k] = make_heap(20000, k * 8000, 0).roots;
        cr_assert(hdx_index_estimate(&options, &f[k], NULL) == HDX_OK);
    }
    const uint64_t more = roots[1] - roots[0], least = f[1].steps[5].least - f[0].steps[5].least;
    cr_expect(least >= more * 272 && least < more * 450, "%.1f bytes", (double)least / (double)more);
}

/* ---- time: that of a step beside another, whatever machine it is ---- */
Test(figures, of_time_are_in_proportion)
{
    static const hdx_step until[] = { HDX_STEP_OBJECTS, HDX_STEP_OUTBOUND, HDX_STEP_INBOUND, HDX_STEP_DOMINATORS };
    (void)make_heap(60000, 0, 0);
    for (unsigned threads = 1; threads <= 5; threads += 2)
        for (unsigned how = 0; how < 4; how++) {
            const hdx_index_options options = {
                .dump = dump, .index_dir = place, .threads = threads, .until = until[how]
            };
            hdx_index_forecast f;
            double             unit = 0;
            uint64_t           all = 0;
            unsigned           n = 0;
            cr_assert(hdx_index_estimate(&options, &f, NULL) == HDX_OK);
            for (size_t i = 0; i < COSTS; i++) {
                if (until[how] < costs[i].from || until[how] > costs[i].to)
                    continue;
                const unsigned workers =
                    costs[i].workers != 0 && costs[i].workers < threads ? costs[i].workers : threads;
                const double cpu =
                                 costs[i].object_ns * (double)f.objects + costs[i].reference_ns * (double)f.references,
                             wall = cpu * (1 - costs[i].shared + costs[i].shared / workers);
                const uint64_t got = f.steps[n++].wall_ns;
                all += got;
                if (costs[i].pass == HDX_FORECAST_SCAN)
                    continue;
                unit = unit == 0 ? (double)got / wall : unit;
                cr_expect((double)got >= wall * unit * 0.999 && (double)got <= wall * unit * 1.001, "%s: %.3f of %.3f",
                          costs[i].name, (double)got / wall, unit);
            }
            cr_expect(f.wall_ns == all && unit >= 0.4 && unit <= 8 * 1.3, "%.3f", unit);
        }
}

/* With the figures as they stand a byte takes 0.36 ns in the walk, and 0.45 in the first pass. */
Test(figures, of_time_follow_what_the_sample_took)
{
    static const uint64_t bytes = 1u << 20;
    const uint64_t        cpu = bytes * 36 / 100;
    const struct {
        hdx_sample_times times;
        double           pace, wait, scan_ns;
    } cases[] = {
        { { bytes - 1, 1e9, 1u << 30, 9 * cpu, 9 * cpu, false, 0, 1, 1 },
          1,
          1,
          0.45e9 }, /* too short to tell anything */
        { { bytes, 1e9, 0, cpu, cpu, false, 0, 1, 1 }, 1, 1, 0.45e9 },
        { { bytes, 1e9, 0, cpu, cpu, false, 0, 1, 4 }, 1, 1, 0.45e9 / 4 },
        { { bytes, 3e9, 0, 2 * cpu, 2 * cpu, false, 0, 1, 1 }, 2, 1, 2.7e9 },
        { { bytes, 1e9, 0, cpu / 2, cpu / 2, false, 0, 1, 1 }, 0.5, 1, 0.225e9 },
        { { bytes, 1e9, 0, cpu / 4, cpu / 4, false, 0, 1, 1 }, 0.4, 1, 0.18e9 },
        { { bytes, 1e9, 0, 9 * cpu, 9 * cpu, false, 0, 1, 1 }, 8, 1, 3.6e9 },
        { { bytes, 1e9, 0, cpu * 6 / 10, cpu, false, 0, 2, 2 }, 1, 1.2, 0.27e9 }, /* others were at work, too */
        { { bytes, 1e9, 0, cpu, cpu, false, 0, 2, 2 }, 1, 1.3, 0.2925e9 },
        { { bytes, 1e9, 0, cpu / 3, cpu, false, 0, 2, 2 }, 1, 1, 0.225e9 },
        { { bytes, 1e9, 0, 5, 0, false, 0, 1, 1 }, 0.4, 1.3, 0.234e9 },
        { { bytes, 1e9, 0, 1, 0, false, 0, 1, 1 }, 0.4, 1, 0.18e9 },
        { { bytes, (double)bytes * 10, bytes / 2, cpu, cpu, false, 0, 1, 1 }, 1, 1, 4.5 * (double)bytes },
        { { bytes, (double)bytes * 10, bytes, cpu, cpu, false, 0, 1, 1 }, 1, 1, 10.0 * (double)bytes }, /* the disk */
        { { bytes, (double)bytes * 10, bytes, cpu, cpu, true, 0, 1, 1 }, 1, 1, 4.5 * (double)bytes },
        { { bytes - 1, (double)bytes * 10, bytes, cpu, cpu, false, 0, 1, 1 }, 1, 1, 4.5 * (double)bytes },
        { { bytes, 1e9, 0, 9 * cpu, 3 * cpu, true, (double)cpu, 1, 1 }, 2, 1, 0.9e9 },
        { { bytes, 1e9, 0, 9 * cpu, 3 * cpu, true, 2.0 * (double)cpu, 1, 1 }, 1.5, 1, 0.675e9 },
        { { bytes, 1e9, 0, 9 * cpu, 3 * cpu, true, 0, 1, 1 }, 3, 1.3, 1.755e9 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const hdx_sample_pace p = hdx_forecast_pace(&cases[i].times);
        cr_expect(p.pace > cases[i].pace * 0.9999 && p.pace < cases[i].pace * 1.0001, "case %zu: %f", i, p.pace);
        cr_expect(p.wait > cases[i].wait * 0.9999 && p.wait < cases[i].wait * 1.0001, "case %zu: %f", i, p.wait);
        cr_expect(p.scan_ns > cases[i].scan_ns * 0.9999 && p.scan_ns < cases[i].scan_ns * 1.0001, "case %zu: %f", i,
                  p.scan_ns);
    }
}

/* ---- a part of the heap ---- */
/*
 * Objects of one class, each of the same length; roots that take as many bytes as is reckoned for one; classes that are
 * loaded and have no record, frames.
 */
static void make_even(bool one_segment, unsigned frames)
{
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = dump_maker_class(m, "java/lang/Object", 0, "");
    const uint64_t node = dump_maker_class(m, "app/A", object, "a:L i:I b:L c:L");
    for (unsigned i = 0; i < 20; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "app/L%u", i);
        (void)dump_maker_load(m, 0x9000 + i * 64, name);
    }
    for (unsigned i = 0; i < frames; i++)
        (void)dump_maker_frame(m, "run", 1, (int32_t)i);
    m->next_id = 1u << 20;
    for (unsigned i = 0; i < 3000; i++) {
        dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, (1u << 20) + 256 * i, 0, 0);
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, (1u << 20) + 256 * i, 0, 0);
    }
    for (unsigned i = 0; i < 60000; i++) {
        if (i % 250 == 0 && !one_segment)
            dump_maker_segment(m);
        (void)dump_maker_instance_at(m, (1u << 20) + 256 * i, node,
                                     DUMP_VALUES((1u << 20) + 256 * (i * 7919ull % 60000), i, 0, (1u << 20)));
    }
    dump_maker_save(m, dump);
    dump_maker_free(m);
}

Test(figures, of_a_part_are_raised_to_those_of_the_whole)
{
    for (unsigned how = 0; how < 4; how++) {
        const unsigned          frames = how < 2 ? 100 : 9001;
        const hdx_index_options options = { .dump = dump, .index_dir = place, .threads = 1 };
        const double            raise = how % 2 == 0 ? 1.06 : 1.25;
        hdx_index_forecast      f, all;
        hdx_error               err;
        make_even(how % 2 != 0, frames);
        cr_assert(hdx_index_estimate_from(&options, 200u << 10, &f, &err) == HDX_OK, "%s", err.message);
        cr_assert(hdx_index_estimate(&options, &all, &err) == HDX_OK, "%s", err.message);
        cr_expect(!f.whole && f.sampled_bytes < 1u << 20, "%llu", (unsigned long long)f.sampled_bytes);
        cr_expect(f.roots == 6000 && all.roots == 6000 && all.objects == all.classes + 60001);
        cr_expect(f.classes == 22 && all.classes < f.classes, "%llu", (unsigned long long)f.classes);
        cr_expect(f.objects - f.classes > 59940 && f.objects - f.classes < 60060, "%llu",
                  (unsigned long long)f.objects);
        cr_expect(f.references > 2 * f.objects - 200 && f.references < 2 * f.objects + 200, "%llu",
                  (unsigned long long)f.references);
        uint64_t disk = 0;
        for (unsigned i = 0; i < f.step_count; i++)
            disk += f.steps[i].disk;
        expect_bytes("disk of frames", f.disk,
                     disk + disk / 50 + 96 * 1024 + 160 * f.classes + 16 * (how < 2 ? 6000 : 9001 * 3 / 2), 0);
        /* two steps whose promises differ by what an object takes */
        const double n = (double)(f.steps[5].least + 2 * MB - f.steps[1].least) / 7.75,
                     right = (double)f.classes + 1 + ((double)f.objects - (double)f.classes - 1) * raise;
        cr_expect(n > right * 0.9999 && n < right * 1.0001, "%u: %.1f, not %.1f", how, n, right);
    }
}
