/*
 * holding.c - finders of triage: suspects, holders of shared memory, static fields, class loaders that define the same
 * classes.
 */
#include "query/triage/finders.h"

#include "base/list.h"
#include "base/map.h"

#include <inttypes.h>
#include <stdlib.h>

#define SUSPECTS_REPORTED 3u
#define HOLDERS_TOLD      3u
#define STATICS_REPORTED  3u
#define CLASSES_LEAST     (4u << 20) /* in bytes: classes of every program retain this much together */

/* ---- what keeps the heap alive ---- */

static bool is_plain_word(hdx_text word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$";
    for (uint32_t i = 0; i < word.len; i++)
        if (word.at[i] == '\0' || strchr(plain, word.at[i]) == NULL)
            return false;
    return word.len > 0;
}

/* A group without one main holder has several causes: refers to the question that shows the holders of its members. */
static void next_of_group(const hdx_cell *class, hdx_buffer *next)
{
    const hdx_text name = class->kind == HDX_CELL_TEXT ? class->as.text : (hdx_text){ "", 0 };
    if (hdx_text_is(name, "java.lang.Class"))
        hdx_buffer_text(next, "loaders");
    else if (hdx_text_is(name, "java.lang.ThreadLocal$ThreadLocalMap$Entry"))
        hdx_buffer_text(next, "thread-locals");
    else if (is_plain_word(name))
        hdx_buffer_format(next, "path --merge --class '%.*s'", (int)name.len, name.at);
    else
        hdx_buffer_text(next, "suspects");
}

/* Returns whether every program has it: its classes, and the list of objects with finalizers. */
static bool is_usual(const hdx_cell *class, uint64_t bytes)
{
    return class->kind == HDX_CELL_TEXT && ((hdx_text_is(class->as.text, "java.lang.Class") && bytes < CLASSES_LEAST) ||
                                            hdx_text_is(class->as.text, "java.lang.ref.Finalizer"));
}

hdx_code hdx_triage_suspects(hdx_triage *t, hdx_error *err)
{
    static const char *const columns[] = { "sentence", "bytes", "object", "accumulation_point", "class", NULL };
    hdx_asked                a;
    unsigned                 reported = 0;
    hdx_code                 code = hdx_triage_ask(t, &hdx_question_suspects, NULL, 0, columns, &a, err);
    while (code == HDX_OK && reported < SUSPECTS_REPORTED && hdx_triage_next(&a)) {
        const uint64_t bytes = hdx_triage_number(a.cells[1]);
        hdx_buffer     b = hdx_buffer_of(t->q.mem), next = hdx_buffer_of(t->q.mem);
        t->suspects = true;
        if (bytes < HDX_TRIAGE_LEAST || is_usual(a.cells[4], bytes))
            continue;
        hdx_triage_put_text(&b, a.cells[0]);
        t->of_classes |= b.len > 6 && memcmp(b.at, "class ", 6) == 0;
        if (a.cells[2]->kind == HDX_CELL_NULL && a.cells[3]->kind == HDX_CELL_NULL)
            next_of_group(a.cells[4], &next);
        else
            hdx_buffer_text(&next, "suspects");
        if (next.failed)
            code = hdx_no_memory(err, "a command", next.len);
        else
            code = hdx_triage_report(t, "suspect", *a.cells[1], next.at, &b, err);
        reported++;
    }
    return hdx_triage_end(&a, code, err);
}

/* If a class retains most, also reports what the statics of other classes retain. */
hdx_code hdx_triage_statics(hdx_triage *t, hdx_error *err)
{
    static const char *const columns[] = { "static", "owner", "retained", NULL };
    hdx_asked                a;
    unsigned                 reported = 0;
    uint64_t                 most = 0, bytes = UINT64_MAX;
    hdx_buffer               b = hdx_buffer_of(t->q.mem);
    if (t->suspects && !t->of_classes)
        return HDX_OK;
    hdx_code code = hdx_triage_ask(t, &hdx_question_statics, NULL, 0, columns, &a, err);
    while (code == HDX_OK && reported < STATICS_REPORTED && bytes >= HDX_TRIAGE_LEAST && hdx_triage_next(&a)) {
        bytes = hdx_triage_number(a.cells[2]);
        if (bytes < HDX_TRIAGE_LEAST || bytes < t->live / 20 ||
            (a.cells[1]->kind == HDX_CELL_TEXT && hdx_is_of_jdk(a.cells[1]->as.text)))
            continue;
        most = reported == 0 ? bytes : most;
        hdx_buffer_text(&b, reported++ == 0 ? "static fields of the program that retain most: " : ", ");
        hdx_triage_put_text(&b, a.cells[0]);
        hdx_buffer_text(&b, ", ");
        hdx_triage_put_size(&b, bytes);
    }
    code = hdx_triage_end(&a, code, err);
    return code == HDX_OK && reported > 0 ? hdx_triage_report(t, "statics", hdx_cell_uint(most), "statics", &b, err)
                                          : code;
}

