/*
 * referents.c - the referents of soft, weak, final and phantom references, and which of them nothing stronger holds.
 *
 * In:  strengths (strength.c) and retained sizes.
 * Out: a row per reference, those first whose referents are held by nothing stronger, the heaviest before others; or
 *      sums by kind of reference or class of the referent.
 */
#include "query/common/columns.h"
#include "query/common/listing.h"
#include "query/runtime/strength.h"

#include <stdio.h>
#include <stdlib.h>

#define NEAR 64u /* number of dominators of a referent that are compared with the other referents */

enum { ADDRESS, CLASS, LABEL, KIND, REACH, SHALLOW, RETAINED, REFERENCE, REFERENCE_CLASS, FIELD, COLUMNS };

#define KIND_COLUMN HDX_COLUMN("kind", TEXT, NONE, 0, "soft, weak, final (of an object with a finalizer) or phantom")
static const hdx_column columns[COLUMNS] = {
    [ADDRESS] = HDX_COLUMN("address", ADDRESS, NONE, 0, "address of the referent"),
    [CLASS] = HDX_CLASS_COLUMN(0),
    [LABEL] = HDX_LABEL_COLUMN,
    [KIND] = KIND_COLUMN,
    [REACH] = HDX_COLUMN("reach", TEXT, NONE, 0,
                         "strongest way in which it is reachable: strong, soft, weak, final or phantom; none if not "
                         "in this view"),
    [SHALLOW] = HDX_COLUMN("shallow", UNSIGNED, BYTES, HDX_COLUMN_SPARE, "shallow size of the referent"),
    [RETAINED] = HDX_COLUMN("retained", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE,
                            "retained size: bytes that would be freed without the referent"),
    [REFERENCE] = HDX_COLUMN("reference", ADDRESS, NONE, HDX_COLUMN_SPARE, "address of the reference"),
    [REFERENCE_CLASS] =
        HDX_COLUMN("reference_class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE, "class of the reference"),
    [FIELD] = HDX_COLUMN("field", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME | HDX_COLUMN_LATE,
                         "CLASS#FIELD that holds the reference, directly or through collections"),
};
#define OF_KIND(name, type, unit, sentence)                                                                            \
    HDX_COLUMN(name, type, unit, HDX_COLUMN_NULLABLE, sentence "; null if the dump lacks referents")
static const hdx_column kind_columns[] = {
    KIND_COLUMN,
    HDX_COLUMN("references", UNSIGNED, COUNT, 0, "references of this kind"),
    HDX_COLUMN("unknown", UNSIGNED, COUNT, HDX_COLUMN_SPARE, "references whose referent is missing from the dump"),
    HDX_COLUMN("cleared", UNSIGNED, COUNT, HDX_COLUMN_SPARE, "references without a referent"),
    OF_KIND("referents", UNSIGNED, COUNT, "distinct objects that they refer to"),
    OF_KIND("only", UNSIGNED, COUNT, "referents that stronger references do not reach"),
    OF_KIND("objects", UNSIGNED, COUNT,
            "all objects reachable through this kind of reference, but not through stronger ones"),
    OF_KIND("bytes", UNSIGNED, BYTES,
            "total size of these objects; clearing these and weaker references would free it"),
};
static const hdx_column class_columns[] = {
    HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME, "class of the referents"),
    HDX_COLUMN("references", UNSIGNED, COUNT, 0, "references to objects of this class"),
    HDX_COLUMN("referents", UNSIGNED, COUNT, 0, "distinct objects that they refer to"),
    HDX_COLUMN("only", UNSIGNED, COUNT, 0, "referents that are not strongly reachable"),
    HDX_COLUMN("only_retained", UNSIGNED, BYTES, 0, "bytes that these referents retain; each byte counts once"),
};
static const hdx_form forms[] = {
    { "by", "kind", kind_columns, HDX_COUNT(kind_columns) },
    { "by", "class", class_columns, HDX_COUNT(class_columns) },
    { NULL, NULL, columns, COLUMNS },
};

/* A reference with its referent. */
typedef struct held_referent {
    hdx_id       referent, reference;
    hdx_strength kind, reach;
    uint64_t     order; /* sort key: the group of a sum, or bytes */
} held_referent;

