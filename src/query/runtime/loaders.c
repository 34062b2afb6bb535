/*
 * loaders.c - the tables of classes and of class loaders.
 *
 * A loader is a live instance of java.lang.ClassLoader or a subclass, including object 0 (the boot loader) and loaders
 * without classes. Its classes are the live ones that it defined; its instances and bytes are theirs. `retained` is the
 * retained size of the loader object.
 */
#include "query/common/columns.h"
#include "query/common/labels.h"
#include "query/runtime/loaders.h"
#include "query/query.h"

#include <stdio.h>
#include <stdlib.h>

#define LOADER "java.lang.ClassLoader"

/* ---- classes ---- */

static const hdx_column class_columns[] = {
    HDX_COLUMN("address", ADDRESS, NONE, 0, "address of the class object"),
    HDX_COLUMN("name", TEXT, NONE, 0, "name of the class"),
    HDX_COLUMN("super", ADDRESS, NONE, HDX_COLUMN_NULLABLE, "address of the superclass; null for java.lang.Object"),
    HDX_COLUMN("loader", ADDRESS, NONE, 0, "class loader that defined the class; 0x0 is the boot loader"),
    HDX_COLUMN("instances", UNSIGNED, COUNT, 0, "number of instances, reachable or not"),
    HDX_COLUMN("instance_size", UNSIGNED, BYTES, 0, "size of one instance; 0 for arrays"),
    HDX_COLUMN("shallow", UNSIGNED, BYTES, 0, "total size of its instances, of those that --reachable selects"),
    HDX_COLUMN("reachable_instances", UNSIGNED, COUNT, 0, "instances that are reachable from a GC root"),
    HDX_COLUMN("class_shallow", UNSIGNED, BYTES, 0, "shallow size of the class object: that of its static fields"),
};

typedef struct class_rows {
    hdx_ask           ask;
    const hdx_class **at;
    uint64_t          count, next;
} class_rows;

static int by_address(const void *a, const void *b)
{
    const hdx_class *x = *(const hdx_class *const *)a, *y = *(const hdx_class *const *)b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static hdx_code class_rows_next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    class_rows *r = state;
    (void)arena;
    if (r->next == r->count)
        return hdx_ask_end(&r->ask, more, err);
    const hdx_class *c = r->at[r->next++],
                    *super = c->super == HDX_NO_CLASS ? NULL : hdx_graph_class(r->ask.g, c->super);
    cells[0] = hdx_cell_address(c->address);
    cells[1] = hdx_cell_text(c->name);
    cells[2] = super == NULL ? hdx_cell_null() : hdx_cell_address(super->address);
    cells[3] = hdx_cell_address(c->loader);
    cells[4] = hdx_cell_uint(c->instances);
    cells[5] = hdx_cell_uint(c->instance_size);
    cells[6] = hdx_cell_uint(r->ask.q.scope == HDX_LIVE  ? c->live_bytes
                             : r->ask.q.scope == HDX_ALL ? c->bytes
                                                         : c->bytes - c->live_bytes);
    cells[7] = hdx_cell_uint(c->live_instances);
    cells[8] = hdx_cell_uint(c->class_shallow);
    *more = true;
    return HDX_OK;
}

static hdx_code open_classes(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    hdx_ask  ask;
    uint32_t count = 0;
    (void)a;
    *out = NULL;
    hdx_code code = hdx_ask_begin(q, &ask, err);
    if (code != HDX_OK)
        return code;
    const hdx_class *classes = hdx_graph_classes(q->graph, &count);
    class_rows      *r = hdx_mem_get(q->mem, sizeof *r);
    if (r == NULL)
        return hdx_no_memory(err, "classes", sizeof *r);
    r->ask = ask;
    if ((r->at = hdx_mem_array(q->mem, count, sizeof *r->at)) == NULL)
        return hdx_no_memory(err, "classes", count * sizeof *r->at);
    for (uint32_t i = 0; i < count; i++)
        if (hdx_ask_wants(&ask, classes[i].id))
            r->at[r->count++] = &classes[i];
    if (r->count > 0)
        qsort(r->at, r->count, sizeof *r->at, by_address);
    hdx_rows_maker maker = { class_columns, HDX_COUNT(class_columns), r, class_rows_next, NULL, r->count };
    return hdx_rows_make_in(q->mem, &maker, out, err);
}

