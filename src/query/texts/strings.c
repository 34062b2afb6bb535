/*
 * strings.c - Strings: all of them, those whose text matches a pattern, or one row for each text.
 *
 * A pattern is matched against arrays while they are read, each array once however many Strings use it. First all
 * Strings are read to find out which array each uses and with which encoding, then the arrays are matched. A part of an
 * array (JDK 5 and 6, Dalvik) is read separately.
 * Cost of matching: two passes over the dump that read only the required records; 5 bits for each object; 8 bytes for
 * each String, 8 more for each that matches; 40 instead for each that uses a part.
 */
#include "query/common/labels.h"
#include "query/common/columns.h"
#include "query/texts/array_contents.h"

#include <inttypes.h>
#include <stdlib.h>

#define LABEL 1u
static const hdx_column columns[] = {
    HDX_COLUMN("address", ADDRESS, NONE, HDX_COLUMN_SUM, "address of the String"),
    HDX_COLUMN("label", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_LABEL | HDX_COLUMN_LATE,
               "text, at most 1,024 characters"),
    HDX_COLUMN("length", UNSIGNED, COUNT, HDX_COLUMN_NULLABLE,
               "number of characters (UTF-16 units); null if the dump lacks the text"),
    HDX_COLUMN("coding", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE,
               "encoding in the array: char[], Latin-1 or UTF-16"),
    HDX_COLUMN("shallow", UNSIGNED, BYTES, HDX_COLUMN_SPARE, "shallow size of the String, without its array"),
    HDX_RETAINED_IF_LIVE_COLUMN(0),
};
static const hdx_column value_columns[] = { HDX_EQUAL_COLUMNS };
static const hdx_column total_members[] = { HDX_EQUAL_TOTALS };
static const hdx_column document[] = { HDX_NESTED(
    "total", OBJECT, HDX_COLUMN_OPTIONAL,
    "totals over all rows, before conditions and limit are applied; only with --by", total_members) };
static const hdx_form   forms[] = {
      { "by", "value", value_columns, HDX_COUNT(value_columns) },
      { NULL, NULL, columns, HDX_COUNT(columns) },
};

/* ---- matching ---- */

#define MOST_TEXT (64u << 20) /* bytes of one text that are matched */
/* replaces text that the dump lacks, so that no pattern matches its place as the end */
#define CUT        "\xe2\x80\xa6"
#define MOST_PARTS (256u << 20) /* units of parts of arrays, in addition to 16 for each byte of the dump */

typedef struct part_seen {
    hdx_id   array, string;
    uint64_t first, units;
} part_seen;

typedef struct whole_seen { /* a String that uses a whole array */
    hdx_id array, string;
} whole_seen;

enum { CHARS, WIDE, BOTH }; /* one unit per element, or per two bytes */

typedef struct matcher { /* of one worker */
    hdx_pattern          pattern;
    hdx_buffer           text[BOTH];
    uint16_t             high[BOTH];
    HDX_LIST(whole_seen) whole[BOTH];
    HDX_LIST(part_seen)  parts;
    HDX_LIST(hdx_id)     found;
    char                 apart[HDX_APART];
} matcher;

typedef struct matching {
    hdx_ask    *ask;
    const char *pattern;
    unsigned    threads;
    uint64_t    words; /* of a bit set of objects */
    hdx_coding  utf16;
    uint64_t   *used[BOTH], *matched[BOTH]; /* arrays, by how Strings read them */
    uint64_t   *any;                        /* used in either way */
    matcher    *workers;
} matching;

static unsigned way_of(hdx_coding coding) { return coding == HDX_UTF16_LE || coding == HDX_UTF16_BE ? WIDE : CHARS; }

static hdx_code see_use(void *context, unsigned n, const hdx_text_at *t, hdx_error *err)
{
    matching *m = context;
    matcher  *w = &m->workers[n];
    if (t->state != HDX_TEXT_THERE)
        return HDX_OK;
    if (t->whole) {
        const unsigned way = way_of(t->coding);
        if (!hdx_list_room(m->ask->q.mem, HDX_LIST_REF(&w->whole[way])))
            return hdx_no_memory(err, "Strings", w->whole[way].count * sizeof(whole_seen));
        w->whole[way].at[w->whole[way].count++] = (whole_seen){ t->array, t->string };
        (void)hdx_bits_set_shared(m->used[way], t->array);
        (void)hdx_bits_set_shared(m->any, t->array);
        return HDX_OK;
    }
    if (!hdx_list_room(m->ask->q.mem, HDX_LIST_REF(&w->parts)))
        return hdx_no_memory(err, "Strings that use a part of their array", w->parts.count * sizeof(part_seen));
    w->parts.at[w->parts.count++] = (part_seen){ t->array, t->string, t->first, t->units };
    return HDX_OK;
}

