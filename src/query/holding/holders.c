/*
 * holders.c - what holds memory that no object dominates: the static fields, threads and other GC roots that *together*
 * keep a stated share of the heap alive.
 *
 *        alone  together      %  object
 *      31.1 MB   31.1 MB   5.2%  class Shop .byId
 *      31.1 MB  562.0 MB  94.1%  class Shop .byMail
 *
 * A dominator tree explains what one object keeps alive. Memory that two objects keep alive is below neither of them,
 * and such a tree shows it as millions of separate small trees. Therefore the holder from which a search reaches most
 * bytes is removed and the search is repeated (flow.c), until the unreached bytes are the requested share; then each
 * holder that is not needed for that is restored. None of the remaining ones can be restored, so the set is minimal in
 * that sense; a set of other holders may be smaller.
 *
 * If more holders than requested would be needed, the search is repeated with groups as holders (holder_groups.h): a
 * pool of threads, the fields of a class, the roots of a type. It continues to MOST of them, so that an answer that
 * does not reach the share can report how many would. Rows show the threads of one pool and the roots of one type as
 * one holder in either case; the fields of a class are one row only if groups were searched.
 *
 * `together` is exact: a search without the holders up to this row does not reach these bytes. Cost: one search over
 * nodes (nodes.h) for each holder that is tried, and one that finds which of them lead where: the sums for each set of
 * holders answer everything else.
 */
#include "query/common/extras.h"
#include "query/common/columns.h"
#include "query/common/labels.h"
#include "graph/graph.h"
#include "query/holding/flow.h"
#include "query/holding/holder_groups.h"
#include "query/query.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST_DEFAULT  "8"
#define MOST          64u /* bits of a set (flow.h) */
#define SHARE_DEFAULT "80"
#define TINY          100u  /* a holder from which less than 1/TINY of the heap is reached changes nothing */
#define ADDRESSES     1000u /* of the members of a row that are listed */