typedef struct referents {
    hdx_found     found;
    hdx_strengths strengths; /* for sums only */
    bool          readable;
    uint64_t      soft, weak; /* bytes that nothing stronger holds */
} referents;

/* kinds: bit k - 1 for strength k; 0: all. */
static bool is_chosen(unsigned kinds, hdx_strength kind) { return kinds == 0 || (kinds >> ((unsigned)kind - 1) & 1); }

static hdx_code referents_find(void *state, hdx_error *err)
{
    referents           *r = state;
    const hdx_strengths *s = &r->strengths;
    const unsigned       kinds = hdx_argument_choices(r->found.arguments, "kind");
    hdx_code             code = hdx_strengths_open(&r->found.ask, &r->strengths, err);
    for (uint64_t i = 0; code == HDX_OK && i < s->count; i++) {
        const hdx_reference *at = &s->at[i];
        if (at->referent == HDX_NO_ID || !is_chosen(kinds, at->kind))
            continue;
        const held_referent h = { at->referent, at->id, at->kind, hdx_strength_of(s, at->referent),
                                  hdx_graph_retained(r->found.ask.g, at->referent) };
        code = hdx_found_add(&r->found, &h, err);
    }
    r->readable = s->unknown == 0 || s->unknown < s->count;
    r->soft = s->bytes[HDX_SOFT];
    r->weak = s->bytes[HDX_WEAK];
    if (hdx_argument_choice(r->found.arguments, "by") < 0)
        hdx_strengths_close(&r->strengths);
    return code;
}

static bool is_weak(hdx_strength reach) { return reach != HDX_STRONG && reach != HDX_STRENGTHS; }

/* ---- one by one ---- */

static int by_reach(const void *a, const void *b)
{
    const held_referent *x = a, *y = b;
    const bool           only_x = is_weak(x->reach), only_y = is_weak(y->reach);
    if (only_x != only_y)
        return only_x ? -1 : 1;
    if (x->order != y->order)
        return x->order > y->order ? -1 : 1;
    return (x->reference > y->reference) - (x->reference < y->reference);
}

static hdx_code referents_cells(void *state, const void *entry, hdx_arena *arena, hdx_cell *cells, hdx_error *err)
{
    const held_referent *h = entry;
    hdx_graph           *g = ((referents *)state)->found.ask.g;
    (void)arena;
    (void)err;
    cells[ADDRESS] = hdx_id_cell(g, h->referent);
    cells[CLASS] = hdx_class_of_cell(g, h->referent);
    cells[KIND] = hdx_cell_string(hdx_strength_names[h->kind]);
    cells[REACH] = hdx_cell_string(hdx_strength_names[h->reach]);
    cells[SHALLOW] = hdx_cell_uint(hdx_graph_shallow(g, h->referent));
    cells[RETAINED] = hdx_retained_cell(g, h->referent);
    cells[REFERENCE] = hdx_id_cell(g, h->reference);
    cells[REFERENCE_CLASS] = hdx_class_of_cell(g, h->reference);
    return HDX_OK;
}

static const char *no_referents(const void *state)
{
    return ((const referents *)state)->readable ? "no reference has a referent"
                                                : "referents of references are missing from this dump";
}

/* ---- sums ---- */

static int in_groups(const void *a, const void *b)
{
    const held_referent *x = a, *y = b;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return (x->referent > y->referent) - (x->referent < y->referent);
}

typedef struct sum {
    uint64_t group, references, referents, only, retained;
} sum;

static int heaviest_first(const void *a, const void *b)
{
    const sum *x = a, *y = b;
    if (x->retained != y->retained)
        return x->retained > y->retained ? -1 : 1;
    if (x->references != y->references)
        return x->references > y->references ? -1 : 1;
    return (x->group > y->group) - (x->group < y->group);
}

static bool counts_as_only(const held_referent *h, bool by_kind)
{
    return is_weak(h->reach) && (!by_kind || h->reach == h->kind);
}

static const held_referent *in_group(const held_referent *from, const held_referent *end, hdx_id referent)
{
    while (from < end) {
        const held_referent *middle = from + (end - from) / 2;
        if (middle->referent < referent)
            from = middle + 1;
        else
            end = middle;
    }
    return from;
}