static hdx_code match_as(matching *m, matcher *w, unsigned way, const hdx_array_part *p, hdx_error *err)
{
    const hdx_coding coding = way == WIDE ? m->utf16 : p->type == 5 ? HDX_CHARS_BE : HDX_LATIN1;
    hdx_buffer      *to = &w->text[way];
    bool             yes;
    if (p->from == 0) {
        hdx_buffer_clear(to);
        hdx_buffer_put(to, "", 0);
        w->high[way] = 0;
    }
    if (to->len < MOST_TEXT)
        hdx_put_units(coding, p->bytes, coding == HDX_LATIN1 ? p->len : p->len / 2, p->last, to, &w->high[way]);
    if (to->failed)
        return hdx_no_memory(err, "the text of a String", to->len);
    if (!p->last)
        return HDX_OK;
    if (p->absent)
        hdx_buffer_text(to, CUT);
    const hdx_text text = { to->at, (uint32_t)(to->len < MOST_TEXT ? to->len : MOST_TEXT) };
    hdx_code       code = hdx_pattern_look(&w->pattern, text, &yes, err);
    if (code == HDX_OK && yes)
        (void)hdx_bits_set_shared(m->matched[way], p->id);
    return code;
}

static hdx_code see_array(void *context, unsigned n, const hdx_array_part *p, hdx_error *err)
{
    matching *m = context;
    hdx_code  code = HDX_OK;
    for (unsigned way = 0; way < BOTH && code == HDX_OK && (!p->absent || p->len > 0); way++)
        if (hdx_bits_test(m->used[way], p->id))
            code = match_as(m, &m->workers[n], way, p, err);
    return code;
}

static hdx_code string_add(matching *m, matcher *w, hdx_id string, hdx_error *err)
{
    if (!hdx_list_room(m->ask->q.mem, HDX_LIST_REF(&w->found)))
        return hdx_no_memory(err, "Strings", w->found.count * sizeof(hdx_id));
    w->found.at[w->found.count++] = string;
    return HDX_OK;
}

static hdx_code add_matching(matching *m, hdx_error *err)
{
    hdx_code code = HDX_OK;
    for (unsigned i = 0; i < m->threads; i++) {
        matcher *w = &m->workers[i];
        for (unsigned way = 0; way < BOTH; way++)
            for (uint64_t k = 0; k < w->whole[way].count && code == HDX_OK; k++)
                if (hdx_bits_test(m->matched[way], w->whole[way].at[k].array))
                    code = string_add(m, w, w->whole[way].at[k].string, err);
    }
    return code;
}

static hdx_code match_part(matching *m, const part_seen *part, bool *yes, hdx_error *err)
{
    char    *text;
    size_t   len;
    bool     whole, is;
    hdx_code code = hdx_graph_string(m->ask->g, part->string, MOST_TEXT / 3, &text, &len, &whole, &is, err);
    *yes = false;
    if (code == HDX_OK && is)
        code = hdx_pattern_look(&m->workers[0].pattern, (hdx_text){ text, (uint32_t)len }, yes, err);
    hdx_text_free(text);
    return code;
}

static int by_place(const void *a, const void *b)
{
    const part_seen *x = a, *y = b;
    if (x->array != y->array)
        return x->array < y->array ? -1 : 1;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return x->units != y->units ? (x->units < y->units ? -1 : 1) : (x->string > y->string) - (x->string < y->string);
}

/*
 * Strings that use the same part are matched once. The total is limited, because many Strings with large parts of one
 * array would take too long.
 */
