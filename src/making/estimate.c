/*
 * estimate.c - estimates the cost of an index from a short sample of the dump, before anything is built.
 *
 * In:  a sample (hprof/sample.h): the first pass over it, then a walk that counts the references that are not null.
 * Out: hdx_index_forecast: objects and references scaled to the file; memory, disk and time of each step. Equal
 *      neighbours in an array count once, as a list contains each object once.
 * Neighbours that are alike take little space in an index; their number is counted in that walk, too.
 * Memory is that of forecast.c, the same limit that --memory is checked against; if the sample is not the whole heap,
 * counts are raised so that the limit is not exceeded. Disk and time follow from figures per object and per reference
 * (bench/, Mix and Shop); the speed of the sample gives the speed of this machine relative to the one of the
 * measurements.
 * Writes nothing. Cost: the record headers of the file, and about HDX_SAMPLE_BYTES of it twice.
 */
#include "making/making.h"
#include "hprof/sample.h"

#include <stdlib.h>
#include <stdio.h>

/*
 * CPU time and bytes of a step by object and by reference (without class references): the best fit to the rows `steps`
 * of bench/run for Mix (45.0 M objects, 62.9 M references), Shop (17.6 M, 35.4 M) and a database (5.8 M, 7.2 M) on two
 * threads. Times are one eighth less than measured, because `wait` below adds a part of them. `shared`: the fraction of
 * the time that more workers reduce.
 */
static const struct cost {
    const char       *name;
    hdx_forecast_pass pass;
    double            object_ns, reference_ns, shared;
    unsigned          workers; /* most that a step can use; 0: any number */
    double            object_bytes, reference_bytes;
    hdx_step          from, to; /* for which `until` the step runs */
} costs[] = {
    { "scan", HDX_FORECAST_SCAN, 0, 0, 1, 0, 0, 0, HDX_STEP_OBJECTS, HDX_STEP_DOMINATORS }, /* measured on the sample */
    { "columns", HDX_FORECAST_COLUMNS, 12, 60, 0.95, 0, 0.75, 0, HDX_STEP_OBJECTS, HDX_STEP_DOMINATORS },
    { "objects", HDX_FORECAST_OBJECTS, 60, 0, 0.9, 0, 1.7, 0, HDX_STEP_OBJECTS, HDX_STEP_OBJECTS },
    { "objects", HDX_FORECAST_OBJECTS, 75, 25, 0.9, 0, 2.55, 1.7, HDX_STEP_OUTBOUND, HDX_STEP_DOMINATORS },
    { "references", HDX_FORECAST_REFERENCES, 5, 50, 0.85, 0, 1.05, 1.5, HDX_STEP_INBOUND, HDX_STEP_INBOUND },
    { "references", HDX_FORECAST_REFERENCES, 7, 85, 0.85, 0, 1.1, 1.7, HDX_STEP_DOMINATORS, HDX_STEP_DOMINATORS },
    { "dominators", HDX_FORECAST_DOMINATORS, 2, 24, 0.4, 2, 0, 0, HDX_STEP_DOMINATORS, HDX_STEP_DOMINATORS },
    { "retained", HDX_FORECAST_RETAINED, 11, 9, 0.55, 0, 0.8, 0.2, HDX_STEP_DOMINATORS, HDX_STEP_DOMINATORS },
};
#define STEPS (sizeof costs / sizeof *costs)

#define SCAN_NS     0.45        /* CPU time for a byte of Shop in the first pass on that machine */
#define ROOT_NS     1500.0      /* a root and the frames of its thread, until the catalog has it */
#define WALK_NS     0.36        /* a byte of a sample in the walk there: Mix 0.39, Shop 0.34, the database 0.32 */
#define PACE_BYTES  (1u << 20)  /* a shorter sample does not show the speed */
#define FILES_BYTES (96u << 10) /* heads, sections and sums of the files; an empty catalog */
/*
 * Bytes at the worst moment: within a tenth of Shop, Mix, the database, plus a tenth, because a refusal depends on it.
 */