/* Returns whether another referent of the group that is not strongly held retains this one. */
static bool is_within_another(const referents *r, const held_referent *from, const held_referent *end, hdx_id referent)
{
    hdx_id up = hdx_graph_dominator(r->found.ask.g, referent);
    for (unsigned i = 0; i < NEAR && up != HDX_VIRTUAL_ROOT && up != HDX_NO_ID; i++) {
        const held_referent *at = in_group(from, end, up);
        if (at < end && at->referent == up && is_weak(at->reach))
            return true;
        up = hdx_graph_dominator(r->found.ask.g, up);
    }
    return false;
}

/*
 * Sums groups. A referent counts once in each group; `only` counts those that are not strongly held, or not more
 * strongly than the group.
 */
static hdx_code sum_up(referents *r, bool by_kind, hdx_list_ref to, hdx_error *err)
{
    sum                **sums = (sum **)to.at;
    const held_referent *end, *last;
    hdx_code             code = HDX_OK;
    held_referent       *all = r->found.at;
    for (uint64_t i = 0; i < r->found.count; i++)
        all[i].order = by_kind ? (uint64_t)all[i].kind : hdx_graph_class_of(r->found.ask.g, all[i].referent);
    hdx_found_sort(&r->found, in_groups);
    last = all + r->found.count;
    for (const held_referent *from = all; code == HDX_OK && from < last; from = end) {
        for (end = from; end < last && end->order == from->order;)
            end++;
        if (!hdx_list_room(r->found.ask.q.mem, to))
            return hdx_no_memory(err, "referents", (*to.count + 1) * sizeof(sum));
        sum *s = &(*sums)[(*to.count)++];
        *s = (sum){ .group = from->order };
        for (const held_referent *h = from; code == HDX_OK && h < end; h++) {
            s->references++;
            if (h > from && h->referent == h[-1].referent)
                continue;
            s->referents++;
            if (counts_as_only(h, by_kind)) {
                s->only++;
                s->retained +=
                    is_within_another(r, from, end, h->referent) ? 0 : hdx_graph_retained(r->found.ask.g, h->referent);
            }
            code = hdx_ask_check_cancel(&r->found.ask, err);
        }
    }
    return code;
}

static hdx_code kind_rows(const hdx_strengths *s, unsigned kinds, const sum *sums, uint64_t count, hdx_table *table,
                          hdx_error *err)
{
    uint64_t references[HDX_STRENGTHS] = { 0 }, cleared[HDX_STRENGTHS] = { 0 }, unknown[HDX_STRENGTHS] = { 0 };
    hdx_code code = HDX_OK;
    for (uint64_t i = 0; i < s->count; i++) {
        references[s->at[i].kind]++;
        cleared[s->at[i].kind] += s->at[i].cleared;
        unknown[s->at[i].kind] += s->at[i].unknown;
    }
    for (unsigned k = HDX_SOFT; code == HDX_OK && k < HDX_STRENGTHS; k++) {
        sum        found = { .group = k };
        const bool is_known = unknown[k] < references[k];
        if (references[k] == 0 || !is_chosen(kinds, (hdx_strength)k))
            continue;
        for (uint64_t i = 0; i < count; i++)
            if (sums[i].group == k)
                found = sums[i];
        const hdx_cell cells[] = { hdx_cell_string(hdx_strength_names[k]),
                                   hdx_cell_uint(references[k]),
                                   hdx_cell_uint(unknown[k]),
                                   hdx_cell_uint(cleared[k]),
                                   is_known ? hdx_cell_uint(found.referents) : hdx_cell_null(),
                                   is_known ? hdx_cell_uint(found.only) : hdx_cell_null(),
                                   is_known ? hdx_cell_uint(s->objects[k]) : hdx_cell_null(),
                                   is_known ? hdx_cell_uint(s->bytes[k]) : hdx_cell_null() };
        code = hdx_table_add(table, cells, err);
    }
    return code;
}

