/*
 * bench_make_dump.c - makes dumps of any size with the shape of real heaps.
 *
 *     bench_make_dump OUT objects=N [ids=8|4] [segment=1M|whole|BYTES] [order=address|shuffled] [layout=depth|breadth]
 *                     [shape=mixed|tiny] [garbage=PERCENT] [seed=N] [gz]
 *
 * In:  nothing but the arguments: equal arguments give equal bytes.
 * Out: a dump of exactly N class objects, instances and arrays; one row of CSV:
 *      bench,dump,n,bytes,seconds,mb_per_s,peak_rss.
 * Cost: memory for two tiles (6 MB) whatever N; a copy and one store a reference: above 1 GB/s where the disk takes it.
 *
 * The heap is a tile of some 65 536 objects, drawn once, laid side by side as often as needed: an object's address is
 *
 *     tiles + tile * span + offset of the object in its tile
 *
 * so that no table of objects is kept, however many there are. The tiles are one binary tree: head j of tile t refers
 * to heads j of the tiles 2t + 1 and 2t + 2. That gives half of the tree's references a partner that is null, distances
 * of every length, and one referrer to nearly every object. Other references go to objects of the same tile, to a tile
 * that depends on the number of the tile and the place of the reference (a second referrer for somebody far away), or
 * to a few constants which everybody has.
 *
 *     classes, constants, arrays that hold them | tile 0 | tile 1 | ... | objects that do not fill a tile
 */
#include "hprof/write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

/* ---- what is asked for ---- */

typedef struct wish {
    const char *out;
    uint64_t    objects, segment, seed, garbage; /* segment 0: as long as they may be; garbage in percent */
    uint32_t    ids;
    bool        shuffled, breadth, tiny, gz;
} wish;

static void die(const char *what, const char *more)
{
    (void)fprintf(stderr, "bench_make_dump: %s%s\n", what, more);
    exit(2);
}

static bool number(const char *text, uint64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoull(text, &end, 10);
    unsigned shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    *out <<= shift;
    return errno == 0 && end != text && end[shift > 0] == '\0';
}

static wish read_wish(int argc, char **argv)
{
    wish w = { .segment = 1u << 20, .seed = 1, .garbage = 1, .ids = 8 };
    if (argc < 3)
        die("usage: bench_make_dump OUT objects=N [ids=8|4] [segment=1M|whole|BYTES] [order=address|shuffled] "
            "[layout=depth|breadth]\n"
            "                       [shape=mixed|tiny] [garbage=PERCENT] [seed=N] [gz]",
            "");
    w.out = argv[1];
    for (int i = 2; i < argc; i++) {
        const char *value = strchr(argv[i], '='), *a = argv[i];
        uint64_t    n = 0;
        bool        counts = value != NULL && number(value + 1, &n);
        size_t      len = value == NULL ? strlen(a) : (size_t)(value - a);
        hdx_text    key = { a, (uint32_t)len };
        if (hdx_text_is(key, "objects") && counts)
            w.objects = n;
        else if (hdx_text_is(key, "ids") && counts && (n == 4 || n == 8))
            w.ids = (uint32_t)n;
        else if (hdx_text_is(key, "segment") && counts && n >= 1u << 16 && n <= 1u << 31)
            w.segment = n;
        else if (hdx_text_is(key, "garbage") && counts && n <= 100)
            w.garbage = n;
        else if (hdx_text_is(key, "seed") && counts)
            w.seed = n;
        else if (strcmp(a, "segment=whole") == 0)
            w.segment = 0;
        else if (strcmp(a, "order=shuffled") == 0)
            w.shuffled = true;
        else if (strcmp(a, "order=address") == 0)
            w.shuffled = false;
        else if (strcmp(a, "layout=breadth") == 0)
            w.breadth = true;
        else if (strcmp(a, "layout=depth") == 0)
            w.breadth = false;
        else if (strcmp(a, "shape=tiny") == 0)
            w.tiny = true;
        else if (strcmp(a, "shape=mixed") == 0)
            w.tiny = false;
        else if (strcmp(a, "gz") == 0)
            w.gz = true;
        else
            die("not understood: ", a);
    }
    return w;
}

/* ---- numbers by chance ---- */

static uint64_t state;
static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}
static uint32_t below(uint64_t n) { return (uint32_t)(mix(state += 0x9e3779b97f4a7c15u) % n); }
static bool     percent(uint64_t p) { return below(100) < p; }

/* ---- classes ---- */

typedef struct class_row {
    const char *name;   /* as the JVM writes it */
    int         super;  /* place in the table; -1: none */
    bool        app;    /* of the application's loader */
    const char *fields; /* own ones: name:TYPE */
} class_row;

