/*
 * triage.c - what stands out in a heap: at most eight sentences, each with the command that goes on.
 *
 *     4 loaders of class acme.PluginLoader define the same 312 classes; objects of these take 40.0 MB
 *     heapdex loaders app.hprof
 *
 * A finder asks another question for its rows, or looks at some objects itself, and says nothing where nothing is
 * wrong. Their order is that of use: what the dump died of and lacks, who keeps the heap alive, the rest.
 * Cost: that of suspects, of a pass over the threads, and of one over the classes. What takes longer is asked of heaps
 * with fewer than LARGE objects alone; of others the last sentence says what was not looked at.
 */
#include "query/triage.h"
#include "query/common/contents.h"
#include "query/common/fields.h"
#include "query/common/labels.h"
#include "query/questions.h"

#include "graph/graph.h"
#include "rows/arguments.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define LARGE          1000000u /* live objects */
#define SUSPECTS_TOLD  2u
#define HOLDERS_TOLD   3u
#define MANY           100000u /* buffers, threads: more are not looked at */
#define REFERRERS_MOST 256u
#define ENTRIES_LOOKED 64u
#define PERCENT_TOLD   10u         /* of the live heap: what is less is told by the question alone */
#define CLASSES_LEAST  (4u << 20)  /* bytes: what many classes keep together in every program */
#define LEAST          (32u << 10) /* bytes: every program keeps so much somewhere */

const hdx_column hdx_triage_members[HDX_TRIAGE_MEMBERS] = {
    HDX_COLUMN("kind", TEXT, NONE, 0, "what it is about: suspect, loaders, deadlock, waste and others"),
    HDX_COLUMN("sentence", TEXT, NONE, 0, "what stands out; its words may change"),
    HDX_COLUMN("bytes", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE, "how much it is about; null where that is not known"),
    HDX_COLUMN("next", TEXT, NONE, 0, "the command that says more: the dump stands after its first word"),
};

typedef struct triage {
    hdx_query  q;
    hdx_ask    ask;
    hdx_graph *g;
    hdx_arena *arena;
    hdx_cell  *at;
    uint64_t   count, live;  /* live: bytes */
    bool       large, tight; /* tight: memory was refused by the limit that there is */
    hdx_fields fields;
} triage;

/* ---- saying ---- */

static hdx_code say(triage *t, const char *kind, hdx_cell bytes, const char *next, const hdx_buffer *sentence,
                    hdx_error *err)
{
    hdx_member *m = hdx_arena_get(t->arena, HDX_TRIAGE_MEMBERS * sizeof *m);
    char       *text = sentence->failed ? NULL : hdx_arena_copy(t->arena, sentence->at, sentence->len);
    if (m == NULL || text == NULL)
        return hdx_no_memory(err, "a sentence", sentence->len);
    if (t->count == HDX_TRIAGE_MOST)
        return HDX_OK;
    m[0] = (hdx_member){ "kind", hdx_cell_string(kind) };
    m[1] = (hdx_member){ "sentence", hdx_cell_text((hdx_text){ text, (uint32_t)sentence->len }) };
    m[2] = (hdx_member){ "bytes", bytes };
    m[3] = (hdx_member){ "next", hdx_cell_copy(t->arena, next) };
    if (m[3].value.kind == HDX_CELL_NULL)
        return hdx_no_memory(err, "a sentence", strlen(next));
    t->at[t->count++] = hdx_cell_object(m, HDX_TRIAGE_MEMBERS);
    return HDX_OK;
}

static void put_text(hdx_buffer *b, const hdx_cell *cell)
{
    if (cell->kind == HDX_CELL_TEXT)
        hdx_buffer_put(b, cell->as.text.at, cell->as.text.len);
}

/* "40.0 MB (12 %)" */
static void put_share(const triage *t, hdx_buffer *b, uint64_t bytes)
{
    char human[16];
    hdx_human_size(bytes, human);
    hdx_buffer_format(b, "%s (%.0f %%)", human, t->live == 0 ? 0 : 100.0 * (double)bytes / (double)t->live);
}

static void put_size(hdx_buffer *b, uint64_t bytes)
{
    char human[16];
    hdx_human_size(bytes, human);
    hdx_buffer_text(b, human);
}

static bool tells(const triage *t, uint64_t bytes) { return bytes >= LEAST && bytes > t->live / (100 / PERCENT_TOLD); }

/* ---- rows of another question ---- */

#define ASKED_COLUMNS 6u

typedef struct asked {
    hdx_rows       *rows;
    const hdx_cell *cells[ASKED_COLUMNS]; /* of this row, in the order in which the columns were named */
    unsigned        places[ASKED_COLUMNS], count;
} asked;

