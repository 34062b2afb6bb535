/*
 * find.c - one question over all names: classes, packages, static fields, threads, class loaders and properties, then
 * Strings by their text.
 *
 *     kind    name                       count  shallow  retained  address
 *     class   bookshop.Bookshop$Session    213   5.0 KB         -  0xfeb18f70
 *     static  bookshop.Bookshop.SESSIONS     -        -    1.9 MB  0xfeb18ea8
 *     string  "session-17"                   -     24 B      80 B  0xfeb2a010
 *
 * A text is found anywhere in a name, whatever the case of its ASCII letters. Each kind has its first few rows, in the
 * order of the question about it; classes and static fields are in the order of the table of classes, which begins with
 * those that have most instances.
 *
 * Strings come last, because their texts are in the dump only. Their arrays are read in the order of the file, and the
 * index knows which Strings refer to an array, so the search ends with the String that fills the limit. It uses one
 * thread, so that the first Strings are always the same ones. A String that shows a part of an array (JDK 5 and 6,
 * Dalvik) is looked at if the whole array matches.
 *
 * Cost: names are in the index; of the static fields, values are read for those shown. Without a match all arrays of
 * bytes and characters are read once.
 */
#include "graph/graph.h"
#include "query/common/extras.h"
#include "query/common/labels.h"
#include "query/common/listing.h"
#include "query/questions.h"

#include <inttypes.h>
#include <stdio.h>

enum { KIND, NAME, COUNT, SHALLOW, RETAINED, ADDRESS, COLUMNS };
static const hdx_column columns[COLUMNS] = {
    [KIND] =
        HDX_COLUMN("kind", TEXT, NONE, HDX_COLUMN_FEW, "class, package, static, thread, loader, property or string"),
    [NAME] = HDX_COLUMN("name", TEXT, NONE, 0,
                        "the name; CLASS.FIELD of a static field, KEY=VALUE of a property, text of a String"),
    [COUNT] = HDX_COLUMN("count", UNSIGNED, COUNT, HDX_COLUMN_NULLABLE,
                         "instances of a class or package, classes of a class loader; null for others"),
    [SHALLOW] = HDX_COLUMN("shallow", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE,
                           "shallow size of these instances, or of the object"),
    [RETAINED] = HDX_COLUMN("retained", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE,
                            "retained size of the object; null for classes and packages"),
    [ADDRESS] = HDX_COLUMN("address", ADDRESS, NONE, HDX_COLUMN_NULLABLE,
                           "the class object, thread, class loader or String, or the value of a static or property"),
};
static const hdx_form form = { NULL, NULL, columns, COLUMNS };

enum { CLASS, PACKAGE, STATIC, THREAD, LOADER, PROPERTY, STRING, KINDS };
static const char *const kind_names[KINDS] = { "class", "package", "static", "thread", "loader", "property", "string" };
static const char *const kind_plurals[KINDS] = { "classes",       "packages",   "static fields", "threads",
                                                 "class loaders", "properties", "Strings" };

static const hdx_column kind_members[] = {
    HDX_COLUMN("kind", TEXT, NONE, 0, "kind of the rows"),
    HDX_COLUMN("rows", UNSIGNED, COUNT, 0, "rows of this kind before conditions are applied"),
    HDX_COLUMN("more", BOOL, NONE, HDX_COLUMN_NULLABLE, "true if --limit omits others; null if it was not searched"),
    HDX_COLUMN("matches", UNSIGNED, COUNT, HDX_COLUMN_NULLABLE, "number of all; null if they were not counted"),
    HDX_COLUMN("note", TEXT, NONE, HDX_COLUMN_NULLABLE, "why it was not searched, or where all of them are"),
};
static const hdx_column document[] = { HDX_NESTED("kinds", LIST, 0, "what was searched, and what the rows omit",
                                                  kind_members) };

typedef struct named {
    unsigned kind;
    bool     has_count, has_shallow, has_retained, has_address;
    uint64_t count, shallow, retained;
    hdx_addr address;
    hdx_text name;
} named;

