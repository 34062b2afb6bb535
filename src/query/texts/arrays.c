/*
 * arrays.c - primitive arrays that waste memory: constant ones, unused ends, and texts that would fit in one byte per
 * character.
 *
 * Each array counts once, for the first of these kinds that applies:
 *
 *   constant  at least two elements, all equal, and not used by Strings; all elements are wasted
 *   slack     char[], byte[]: elements before the first and after the last character that Strings use; in an array that
 *             no String uses, the zeros at its end
 *   latin1    text with two bytes per character that needs only one
 *
 *   absent    the dump lacks the content (stripped)
 *   none      all others
 *
 * The waste is the difference between the sizes of the array and of a shorter one, which is less than the omitted
 * elements if sizes are rounded. `duplicates` reports equal arrays.
 */
#include "query/common/extras.h"
#include "query/common/columns.h"
#include "query/texts/array_contents.h"

#include <stdlib.h>

enum { CONSTANT, SLACK, LATIN1, NOTHING, ABSENT, KINDS };
static const char *const kind_names[KINDS] = { "constant", "slack", "latin1", "none", "absent" };
#define KIND_WORDS "constant slack latin1" /* the first kinds */

#define WASTE(s) HDX_COLUMN("wasted", UNSIGNED, BYTES, 0, s)
static const hdx_column class_columns[] = {
    HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_CLASS_NAME, "class of the arrays"),
    HDX_COLUMN("waste", TEXT, NONE, 0, "constant, slack, latin1 or none; absent if the dump lacks the content"),
    HDX_COLUMN("objects", UNSIGNED, COUNT, 0, "arrays with this waste"),
    HDX_COLUMN("shallow", UNSIGNED, BYTES, 0, "total size of these arrays"),
    WASTE("bytes that would be freed without the waste"),
};
#define LABEL 2u
static const hdx_column columns[] = {
    HDX_COLUMN("address", ADDRESS, NONE, 0, "address of the array"),
    HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_CLASS_NAME | HDX_COLUMN_NULLABLE, "class of the array"),
    HDX_COLUMN("label", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_LABEL | HDX_COLUMN_LATE,
               "printable content of the array; null if all elements are zero"),
    HDX_COLUMN("length", UNSIGNED, COUNT, 0, "number of elements"),
    HDX_COLUMN("used", UNSIGNED, COUNT, 0, "number of elements that are needed; for latin1, elements of half the size"),
    HDX_COLUMN("shallow", UNSIGNED, BYTES, 0, "size of the array"),
    WASTE("bytes that would be freed without the waste"),
    HDX_RETAINED_IF_LIVE_COLUMN(HDX_COLUMN_SPARE),
};
static const hdx_column total_members[] = {
    HDX_COLUMN("objects", UNSIGNED, COUNT, 0, "primitive arrays"),
    HDX_COLUMN("shallow", UNSIGNED, BYTES, 0, "total size of these arrays"),
    HDX_COLUMN("constant", UNSIGNED, BYTES, 0, "bytes wasted by constant arrays"),
    HDX_COLUMN("slack", UNSIGNED, BYTES, 0, "bytes wasted by unused elements"),
    HDX_COLUMN("latin1", UNSIGNED, BYTES, 0, "bytes wasted by characters of two bytes where one would suffice"),
    HDX_COLUMN("absent", UNSIGNED, COUNT, 0, "arrays whose content is missing from the dump"),
};
static const hdx_column document[] = { HDX_NESTED(
    "total", OBJECT, 0, "totals over all rows, before conditions and limit are applied", total_members) };
static const hdx_form   forms[] = {
      { "waste", "constant", columns, HDX_COUNT(columns) },
      { "waste", "slack", columns, HDX_COUNT(columns) },
      { "waste", "latin1", columns, HDX_COUNT(columns) },
      { NULL, NULL, class_columns, HDX_COUNT(class_columns) },
};

/* ---- one array ---- */

typedef struct judged {
    unsigned kind;
    uint64_t length, used, shallow, wasted;
    uint32_t class;
} judged;

/* Returns the number of elements from the first to the last that some String uses. */
static uint64_t used_range(const hdx_array_contents *c, hdx_id array)
{
    const hdx_part_of *p = c->parts;
    uint64_t           first = UINT64_MAX, end = 0;
    for (uint64_t i = hdx_lower_bound(HDX_KEYS(p, c->part_count, array), array);
         i < c->part_count && p[i].array == array; i++) {
        if (p[i].units == 0)
            continue;
        first = p[i].first < first ? p[i].first : first;
        end = p[i].first + p[i].units > end ? p[i].first + p[i].units : end;
    }
    return end == 0 ? 0 : end - first;
}

