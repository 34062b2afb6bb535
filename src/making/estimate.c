/*
 * estimate.c - what an index would cost, from a short sample of the dump and before anything is built.
 *
 * In:  a sample (hprof/sample.h): the first pass over it, then a walk that counts the references that are not null.
 * Out: hdx_index_forecast: objects and references scaled to the file, for each step memory, disk and time. Neighbours
 *      in an array that are the same count once, as a list has each object once.
 * Neighbours that are alike take little of an index; how many are is counted in that walk, too.
 * Memory comes from forecast.c, the same promise that --memory is held against; where the sample is not the whole heap,
 * counts are raised for it, so that the promise stands. Disk and time come from figures per object and per reference
 * (bench/, Mix and Shop); the sample's own pace says how fast this machine is beside the one they were measured on.
 * Writes nothing. Cost: the record headers of the file, and about HDX_SAMPLE_BYTES of it twice.
 */
#include "making/making.h"
#include "hprof/sample.h"

#include <stdlib.h>
#include <stdio.h>

/*
 * CPU time and bytes of a step by object and by reference (class references left out): the best fit to the rows `steps`
 * of bench/run for Mix (45.0 M objects, 62.9 M references), Shop (17.6 M, 35.4 M) and a database (5.8 M, 7.2 M) on two
 * threads. The times are an eighth less than measured: what `wait` adds below is partly in them. `shared`: the part of
 * the time that more workers make shorter.
 */