static hdx_code class_rows(hdx_graph *g, sum *sums, uint64_t count, hdx_table *table, hdx_error *err)
{
    hdx_code code = HDX_OK;
    if (count > 1)
        qsort(sums, (size_t)count, sizeof *sums, heaviest_first);
    for (uint64_t i = 0; code == HDX_OK && i < count; i++) {
        const hdx_cell cells[] = { hdx_class_cell(g, (uint32_t)sums[i].group), hdx_cell_uint(sums[i].references),
                                   hdx_cell_uint(sums[i].referents), hdx_cell_uint(sums[i].only),
                                   hdx_cell_uint(sums[i].retained) };
        code = hdx_table_add(table, cells, err);
    }
    return code;
}

static hdx_code sums_of(void *state, int by, hdx_rows **out, hdx_error *err)
{
    referents     *r = state;
    HDX_LIST(sum)  sums = { NULL, 0, 0 };
    hdx_table     *table = NULL;
    const bool     by_kind = by == 0;
    const unsigned kinds = hdx_argument_choices(r->found.arguments, "kind");
    hdx_code       code = hdx_table_in(r->found.ask.q.mem, forms[by].columns, forms[by].column_count, &table, err);
    if (code == HDX_OK && (code = sum_up(r, by_kind, HDX_LIST_REF(&sums), err)) == HDX_OK)
        code = by_kind ? kind_rows(&r->strengths, kinds, sums.at, sums.count, table, err)
                       : class_rows(r->found.ask.g, sums.at, sums.count, table, err);
    if (code == HDX_OK)
        return hdx_table_rows(table, out, err);
    hdx_table_free(table);
    return code;
}

/* ---- the question ---- */

/* Adds a note if soft and weak references alone hold at least a hundredth of the heap. */
static hdx_code add_note(void *state, hdx_rows **rows, hdx_error *err)
{
    const referents *r = state;
    const uint64_t   live = hdx_graph_summary_of(r->found.ask.g)->live_bytes;
    char             line[256], soft[16], weak[16];
    if (r->soft + r->weak == 0 || r->soft + r->weak < live / 100)
        return HDX_OK;
    hdx_human_size(r->soft, soft);
    hdx_human_size(r->weak, weak);
    (void)snprintf(line, sizeof line,
                   "soft references alone hold %s of the heap, weak ones %s\nheapdex index DUMP --view "
                   "strong='-refs:soft,weak', then --view strong:\nthe heap without soft and weak references",
                   soft, weak);
    const hdx_code code = hdx_rows_set_title(*rows, line, err);
    if (code != HDX_OK) {
        hdx_rows_close(*rows);
        *rows = NULL;
    }
    return code;
}

static const hdx_listing listing = { .what = "referents",
                                     .state = sizeof(referents),
                                     .entry = sizeof(held_referent),
                                     .forms = forms,
                                     .sums = sums_of,
                                     .label = LABEL,
                                     .field = FIELD,
                                     .find = referents_find,
                                     .order = by_reach,
                                     .cells = referents_cells,
                                     .beside = add_note,
                                     .nothing = no_referents };

static const hdx_parameter parameters[] = {
    { .name = "kind",
      .kind = HDX_PARAMETER_CHOICES,
      .value = "KINDS",
      .choices = "soft weak final phantom",
      .sentence = "only references of these kinds, separated by commas" },
    { .name = "by",
      .kind = HDX_PARAMETER_CHOICE,
      .value = "KEY",
      .choices = "kind class",
      .sentence = "one row per kind of reference or class of the referents" },
};

const hdx_question hdx_question_referents = {
    .declared = {
        .name = "referents",
        .flags = HDX_ANSWER_LONG | HDX_ANSWER_HEAP | HDX_ANSWER_VALUES,
        .sentence = "objects that soft, weak and phantom references and finalizers hold",
        .more = "Each row is a reference with its referent; referents that are not strongly reachable come first, "
                "because a collection can free them when memory is short (soft) or at any time (weak). --by kind "
                "shows how much of the heap is reachable only through each kind. --kind selects kinds. If soft and "
                "weak references alone hold a hundredth of the heap or more, a notice shows how to see the heap "
                "without them.",
        .examples = { "heapdex referents app.hprof --by kind",
                      "heapdex referents app.hprof --kind soft --where 'reach = soft'" },
        .forms = forms,
        .form_count = HDX_COUNT(forms),
        .parameters = parameters,
        .parameter_count = HDX_COUNT(parameters),
    },
    .listing = &listing,
};