static judged judge(const hdx_array_contents *c, hdx_id id, uint64_t place)
{
    const hdx_class *class = hdx_graph_class(c->ask.g, hdx_graph_class_of(c->ask.g, id));
    const unsigned flags = c->flags[place];
    const bool     text = (flags & (HDX_ARRAY_TEXT | HDX_ARRAY_PARTLY)) != 0;
    judged         j = { .kind = NOTHING, .length = hdx_graph_length(c->ask.g, id), .class = HDX_NO_CLASS };
    uint8_t        type;
    j.used = j.length;
    j.shallow = hdx_graph_shallow(c->ask.g, id);
    if (class == NULL)
        return j;
    j.class = class->number;
    if ((flags & HDX_ARRAY_ABSENT) != 0) {
        j.kind = ABSENT;
        return j;
    }
    type = class->element_type;
    if (!text && (flags & HDX_ARRAY_CONSTANT) != 0) {
        j.kind = CONSTANT;
        j.used = 0;
    } else if ((flags & HDX_ARRAY_TEXT) == 0 && (type == 5 || type == 8)) {
        j.kind = SLACK;
        j.used = text ? used_range(c, id) : j.length - c->zeros[place];
    }
    uint64_t needs = hdx_graph_size_of_array(c->ask.g, type, j.used);
    if ((j.kind == NOTHING || needs >= j.shallow) && (flags & HDX_ARRAY_NARROW) != 0 &&
        (type == 5 ? text : (flags & HDX_ARRAY_TEXT) == HDX_ARRAY_UTF16)) {
        j.kind = LATIN1;
        j.used = type == 5 ? j.length : j.length / 2;
        needs = hdx_graph_size_of_array(c->ask.g, 8, j.used);
    }
    if (j.kind == NOTHING || needs >= j.shallow)
        j.kind = NOTHING;
    else
        j.wasted = j.shallow - needs;
    return j;
}

/* Finds the next array in scope from *id. */
static bool next_array(const hdx_array_contents *c, hdx_id *id, uint64_t *place)
{
    while (*id < c->objects) {
        const uint64_t left = c->bits[*id >> 6] >> (*id & 63);
        if (left == 0) {
            *id = (*id | 63) + 1;
            continue;
        }
        *id += (uint64_t)__builtin_ctzll(left);
        if (hdx_ask_wants(&c->ask, *id))
            return hdx_array_contents_place(c, *id, place);
        ++*id;
    }
    return false;
}

/* ---- rows ---- */

typedef struct sums {
    uint64_t objects, shallow, wasted;
} sums;

typedef struct array_rows {
    hdx_array_contents c;
    unsigned           kind;
    hdx_id             next;
} array_rows;

static hdx_code arrays_next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    array_rows *r = state;
    judged      j = { .kind = KINDS };
    hdx_id      id = HDX_NO_ID;
    uint64_t    place;
    hdx_code    code = HDX_OK;
    (void)arena;
    while (j.kind != r->kind && code == HDX_OK) {
        if ((code = hdx_ask_check_cancel(&r->c.ask, err)) != HDX_OK)
            return code;
        if (!next_array(&r->c, &r->next, &place))
            return hdx_ask_end(&r->c.ask, more, err);
        id = r->next++;
        j = judge(&r->c, id, place);
    }
    cells[0] = hdx_id_cell(r->c.ask.g, id);
    cells[1] = hdx_class_cell(r->c.ask.g, j.class);
    cells[2] = hdx_cell_null();
    cells[3] = hdx_cell_uint(j.length);
    cells[4] = hdx_cell_uint(j.used);
    cells[5] = hdx_cell_uint(j.shallow);
    cells[6] = hdx_cell_uint(j.wasted);
    cells[7] = hdx_retained_cell(r->c.ask.g, id);
    *more = true;
    return HDX_OK;
}

typedef struct counted {
    sums    *of; /* by class number and kind */
    uint32_t classes;
    uint64_t objects, shallow, absent, wasted[KINDS];
} counted;

static hdx_code count(hdx_array_contents *c, counted *n, hdx_error *err)
{
    hdx_id   id = 0;
    uint64_t place;
    hdx_code code = HDX_OK;
    for (; code == HDX_OK && next_array(c, &id, &place); id++) {
        const judged j = judge(c, id, place);
        n->objects++;
        n->shallow += j.shallow;
        n->absent += j.kind == ABSENT;
        n->wasted[j.kind] += j.wasted;
        if (j.class < n->classes) {
            sums *s = &n->of[j.class * (uint64_t)KINDS + j.kind];
            s->objects++;
            s->shallow += j.shallow;
            s->wasted += j.wasted;
        }
        code = hdx_ask_check_cancel(&c->ask, err);
    }
    return code;
}

typedef struct line {
    uint64_t place; /* index in counted.of */
    uint64_t wasted;
} line;

