/*
 * test_spill.c - records of objects written down and read back: every width of a distance, every length of a record,
 * every kind of unit.
 */
#include "passes/spill.h"
#include "support/folder.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CLASSES ((1u << 20) + 1)
#define ARRAYS  7u         /* its instances are arrays, */
#define BYTES   (1u << 19) /* and so are those of this one */
#define GUARD   16u        /* bytes behind the room that a record asks for: they stay as they are */

static char folder[TEST_FOLDER];
static struct made {
    hdx_work        work;
    hdx_dump_tables tables;
} * b;
static hdx_spill spill;

static void enter(void)
{
    test_folder_make(folder, "spill");
    b = calloc(1, sizeof *b);
    cr_assert(b != NULL);
    b->work.io = hdx_io_system();
    b->work.threads = 2;
    b->tables.class_count = CLASSES;
    b->tables.classes = calloc(CLASSES, sizeof *b->tables.classes); /* nearly all of it is never touched */
    cr_assert(b->tables.classes != NULL && b->tables.classes[0].kind == HDX_INSTANCE);
    b->tables.classes[ARRAYS].kind = HDX_OBJECT_ARRAY;
    b->tables.classes[BYTES].kind = HDX_PRIMITIVE_ARRAY;
    (void)snprintf(b->work.folder, sizeof b->work.folder, "%s", folder);
    cr_assert(hdx_spill_open(&b->work, "a.tmp", &spill, NULL) == HDX_OK);
}

static void leave(void)
{
    hdx_spill_remove(&b->work, &spill);
    cr_expect(b->work.mem.used == 0);
    cr_expect(rmdir(folder) == 0, "something is left in it");
    free(b->tables.classes);
    free(b);
}

TestSuite(spill, .init = enter, .fini = leave);

static uint64_t roll(uint64_t *state, uint64_t below)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return below == 0 ? 0 : z % below;
}

/* ---- writing ---- */

/* What a record shall say. */
typedef struct said {
    uint64_t  id;
    hdx_pos   position; /* + 1; 0 in a bare unit */
    uint32_t  heap, class_number;
    uint64_t  length;
    uint64_t *targets, count;
    unsigned  width; /* of a distance; 0: whatever it is */
} said;

static bool has_length(uint32_t class_number) { return b->tables.classes[class_number].kind != HDX_INSTANCE; }

/* All that knows how a record is written. next_id, pos: of the reader before it. */
static uint8_t *write_record(uint8_t *to, const uint8_t widths[4], uint64_t next_id, hdx_pos pos, const said *s)
{
    const hdx_spill_record r = {
        .id = s->id, .position = s->position, .heap = s->heap, .class_number = s->class_number, .length = s->length
    };
    const hdx_spill_writer after = { widths, next_id, pos, b->tables.heap_count > 0 };
    return hdx_spill_write(to, &after, has_length(s->class_number), &r, s->targets, s->count);
}

/* A unit of those records, as the second pass makes them; returns the bytes of the last one. */
static uint64_t write_unit(const said *records, uint64_t count)
{
    hdx_spilled unit = {
        .first = HDX_NO_ID, .objects = count, .pos = records[0].position - 1, .bare = records[0].position == 0
    };
    hdx_pos  pos = unit.pos;
    uint64_t next_id = 0, used = 0, last = 0;
    uint8_t  widths[4], *bytes = NULL;
    hdx_spill_widths(b->tables.objects, widths);
    for (uint64_t i = 0; i < count; i++) {
        const said    *s = &records[i];
        const uint64_t room = 5 * s->count + HDX_SPILL_HEAD;
        bytes = realloc(bytes, used + room + GUARD);
        cr_assert(bytes != NULL);
        memset(bytes + used, 0xa5, room + GUARD);
        last = (uint64_t)(write_record(bytes + used, widths, next_id, pos, s) - (bytes + used));
        for (uint64_t k = room; k < room + GUARD; k++)
            cr_assert(bytes[used + k] == 0xa5, "more than was asked for, record %llu", (unsigned long long)i);
        used += last;
        next_id = s->id + 1;
        pos = s->position == 0 ? pos : s->position - 1;
        unit.edges += s->count;
        unit.first = s->id < unit.first ? s->id : unit.first;
        unit.last = s->id > unit.last ? s->id : unit.last;
    }
    unit.bytes = used;
    cr_assert(hdx_spill_put(&b->work, &spill, &unit, bytes, NULL) == HDX_OK);
    free(bytes);
    return last;
}