static hdx_code ask(triage *t, const hdx_question *question, const hdx_argument *arguments, size_t count,
                    const char *const *columns, asked *out, hdx_error *err)
{
    const hdx_arguments a = { &question->declared, arguments, count };
    const hdx_form     *form = hdx_arguments_form(&a);
    hdx_query           q = t->q;
    *out = (asked){ .rows = NULL };
    q.wanted = (hdx_wanted){ .columns = 0 };
    for (; columns[out->count] != NULL; out->count++) {
        unsigned place = 0;
        while (place < form->column_count && strcmp(form->columns[place].name, columns[out->count]) != 0)
            place++;
        assert(place < form->column_count && place < 64 && out->count < ASKED_COLUMNS);
        out->places[out->count] = place;
        q.wanted.columns |= 1ull << place;
    }
    q.wanted.named = q.wanted.columns;
    return hdx_question_open(question, &q, &a, &out->rows, err);
}

static bool asked_next(asked *a)
{
    const hdx_cell *cells;
    if (!hdx_rows_next(a->rows, &cells))
        return false;
    for (unsigned i = 0; i < a->count; i++)
        a->cells[i] = &cells[a->places[i]];
    return true;
}

static hdx_code asked_end(asked *a, hdx_code code, hdx_error *err)
{
    if (code == HDX_OK)
        code = hdx_rows_end(a->rows, err);
    hdx_rows_close(a->rows);
    return code;
}

static uint64_t natural(const hdx_cell *cell) { return cell->kind == HDX_CELL_UINT ? cell->as.natural : 0; }

/* ---- what the dump died of, and lacks ---- */

static const hdx_cell *member(const hdx_cell *of, const char *key)
{
    for (uint64_t i = 0; of->kind == HDX_CELL_OBJECT && i < of->as.object.count; i++)
        if (strcmp(of->as.object.at[i].key, key) == 0)
            return &of->as.object.at[i].value;
    return NULL;
}

/* That thread met the end; what filled the heap may be another one. */
static hdx_code find_death(triage *t, const hdx_cell *died, hdx_error *err)
{
    const hdx_cell *name = member(died, "name"), *frame = member(died, "frame");
    if (name == NULL || frame == NULL)
        return HDX_OK;
    hdx_buffer b = hdx_buffer_of(t->q.mem);
    hdx_buffer_text(&b, "written when ");
    hdx_buffer_text(&b, name->kind == HDX_CELL_TEXT ? "thread \"" : "a thread");
    put_text(&b, name);
    hdx_buffer_text(&b, name->kind == HDX_CELL_TEXT ? "\" ran out of memory" : " ran out of memory");
    hdx_buffer_text(&b, frame->kind == HDX_CELL_TEXT ? " at " : "");
    put_text(&b, frame);
    return say(t, "out-of-memory", hdx_cell_null(), "threads --stacks --locals", &b, err);
}

static hdx_code find_stripping(triage *t, hdx_error *err)
{
    const hdx_stripping *s = hdx_graph_summary_of(t->g)->stripping;
    if (s == NULL || s->policy == HDX_STRIP_NONE)
        return HDX_OK;
    hdx_buffer b = hdx_buffer_of(t->q.mem);
    hdx_buffer_format(&b, "contents were taken out of the dump (%s)", hdx_strip_name(s->policy));
    for (unsigned i = 0; hdx_strip_affected(s, i) != NULL; i++)
        hdx_buffer_format(&b, "%s%s", i == 0 ? ": not whole are " : ", ", hdx_strip_affected(s, i));
    return say(t, "stripped", hdx_cell_null(), "info --verbose", &b, err);
}

/* ---- who keeps the heap alive ---- */

static bool is_plain_word(hdx_text word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$";
    for (uint32_t i = 0; i < word.len; i++)
        if (word.at[i] == '\0' || strchr(plain, word.at[i]) == NULL)
            return false;
    return word.len > 0;
}

/* A group of which no one object holds most has several causes: by what each of its members is held. */
static hdx_code next_of_group(triage *t, const hdx_cell *class, hdx_buffer *next)
{
    const hdx_text name = class->kind == HDX_CELL_TEXT ? class->as.text : (hdx_text){ "", 0 };
    (void)t;
    if (hdx_text_is(name, "java.lang.Class"))
        hdx_buffer_text(next, "loaders");
    else if (hdx_text_is(name, "java.lang.ThreadLocal$ThreadLocalMap$Entry"))
        hdx_buffer_text(next, "thread-locals");
    else if (is_plain_word(name))
        hdx_buffer_format(next, "path --merge --class '%.*s'", (int)name.len, name.at);
    else
        hdx_buffer_text(next, "suspects");
    return HDX_OK;
}