#define TEMPORARY_OBJECT    7.2
#define TEMPORARY_REFERENCE 2.0
/*
 * Fraction of an object's bytes that is saved if class, length and first references are like those of the one before.
 */
#define LIKE_SAVES     0.68
#define LIKELY_SAVES   0.62 /* same for a reference: lists, trees, arrays and leaves (Deep); Mix, Shop, Leaky */
#define LIKE_TEMPORARY 0.1  /* temporary files save less */
/* Bytes of the spill file: Mix of 45 M, a database; up to a third less for smaller heaps. */
#define SPILL_OBJECT    2.5
#define SPILL_REFERENCE 3.8
#define BASE_MEMORY     (8ull << 20) /* of a build of a tiny dump: code, stacks, small tables */
#define BASE_WORKER     (1ull << 20)
#define READY_AGAIN     (2ull << 20) /* for each thread, if memory is prepared */
#define BASE_OBJECT     64u          /* until buffers and pages are full */
#define CLASS_BYTES     160u         /* of the catalog: names, fields, statics of a class */
#define ROOT_BYTES      16u
/*
 * Locals per frame, times two, if the sample does not reach the roots of threads: the most that is assumed. Threads has
 * 0.67.
 */
#define FRAME_LOCALS_HALVES 3u
/* Bytes that an element of the longest array may need under a budget, which counts all requested memory. */
#define ELEMENT_HELD    24u
#define ELEMENT_TOUCHED 14u /* bytes of it that are touched: Deep with 40 M slots needed 10 */
/*
 * If reading before the step objects takes 3 s, it ends in a checkpoint (order.c), and the spill file then stays until
 * the next checkpoint, after that step if that takes 3 s, too. Here it is a quarter less and a half more, because
 * forecasts of seconds are no more precise.
 */
#define READ_LONG_NS    2250000000u
#define OBJECTS_LONG_NS 4500000000u
/* Bytes of a root while it is resolved, afterwards, and in the catalog while that is written. */
#define ROOT_MEMORY    272u
#define ROOT_SPARE     176u         /* of that, what is rarely in use at the same time */
#define SLICES_MEMORY  (24u << 20)  /* inflated slices that the workers share, decoders */
#define POINT_EVERY    (768u << 10) /* dump bytes per seek point; bytes of memory that it needs: */
#define POINT_MEMORY   192u         /* the list doubles when it grows */
#define STRETCH_MEMORY 128u

typedef struct counter {
    hdx_build       *b;
    _Atomic uint64_t references;
    _Atomic uint64_t like, likely; /* objects like the one before, references with the same distance as in it */
    _Atomic uint64_t longest;      /* longest object array, in elements that are not null */
    struct held {                  /* state of the array that a worker reads */
        uint8_t  apart[HDX_APART];
        uint64_t used;
        hdx_addr last;
    } held[HDX_WORKERS_MAX];
    struct before { /* the last object of a worker */
        uint8_t  apart[HDX_APART];
        hdx_addr class_addr;
        uint64_t count;
        uint64_t from[2]; /* distances to its first references, without nulls; 0: none */
        uint8_t  tag;
    } before[HDX_WORKERS_MAX];
} counter;

/* Counts elements that are not null and differ from the one before. */
static uint64_t of_array(struct held *h, const hdx_event *e, uint32_t id_size)
{
    const uint64_t n = e->body_len / id_size;
    uint64_t       used = 0, changes = 0;
    hdx_addr       last = e->body_from == 0 ? 0 : h->last;
    for (uint64_t i = 0; i < n; i++) {
        const hdx_addr to = hdx_be_id(e->body + i * id_size, id_size);
        used += to != 0;
        changes += to != 0 && to != last;
        last = to != 0 ? to : last;
    }
    h->used = e->body_from == 0 ? used : h->used + used;
    h->last = last;
    return changes;
}