/* ---- reading ---- */

static void check_record(const hdx_spill_record *r, const said *s, const char *what)
{
    cr_assert(r->id == s->id && r->position == s->position && r->heap == s->heap &&
                  r->class_number == s->class_number && r->length == s->length,
              "%s: id %llu, position %llu, heap %u, class %u, length %llu", what, (unsigned long long)r->id,
              (unsigned long long)r->position, r->heap, r->class_number, (unsigned long long)r->length);
    cr_assert(r->count == s->count, "%s: %llu targets of %llu, not %llu", what, (unsigned long long)r->count,
              (unsigned long long)s->id, (unsigned long long)s->count);
    cr_assert(s->width == 0 || r->width == s->width, "%s: %u bytes a distance of %llu, not %u", what, r->width,
              (unsigned long long)s->id, s->width);
    const uint64_t origin = r->id - hdx_spill_half(r->width), mask = hdx_spill_mask(r->width);
    for (uint64_t i = 0; i < r->count; i++)
        if (origin + (hdx_le64(r->list + i * r->width) & mask) != s->targets[i])
            cr_assert(false, "%s: target %llu of %llu", what, (unsigned long long)i, (unsigned long long)s->id);
}

/* The last unit says that. */
static void check_unit(const said *records, uint64_t count, const char *what)
{
    uint8_t         *bytes = malloc(spill.longest + HDX_PACKED_SLACK);
    hdx_spill_reader reader;
    hdx_spill_record record;
    cr_assert(bytes != NULL);
    memset(bytes, 0xff, spill.longest + HDX_PACKED_SLACK); /* what is behind does not matter */
    cr_assert(hdx_spill_get(&b->tables, &spill, spill.count - 1, bytes, &reader, NULL) == HDX_OK);
    for (uint64_t i = 0; i < count; i++) {
        cr_assert(hdx_spill_next(&reader, &record), "%s: record %llu", what, (unsigned long long)i);
        check_record(&record, &records[i], what);
    }
    cr_assert(!hdx_spill_next(&reader, &record) && reader.at == reader.end, "%s: nothing behind", what);
    free(bytes);
}

static uint64_t comes_back(const said *records, uint64_t count, const char *what)
{
    const uint64_t bytes = write_unit(records, count);
    check_unit(records, count, what);
    return bytes;
}

/* ---- widths ---- */

/*
 * A bare record behind that of the id before it: `head` bytes more than with class 0 and no targets, and so many a
 * target.
 */
static void width_is(uint64_t ids, uint64_t id, uint32_t class_number, unsigned head, uint64_t *to, uint64_t n,
                     unsigned width)
{
    char       what[80];
    const said before = { .id = id - 1 }, least = { .id = id },
               s = { .id = id, .class_number = class_number, .targets = to, .count = n, .width = width };
    const said     two[] = { before, least }, both[] = { before, s };
    const unsigned from = id == 0; /* nothing stands before the first one */
    (void)snprintf(what, sizeof what, "%llu of %llu, class %u", (unsigned long long)id, (unsigned long long)ids,
                   class_number);
    b->tables.objects = ids;
    const uint64_t bytes = comes_back(two + from, 2 - from, what);
    cr_expect(comes_back(both + from, 2 - from, what) == bytes + head + n * width, "%s", what);
}
#define TARGETS(...) (uint64_t[]){ __VA_ARGS__ }, sizeof((uint64_t[]){ __VA_ARGS__ }) / 8