enum {
    OBJECT,
    CLASS,
    STRING,
    NUMBER,
    INTEGER,
    LONG,
    LOADER,
    APP_LOADER,
    THREAD,
    ABSTRACT_MAP,
    MAP,
    MAP_NODE,
    MAP_TABLE,
    LIST,
    OBJECTS,
    BYTES,
    INTS,
    LONGS,
    MAIN,
    CELL,
    KIND,
    ENTITY
};
#define ENTITIES 64u
#define CLASSES  ((uint32_t)ENTITY + ENTITIES)
#define KINDS    16u
#define SMALL    256u /* cached Integers */
#define STEP     24u  /* from one constant to the next: a head and an int, whatever the references are */

static const class_row rows[ENTITY] = {
    [OBJECT] = { "java/lang/Object", -1, false, "" },
    [CLASS] = { "java/lang/Class", OBJECT, false, "name:L" },
    [STRING] = { "java/lang/String", OBJECT, false, "value:L hash:I coder:B hashIsZero:Z" },
    [NUMBER] = { "java/lang/Number", OBJECT, false, "" },
    [INTEGER] = { "java/lang/Integer", NUMBER, false, "value:I" },
    [LONG] = { "java/lang/Long", NUMBER, false, "value:J" },
    [LOADER] = { "java/lang/ClassLoader", OBJECT, false, "parent:L" },
    [APP_LOADER] = { "jdk/internal/loader/ClassLoaders$AppClassLoader", LOADER, false, "" },
    [THREAD] = { "java/lang/Thread", OBJECT, false, "name:L tid:J" },
    [ABSTRACT_MAP] = { "java/util/AbstractMap", OBJECT, false, "keySet:L values:L" },
    [MAP] = { "java/util/HashMap", ABSTRACT_MAP, false,
              "table:L entrySet:L size:I modCount:I threshold:I loadFactor:F" },
    [MAP_NODE] = { "java/util/HashMap$Node", OBJECT, false, "hash:I key:L value:L next:L" },
    [MAP_TABLE] = { "[Ljava/util/HashMap$Node;", OBJECT, false, "" },
    [LIST] = { "java/util/ArrayList", OBJECT, false, "modCount:I size:I elementData:L" },
    [OBJECTS] = { "[Ljava/lang/Object;", OBJECT, false, "" },
    [BYTES] = { "[B", OBJECT, false, "" },
    [INTS] = { "[I", OBJECT, false, "" },
    [LONGS] = { "[J", OBJECT, false, "" },
    [MAIN] = { "com/acme/Main", OBJECT, true, "" },
    [CELL] = { "com/acme/Cell", OBJECT, true, "next:L value:L weight:I" },
    [KIND] = { "com/acme/Kind", OBJECT, true, "ordinal:I" },
};
/* The fields of the entities differ after the four references, which all have. */
static const char *const entity_fields[] = {
    "left:L right:L payload:L kind:L key:I",
    "left:L right:L payload:L kind:L key:I stamp:J",
    "left:L right:L payload:L kind:L key:J open:Z",
    "left:L right:L payload:L kind:L x:D y:D",
    "left:L right:L payload:L kind:L key:I rate:F level:S",
    "left:L right:L payload:L kind:L",
};

static class_row class_at(uint32_t c, char *room, size_t size)
{
    if (c < ENTITY)
        return rows[c];
    (void)snprintf(room, size, "com/acme/model/Entity%02u", c - ENTITY);
    return (class_row){ room, OBJECT, true, entity_fields[c % (sizeof entity_fields / sizeof *entity_fields)] };
}

static const char    letters[] = "LZCFDBSIJ";
static const uint8_t types[] = { 2, 4, 5, 6, 7, 8, 9, 10, 11 }, sizes[] = { 0, 1, 2, 4, 8, 1, 2, 4, 8 };

/* The next field's place in the tables above; -1 at the end. name may be NULL. */
static int next_field(const char **fields, hdx_text *name)
{
    const char *at = *fields, *colon = strchr(at, ':');
    if (colon == NULL)
        return -1;
    if (name != NULL)
        *name = (hdx_text){ at, (uint32_t)(colon - at) };
    *fields = colon + 2 + (colon[2] == ' ');
    return (int)(strchr(letters, colon[1]) - letters);
}

/* ---- a tile ---- */

typedef enum ref_to { TO_NULL, TO_NODE, TO_LEFT, TO_RIGHT, TO_FAR, TO_FIXED } ref_to;
typedef struct ref {
    uint64_t to; /* node of the tile, or address */
    ref_to   how;
} ref;
typedef struct node {
    uint64_t offset;       /* of its address */
    uint32_t class, count; /* count: elements, or size of a collection */
    uint32_t first, refs;
    uint8_t  level, type; /* type: of a primitive array */
    bool     array;
} node;

typedef struct patch {
    uint32_t at;
    uint64_t to;
} patch; /* a place in the tile's bytes, and an offset of a tile */
typedef struct patches {
    patch   *at;
    uint64_t count, room;
} patches;

