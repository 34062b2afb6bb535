/*
 * holders.c - where the memory is that nobody dominates: the static fields, threads and other GC roots that *together*
 * keep a stated share of the heap alive.
 *
 *        alone  together      %  object
 *      31.1 MB   31.1 MB   5.2%  class Shop .byId
 *      31.1 MB  562.0 MB  94.1%  class Shop .byMail
 *
 * A dominator tree explains what one object holds. What two hold is below neither, and such a tree shows it as millions
 * of small trees beside each other. So: the holder by which a search comes to most bytes is taken away, the search is
 * done again (flow.c), and so on until what is no longer reached is the share that is wanted; then each of them that is
 * not needed for that is given back. No one of those that are left can be, so the set is least in that sense; a set of
 * other holders may be smaller.
 *
 * `together` is exact: what is free without the holders up to this line is all that a search without them does not
 * reach. Cost: a search over nodes (nodes.h) for each holder that is tried, and one that tells which of them lead
 * where: sums of what each set of them leads to answer everything else.
 */
#include "query/common/beside.h"
#include "query/common/columns.h"
#include "graph/graph.h"
#include "query/holding/flow.h"
#include "query/query.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST_DEFAULT  "8"
#define MOST          32u
#define SHARE_DEFAULT "80"
#define SETS          (1u << 16) /* of holders that lead to something */
#define TINY          100u       /* a holder by which less than this part of the heap is reached changes nothing */

enum { KIND, ALONE, TOGETHER, PERCENT, ADDRESS, CLASS, LABEL, REFERENCE, TARGET, TARGET_CLASS, COLUMNS };
static const hdx_column columns[COLUMNS] = {
    [KIND] = HDX_COLUMN("kind", TEXT, NONE, HDX_COLUMN_SPARE,
                        "static: a field of a class; thread: its locals and fields; root: an object that is a GC root"),
    [ALONE] = HDX_COLUMN("alone", UNSIGNED, BYTES, 0, "bytes that would be free if it alone held nothing"),
    [TOGETHER] =
        HDX_COLUMN("together", UNSIGNED, BYTES, 0, "bytes that would be free if it and all before it held nothing"),
    [PERCENT] = HDX_COLUMN("percent", REAL, PERCENT, 0, "the same as part of the live heap"),
    [ADDRESS] = HDX_COLUMN("address", ADDRESS, NONE, 0, "the class object, the thread or the root"),
    [CLASS] = HDX_CLASS_COLUMN(0),
    [LABEL] = HDX_COLUMN("label", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_LABEL | HDX_COLUMN_LATE,
                         "what it says of itself: class Shop, the name of a thread"),
    [REFERENCE] = HDX_COLUMN("reference", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_REFERENCE,
                             "the static field, or fields where several lead to one object; null for others"),
    [TARGET] = HDX_COLUMN("target", ADDRESS, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_WIDE,
                          "what the field refers to; null for threads and roots"),
    [TARGET_CLASS] = HDX_COLUMN("target_class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_WIDE, "its class"),
};
static const hdx_form   form = { NULL, NULL, columns, HDX_COUNT(columns) };
static const hdx_column total_members[] = {
    HDX_COLUMN("share", REAL, PERCENT, 0, "the share that was wanted"),
    HDX_COLUMN("reached", BOOL, NONE, 0, "these holders keep that share"),
    HDX_COLUMN("objects", UNSIGNED, COUNT, 0, "objects that would be free without all of them"),
    HDX_COLUMN("bytes", UNSIGNED, BYTES, 0, "bytes of these objects"),
};
static const hdx_column document[] = { HDX_NESTED("total", OBJECT, 0, "the holders together", total_members) };

typedef struct finder {
    hdx_ask      *ask;
    hdx_flow     *flow;
    hdx_holder   *holders;
    uint64_t      count;
    uint64_t      chosen[MOST];       /* places in holders, in the order in which they were taken away */
    uint32_t      most, used, needed; /* needed: a bit for each that is */
    uint64_t      bytes;              /* of the live heap */
    uint64_t      free_bytes;         /* by the last search */
    uint64_t      wanted;             /* bytes */
    hdx_flow_sum *sums;
    uint64_t      sum_count;
} finder;

static hdx_code search(finder *f, hdx_error *err)
{
    uint64_t bytes = 0;
    hdx_code code = hdx_flow_run(f->flow, &bytes, err);
    if (f->used == 0) /* with nothing taken away: what no root reaches is no part of the heap */
        f->bytes = bytes;
    f->free_bytes = f->bytes - bytes;
    return code;
}

/* The holder by which most bytes were reached; 0: there is none. */
static uint64_t biggest(const finder *f)
{
    uint64_t best = 0;
    for (uint64_t i = 1; i < f->count; i++)
        if (!f->holders[i].removed && f->holders[i].bytes > (best == 0 ? 0 : f->holders[best].bytes))
            best = i;
    return best;
}

/* A field of a class that only the others held goes with them: it is given back, and is as little reached as before. */
static void drop_unreached(finder *f)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < f->used; i++) {
        hdx_holder *h = &f->holders[f->chosen[i]];
        if (h->kind == HDX_HOLDER_ROOT || hdx_flow_reached(f->flow, h->from))
            f->chosen[kept++] = f->chosen[i];
        else
            h->removed = false;
    }
    f->used = kept;
}