static uint64_t of_instance(const hdx_build *b, const hdx_event *e, const hdx_class_layout *l)
{
    const uint32_t id_size = b->dump.survey.head.id_size;
    uint64_t       count = 0;
    for (uint32_t i = 0; i < l->references && (uint64_t)b->tables.lookup.offsets[l->first + i] + id_size <= e->body_len;
         i++)
        count += hdx_be_id(e->body + b->tables.lookup.offsets[l->first + i], id_size) != 0;
    return count;
}

/* Neighbours that are alike take few bits in an index file. */
static void compare(struct before *p, const hdx_event *e, const uint64_t from[2], uint64_t *like, uint64_t *likely)
{
    const bool alike = e->tag == p->tag && e->class_addr == p->class_addr && e->count == p->count;
    *like += alike && from[0] == p->from[0] && from[1] == p->from[1];
    for (unsigned k = 0; k < 2; k++)
        *likely += from[k] != 0 && alike && from[k] == p->from[k];
    p->tag = e->tag;
    p->class_addr = e->class_addr;
    p->count = e->count;
    p->from[0] = from[0];
    p->from[1] = from[1];
}

/* The first two references of an object, as distances from it. */
static void first_references(const hdx_build *b, const hdx_event *e, const hdx_class_layout *l, uint64_t from[2])
{
    const uint32_t id_size = b->dump.survey.head.id_size;
    const uint64_t n = l != NULL ? l->references : e->tag == HDX_SUB_OBJECT_ARRAY ? e->body_len / id_size : 0;
    unsigned       k = 0;
    for (uint64_t i = 0; i < n && i < 8 && k < 2; i++) {
        const uint64_t at = l != NULL ? b->tables.lookup.offsets[l->first + i] : i * id_size;
        const hdx_addr to = at + id_size <= e->body_len ? hdx_be_id(e->body + at, id_size) : 0;
        if (to != 0)
            from[k++] = to - e->addr;
    }
}

/* An instance whose class or fields are unknown counts as many references as its bytes can hold. */
static hdx_code count_references(void *context, unsigned worker, const hdx_event *events, size_t n, hdx_error *err)
{
    counter         *c = context;
    const hdx_build *b = c->b;
    const uint32_t   id_size = b->dump.survey.head.id_size;
    hdx_addr         last = 0;
    uint32_t         number = HDX_NO_CLASS;
    uint64_t         count = 0, longest = 0, like = 0, likely = 0, seen = atomic_load(&c->longest);
    (void)err;
    for (size_t i = 0; i < n; i++) {
        const hdx_event *e = &events[i];
        if (e->tag == HDX_SUB_OBJECT_ARRAY) {
            count += of_array(&c->held[worker], e, id_size);
            longest = longest > c->held[worker].used ? longest : c->held[worker].used;
        }
        if (e->tag != HDX_SUB_INSTANCE) {
            uint64_t from[2] = { 0, 0 };
            if ((e->tag == HDX_SUB_OBJECT_ARRAY || e->tag == HDX_SUB_PRIMITIVE_ARRAY) && e->body_from == 0) {
                first_references(b, e, NULL, from);
                compare(&c->before[worker], e, from, &like, &likely);
            }
            continue;
        }
        if (e->class_addr != last || number == HDX_NO_CLASS) {
            last = e->class_addr;
            number = hdx_class_at(&b->tables, e->class_addr);
        }
        const bool known =
            number != HDX_NO_CLASS && (b->tables.classes[number].flags & (HDX_CLASS_OPAQUE | HDX_CLASS_INVENTED)) == 0;
        count += known ? of_instance(b, e, &b->tables.lookup.layouts[number]) : e->count / id_size;
        uint64_t from[2] = { 0, 0 };
        if (known)
            first_references(b, e, &b->tables.lookup.layouts[number], from);
        compare(&c->before[worker], e, from, &like, &likely);
    }
    atomic_fetch_add_explicit(&c->like, like, memory_order_relaxed);
    atomic_fetch_add_explicit(&c->likely, likely, memory_order_relaxed);
    atomic_fetch_add_explicit(&c->references, count, memory_order_relaxed);
    while (seen < longest && !atomic_compare_exchange_weak(&c->longest, &seen, longest))
        ;
    return HDX_OK;
}