static hdx_code match_parts(matching *m, hdx_error *err)
{
    const uint64_t most = MOST_PARTS + 16 * hdx_graph_summary_of(m->ask->g)->dump_size;
    uint64_t       units = 0;
    bool           yes = false;
    hdx_code       code = HDX_OK;
    for (unsigned i = 0; i < m->threads && code == HDX_OK; i++) {
        const part_seen *parts = m->workers[i].parts.at;
        const uint64_t   count = m->workers[i].parts.count;
        hdx_sort(m->ask->q.mem, m->workers[i].parts.at, count, sizeof *parts, offsetof(part_seen, array), by_place);
        for (uint64_t k = 0; k < count && code == HDX_OK; k++) {
            if (k == 0 || parts[k].array != parts[k - 1].array || parts[k].first != parts[k - 1].first ||
                parts[k].units != parts[k - 1].units) {
                if ((units += parts[k].units) > most)
                    return hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE,
                                    "Strings that use parts of arrays exceed a total of %" PRIu64 " characters", most);
                code = match_part(m, &parts[k], &yes, err);
            }
            if (code == HDX_OK && yes)
                code = string_add(m, &m->workers[0], parts[k].string, err);
            if (code == HDX_OK)
                code = hdx_ask_check_cancel(m->ask, err);
        }
    }
    return code;
}

/* ---- the two passes ---- */

static hdx_code matching_begin(matching *m, hdx_error *err)
{
    hdx_mem *mem = m->ask->q.mem;
    hdx_code code = hdx_graph_utf16(m->ask->g, &m->utf16, err);
    if (code == HDX_OK && (m->any = hdx_mem_array(mem, m->words, 8)) == NULL)
        code = hdx_no_memory(err, "arrays of Strings", m->words * 8);
    for (unsigned i = 0; i < BOTH && code == HDX_OK; i++) {
        m->used[i] = hdx_mem_array(mem, m->words, 8);
        m->matched[i] = hdx_mem_array(mem, m->words, 8);
        if (m->used[i] == NULL || m->matched[i] == NULL)
            code = hdx_no_memory(err, "arrays of Strings", 4 * m->words * 8);
    }
    if (code == HDX_OK && (m->workers = hdx_mem_array(mem, m->threads, sizeof *m->workers)) == NULL)
        code = hdx_no_memory(err, "matching", m->threads * sizeof *m->workers);
    for (unsigned i = 0; i < m->threads && code == HDX_OK; i++) {
        m->workers[i].text[CHARS] = m->workers[i].text[WIDE] = hdx_buffer_of(mem);
        code = hdx_pattern_open(&m->workers[i].pattern, m->pattern, m->ask->q.progress, mem, err);
    }
    return code;
}

static void matching_end(matching *m)
{
    hdx_mem *mem = m->ask->q.mem;
    for (unsigned i = 0; m->workers != NULL && i < m->threads; i++) {
        hdx_pattern_close(&m->workers[i].pattern);
        hdx_buffer_free(&m->workers[i].text[CHARS]);
        hdx_buffer_free(&m->workers[i].text[WIDE]);
        hdx_list_free(mem, HDX_LIST_REF(&m->workers[i].whole[CHARS]));
        hdx_list_free(mem, HDX_LIST_REF(&m->workers[i].whole[WIDE]));
        hdx_list_free(mem, HDX_LIST_REF(&m->workers[i].parts));
        hdx_list_free(mem, HDX_LIST_REF(&m->workers[i].found));
    }
    hdx_mem_put(mem, m->workers, m->threads * sizeof *m->workers);
    hdx_mem_put(mem, m->any, m->words * 8);
    for (unsigned i = 0; i < BOTH; i++) {
        hdx_mem_put(mem, m->used[i], m->words * 8);
        hdx_mem_put(mem, m->matched[i], m->words * 8);
    }
}

static hdx_code read_twice(matching *m, hdx_error *err)
{
    hdx_graph                *g = m->ask->g;
    hdx_mem                  *mem = m->ask->q.mem;
    const uint64_t            bytes = hdx_graph_summary_of(g)->dump_size;
    const hdx_contents_reader uses = { .context = m, .scope = m->ask->q.scope, .strings = true, .text = see_use };
    const hdx_contents_reader arrays = {
        .context = m, .arrays = HDX_ALL, .types = 1u << 5 | 1u << 8, .only = m->any, .part = see_array
    };
    hdx_ticker tick;
    hdx_ticker_init(&tick, m->ask->q.progress, 2);
    hdx_ticker_step(&tick, "strings", bytes, "bytes");
    hdx_code code = hdx_graph_contents(g, m->threads, &uses, mem, &tick, err);
    hdx_ticker_step(&tick, "texts", bytes, "bytes");
    if (code == HDX_OK)
        code = hdx_graph_contents(g, m->threads, &arrays, mem, &tick, err);
    hdx_ticker_free(&tick);
    if (code == HDX_OK)
        code = add_matching(m, err);
    return code == HDX_OK ? match_parts(m, err) : code;
}

