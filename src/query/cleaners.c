/*
 * cleaners.c - what is to be done when an object is gone: java.lang.ref.Cleaner (JDK 9 on), sun.misc.Cleaner,
 * jdk.internal.ref.Cleaner.
 *
 * In:  phantom references with an action of their own: PhantomCleanable and its subclasses, Cleaner with its thunk.
 *      One that has run is out of the list it stood in (it is its own next one there) or was cleared.
 * Out: a cleaner a row, with the object it waits for and the class of what it will do; the heaviest actions first.
 */
#include "query/strength.h"

#include "graph/graph.h"
#include <stdlib.h>

enum { ADDRESS, CLASS, LABEL, STATE, ACTION, ACTION_CLASS, ACTION_RETAINED, CLEANER, CLEANER_CLASS, COLUMNS };

static const hdx_column columns[COLUMNS] = {
    [ADDRESS] = HDX_COLUMN("address", ADDRESS, NONE, HDX_COLUMN_NULLABLE, "the object that it waits for; null: gone"),
    [CLASS] = HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME, "its class"),
    [LABEL] = HDX_COLUMN("label", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_LABEL | HDX_COLUMN_LATE,
                         "what it says of itself: a text, a name; null for most objects"),
    [STATE] = HDX_COLUMN("state", TEXT, NONE, 0, "registered; due: the object is gone; done: it was cleaned before"),
    [ACTION] = HDX_COLUMN("action", ADDRESS, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE,
                          "what will run; null where the cleaner itself knows"),
    [ACTION_CLASS] = HDX_COLUMN("action_class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME, "its class"),
    [ACTION_RETAINED] = HDX_COLUMN("action_retained", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE,
                                   "bytes that the action keeps alive: what leads back to the object never lets it go"),
    [CLEANER] = HDX_COLUMN("cleaner", ADDRESS, NONE, HDX_COLUMN_SPARE, "the reference that waits"),
    [CLEANER_CLASS] = HDX_COLUMN("cleaner_class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE, "its class"),
};
static const hdx_column class_columns[] = {
    HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME,
               "class of what will run; where the cleaner itself knows, of that"),
    HDX_COLUMN("cleaners", UNSIGNED, COUNT, 0, "cleaners with such an action"),
    HDX_COLUMN("registered", UNSIGNED, COUNT, 0, "of these, that wait for an object"),
    HDX_COLUMN("due", UNSIGNED, COUNT, 0, "of these, whose object is gone and that have not run"),
    HDX_COLUMN("retained", UNSIGNED, BYTES, 0, "sum of what the actions retain"),
};
static const hdx_form forms[] = {
    { "by", "class", class_columns, HDX_COUNT(class_columns) },
    { NULL, NULL, columns, COLUMNS },
};

typedef enum state { REGISTERED, DUE, DONE, STATES } state;
static const char *const state_names[STATES] = { "registered", "due", "done" };

typedef struct cleaner {
    hdx_id   id, object, action; /* HDX_NO_ID: none */
    state    is;
    uint64_t retained;
    uint32_t class; /* of the action, else of the cleaner */
} cleaner;

typedef struct cleaners {
    hdx_ask           ask;
    hdx_fields        fields;
    HDX_LIST(cleaner) found;
    uint64_t          next;
    bool              told;
} cleaners;

static void cleaners_close(void *of)
{
    cleaners *c = of;
    hdx_fields_close(&c->fields);
    hdx_list_free(c->ask.q.mem, HDX_LIST_REF(&c->found));
    free(c);
}

/* Where each kind keeps what it will do, and the list it stands in while it waits. */
static const struct {
    const char *class_name, *action, *next;
} kinds[] = {
    { "jdk.internal.ref.PhantomCleanable", NULL, "next" },
    { "jdk.internal.ref.Cleaner", "thunk", "next" },
    { "sun.misc.Cleaner", "thunk", "next" },
};

static hdx_id action_of(const hdx_fields *f, unsigned kind)
{
    return kinds[kind].action != NULL ? hdx_fields_ref(f, kinds[kind].class_name, kinds[kind].action)
                                      : hdx_fields_ref(f, NULL, "action");
}

