/*
 * drop.c - the next big drop: from an object down the dominator tree to where its bytes scatter (dominators --drop).
 *
 *     app.Cache                   the object
 *     java.util.HashMap           99.9 % of it
 *     java.util.HashMap$Node[]    100 %
 *     213 java.util.HashMap$Node  99 %: no node has most of the table, but they have it together
 *     213 app.Session             96 %: below them, no object and no class has 70 %
 *
 * A step is an object, or all objects of a class that the step before immediately dominates. The next step is the
 * heaviest of all children, if it has HDX_DROP_SHARE percent of the bytes of the step, which is the rule of MAT's
 * accumulation point (MAT 7.4); otherwise the class of children with most bytes, if it has that share. The
 * accumulation point is the last object before the first class.
 *
 * Cost: the children of each step, twice if they are several; 8 bytes for each object of a step; a sum for each class.
 */
#include "query/holding/drop.h"
#include "query/common/columns.h"
#include "query/common/dump_only.h"
#include "query/common/extras.h"
#include "query/common/labels.h"

#include <inttypes.h>
#include <stdlib.h>

#define BELOW_MOST  10u /* classes in the document */
#define BELOW_SHOWN 3u  /* classes in the sentence */

/* ---- children ---- */

hdx_code hdx_count_child(hdx_ask *ask, uint64_t *seen, hdx_error *err)
{
    return ++*seen <= hdx_graph_objects(ask->g)
               ? hdx_ask_check_cancel(ask, err)
               : hdx_fail(err, HDX_DAMAGED, "dominated", HDX_NOWHERE, "object has more than one dominator");
}

hdx_code hdx_heaviest_child(hdx_ask *ask, hdx_id of, hdx_id without, uint64_t *seen, hdx_id *child, uint64_t *bytes,
                            hdx_error *err)
{
    hdx_code code = HDX_OK;
    hdx_refs refs;
    hdx_id   id;
    *child = HDX_NO_ID;
    *bytes = 0;
    hdx_graph_dominated(ask->g, of, &refs);
    while (code == HDX_OK && hdx_refs_next(&refs, &id)) {
        const uint64_t retained = hdx_graph_retained(ask->g, id);
        if (id == without)
            continue;
        if (*child == HDX_NO_ID || retained > *bytes || (retained == *bytes && id < *child)) {
            *child = id;
            *bytes = retained;
        }
        code = hdx_count_child(ask, seen, err);
    }
    return code;
}

/* ---- rows and document ---- */

enum { STEP, ADDRESS, CLASS, LABEL, OBJECTS, SHALLOW, RETAINED, PERCENT };
const hdx_column hdx_drop_columns[HDX_DROP_COLUMNS] = {
    [STEP] = HDX_COLUMN("step", UNSIGNED, NONE, HDX_COLUMN_WIDE, "number of the step, from 0 for the first object"),
    [ADDRESS] =
        HDX_COLUMN("address", ADDRESS, NONE, HDX_COLUMN_NULLABLE, "object of the step; null if there are several"),
    [CLASS] = HDX_CLASS_COLUMN(0),
    [LABEL] = HDX_COLUMN("label", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_LABEL,
                         "label of the object, such as its text or name; null if it has none or there are several"),
    [OBJECTS] = HDX_COLUMN("objects", UNSIGNED, COUNT, 0, "objects of the step: one, or all of a class"),
    [SHALLOW] = HDX_SHALLOWS_COLUMN,
    [RETAINED] = HDX_COLUMN("retained", UNSIGNED, BYTES, 0, "bytes that would be freed without these objects"),
    [PERCENT] = HDX_COLUMN("percent", REAL, PERCENT, HDX_COLUMN_NULLABLE,
                           "share of the retained size of the step before, in percent; null for the first object"),
};
static const hdx_column below_members[] = {
    HDX_CLASS_COLUMN(0),
    HDX_COLUMN("objects", UNSIGNED, COUNT, 0, "objects of the class that the last step immediately dominates"),
    HDX_COLUMN("retained", UNSIGNED, BYTES, 0, "bytes that would be freed without these objects"),
    HDX_COLUMN("percent", REAL, PERCENT, 0, "share of the retained size of the last step, in percent"),
};
enum { SENTENCE, POINT, BELOW, CLASSES, MEMBERS };
static const hdx_column members[MEMBERS] = {
    [SENTENCE] = HDX_COLUMN("sentence", TEXT, NONE, 0, "where the chain ends, and what is below it"),
    [POINT] = HDX_COLUMN("point", ADDRESS, NONE, HDX_COLUMN_NULLABLE,
                         "the last step that is one object, if the chain ends: the accumulation point of `suspects`"),
    [BELOW] = HDX_NESTED("below", LIST, 0, "classes of the objects below the last step, most bytes first, at most 10",
                         below_members),
    [CLASSES] = HDX_COLUMN("classes", UNSIGNED, COUNT, 0, "number of all such classes"),
};
const hdx_column hdx_drop_document[1] = { HDX_NESTED(
    "drop", OBJECT, HDX_COLUMN_OPTIONAL, "where the bytes of the object scatter; only with --drop", members) };

