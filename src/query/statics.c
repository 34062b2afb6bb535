/*
 * statics.c - static fields by retained size: the object to which each refers, and what that retains.
 *
 *     retained  static             object                          address
 *       1.9 MB  Bookshop.SESSIONS  bookshop.Bookshop$SessionCache  0xfeb18ea8
 *
 * A JVM uses some static fields to find classes; they are never a cause and come last.
 *
 * The index has the names of static fields, but only the dump has their values: the records of classes are read in file
 * order, each once. The retained size of an object that several others hold does not belong to one static field
 * (holders.c finds such objects).
 */
#include "query/common/labels.h"
#include "query/common/columns.h"
#include "query/common/listing.h"
#include "graph/graph.h"
#include "query/questions.h"

enum { ADDRESS, CLASS, LABEL, SHALLOW, RETAINED, NAME, OWNER, FIELD, OWNER_ADDRESS, COLUMNS };
static const hdx_column columns[COLUMNS] = {
    [ADDRESS] = HDX_COLUMN("address", ADDRESS, NONE, 0, "object that the field refers to"),
    [CLASS] = HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME, "class of that object"),
    [LABEL] = HDX_COLUMN("label", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_LABEL | HDX_COLUMN_LATE,
                         "label of the object, such as its text or name; null if it has none"),
    [SHALLOW] = HDX_SHALLOW_COLUMN(HDX_COLUMN_SPARE),
    [RETAINED] = HDX_RETAINED_COLUMN(0),
    [NAME] = HDX_COLUMN("static", TEXT, NONE, 0, "static field: class name without the package, and field name"),
    [OWNER] = HDX_COLUMN("owner", TEXT, NONE, HDX_COLUMN_WIDE, "class that declares the field"),
    [FIELD] = HDX_COLUMN("field", TEXT, NONE, HDX_COLUMN_WIDE, "field name"),
    [OWNER_ADDRESS] = HDX_COLUMN("owner_address", ADDRESS, NONE, HDX_COLUMN_WIDE, "class object that has the field"),
};
static const hdx_form form = { NULL, NULL, columns, COLUMNS };

typedef struct field_of {
    hdx_id   target;
    uint64_t retained;
    uint32_t owner; /* class number */
    uint32_t place; /* index among its static fields */
    bool     finds; /* a JVM finds classes by it */
} field_of;

typedef struct statics {
    hdx_found        found;
    hdx_pair        *order; /* classes: position of the record, number */
    uint64_t         class_count;
    const hdx_class *loader; /* class java.lang.ClassLoader; NULL: missing */
    bool             unread; /* the dump is not available */
} statics;