static hdx_code look_at(cleaners *c, hdx_id id, unsigned kind, hdx_error *err)
{
    hdx_graph *g = c->ask.g;
    hdx_code   code = hdx_fields_read(&c->fields, g, id, err);
    if (code != HDX_OK)
        return code;
    const hdx_value *referent = hdx_fields_value(&c->fields, NULL, "referent");
    const hdx_value *action = hdx_fields_value(&c->fields, NULL, "action");
    const hdx_id     next = hdx_fields_ref(&c->fields, kinds[kind].class_name, kinds[kind].next);
    cleaner          at = { .id = id, .object = HDX_NO_ID, .action = action_of(&c->fields, kind) };
    c->told = c->told || referent != NULL;
    if (referent != NULL && referent->type == 2 && referent->as.address != 0)
        (void)hdx_graph_find(g, referent->as.address, &at.object);
    if (at.object == HDX_NO_ID && action != NULL && action->type == 2 && action->as.address == 0)
        return HDX_OK; /* the head of a list is no cleaner */
    at.is = next == id ? DONE : at.object == HDX_NO_ID ? DUE : REGISTERED;
    at.class = hdx_graph_class_of(g, at.action != HDX_NO_ID ? at.action : id);
    at.retained = at.action == HDX_NO_ID ? 0 : hdx_graph_retained(g, at.action);
    if (!hdx_list_room(c->ask.q.mem, HDX_LIST_REF(&c->found)))
        return hdx_no_memory(err, "cleaners", (c->found.count + 1) * sizeof(cleaner));
    c->found.at[c->found.count++] = at;
    return hdx_ask_turn(&c->ask, err);
}