static const hdx_form classes_form = { NULL, NULL, class_columns, HDX_COUNT(class_columns) };

const hdx_question hdx_table_of_classes = {
    .declared = { .name = "classes",
                  .flags = HDX_ANSWER_HEAP | HDX_ANSWER_SCOPED,
                  .sentence = "every class, with its instances",
                  .more = "",
                  .forms = &classes_form,
                  .form_count = 1 },
    .open = open_classes,
};

/* ---- loaders ---- */

static const hdx_column loader_columns[] = {
    HDX_COLUMN("address", ADDRESS, NONE, 0, "the class loader; 0x0 is the boot loader"),
    HDX_COLUMN("name", TEXT, NONE, HDX_COLUMN_NULLABLE,
               "label of the class loader, its name, the first URL that it searches or the first module that it "
               "defines"),
    HDX_COLUMN("parent", ADDRESS, NONE, HDX_COLUMN_NULLABLE, "parent class loader"),
    HDX_COLUMN("classes", UNSIGNED, COUNT, 0, "live classes that it defined"),
    HDX_COLUMN("instances", UNSIGNED, COUNT, 0, "live instances of those classes"),
    HDX_SHALLOWS_COLUMN,
    HDX_COLUMN("retained", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE,
               "retained size: bytes that would be freed without the class loader object"),
    HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME, "class of the class loader"),
};

typedef struct loader_rows {
    hdx_ask     ask;
    hdx_loaders all;
    uint64_t    next;
} loader_rows;