static hdx_code nothing(void *context, unsigned worker, uint64_t stretch, hdx_error *err)
{
    (void)context;
    (void)worker;
    (void)stretch;
    (void)err;
    return HDX_OK;
}

/* Results of the sample, and how to scale them. */
typedef struct findings {
    const hdx_index_options *options;
    const hdx_sample        *sample;
    uint64_t                 source_memory; /* for all of a compressed dump */
    uint64_t                 seek_bytes;    /* of its seek points: first in a temporary file, then in the index */
    double                   inflate_ns;    /* time to inflate all of it once; 0: not compressed */
    double                   scale;         /* ratio of instances and arrays in the file to those in the sample */
    double                   raise;         /* factor for counts, so that the limit holds */
    uint64_t                 references, classes, roots, locals;
    uint64_t                 frames; /* of stacks: used to predict roots of threads if the sample does not reach them */
    uint64_t                 like, likely, walked; /* of the sample: see counter; objects */
    uint64_t                 longest;              /* longest object array, without nulls */
    hdx_sample_pace          pace;
} findings;

static uint64_t scaled(uint64_t n, double by) { return (uint64_t)((double)n * by + 0.5); }

/* Class records and roots are completely in the sample; its other bytes represent the other records of the heap. */
static double find_scale(const hdx_build *b, const hdx_sample *s)
{
    uint64_t about = b->dump.scan.roots.count * (5u + b->dump.survey.head.id_size) + b->dump.scan.class_bytes;
    if (s->all)
        return 1;
    if (about >= s->taken_bytes)
        about = 0;
    return (double)(s->heap_bytes - about) / (double)(s->taken_bytes - about);
}

/*
 * The walk reads bytes that are already cached, so it shows the speed of the machine; the first pass shows the cost of
 * reading.
 */
hdx_sample_pace hdx_forecast_pace(const hdx_sample_times *t)
{
    const double    bytes = (double)t->bytes, cpu = (double)t->walk_cpu;
    const bool      measured = t->bytes >= PACE_BYTES;
    hdx_sample_pace p = { .pace = 1, .wait = 1 };
    if (measured && t->walk_inflate_ns > 0)
        p.pace = (cpu > 2 * t->walk_inflate_ns ? cpu - t->walk_inflate_ns : cpu / 2) / (WALK_NS * bytes);
    else if (measured) {
        p.pace = cpu / (WALK_NS * bytes);
        p.wait = (double)t->walk_wall * t->walkers / (cpu > 0 ? cpu : 1);
    }
    p.pace = p.pace < 0.4 ? 0.4 : p.pace > 8 ? 8 : p.pace;
    p.wait = p.wait < 1 ? 1 : p.wait > 1.3 ? 1.3 : p.wait;
    p.scan_ns = SCAN_NS * p.pace * p.wait * t->read / t->threads;
    /* on a slow disk, the speed of the sample */
    if (measured && !t->inflated && (double)t->scan_wall / bytes * t->read > 2 * p.scan_ns)
        p.scan_ns = (double)t->scan_wall / bytes * t->read;
    return p;
}

/* Changes the members of b that hdx_forecast reads to those of a build of the whole dump. */
static void scale_build(hdx_build *b, const findings *f)
{
    const hdx_sample *s = f->sample;
    const uint64_t    used = atomic_load(&b->work.mem.used);
    const double      by = f->scale * f->raise;
    hdx_addresses_close(b->tables.lookup.ids);
    b->tables.lookup.ids = NULL;
    const uint64_t set = used - atomic_load(&b->work.mem.used);
    b->work.tables_bytes =
        used - set + scaled(set, by) + scaled(f->roots, f->raise) * ROOT_MEMORY + s->stretches * STRETCH_MEMORY;
    b->tables.objects = f->classes + 1 + s->arrays + scaled(b->dump.survey.objects - b->dump.scan.classes.count, by);
    b->work.objects = b->tables.objects;
    for (uint32_t i = 0; i < b->tables.class_count; i++)
        b->tables.classes[i].instances = scaled(b->tables.classes[i].instances, by);
}