static hdx_code find_suspects(triage *t, bool *any, hdx_error *err)
{
    static const char *const columns[] = { "sentence", "bytes", "object", "accumulation_point", "class", NULL };
    asked                    a;
    unsigned                 told = 0;
    hdx_code                 code = ask(t, &hdx_question_suspects, NULL, 0, columns, &a, err);
    while (code == HDX_OK && asked_next(&a)) {
        hdx_buffer b = hdx_buffer_of(t->q.mem), next = hdx_buffer_of(t->q.mem);
        *any = true;
        if (natural(a.cells[1]) < LEAST || told == SUSPECTS_TOLD)
            break;
        if (a.cells[4]->kind == HDX_CELL_TEXT && hdx_text_is(a.cells[4]->as.text, "java.lang.Class") &&
            natural(a.cells[1]) < CLASSES_LEAST)
            continue;
        told++;
        put_text(&b, a.cells[0]);
        if (a.cells[2]->kind == HDX_CELL_NULL && a.cells[3]->kind == HDX_CELL_NULL)
            code = next_of_group(t, a.cells[4], &next);
        else
            hdx_buffer_text(&next, "suspects");
        if (code == HDX_OK && next.failed)
            code = hdx_no_memory(err, "a command", next.len);
        if (code == HDX_OK)
            code = say(t, "suspect", *a.cells[1], next.at, &b, err);
    }
    return asked_end(&a, code, err);
}

/* Nothing keeps much by itself: several holders may together. */
static hdx_code find_holders(triage *t, hdx_error *err)
{
    static const char *const columns[] = { "together", "kind", "label", "class", "members", NULL };
    asked                    a;
    uint64_t                 together = 0, rows = 0;
    hdx_buffer               names = hdx_buffer_of(t->q.mem);
    hdx_code                 code = ask(t, &hdx_question_holders, NULL, 0, columns, &a, err);
    while (code == HDX_OK && asked_next(&a)) {
        together = natural(a.cells[0]) > together ? natural(a.cells[0]) : together;
        if (rows++ >= HOLDERS_TOLD)
            continue;
        hdx_buffer_text(&names, rows == 1 ? "" : ", ");
        if (natural(a.cells[4]) > 1)
            hdx_buffer_format(&names, "%" PRIu64 " of one ", natural(a.cells[4]));
        put_text(&names, a.cells[1]);
        hdx_buffer_text(&names, " ");
        put_text(&names, a.cells[2]->kind == HDX_CELL_TEXT ? a.cells[2] : a.cells[3]);
    }
    if ((code = asked_end(&a, code, err)) != HDX_OK || rows == 0 || !tells(t, together))
        return code;
    hdx_buffer b = hdx_buffer_of(t->q.mem);
    hdx_buffer_format(&b, "no one object keeps much, but %" PRIu64 " holder%s: ", rows,
                      rows == 1 ? " keeps it" : "s together do");
    hdx_buffer_put(&b, names.at, names.len);
    hdx_buffer_text(&b, rows > HOLDERS_TOLD ? " and others; " : "; ");
    put_share(t, &b, together);
    b.failed = b.failed || names.failed;
    return say(t, "holders", hdx_cell_uint(together), "holders", &b, err);
}

/* ---- class loaders that should be one ---- */

typedef struct defined { /* a live class */
    hdx_text name;
    hdx_addr loader;
    uint64_t bytes;
} defined;

typedef struct loader {
    hdx_addr address;
    uint32_t class;
    uint64_t classes, twice, bytes; /* twice: classes of these names another loader of its class has, too */
} loader;

static int by_name(const void *a, const void *b)
{
    const defined *x = a, *y = b;
    const uint32_t n = x->name.len < y->name.len ? x->name.len : y->name.len;
    const int      order = memcmp(x->name.at, y->name.at, n);
    if (order != 0)
        return order;
    if (x->name.len != y->name.len)
        return x->name.len < y->name.len ? -1 : 1;
    return (x->loader > y->loader) - (x->loader < y->loader);
}

static int by_class(const void *a, const void *b)
{
    const loader *x = a, *y = b;
    if (x->class != y->class)
        return x->class < y->class ? -1 : 1;
    return (x->address > y->address) - (x->address < y->address);
}

typedef struct loaders {
    HDX_LIST(loader) list;
    hdx_map          places; /* of an address in the list */
} loaders;