typedef struct maker {
    wish       w;
    uint32_t   reference, head, array_head; /* sizes of the heap, not of the file */
    hdx_addr   base, tiles;                 /* tiles: address of tile 0 */
    uint64_t   tile_count, tile_objects, span, tail;
    node      *nodes;
    uint64_t   node_count, node_room;
    ref       *refs;
    uint64_t   ref_count, ref_room;
    uint32_t  *shared; /* nodes that others may refer to */
    uint64_t   shared_count;
    hdx_buffer bytes, before,
        behind; /* sub-records: of a tile, before and after the tiles; tables go before with the first */
    patches  here, left, right, far;
    hdx_addr class_of[ENTITY + ENTITIES], kinds, small, hub, rest;
    uint64_t fixed; /* records before the tiles */
    int      fd;
    gzFile   gz;
    uint64_t written;
} maker;

static void *grown(void *at, uint64_t *room, uint64_t want, size_t size)
{
    if (want <= *room)
        return at;
    *room = want + want / 2 + 1024;
    if ((at = realloc(at, *room * size)) == NULL)
        die("out of memory", "");
    return at;
}

static uint32_t add(maker *m, uint32_t class, uint32_t refs, uint32_t count, unsigned level)
{
    m->nodes = grown(m->nodes, &m->node_room, m->node_count + 1, sizeof *m->nodes);
    m->refs = grown(m->refs, &m->ref_room, m->ref_count + refs, sizeof *m->refs);
    memset(m->refs + m->ref_count, 0, refs * sizeof *m->refs);
    m->nodes[m->node_count] = (node){
        .class = class, .count = count, .first = (uint32_t)m->ref_count, .refs = refs, .level = (uint8_t)level
    };
    m->ref_count += refs;
    return (uint32_t)m->node_count++;
}
static void link_node(maker *m, uint32_t from, uint32_t slot, uint32_t to)
{
    m->refs[m->nodes[from].first + slot] = (ref){ to, TO_NODE };
}
static void link_fixed(maker *m, uint32_t from, uint32_t slot, hdx_addr to)
{
    m->refs[m->nodes[from].first + slot] = (ref){ to, TO_FIXED };
}

static uint32_t add_objects(maker *m, uint32_t class, uint32_t n, unsigned level)
{
    uint32_t a = add(m, class, n, n, level);
    m->nodes[a].array = true;
    return a;
}
static uint32_t add_primitives(maker *m, uint32_t class, uint32_t n, unsigned level)
{
    uint32_t a = add(m, class, 0, n, level);
    m->nodes[a].array = true;
    m->nodes[a].type = class == BYTES ? 8 : class == INTS ? 10 : 11;
    return a;
}

/* Lengths of texts: most short, some long. */
static uint32_t text_length(void) { return percent(90) ? 2 + below(28) : 30 + below(200); }
static uint32_t add_string(maker *m, unsigned level)
{
    uint32_t s = add(m, STRING, 1, 0, level), b = add_primitives(m, BYTES, text_length(), level + 1);
    link_node(m, s, 0, b);
    return s;
}
static uint32_t add_box(maker *m, unsigned level) { return add(m, percent(80) ? INTEGER : LONG, 0, 0, level); }

/* A second referrer for somebody: near, or in another tile. */
static bool share(maker *m, uint32_t from, uint32_t slot)
{
    if (m->shared_count == 0)
        return false;
    bool     near = percent(60);
    uint64_t back = near ? below(m->shared_count < 64 ? m->shared_count : 64) : below(m->shared_count);
    m->refs[m->nodes[from].first + slot] = (ref){ m->shared[m->shared_count - 1 - back], near ? TO_NODE : TO_FAR };
    return true;
}
static void value(maker *m, uint32_t from, uint32_t slot, unsigned level)
{
    uint32_t dice = below(100);
    if (dice < 36 && share(m, from, slot))
        return;
    if (dice < 44)
        link_fixed(m, from, slot, m->small + STEP * below(SMALL));
    else if (dice < 72)
        link_node(m, from, slot, add_string(m, level));
    else if (dice < 88)
        link_node(m, from, slot, add_box(m, level));
}

static uint32_t add_map(maker *m, uint32_t n, unsigned level)
{
    uint32_t room = 16;
    while (room * 3 < n * 4)
        room *= 2;
    uint32_t map = add(m, MAP, 4, n, level), table = add_objects(m, MAP_TABLE, room, level + 1);
    link_node(m, map, 0, table); /* table and entrySet come before what AbstractMap declares */
    for (uint32_t i = 0; i < n; i++) {
        uint32_t entry = add(m, MAP_NODE, 3, 0, level + 2), slot = below(room);
        m->refs[m->nodes[entry].first + 2] = m->refs[m->nodes[table].first + slot]; /* what stood there is next */
        link_node(m, table, slot, entry);
        link_node(m, entry, 0, percent(70) ? add_string(m, level + 3) : add_box(m, level + 3));
        value(m, entry, 1, level + 3);
    }
    return map;
}