/* ---- the chain ---- */

typedef struct class_sum {
    uint32_t number;
    uint64_t objects, bytes;
} class_sum;

typedef struct chain {
    hdx_ask    ask;
    hdx_id     without; /* an artifact of the dump, not an object of the program */
    uint64_t   seen;
    hdx_id     point;
    hdx_ids    now, next; /* objects of the last step; the virtual root at the beginning */
    uint64_t   bytes;     /* that these retain */
    class_sum *sums;      /* by class number, all zero between two uses */
    uint32_t  *used, used_count, classes;
    hdx_table *table;
    uint64_t   steps;
    bool       endless; /* the limit of steps ended the chain */
} chain;

static hdx_code add_row(chain *c, double percent, hdx_error *err)
{
    hdx_graph   *g = c->ask.g;
    const hdx_id first = c->now.at[0];
    uint64_t     shallow = 0;
    hdx_cell     cells[HDX_DROP_COLUMNS];
    hdx_code     code = HDX_OK;
    for (uint64_t i = 0; i < c->now.count; i++)
        shallow += hdx_graph_shallow(g, c->now.at[i]);
    const bool one = c->now.count == 1;
    cells[STEP] = hdx_cell_uint(c->steps);
    cells[ADDRESS] = one ? hdx_id_cell(g, first) : hdx_cell_null();
    cells[CLASS] = hdx_class_of_cell(g, first);
    cells[LABEL] = hdx_cell_null();
    cells[OBJECTS] = hdx_cell_uint(c->now.count);
    cells[SHALLOW] = hdx_cell_uint(shallow);
    cells[RETAINED] = hdx_cell_uint(c->bytes);
    cells[PERCENT] = percent < 0 ? hdx_cell_null() : hdx_cell_real(percent);
    if (one && hdx_column_wanted(&c->ask.q, LABEL))
        code = hdx_label_cell(&c->ask.q, first, hdx_table_arena(c->table), &cells[LABEL], err);
    return code == HDX_OK ? hdx_table_add(c->table, cells, err) : code;
}

static void empty_sums(chain *c)
{
    for (uint32_t i = 0; i < c->used_count; i++)
        c->sums[c->used[i]] = (class_sum){ 0, 0, 0 };
    c->used_count = 0;
}

static bool precedes(const class_sum *a, const class_sum *b)
{
    return a->bytes != b->bytes       ? a->bytes > b->bytes
           : a->objects != b->objects ? a->objects > b->objects
                                      : a->number < b->number;
}