static loader *loader_at(triage *t, loaders *l, hdx_addr address)
{
    bool      fresh;
    uint64_t *place = hdx_map_put(&l->places, address, &fresh);
    if (place == NULL)
        return NULL;
    if (fresh) {
        hdx_id id;
        if (!hdx_mem_room(t->q.mem, (void **)&l->list.at, &l->list.capacity, l->list.count, sizeof(loader)))
            return NULL;
        *place = l->list.count;
        l->list.at[l->list.count++] = (loader){
            .address = address,
            .class = address != 0 && hdx_graph_find(t->g, address, &id) ? hdx_graph_class_of(t->g, id) : HDX_NO_CLASS,
        };
    }
    return &l->list.at[*place];
}

/* Those of one name: of each pair of loaders that have it and are of one class, both have it twice. */
static hdx_code count_twice(triage *t, loaders *l, const defined *at, uint64_t count, hdx_error *err)
{
    hdx_code code = HDX_OK;
    for (uint64_t i = 0; i < count && code == HDX_OK; i++) {
        loader *x = loader_at(t, l, at[i].loader);
        if (x == NULL)
            return hdx_no_memory(err, "class loaders", l->list.count * sizeof(loader));
        const uint32_t class = x->class;
        bool twice = false;
        for (uint64_t k = i == 0 ? 1 : i - 1; k < count && k <= i + 1 && !twice; k += 2) {
            const loader *y = loader_at(t, l, at[k].loader);
            if (y == NULL)
                return hdx_no_memory(err, "class loaders", l->list.count * sizeof(loader));
            twice = class != HDX_NO_CLASS && y->class == class;
        }
        x = loader_at(t, l, at[i].loader); /* the list may have moved */
        x->classes++;
        x->bytes += at[i].bytes;
        x->twice += twice;
        code = hdx_ask_turn(&t->ask, err);
    }
    return code;
}

/* The classes of most of these are those of another one: one of them would do. */
static hdx_code tell_loaders(triage *t, const loader *at, uint64_t count, hdx_error *err)
{
    uint64_t         several = 0, twice = 0, bytes = 0;
    const hdx_class *c = hdx_graph_class(t->g, at->class);
    for (uint64_t i = 0; i < count; i++)
        if (at[i].twice * 2 > at[i].classes) {
            several++;
            twice = at[i].twice > twice ? at[i].twice : twice;
            bytes += at[i].bytes;
        }
    if (several < 2 || c == NULL || twice < 2)
        return HDX_OK;
    hdx_buffer b = hdx_buffer_of(t->q.mem);
    hdx_buffer_format(
        &b, "%" PRIu64 " class loaders of %.*s define the same classes, up to %" PRIu64 "; objects of these take ",
        several, (int)(c->name.len < 200 ? c->name.len : 200), c->name.at, twice);
    put_share(t, &b, bytes);
    return say(t, "loaders", hdx_cell_uint(bytes), "loaders", &b, err);
}

static hdx_code find_loaders(triage *t, hdx_error *err)
{
    uint32_t         count = 0;
    const hdx_class *classes = hdx_graph_classes(t->g, &count);
    defined         *at = hdx_mem_array(t->q.mem, count, sizeof *at);
    uint64_t         live = 0;
    loaders          l = { .places = hdx_map_of(t->q.mem) };
    hdx_code         code = HDX_OK;
    if (at == NULL)
        return hdx_no_memory(err, "classes", count * sizeof *at);
    for (uint32_t i = 0; i < count; i++)
        if (classes[i].loader != 0 && hdx_graph_live(t->g, classes[i].id))
            at[live++] = (defined){ classes[i].name, classes[i].loader, classes[i].live_bytes };
    if (live > 0)
        qsort(at, live, sizeof *at, by_name);
    for (uint64_t i = 0, end; code == HDX_OK && i < live; i = end) {
        for (end = i + 1; end < live && at[end].name.len == at[i].name.len &&
                          memcmp(at[end].name.at, at[i].name.at, at[i].name.len) == 0;)
            end++;
        code = count_twice(t, &l, at + i, end - i, err);
    }
    if (code == HDX_OK && l.list.count > 0)
        qsort(l.list.at, l.list.count, sizeof *l.list.at, by_class);
    for (uint64_t i = 0, end; code == HDX_OK && i < l.list.count; i = end) {
        for (end = i + 1; end < l.list.count && l.list.at[end].class == l.list.at[i].class;)
            end++;
        if (end - i > 1 && l.list.at[i].class != HDX_NO_CLASS)
            code = tell_loaders(t, l.list.at + i, end - i, err);
    }
    return code;
}

/* ---- memory outside of the heap ---- */