static hdx_code choose(finder *f, double share, hdx_error *err)
{
    hdx_code code = search(f, err);
    f->wanted = (uint64_t)((double)f->bytes * share / 100);
    while (code == HDX_OK && f->used < f->most && (f->used == 0 || f->free_bytes < f->wanted)) {
        const uint64_t next = biggest(f);
        if (next == 0 || f->holders[next].bytes < f->bytes / TINY)
            break;
        f->holders[next].removed = true;
        f->chosen[f->used++] = next;
        code = search(f, err);
    }
    if (code == HDX_OK)
        drop_unreached(f);
    return code == HDX_OK && f->used > 0
               ? hdx_flow_split(f->flow, f->chosen, f->used, f->sums, SETS, &f->sum_count, err)
               : code;
}

/* What is free without a set of holders: all that no other leads to. */
static hdx_flow_sum free_without(const finder *f, uint32_t bits)
{
    hdx_flow_sum all = { .bits = bits };
    for (uint64_t i = 0; i < f->sum_count; i++)
        if ((f->sums[i].bits & ~bits) == 0) {
            all.objects += f->sums[i].objects;
            all.bytes += f->sums[i].bytes;
        }
    return all;
}

/* Gives back each that is not needed for the share; where that is not reached, each without which little is lost. */
static void reduce(finder *f)
{
    f->needed = f->used == MOST ? UINT32_MAX : (1u << f->used) - 1;
    const bool reached = free_without(f, f->needed).bytes >= f->wanted;
    for (uint32_t i = 0; i < f->used; i++) {
        const uint64_t now = free_without(f, f->needed).bytes, rest = free_without(f, f->needed & ~(1u << i)).bytes;
        if (reached ? rest >= f->wanted : now - rest < f->bytes / TINY)
            f->needed &= ~(1u << i);
    }
}

/* "byId", or "byId, all" where several fields refer to one object. */
typedef struct field_names {
    hdx_buffer *out;
    unsigned    count;
} field_names;

static bool take_name(void *context, const hdx_named_ref *ref)
{
    field_names *n = context;
    if (ref->kind == HDX_REF_STATIC) {
        hdx_buffer_text(n->out, n->count > 0 ? ", " : "");
        hdx_buffer_text(n->out, n->count < 3 ? ref->name : "...");
        n->count++;
    }
    return n->count < 4;
}

static hdx_code reference_cell(const finder *f, const hdx_holder *h, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    hdx_error   mine;
    hdx_buffer  text = hdx_buffer_of(f->ask->q.mem);
    field_names names = { &text, 0 };
    *out = hdx_cell_null();
    if (h->kind != HDX_HOLDER_STATIC)
        return HDX_OK;
    hdx_code code = hdx_graph_named_refs(f->ask->g, h->from, h->to, take_name, &names, &mine);
    if (code == HDX_BAD_DUMP && hdx_graph_lacks_dump(f->ask->g)) {
        *out = hdx_cell_string("<static>");
        code = HDX_OK;
    } else if (code != HDX_OK && err != NULL) {
        *err = mine;
    } else if (text.len > 0) {
        *out = hdx_text_cell(arena, (hdx_text){ text.at, (uint32_t)text.len });
    }
    hdx_buffer_free(&text);
    return code;
}

static hdx_code add_rows(finder *f, hdx_table *table, hdx_error *err)
{
    static const char *const kinds[] = { "", "static", "thread", "root" };
    hdx_code                 code = HDX_OK;
    uint32_t                 before = 0;
    for (uint32_t i = 0; code == HDX_OK && i < f->used; i++) {
        const hdx_holder *h = &f->holders[f->chosen[i]];
        hdx_cell          cells[COLUMNS];
        if ((f->needed & 1u << i) == 0)
            continue;
        before |= 1u << i;
        const uint64_t together = free_without(f, before).bytes;
        cells[KIND] = hdx_cell_string(kinds[h->kind]);
        cells[ALONE] = hdx_cell_uint(free_without(f, 1u << i).bytes);
        cells[TOGETHER] = hdx_cell_uint(together);
        cells[PERCENT] = hdx_cell_real(f->bytes == 0 ? 0 : 100.0 * (double)together / (double)f->bytes);
        cells[ADDRESS] = hdx_id_cell(f->ask->g, h->from);
        cells[CLASS] = hdx_class_of_cell(f->ask->g, h->from);
        cells[LABEL] = hdx_cell_null();
        cells[TARGET] = hdx_id_cell(f->ask->g, h->to);
        cells[TARGET_CLASS] = h->to == HDX_NO_ID ? hdx_cell_null() : hdx_class_of_cell(f->ask->g, h->to);
        if ((code = reference_cell(f, h, hdx_table_arena(table), &cells[REFERENCE], err)) == HDX_OK)
            code = hdx_table_add(table, cells, err);
    }
    return code;
}