typedef struct names {
    hdx_found   found;
    const char *text;
    size_t      len;
    bool        regex; /* `pattern` decides */
    hdx_pattern pattern;
    uint64_t    most; /* rows of each kind */
    uint64_t    rows[KINDS], matches[KINDS];
    bool        more;   /* of STRING: there may be others */
    const char *unread; /* why Strings were not searched; NULL: they were */
    hdx_arena   arena;  /* names that are put together */
    hdx_buffer  name;   /* the one that is being put together */
    /* of the search in arrays */
    hdx_coding utf16;
    hdx_buffer content[2]; /* of the array, read as Latin-1 or char[], and as UTF-16 */
    uint16_t   high[2];
    bool       skips;  /* the array has several parts and no String */
    uint64_t   budget; /* bytes of Strings that may still be read */
} names;

/* ---- matching ---- */

static unsigned char lower(char c) { return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); }

static bool contains(const names *f, hdx_text name)
{
    const unsigned char first = lower(f->text[0]);
    for (size_t i = 0; i + f->len <= name.len; i++) {
        size_t n = 0;
        if (lower(name.at[i]) != first)
            continue;
        while (n < f->len && lower(name.at[i + n]) == lower(f->text[n]))
            n++;
        if (n == f->len)
            return true;
    }
    return false;
}

static hdx_code matches(names *f, hdx_text name, bool *yes, hdx_error *err)
{
    if (f->regex)
        return hdx_pattern_look(&f->pattern, name, yes, err);
    *yes = contains(f, name);
    return HDX_OK;
}

static bool has_room(const names *f, unsigned kind) { return f->most == 0 || f->rows[kind] < f->most; }

static hdx_code add(names *f, const named *row, hdx_error *err)
{
    f->rows[row->kind]++;
    return hdx_found_add(&f->found, row, err);
}

static hdx_code copy_of(names *f, hdx_text text, hdx_text *out, hdx_error *err)
{
    const char *at = hdx_arena_copy(&f->arena, text.at, text.len);
    *out = (hdx_text){ at, text.len };
    return at == NULL ? hdx_no_memory(err, "names", text.len) : HDX_OK;
}

/* ---- classes and static fields ---- */

static hdx_code find_classes(names *f, hdx_error *err)
{
    uint32_t         count = 0;
    const hdx_class *classes = hdx_graph_classes(f->found.ask.g, &count);
    hdx_code         code = HDX_OK;
    for (uint32_t i = 0; code == HDX_OK && i < count; i++) {
        bool yes = false;
        if ((code = matches(f, classes[i].name, &yes, err)) != HDX_OK || !yes)
            continue;
        f->matches[CLASS]++;
        const named row = { .kind = CLASS,
                            .has_count = true,
                            .has_shallow = true,
                            .has_address = classes[i].id != HDX_NO_ID,
                            .count = classes[i].live_instances,
                            .shallow = classes[i].live_bytes,
                            .address = classes[i].address,
                            .name = classes[i].name };
        if (has_room(f, CLASS))
            code = add(f, &row, err);
        if (code == HDX_OK)
            code = hdx_ask_check_cancel(&f->found.ask, err);
    }
    return code;
}

/* Sets the object to which a static field refers; none for other types, null, and without the dump. */
static hdx_code read_static(names *f, const hdx_class *c, uint32_t place, named *row, hdx_error *err)
{
    hdx_graph *g = f->found.ask.g;
    hdx_values v = { 0 };
    hdx_error  mine;
    hdx_id     to;
    if (c->id == HDX_NO_ID || c->statics[place].type != 2)
        return HDX_OK;
    const hdx_code code = hdx_graph_statics(g, c->id, &v, &mine);
    if (code == HDX_OK && place < v.count && v.at[place].value.type == 2 && !v.at[place].value.absent &&
        hdx_graph_find(g, v.at[place].value.as.address, &to) && v.at[place].value.as.address != 0) {
        row->has_address = row->has_shallow = true;
        row->address = v.at[place].value.as.address;
        row->shallow = hdx_graph_shallow(g, to);
        row->has_retained = hdx_graph_live(g, to);
        row->retained = hdx_graph_retained(g, to);
    }
    hdx_values_free(&v);
    return hdx_label_allow_missing_dump(g, code, &mine, err);
}