enum {
    KIND,
    ALONE,
    TOGETHER,
    PERCENT,
    ADDRESS,
    CLASS,
    LABEL,
    REFERENCE,
    TARGET,
    TARGET_CLASS,
    MEMBERS,
    ADDRESSES_OF,
    COLUMNS
};
static const hdx_column address_item[] = { HDX_ITEM(ADDRESS, "address of a thread, a root or the target of a field") };
static const hdx_column columns[COLUMNS] = {
    [KIND] = HDX_COLUMN("kind", TEXT, NONE, HDX_COLUMN_SPARE,
                        "static: static fields of a class; thread: locals and fields of threads; root: GC roots"),
    [ALONE] = HDX_COLUMN("alone", UNSIGNED, BYTES, 0, "bytes that would be freed without this holder alone"),
    [TOGETHER] = HDX_COLUMN("together", UNSIGNED, BYTES, 0,
                            "cumulative: bytes that would be freed without this holder and all "
                            "holders in the rows before it"),
    [PERCENT] = HDX_COLUMN("percent", REAL, PERCENT, 0, "share of the cumulative bytes in all live bytes, in percent"),
    [ADDRESS] = HDX_COLUMN("address", ADDRESS, NONE, HDX_COLUMN_NULLABLE,
                           "class object, thread or root; null for several threads or roots"),
    [CLASS] = HDX_CLASS_COLUMN(0),
    [LABEL] = HDX_COLUMN("label", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_LABEL,
                         "class name such as Shop, name of a thread or thread pool, or type of several roots"),
    [REFERENCE] = HDX_COLUMN("reference", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_REFERENCE,
                             "static field, or fields if several lead to the object; null for threads and roots"),
    [TARGET] = HDX_COLUMN("target", ADDRESS, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_WIDE,
                          "object that the field refers to; null for threads and roots, and for several fields"),
    [TARGET_CLASS] =
        HDX_COLUMN("target_class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_WIDE, "class of that object"),
    [MEMBERS] = HDX_COLUMN("members", UNSIGNED, COUNT, HDX_COLUMN_TIMES,
                           "threads of the pool, roots of the type, or objects that fields of the class refer to"),
    [ADDRESSES_OF] = HDX_NESTED("addresses", LIST, HDX_COLUMN_NULLABLE | HDX_COLUMN_WIDE,
                                "addresses of these members, at most 1000; null if there is only one", address_item),
};
static const hdx_form   form = { NULL, NULL, columns, HDX_COUNT(columns) };
static const hdx_column total_members[] = {
    HDX_COLUMN("share", REAL, PERCENT, 0, "requested share of the live heap, in percent"),
    HDX_COLUMN("reached", BOOL, NONE, 0, "true if these holders together hold that share"),
    HDX_COLUMN("objects", UNSIGNED, COUNT, 0, "objects that would be freed without all these holders"),
    HDX_COLUMN("bytes", UNSIGNED, BYTES, 0, "total size of these objects"),
    HDX_COLUMN("needed", UNSIGNED, COUNT, HDX_COLUMN_NULLABLE,
               "number of holders that would hold that share, if the search found it; otherwise null"),
};
static const hdx_column document[] = { HDX_NESTED("total", OBJECT, 0, "totals of the listed holders", total_members) };

/* A unit is what is removed at once: a holder, or, in a search by groups, a group. */
typedef struct finder {
    hdx_ask          *ask;
    hdx_flow         *flow;
    hdx_holder       *holders;
    uint64_t          count;
    hdx_holder_groups groups;
    uint64_t         *reached;      /* bytes by group; NULL: units are holders */
    uint64_t          chosen[MOST]; /* units, in the order in which they were removed */
    uint32_t          most, used;
    uint64_t          needed;      /* a bit for each unit that is needed */
    uint32_t          would_need;  /* units that reach the share; 0: the search did not reach it */
    uint32_t          tried;       /* units in the search with groups */
    uint64_t          tried_bytes; /* free bytes without these */
    uint64_t          bytes;       /* of the live heap */
    uint64_t          free_bytes;  /* by the last search */
    uint64_t          wanted;      /* bytes */
    /* of the units chosen: those that lead to an object that is not reached otherwise */
    HDX_LIST(hdx_flow_member) members;
    hdx_flow_sums             sums;
} finder;

static uint64_t unit_of(const finder *f, uint64_t holder) { return f->reached == NULL ? holder : f->groups.of[holder]; }

static void remove_unit(finder *f, uint64_t unit, bool removed)
{
    if (f->reached == NULL)
        f->holders[unit].removed = removed;
    for (uint64_t i = 1; f->reached != NULL && i < f->count; i++)
        if (f->groups.of[i] == unit)
            f->holders[i].removed = removed;
}

static hdx_code run_search(finder *f, hdx_error *err)
{
    uint64_t bytes = 0;
    hdx_code code = hdx_flow_run(f->flow, &bytes, err);
    if (f->bytes == 0) /* nothing is removed yet: objects that no root reaches are not part of the heap */
        f->bytes = bytes;
    f->free_bytes = f->bytes - bytes;
    return code;
}

/* Returns the unit from which most bytes were reached; 0: none. Nothing is reached from a removed unit. */
static uint64_t biggest_unit(const finder *f, uint64_t *bytes)
{
    uint64_t best = 0;
    *bytes = 0;
    if (f->reached != NULL)
        memset(f->reached, 0, f->groups.count * sizeof *f->reached);
    for (uint64_t i = 1; i < f->count; i++)
        if (f->reached != NULL)
            f->reached[f->groups.of[i]] += f->holders[i].bytes;
        else if (f->holders[i].bytes > *bytes)
            *bytes = f->holders[best = i].bytes;
    for (uint32_t g = 1; f->reached != NULL && g < f->groups.count; g++)
        if (f->reached[g] > *bytes)
            *bytes = f->reached[best = g];
    return best;
}

/* Removes units, up to `most`, until the share is reached. REQUIRES: the last search was without removed units. */
static hdx_code remove_units(finder *f, uint32_t most, hdx_error *err)
{
    hdx_code code = HDX_OK;
    while (code == HDX_OK && f->used < most && (f->used == 0 || f->free_bytes < f->wanted)) {
        uint64_t       bytes;
        const uint64_t next = biggest_unit(f, &bytes);
        if (next == 0 || bytes < f->bytes / TINY)
            break;
        remove_unit(f, next, true);
        f->chosen[f->used++] = next;
        code = run_search(f, err);
    }
    return code;
}

/* Restores units until `left` remain. */
static void restore_units(finder *f, uint32_t left)
{
    while (f->used > left)
        remove_unit(f, f->chosen[--f->used], false);
}

/* Searches again with groups: removes up to MOST of them, and uses the first `most`. */
static hdx_code choose_groups(finder *f, hdx_error *err)
{
    hdx_code code;
    if ((f->reached = hdx_mem_array(f->ask->q.mem, f->groups.count, sizeof *f->reached)) == NULL)
        return hdx_no_memory(err, "groups of holders", f->groups.count * sizeof *f->reached);
    if ((code = run_search(f, err)) != HDX_OK || (code = remove_units(f, MOST, err)) != HDX_OK)
        return code;
    f->would_need = f->used > 0 && f->free_bytes >= f->wanted ? f->used : 0;
    f->tried = f->used;
    f->tried_bytes = f->free_bytes;
    if (f->used <= f->most)
        return HDX_OK;
    restore_units(f, f->most);
    return run_search(f, err);
}

/* Chooses holders if they reach the share, or if groups are hardly better. */
static hdx_code choose_best(finder *f, double share, hdx_error *err)
{
    uint64_t single[MOST];
    hdx_code code = run_search(f, err);
    f->wanted = (uint64_t)((double)f->bytes * share / 100);
    if (code == HDX_OK)
        code = remove_units(f, f->most, err);
    const uint32_t used = f->used;
    const uint64_t free_bytes = f->free_bytes;
    if (code != HDX_OK || free_bytes >= f->wanted)
        return code;
    memcpy(single, f->chosen, used * sizeof *single);
    restore_units(f, 0);
    if ((code = choose_groups(f, err)) != HDX_OK || f->free_bytes > free_bytes + f->bytes / TINY)
        return code; /* single holders are more specific, unless they explain little */
    restore_units(f, 0);
    f->reached = NULL;
    for (f->used = 0; f->used < used; f->used++)
        remove_unit(f, f->chosen[f->used] = single[f->used], true);
    return run_search(f, err);
}

/*
 * Lists the members that lead to an object that the last search did not reach. A field of a class that only other
 * removed holders keep alive is restored, because it goes with them and remains unreached.
 */
static hdx_code list_members(finder *f, hdx_error *err)
{
    uint32_t kept = 0;
    for (uint32_t n = 0; n < f->used; n++) {
        const uint64_t unit = f->chosen[n], first = f->reached == NULL ? unit : 1,
                       end = f->reached == NULL ? unit + 1 : f->count, before = f->members.count;
        for (uint64_t i = first; i < end; i++) {
            hdx_holder *h = &f->holders[i];
            if (unit_of(f, i) != unit)
                continue;
            if (h->kind != HDX_HOLDER_ROOT && !hdx_flow_reached(f->flow, h->from)) {
                h->removed = false;
                continue;
            }
            if (h->kind != HDX_HOLDER_THREAD &&
                hdx_flow_reached(f->flow, h->kind == HDX_HOLDER_STATIC ? h->to : h->from))
                continue;
            if (!hdx_list_room(f->ask->q.mem, HDX_LIST_REF(&f->members)))
                return hdx_no_memory(err, "holders", f->members.count * sizeof *f->members.at);
            f->members.at[f->members.count++] = (hdx_flow_member){ i, 1ull << kept };
        }
        if (f->members.count > before)
            f->chosen[kept++] = unit;
    }
    f->used = kept;
    return HDX_OK;
}

/* Sums what is free without units: everything to which no other unit leads. */
static hdx_flow_sum free_without(const finder *f, uint64_t bits)
{
    hdx_flow_sum all = { .bits = bits };
    for (uint64_t i = 0; i < f->sums.count; i++)
        if ((f->sums.at[i].bits & ~bits) == 0) {
            all.objects += f->sums.at[i].objects;
            all.bytes += f->sums.at[i].bytes;
        }
    return all;
}

/* Restores each unit that is not needed for the share, or, if the share is not reached, that contributes little. */
static void restore_unneeded(finder *f)
{
    f->needed = f->used == MOST ? UINT64_MAX : (1ull << f->used) - 1;
    const bool reached = free_without(f, f->needed).bytes >= f->wanted;
    for (uint32_t i = 0; i < f->used; i++) {
        const uint64_t now = free_without(f, f->needed).bytes, rest = free_without(f, f->needed & ~(1ull << i)).bytes;
        if (reached ? rest >= f->wanted : now - rest < f->bytes / TINY)
            f->needed &= ~(1ull << i);
    }
}

/* "byId", or "byId, all" if several fields refer to one object. */
typedef struct field_names {
    hdx_buffer *out;
    unsigned    count;
} field_names;

static bool add_field_name(void *context, const hdx_named_ref *ref)
{
    field_names *n = context;
    if (ref->kind == HDX_REF_STATIC) {
        hdx_buffer_text(n->out, n->count > 0 ? ", " : "");
        hdx_buffer_text(n->out, n->count < 3 ? ref->name : "...");
        n->count++;
    }
    return n->count < 4;
}

/* ---- rows ---- */

/* Returns the bits of the needed units that share a row with this one: threads of one pool, roots of one type. */
static uint64_t row_of(const finder *f, uint32_t unit)
{
    uint64_t bits = 1ull << unit;
    if (f->reached != NULL || f->holders[f->chosen[unit]].kind == HDX_HOLDER_STATIC)
        return bits;
    for (uint32_t i = 0; i < f->used; i++)
        if (f->groups.of[f->chosen[i]] == f->groups.of[f->chosen[unit]])
            bits |= 1ull << i;
    return bits & f->needed;
}

/* Writes the names of the fields by which the members of a row refer to objects. */
static hdx_code reference_cell(const finder *f, uint64_t bits, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    hdx_error   mine;
    hdx_buffer  text = hdx_buffer_of(f->ask->q.mem);
    field_names names = { &text, 0 };
    hdx_code    code = HDX_OK;
    for (uint64_t i = 0; code == HDX_OK && i < f->members.count && names.count < 4; i++) {
        const hdx_holder *h = &f->holders[f->members.at[i].holder];
        if ((f->members.at[i].bit & bits) == 0 || h->kind != HDX_HOLDER_STATIC)
            continue;
        code = hdx_graph_named_refs(f->ask->g, h->from, h->to, add_field_name, &names, &mine);
    }
    if (code == HDX_BAD_DUMP && hdx_graph_lacks_dump(f->ask->g)) {
        *out = hdx_cell_string("<static>");
        code = HDX_OK;
    } else if (code != HDX_OK && err != NULL) {
        *err = mine;
    } else if (text.failed) {
        code = hdx_no_memory(err, "names of fields", text.len);
    } else if (text.len > 0) {
        *out = hdx_text_cell(arena, (hdx_text){ text.at, (uint32_t)text.len });
    }
    hdx_buffer_free(&text);
    return code;
}

static hdx_id object_of(const hdx_holder *h) { return h->kind == HDX_HOLDER_STATIC ? h->to : h->from; }

/* Writes the cells that several members have in common. */
static hdx_code member_cells(const finder *f, uint64_t bits, hdx_arena *arena, hdx_cell *cells, hdx_error *err)
{
    const hdx_holder *first = NULL;
    uint64_t          count = 0, listed = 0;
    bool              one_class = true;
    hdx_cell         *addresses = hdx_arena_get(arena, ADDRESSES * sizeof *addresses);
    if (addresses == NULL)
        return hdx_no_memory(err, "holders", ADDRESSES * sizeof *addresses);
    for (uint64_t i = 0; i < f->members.count; i++) {
        const hdx_holder *h = &f->holders[f->members.at[i].holder];
        if ((f->members.at[i].bit & bits) == 0)
            continue;
        first = first == NULL ? h : first;
        one_class &= hdx_graph_class_of(f->ask->g, h->from) == hdx_graph_class_of(f->ask->g, first->from);
        count++;
        if (listed < ADDRESSES)
            addresses[listed++] = hdx_id_cell(f->ask->g, object_of(h));
    }
    const bool     one = count == 1, fields = first->kind == HDX_HOLDER_STATIC;
    const hdx_text name = f->groups.names[f->groups.of[first - f->holders]];
    cells[ADDRESS] = one || fields ? hdx_id_cell(f->ask->g, first->from) : hdx_cell_null();
    cells[CLASS] = one_class ? hdx_class_of_cell(f->ask->g, first->from) : hdx_cell_null();
    cells[LABEL] = one || fields || name.len == 0 ? hdx_cell_null() : hdx_text_cell(arena, name);
    cells[TARGET] = one && fields ? hdx_id_cell(f->ask->g, first->to) : hdx_cell_null();
    cells[TARGET_CLASS] = one && fields ? hdx_class_of_cell(f->ask->g, first->to) : hdx_cell_null();
    cells[MEMBERS] = hdx_cell_uint(count);
    cells[ADDRESSES_OF] = one ? hdx_cell_null() : hdx_cell_list(addresses, listed);
    return (one || fields) && hdx_column_wanted(&f->ask->q, LABEL)
               ? hdx_label_cell(&f->ask->q, first->from, arena, &cells[LABEL], err)
               : HDX_OK;
}

static hdx_code add_rows(finder *f, hdx_table *table, hdx_error *err)
{
    static const char *const kinds[] = { "", "static", "thread", "root" };
    hdx_arena               *arena = hdx_table_arena(table);
    hdx_code                 code = HDX_OK;
    uint64_t                 before = 0;
    for (uint32_t i = 0; code == HDX_OK && i < f->used; i++) {
        hdx_cell cells[COLUMNS];
        if ((f->needed & ~before & 1ull << i) == 0)
            continue;
        const uint64_t bits = row_of(f, i);
        before |= bits;
        const uint64_t together = free_without(f, before).bytes;
        uint64_t       m = 0;
        while (f->members.at[m].bit != 1ull << i)
            m++;
        cells[KIND] = hdx_cell_string(kinds[f->holders[f->members.at[m].holder].kind]);
        cells[ALONE] = hdx_cell_uint(free_without(f, bits).bytes);
        cells[TOGETHER] = hdx_cell_uint(together);
        cells[PERCENT] = hdx_cell_real(f->bytes == 0 ? 0 : 100.0 * (double)together / (double)f->bytes);
        cells[REFERENCE] = hdx_cell_null();
        if ((code = member_cells(f, bits, arena, cells, err)) == HDX_OK &&
            (code = reference_cell(f, bits, arena, &cells[REFERENCE], err)) == HDX_OK)
            code = hdx_table_add(table, cells, err);
    }
    return code;
}

/* ---- summary ---- */

/* Explains why the rows do not reach the share. */
static void explain_short(const finder *f, double share, char *out, size_t size)
{
    if (f->would_need > f->most)
        (void)snprintf(out, size, "%u would hold %g%% (--most %u)", f->would_need, share, f->would_need);
    else if (f->tried > f->most)
        (void)snprintf(out, size, "%u hold %.1f%% (--most %u)", f->tried,
                       100.0 * (double)f->tried_bytes / (double)f->bytes, f->tried);
    else if (f->tried == MOST)
        (void)snprintf(out, size, "the search ends after %u holders", MOST);
    else
        (void)snprintf(out, size, "each further holder adds less than 1%% of it");
}

static hdx_code add_summary(const finder *f, double share, hdx_rows **out, hdx_error *err)
{
    const hdx_flow_sum all = free_without(f, f->needed);
    unsigned           count = 0;
    for (uint64_t left = f->needed, i = 0; i < f->used; i++)
        if ((left >> i & 1) != 0) {
            left &= ~row_of(f, (uint32_t)i);
            count++;
        }
    const bool     reached = f->used > 0 && all.bytes >= f->wanted;
    const double   percent = f->bytes == 0 ? 0 : 100.0 * (double)all.bytes / (double)f->bytes;
    const unsigned needed = reached ? count : f->would_need;
    char           line[200], why[80] = "";
    const hdx_cell cells[] = { hdx_cell_real(share), hdx_cell_bool(reached), hdx_cell_uint(all.objects),
                               hdx_cell_uint(all.bytes), needed == 0 ? hdx_cell_null() : hdx_cell_uint(needed) };
    if (!reached)
        explain_short(f, share, why, sizeof why);
    (void)snprintf(line, sizeof line, "%u holder%s %.1f%% of the live heap%s%s", count,
                   count == 1 ? " holds" : "s together hold", percent, reached ? "" : "; ", why);
    hdx_code code = hdx_extras_add(HDX_OK, out, "total", total_members, HDX_COUNT(total_members), cells, err);
    if (code == HDX_OK && count > 0)
        code = hdx_rows_set_title(*out, line, err);
    if (code != HDX_OK || f->used == 0)
        return hdx_rows_explain_empty(
            code, out, err,
            "no thread pool, no class (by its static fields) and no type of GC root is the first "
            "to reach 1%% of the heap");
    return hdx_rows_explain_empty(code, out, err, "none of the %u examined holders holds 1%% of the heap; %s", f->used,
                                  why);
}

static hdx_code find_holders(finder *f, double share, hdx_error *err)
{
    hdx_code code = hdx_flow_open(f->ask, &f->flow, err);
    if (code != HDX_OK)
        return code;
    hdx_flow_exclude_dump_only(f->flow);
    f->holders = hdx_flow_holders(f->flow, &f->count);
    if ((code = hdx_holder_groups_find(f->ask, f->holders, f->count, &f->groups, err)) != HDX_OK ||
        (code = choose_best(f, share, err)) != HDX_OK || (code = list_members(f, err)) != HDX_OK)
        return code;
    if (f->used > 0)
        code = hdx_flow_split(f->flow, f->members.at, f->members.count, &f->sums, err);
    if (code == HDX_OK)
        restore_unneeded(f);
    return code;
}

static hdx_code holder_rows(hdx_ask *ask, double share, uint32_t most, hdx_rows **out, hdx_error *err)
{
    finder     f = { .ask = ask, .most = most };
    hdx_table *table = NULL;
    hdx_code   code = find_holders(&f, share, err);
    if (code != HDX_OK || (code = hdx_table_in(ask->q.mem, columns, COLUMNS, &table, err)) != HDX_OK)
        return code;
    if ((code = add_rows(&f, table, err)) != HDX_OK || (code = hdx_graph_check(ask->g, err)) != HDX_OK) {
        hdx_table_free(table);
        return code;
    }
    code = hdx_table_rows(table, out, err);
    return code == HDX_OK ? add_summary(&f, share, out, err) : code;
}

static const hdx_parameter parameters[] = {
    { .name = "share",
      .kind = HDX_PARAMETER_NUMBER,
      .value = "PERCENT",
      .preset = SHARE_DEFAULT,
      .least = 1,
      .most = 100,
      .sentence =
          "share of the live heap that the holders should hold together, in percent; " SHARE_DEFAULT " by default" },
    { .name = "most",
      .kind = HDX_PARAMETER_NUMBER,
      .value = "N",
      .preset = MOST_DEFAULT,
      .least = 1,
      .most = MOST,
      .sentence = "maximum number of holders; a thread pool, the fields of a class or the roots of a type count as "
                  "one; " MOST_DEFAULT " by default" },
};

static hdx_code open_holders(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    hdx_ask ask;
    *out = NULL;
    const hdx_code code = hdx_ask_begin(q, &ask, err);
    return code != HDX_OK ? code
                          : holder_rows(&ask, (double)hdx_argument_number(a, "share"),
                                        (uint32_t)hdx_argument_number(a, "most"), out, err);
}

const hdx_question hdx_question_holders = {
    .declared = {
        .name = "holders",
        .flags = HDX_ANSWER_HEAP | HDX_ANSWER_VALUES,
        .sentence = "static fields, threads and roots that together hold most of the heap",
        .more = "If dominators shows only small objects, several holders share the objects below them. This question "
                "removes the largest holder, determines what is still reachable, and repeats this until only the rest "
                "of the heap beyond --share is reachable; then it drops holders that turn out to be unnecessary. The "
                "column together is cumulative: the bytes that would be freed without the holders of all rows so far. "
                "Threads of one pool (names that differ only in digits) count as one holder, and so do roots of one "
                "type; static fields of one class count as one if --most would be exceeded otherwise. An answer that "
                "does not reach --share reports how many holders would.",
        .examples = { "heapdex holders app.hprof", "heapdex holders app.hprof --share 50 --format json" },
        .forms = &form,
        .form_count = 1,
        .document = document,
        .document_count = HDX_COUNT(document),
        .parameters = parameters,
        .parameter_count = HDX_COUNT(parameters),
    },
    .saved = true,
    .open = open_holders,
};