Test(spill, distances_take_the_least_width_that_holds_them)
{
    const uint64_t near = 1ull << 31, far = near + 1;
    uint8_t        widths[4];
    hdx_spill_widths(near, widths);
    cr_expect(widths[0] == 1 && widths[1] == 2 && widths[2] == 3 && widths[3] == 4);
    hdx_spill_widths(far, widths);
    cr_expect(widths[0] == 1 && widths[1] == 2 && widths[2] == 4 && widths[3] == 5);
    width_is(near, 7, 0, 0, NULL, 0, 0);
    width_is(near, 0, 0, 0, NULL, 0, 0);
    const uint32_t classes[] = { 0, 15, 16, (1u << 12) - 1, 1u << 12, (1u << 20) - 1, 1u << 20 };
    const unsigned heads[] = { 0, 0, 1, 1, 2, 2, 4 };
    for (unsigned i = 0; i < 7; i++)
        width_is(near, 1000, classes[i], heads[i], TARGETS(872, 999, 1000, 1127), 1);
    width_is(near, 1000, 3, 0, TARGETS(871), 2);
    width_is(near, 1000, 3, 0, TARGETS(1128), 2);
    width_is(near, 1000, 3, 0, TARGETS(999, 1128), 2);
    width_is(near, 40000, 16, 1, TARGETS(40000 - 32768, 40000 + 32767), 2);
    width_is(near, 40000, 1, 0, TARGETS(40000 - 32769), 3);
    width_is(near, 40000, 1, 0, TARGETS(40000, 40000 + 32768), 3);
    width_is(near, 1u << 23, 1, 0, TARGETS(0, (1u << 24) - 1), 3);
    width_is(near, 1u << 24, 1, 0, TARGETS((1u << 23) - 1), 4);
    width_is(near, 1u << 24, 1, 0, TARGETS((1u << 24) + (1u << 23)), 4);
    width_is(near, 0, 1, 0, TARGETS((1u << 31) - 1), 4);
    width_is(near, (1u << 31) - 1, 1, 0, TARGETS(0), 4);
    width_is(far, 40000, 1, 0, TARGETS(40000 - 32769), 4);
    width_is(far, 1ull << 31, 1, 0, TARGETS(0), 4);
    width_is(HDX_PACKED_NODES, 1ull << 31, 1, 0, TARGETS(0, (1ull << 32) - 1), 4);
    width_is(far, 0, 1, 0, TARGETS(1ull << 31), 5);
    width_is(HDX_PACKED_NODES, (1ull << 31) + 1, 1, 0, TARGETS(0), 5);
    width_is(HDX_PACKED_NODES, HDX_PACKED_NODES - 1, 1, 0, TARGETS(0, HDX_PACKED_NODES - 1), 5);
    width_is(HDX_PACKED_NODES, 0, 1, 0, TARGETS(0, HDX_PACKED_NODES - 1), 5);
}

/* ---- lengths ---- */

/* n targets of id, as far apart as the width allows; they are `to`. */
static said spread(uint64_t id, unsigned width, uint64_t n, uint64_t *to)
{
    const uint64_t half = hdx_spill_half(width), first = id < half ? 0 : id - half,
                   last = id + half - 1 < b->tables.objects ? id + half - 1 : b->tables.objects - 1;
    for (uint64_t i = 0; i < n; i++)
        to[i] = i + 1 == n ? last : first + i;
    return (said){ .id = id, .targets = to, .count = n, .width = width };
}

/* All that a record takes in bytes is said in front, and how many targets there are follows from it. */
Test(spill, lists_of_every_length_come_back)
{
    const uint64_t ids[] = { 1ull << 31, HDX_PACKED_NODES };
    const unsigned widths[2][4] = { { 1, 2, 3, 4 }, { 1, 2, 4, 5 } };
    uint64_t      *to = calloc(60000, sizeof *to);
    cr_assert(to != NULL);
    for (unsigned far = 0; far < 2; far++)
        for (unsigned i = 0; i < 4; i++) {
            const unsigned width = widths[far][i];
            const uint64_t id = ids[far] / 2, most = width == 1 ? 255 : 40000,
                           edges[] = { 64 / width, 16384 / width, 65536 / width, 39990 };
            b->tables.objects = ids[far];
            for (uint64_t n = 1; n < 100; n++)
                (void)comes_back((said[]){ spread(id, width, n, to), { .id = 3 } }, 2, "short");
            for (unsigned k = 0; k < 4; k++)
                for (uint64_t n = edges[k] > 8 ? edges[k] - 8 : 1; n <= edges[k] + 8 && n <= most; n++) {
                    said s = spread(id, width, n, to);
                    s.class_number = n % 2 == 0 ? ARRAYS : 0;
                    s.length = n % 2 == 0 ? HDX_LENGTH_ODD + UINT32_MAX : 0;
                    (void)comes_back((said[]){ s, { .id = 3 } }, 2, "at an edge");
                }
        }
    free(to);
}