static hdx_code find_static(names *f, const hdx_class *c, uint32_t place, hdx_error *err)
{
    bool  yes = false;
    named row = { .kind = STATIC };
    hdx_buffer_clear(&f->name);
    hdx_buffer_put(&f->name, c->name.at, c->name.len);
    hdx_buffer_text(&f->name, ".");
    hdx_buffer_put(&f->name, c->statics[place].name.at, c->statics[place].name.len);
    if (f->name.failed)
        return hdx_no_memory(err, "names", f->name.len);
    hdx_code code = matches(f, (hdx_text){ f->name.at, (uint32_t)f->name.len }, &yes, err);
    if (code != HDX_OK || !yes)
        return code;
    f->matches[STATIC]++;
    if (!has_room(f, STATIC))
        return HDX_OK;
    code = copy_of(f, (hdx_text){ f->name.at, (uint32_t)f->name.len }, &row.name, err);
    if (code == HDX_OK)
        code = read_static(f, c, place, &row, err);
    return code == HDX_OK ? add(f, &row, err) : code;
}

static hdx_code find_statics(names *f, hdx_error *err)
{
    uint32_t         count = 0;
    const hdx_class *classes = hdx_graph_classes(f->found.ask.g, &count);
    hdx_code         code = HDX_OK;
    for (uint32_t i = 0; code == HDX_OK && i < count; i++)
        for (uint32_t k = 0; code == HDX_OK && k < classes[i].static_count; k++)
            if ((code = find_static(f, &classes[i], k, err)) == HDX_OK)
                code = hdx_ask_check_cancel(&f->found.ask, err);
    return code;
}

/* ---- rows of other questions ---- */

typedef struct source {
    unsigned            kind;
    const hdx_question *question;
    hdx_argument        argument;       /* name NULL: none */
    const char         *first, *second; /* columns of the name; second NULL: it is one column */
    const char         *between;
    const char         *count, *shallow, *retained, *address; /* columns; NULL: none */
} source;

static const source sources[] = {
    { PACKAGE, &hdx_question_histogram, { "by", "package" }, "package", NULL, NULL, "objects", "shallow", NULL, NULL },
    { THREAD, &hdx_question_threads, { NULL, NULL }, "name", NULL, NULL, NULL, "shallow", "retained", "address" },
    { LOADER, &hdx_question_loaders, { NULL, NULL }, "class", "name", " ", "classes", NULL, "retained", "address" },
    { PROPERTY, &hdx_question_properties, { NULL, NULL }, "key", "value", "=", NULL, NULL, NULL, "address" },
};

static const hdx_cell *cell_of(const hdx_column *of, unsigned count, const hdx_cell *row, const char *name)
{
    static const hdx_cell none = { .kind = HDX_CELL_NULL };
    for (unsigned i = 0; name != NULL && i < count; i++)
        if (strcmp(of[i].name, name) == 0)
            return &row[i];
    return &none;
}

static void put_name(names *f, const hdx_cell *cell, const char *between)
{
    if (cell->kind != HDX_CELL_TEXT)
        return;
    hdx_buffer_text(&f->name, f->name.len > 0 && between != NULL ? between : "");
    hdx_buffer_put(&f->name, cell->as.text.at, cell->as.text.len);
}

static void take_number(const hdx_cell *cell, bool *has, uint64_t *out)
{
    *has = cell->kind == HDX_CELL_UINT;
    *out = *has ? cell->as.natural : 0;
}

static hdx_code find_row(names *f, const source *s, const hdx_column *of, unsigned count, const hdx_cell *row,
                         hdx_error *err)
{
    bool  yes = false;
    named found = { .kind = s->kind };
    hdx_buffer_clear(&f->name);
    put_name(f, cell_of(of, count, row, s->first), NULL);
    put_name(f, cell_of(of, count, row, s->second), s->between);
    if (f->name.failed)
        return hdx_no_memory(err, "names", f->name.len);
    if (f->name.len == 0)
        return HDX_OK;
    const hdx_text text = { f->name.at, (uint32_t)hdx_least(f->name.len, UINT32_MAX) };
    hdx_code       code = matches(f, text, &yes, err);
    if (code != HDX_OK || !yes)
        return code;
    f->matches[s->kind]++;
    if (!has_room(f, s->kind) || (code = copy_of(f, text, &found.name, err)) != HDX_OK)
        return code;
    const hdx_cell *address = cell_of(of, count, row, s->address);
    take_number(cell_of(of, count, row, s->count), &found.has_count, &found.count);
    take_number(cell_of(of, count, row, s->shallow), &found.has_shallow, &found.shallow);
    take_number(cell_of(of, count, row, s->retained), &found.has_retained, &found.retained);
    found.has_address = address->kind == HDX_CELL_ADDRESS;
    found.address = found.has_address ? address->as.address : 0;
    return add(f, &found, err);
}