static double wall_of(const hdx_build *b, const findings *f, const struct cost *c, uint64_t objects,
                      uint64_t references)
{
    const unsigned threads = c->workers != 0 && c->workers < b->work.threads ? c->workers : b->work.threads;
    const double   cpu = f->pace.pace * (c->object_ns * (double)objects + c->reference_ns * (double)references);
    if (c->pass == HDX_FORECAST_SCAN)
        return f->pace.scan_ns + f->inflate_ns + ROOT_NS * f->pace.pace * (double)f->roots;
    /* the second pass inflates from seek points, on all workers */
    return cpu * (1 - c->shared + c->shared / threads) * f->pace.wait +
           (c->pass == HDX_FORECAST_COLUMNS ? f->inflate_ns / threads : 0);
}

/*
 * Returns the fraction of a step's bytes that is left if some objects or references are like their neighbours. A few of
 * them save nothing: a page is as wide as its widest value.
 */
static double left_of(uint64_t alike, uint64_t all, double saved)
{
    const double part = all > alike ? (double)alike / (double)all : 1;
    return 1 - saved * part * part;
}

static uint64_t bytes_of(const struct cost *c, const findings *f, uint64_t objects, double references)
{
    const double object = c->object_bytes * (f->walked > 0 ? left_of(f->like, f->walked, LIKE_SAVES) : 1);
    const double reference =
        c->reference_bytes * (f->references > 0 ? left_of(f->likely, f->references, LIKELY_SAVES) : 1);
    return (uint64_t)(object * (double)objects + reference * references);
}

static uint64_t base_memory(const hdx_build *b) { return BASE_MEMORY + b->work.threads * BASE_WORKER; }

/*
 * Memory that is prepared before it is known whether it is needed (index.c), and that the first pass uses of it, which
 * is prepared again.
 */
static uint64_t ready(const hdx_build *b, const findings *f)
{
    const uint64_t size = hdx_source_file_size(f->sample->source) / 4;
    if (b->work.threads == 1 || f->options->memory != 0)
        return 0;
    return base_memory(b) + b->work.threads * READY_AGAIN + (size < HDX_BUILD_READY ? size : HDX_BUILD_READY);
}

/*
 * A limit allows for the worst case; without a budget less is used. Highest result measured: 0.93 of this (Shop,
 * threads, classes).
 */
static uint64_t usual(const hdx_build *b, const findings *f, uint64_t promised)
{
    const uint64_t fixed = HDX_BUILD_BESIDE + b->work.threads * HDX_BUILD_WORKER,
                   roots = scaled(f->roots, f->raise) * ROOT_SPARE;
    const uint64_t full = fixed * 11 / 20, few = base_memory(b) + BASE_OBJECT * b->tables.objects;
    const uint64_t base = f->inflate_ns == 0 && few < full ? few : full; /* inflated slices are always used */
    promised -= promised > fixed + roots ? roots : 0;
    const uint64_t most = promised <= fixed ? base : base + (promised - fixed) * 17 / 20;
    return most > ready(b, f) ? most : ready(b, f);
}

bool hdx_forecast_spill_stays(uint64_t read_ns, uint64_t objects_ns)
{
    return read_ns >= READ_LONG_NS && objects_ns < OBJECTS_LONG_NS;
}