static int by_id(const void *a, const void *b)
{
    const hdx_loader *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* Without the dump its values are null; a dump that changed is an error. */
static hdx_code without_dump(hdx_graph *g, hdx_code code, const hdx_error *mine, hdx_error *err)
{
    if (code == HDX_OK || (code == HDX_BAD_DUMP && hdx_graph_lacks_dump(g)))
        return HDX_OK;
    if (err != NULL)
        *err = *mine;
    return code;
}

/* Returns the object to which a field refers; HDX_NO_ID: none. */
static hdx_code referenced_object(hdx_graph *g, hdx_id id, const char *class_name, const char *name, hdx_id *to,
                                  hdx_error *err)
{
    hdx_value value;
    bool      found;
    hdx_code  code = hdx_graph_field(g, id, class_name, name, &value, &found, err);
    if (code != HDX_OK || !found || value.absent || value.type != 2 || value.as.address == 0 ||
        !hdx_graph_find(g, value.as.address, to))
        *to = HDX_NO_ID;
    return code;
}

/* Returns the first URL of a java.net.URLClassLoader: from the ArrayList `path` of its URLClassPath. */
static hdx_code first_url(hdx_graph *g, hdx_id id, hdx_id *url, hdx_error *err)
{
    static const char *const fields[][2] = { { "java.net.URLClassLoader", "ucp" },
                                             { NULL, "path" },
                                             { "java.util.ArrayList", "elementData" } };
    hdx_values               v = { 0 };
    hdx_code                 code = HDX_OK;
    *url = id;
    for (size_t i = 0; code == HDX_OK && *url != HDX_NO_ID && i < sizeof fields / sizeof *fields; i++)
        code = referenced_object(g, *url, fields[i][0], fields[i][1], url, err);
    if (code != HDX_OK || *url == HDX_NO_ID)
        return code;
    code = hdx_graph_elements(g, *url, 0, 1, &v, err);
    if (code != HDX_OK || v.count == 0 || v.at[0].value.type != 2 || v.at[0].value.absent ||
        v.at[0].value.as.address == 0 || !hdx_graph_find(g, v.at[0].value.as.address, url))
        *url = HDX_NO_ID;
    hdx_values_free(&v);
    return code;
}

/* Returns whether the class is Tomcat's loader of web applications, or a subclass. */
static bool is_of_webapp(hdx_graph *g, hdx_id id)
{
    static const char tomcat[] = "org.apache.catalina.loader.WebappClassLoader"; /* also matches ...Base */
    uint32_t          count = 0;
    (void)hdx_graph_classes(g, &count);
    const hdx_class *c = hdx_graph_class(g, hdx_graph_class_of(g, id));
    for (uint32_t steps = 0; c != NULL && steps < count; steps++) {
        if (c->name.len >= sizeof tomcat - 1 && memcmp(c->name.at, tomcat, sizeof tomcat - 1) == 0)
            return true;
        c = c->super == HDX_NO_CLASS ? NULL : hdx_graph_class(g, c->super);
    }
    return false;
}

/*
 * Finds the context path of a web application ("/shop", "/shop##2"): in Tomcat 6 and 7 in the loader, since Tomcat 8 as
 * the name of the context, to which a stopped loader no longer refers.
 */
static hdx_code context_path(hdx_graph *g, hdx_id id, hdx_id *name, hdx_error *err)
{
    static const char *const ways[][3] = { { "contextName", NULL, NULL }, { "resources", "context", "name" } };
    hdx_code                 code = HDX_OK;
    *name = HDX_NO_ID;
    for (size_t i = 0; code == HDX_OK && *name == HDX_NO_ID && i < HDX_COUNT(ways); i++) {
        *name = id;
        for (size_t k = 0; code == HDX_OK && *name != HDX_NO_ID && k < 3 && ways[i][k] != NULL; k++)
            code = referenced_object(g, *name, NULL, ways[i][k], name, err);
    }
    return code;
}

static hdx_code webapp_cell(const hdx_query *q, hdx_id id, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    hdx_error mine;
    hdx_id    name = HDX_NO_ID;
    hdx_code  code = without_dump(q->graph, context_path(q->graph, id, &name, &mine), &mine, err);
    if (code == HDX_OK && name != HDX_NO_ID)
        code = hdx_label_cell(q, name, arena, out, err);
    if (out->kind == HDX_CELL_TEXT && out->as.text.len == 0)
        *out = hdx_cell_string("/"); /* the application ROOT */
    else if (out->kind == HDX_CELL_TEXT && hdx_text_is(out->as.text, "unknown"))
        *out = hdx_cell_null(); /* before the loader was started */
    return code;
}

static bool is_empty(const hdx_cell *c)
{
    return c->kind == HDX_CELL_NULL || (c->kind == HDX_CELL_TEXT && c->as.text.len == 0);
}

/*
 * Returns the name of a loader, the first of: its label if MAT has a rule for its class; the context path of a Tomcat
 * web application; ClassLoader.name (since JDK 9: "app", "platform", layers); the first URL that it searches; the first
 * module that it defines.
 */
static hdx_code name_cell(const hdx_query *q, hdx_id loader_id, hdx_id module, hdx_arena *arena, hdx_cell *out,
                          hdx_error *err)
{
    hdx_graph *g = q->graph;
    hdx_id     id = HDX_NO_ID;
    hdx_error  mine;
    hdx_pos    pos;
    hdx_code   code = hdx_label_cell(q, loader_id, arena, out, err);
    if (code != HDX_OK || out->kind != HDX_CELL_NULL || !hdx_graph_position(g, loader_id, &pos))
        return code; /* object 0 has no record */
    if (is_of_webapp(g, loader_id))
        code = webapp_cell(q, loader_id, arena, out, err);
    for (int from = 0; code == HDX_OK && is_empty(out) && from < 3; from++) {
        id = HDX_NO_ID;
        switch (from) {
        case 0: code = without_dump(g, referenced_object(g, loader_id, LOADER, "name", &id, &mine), &mine, err); break;
        case 1: code = without_dump(g, first_url(g, loader_id, &id, &mine), &mine, err); break;
        default: id = module; break;
        }
        if (code == HDX_OK && id != HDX_NO_ID)
            code = hdx_label_cell(q, id, arena, out, err);
    }
    return code;
}

hdx_code hdx_loader_cell(const hdx_query *q, hdx_addr address, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    hdx_graph *g = q->graph;
    hdx_cell   name = hdx_cell_null(), of = hdx_cell_null();
    hdx_id     id;
    *out = hdx_cell_string(address == 0 ? "boot loader" : "no object in the dump");
    if (address == 0 || !hdx_graph_find(g, address, &id))
        return HDX_OK;
    of = hdx_class_of_cell(g, id);
    const hdx_code code = name_cell(q, id, HDX_NO_ID, arena, &name, err);
    if (code != HDX_OK)
        return code;
    const hdx_text class_name = of.kind == HDX_CELL_TEXT ? of.as.text : (hdx_text){ "?", 1 };
    const bool     named = name.kind == HDX_CELL_TEXT && name.as.text.len > 0;
    const uint64_t room = (uint64_t)class_name.len + (named ? name.as.text.len : 0) + 24;
    char          *text = hdx_arena_get(arena, room);
    if (text == NULL)
        return hdx_no_memory(err, "the name of a loader", room);
    const int n =
        named ? snprintf(text, room, "%.*s \"%.*s\"", (int)class_name.len, class_name.at, (int)name.as.text.len,
                         name.as.text.at)
              : snprintf(text, room, "%.*s 0x%llx", (int)class_name.len, class_name.at, (unsigned long long)address);
    *out = hdx_cell_text((hdx_text){ text, (uint32_t)n });
    return HDX_OK;
}

hdx_code hdx_loader_name_cell(const hdx_query *q, const hdx_loader *l, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    return name_cell(q, l->id, l->module, arena, out, err);
}

/* Returns the parent loader, from ClassLoader.parent, if the dump is available. */
hdx_code hdx_loader_parent_cell(hdx_graph *g, hdx_id id, hdx_cell *out, hdx_error *err)
{
    hdx_error mine;
    hdx_value value;
    hdx_pos   pos;
    bool      found = false;
    *out = hdx_cell_null();
    if (!hdx_graph_position(g, id, &pos)) /* object 0 has no record */
        return HDX_OK;
    hdx_code code = without_dump(g, hdx_graph_field(g, id, LOADER, "parent", &value, &found, &mine), &mine, err);
    if (code == HDX_OK && found && value.type == 2 && (value.absent || value.as.address != 0))
        *out = value.absent ? (hdx_cell){ .kind = HDX_CELL_ABSENT } : hdx_cell_address(value.as.address);
    return code;
}

static hdx_code loader_rows_next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    loader_rows *r = state;
    hdx_code     code = hdx_ask_check_cancel(&r->ask, err);
    if (code != HDX_OK)
        return code;
    if (r->next == r->all.count)
        return hdx_ask_end(&r->ask, more, err);
    const hdx_loader *l = &r->all.at[r->next++];
    cells[0] = hdx_cell_address(l->address);
    if ((code = hdx_loader_name_cell(&r->ask.q, l, arena, &cells[1], err)) != HDX_OK ||
        (code = hdx_loader_parent_cell(r->ask.g, l->id, &cells[2], err)) != HDX_OK)
        return code;
    cells[3] = hdx_cell_uint(l->classes);
    cells[4] = hdx_cell_uint(l->instances);
    cells[5] = hdx_cell_uint(l->shallow);
    cells[6] = hdx_retained_cell(r->ask.g, l->id);
    cells[7] = hdx_class_of_cell(r->ask.g, l->id);
    *more = true;
    return HDX_OK;
}