static hdx_code find_rows(names *f, const source *s, hdx_error *err)
{
    const hdx_arguments a = { &s->question->declared, &s->argument, s->argument.name == NULL ? 0 : 1 };
    hdx_query           q = f->found.ask.q;
    hdx_rows           *rows = NULL;
    const hdx_cell     *row;
    unsigned            count;
    q.wanted = (hdx_wanted){ 0 };
    q.notice = NULL;
    hdx_code code = hdx_question_open(s->question, &q, &a, &rows, err);
    if (code != HDX_OK)
        return code;
    const hdx_column *of = hdx_rows_columns(rows, &count);
    while (code == HDX_OK && hdx_rows_next(rows, &row))
        if ((code = find_row(f, s, of, count, row, err)) == HDX_OK)
            code = hdx_ask_check_cancel(&f->found.ask, err);
    if (code == HDX_OK)
        code = hdx_rows_end(rows, err);
    hdx_rows_close(rows);
    return code;
}

/* ---- Strings ---- */

enum { CHARS, WIDE };               /* one unit per element, or per two bytes */
#define MOST_TEXT   (64u << 20)     /* bytes of an array that are searched */
#define MOST_STRING (MOST_TEXT / 3) /* units of a String */
#define MOST_READ   (256u << 20)    /* bytes of Strings that are read, in addition to 16 for each byte of the dump */
#define ENOUGH      HDX_CANCELLED   /* ends the search */

static bool is_string(hdx_graph *g, hdx_id id)
{
    const hdx_class *c = hdx_graph_class(g, hdx_graph_class_of(g, id));
    return c != NULL && hdx_graph_kind(g, id) == HDX_INSTANCE && hdx_class_of_strings(c);
}

static bool has_string(names *f, hdx_id array)
{
    hdx_refs refs;
    hdx_id   id;
    hdx_graph_inbound(f->found.ask.g, array, HDX_LIVE, &refs);
    while (hdx_refs_next(&refs, &id))
        if (is_string(f->found.ask.g, id))
            return true;
    return false;
}

/* Adds a String if its own text matches. */
static hdx_code look_at_string(names *f, hdx_id id, hdx_error *err)
{
    hdx_graph *g = f->found.ask.g;
    bool       whole, is, yes = false;
    named      row = { .kind = STRING, .has_shallow = true, .has_retained = true, .has_address = true };
    hdx_cell   label;
    hdx_buffer_clear(&f->name);
    hdx_code code = hdx_graph_put_string(g, id, MOST_STRING, &f->name, &whole, &is, err);
    if (code != HDX_OK || !is)
        return code;
    if (f->name.failed)
        return hdx_no_memory(err, "the text of a String", f->name.len);
    const hdx_text text = { f->name.len > 0 ? f->name.at : "", (uint32_t)f->name.len };
    f->budget -= hdx_least(f->budget, text.len);
    if ((code = matches(f, text, &yes, err)) != HDX_OK || !yes)
        return code;
    if (!has_room(f, STRING))
        return f->more = true, ENOUGH;
    if ((code = hdx_label_cell(&f->found.ask.q, id, &f->arena, &label, err)) != HDX_OK)
        return code;
    row.name = label.kind == HDX_CELL_TEXT ? label.as.text : (hdx_text){ "", 0 };
    row.address = hdx_graph_address(g, id);
    row.shallow = hdx_graph_shallow(g, id);
    row.retained = hdx_graph_retained(g, id);
    return add(f, &row, err);
}