static uint32_t add_list(maker *m, uint32_t n, unsigned level)
{
    uint32_t list = add(m, LIST, 1, n, level), array = add_objects(m, OBJECTS, n < 10 ? 10 : n + n / 4, level + 1);
    link_node(m, list, 0, array);
    for (uint32_t i = 0; i < n; i++)
        value(m, array, i, level + 2);
    return list;
}

static uint32_t add_chain(maker *m, uint32_t n, unsigned level)
{
    uint32_t first = add(m, CELL, 2, 0, level), last = first;
    for (uint32_t i = 1; i < n; i++) {
        value(m, last, 1, level + 1);
        uint32_t cell = add(m, CELL, 2, 0, level + 1);
        link_node(m, last, 0, cell);
        last = cell;
    }
    return first;
}

static uint32_t add_buffer(maker *m, unsigned level)
{
    static const uint32_t class[] = { BYTES, INTS, LONGS };
    uint32_t n = percent(90) ? 1 + below(16) : percent(95) ? 16 + below(200) : 200 + below(3800);
    return add_primitives(m, class[below(3)], n, level);
}

/* An entity with what belongs to it: at most `most` objects. */
static void add_cluster(maker *m, uint64_t most, bool live)
{
    uint32_t dice = below(100), spread = below(ENTITIES),
             class = ENTITY + spread * spread / ENTITIES; /* few classes have most instances */
    uint32_t head = add(m, class, 4, 0, 0);
    if (live) {
        m->refs[m->nodes[head].first] = (ref){ head, TO_LEFT };
        m->refs[m->nodes[head].first + 1] = (ref){ head, TO_RIGHT };
    }
    if (percent(50))
        link_fixed(m, head, 3, m->kinds + STEP * (below(KINDS) * below(KINDS) / KINDS));
    if (most < 130) { /* the rest of the tile */
        uint32_t array = most < 3 ? 0 : add_objects(m, OBJECTS, (uint32_t)most - 2, 1);
        if (most == 2)
            link_node(m, head, 2, add_buffer(m, 1));
        else if (most > 2)
            link_node(m, head, 2, array);
        for (uint32_t i = 0; i + 2 < most; i++)
            link_node(m, array, i, add_box(m, 2));
    } else if (m->w.tiny) {
        uint32_t array = add_objects(m, OBJECTS, 64, 1);
        link_node(m, head, 2, array);
        for (uint32_t i = 0; i < 64; i++)
            link_node(m, array, i, add_primitives(m, BYTES, 0, 2));
    } else if (dice < 34) {
        link_node(m, head, 2, add_string(m, 1));
    } else if (dice < 54) {
        link_node(m, head, 2, add_map(m, 1 + below(percent(80) ? 8 : 22), 1));
    } else if (dice < 68) {
        link_node(m, head, 2, add_list(m, below(percent(80) ? 10 : 36), 1));
    } else if (dice < 82) {
        link_node(m, head, 2, add_chain(m, 1 + below(20), 1));
    } else if (dice < 90) {
        link_node(m, head, 2, add_buffer(m, 1));
    } else {
        (void)share(m, head, 2);
    }
    if (live) {
        m->shared[m->shared_count++] = head;
        if (m->refs[m->nodes[head].first + 2].how == TO_NODE && !m->w.tiny &&
            m->refs[m->nodes[head].first + 2].to > head)
            m->shared[m->shared_count++] = head + 1;
    }
}

static uint64_t field_bytes(uint32_t class, uint32_t reference)
{
    uint64_t bytes = 0;
    char     room[64];
    for (int c = (int)class; c >= 0;) {
        class_row   row = class_at((uint32_t)c, room, sizeof room);
        const char *fields = row.fields;
        for (int f; (f = next_field(&fields, NULL)) >= 0;)
            bytes += f == 0 ? reference : sizes[f];
        c = row.super;
    }
    return bytes;
}

static uint64_t heap_bytes(const maker *m, const node *n)
{
    uint64_t bytes;
    if (!n->array)
        bytes = m->head + field_bytes(n->class, m->reference);
    else
        bytes = m->array_head + (uint64_t)n->count * (n->type == 0    ? m->reference
                                                      : n->type == 8  ? 1
                                                      : n->type == 10 ? 4
                                                                      : 8);
    return (bytes + 7) / 8 * 8;
}

/*
 * Draws the objects of a tile and gives each its place; breadth: level by level, as a collector that copies breadth
 * first leaves them.
 */
static void draw_tile(maker *m)
{
    uint64_t span = 0;
    unsigned top = m->w.breadth ? 16 : 0;
    m->node_count = m->ref_count = m->shared_count = 0;
    m->shared = malloc((m->tile_objects * 2 + 2) * sizeof *m->shared);
    if (m->shared == NULL)
        die("out of memory", "");
    while (m->node_count < m->tile_objects) {
        bool live = m->node_count == 0 || !percent(m->w.garbage);
        if (m->w.tiny && !live)
            for (unsigned i = 0; i < 66 && m->node_count < m->tile_objects; i++)
                (void)add_primitives(m, BYTES, 0, 0);
        else
            add_cluster(m, m->tile_objects - m->node_count, live);
    }
    for (unsigned level = 0; level <= top; level++)
        for (uint64_t i = 0; i < m->node_count; i++)
            if (!m->w.breadth || m->nodes[i].level == level) {
                m->nodes[i].offset = span;
                span += heap_bytes(m, &m->nodes[i]);
            }
    m->span = (span + 4095) / 4096 * 4096;
    free(m->shared);
}