/* Sums the children of the last step by class. */
static hdx_code sum_children(chain *c, hdx_error *err)
{
    hdx_code code = HDX_OK;
    empty_sums(c);
    for (uint64_t i = 0; code == HDX_OK && i < c->now.count; i++) {
        hdx_refs refs;
        hdx_id   id;
        hdx_graph_dominated(c->ask.g, c->now.at[i], &refs);
        while (code == HDX_OK && hdx_refs_next(&refs, &id)) {
            const uint32_t number = hdx_graph_class_of(c->ask.g, id);
            if (id == c->without || number >= c->classes)
                continue;
            if (c->sums[number].objects++ == 0)
                c->used[c->used_count++] = number;
            c->sums[number].number = number;
            c->sums[number].bytes += hdx_graph_retained(c->ask.g, id);
            code = hdx_ask_check_cancel(&c->ask, err);
        }
    }
    return code;
}

static hdx_code heaviest_of_step(chain *c, hdx_id *child, uint64_t *bytes, hdx_error *err)
{
    hdx_code code = HDX_OK;
    *child = HDX_NO_ID;
    *bytes = 0;
    for (uint64_t i = 0; code == HDX_OK && i < c->now.count; i++) {
        hdx_id   id;
        uint64_t retained;
        code = hdx_heaviest_child(&c->ask, c->now.at[i], c->without, &c->seen, &id, &retained, err);
        if (code == HDX_OK && id != HDX_NO_ID &&
            (*child == HDX_NO_ID || retained > *bytes || (retained == *bytes && id < *child))) {
            *child = id;
            *bytes = retained;
        }
    }
    return code;
}

/* Lists the children of the last step that are of a class. */
static hdx_code list_class(chain *c, uint32_t number, hdx_error *err)
{
    hdx_code code = HDX_OK;
    for (uint64_t i = 0; code == HDX_OK && i < c->now.count; i++) {
        hdx_refs refs;
        hdx_id   id;
        hdx_graph_dominated(c->ask.g, c->now.at[i], &refs);
        while (code == HDX_OK && hdx_refs_next(&refs, &id))
            if (id != c->without && hdx_graph_class_of(c->ask.g, id) == number &&
                (code = hdx_ids_push(&c->next, id, err)) == HDX_OK)
                code = hdx_ask_check_cancel(&c->ask, err);
    }
    return code;
}

/* Goes one step down; *more false: it scatters, or it is endless. */
static hdx_code go_down(chain *c, bool *more, hdx_error *err)
{
    const double   share = HDX_DROP_SHARE / 100.0;
    const uint64_t before = c->bytes;
    hdx_id         child;
    uint64_t       below;
    hdx_code       code = heaviest_of_step(c, &child, &below, err);
    *more = false;
    c->endless = child != HDX_NO_ID && c->steps >= HDX_DROP_STEPS;
    if (code != HDX_OK || child == HDX_NO_ID || c->endless)
        return code;
    c->next.count = 0;
    if (hdx_drop_continues(below, before, share)) {
        code = hdx_ids_push(&c->next, child, err);
    } else if ((code = sum_children(c, err)) == HDX_OK) {
        const class_sum *top = NULL;
        for (uint32_t i = 0; i < c->used_count; i++)
            if (top == NULL || precedes(&c->sums[c->used[i]], top))
                top = &c->sums[c->used[i]];
        if (top == NULL || !hdx_drop_continues(top->bytes, before, share))
            return HDX_OK;
        below = top->bytes;
        code = list_class(c, top->number, err);
    }
    if (code != HDX_OK || c->next.count == 0)
        return code;
    const hdx_ids was = c->now;
    c->now = c->next;
    c->next = was;
    c->bytes = below;
    c->steps++;
    *more = true;
    return add_row(c, before > 0 ? 100.0 * (double)below / (double)before : 0.0, err);
}

static hdx_code follow(chain *c, hdx_id of, hdx_error *err)
{
    bool     more = true;
    hdx_code code = hdx_ids_push(&c->now, of, err);
    c->bytes = of == HDX_VIRTUAL_ROOT ? hdx_graph_summary_of(c->ask.g)->live_bytes : hdx_graph_retained(c->ask.g, of);
    c->point = of == HDX_VIRTUAL_ROOT ? HDX_NO_ID : of;
    if (code == HDX_OK && of != HDX_VIRTUAL_ROOT)
        code = add_row(c, -1, err);
    for (bool single = true; code == HDX_OK && more;) {
        code = go_down(c, &more, err);
        single = single && c->now.count == 1;
        c->point = single && c->now.at[0] != HDX_VIRTUAL_ROOT ? c->now.at[0] : c->point;
    }
    return code == HDX_OK ? sum_children(c, err) : code;
}