hdx_loader *hdx_loaders_find(const hdx_loaders *all, hdx_id id)
{
    const hdx_loader key = { .id = id };
    return all->count == 0 ? NULL : bsearch(&key, all->at, all->count, sizeof *all->at, by_id);
}

/* Assigns modules to their loaders. The unnamed module is ignored, because each loader has one. */
static hdx_code note_modules(hdx_ask *ask, const hdx_loaders *all, hdx_error *err)
{
    hdx_graph       *g = ask->g;
    const hdx_class *module = hdx_graph_class_named(g, "java.lang.Module");
    hdx_code         code = HDX_OK;
    hdx_refs         refs;
    hdx_id           id, of, name;
    hdx_error        mine;
    if (module == NULL)
        return HDX_OK;
    hdx_graph_instances(g, module->number, HDX_LIVE, &refs);
    while (code == HDX_OK && hdx_refs_next(&refs, &id)) {
        of = name = HDX_NO_ID;
        if ((code = referenced_object(g, id, "java.lang.Module", "loader", &of, &mine)) == HDX_OK)
            code = referenced_object(g, id, "java.lang.Module", "name", &name, &mine);
        if (code == HDX_BAD_DUMP && hdx_graph_lacks_dump(g))
            return HDX_OK;
        code = without_dump(g, code, &mine, err);
        hdx_loader *l = of == HDX_NO_ID || name == HDX_NO_ID ? NULL : hdx_loaders_find(all, of);
        if (l != NULL && l->module == HDX_NO_ID)
            l->module = id;
        if (code == HDX_OK)
            code = hdx_ask_check_cancel(ask, err);
    }
    return code;
}