/* ---- records ---- */

static void note(patches *p, uint64_t at, uint64_t to)
{
    p->at = grown(p->at, &p->room, p->count + 1, sizeof *p->at);
    p->at[p->count++] = (patch){ (uint32_t)at, to };
}

static void put_ref(maker *m, const ref *r)
{
    uint64_t to = r->how == TO_FIXED || r->how == TO_NULL ? r->to : m->nodes[r->to].offset;
    patches *p = r->how == TO_NODE ? &m->here : r->how == TO_LEFT ? &m->left : r->how == TO_RIGHT ? &m->right : &m->far;
    if (r->how == TO_NODE || r->how == TO_LEFT || r->how == TO_RIGHT || r->how == TO_FAR)
        note(p, m->bytes.len, to);
    hdx_write_id(&m->bytes, m->w.ids, r->how == TO_FIXED ? r->to : 0);
}

/* Values of an instance: references as they come, sizes of collections, all else by chance. */
static void put_fields(maker *m, const node *n)
{
    char     room[64];
    uint32_t slot = n->first;
    for (int c = (int)n->class; c >= 0;) {
        class_row   row = class_at((uint32_t)c, room, sizeof room);
        const char *fields = row.fields;
        hdx_text    name;
        for (int f; (f = next_field(&fields, &name)) >= 0;)
            if (f == 0)
                put_ref(m, &m->refs[slot++]);
            else
                hdx_write_value(&m->bytes, m->w.ids, types[f],
                                sizes[f] == 1               ? 0
                                : hdx_text_is(name, "size") ? n->count
                                                            : below(UINT32_MAX));
        c = row.super;
    }
}

static void put_node(maker *m, const node *n)
{
    static const char words[] = "order customer invoice street north paid open 2024-11-03 item green blue delivery "
                                "total Ada Grace Linus memory leak ";
    const uint32_t    ids = m->w.ids;
    uint8_t           text[4096 * 8];
    note(&m->here, m->bytes.len + 1, n->offset);
    if (!n->array) {
        hdx_write_instance(&m->bytes, ids, 0, 1, m->class_of[n->class], NULL, 0);
        uint64_t head = m->bytes.len;
        put_fields(m, n);
        for (unsigned k = 0; k < 4; k++) /* its length, now that it is known */
            m->bytes.at[head - 4 + k] = (char)((m->bytes.len - head) >> (24 - 8 * k));
    } else if (n->type == 0) {
        hdx_write_object_array_head(&m->bytes, ids, 0, 1, m->class_of[n->class], n->count);
        for (uint32_t i = 0; i < n->refs; i++)
            put_ref(m, &m->refs[n->first + i]);
    } else {
        uint32_t size = n->count * (n->type == 8 ? 1 : n->type == 10 ? 4 : 8), at = below(sizeof words);
        for (uint32_t i = 0; i < size; i++)
            text[i] = n->type == 8 ? (uint8_t)words[(at + i) % (sizeof words - 1)]
                      : i % 4 < 2  ? 0
                                   : (uint8_t)below(256);
        hdx_write_primitive_array_head(&m->bytes, ids, HDX_SUB_PRIMITIVE_ARRAY, 0, 1, n->count, n->type);
        hdx_buffer_put(&m->bytes, text, size);
    }
}

/* The tile's bytes, records in file order, cut into segments unless those are longer than a tile. */
static void write_tile(maker *m)
{
    uint32_t *order = malloc(m->node_count * sizeof *order);
    uint64_t  segment = 0, begun = 0, n = 0;
    if (order == NULL)
        die("out of memory", "");
    for (unsigned level = 0; level <= (m->w.breadth ? 16u : 0u); level++) /* by address */
        for (uint32_t i = 0; i < m->node_count; i++)
            if (!m->w.breadth || m->nodes[i].level == level)
                order[n++] = i;
    if (m->w.shuffled)
        for (uint64_t i = m->node_count; i > 1; i--) {
            uint32_t o = below(i), t = order[i - 1];
            order[i - 1] = order[o];
            order[o] = t;
        }
    for (uint64_t i = 0; i < m->node_count; i++) {
        if (m->w.segment > 0 &&
            (i == 0 || m->bytes.len - begun >= m->w.segment - (1u << 15))) { /* no record is longer: see add_buffer */
            if (i > 0)
                hdx_write_finish(&m->bytes, segment);
            segment = hdx_write_begin(&m->bytes, HDX_TOP_HEAP_DUMP_SEGMENT, 0);
            begun = m->bytes.len;
        }
        put_node(m, &m->nodes[order[i]]);
    }
    if (m->w.segment > 0)
        hdx_write_finish(&m->bytes, segment);
    free(order);
}