static int by_id(const void *a, const void *b)
{
    const hdx_id *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static hdx_code match(hdx_ask *ask, const char *pattern, hdx_ids *out, hdx_error *err)
{
    matching m = { .ask = ask,
                   .pattern = pattern,
                   .threads = hdx_ask_threads(&ask->q),
                   .words = hdx_bits_words(hdx_graph_objects(ask->g)) };
    hdx_code code = matching_begin(&m, err);
    if (code == HDX_OK)
        code = read_twice(&m, err);
    for (unsigned i = 0; i < m.threads && code == HDX_OK; i++)
        for (uint64_t k = 0; k < m.workers[i].found.count && code == HDX_OK; k++)
            code = hdx_ids_push(out, m.workers[i].found.at[k], err);
    if (code == HDX_OK && out->count > 0)
        qsort(out->at, (size_t)out->count, sizeof *out->at, by_id);
    matching_end(&m);
    return code;
}

/* ---- rows ---- */

typedef struct string_rows {
    hdx_ask   ask;
    bool      chosen; /* `found` has the rows; otherwise they are all instances of these classes */
    hdx_ids   found;
    uint32_t *numbers;
    uint64_t  count, at; /* of classes */
    uint64_t  next;      /* of found */
    hdx_refs  refs;
} string_rows;

static bool next_string(string_rows *r, hdx_id *id)
{
    if (r->chosen) {
        if (r->next == r->found.count)
            return false;
        *id = r->found.at[r->next++];
        return true;
    }
    while (r->count > 0 && !hdx_refs_next(&r->refs, id)) {
        if (++r->at >= r->count)
            return false;
        hdx_graph_instances(r->ask.g, r->numbers[r->at], r->ask.q.scope, &r->refs);
    }
    return r->count > 0;
}

static hdx_code strings_next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    static const char *const codings[] = {
        [HDX_CHARS_BE] = "char[]", [HDX_LATIN1] = "Latin-1", [HDX_UTF16_LE] = "UTF-16", [HDX_UTF16_BE] = "UTF-16"
    };
    string_rows *r = state;
    hdx_id       id;
    hdx_text_at  text;
    hdx_error    mine;
    hdx_code     code = hdx_ask_check_cancel(&r->ask, err);
    (void)arena;
    if (code != HDX_OK)
        return code;
    if (!next_string(r, &id))
        return hdx_ask_end(&r->ask, more, err);
    text.state = HDX_TEXT_ABSENT;
    if (hdx_column_wanted(&r->ask.q, 2) || hdx_column_wanted(&r->ask.q, 3)) {
        code = hdx_label_allow_missing_dump(r->ask.g, hdx_graph_text_at(r->ask.g, id, &text, &mine), &mine, err);
        if (code != HDX_OK)
            return code;
    }
    const bool there = text.state == HDX_TEXT_THERE;
    cells[0] = hdx_id_cell(r->ask.g, id);
    cells[1] = hdx_cell_null();
    cells[2] = there ? hdx_cell_uint(text.units) : hdx_cell_null();
    cells[3] = there ? hdx_cell_string(codings[text.coding]) : hdx_cell_null();
    cells[4] = hdx_cell_uint(hdx_graph_shallow(r->ask.g, id));
    cells[5] = hdx_retained_cell(r->ask.g, id);
    *more = true;
    return HDX_OK;
}