static int by_wasted(const void *a, const void *b)
{
    const line *x = a, *y = b;
    if (x->wasted != y->wasted)
        return x->wasted > y->wasted ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static hdx_code summary(hdx_array_contents *c, const counted *n, hdx_rows **out, hdx_error *err)
{
    hdx_mem       *mem = c->ask.q.mem;
    hdx_table     *t = NULL;
    HDX_LIST(line) lines = { NULL, 0, 0 };
    hdx_code       code = hdx_table_in(mem, class_columns, HDX_COUNT(class_columns), &t, err);
    for (uint64_t i = 0; i < n->classes * (uint64_t)KINDS && code == HDX_OK; i++)
        if (n->of[i].objects > 0) {
            if (!hdx_list_room(mem, HDX_LIST_REF(&lines)))
                code = hdx_no_memory(err, "classes of arrays", lines.count * sizeof(line));
            else
                lines.at[lines.count++] = (line){ i, n->of[i].wasted };
        }
    if (lines.count > 0)
        qsort(lines.at, (size_t)lines.count, sizeof(line), by_wasted);
    for (uint64_t i = 0; i < lines.count && code == HDX_OK; i++) {
        const sums    *s = &n->of[lines.at[i].place];
        const hdx_cell cells[] = { hdx_class_cell(c->ask.g, (uint32_t)(lines.at[i].place / KINDS)),
                                   hdx_cell_string(kind_names[lines.at[i].place % KINDS]), hdx_cell_uint(s->objects),
                                   hdx_cell_uint(s->shallow), hdx_cell_uint(s->wasted) };
        code = hdx_table_add(t, cells, err);
    }
    if (code == HDX_OK)
        return hdx_table_rows(t, out, err);
    hdx_table_free(t);
    return code;
}

static hdx_code list_arrays(const hdx_array_contents *c, unsigned kind, uint64_t total, hdx_rows **out, hdx_error *err)
{
    array_rows *r = hdx_mem_get(c->ask.q.mem, sizeof *r);
    if (r == NULL)
        return hdx_no_memory(err, "arrays", sizeof *r);
    r->c = *c;
    r->kind = kind;
    hdx_rows_maker maker = { columns, HDX_COUNT(columns), r, arrays_next, NULL, total };
    return hdx_rows_make_in(r->c.ask.q.mem, &maker, out, err);
}

static hdx_code add_total(hdx_code code, const counted *n, hdx_rows **out, hdx_error *err)
{
    const uint64_t numbers[HDX_COUNT(total_members)] = { n->objects,       n->shallow,        n->wasted[CONSTANT],
                                                         n->wasted[SLACK], n->wasted[LATIN1], n->absent };
    return hdx_extras_add_numbers(code, out, "total", total_members, HDX_COUNT(total_members), numbers, err);
}

static hdx_code ask_arrays(const hdx_query *q, int kind, hdx_rows **out, hdx_error *err)
{
    hdx_array_contents c;
    counted            n = { .of = NULL };
    uint64_t           total = 0;
    hdx_code           code = hdx_array_contents_open(q, HDX_ALL_TYPES, true, &c, err);
    if (code != HDX_OK || (code = hdx_array_contents_read(&c, false, NULL, NULL, err)) != HDX_OK)
        return code;
    (void)hdx_graph_classes(q->graph, &n.classes);
    if ((n.of = hdx_mem_array(q->mem, n.classes * (uint64_t)KINDS, sizeof *n.of)) == NULL)
        return hdx_no_memory(err, "classes of arrays", n.classes * (uint64_t)KINDS * sizeof *n.of);
    if ((code = count(&c, &n, err)) != HDX_OK)
        return code;
    for (uint32_t i = 0; kind >= 0 && i < n.classes; i++)
        total += n.of[i * (uint64_t)KINDS + (unsigned)kind].objects;
    code = kind < 0 ? summary(&c, &n, out, err) : list_arrays(&c, (unsigned)kind, total, out, err);
    code = add_total(code, &n, out, err);
    return code == HDX_OK && kind >= 0 && hdx_column_wanted(q, LABEL) ? hdx_query_labels(q, false, out, err) : code;
}

static const hdx_parameter parameters[] = {
    { .name = "waste",
      .kind = HDX_PARAMETER_CHOICE,
      .value = "KIND",
      .choices = KIND_WORDS,
      .sentence = "show single arrays with this kind of waste" },
};

static hdx_code open_arrays(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    *out = NULL;
    const hdx_code code = ask_arrays(q, hdx_argument_choice(a, "waste"), out, err);
    return hdx_rows_explain_empty(code, out, err, "no primitive array has this kind of waste");
}

const hdx_question hdx_question_arrays = {
    .declared = {
        .name = "arrays",
        .flags = HDX_ANSWER_LONG | HDX_ANSWER_HEAP | HDX_ANSWER_VALUES | HDX_ANSWER_SCOPED,
        .sentence = "waste in primitive arrays: constant content, slack, text that is wider than necessary",
        .more = "constant: the array has at least two elements and all are equal. slack: the part of a char[] that no "
                "String uses, or zeros at the end of a char[] or byte[]. latin1: UTF-16 text that Latin-1 could store "
                "in half the size. An array counts for the first kind that applies. The question duplicates reports "
                "equal arrays.",
        .examples = { "heapdex arrays app.hprof", "heapdex arrays app.hprof --waste slack --sort wasted --limit 5" },
        .forms = forms,
        .form_count = HDX_COUNT(forms),
        .document = document,
        .document_count = HDX_COUNT(document),
        .parameters = parameters,
        .parameter_count = HDX_COUNT(parameters),
    },
    .open = open_arrays,
};