/* ---- before and after the tiles ---- */

static void put_name(hdx_buffer *b, uint32_t ids, hdx_text name, uint64_t *next)
{
    hdx_write_string(b, ids, (*next)++, name.at, name.len);
}

/* Tables and class records: names are numbered in the order in which both loops meet them. */
static void put_classes(const maker *m, hdx_buffer *tables, hdx_buffer *heap)
{
    const uint32_t ids = m->w.ids;
    uint64_t       next = 1, name = 1;
    char           room[64];
    for (uint32_t c = 0; c < CLASSES; c++) {
        class_row   row = class_at(c, room, sizeof room);
        const char *fields = row.fields;
        hdx_text    field;
        hdx_buffer  layout = hdx_buffer_of(NULL), statics = hdx_buffer_of(NULL);
        uint32_t    count = 0;
        put_name(tables, ids, (hdx_text){ row.name, (uint32_t)strlen(row.name) }, &next);
        hdx_write_load_class(tables, ids, c + 1, m->class_of[c], 1, name);
        name = next;
        for (int f; (f = next_field(&fields, &field)) >= 0; count++) {
            put_name(tables, ids, field, &next);
            hdx_write_id(&layout, ids, name++);
            hdx_write_u1(&layout, types[f]);
        }
        if (c == MAIN) {
            put_name(tables, ids, (hdx_text){ "heads", 5 }, &next);
            hdx_write_id(&statics, ids, name++);
            hdx_write_u1(&statics, 2);
            hdx_write_id(&statics, ids, m->hub);
            put_name(tables, ids, (hdx_text){ "rest", 4 }, &next);
            hdx_write_id(&statics, ids, name++);
            hdx_write_u1(&statics, 2);
            hdx_write_id(&statics, ids, m->rest);
        }
        hdx_class_dump d = { .addr = m->class_of[c],
                             .super = row.super < 0 ? 0 : m->class_of[row.super],
                             .loader = row.app ? m->hub - 64 : 0,
                             .instance_size = (uint32_t)field_bytes(c, ids),
                             .static_count = c == MAIN ? 2 : 0,
                             .field_count = count,
                             .statics = { (const uint8_t *)statics.at, (size_t)statics.len },
                             .fields = { (const uint8_t *)layout.at, (size_t)layout.len } };
        hdx_write_class(heap, ids, &d);
        hdx_buffer_free(&layout);
        hdx_buffer_free(&statics);
    }
    hdx_write_frame(tables, ids, next, name, name + 1, name + 2, MAIN + 1, 42);
    hdx_write_trace(tables, ids, 1, 1, (const uint64_t[]){ next }, 1);
    next = name;
    put_name(tables, ids, (hdx_text){ "main", 4 }, &next);
    put_name(tables, ids, (hdx_text){ "([Ljava/lang/String;)V", 22 }, &next);
    put_name(tables, ids, (hdx_text){ "Main.java", 9 }, &next);
}

/*
 * Classes and constants; the array after them is as long as the tile has heads, so what follows it is placed when the
 * tile is drawn.
 */
static void place_fixed(maker *m)
{
    hdx_addr at = m->base;
    for (uint32_t c = 0; c < CLASSES; c++, at += 128)
        m->class_of[c] = at;
    m->kinds = at;
    m->small = m->kinds + STEP * KINDS;
    m->hub = m->small + STEP * SMALL + 256; /* main thread at - 128, loader at - 64 */
}