/* More than 2^22 bytes: what says so takes five itself. */
Test(spill, a_list_of_a_million_comes_back)
{
    const uint64_t n = 1u << 20;
    uint64_t      *to = calloc(n, sizeof *to);
    cr_assert(to != NULL);
    b->tables.objects = 1ull << 31;
    for (uint64_t less = 0; less < 12; less++) {
        const said records[] = { spread(1u << 30, 4, n - less, to), { .id = (1u << 30) + 1 } };
        (void)comes_back(records, 2, "long");
    }
    free(to);
}

/* ---- units ---- */

#define RECORDS 3000u

typedef struct units {
    said     records[RECORDS];
    uint64_t targets[RECORDS][300];
} units;

static units *some_records(uint64_t seed, bool bare)
{
    static const uint32_t classes[] = { 0, 1, ARRAYS, 254, 255, 70000, BYTES, CLASSES - 1 };
    units                *u = calloc(1, sizeof *u);
    uint64_t              id = 0;
    hdx_pos               pos = roll(&seed, 1000);
    cr_assert(u != NULL);
    for (uint64_t i = 0; i < RECORDS; i++) {
        said *s = &u->records[i];
        s->id = id;
        s->class_number = classes[roll(&seed, 8)];
        s->length = has_length(s->class_number) ? (uint32_t)(roll(&seed, ~0ull) >> (32 + roll(&seed, 32))) : 0;
        s->heap = b->tables.heap_count > 0 ? (uint32_t)roll(&seed, b->tables.heap_count + 1) : 0;
        s->position = bare ? 0 : pos + 1;
        pos += roll(&seed, 20) == 0 ? roll(&seed, HDX_PACKED_NODES) : roll(&seed, 200);
        s->targets = u->targets[i];
        uint64_t to = roll(&seed, 4) == 0 ? roll(&seed, b->tables.objects) : id - roll(&seed, id < 100 ? id + 1 : 100);
        for (uint64_t n = roll(&seed, 50) == 0 ? roll(&seed, 300) : roll(&seed, 5); n > 0 && to < b->tables.objects;
             n--) {
            s->targets[s->count++] = to;
            to += 1 + (roll(&seed, 3) == 0 ? roll(&seed, b->tables.objects) >> (6 + roll(&seed, 30)) : roll(&seed, 20));
        }
        if (roll(&seed, 30) == 0) /* to anywhere, the end and the beginning too */
            id = roll(&seed, 3) == 0 ? (roll(&seed, 2) == 0 ? 0 : b->tables.objects - 1)
                                     : roll(&seed, b->tables.objects);
        else
            id = (id + 1 + roll(&seed, 3) / 2) % b->tables.objects;
    }
    return u;
}

Test(spill, units_of_every_kind_come_back)
{
    const uint64_t ids[] = { 300, 1ull << 31, (1ull << 31) + 1, HDX_PACKED_NODES };
    for (unsigned i = 0; i < 4; i++)
        for (unsigned kind = 0; kind < 4; kind++)
            for (uint64_t seed = 1; seed < 6; seed++) {
                char what[80];
                (void)snprintf(what, sizeof what, "%llu ids, kind %u, seed %llu", (unsigned long long)ids[i], kind,
                               (unsigned long long)seed);
                b->tables.objects = ids[i];
                b->tables.heap_count = kind & 1 ? HDX_HEAPS_MAX : 0;
                units *u = some_records(seed * 8 + kind, kind & 2);
                (void)comes_back(u->records, RECORDS, what);
                free(u);
            }
}

typedef struct taken {
    const said      *by_id;
    uint64_t         lo, hi;
    _Atomic uint64_t count, wrong;
    _Atomic uint8_t  seen[RECORDS];
} taken;