static hdx_code find_outside(triage *t, hdx_error *err)
{
    static const hdx_argument arguments[] = { { "by", "kind" } };
    static const char *const  columns[] = { "kind", "buffers", "capacity", NULL };
    const hdx_class          *c = hdx_graph_class_named(t->g, "java.nio.DirectByteBuffer");
    asked                     a;
    uint64_t                  mapped = 0, rest = 0, pieces = 0;
    if (c != NULL && c->live_instances > MANY)
        return HDX_OK;
    hdx_code code = ask(t, &hdx_question_direct_buffers, arguments, 1, columns, &a, err);
    while (code == HDX_OK && asked_next(&a)) {
        if (hdx_text_is(a.cells[0]->as.text, "array") || hdx_text_is(a.cells[0]->as.text, "freed"))
            continue;
        *(hdx_text_is(a.cells[0]->as.text, "mapped") ? &mapped : &rest) += natural(a.cells[2]);
        pieces += natural(a.cells[1]);
    }
    if ((code = asked_end(&a, code, err)) != HDX_OK || !tells(t, mapped + rest))
        return code;
    hdx_buffer b = hdx_buffer_of(t->q.mem);
    hdx_buffer_format(&b, "%" PRIu64 " buffer%s of the heap %s memory outside of it: ", pieces, pieces == 1 ? "" : "s",
                      pieces == 1 ? "has" : "have");
    put_size(&b, rest);
    if (mapped > 0) {
        hdx_buffer_text(&b, ", and ");
        put_size(&b, mapped);
        hdx_buffer_text(&b, " of files");
    }
    hdx_buffer_text(&b, ", beside live objects of ");
    put_size(&b, t->live);
    return say(t, "outside", hdx_cell_uint(mapped + rest), "direct-buffers", &b, err);
}

/* ---- threads that wait for one lock ---- */

#define WAITERS_TOLD 3u /* so many and more, behind one owner */

typedef struct lock {
    hdx_addr address;
    uint64_t waiters;
    hdx_text class, owner;
} lock;

typedef struct locks {
    HDX_LIST(lock) list;
    hdx_map        places; /* of an address in the list */
    hdx_buffer     ring;   /* names of threads of the first deadlock */
    uint64_t       first_ring, in_ring;
} locks;

static hdx_code copy_text(triage *t, const hdx_cell *cell, hdx_text *out, hdx_error *err)
{
    *out = (hdx_text){ "", 0 };
    if (cell->kind != HDX_CELL_TEXT)
        return HDX_OK;
    const char *at = hdx_arena_copy(t->arena, cell->as.text.at, cell->as.text.len);
    if (at == NULL)
        return hdx_no_memory(err, "a name", cell->as.text.len);
    *out = (hdx_text){ at, cell->as.text.len };
    return HDX_OK;
}

enum { WAITER, LOCK, LOCK_CLASS, OWNER, DEADLOCK };

static hdx_code count_waiter(triage *t, locks *l, const hdx_cell *const *row, hdx_error *err)
{
    bool     fresh;
    hdx_code code = HDX_OK;
    if (row[DEADLOCK]->kind == HDX_CELL_UINT && (l->in_ring == 0 || natural(row[DEADLOCK]) == l->first_ring)) {
        l->first_ring = natural(row[DEADLOCK]);
        if (l->in_ring++ < 4) {
            hdx_buffer_text(&l->ring, l->in_ring == 1 ? "\"" : ", \"");
            put_text(&l->ring, row[WAITER]);
            hdx_buffer_text(&l->ring, "\"");
        }
    }
    if (row[LOCK]->kind != HDX_CELL_ADDRESS || row[OWNER]->kind != HDX_CELL_TEXT)
        return HDX_OK;
    uint64_t *place = hdx_map_put(&l->places, row[LOCK]->as.address, &fresh);
    if (place == NULL || !hdx_mem_room(t->q.mem, (void **)&l->list.at, &l->list.capacity, l->list.count, sizeof(lock)))
        return hdx_no_memory(err, "locks", l->list.count * sizeof(lock));
    if (fresh) {
        lock *new = &l->list.at[ *place = l->list.count++];
        *new = (lock){ .address = row[LOCK]->as.address };
        if ((code = copy_text(t, row[LOCK_CLASS], &new->class, err)) == HDX_OK)
            code = copy_text(t, row[OWNER], &new->owner, err);
    }
    l->list.at[*place].waiters++;
    return code;
}