/* If no object retains much, several holders may do so together. */
hdx_code hdx_triage_holders(hdx_triage *t, hdx_error *err)
{
    static const char *const columns[] = { "together", "kind", "label", "class", "members", NULL };
    hdx_asked                a;
    uint64_t                 together = 0, rows = 0;
    hdx_buffer               names = hdx_buffer_of(t->q.mem);
    if (t->suspects || t->large)
        return HDX_OK;
    hdx_code code = hdx_triage_ask(t, &hdx_question_holders, NULL, 0, columns, &a, err);
    while (code == HDX_OK && hdx_triage_next(&a)) {
        together = hdx_triage_number(a.cells[0]) > together ? hdx_triage_number(a.cells[0]) : together;
        if (rows++ >= HOLDERS_TOLD)
            continue;
        hdx_buffer_text(&names, rows == 1 ? "" : ", ");
        if (hdx_triage_number(a.cells[4]) > 1)
            hdx_buffer_format(&names, "%" PRIu64 " of one ", hdx_triage_number(a.cells[4]));
        hdx_triage_put_text(&names, a.cells[1]);
        hdx_buffer_text(&names, " ");
        hdx_triage_put_text(&names, a.cells[2]->kind == HDX_CELL_TEXT ? a.cells[2] : a.cells[3]);
    }
    if ((code = hdx_triage_end(&a, code, err)) != HDX_OK || rows == 0 || !hdx_triage_is_relevant(t, together))
        return code;
    hdx_buffer b = hdx_buffer_of(t->q.mem);
    hdx_buffer_format(&b, "no single object retains much, but %" PRIu64 " holder%s: ", rows,
                      rows == 1 ? " does" : "s together do");
    hdx_buffer_put(&b, names.at, names.len);
    hdx_buffer_text(&b, rows > HOLDERS_TOLD ? " and others; " : "; ");
    hdx_triage_put_share(t, &b, together);
    b.failed = b.failed || names.failed;
    return hdx_triage_report(t, "holders", hdx_cell_uint(together), "holders", &b, err);
}

/* ---- class loaders that define the same classes ---- */

typedef struct defined { /* a live class */
    hdx_text name;
    hdx_addr loader;
    uint64_t bytes;
} defined;

typedef struct loader {
    hdx_addr address;
    uint32_t class;
    uint64_t classes, twice, bytes; /* twice: classes that another loader of its class also defines */
} loader;

static int by_name(const void *a, const void *b)
{
    const defined *x = a, *y = b;
    const int      order = hdx_text_order(x->name, y->name);
    return order != 0 ? order : hdx_order(x->loader, y->loader);
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
    hdx_map          places; /* address -> index in the list */
} loaders;

static loader *loader_at(hdx_triage *t, loaders *l, hdx_addr address)
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

/* Counts the definitions of one class name: if two loaders of one class define it, both have it twice. */
static hdx_code count_twice(hdx_triage *t, loaders *l, const defined *at, uint64_t count, hdx_error *err)
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
        x = loader_at(t, l, at[i].loader); /* the list may have been reallocated */
        x->classes++;
        x->bytes += at[i].bytes;
        x->twice += twice;
        code = hdx_ask_check_cancel(&t->ask, err);
    }
    return code;
}

static bool is_copy(const loader *l) { return l->twice * 2 > l->classes; }

/* Sums what would be free without each of these loaders, its classes and their instances. */
static hdx_code sum_retained(hdx_triage *t, const loader *at, uint64_t count, uint64_t *out, hdx_error *err)
{
    static const char *const columns[] = { "address", "retained", NULL };
    hdx_map                  copies = hdx_map_of(t->q.mem);
    hdx_asked                a;
    bool                     fresh;
    for (uint64_t i = 0; i < count; i++)
        if (is_copy(&at[i]) && hdx_map_put(&copies, at[i].address, &fresh) == NULL)
            return hdx_no_memory(err, "class loaders", copies.count * sizeof(hdx_map_slot));
    hdx_code code = hdx_triage_ask(t, &hdx_question_loaders, NULL, 0, columns, &a, err);
    while (code == HDX_OK && hdx_triage_next(&a))
        if (a.cells[0]->kind == HDX_CELL_ADDRESS && hdx_map_get(&copies, a.cells[0]->as.address) != NULL)
            *out += hdx_triage_number(a.cells[1]);
    return hdx_triage_end(&a, code, err);
}

/* Most classes of these loaders are also defined by another one, so that one loader would be enough. */
static hdx_code report_loaders(hdx_triage *t, const loader *at, uint64_t count, hdx_error *err)
{
    uint64_t         several = 0, twice = 0, bytes = 0, retained = 0;
    const hdx_class *c = hdx_graph_class(t->g, at->class);
    for (uint64_t i = 0; i < count; i++)
        if (is_copy(&at[i])) {
            several++;
            twice = at[i].twice > twice ? at[i].twice : twice;
            bytes += at[i].bytes;
        }
    if (several < 2 || c == NULL || twice < 2)
        return HDX_OK;
    const hdx_code code = t->large ? HDX_OK : sum_retained(t, at, count, &retained, err);
    if (code != HDX_OK)
        return code;
    bytes = retained > bytes ? retained : bytes;
    hdx_buffer b = hdx_buffer_of(t->q.mem);
    hdx_buffer_format(&b, "%" PRIu64 " class loaders of class %.*s define the same classes, up to %" PRIu64 "; %s ",
                      several, (int)(c->name.len < 200 ? c->name.len : 200), c->name.at, twice,
                      retained > 0 ? "together they retain" : "objects of these classes take");
    hdx_triage_put_share(t, &b, bytes);
    return hdx_triage_report(t, "loaders", hdx_cell_uint(bytes), "loaders", &b, err);
}

hdx_code hdx_triage_loaders(hdx_triage *t, hdx_error *err)
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
            code = report_loaders(t, l.list.at + i, end - i, err);
    }
    return code;
}
