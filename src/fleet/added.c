/*
 * added.c - columns in addition to those of the answers: keys that are equal for the same thing in several dumps, and
 * names in place of addresses, which have no meaning in another dump.
 *
 *   class_key    app.Shop$$Lambda+0x7f01, and app.Shop$$Lambda+0x7e55 of the next release, are app.Shop$$Lambda*
 *   pool         http-worker-6 and http-worker-17 are both of http-worker-#
 *   class_path   class app.Shop > java.util.HashMap > java.util.HashMap$Node[]
 */
#include "query/histogram/histogram.h"
#include "query/runtime/loaders.h"
#include "fleet/fleet.h"
#include "graph/graph.h"

#define MOST_STEPS 64u /* up the dominator tree */

static hdx_code keep(hdx_arena *arena, const hdx_buffer *text, hdx_cell *out, hdx_error *err)
{
    const char *at = text->failed ? NULL : hdx_arena_copy(arena, text->at, text->len);
    if (at == NULL)
        return hdx_no_memory(err, "a text", text->len);
    *out = hdx_cell_text((hdx_text){ at, (uint32_t)text->len });
    return HDX_OK;
}

/* ---- class_key ---- */

static void put_key(hdx_buffer *out, hdx_text name)
{
    hdx_buffer     text = hdx_buffer_of(out->mem);
    const hdx_text key = hdx_class_key(name, &text);
    hdx_buffer_put(out, key.at, key.len);
    out->failed = out->failed || text.failed;
    hdx_buffer_free(&text);
}

static hdx_code class_key(fleet_dump *d, const hdx_cell *from, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    hdx_buffer text = hdx_buffer_of(d->query.mem);
    if (from->kind != HDX_CELL_TEXT)
        return HDX_OK;
    put_key(&text, from->as.text);
    const hdx_code code = keep(arena, &text, out, err);
    hdx_buffer_free(&text);
    return code;
}

const fleet_added hdx_fleet_class_key = {
    HDX_COLUMN(
        "class_key", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_FEW,
        "class name without run-specific parts of generated classes (lambdas, proxies, CGLIB ...): app.Shop$$Lambda*"),
    "class", class_key
};

/* ---- loader_name ---- */

static hdx_code loader_name(fleet_dump *d, const hdx_cell *from, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    bool fresh;
    (void)arena;
    if (from->kind != HDX_CELL_ADDRESS)
        return HDX_OK;
    uint64_t *known = hdx_map_put(&d->loaders, from->as.address, &fresh);
    if (known == NULL)
        return hdx_no_memory(err, "names of loaders", d->loaders.count);
    if (fresh) {
        hdx_text      *text = hdx_arena_get(&d->arena, sizeof *text);
        hdx_cell       cell = hdx_cell_null();
        const hdx_code code = text == NULL ? hdx_no_memory(err, "names of loaders", sizeof *text)
                                           : hdx_loader_cell(&d->query, from->as.address, &d->arena, &cell, err);
        if (code != HDX_OK) {
            *known = 0;
            return code;
        }
        *text = cell.as.text;
        *known = (uint64_t)(uintptr_t)text;
    }
    if (*known != 0)
        *out = hdx_cell_text(*(const hdx_text *)(uintptr_t)*known);
    return HDX_OK;
}

const fleet_added hdx_fleet_loader_name = { HDX_COLUMN("loader_name", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_FEW,
                                                       "text for the loader: boot loader, or its class and name"),
                                            "loader", loader_name };

/* ---- pool ---- */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static hdx_code pool(fleet_dump *d, const hdx_cell *from, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    (void)d;
    if (from->kind != HDX_CELL_TEXT)
        return HDX_OK;
    const hdx_text name = from->as.text;
    char          *text = hdx_arena_get(arena, (uint64_t)name.len + 1);
    uint32_t       len = 0;
    if (text == NULL)
        return hdx_no_memory(err, "name of the thread pool", name.len);
    for (uint32_t i = 0; i < name.len; i++) {
        if (!is_digit(name.at[i]))
            text[len++] = name.at[i];
        else if (i == 0 || !is_digit(name.at[i - 1]))
            text[len++] = '#';
    }
    *out = hdx_cell_text((hdx_text){ text, len });
    return HDX_OK;
}

const fleet_added hdx_fleet_pool = { HDX_COLUMN("pool", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_FEW,
                                                "thread name with # for each run of digits"),
                                     "name", pool };

/* ---- objects ---- */

static const hdx_class *class_object_at(const fleet_dump *d, const hdx_cell *from, hdx_id *id)
{
    return from->kind == HDX_CELL_ADDRESS && hdx_graph_find(d->g, from->as.address, id)
               ? hdx_graph_class_object(d->g, *id)
               : NULL;
}

static hdx_code owner(fleet_dump *d, const hdx_cell *from, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    hdx_id           id;
    const hdx_class *c = class_object_at(d, from, &id);
    (void)arena;
    (void)err;
    if (c != NULL)
        *out = hdx_cell_text(c->name);
    return HDX_OK;
}

const fleet_added hdx_fleet_owner = { HDX_COLUMN("owner", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_FEW,
                                                 "class that a class object represents (it owns the static fields)"),
                                      "address", owner };

static hdx_code class_path(fleet_dump *d, const hdx_cell *from, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    hdx_id   steps[MOST_STEPS];
    unsigned count = 0;
    hdx_id   id;
    if (from->kind != HDX_CELL_ADDRESS || !hdx_graph_find(d->g, from->as.address, &id))
        return HDX_OK;
    for (; id < HDX_VIRTUAL_ROOT && count < MOST_STEPS; id = hdx_graph_dominator(d->g, id))
        steps[count++] = id;
    hdx_buffer text = hdx_buffer_of(d->query.mem);
    hdx_buffer_text(&text, id < HDX_VIRTUAL_ROOT ? "... > " : "");
    for (unsigned i = count; i-- > 0;) {
        const hdx_class *c = hdx_graph_class_object(d->g, steps[i]);
        const hdx_cell   name = c != NULL ? hdx_cell_text(c->name) : hdx_class_of_cell(d->g, steps[i]);
        hdx_buffer_text(&text, c != NULL ? "class " : "");
        put_key(&text, name.kind == HDX_CELL_TEXT ? name.as.text : (hdx_text){ "?", 1 });
        hdx_buffer_text(&text, i > 0 ? " > " : "");
    }
    const hdx_code code = keep(arena, &text, out, err);
    hdx_buffer_free(&text);
    return code;
}

const fleet_added hdx_fleet_class_path = {
    HDX_COLUMN(
        "class_path", TEXT, NONE, HDX_COLUMN_NULLABLE,
        "class_keys from the top of the dominator tree to this object, joined by \" > \"; comparable between dumps"),
    "address", class_path
};