static int most_first(const void *a, const void *b)
{
    const field_of *x = a, *y = b;
    if (x->finds != y->finds)
        return x->finds ? 1 : -1;
    if (x->retained != y->retained)
        return x->retained > y->retained ? -1 : 1;
    if (x->owner != y->owner)
        return x->owner < y->owner ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/*
 * A JVM starts a program and finds its classes by LauncherHelper.appClass, by the static fields of
 * java.lang.ClassLoader and its subclasses in the JDK, and by those static fields of the JDK that refer to a class
 * loader. Many objects are below them, but they do not explain why an object is alive.
 */
static bool finds_classes(const statics *s, const hdx_class *owner, hdx_text field, hdx_id target)
{
    hdx_graph *g = s->found.ask.g;
    if (!hdx_is_of_jdk(owner->name))
        return false;
    if (hdx_text_is(owner->name, "sun.launcher.LauncherHelper") && hdx_text_is(field, "appClass"))
        return true;
    return s->loader != NULL && (hdx_class_extends(g, owner->number, s->loader->number) ||
                                 hdx_class_extends(g, hdx_graph_class_of(g, target), s->loader->number));
}

/* Collects classes with a record and static fields of reference types, in dump order. */
static void add_class(statics *s, const hdx_class *c)
{
    hdx_pos at;
    bool    refers = false;
    for (uint32_t i = 0; !refers && i < c->static_count; i++)
        refers = c->statics[i].type == 2;
    if (refers && hdx_graph_live(s->found.ask.g, c->id) && hdx_graph_position(s->found.ask.g, c->id, &at))
        s->order[s->class_count++] = (hdx_pair){ at, c->number };
}

static hdx_code choose_classes(statics *s, const char *pattern, hdx_error *err)
{
    uint32_t         count = 0, *numbers = NULL;
    size_t           chosen = 0;
    const hdx_class *classes = hdx_graph_classes(s->found.ask.g, &count);
    hdx_code         code = HDX_OK;
    if (pattern != NULL &&
        (code = hdx_query_classes_named(&s->found.ask.q, pattern, false, &numbers, &chosen, err)) != HDX_OK)
        return code;
    const uint64_t room = pattern != NULL ? chosen : count;
    if ((s->order = hdx_mem_array(s->found.ask.q.mem, room, sizeof *s->order)) == NULL)
        return hdx_no_memory(err, "classes", room * sizeof *s->order);
    for (uint64_t i = 0; i < room; i++)
        add_class(s, &classes[pattern != NULL ? numbers[i] : i]);
    hdx_sort_pairs(s->found.ask.q.mem, s->order, s->class_count);
    return HDX_OK;
}

static hdx_code read_class(statics *s, const hdx_class *c, hdx_values *v, hdx_error *err)
{
    hdx_code code = hdx_graph_statics(s->found.ask.g, c->id, v, err);
    for (uint64_t i = 0; code == HDX_OK && i < v->count; i++) {
        const hdx_value *value = &v->at[i].value;
        hdx_id           to;
        if (value->type != 2 || value->absent || value->as.address == 0 ||
            !hdx_graph_find(s->found.ask.g, value->as.address, &to))
            continue;
        const field_of f = { to, hdx_graph_retained(s->found.ask.g, to), c->number, (uint32_t)i,
                             finds_classes(s, c, c->statics[i].name, to) };
        code = hdx_found_add(&s->found, &f, err);
    }
    return code == HDX_OK ? hdx_ask_check_cancel(&s->found.ask, err) : code;
}

static hdx_code read_all(statics *s, hdx_error *err)
{
    hdx_values       v = { 0 };
    hdx_code         code = HDX_OK;
    hdx_error        mine;
    struct hdx_near *near = hdx_graph_near_begin(s->found.ask.g);
    for (uint64_t i = 0; code == HDX_OK && i < s->class_count; i++)
        code = read_class(s, hdx_graph_class(s->found.ask.g, (uint32_t)s->order[i].second), &v, &mine);
    hdx_graph_near_end(near);
    s->unread = code == HDX_BAD_DUMP && hdx_graph_lacks_dump(s->found.ask.g);
    code = hdx_label_allow_missing_dump(s->found.ask.g, code, &mine, err);
    hdx_values_free(&v);
    return code;
}

static hdx_code find_statics(void *state, hdx_error *err)
{
    statics *s = state;
    s->loader = hdx_graph_class_named(s->found.ask.g, "java.lang.ClassLoader");
    const hdx_code code = choose_classes(s, hdx_argument_text(s->found.arguments, "class"), err);
    return code == HDX_OK ? read_all(s, err) : code;
}

/* "Shop.sessions": the class name without its package, to leave room for other columns. */
static hdx_code name_cell(hdx_text owner, hdx_text field, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    for (uint32_t i = owner.len; i-- > 0;)
        if (owner.at[i] == '.') {
            owner = (hdx_text){ owner.at + i + 1, owner.len - i - 1 };
            break;
        }
    const uint64_t len = (uint64_t)owner.len + 1 + field.len;
    char          *text = len > UINT32_MAX ? NULL : hdx_arena_get(arena, len + 1);
    if (text == NULL)
        return hdx_no_memory(err, "the name of a field", len);
    memcpy(text, owner.at, owner.len);
    text[owner.len] = '.';
    memcpy(text + owner.len + 1, field.at, field.len);
    *out = hdx_cell_text((hdx_text){ text, (uint32_t)len });
    return HDX_OK;
}

static hdx_code static_cells(void *state, const void *entry, hdx_arena *arena, hdx_cell *cells, hdx_error *err)
{
    const field_of  *f = entry;
    hdx_graph       *g = ((statics *)state)->found.ask.g;
    const hdx_class *owner = hdx_graph_class(g, f->owner);
    cells[ADDRESS] = hdx_id_cell(g, f->target);
    cells[CLASS] = hdx_class_of_cell(g, f->target);
    cells[SHALLOW] = hdx_cell_uint(hdx_graph_shallow(g, f->target));
    cells[RETAINED] = hdx_cell_uint(f->retained);
    cells[OWNER] = hdx_cell_text(owner->name);
    cells[FIELD] = hdx_cell_text(owner->statics[f->place].name);
    cells[OWNER_ADDRESS] = hdx_cell_address(owner->address);
    return name_cell(owner->name, owner->statics[f->place].name, arena, &cells[NAME], err);
}

static const char *no_statics(const void *state)
{
    const statics *s = state;
    return s->unread             ? "references of static fields are only in the dump, which is not available"
           : s->class_count == 0 ? "these live classes have no static fields of reference types"
                                 : "no static field of these classes refers to an object";
}

static const hdx_listing listing = { .what = "static fields",
                                     .state = sizeof(statics),
                                     .entry = sizeof(field_of),
                                     .forms = &form,
                                     .label = LABEL,
                                     .find = find_statics,
                                     .order = most_first,
                                     .cells = static_cells,
                                     .nothing = no_statics };

static const hdx_parameter parameters[] = {
    HDX_PARAMETER_OF_CLASS(0, "only static fields of these classes: name, glob (* and ?) or /regular expression/"),
};

const hdx_question hdx_question_statics = {
    .declared = {
        .name = "statics",
        .flags = HDX_ANSWER_LONG | HDX_ANSWER_HEAP | HDX_ANSWER_VALUES,
        .sentence = "static fields of live classes by what they retain",
        .more = "Each row is a static field that refers to an object, sorted by what the object retains. Fields by "
                "which a JVM finds classes come last: LauncherHelper.appClass, and static fields of the JDK whose "
                "object is a class loader or refers to one. An object in several fields has a row for each. The column "
                "retained does not include what the object shares with other holders; the question holders reports "
                "what static fields hold together.",
        .examples = { "heapdex statics app.hprof --limit 10", "heapdex statics app.hprof --class 'java.lang.*'" },
        .forms = &form,
        .form_count = 1,
        .parameters = parameters,
        .parameter_count = HDX_COUNT(parameters),
    },
    .listing = &listing,
};