static void write_fixed(maker *m, hdx_buffer *tables)
{
    static const uint8_t four[8] = { 0 };
    const uint32_t       ids = m->w.ids;
    hdx_buffer          *b = &m->before;
    put_classes(m, tables, b);
    for (uint32_t c = 0; c < CLASSES; c++)
        if (c < MAIN)
            hdx_write_root(b, ids, HDX_SUB_ROOT_STICKY_CLASS, m->class_of[c], 0, 0, 0);
    hdx_write_root(b, ids, HDX_SUB_ROOT_THREAD_OBJECT, m->hub - 128, 0, 1, 1);
    hdx_write_root(b, ids, HDX_SUB_ROOT_JAVA_FRAME, m->hub, 0, 1, 0);
    hdx_write_root(b, ids, HDX_SUB_ROOT_JNI_GLOBAL, m->class_of[MAIN], 1, 0, 0);
    for (uint32_t i = 0; i < KINDS; i++)
        hdx_write_instance(b, ids, m->kinds + STEP * i, 1, m->class_of[KIND], (const uint8_t[]){ 0, 0, 0, (uint8_t)i },
                           4);
    for (uint32_t i = 0; i < SMALL; i++)
        hdx_write_instance(b, ids, m->small + STEP * i, 1, m->class_of[INTEGER],
                           (const uint8_t[]){ 0, 0, 0, (uint8_t)i }, 4);
    hdx_write_instance(b, ids, m->hub - 128, 1, m->class_of[THREAD], NULL, 0);
    uint64_t thread = b->len;
    hdx_write_id(b, ids, 0);
    hdx_write_u8(b, 1);
    for (unsigned k = 0; k < 4; k++)
        b->at[thread - 4 + k] = (char)((ids + 8) >> (24 - 8 * k));
    hdx_write_instance(b, ids, m->hub - 64, 1, m->class_of[APP_LOADER], four, ids);

    hdx_write_object_array_head(b, ids, m->hub, 1, m->class_of[OBJECTS], (uint32_t)(m->left.count + KINDS + SMALL));
    for (uint64_t i = 0; i < m->left.count; i++) /* every live head has a left reference, of its own offset */
        hdx_write_id(b, ids, m->tiles + m->left.at[i].to);
    for (uint32_t i = 0; i < KINDS; i++)
        hdx_write_id(b, ids, m->kinds + STEP * i);
    for (uint32_t i = 0; i < SMALL; i++)
        hdx_write_id(b, ids, m->small + STEP * i);

    const hdx_addr tail = m->tiles + m->tile_count * m->span;
    hdx_write_object_array_head(b, ids, m->rest, 1, m->class_of[OBJECTS], (uint32_t)m->tail);
    for (uint64_t i = 0; i < m->tail; i++) {
        hdx_write_id(b, ids, tail + 24 * i);
        hdx_write_primitive_array_head(&m->behind, ids, HDX_SUB_PRIMITIVE_ARRAY, tail + 24 * i, 1, 0, 8);
    }
}

/* ---- output ---- */

static void put_out(maker *m, const void *bytes, uint64_t len)
{
    const char *at = bytes;
    m->written += len;
    while (len > 0) {
        uint64_t part = len < 1u << 30 ? len : 1u << 30;
        ssize_t  n = m->w.gz ? (ssize_t)gzwrite(m->gz, at, (unsigned)part) : write(m->fd, at, part);
        if (n <= 0 && !(n < 0 && errno == EINTR && !m->w.gz))
            die("cannot write ", m->w.out);
        at += n > 0 ? n : 0;
        len -= n > 0 ? (uint64_t)n : 0;
    }
}

static void put_segment_head(maker *m, uint64_t len)
{
    hdx_buffer head = hdx_buffer_of(NULL);
    hdx_write_record_head(&head, HDX_TOP_HEAP_DUMP_SEGMENT, 0, (uint32_t)len);
    put_out(m, head.at, head.len);
    hdx_buffer_free(&head);
}

static inline void put_id(uint8_t *p, uint32_t ids, uint64_t v)
{
    if (ids == 8) {
        v = __builtin_bswap64(v);
        memcpy(p, &v, 8);
    } else {
        uint32_t narrow = __builtin_bswap32((uint32_t)v); /* checked when the heap was placed */
        memcpy(p, &narrow, 4);
    }
}

static void fill_side(const maker *m, uint8_t *bytes, const patches *p, uint64_t tile)
{
    if (tile >= m->tile_count)
        return; /* null, as in the template */
    for (uint64_t i = 0; i < p->count; i++)
        put_id(bytes + p->at[i].at, m->w.ids, m->tiles + tile * m->span + p->at[i].to);
}

static void put_tile(maker *m, uint8_t *bytes, uint64_t tile)
{
    const hdx_addr from = m->tiles + tile * m->span;
    memcpy(bytes, m->bytes.at, m->bytes.len);
    if (m->w.ids == 8)
        for (uint64_t i = 0; i < m->here.count; i++)
            put_id(bytes + m->here.at[i].at, 8, from + m->here.at[i].to);
    else
        for (uint64_t i = 0; i < m->here.count; i++)
            put_id(bytes + m->here.at[i].at, 4, from + m->here.at[i].to);
    fill_side(m, bytes, &m->left, 2 * tile + 1);
    fill_side(m, bytes, &m->right, 2 * tile + 2);
    for (uint64_t i = 0; i < m->far.count; i++) {
        uint64_t other = mix(m->w.seed ^ (tile << 20) ^ i) % m->tile_count;
        put_id(bytes + m->far.at[i].at, m->w.ids, m->tiles + other * m->span + m->far.at[i].to);
    }
    put_out(m, bytes, m->bytes.len);
}

