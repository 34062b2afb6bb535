/*
 * views.c - the views of an index: which exist, and what each excludes.
 *
 * In:  the folder `views` of an index; files cut_from, cut, cut_to, cut_by of the open view.
 * Out: names and exclusions, in the order of the names; the excluded references of an object.
 * The lists outbound and inbound are those of the index and still contain excluded references.
 * Cost: one look-up in a set for each list that is read; a search in the list of exclusions for each of its ids.
 */
#include "graph/inside.h"

#include "indexes/folder.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#define VIEWS_MAX 1024u /* more are not listed */

hdx_cut_list hdx_graph_cut_of(const hdx_graph *g, hdx_id id, bool by)
{
    hdx_cut_list     c = { 0 };
    const hdx_ranks *set = g->m->cut_from == 0 ? NULL : hdx_graph_use(g, by ? HDX_KIND_CUT_TO : HDX_KIND_CUT_FROM);
    uint64_t         rank, length;
    if (set == NULL || id >= g->objects || !hdx_ranks_find(set, id, &rank) || rank >= hdx_ranks_count(set) ||
        (c.lists = hdx_graph_use(g, by ? HDX_KIND_CUT_BY : HDX_KIND_CUT)) == NULL)
        return c;
    c.key = rank;
    hdx_one_to_n_list(c.lists, rank, &c.at, &length);
    if (!hdx_add(c.at, length, &c.end))
        c.at = c.end = 0;
    return c;
}

bool hdx_cut_has(const hdx_cut_list *c, hdx_id id)
{
    uint64_t from = c->at, end = c->end;
    while (from < end) {
        const uint64_t middle = from + (end - from) / 2, value = hdx_one_to_n_get(c->lists, c->key, middle);
        if (value == id)
            return true;
        if (value < id)
            from = middle + 1;
        else
            end = middle;
    }
    return false;
}

void hdx_graph_identity(const hdx_graph *g, uint8_t out[16]) { memcpy(out, g->m->identity, 16); }
bool hdx_graph_view_name(const char *name) { return hdx_view_name_is_one(name); }

/* ---- existing views ---- */
typedef struct names {
    char     at[VIEWS_MAX][HDX_VIEW_NAME_SIZE];
    unsigned count;
} names;

static int by_name(const void *a, const void *b) { return strcmp(a, b); }

static void find_names(const hdx_graph *g, names *n)
{
    char           path[4096];
    struct dirent *entry;
    DIR           *folder;
    n->count = 0;
    if ((size_t)snprintf(path, sizeof path, "%s/" HDX_FOLDER_VIEWS, g->base) >= sizeof path ||
        (folder = opendir(path)) == NULL)
        return;
    while (n->count < VIEWS_MAX && (entry = readdir(folder)) != NULL)
        if (hdx_view_name_is_one(entry->d_name)) /* names of views that are being built contain a dot */
            (void)snprintf(n->at[n->count++], HDX_VIEW_NAME_SIZE, "%.63s", entry->d_name);
    (void)closedir(folder);
    qsort(n->at, n->count, HDX_VIEW_NAME_SIZE, by_name);
}

static uint64_t size_of(const hdx_graph *g, const char *view, const char *file)
{
    char        path[4096];
    struct stat st;
    const int   n = snprintf(path, sizeof path, "%s/" HDX_FOLDER_VIEWS "/%s/%s", g->base, view, file);
    return n > 0 && (size_t)n < sizeof path && g->place.io->stat(g->place.io, path, &st) >= 0 ? (uint64_t)st.st_size
                                                                                              : 0;
}

static void describe(const hdx_graph *g, hdx_graph_view *out)
{
    char         path[4096];
    hdx_catalog *catalog = NULL;
    const int    n = snprintf(path, sizeof path, "%s/" HDX_FOLDER_VIEWS "/%s", g->base, out->name);
    if (n < 0 || (size_t)n >= sizeof path || hdx_catalog_open(g->place.io, path, &catalog, NULL) != HDX_OK)
        return;
    const hdx_manifest *m = hdx_catalog_manifest(catalog);
    if (strcmp(m->view, out->name) == 0) {
        memcpy(out->spec, m->view_spec, sizeof out->spec);
        out->live_objects = m->live_objects;
        out->live_bytes = m->live_bytes;
    }
    hdx_catalog_close(catalog);
}

bool hdx_graph_view_at(const hdx_graph *g, unsigned i, hdx_graph_view *out)
{
    names *n = hdx_mem_get(NULL, sizeof *n);
    char   file[64];
    bool   there = false;
    *out = (hdx_graph_view){ 0 };
    if (n == NULL)
        return false;
    find_names(g, n);
    if (i < n->count) {
        there = true;
        (void)snprintf(out->name, sizeof out->name, "%s", n->at[i]);
        describe(g, out);
        out->bytes = size_of(g, out->name, "catalog.mdb");
        for (unsigned k = 0; k < HDX_KINDS; k++) {
            (void)snprintf(file, sizeof file, "%s.hdx", hdx_kind_name((hdx_kind)k));
            out->bytes += size_of(g, out->name, file);
        }
    }
    hdx_mem_put(NULL, n, sizeof *n);
    return there;
}