/* Finds java.lang.ClassLoader and its subclasses; all classes with that name count. */
static hdx_code loader_classes(const hdx_query *q, uint32_t **numbers, size_t *count, hdx_error *err)
{
    hdx_error mine;
    hdx_code  code = hdx_query_classes_named(q, LOADER, true, numbers, count, &mine);
    if (code == HDX_NOT_FOUND)
        return HDX_OK;
    if (code != HDX_OK && err != NULL)
        *err = mine;
    return code;
}

static hdx_code list_instances(hdx_ask *ask, hdx_loaders *all, hdx_error *err)
{
    uint32_t *numbers = NULL;
    size_t    count = 0;
    hdx_code  code = loader_classes(&ask->q, &numbers, &count, err);
    for (size_t i = 0; code == HDX_OK && i < count; i++) {
        hdx_refs refs;
        hdx_id   id;
        hdx_graph_instances(ask->g, numbers[i], HDX_LIVE, &refs);
        while (code == HDX_OK && hdx_refs_next(&refs, &id)) {
            if (!hdx_mem_room(ask->q.mem, (void **)&all->at, &all->capacity, all->count, sizeof *all->at))
                code = hdx_no_memory(err, "loaders", all->count * sizeof *all->at);
            else
                all->at[all->count++] = (hdx_loader){ id, hdx_graph_address(ask->g, id), HDX_NO_ID, 0, 0, 0 };
            if (code == HDX_OK)
                code = hdx_ask_check_cancel(ask, err);
        }
    }
    hdx_numbers_free(numbers);
    if (all->count > 0)
        qsort(all->at, all->count, sizeof *all->at, by_id);
    return code;
}

hdx_code hdx_loaders_list(hdx_ask *ask, hdx_loaders *all, hdx_error *err)
{
    uint32_t class_count = 0;
    *all = (hdx_loaders){ NULL, 0, 0 };
    hdx_code         code = list_instances(ask, all, err);
    const hdx_class *classes = hdx_graph_classes(ask->g, &class_count);
    for (uint32_t i = 0; code == HDX_OK && i < class_count; i++) {
        hdx_id      id;
        hdx_loader *l = NULL;
        if (hdx_graph_live(ask->g, classes[i].id) && hdx_graph_find(ask->g, classes[i].loader, &id))
            l = hdx_loaders_find(all, id);
        if (l != NULL) {
            l->classes++;
            l->instances += classes[i].live_instances;
            l->shallow += classes[i].live_bytes;
        }
    }
    if (code == HDX_OK)
        code = note_modules(ask, all, err);
    return code == HDX_OK ? hdx_graph_check(ask->g, err) : code;
}

void hdx_loaders_drop(hdx_loaders *all, hdx_mem *mem)
{
    hdx_mem_put(mem, all->at, all->capacity * sizeof *all->at);
    *all = (hdx_loaders){ NULL, 0, 0 };
}

static hdx_code open_loaders(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    hdx_ask ask;
    (void)a;
    *out = NULL;
    hdx_code code = hdx_ask_begin(q, &ask, err);
    if (code != HDX_OK)
        return code;
    loader_rows *r = hdx_mem_get(q->mem, sizeof *r);
    if (r == NULL)
        return hdx_no_memory(err, "loaders", sizeof *r);
    r->ask = ask;
    if ((code = hdx_loaders_list(&r->ask, &r->all, err)) != HDX_OK)
        return code;
    hdx_rows_maker maker = { loader_columns, HDX_COUNT(loader_columns), r, loader_rows_next, NULL, r->all.count };
    return hdx_rows_make_in(q->mem, &maker, out, err);
}

static const hdx_form loaders_form = { NULL, NULL, loader_columns, HDX_COUNT(loader_columns) };

const hdx_question hdx_table_of_loaders = {
    .declared = { .name = "loaders",
                  .flags = HDX_ANSWER_HEAP,
                  .sentence = "every live class loader, including those without classes",
                  .more = "",
                  .forms = &loaders_form,
                  .form_count = 1 },
    .open = open_loaders,
};