/* ---- the sentence ---- */

/* Writes "213 app.Session", of one object its class, and of a class object "class app.Session". */
static void put_objects(hdx_buffer *b, hdx_graph *g, uint64_t count, hdx_id first)
{
    const hdx_class *own = hdx_graph_kind(g, first) == HDX_CLASS_OBJECT ? hdx_graph_class_object(g, first) : NULL,
                    *of = hdx_graph_class(g, hdx_graph_class_of(g, first));
    if (count > 1)
        hdx_buffer_format(b, "%" PRIu64 " ", count);
    else if (own != NULL)
        hdx_buffer_text(b, "class ");
    of = count == 1 && own != NULL ? own : of;
    if (of != NULL)
        hdx_buffer_put(b, of->name.at, of->name.len);
    if (count == 1)
        hdx_buffer_format(b, " 0x%llx", (unsigned long long)hdx_graph_address(g, first));
}

/*
 * "It scatters below 213 app.Session: 45.2% in 400 byte[], 20.1% in 213 app.Cart and 7 other classes." REQUIRES: `top`
 * has the first of the classes below, in descending order.
 */
static void put_sentence(const chain *c, hdx_buffer *b, const class_sum *top, uint32_t count)
{
    hdx_graph     *g = c->ask.g;
    const uint32_t shown = count < BELOW_SHOWN ? count : BELOW_SHOWN;
    if (c->now.at[0] == HDX_VIRTUAL_ROOT)
        hdx_buffer_text(b, "It scatters at the top of the dominator tree: ");
    else {
        if (c->endless)
            hdx_buffer_format(b, "It has not scattered after %u steps, at ", HDX_DROP_STEPS);
        else
            hdx_buffer_text(b, count == 0 ? "The chain ends at " : "It scatters below ");
        put_objects(b, g, c->now.count, c->now.at[0]);
        hdx_buffer_text(b, count > 0           ? ": "
                           : c->now.count == 1 ? ", which dominates no object"
                                               : ", which dominate no object");
    }
    for (uint32_t i = 0; i < shown; i++) {
        const hdx_class *class = hdx_graph_class(g, top[i].number);
        hdx_buffer_format(b, "%s%.1f%% in %" PRIu64 " ", i == 0 ? "" : ", ",
                          c->bytes > 0 ? 100.0 * (double)top[i].bytes / (double)c->bytes : 0.0, top[i].objects);
        if (class != NULL)
            hdx_buffer_put(b, class->name.at, class->name.len);
    }
    if (c->used_count > shown)
        hdx_buffer_format(b, " and %u other class%s", c->used_count - shown, c->used_count - shown == 1 ? "" : "es");
    hdx_buffer_text(b, ".");
}

static hdx_cell below_cell(const chain *c, const class_sum *top, uint32_t count, hdx_arena *arena)
{
    enum { BELOW_MEMBERS = HDX_COUNT(below_members) };
    hdx_cell   *cells = hdx_arena_get(arena, count * sizeof *cells);
    hdx_member *m = hdx_arena_get(arena, count * BELOW_MEMBERS * sizeof *m);
    if (cells == NULL || m == NULL)
        return hdx_cell_null();
    for (uint32_t i = 0; i < count; i++, m += BELOW_MEMBERS) {
        m[0] = (hdx_member){ below_members[0].name, hdx_class_cell(c->ask.g, top[i].number) };
        m[1] = (hdx_member){ below_members[1].name, hdx_cell_uint(top[i].objects) };
        m[2] = (hdx_member){ below_members[2].name, hdx_cell_uint(top[i].bytes) };
        m[3] = (hdx_member){ below_members[3].name,
                             hdx_cell_real(c->bytes > 0 ? 100.0 * (double)top[i].bytes / (double)c->bytes : 0.0) };
        cells[i] = hdx_cell_object(m, BELOW_MEMBERS);
    }
    return hdx_cell_list(cells, count);
}