static void fill(hdx_build *b, const findings *f, uint64_t scan_peak, hdx_index_forecast *out)
{
    const hdx_sample *s = f->sample;
    const hdx_step    until = f->options->until == 0 ? HDX_STEP_DOMINATORS : f->options->until;
    const uint64_t    bound = scaled(hdx_classes_reference_bound(&b->tables), f->scale) + s->slots;
    const uint64_t    objects =
        f->classes + 1 + s->arrays + scaled(b->dump.survey.objects - b->dump.scan.classes.count, f->scale);
    /* an array counts each object once */
    const uint64_t tables = s->references / objects >= s->tables ? s->tables * objects : s->references;
    const double   references =
        (double)f->references * f->scale + (double)tables + (double)f->locals + 2.0 * (double)f->classes;
    out->objects = objects;
    out->references = (uint64_t)references;
    out->classes = f->classes;
    out->roots = f->roots;
    scale_build(b, f);
    const uint64_t most = scaled((uint64_t)references, f->raise);
    uint64_t       read_ns = 0, objects_ns = 0;
    unsigned       width = b->tables.objects >= UINT32_MAX - 2 || scaled(bound, f->raise) >= UINT32_MAX - 2 ? 64 : 32;
    if (f->options->width != 0)
        width = f->options->width;
    for (unsigned i = 0; i < STEPS; i++) {
        const struct cost       *c = &costs[i];
        hdx_index_step_forecast *step = &out->steps[out->step_count];
        if (until < c->from || until > c->to)
            continue;
        (void)snprintf(step->name, sizeof step->name, "%s", c->name);
        step->memory = usual(b, f, hdx_forecast(&b->work, &b->tables, c->pass, width, most, false));
        step->least = hdx_forecast(&b->work, &b->tables, c->pass, width, most, true);
        if (c->pass == HDX_FORECAST_SCAN || c->pass == HDX_FORECAST_COLUMNS) { /* later steps do not read the dump */
            step->memory += f->source_memory;
            step->least += f->source_memory;
        }
        if (c->pass == HDX_FORECAST_SCAN) {
            step->memory += scan_peak;
            step->least += scan_peak;
        }
        if (c->pass == HDX_FORECAST_COLUMNS) { /* a worker stores all elements of an array, and packs them */
            step->memory += ELEMENT_TOUCHED * f->longest;
            step->least += ELEMENT_HELD * f->longest;
        }
        step->disk = bytes_of(c, f, objects, references);
        /* all elements of an array are read, even repeated ones */
        step->wall_ns = (uint64_t)wall_of(
            b, f, c, objects, (uint64_t)references + (c->pass == HDX_FORECAST_COLUMNS ? s->references - tables : 0));
        read_ns += c->pass <= HDX_FORECAST_COLUMNS ? step->wall_ns : 0;
        objects_ns += c->pass == HDX_FORECAST_OBJECTS ? step->wall_ns : 0;
        out->memory = out->memory > step->memory ? out->memory : step->memory;
        out->least = out->least > step->least ? out->least : step->least;
        out->disk += step->disk;
        out->wall_ns += step->wall_ns;
        out->step_count++;
    }
    const uint64_t locals = f->frames * FRAME_LOCALS_HALVES / 2;
    out->disk += out->disk / 50; /* above most results rather than in the middle of them */
    out->disk += FILES_BYTES + (uint64_t)CLASS_BYTES * f->classes +
                 (uint64_t)ROOT_BYTES * (f->roots > locals ? f->roots : locals);
    out->disk += f->seek_bytes;
    /*
     * The search, referrers, input of the dominators, bits of a checkpoint: all of them are removed at the end of a
     * step. The spill file was removed before, unless a checkpoint needs it.
     */
    const double object_left = f->walked > 0 ? left_of(f->like, f->walked, LIKE_TEMPORARY) : 1;
    const double reference_left = f->references > 0 ? left_of(f->likely, f->references, LIKE_TEMPORARY) : 1;
    out->temporary = (uint64_t)((double)objects * object_left * TEMPORARY_OBJECT * width / 32 +
                                references * reference_left * TEMPORARY_REFERENCE) +
                     f->seek_bytes;
    if (hdx_forecast_spill_stays(read_ns, objects_ns))
        out->temporary += (uint64_t)((double)objects * SPILL_OBJECT + references * SPILL_REFERENCE);
}