static void take(void *context, unsigned worker, const hdx_spill_record *r)
{
    taken *t = context;
    bool   right =
        worker < b->work.threads && r->id >= t->lo && r->id < t->hi && atomic_fetch_add(&t->seen[r->id], 1) == 0;
    if (right) {
        const said    *s = &t->by_id[r->id];
        const uint64_t origin = r->id - hdx_spill_half(r->width), mask = hdx_spill_mask(r->width);
        right = r->class_number == s->class_number && r->position == s->position && r->count == s->count;
        for (uint64_t i = 0; i < r->count && right; i++)
            right = origin + (hdx_le64(r->list + i * r->width) & mask) == s->targets[i];
    }
    atomic_fetch_add(&t->count, 1);
    atomic_fetch_add(&t->wrong, !right);
}

Test(spill, every_record_of_a_range_is_taken_once)
{
    said    *by_id = calloc(RECORDS, sizeof *by_id), part[100];
    uint64_t targets[RECORDS][2], edges = 0;
    b->tables.objects = RECORDS;
    for (uint64_t i = 0; i < RECORDS; i++) {
        targets[i][0] = i / 2;
        targets[i][1] = i / 2 + 1;
        by_id[i] = (said){
            .id = i, .position = 100 + i, .class_number = (uint32_t)(i % 7), .targets = targets[i], .count = i % 3
        };
        edges += i % 3;
    }
    for (uint64_t i = 0; i < RECORDS; i += 100) {
        for (uint64_t k = 0; k < 100; k++) { /* positions rise, ids go about */
            part[k] = by_id[(i + k) * 1009 % RECORDS];
            by_id[part[k].id].position = part[k].position = 1 + 50 * (i + k);
        }
        (void)comes_back(part, 100, "a part");
    }
    cr_expect(spill.count == RECORDS / 100 && spill.edges == edges);
    const uint64_t ranges[][2] = { { 0, RECORDS },          { 0, 0 }, { 0, 1 }, { 17, 400 }, { RECORDS - 1, RECORDS },
                                   { RECORDS, RECORDS + 5 } };
    for (unsigned i = 0; i < 6; i++) {
        taken *t = calloc(1, sizeof *t);
        cr_assert(t != NULL);
        t->by_id = by_id;
        t->lo = ranges[i][0];
        t->hi = ranges[i][1];
        const hdx_spill_range range = { t->lo, t->hi, take, t };
        cr_assert(hdx_spill_each(&b->work, &b->tables, &spill, &range, NULL) == HDX_OK);
        cr_expect(t->wrong == 0 && t->count == (i == 5 ? 0 : t->hi - t->lo), "%llu of %llu .. %llu",
                  (unsigned long long)t->count, (unsigned long long)t->lo, (unsigned long long)t->hi);
        free(t);
    }
    free(by_id);
}

/* A unit that is not as it was written is not read. */
Test(spill, changed_bytes_are_found)
{
    hdx_spill_reader reader;
    hdx_error        err = { 0 };
    uint8_t          bytes[1000], one;
    b->tables.objects = 300;
    (void)comes_back((said[]){ { .id = 5, .position = 9 }, { .id = 7, .position = 10 } }, 2, "whole");
    cr_assert(b->work.io->read_at(b->work.io, spill.file.fd, &one, 1, 1) == 1);
    one ^= 4;
    cr_assert(b->work.io->write_at(b->work.io, spill.file.fd, &one, 1, 1) >= 0);
    cr_expect(hdx_spill_get(&b->tables, &spill, 0, bytes, &reader, &err) == HDX_IO &&
                  strstr(err.message, "differs from what was written") != NULL,
              "%s", err.message);
}

/* ---- what is no spill file ---- */

#define OBJECTS 40u

static void anew(void)
{
    hdx_spill_remove(&b->work, &spill);
    cr_assert(hdx_spill_open(&b->work, "a.tmp", &spill, NULL) == HDX_OK);
}

/* One record an object: arrays and instances of classes whose objects are 3 and 4. */
typedef struct heap {
    said     records[OBJECTS];
    uint64_t targets[OBJECTS][4];
} heap;