static hdx_code tell_locks(triage *t, const locks *l, hdx_error *err)
{
    const lock *most = NULL;
    hdx_code    code = HDX_OK;
    if (l->in_ring > 0) {
        hdx_buffer b = hdx_buffer_of(t->q.mem);
        hdx_buffer_text(&b, "deadlock: threads ");
        hdx_buffer_put(&b, l->ring.at, l->ring.len);
        hdx_buffer_text(&b, l->in_ring > 4 ? " and others wait for each other" : " wait for each other");
        b.failed = b.failed || l->ring.failed;
        code = say(t, "deadlock", hdx_cell_null(), "threads", &b, err);
    }
    for (uint64_t i = 0; i < l->list.count; i++)
        if (l->list.at[i].waiters >= WAITERS_TOLD && (most == NULL || l->list.at[i].waiters > most->waiters))
            most = &l->list.at[i];
    if (code != HDX_OK || most == NULL)
        return code;
    const hdx_cell class = hdx_cell_text(most->class), owner = hdx_cell_text(most->owner);
    hdx_buffer b = hdx_buffer_of(t->q.mem);
    hdx_buffer_format(&b, "%" PRIu64 " threads wait for one ", most->waiters);
    put_text(&b, &class);
    hdx_buffer_text(&b, " that thread \"");
    put_text(&b, &owner);
    hdx_buffer_text(&b, "\" has");
    return say(t, "waiting", hdx_cell_null(), "threads --sort owner", &b, err);
}

static hdx_code find_waiting(triage *t, hdx_error *err)
{
    static const char *const columns[] = { "name", "lock", "waits_for", "owner", "deadlock", NULL };
    locks                    l = { .places = hdx_map_of(t->q.mem), .ring = hdx_buffer_of(t->q.mem) };
    asked                    a;
    if (hdx_graph_summary_of(t->g)->threads > MANY)
        return HDX_OK;
    hdx_code code = ask(t, &hdx_question_threads, NULL, 0, columns, &a, err);
    while (code == HDX_OK && asked_next(&a))
        code = count_waiter(t, &l, a.cells, err);
    code = asked_end(&a, code, err);
    return code == HDX_OK ? tell_locks(t, &l, err) : code;
}

/* ---- threads that have ended, and their queues ---- */

#define TERMINATED 2 /* of jdk.internal.misc.VM: JVMTI_THREAD_STATE_TERMINATED */

static hdx_code has_ended(triage *t, hdx_id thread, bool *out, hdx_error *err)
{
    int64_t  state = 0;
    hdx_code code = hdx_fields_read(&t->fields, t->g, thread, err);
    *out = code == HDX_OK && (hdx_fields_number(&t->fields, NULL, "threadStatus", &state)) && (state & TERMINATED) != 0;
    if (code == HDX_OK && !*out) {
        const hdx_id holder = hdx_fields_ref(&t->fields, "java.lang.Thread", "holder"); /* JDK 19 on */
        if (holder != HDX_NO_ID && (code = hdx_fields_read(&t->fields, t->g, holder, err)) == HDX_OK)
            *out = hdx_fields_number(&t->fields, NULL, "threadStatus", &state) && (state & TERMINATED) != 0;
    }
    return code;
}

/* The queue with the most bytes among those that the object refers to. */
static void heaviest_queue(triage *t, hdx_id of, const hdx_class *queues, hdx_id *best)
{
    hdx_refs refs;
    hdx_id   to;
    hdx_graph_outbound(t->g, of, HDX_LIVE, &refs);
    for (unsigned n = 0; n < REFERRERS_MOST && hdx_refs_next(&refs, &to); n++)
        if (hdx_class_extends(t->g, hdx_graph_class_of(t->g, to), queues->number) &&
            (*best == HDX_NO_ID || hdx_graph_retained(t->g, to) > hdx_graph_retained(t->g, *best)))
            *best = to;
}

static hdx_code find_ended(triage *t, hdx_error *err)
{
    const hdx_class *queues = hdx_graph_class_named(t->g, "java.util.AbstractQueue");
    hdx_ids          threads = hdx_ids_of(t->q.mem);
    hdx_id           best = HDX_NO_ID, whose = HDX_NO_ID;
    if (queues == NULL || hdx_graph_summary_of(t->g)->threads > MANY)
        return HDX_OK;
    hdx_code code = hdx_threads_of(&t->ask, &threads, err);
    for (uint64_t i = 0; code == HDX_OK && i < threads.count && i < MANY; i++) {
        bool     ended;
        hdx_refs refs;
        hdx_id   from, before = best;
        if ((code = has_ended(t, threads.at[i], &ended, err)) != HDX_OK || !ended)
            continue;
        heaviest_queue(t, threads.at[i], queues, &best);
        hdx_graph_inbound(t->g, threads.at[i], HDX_LIVE, &refs);
        for (unsigned n = 0; n < REFERRERS_MOST && hdx_refs_next(&refs, &from); n++)
            heaviest_queue(t, from, queues, &best);
        if (best != before)
            whose = threads.at[i];
        code = hdx_ask_turn(&t->ask, err);
    }
    const uint64_t bytes = best == HDX_NO_ID ? 0 : hdx_graph_retained(t->g, best);
    if (code != HDX_OK || !tells(t, bytes))
        return code;
    hdx_cell   name = hdx_cell_null();
    hdx_buffer b = hdx_buffer_of(t->q.mem), next = hdx_buffer_of(t->q.mem);
    code = hdx_label_cell(&t->q, whose, t->arena, &name, err);
    hdx_buffer_text(&b, "thread \"");
    put_text(&b, &name);
    const hdx_cell class = hdx_class_of_cell(t->g, best);
    hdx_buffer_text(&b, "\" has ended; the ");
    put_text(&b, &class);
    hdx_buffer_text(&b, " beside it keeps ");
    put_share(t, &b, bytes);
    hdx_buffer_format(&next, "path 0x%" PRIx64, hdx_graph_address(t->g, best));
    if (code == HDX_OK && next.failed)
        code = hdx_no_memory(err, "a command", next.len);
    return code == HDX_OK ? say(t, "ended-thread", hdx_cell_uint(bytes), next.at, &b, err) : code;
}