static uint64_t divisor_of(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/*
 * In the order of the addresses, or in one that has nothing to do with it: by steps of about 0.618 of the number of
 * tiles.
 */
static void put_heap(maker *m)
{
    const uint64_t n = m->tile_count,
                   most = ((1ull << 31) - 1) /
                          m->bytes.len; /* tiles a segment, where tiles have no segments of their own */
    uint64_t step = m->w.shuffled ? n - n * 382 / 1000 : 1, left = 0;
    uint8_t *bytes = malloc(m->bytes.len);
    if (bytes == NULL)
        die("out of memory", "");
    while (divisor_of(n, step) != 1)
        step++;
    const bool one =
        m->before.len + n * m->bytes.len + m->behind.len < 1ull << 31; /* JDK 14 and older: segments of up to 2 GiB */
    if (m->w.segment > 0 || !one)
        put_segment_head(m, m->before.len);
    else
        put_segment_head(m, m->before.len + n * m->bytes.len + m->behind.len);
    put_out(m, m->before.at, m->before.len);
    for (uint64_t i = 0, tile = 0; i < n; i++, tile = (tile + step) % n) {
        if (m->w.segment == 0 && !one && left == 0) {
            left = n - i < most ? n - i : most;
            put_segment_head(m, left * m->bytes.len);
        }
        left -= left > 0;
        put_tile(m, bytes, tile);
    }
    if (m->behind.len > 0) {
        if (m->w.segment > 0 || !one)
            put_segment_head(m, m->behind.len);
        put_out(m, m->behind.at, m->behind.len);
    }
    free(bytes);
}

/* Draws everything for references of this size; the address after the last object. */
static hdx_addr plan(maker *m, uint32_t reference)
{
    m->reference = reference;
    m->head = m->w.ids == 4 ? 8 : 8 + reference;
    m->array_head = m->head + 4;
    m->base = m->w.ids == 4 ? 1u << 20 : 1ull << 32;
    m->fixed = CLASSES + KINDS + SMALL + 4; /* and thread, loader and two arrays */
    if (m->w.objects < m->fixed + 200)
        die("objects=N: at least 1000 make a heap", "");
    uint64_t rest = m->w.objects - m->fixed;
    m->tile_count = rest < 65536 ? 1 : rest / 65536;
    m->tile_objects = rest / m->tile_count;
    m->tail = rest % m->tile_count;
    state = m->w.seed;
    place_fixed(m);
    draw_tile(m);
    m->here.count = m->left.count = m->right.count = m->far.count = 0;
    hdx_buffer_clear(&m->bytes);
    write_tile(m);
    uint64_t hub = m->array_head + (m->left.count + KINDS + SMALL) * m->reference,
             tail = m->array_head + m->tail * m->reference;
    m->rest = m->hub + (hub + 7) / 8 * 8;
    m->tiles = (m->rest + tail + 65535) / 65536 * 65536;
    return m->tiles + m->tile_count * m->span + 24 * m->tail;
}

int main(int argc, char **argv)
{
    maker           m = { .w = read_wish(argc, argv), .fd = -1 };
    hdx_buffer      tables = hdx_buffer_of(NULL);
    struct timespec t0, t1;
    (void)clock_gettime(CLOCK_MONOTONIC, &t0);
    hdx_addr end = plan(&m, 4);
    if (m.w.ids == 8 && end - m.base >= 32ull << 30) /* no compressed references in a heap of 32 GB and more */
        end = plan(&m, 8);
    if (m.w.ids == 4 && end >> 32 != 0)
        die("ids=4: the addresses of so many objects do not fit in 32 bits", "");
    hdx_write_head(&tables, "1.0.2", m.w.ids, 1700000000000u);
    write_fixed(&m, &tables);
    if (m.bytes.failed || m.before.failed || m.behind.failed || tables.failed)
        die("out of memory", "");

    const bool standard = strcmp(m.w.out, "-") == 0;
    m.fd = standard ? dup(1) : open(m.w.out, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666);
    if (m.fd < 0 || (m.w.gz && ((m.gz = gzdopen(m.fd, "wb1")) == NULL || gzbuffer(m.gz, 1u << 18) != 0)))
        die("cannot create ", m.w.out);
    put_out(&m, tables.at, tables.len);
    put_heap(&m);
    hdx_buffer_clear(&tables);
    hdx_write_end(&tables);
    put_out(&m, tables.at, tables.len);
    if (m.w.gz ? gzclose(m.gz) != Z_OK : close(m.fd) != 0)
        die("cannot write ", m.w.out);
    (void)clock_gettime(CLOCK_MONOTONIC, &t1);
    double s = (double)(t1.tv_sec - t0.tv_sec) + (double)(t1.tv_nsec - t0.tv_nsec) * 1e-9;
    (void)fprintf(standard ? stderr : stdout,
                  "bench,dump,n,bytes,seconds,mb_per_s,peak_rss\nmake_dump,%s,%llu,%llu,%.3f,%.0f,%llu\n", m.w.out,
                  (unsigned long long)m.w.objects, (unsigned long long)m.written, s, (double)m.written / 1e6 / s,
                  (unsigned long long)hdx_peak_rss());
    hdx_buffer_free(&m.bytes);
    hdx_buffer_free(&m.before);
    hdx_buffer_free(&m.behind);
    hdx_buffer_free(&tables);
    free(m.nodes);
    free(m.refs);
    free(m.here.at);
    free(m.left.at);
    free(m.right.at);
    free(m.far.at);
    return 0;
}