static heap *make_heap(bool bare)
{
    heap *h = calloc(1, sizeof *h);
    cr_assert(h != NULL);
    b->tables.objects = OBJECTS;
    b->tables.dump_size = 10000;
    b->tables.class_count = 10;
    for (uint32_t i = 0; i < 11; i++) {
        b->tables.classes[i].id = i < 5 ? 3 : 4;
        b->tables.classes[i].instances = 0;
    }
    for (uint64_t i = 0; i < OBJECTS; i++) {
        said *s = &h->records[i];
        *s = (said){ .id = i, .position = bare ? 0 : 101 + 50 * i, .class_number = i % 5 == 0 ? ARRAYS : 1 };
        s->length = i % 5 == 0 ? i * 1000 : 0;
        s->targets = h->targets[i];
        for (uint64_t k = 0; k < i % 4; k++)
            s->targets[s->count++] = (i + 5 + 9 * k) % OBJECTS;
        for (uint64_t k = 1; k < s->count; k++)
            if (s->targets[k] < s->targets[k - 1]) /* around the end: as many as rise */
                s->count = k;
        for (uint64_t k = 0; k < s->count; k++)
            if (s->targets[k] == 3 || s->targets[k] == 4)
                s->count = k;
        b->tables.classes[s->class_number].instances++;
    }
    return h;
}

static hdx_code checked(const heap *h, bool counted)
{
    anew();
    (void)write_unit(h->records, OBJECTS);
    return hdx_spill_check(&b->work, &b->tables, &spill, counted, NULL);
}

static void is_none(const heap *h, const char *what) { cr_expect(checked(h, false) == HDX_NOT_FOUND, "%s", what); }
static void is_one(const heap *h, const char *what) { cr_expect(checked(h, false) == HDX_OK, "%s", what); }

Test(spill, is_one_only_with_every_object_and_nothing_that_cannot_be)
{
    for (unsigned bare = 0; bare < 2; bare++) {
        heap     *h = make_heap(bare == 1);
        said     *s = &h->records[20], kept = *s;
        uint64_t *to = s->targets;
        cr_expect(checked(h, true) == HDX_OK, "as it is");
        s->count = 2;
        to[0] = 30, to[1] = OBJECTS - 1, is_one(h, "the last object");
        to[1] = OBJECTS, is_none(h, "one behind the last");
        to[1] = 30, is_none(h, "one twice");
        to[1] = 29, is_none(h, "falling ones");
        to[1] = 31, is_one(h, "rising ones");
        to[0] = 0, is_one(h, "the first object");
        to[0] = 3, is_one(h, "the class of others");
        to[0] = 4, is_none(h, "its class");
        *s = kept;
        s->id = 21, is_none(h, "an object twice");
        s->id = OBJECTS, is_none(h, "an object behind the last");
        *s = kept;
        s->class_number = 9, b->tables.classes[9].kind = HDX_INSTANCE, s->length = 0, is_one(h, "the last class");
        s->class_number = 10, is_none(h, "a class behind the last");
        *s = kept;
        s->length = UINT32_MAX, is_one(h, "a length of 32 bits");
        s->length = 1ull << 32, is_none(h, "a length of 33 bits");
        *s = kept;
        for (unsigned k = 0; k < 10; k++) {
            b->tables.classes[k].instances++;
            cr_expect(checked(h, true) == HDX_NOT_FOUND, "one instance of class %u less than was counted", k);
            b->tables.classes[k].instances--;
        }
        b->tables.classes[1].instances++;
        is_one(h, "one instance less, but nobody counted");
        b->tables.heap_count = 3;
        s->heap = 3, is_one(h, "the last heap");
        s->heap = 4, is_none(h, "a heap behind the last");
        b->tables.heap_count = 0;
        *s = kept;
        b->tables.objects = OBJECTS + 1, is_none(h, "an object less");
        b->tables.objects = OBJECTS - 1, is_none(h, "an object more");
        b->tables.objects = OBJECTS;
        if (bare == 0) {
            b->tables.dump_size = h->records[OBJECTS - 1].position, is_one(h, "the last byte of the dump");
            b->tables.dump_size--, is_none(h, "behind the last byte of the dump");
        }
        free(h);
    }
}