/* Looks at the Strings of an array that matches. */
static hdx_code look_at_referrers(names *f, hdx_id array, hdx_error *err)
{
    hdx_refs refs;
    hdx_id   id;
    hdx_code code = HDX_OK;
    hdx_graph_inbound(f->found.ask.g, array, HDX_LIVE, &refs);
    while (code == HDX_OK && hdx_refs_next(&refs, &id))
        if (is_string(f->found.ask.g, id)) {
            if (f->budget == 0) /* many Strings with large parts of one array would take too long */
                return f->more = true, ENOUGH;
            code = look_at_string(f, id, err);
            if (code == HDX_OK)
                code = hdx_ask_check_cancel(&f->found.ask, err);
        }
    return code;
}

static void put_part(names *f, unsigned way, const hdx_array_part *p)
{
    const hdx_coding coding = way == WIDE ? f->utf16 : p->type == 5 ? HDX_CHARS_BE : HDX_LATIN1;
    if (f->content[way].len < MOST_TEXT)
        hdx_put_units(coding, p->bytes, coding == HDX_LATIN1 ? p->len : p->len / 2, p->last, &f->content[way],
                      &f->high[way]);
}

static hdx_code see_array(void *context, unsigned worker, const hdx_array_part *p, hdx_error *err)
{
    names         *f = context;
    const unsigned ways = p->type == 5 ? WIDE : WIDE + 1; /* char[] is read in one way */
    bool           yes = false;
    hdx_code       code = HDX_OK;
    (void)worker;
    if (p->from == 0) {
        f->skips = !p->last && !has_string(f, p->id);
        for (unsigned way = CHARS; way <= WIDE; way++) {
            hdx_buffer_clear(&f->content[way]);
            f->high[way] = 0;
        }
    }
    if (f->skips || (p->absent && p->len == 0))
        return HDX_OK;
    for (unsigned way = CHARS; way < ways; way++)
        put_part(f, way, p);
    for (unsigned way = CHARS; code == HDX_OK && p->last && !yes && way < ways; way++) {
        if (f->content[way].failed)
            return hdx_no_memory(err, "the text of a String", f->content[way].len);
        if (f->content[way].len > 0)
            code = matches(f, (hdx_text){ f->content[way].at, (uint32_t)f->content[way].len }, &yes, err);
    }
    return code == HDX_OK && yes ? look_at_referrers(f, p->id, err) : code;
}

static hdx_code find_strings(names *f, hdx_error *err)
{
    hdx_graph                *g = f->found.ask.g;
    const uint64_t            bytes = hdx_graph_summary_of(g)->dump_size;
    const hdx_contents_reader reader = {
        .context = f, .arrays = HDX_LIVE, .types = 1u << 5 | 1u << 8, .part = see_array
    };
    hdx_ticker tick;
    hdx_error  mine = { .offset = HDX_NOWHERE };
    hdx_code   code = hdx_graph_utf16(g, &f->utf16, &mine);
    f->budget = MOST_READ + 16 * bytes;
    hdx_ticker_init(&tick, f->found.ask.q.progress, 1);
    hdx_ticker_step(&tick, "texts", bytes, "bytes");
    if (code == HDX_OK)
        code = hdx_graph_contents(g, 1, &reader, f->found.ask.q.mem, &tick, &mine);
    hdx_ticker_free(&tick);
    if (code == ENOUGH && f->more)
        return HDX_OK;
    if (code == HDX_BAD_DUMP && hdx_graph_lacks_dump(g)) {
        f->unread = "Strings were not searched: their texts are only in the dump, which is not available";
        return HDX_OK;
    }
    if (code != HDX_OK && err != NULL)
        *err = mine;
    return code;
}

/* ---- the question ---- */