static hdx_code learn_with(hdx_build *b, counter *counted, findings *f, uint64_t *scan_peak, hdx_error *err)
{
    const hdx_walk_visitor visitor = { counted, nothing, count_references, nothing };
    uint64_t               wall = hdx_now_ns(), cpu, scan_wall;
    hdx_code               code;
    hdx_ticker_step(&b->work.tick, "sample", hdx_source_file_size(b->dump.source), "bytes");
    const hdx_reading in = hdx_reading_of(b);
    if ((code = hdx_scan(&in, err)) != HDX_OK || (code = hdx_classes_resolve(&in, err)) != HDX_OK)
        return code;
    const uint64_t used = atomic_load(&b->work.mem.used), peak = atomic_load(&b->work.mem.peak);
    *scan_peak = peak > used ? peak - used : 0;
    scan_wall = hdx_now_ns() - wall;
    wall = hdx_now_ns();
    cpu = hdx_cpu_ns();
    if ((code = hdx_hprof_walk(b->dump.source, &b->dump.survey, b->work.threads, &visitor, NULL, &b->work.mem, NULL,
                               err)) != HDX_OK)
        return code;
    f->references = atomic_load(&counted->references);
    f->like = atomic_load(&counted->like);
    f->likely = atomic_load(&counted->likely);
    f->walked = b->dump.survey.objects;
    f->longest = atomic_load(&counted->longest);
    f->longest = f->longest > f->sample->longest ? f->longest : f->sample->longest;
    f->classes = b->tables.class_count; /* classes without a class record in the sample are loaded nevertheless */
    if (!f->sample->all && b->dump.survey.top_records[HDX_TOP_LOAD_CLASS] > f->classes)
        f->classes = b->dump.survey.top_records[HDX_TOP_LOAD_CLASS];
    f->roots = b->dump.scan.roots.count;
    f->frames = f->sample->all ? 0 : b->dump.survey.top_records[HDX_TOP_FRAME];
    for (uint64_t i = 0; i < b->dump.scan.roots.count; i++) /* references of their thread (MAT 3.4) */
        f->locals += b->dump.scan.roots.at[i].raw.tag >= HDX_SUB_ROOT_JNI_LOCAL &&
                     b->dump.scan.roots.at[i].raw.tag <= HDX_SUB_ROOT_THREAD_BLOCK &&
                     b->dump.scan.roots.at[i].raw.tag != HDX_SUB_ROOT_STICKY_CLASS;
    f->scale = find_scale(b, f->sample);
    f->raise = f->sample->all ? 1.01 : f->sample->spread ? 1.06 : 1.25;
    wall = hdx_now_ns() - wall;
    cpu = hdx_cpu_ns() - cpu;
    const hdx_sample_times times = { .bytes = f->sample->taken_bytes,
                                     .read = (double)f->sample->heap_bytes + (double)f->sample->array_bytes / 8,
                                     .scan_wall = scan_wall,
                                     .walk_wall = wall,
                                     .walk_cpu = cpu,
                                     .inflated = f->inflate_ns > 0,
                                     .walk_inflate_ns = f->sample->whole ? f->inflate_ns : 0,
                                     .walkers = b->dump.survey.sequential ? 1 : b->work.threads,
                                     .threads = b->work.threads };
    f->pace = hdx_forecast_pace(&times);
    return HDX_OK;
}

static hdx_code learn(hdx_build *b, findings *f, uint64_t *scan_peak, hdx_error *err)
{
    counter *counted = calloc(1, sizeof *counted); /* of all workers: too large for a small stack */
    if (counted == NULL)
        return hdx_no_memory(err, "counting references", sizeof *counted);
    counted->b = b;
    const hdx_code code = learn_with(b, counted, f, scan_peak, err);
    free(counted);
    return code;
}