/* Moves the heaviest classes below the last step to the front of `top`. */
static uint32_t heaviest_classes(const chain *c, class_sum top[BELOW_MOST])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->used_count; i++) {
        const class_sum *one = &c->sums[c->used[i]];
        uint32_t         at = count < BELOW_MOST ? count++ : BELOW_MOST;
        for (; at > 0 && precedes(one, &top[at - 1]); at--)
            if (at < BELOW_MOST)
                top[at] = top[at - 1];
        if (at < BELOW_MOST)
            top[at] = *one;
    }
    return count;
}

static hdx_code add_document(chain *c, hdx_rows **rows, hdx_error *err)
{
    class_sum      top[BELOW_MOST];
    const uint32_t count = heaviest_classes(c, top);
    hdx_arena     *arena = hdx_rows_arena(*rows);
    hdx_buffer     text = hdx_buffer_of(NULL);
    put_sentence(c, &text, top, count);
    const hdx_cell cells[MEMBERS] = {
        [SENTENCE] = text.failed ? hdx_cell_null() : hdx_text_cell(arena, (hdx_text){ text.at, (uint32_t)text.len }),
        [POINT] = c->endless ? hdx_cell_null() : hdx_id_cell(c->ask.g, c->point),
        [BELOW] = below_cell(c, top, count, arena),
        [CLASSES] = hdx_cell_uint(c->used_count),
    };
    hdx_code code = cells[SENTENCE].kind == HDX_CELL_NULL || cells[BELOW].kind == HDX_CELL_NULL
                        ? hdx_no_memory(err, "a sentence", text.len)
                        : hdx_rows_set_title(*rows, text.at, err);
    hdx_buffer_free(&text);
    if (code != HDX_OK) {
        hdx_rows_close(*rows);
        *rows = NULL;
    }
    return hdx_extras_add(code, rows, hdx_drop_document[0].name, members, MEMBERS, cells, err);
}

/* ---- the question ---- */

static void chain_close(chain *c)
{
    hdx_mem *mem = c->ask.q.mem;
    hdx_mem_put(mem, c->sums, c->classes * sizeof *c->sums);
    hdx_mem_put(mem, c->used, c->classes * sizeof *c->used);
    hdx_ids_drop(&c->now);
    hdx_ids_drop(&c->next);
}

hdx_code hdx_drop_rows(const hdx_query *q, hdx_id of, hdx_rows **out, hdx_error *err)
{
    chain c = { .without = hdx_dump_only_of(q->graph).object, .now = hdx_ids_of(q->mem), .next = hdx_ids_of(q->mem) };
    hdx_code code = hdx_ask_begin(q, &c.ask, err);
    *out = NULL;
    if (code != HDX_OK || (code = hdx_table_in(q->mem, hdx_drop_columns, HDX_DROP_COLUMNS, &c.table, err)) != HDX_OK)
        return code;
    (void)hdx_graph_classes(q->graph, &c.classes);
    c.sums = hdx_mem_array(q->mem, c.classes, sizeof *c.sums);
    c.used = hdx_mem_array(q->mem, c.classes, sizeof *c.used);
    if (c.sums == NULL || c.used == NULL)
        code = hdx_no_memory(err, "sums by class", c.classes * sizeof *c.sums);
    const bool any = of == HDX_VIRTUAL_ROOT || hdx_graph_live(q->graph, of);
    if (code == HDX_OK && any)
        code = follow(&c, of, err);
    if (code == HDX_OK)
        code = hdx_graph_check(q->graph, err);
    if (code != HDX_OK)
        hdx_table_free(c.table);
    else if ((code = hdx_table_rows(c.table, out, err)) == HDX_OK && any)
        code = add_document(&c, out, err);
    chain_close(&c);
    return code;
}