static hdx_code find(void *state, hdx_error *err)
{
    names   *f = state;
    hdx_mem *mem = f->found.ask.q.mem;
    f->text = hdx_argument_text(f->found.arguments, "text");
    f->len = strlen(f->text);
    f->most = hdx_argument_number(f->found.arguments, "limit");
    f->regex = f->len >= 3 && f->text[0] == '/' && f->text[f->len - 1] == '/';
    f->arena = hdx_arena_of(mem);
    f->name = f->content[CHARS] = f->content[WIDE] = hdx_buffer_of(mem);
    if (f->len == 0)
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "the text to find is empty");
    hdx_code code = f->regex ? hdx_pattern_open(&f->pattern, f->text, f->found.ask.q.progress, mem, err) : HDX_OK;
    if (code == HDX_OK)
        code = find_classes(f, err);
    for (unsigned i = 0; code == HDX_OK && i < HDX_COUNT(sources); i++) {
        if (sources[i].kind > STATIC && i > 0 && sources[i - 1].kind < STATIC)
            code = find_statics(f, err);
        if (code == HDX_OK)
            code = find_rows(f, &sources[i], err);
    }
    return code == HDX_OK ? find_strings(f, err) : code;
}

static hdx_code name_cells(void *state, const void *entry, hdx_arena *arena, hdx_cell *cells, hdx_error *err)
{
    const named *n = entry;
    (void)state;
    (void)arena;
    (void)err;
    cells[KIND] = hdx_cell_string(kind_names[n->kind]);
    cells[NAME] = hdx_cell_text(n->name);
    cells[COUNT] = n->has_count ? hdx_cell_uint(n->count) : hdx_cell_null();
    cells[SHALLOW] = n->has_shallow ? hdx_cell_uint(n->shallow) : hdx_cell_null();
    cells[RETAINED] = n->has_retained ? hdx_cell_uint(n->retained) : hdx_cell_null();
    cells[ADDRESS] = n->has_address ? hdx_cell_address(n->address) : hdx_cell_null();
    return HDX_OK;
}

/* Writes the call that lists all Strings with the text: "strings --match '/(?i)a\.b/'". */
static void put_strings_call(const names *f, hdx_buffer *b)
{
    hdx_buffer_text(b, "strings --match '");
    hdx_buffer_text(b, f->regex ? f->text : "/(?i)");
    for (size_t i = 0; !f->regex && i < f->len; i++) {
        const unsigned char c = (unsigned char)f->text[i];
        const bool plain = c >= 0x80 || (lower((char)c) >= 'a' && lower((char)c) <= 'z') || (c >= '0' && c <= '9');
        hdx_buffer_text(b, plain || c == ' ' || c == '_' ? "" : "\\");
        hdx_buffer_put(b, &f->text[i], 1);
    }
    hdx_buffer_text(b, f->regex ? "'" : "/'");
}

static bool is_cut(const names *f, unsigned kind)
{
    return kind == STRING ? f->more : f->matches[kind] > f->rows[kind];
}

/* "More match: 31 classes, 5 packages, Strings (see strings --match ...); --limit N shows more". */
static hdx_code add_title(const names *f, hdx_rows *rows, hdx_error *err)
{
    hdx_buffer  b = hdx_buffer_of(NULL);
    const char *between = "More match than are shown: ";
    for (unsigned k = 0; k < KINDS; k++) {
        if (!is_cut(f, k))
            continue;
        hdx_buffer_text(&b, between);
        if (k != STRING)
            hdx_buffer_format(&b, "%" PRIu64 " ", f->matches[k]);
        hdx_buffer_text(&b, kind_plurals[k]);
        if (k == STRING) {
            hdx_buffer_text(&b, " (see ");
            put_strings_call(f, &b);
            hdx_buffer_text(&b, ")");
        }
        between = ", ";
    }
    if (b.len > 0)
        hdx_buffer_text(&b, "; --limit N shows more of each");
    if (f->unread != NULL)
        hdx_buffer_format(&b, "%s%s", b.len > 0 ? "\n" : "", f->unread);
    const hdx_code code = b.failed    ? hdx_no_memory(err, "a title", b.len)
                          : b.len > 0 ? hdx_rows_set_title(rows, b.at, err)
                                      : HDX_OK;
    hdx_buffer_free(&b);
    return code;
}