static hdx_code say(const finder *f, double share, hdx_rows **out, hdx_error *err)
{
    const hdx_flow_sum all = free_without(f, f->needed);
    const unsigned     count = (unsigned)__builtin_popcount(f->needed);
    const bool         reached = f->used > 0 && all.bytes >= f->wanted;
    const double       percent = f->bytes == 0 ? 0 : 100.0 * (double)all.bytes / (double)f->bytes;
    char               line[160];
    const hdx_cell     cells[] = { hdx_cell_real(share), hdx_cell_bool(reached), hdx_cell_uint(all.objects),
                                   hdx_cell_uint(all.bytes) };
    (void)snprintf(line, sizeof line, "%u holder%s %.1f%% of the live heap%s", count,
                   count == 1 ? " keeps" : "s together keep", percent,
                   reached             ? ""
                   : f->used < f->most ? "; none of the others leads to 1% of it"
                                       : "; --most lets more be tried");
    const hdx_code code = hdx_beside(HDX_OK, out, "total", total_members, HDX_COUNT(total_members), cells, err);
    return code == HDX_OK && count > 0 ? hdx_rows_set_title(*out, line, err) : code;
}

static hdx_code find(finder *f, double share, hdx_error *err)
{
    if ((f->sums = hdx_mem_array(f->ask->q.mem, SETS, sizeof *f->sums)) == NULL)
        return hdx_no_memory(err, "sets of holders", SETS * sizeof *f->sums);
    hdx_code code = hdx_flow_open(f->ask, &f->flow, err);
    if (code != HDX_OK)
        return code;
    hdx_flow_leave_out_dump_only(f->flow);
    f->holders = hdx_flow_holders(f->flow, &f->count);
    if ((code = choose(f, share, err)) == HDX_OK)
        reduce(f);
    return code;
}

static hdx_code answer(hdx_ask *ask, double share, uint32_t most, hdx_rows **out, hdx_error *err)
{
    finder     f = { .ask = ask, .most = most };
    hdx_table *table = NULL;
    hdx_code   code = find(&f, share, err);
    if (code != HDX_OK || (code = hdx_table_in(ask->q.mem, columns, COLUMNS, &table, err)) != HDX_OK)
        return code;
    if ((code = add_rows(&f, table, err)) != HDX_OK || (code = hdx_graph_check(ask->g, err)) != HDX_OK) {
        hdx_table_free(table);
        return code;
    }
    if ((code = hdx_table_rows(table, out, err)) == HDX_OK && (code = say(&f, share, out, err)) != HDX_OK) {
        hdx_rows_close(*out);
        *out = NULL;
    }
    if (code == HDX_OK && hdx_column_wanted(&ask->q, LABEL))
        code = hdx_query_labels(&ask->q, false, out, err);
    return hdx_say_nothing(code, out, err, "no field, thread or root leads to 1%% of the heap");
}

static const hdx_parameter parameters[] = {
    { .name = "share",
      .kind = HDX_PARAMETER_NUMBER,
      .value = "PERCENT",
      .preset = SHARE_DEFAULT,
      .least = 1,
      .most = 100,
      .sentence = "the part of the live heap that they are to hold; " SHARE_DEFAULT " by default" },
    { .name = "most",
      .kind = HDX_PARAMETER_NUMBER,
      .value = "N",
      .preset = MOST_DEFAULT,
      .least = 1,
      .most = MOST,
      .sentence = "no more holders than these; " MOST_DEFAULT " by default" },
};

static hdx_code open_holders(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    hdx_ask ask;
    *out = NULL;
    const hdx_code code = hdx_ask_begin(q, &ask, err);
    return code != HDX_OK ? code
                          : answer(&ask, (double)hdx_argument_number(a, "share"),
                                   (uint32_t)hdx_argument_number(a, "most"), out, err);
}

const hdx_question hdx_question_holders = {
    .declared = {
        .name = "holders",
        .flags = HDX_ANSWER_HEAP | HDX_ANSWER_VALUES,
        .sentence = "static fields, threads and roots that together keep most of the heap",
        .more = "Where dominators shows many small objects, several holders share what is below them. This takes the "
                "biggest holder away, looks what is still reached, and goes on until the rest is --share of the heap; "
                "what is not needed for that is left out again. Each line says what would be free without the holders "
                "up to it.",
        .examples = { "heapdex holders app.hprof", "heapdex holders app.hprof --share 50 --format json" },
        .forms = &form,
        .form_count = 1,
        .document = document,
        .document_count = HDX_COUNT(document),
        .parameters = parameters,
        .parameter_count = HDX_COUNT(parameters),
    },
    .open = open_holders,
};