static int heaviest_first(const void *a, const void *b)
{
    const cleaner *x = a, *y = b;
    if (x->retained != y->retained)
        return x->retained > y->retained ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static hdx_code find(cleaners *c, hdx_error *err)
{
    hdx_ids          ids = hdx_ids_of(c->ask.q.mem);
    struct hdx_near *near = hdx_graph_near_begin(c->ask.g);
    hdx_code         code = HDX_OK;
    uint64_t         all = 0;
    for (unsigned kind = 0; code == HDX_OK && kind < sizeof kinds / sizeof *kinds; kind++) {
        ids.count = 0;
        code = hdx_instances_below(&c->ask, kinds[kind].class_name, &ids, err);
        all += ids.count;
        for (uint64_t i = 0; code == HDX_OK && i < ids.count; i++)
            code = look_at(c, ids.at[i], kind, err);
    }
    c->told = c->told || all == 0;
    hdx_graph_near_end(near);
    hdx_ids_drop(&ids);
    if (c->found.count > 1)
        qsort(c->found.at, (size_t)c->found.count, sizeof(cleaner), heaviest_first);
    return code == HDX_OK ? hdx_graph_check(c->ask.g, err) : code;
}

static hdx_code rows_next(void *of, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    cleaners      *c = of;
    hdx_graph     *g = c->ask.g;
    const hdx_code code = hdx_ask_turn(&c->ask, err);
    (void)arena;
    if (code != HDX_OK)
        return code;
    if (c->next == c->found.count)
        return hdx_ask_end(&c->ask, more, err);
    const cleaner *at = &c->found.at[c->next++];
    cells[ADDRESS] = hdx_id_cell(g, at->object);
    cells[CLASS] = at->object == HDX_NO_ID ? hdx_cell_null() : hdx_class_of_cell(g, at->object);
    cells[LABEL] = hdx_cell_null();
    cells[STATE] = hdx_cell_string(state_names[at->is]);
    cells[ACTION] = hdx_id_cell(g, at->action);
    cells[ACTION_CLASS] = at->action == HDX_NO_ID ? hdx_cell_null() : hdx_class_of_cell(g, at->action);
    cells[ACTION_RETAINED] = at->action == HDX_NO_ID ? hdx_cell_null() : hdx_cell_uint(at->retained);
    cells[CLEANER] = hdx_id_cell(g, at->id);
    cells[CLEANER_CLASS] = hdx_class_of_cell(g, at->id);
    *more = true;
    return HDX_OK;
}

/* ---- sums ---- */

static int by_class(const void *a, const void *b)
{
    const cleaner *x = a, *y = b;
    return (x->class > y->class) - (x->class < y->class);
}

typedef struct sum {
    uint32_t class;
    uint64_t in[STATES], retained;
} sum;

static int most_first(const void *a, const void *b)
{
    const sum     *x = a, *y = b;
    const uint64_t m = x->in[REGISTERED] + x->in[DUE] + x->in[DONE], n = y->in[REGISTERED] + y->in[DUE] + y->in[DONE];
    return m != n ? (m > n ? -1 : 1) : (x->class > y->class) - (x->class < y->class);
}

static hdx_code add_sums(void *of, hdx_table *table, hdx_error *err)
{
    cleaners     *c = of;
    HDX_LIST(sum) sums = { NULL, 0, 0 };
    hdx_code      code = HDX_OK;
    if (c->found.count > 1)
        qsort(c->found.at, (size_t)c->found.count, sizeof(cleaner), by_class);
    for (uint64_t i = 0; code == HDX_OK && i < c->found.count; i++) {
        const cleaner *at = &c->found.at[i];
        const bool     fresh = i == 0 || at->class != at[-1].class;
        if (fresh && !hdx_list_room(c->ask.q.mem, HDX_LIST_REF(&sums))) {
            code = hdx_no_memory(err, "cleaners", (sums.count + 1) * sizeof(sum));
            break;
        }
        if (fresh)
            sums.at[sums.count++] = (sum){ .class = at->class };
        sums.at[sums.count - 1].in[at->is]++;
        sums.at[sums.count - 1].retained += at->retained;
    }
    if (sums.count > 1)
        qsort(sums.at, (size_t)sums.count, sizeof(sum), most_first);
    for (uint64_t i = 0; code == HDX_OK && i < sums.count; i++) {
        const sum     *s = &sums.at[i];
        const hdx_cell cells[] = { hdx_class_cell(c->ask.g, s->class),
                                   hdx_cell_uint(s->in[REGISTERED] + s->in[DUE] + s->in[DONE]),
                                   hdx_cell_uint(s->in[REGISTERED]), hdx_cell_uint(s->in[DUE]),
                                   hdx_cell_uint(s->retained) };
        code = hdx_table_add(table, cells, err);
    }
    hdx_list_free(c->ask.q.mem, HDX_LIST_REF(&sums));
    return code;
}

/* ---- asking ---- */

static hdx_code open_cleaners(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    hdx_ask ask;
    *out = NULL;
    hdx_code code = hdx_ask_begin(q, &ask, err);
    if (code != HDX_OK)
        return code;
    cleaners *c = calloc(1, sizeof *c);
    if (c == NULL)
        return hdx_no_memory(err, "cleaners", sizeof *c);
    c->ask = ask;
    code = find(c, err);
    const bool        told = c->told;
    const hdx_listing listing = { .rows = { columns, COLUMNS, c, rows_next, cleaners_close, c->found.count },
                                  .label = LABEL,
                                  .sum_columns = class_columns,
                                  .sum_count = HDX_COUNT(class_columns),
                                  .sum = add_sums };
    code = hdx_listing_open(q, a, code, &listing, out, err);
    return hdx_say_nothing(code, out, err, "%s",
                           told ? "there are no cleaners"
                                : "what cleaners wait for is in the dump, which does not tell it");
}

static const hdx_parameter parameters[] = {
    { .name = "by",
      .kind = HDX_PARAMETER_CHOICE,
      .value = "KEY",
      .choices = "class",
      .sentence = "one row per class of what will run" },
};

const hdx_question hdx_question_cleaners = {
    .declared = {
        .name = "cleaners",
        .flags = HDX_ANSWER_LONG | HDX_ANSWER_HEAP | HDX_ANSWER_VALUES,
        .sentence = "actions that run when an object is gone",
        .more = "A row is a Cleaner (of java.lang.ref, of the JDK itself) with the object it waits for and what it "
                "will do then; the actions that retain most come first. --by class sums by class of the actions.",
        .examples = { "heapdex cleaners app.hprof --by class", "heapdex cleaners app.hprof --where 'state = due'" },
        .forms = forms,
        .form_count = HDX_COUNT(forms),
        .parameters = parameters,
        .parameter_count = HDX_COUNT(parameters),
    },
    .open = open_cleaners,
};