static hdx_code estimate_sample(const hdx_index_options *options, const findings *sampled, hdx_index_forecast *out,
                                hdx_error *err)
{
    hdx_index_options     small = *options;
    findings              f = *sampled;
    hdx_sample           *s = (hdx_sample *)(uintptr_t)f.sample;
    const hdx_build_doors doors = { .io = s->whole ? hdx_io_system() : &s->io };
    uint64_t              scan_peak = 0;
    small.dump_number = s->whole ? options->dump_number : 1;
    small.memory = 0;
    small.first_pass = NULL;
    hdx_build *b = hdx_build_open(&doors, &small, HDX_FOR_FORECAST, err);
    if (b == NULL)
        return err->code;
    hdx_code code = learn(b, &f, &scan_peak, err);
    if (code == HDX_OK) {
        out->id_size = b->dump.survey.head.id_size;
        memcpy(out->version, b->dump.survey.head.version, sizeof out->version);
        out->version[sizeof out->version - 1] = '\0';
        fill(b, &f, scan_peak, out);
    }
    hdx_build_damage_free(b);
    hdx_build_close(b);
    return code;
}

hdx_code hdx_index_estimate(const hdx_index_options *options, hdx_index_forecast *out, hdx_error *err)
{
    return hdx_index_estimate_from(options, HDX_SAMPLE_BYTES, out, err);
}

hdx_code hdx_index_estimate_from(const hdx_index_options *options, uint64_t sample_bytes, hdx_index_forecast *out,
                                 hdx_error *err)
{
    const hdx_source_options limits = { .max_uncompressed = options->max_uncompressed };
    hdx_mem                  mem = { 0 }, source_mem = { 0 };
    hdx_ticker               tick;
    hdx_sample               sample = { 0 };
    hdx_source              *source = NULL;
    hdx_error                own = { 0 };
    findings                 f = { .options = options, .sample = &sample };
    hdx_code                 code;
    if (err == NULL)
        err = &own;
    memset(out, 0, sizeof *out);
    if (hdx_folder_is_index(hdx_io_system(), options->dump))
        return hdx_hint(err,
                        hdx_fail(err, HDX_USAGE, options->dump, HDX_NOWHERE, "is an index; a forecast needs a dump"),
                        "heapdex info shows what building the index cost");
    hdx_ticker_init(&tick, &options->progress, 1);
    const uint64_t begun = hdx_now_ns();
    hdx_stripping  what;
    if ((code = hdx_source_open_mem(hdx_io_system(), &source_mem, options->dump, &limits, &source, err)) != HDX_OK ||
        (code = hdx_strip_recognise(source, NULL, HDX_STRIP_WINDOW, &what, err)) != HDX_OK ||
        (code = hdx_strip_overlay_set(source, what.overlay, err)) != HDX_OK)
        goto out;
    const uint64_t before = atomic_load(&source_mem.used);
    if ((code = hdx_sample_open(source, options->dump_number, sample_bytes, &mem, &tick, &sample, err)) != HDX_OK)
        goto out;
    if (sample.prefix_size > 0) {
        const double part = (double)sample.dump_size / (double)sample.prefix_size;
        f.inflate_ns = (double)(hdx_now_ns() - begun) * part;
        f.source_memory = sample.whole ? 0 : before + SLICES_MEMORY + sample.dump_size / POINT_EVERY * POINT_MEMORY;
        f.seek_bytes = scaled(atomic_load(&source_mem.used) - before, part); /* windows stay in memory here */
    }
    out->dump_size = sample.dump_size;
    out->sampled_bytes = sample.taken_bytes;
    out->whole = sample.all;
    code = estimate_sample(options, &f, out, err);
out:
    hdx_sample_close(&sample);
    hdx_source_close(source);
    hdx_mem_close(&mem);
    hdx_mem_close(&source_mem);
    hdx_ticker_free(&tick);
    if (code != HDX_OK && err->where[0] == '\0')
        (void)snprintf(err->where, sizeof err->where, "%s", options->dump);
    return code;
}