/* ---- maps with weak keys that their values hold ---- */

static bool refers(hdx_graph *g, hdx_id from, hdx_id to)
{
    hdx_refs refs;
    hdx_id   at;
    hdx_graph_outbound(g, from, HDX_LIVE, &refs);
    for (unsigned n = 0; n < REFERRERS_MOST && hdx_refs_next(&refs, &at); n++)
        if (at == to)
            return true;
    return false;
}

static hdx_code look_at_entry(triage *t, hdx_id entry, uint64_t *seen, uint64_t *pinned, hdx_error *err)
{
    const hdx_code code = hdx_fields_read(&t->fields, t->g, entry, err);
    const hdx_id   key = hdx_fields_ref(&t->fields, "java.lang.ref.Reference", "referent"),
                 value = hdx_fields_ref(&t->fields, "java.util.WeakHashMap$Entry", "value");
    if (code != HDX_OK || key == HDX_NO_ID || value == HDX_NO_ID)
        return code;
    (*seen)++;
    *pinned += key == value || refers(t->g, value, key);
    return HDX_OK;
}

static hdx_code find_pinned(triage *t, hdx_error *err)
{
    hdx_ids   maps = hdx_ids_of(t->q.mem);
    hdx_id    worst = HDX_NO_ID;
    uint64_t  most = 0;
    hdx_error mine;
    hdx_code  code = hdx_instances_below(&t->ask, "java.util.WeakHashMap", &maps, err);
    for (uint64_t i = 0; code == HDX_OK && i < maps.count; i++) {
        uint64_t     seen = 0, pinned = 0;
        hdx_refs     entries;
        hdx_id       entry;
        const hdx_id map = maps.at[i];
        if (!tells(t, hdx_graph_retained(t->g, map)) || hdx_graph_retained(t->g, map) <= most ||
            hdx_fields_read(&t->fields, t->g, map, &mine) != HDX_OK)
            continue;
        const hdx_id table = hdx_fields_ref(&t->fields, "java.util.WeakHashMap", "table");
        if (table == HDX_NO_ID)
            continue;
        hdx_graph_outbound(t->g, table, HDX_LIVE, &entries);
        while (code == HDX_OK && seen < ENTRIES_LOOKED && hdx_refs_next(&entries, &entry))
            if (hdx_graph_kind(t->g, entry) == HDX_INSTANCE)
                code = look_at_entry(t, entry, &seen, &pinned, err);
        if (seen > 0 && pinned * 2 > seen) {
            worst = map;
            most = hdx_graph_retained(t->g, map);
        }
    }
    if (code != HDX_OK || worst == HDX_NO_ID)
        return code;
    hdx_buffer b = hdx_buffer_of(t->q.mem), next = hdx_buffer_of(t->q.mem);
    hdx_buffer_text(&b, "a WeakHashMap whose values refer to their own keys never lets go of them; it keeps ");
    put_share(t, &b, most);
    hdx_buffer_format(&next, "path 0x%" PRIx64, hdx_graph_address(t->g, worst));
    if (next.failed)
        return hdx_no_memory(err, "a command", next.len);
    return say(t, "pinned-map", hdx_cell_uint(most), next.at, &b, err);
}

/* ---- waste ---- */

static hdx_code sum_of(triage *t, const hdx_question *question, const hdx_argument *arguments, size_t count,
                       const char *column, uint64_t *out, hdx_error *err)
{
    const char *const columns[] = { column, NULL };
    asked             a;
    hdx_code          code = ask(t, question, arguments, count, columns, &a, err);
    while (code == HDX_OK && asked_next(&a))
        *out += natural(a.cells[0]);
    return asked_end(&a, code, err);
}