/* Finds the classes of Strings, and the number of Strings in scope. */
static hdx_code choose_classes(string_rows *r, uint64_t *strings, hdx_error *err)
{
    uint32_t         count;
    const hdx_class *classes = hdx_graph_classes(r->ask.g, &count);
    uint64_t         capacity = 0;
    for (uint32_t i = 0; i < count; i++)
        capacity += hdx_class_of_strings(&classes[i]);
    if ((r->numbers = hdx_mem_array(r->ask.q.mem, capacity, sizeof *r->numbers)) == NULL)
        return hdx_no_memory(err, "classes of Strings", capacity * sizeof *r->numbers);
    for (uint32_t i = 0; i < count; i++)
        if (hdx_class_of_strings(&classes[i])) {
            const uint64_t live = classes[i].live_instances, all = classes[i].instances;
            r->numbers[r->count++] = i;
            *strings += r->ask.q.scope == HDX_ALL ? all : r->ask.q.scope == HDX_LIVE ? live : all - live;
        }
    if (r->count > 0)
        hdx_graph_instances(r->ask.g, r->numbers[0], r->ask.q.scope, &r->refs);
    return HDX_OK;
}

static hdx_code list_strings(const hdx_query *q, const char *pattern, hdx_rows **out, hdx_error *err)
{
    hdx_ask  ask;
    uint64_t total = 0;
    hdx_code code = hdx_ask_begin(q, &ask, err);
    if (code != HDX_OK)
        return code;
    string_rows *r = hdx_mem_get(q->mem, sizeof *r);
    if (r == NULL)
        return hdx_no_memory(err, "strings", sizeof *r);
    r->ask = ask;
    r->found = (hdx_ids){ .mem = q->mem };
    r->chosen = pattern != NULL;
    if (pattern == NULL)
        code = choose_classes(r, &total, err);
    else if ((code = match(&r->ask, pattern, &r->found, err)) == HDX_OK ||
             (code == HDX_BAD_DUMP && hdx_graph_lacks_dump(ask.g)))
        total = r->found.count;
    if (code == HDX_BAD_DUMP && hdx_graph_lacks_dump(ask.g))
        code = HDX_OK;
    if (code != HDX_OK)
        return code;
    hdx_rows_maker maker = { columns, HDX_COUNT(columns), r, strings_next, NULL, total };
    code = hdx_rows_make_in(q->mem, &maker, out, err);
    return code == HDX_OK && hdx_column_wanted(q, LABEL) ? hdx_query_labels(q, false, out, err) : code;
}

static const hdx_parameter parameters[] = {
    { .name = "match",
      .kind = HDX_PARAMETER_TEXT,
      .value = "PATTERN",
      .sentence = "whole text, exact or as a glob (* and ?), or a /regular expression/ found anywhere in the text" },
    { .name = "by",
      .kind = HDX_PARAMETER_CHOICE,
      .value = "KEY",
      .choices = "value",
      .excludes = "match",
      .sentence = "one row per text" },
};

static hdx_code open_strings(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    const char *pattern = hdx_argument_text(a, "match");
    *out = NULL;
    if (hdx_argument_choice(a, "by") >= 0)
        return hdx_rows_explain_empty(hdx_equals_ask(q, true, true, false, out, err), out, err,
                                      "the dump has no text of a String");
    const hdx_strip_policy policy = hdx_graph_summary_of(q->graph)->stripping->policy;
    const hdx_code         code = list_strings(q, pattern, out, err);
    return hdx_rows_explain_empty(
        code, out, err,
        pattern == NULL                  ? "no Strings found"
        : hdx_graph_lacks_dump(q->graph) ? "texts are only in the dump, which is not available"
        : policy == HDX_STRIP_REDACTED   ? "no remaining text matches; the others are overwritten"
        : policy == HDX_STRIP_LIMITED    ? "no text in the dump matches, but long texts are cut off"
                                         : "no String has such a text");
}

const hdx_question hdx_question_strings = {
    .declared = {
        .name = "strings",
        .flags = HDX_ANSWER_LONG | HDX_ANSWER_HEAP | HDX_ANSWER_VALUES | HDX_ANSWER_SCOPED,
        .sentence = "the Strings, found by their text, or one row per text",
        .more = "--match compares whole texts with an exact text or a glob such as '*jdbc:*', or searches them for a "
                "/regular expression/, on all processors. --by value counts equal texts; those that waste most come "
                "first, and texts that occur once last.",
        .examples = { "heapdex strings app.hprof --match '/^jdbc:/'", "heapdex strings app.hprof --by value --sort "
                                                                      "objects --limit 5" },
        .forms = forms,
        .form_count = HDX_COUNT(forms),
        .order = "retained",
        .document = document,
        .document_count = HDX_COUNT(document),
        .parameters = parameters,
        .parameter_count = HDX_COUNT(parameters),
    },
    .open = open_strings,
};