/* What a unit says of its records, and the spill of its units. */
Test(spill, is_one_only_where_units_say_what_is_in_them)
{
    heap           *h = make_heap(false);
    hdx_spilled     kept;
    const hdx_spill all = (checked(h, true), spill);
    hdx_spilled    *u = &spill.units[0];
    const uint64_t  end = spill.file.end;
#define CHECK(what, change, code)                                                                                      \
    do {                                                                                                               \
        kept = *u;                                                                                                     \
        change;                                                                                                        \
        cr_expect(hdx_spill_check(&b->work, &b->tables, &spill, true, NULL) == (code), "%s", what);                    \
        *u = kept;                                                                                                     \
        spill.edges = all.edges;                                                                                       \
        spill.longest = all.longest;                                                                                   \
        spill.file.end = end;                                                                                          \
    } while (0)
    CHECK("as it is", (void)0, HDX_OK);
    CHECK("the first id is not in it", u->first = 1, HDX_NOT_FOUND);
    CHECK("the last id is not in it", u->last = OBJECTS - 2, HDX_NOT_FOUND);
    CHECK("its last id is none", u->last = OBJECTS, HDX_NOT_FOUND);
    CHECK("a record more", u->objects--, HDX_NOT_FOUND);
    CHECK("a record less", u->objects++, HDX_NOT_FOUND);
    CHECK("an edge more", u->edges--, HDX_NOT_FOUND);
    CHECK("an edge less", u->edges++, HDX_NOT_FOUND);
    CHECK("an edge more in all", spill.edges--, HDX_NOT_FOUND);
    CHECK("it ends behind the file", u->at++, HDX_NOT_FOUND);
    CHECK("it begins nowhere", u->at = UINT64_MAX, HDX_NOT_FOUND);
    CHECK("the file is shorter", spill.file.end--, HDX_NOT_FOUND);
    CHECK("it is longer than the longest", spill.longest--, HDX_NOT_FOUND);
    CHECK("the longest is longer than the file", spill.longest = end + 1, HDX_NOT_FOUND);
    CHECK("the longest is as long as the file", spill.longest = end, HDX_OK);
    CHECK("neither bare nor not", memset(&u->bare, 2, 1), HDX_NOT_FOUND);
#undef CHECK
    free(h);
}

/* Records of two bytes: not one object more could be in as many bytes. */
Test(spill, may_have_an_object_in_two_bytes)
{
    heap *h = make_heap(true);
    for (unsigned i = 0; i < OBJECTS; i++) {
        h->records[i].class_number = 1;
        h->records[i].length = h->records[i].count = 0;
    }
    is_one(h, "two bytes each");
    cr_expect(spill.file.end == 2 * OBJECTS);
    free(h);
}

/* Every byte changed to every other, with the sum right: harmless, and as many as ever are taken for records. */
Test(spill, of_changed_bytes_with_right_sums_does_no_harm)
{
    static const struct {
        bool     bare;
        unsigned heaps;
        uint64_t fit, sum;
    } cases[] = { { false, 0, 1431, 2511943605493966329u },
                  { true, 0, 1100, 17441321924752525257u },
                  { false, 3, 1540, 906988755861539503u } };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        heap *h = make_heap(cases[k].bare);
        b->tables.heap_count = cases[k].heaps;
        cr_assert(checked(h, true) == HDX_OK);
        const hdx_spilled unit = spill.units[0];
        uint8_t          *bytes = malloc(unit.bytes);
        uint64_t          fit = 0, sum = 0;
        cr_assert(b->work.io->read_at(b->work.io, spill.file.fd, bytes, unit.bytes, unit.at) == (int64_t)unit.bytes);
        for (uint64_t at = 0; at < unit.bytes; at++)
            for (unsigned mask = 1; mask < 256; mask += mask < 16 ? 1 : 13) {
                hdx_spilled changed = unit;
                bytes[at] ^= (uint8_t)mask;
                anew();
                cr_assert(hdx_spill_put(&b->work, &spill, &changed, bytes, NULL) == HDX_OK);
                bytes[at] ^= (uint8_t)mask;
                const hdx_code code = hdx_spill_check(&b->work, &b->tables, &spill, false, NULL);
                cr_assert(code == HDX_OK || code == HDX_NOT_FOUND);
                fit += code == HDX_OK;
                sum = code == HDX_OK ? sum * 31 + at * 256 + mask : sum;
            }
        cr_expect(fit == cases[k].fit && sum == cases[k].sum, "case %zu: %llu fit, %llu", k, (unsigned long long)fit,
                  (unsigned long long)sum);
        b->tables.heap_count = 0;
        free(bytes);
        free(h);
    }
}