static const struct cost {
    const char       *name;
    hdx_forecast_pass pass;
    double            object_ns, reference_ns, shared;
    unsigned          workers; /* that a step can use; 0: any number */
    double            object_bytes, reference_bytes;
    hdx_step          from, to; /* which `until` wants it */
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

#define SCAN_NS     0.45        /* CPU time a byte of Shop takes in the first pass on that machine, */
#define ROOT_NS     1500.0      /* a root, its thread's frames with it, until it stands in the catalog */
#define WALK_NS     0.36        /* and a byte of a sample in the walk here: Mix 0.39, Shop 0.34, the database 0.32 */
#define PACE_BYTES  (1u << 20)  /* a shorter sample says nothing of the pace */
#define FILES_BYTES (96u << 10) /* heads, sections and sums of the files; an empty catalog */
/* Bytes at the worst moment: Shop, Mix, the database, within a tenth; a tenth more, for the refusal rests on it. */
#define TEMPORARY_OBJECT    7.2
#define TEMPORARY_REFERENCE 2.0
/* Of the bytes an object takes, where it is like the one before it in class, length and first references. */
#define LIKE_SAVES 0.68
#define LIKELY_SAVES                                                                                                   \
    0.62 /* of those of a reference: lists, trees of arrays and leaves (Deep) beside Mix, Shop, Leaky */
#define LIKE_TEMPORARY 0.1 /* temporary files are packed less */
/* Bytes of the spill file: Mix of 45 M, a database; of smaller heaps it is up to a third shorter. */
#define SPILL_OBJECT    2.5
#define SPILL_REFERENCE 3.8
#define BASE_MEMORY     (8ull << 20) /* of a build of next to nothing: code, stacks, small tables, */
#define BASE_WORKER     (1ull << 20)
#define READY_AGAIN     (2ull << 20) /* for each thread, where memory is made ready */
#define BASE_OBJECT     64u          /* until buffers and pages are full */
#define CLASS_BYTES     160u         /* of the catalog: names, fields, statics of a class */
#define ROOT_BYTES      16u
/*
 * Locals a frame, times two, where the sample does not reach the roots of threads: the most that is allowed for.
 * Threads has 0.67 of them a frame.
 */
#define FRAME_LOCALS_HALVES 3u
/* Bytes that an element of the longest array may need with a budget, which counts all that is asked for. */
#define ELEMENT_HELD    24u
#define ELEMENT_TOUCHED 14u /* what is touched of that: Deep with 40 M slots took 10 */
/*
 * What is read before the step objects ends in a checkpoint where it takes 3 s (order.c), and the spill file then stays
 * until the next checkpoint: after that step where it takes 3 s, too. A quarter less and a half more here, for seconds
 * are forecast no better.
 */
#define READ_LONG_NS    2250000000u
#define OBJECTS_LONG_NS 4500000000u
/* A root while it is resolved, what stays of it, and the catalog of them while it is written. */
#define ROOT_MEMORY    272u
#define ROOT_SPARE     176u         /* of that, what is hardly ever in use at once */
#define SLICES_MEMORY  (24u << 20)  /* inflated slices that the workers share, decoders */
#define POINT_EVERY    (768u << 10) /* a seek point, and what it takes in memory */
#define POINT_MEMORY   192u         /* the list doubles */
#define STRETCH_MEMORY 128u

typedef struct counter {
    hdx_build       *b;
    _Atomic uint64_t references;
    _Atomic uint64_t like,
        likely; /* objects that are like the one before, references that lead as far as the same one of it */
    _Atomic uint64_t longest; /* object array, in elements that are not null */
    struct held {             /* of the array that a worker is in */
        uint8_t  apart[HDX_APART];
        uint64_t used;
        hdx_addr last;
    } held[HDX_WORKERS_MAX];
    struct before { /* the object that a worker was at last */
        uint8_t  apart[HDX_APART];
        hdx_addr class_addr;
        uint64_t count;
        uint64_t from[2]; /* where its first references lead, as distances from it, nulls left out; 0: none */
        uint8_t  tag;
    } before[HDX_WORKERS_MAX];
} counter;

/* Not null, and other than the one before. */
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

/* What an index file says of neighbours that are alike it says in few bits. */
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
static void lead(const hdx_build *b, const hdx_event *e, const hdx_class_layout *l, uint64_t from[2])
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

/* An instance whose class is not in the sample, or whose fields are not known: as many as its bytes can hold. */
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
                lead(b, e, NULL, from);
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
            lead(b, e, &b->tables.lookup.layouts[number], from);
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

/* What was learnt, and how to scale it. */
typedef struct findings {
    const hdx_index_options *options;
    const hdx_sample        *sample;
    uint64_t                 source_memory; /* of a compressed dump, for all of it */
    uint64_t                 seek_bytes;    /* of its seek points: first in a temporary file, then in the index */
    double                   inflate_ns;    /* all of it once; 0: it is plain */
    double                   scale;         /* of instances and arrays in the sample to those of the file */
    double                   raise;         /* of counts, for the promise */
    uint64_t                 references, classes, roots, locals;
    uint64_t        frames; /* of stacks: where the sample ends before the roots of threads, they foretell them */
    uint64_t        like, likely, walked; /* of the sample: see counter; objects */
    uint64_t        longest;              /* object array, nulls left out */
    hdx_sample_pace pace;
} findings;

static uint64_t scaled(uint64_t n, double by) { return (uint64_t)((double)n * by + 0.5); }

/* Class records and roots are in the sample in full; the rest of its bytes stand for the rest of the heap. */
static double find_scale(const hdx_build *b, const hdx_sample *s)
{
    uint64_t about = b->dump.scan.roots.count * (5u + b->dump.survey.head.id_size) + b->dump.scan.class_bytes;
    if (s->all)
        return 1;
    if (about >= s->taken_bytes)
        about = 0;
    return (double)(s->heap_bytes - about) / (double)(s->taken_bytes - about);
}

/* The walk says how fast the machine is, since its bytes have been read before; the first pass, what reading costs. */
hdx_sample_pace hdx_forecast_pace(const hdx_sample_times *t)
{
    const double    bytes = (double)t->bytes, cpu = (double)t->walk_cpu;
    const bool      tells = t->bytes >= PACE_BYTES;
    hdx_sample_pace p = { .pace = 1, .wait = 1 };
    if (tells && t->walk_inflate_ns > 0)
        p.pace = (cpu > 2 * t->walk_inflate_ns ? cpu - t->walk_inflate_ns : cpu / 2) / (WALK_NS * bytes);
    else if (tells) {
        p.pace = cpu / (WALK_NS * bytes);
        p.wait = (double)t->walk_wall * t->walkers / (cpu > 0 ? cpu : 1);
    }
    p.pace = p.pace < 0.4 ? 0.4 : p.pace > 8 ? 8 : p.pace;
    p.wait = p.wait < 1 ? 1 : p.wait > 1.3 ? 1.3 : p.wait;
    p.scan_ns = SCAN_NS * p.pace * p.wait * t->read / t->threads;
    /* as slow as it was for the sample, where a disk is slower */
    if (tells && !t->inflated && (double)t->scan_wall / bytes * t->read > 2 * p.scan_ns)
        p.scan_ns = (double)t->scan_wall / bytes * t->read;
    return p;
}

/* b becomes a build of the whole dump as far as hdx_forecast looks at it. */
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
 * Of 1: what is left of the bytes of a step where a part of objects, or of references, is like its neighbour. Few of
 * them save nothing: pages are as wide as what is not alike.
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
 * What is taken before it is known whether it is needed (index.c), and what the first pass takes of it meanwhile, which
 * is made again.
 */
static uint64_t ready(const hdx_build *b, const findings *f)
{
    const uint64_t size = hdx_source_file_size(f->sample->source) / 4;
    if (b->work.threads == 1 || f->options->memory != 0)
        return 0;
    return base_memory(b) + b->work.threads * READY_AGAIN + (size < HDX_BUILD_READY ? size : HDX_BUILD_READY);
}

/*
 * A promise has room for what may be: without a budget less is taken. Highest of the outcome: 0.93 of this (Shop,
 * threads, classes).
 */
static uint64_t usual(const hdx_build *b, const findings *f, uint64_t promised)
{
    const uint64_t beside = HDX_BUILD_BESIDE + b->work.threads * HDX_BUILD_WORKER,
                   roots = scaled(f->roots, f->raise) * ROOT_SPARE;
    const uint64_t full = beside * 11 / 20, few = base_memory(b) + BASE_OBJECT * b->tables.objects;
    const uint64_t base =
        f->inflate_ns == 0 && few < full ? few : full; /* inflated slices are there whatever is in them */
    promised -= promised > beside + roots ? roots : 0;
    const uint64_t most = promised <= beside ? base : base + (promised - beside) * 17 / 20;
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
        if (c->pass == HDX_FORECAST_SCAN || c->pass == HDX_FORECAST_COLUMNS) { /* after these nothing reads the dump */
            step->memory += f->source_memory;
            step->least += f->source_memory;
        }
        if (c->pass == HDX_FORECAST_SCAN) {
            step->memory += scan_peak;
            step->least += scan_peak;
        }
        if (c->pass ==
            HDX_FORECAST_COLUMNS) { /* a worker holds the elements of an array until it has them all, and packed */
            step->memory += ELEMENT_TOUCHED * f->longest;
            step->least += ELEMENT_HELD * f->longest;
        }
        step->disk = bytes_of(c, f, objects, references);
        /* an array is read as it stands, whichever of its objects it holds more than once */
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
    out->disk += out->disk / 50; /* above most outcomes, not in the middle of them */
    out->disk += FILES_BYTES + (uint64_t)CLASS_BYTES * f->classes +
                 (uint64_t)ROOT_BYTES * (f->roots > locals ? f->roots : locals);
    out->disk += f->seek_bytes;
    /*
     * the search, referrers, what feeds the dominators, bits of a checkpoint: all of them go at the end of a step. The
     * spill file went before, unless a checkpoint needs it.
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
    f->classes = b->tables.class_count; /* those that no class record of the sample is about were loaded all the same */
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
    counter *counted = calloc(1, sizeof *counted); /* of all workers: much for a small stack */
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
        f.seek_bytes = scaled(atomic_load(&source_mem.used) - before, part); /* here the windows stay in memory */
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