static hdx_code find_waste(triage *t, hdx_error *err)
{
    static const hdx_argument by_value[] = { { "by", "value" } };
    static const struct {
        const hdx_question *question;
        const hdx_argument *arguments;
        size_t              count;
        const char         *column, *says, *next;
    } of[] = {
        { &hdx_question_strings, by_value, 1, "wasted", "Strings that are equal to another one take ", "duplicates" },
        { &hdx_question_collections, NULL, 0, "waste", "places of collections that hold nothing take ",
          "collections --sort waste" },
        { &hdx_question_arrays, NULL, 0, "wasted", "arrays whose elements are all alike or unused waste ", "arrays" },
    };
    hdx_code code = HDX_OK;
    for (unsigned i = 0; code == HDX_OK && i < HDX_COUNT(of); i++) {
        uint64_t   wasted = 0;
        hdx_buffer b = hdx_buffer_of(t->q.mem);
        if ((code = sum_of(t, of[i].question, of[i].arguments, of[i].count, of[i].column, &wasted, err)) != HDX_OK ||
            !tells(t, wasted))
            continue;
        hdx_buffer_text(&b, of[i].says);
        put_share(t, &b, wasted);
        code = say(t, "waste", hdx_cell_uint(wasted), of[i].next, &b, err);
    }
    return code;
}

static hdx_code tell_unasked(triage *t, bool suspects, hdx_error *err)
{
    hdx_buffer b = hdx_buffer_of(t->q.mem);
    if (t->tight)
        hdx_buffer_text(&b, "not everything was looked at: that takes more memory than was allowed");
    else if (suspects)
        hdx_buffer_text(&b, "what equal Strings and empty places waste was not looked at: that takes longer");
    else
        hdx_buffer_text(&b, "no one object keeps much; who shares it takes longer to find out");
    return say(t, "not-asked", hdx_cell_null(), t->tight ? "suspects" : suspects ? "duplicates" : "holders", &b, err);
}

/* ---- all of them ---- */

/*
 * What the dump would have to tell, and cannot, is left out, of a dump that changed, too; and what takes more memory
 * than questions may have. A disk that fails to give the dump is an error.
 */
static hdx_code or_without(triage *t, hdx_code code, const hdx_error *mine, hdx_error *err)
{
    const hdx_mem *mem = hdx_mem_counter(t->q.mem);
    if (code == HDX_LIMIT && mem != NULL && mem->limit != 0)
        t->tight = true;
    else if (code != HDX_OK && code != HDX_NOT_FOUND && code != HDX_BAD_DUMP) {
        if (err != NULL)
            *err = *mine;
        return code;
    }
    return HDX_OK;
}

static hdx_code find_all(triage *t, const hdx_cell *out_of_memory, hdx_error *err)
{
    hdx_code (*const finders[])(triage *, hdx_error *) = { find_loaders, find_outside, find_waiting, find_ended,
                                                           find_pinned };
    bool      suspects = false;
    hdx_error mine;
    hdx_code  code = find_death(t, out_of_memory, err);
    if (code == HDX_OK)
        code = find_stripping(t, err);
    if (code == HDX_OK)
        code = or_without(t, find_suspects(t, &suspects, &mine), &mine, err);
    if (code == HDX_OK && !suspects && !t->large)
        code = or_without(t, find_holders(t, &mine), &mine, err);
    for (unsigned i = 0; code == HDX_OK && i < HDX_COUNT(finders); i++)
        code = or_without(t, finders[i](t, &mine), &mine, err);
    if (code == HDX_OK && !t->large)
        code = or_without(t, find_waste(t, &mine), &mine, err);
    return code == HDX_OK && (t->large || t->tight) ? tell_unasked(t, suspects, err) : code;
}

hdx_code hdx_triage_cell(const hdx_query *q, const hdx_cell *out_of_memory, hdx_arena *arena, hdx_cell *out,
                         hdx_error *err)
{
    const hdx_graph_summary *s = hdx_graph_summary_of(q->graph);
    triage                   t = { .q = *q, .g = q->graph, .arena = arena, .live = s->live_bytes };
    t.large = s->live_objects >= LARGE;
    t.q.notice = NULL;
    t.q.scope = HDX_LIVE;
    *out = hdx_cell_list(NULL, 0);
    if (!s->complete)
        return HDX_OK;
    if ((t.at = hdx_arena_get(arena, HDX_TRIAGE_MOST * sizeof *t.at)) == NULL)
        return hdx_no_memory(err, "sentences", HDX_TRIAGE_MOST * sizeof *t.at);
    hdx_code code = hdx_ask_begin(&t.q, &t.ask, err);
    if (code == HDX_OK)
        code = find_all(&t, out_of_memory, err);
    hdx_fields_close(&t.fields);
    if (code == HDX_OK)
        *out = hdx_cell_list(t.at, t.count);
    return code;
}