/* ---- how many at a time ---- */

#define PIECE HDX_PACKED_PIECE

/* Units of 1000 bytes from one id to another. */
static uint64_t batch_of(uint64_t objects, uint64_t room, uint64_t file_bytes, const uint64_t units[3][3])
{
    hdx_spilled made[3];
    hdx_spill   s = { .units = made, .file.end = file_bytes };
    for (; s.count < 3 && units[s.count][1] > 0; s.count++)
        made[s.count] = (hdx_spilled){
            .bytes = 1000, .first = units[s.count][0], .last = units[s.count][1], .objects = units[s.count][2]
        };
    b->work.objects = objects;
    b->work.room = room;
    return hdx_spill_batch(&b->work, &s, 8);
}

Test(spill, is_read_in_pieces_that_fit_and_hardly_more_than_once)
{
    static const struct {
        uint64_t objects, room, file, units[3][3], pieces;
    } cases[] = {
        { 0, 1, 0, { { 0 } }, 1 },
        { 3 * PIECE, 1ull << 50, 0, { { 0 } }, 3 },
        { 3 * PIECE + 1, 1ull << 50, 0, { { 0 } }, 4 },
        { 3 * PIECE, 16 * PIECE, 0, { { 0 } }, 2 },
        { 3 * PIECE, 16 * PIECE - 1, 0, { { 0 } }, 1 },
        { 3 * PIECE, 8 * PIECE - 1, 0, { { 0 } }, 1 },
        { 20 * PIECE, 1ull << 50, 1000, { { 0, 20 * PIECE - 1, 5 } }, 20 },
        { 20 * PIECE, 8 * 17 * PIECE, 1000, { { 0, 20 * PIECE - 1, 5 } }, 17 },
        { 20 * PIECE, 8 * 16 * PIECE, 1000, { { 0, 20 * PIECE - 1, 5 } }, 16 },
        { 20 * PIECE, 1ull << 50, 1000, { { 0, 4 * PIECE - 1, 5 } }, 4 },
        { 20 * PIECE, 1ull << 50, 1000, { { 4 * PIECE, 8 * PIECE - 1, 5 } }, 4 },
        { 20 * PIECE, 1ull << 50, 1000, { { 4 * PIECE - 1, 4 * PIECE, 5 } }, 8 },
        { 20 * PIECE, 1ull << 50, 1000, { { 4 * PIECE - 1, 4 * PIECE, 1 } }, 8 },
        { 20 * PIECE, 1ull << 50, 1000, { { 4 * PIECE - 1, 4 * PIECE, 0 } }, 4 },
        { 20 * PIECE, 1ull << 50, 2000, { { 4 * PIECE - 1, 4 * PIECE, 5 }, { 1, 2, 5 } }, 4 },
        { 20 * PIECE, 1ull << 50, 1999, { { 4 * PIECE - 1, 4 * PIECE, 5 }, { 1, 2, 5 } }, 8 },
        { 20 * PIECE, 1ull << 50, 1999, { { 1, 2, 5 }, { 4 * PIECE - 1, 4 * PIECE, 5 } }, 8 },
        { 4 * PIECE, 1ull << 50, 1, { { 0, 4 * PIECE - 1, 5 } }, 4 },
        { 5 * PIECE, 1ull << 50, 1, { { 0, 4 * PIECE - 1, 5 } }, 5 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint64_t ids = batch_of(cases[i].objects, cases[i].room, cases[i].file, cases[i].units);
        cr_expect(ids == cases[i].pieces * PIECE, "case %zu: %llu pieces", i, (unsigned long long)(ids / PIECE));
    }
}