static hdx_code kinds_cell(const names *f, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    enum { MEMBERS = HDX_COUNT(kind_members) };
    hdx_cell   *cells = hdx_arena_get(arena, KINDS * sizeof *cells);
    hdx_member *m = hdx_arena_get(arena, (uint64_t)KINDS * MEMBERS * sizeof *m);
    if (cells == NULL || m == NULL)
        return hdx_no_memory(err, "names", KINDS * MEMBERS * sizeof *m);
    for (unsigned k = 0; k < KINDS; k++, m += MEMBERS) {
        const bool unread = k == STRING && f->unread != NULL, known = k != STRING || (!f->more && !unread);
        hdx_cell   note = unread ? hdx_cell_string(f->unread) : hdx_cell_null();
        if (k == STRING && f->more) {
            hdx_buffer b = hdx_buffer_of(NULL);
            put_strings_call(f, &b);
            note = b.failed ? note : hdx_text_cell(arena, (hdx_text){ b.at, (uint32_t)b.len });
            hdx_buffer_free(&b);
        }
        m[0] = (hdx_member){ kind_members[0].name, hdx_cell_string(kind_names[k]) };
        m[1] = (hdx_member){ kind_members[1].name, hdx_cell_uint(f->rows[k]) };
        m[2] = (hdx_member){ kind_members[2].name, unread ? hdx_cell_null() : hdx_cell_bool(is_cut(f, k)) };
        m[3] = (hdx_member){ kind_members[3].name,
                             known ? hdx_cell_uint(k == STRING ? f->rows[k] : f->matches[k]) : hdx_cell_null() };
        m[4] = (hdx_member){ kind_members[4].name, note };
        cells[k] = hdx_cell_object(m, MEMBERS);
    }
    *out = hdx_cell_list(cells, KINDS);
    return HDX_OK;
}

static hdx_code add_document(void *state, hdx_rows **rows, hdx_error *err)
{
    const names *f = state;
    hdx_cell     kinds;
    hdx_code     code = kinds_cell(f, hdx_rows_arena(*rows), &kinds, err);
    if (code == HDX_OK)
        code = hdx_rows_add_extra(*rows, document[0].name, kinds, err);
    if (code == HDX_OK)
        code = add_title(f, *rows, err);
    if (code != HDX_OK) {
        hdx_rows_close(*rows);
        *rows = NULL;
    }
    return code;
}

static const char *nothing(const void *state)
{
    const names           *f = state;
    const hdx_strip_policy policy = hdx_graph_summary_of(f->found.ask.g)->stripping->policy;
    return f->unread != NULL              ? "no name matches; Strings were not searched"
           : policy == HDX_STRIP_REDACTED ? "no name and no remaining text matches; the others are overwritten"
                                          : "no name and no String matches";
}

static void close_names(void *state)
{
    names *f = state;
    hdx_pattern_close(&f->pattern);
}

static const hdx_listing listing = { .what = "names",
                                     .state = sizeof(names),
                                     .entry = sizeof(named),
                                     .forms = &form,
                                     .find = find,
                                     .cells = name_cells,
                                     .beside = add_document,
                                     .nothing = nothing,
                                     .close = close_names };

static const hdx_parameter parameters[] = {
    { .name = "text",
      .kind = HDX_PARAMETER_TEXT,
      .flags = HDX_PARAMETER_REQUIRED | HDX_PARAMETER_WORD,
      .value = "TEXT",
      .sentence = "part of a name or text, in any case, or a /regular expression/" },
    { .name = "limit",
      .kind = HDX_PARAMETER_NUMBER,
      .value = "N",
      .preset = "10",
      .sentence = "number of rows of each kind; 10 by default, 0 shows all" },
};

const hdx_question hdx_question_find = {
    .declared = {
        .name = "find",
        .flags = HDX_ANSWER_HEAP | HDX_ANSWER_VALUES,
        .sentence = "classes, packages, statics, threads, loaders, properties and Strings with a text in their name",
        .more = "Each kind has its first rows. Strings come last, and their search ends when the limit is reached. "
                "The case of ASCII letters makes no difference; in a /regular expression/ it does.",
        .examples = { "heapdex find app.hprof cache", "heapdex find app.hprof '/jdbc:[a-z]+:/' --limit 3" },
        .forms = &form,
        .form_count = 1,
        .document = document,
        .document_count = HDX_COUNT(document),
        .parameters = parameters,
        .parameter_count = HDX_COUNT(parameters),
    },
    .listing = &listing,
};
