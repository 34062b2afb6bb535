/*
 * map_keys.c - groups keys of maps that have the same content.
 *
 * In:  objects that are keys, with the number of maps that have each.
 * Out: a row for each key that two maps have, or for several keys of one class and label together.
 * Labels are read in dump order, some hundreds at a time.
 * Cost: 16 bytes per key, 72 and its label per distinct content.
 */
#include "query/common/labels.h"
#include "query/common/contents.h"

#include "graph/graph.h"

#include <stdlib.h>

#define LABELS 512u /* read together */
#define AHEAD  8u   /* keys whose map slots are prefetched */

typedef struct same_key {
    hdx_id id;
    uint32_t class;
    hdx_text label; /* len 0: no label; such a key equals no other one */
    uint64_t maps, keys;
} same_key;

typedef struct key_groups {
    HDX_LIST(same_key) at;
    hdx_map            by_hash; /* hash of class and label -> index in `at` + 1 */
    hdx_arena          arena;
} key_groups;

static hdx_code push_key(hdx_ask *ask, key_groups *g, const same_key *key, hdx_error *err)
{
    if (!hdx_list_room(ask->q.mem, HDX_LIST_REF(&g->at)))
        return hdx_no_memory(err, "keys of maps", (g->at.count + 1) * sizeof *key);
    g->at.at[g->at.count++] = *key;
    return HDX_OK;
}

typedef struct labelled {
    uint32_t class;
    hdx_text label;
    uint64_t hash;
} labelled;

/* Labels may have equal hashes: then the next number is tried. */
static hdx_code add_key(hdx_ask *ask, key_groups *g, hdx_id id, uint64_t maps, const labelled *of, hdx_error *err)
{
    const uint32_t class = of->class;
    const hdx_text label = of->label;
    if (label.len == 0)
        return maps < 2 ? HDX_OK : push_key(ask, g, &(same_key){ id, class, label, maps, 1 }, err);
    for (uint64_t hash = of->hash;; hash++) {
        bool      fresh;
        uint64_t *place = hdx_map_put(&g->by_hash, hash, &fresh);
        if (place == NULL)
            return hdx_no_memory(err, "keys of maps", (g->at.count + 1) * sizeof(same_key));
        if (fresh) {
            const char *copy = hdx_arena_copy(&g->arena, label.at, label.len);
            if (copy == NULL)
                return hdx_no_memory(err, "labels of keys", label.len);
            *place = g->at.count + 1;
            return push_key(ask, g, &(same_key){ id, class, { copy, label.len }, maps, 1 }, err);
        }
        same_key *k = &g->at.at[*place - 1];
        if (k->class == class && k->label.len == label.len && memcmp(k->label.at, label.at, label.len) == 0) {
            k->maps += maps;
            k->keys++;
            return HDX_OK;
        }
    }
}

/* Sorts the keys by id, which is dump order; the map is freed. */
static hdx_code list_keys(hdx_ask *ask, hdx_map *maps, hdx_pair **keys, uint64_t *count, hdx_error *err)
{
    *count = 0;
    if ((*keys = hdx_mem_raw(ask->q.mem, maps->count, sizeof **keys)) == NULL)
        return hdx_no_memory(err, "keys of maps", maps->count * sizeof **keys);
    for (uint64_t i = 0; i < maps->capacity; i++)
        if (maps->slots[i].key != maps->empty)
            (*keys)[(*count)++] = (hdx_pair){ maps->slots[i].key, maps->slots[i].value };
    hdx_map_free(maps);
    hdx_sort_pairs(ask->q.mem, *keys, *count);
    return HDX_OK;
}

static hdx_code group_keys(hdx_ask *ask, key_groups *g, const hdx_pair *keys, uint64_t count, hdx_error *err)
{
    hdx_id    ids[LABELS];
    char     *texts[LABELS];
    labelled  of[LABELS];
    hdx_error mine;
    hdx_code  code = HDX_OK;
    for (uint64_t from = 0, n; code == HDX_OK && from < count; from += n) {
        n = hdx_least(count - from, LABELS);
        for (uint64_t i = 0; i < n; i++)
            ids[i] = keys[from + i].first;
        if ((code = hdx_ask_stopped(&ask->q, err)) != HDX_OK)
            return code;
        code = hdx_label_allow_missing_dump(ask->g, hdx_graph_labels(ask->g, ids, n, texts, &mine), &mine, err);
        for (uint64_t i = 0; code == HDX_OK && i < n; i++) {
            of[i].class = hdx_graph_class_of(ask->g, ids[i]);
            of[i].label = texts[i] == NULL ? (hdx_text){ "", 0 } : (hdx_text){ texts[i], (uint32_t)strlen(texts[i]) };
            of[i].hash = hdx_hash_bytes(of[i].class, of[i].label.at, of[i].label.len);
        }
        for (uint64_t i = 0; i < n; i++) {
            if (code == HDX_OK)
                hdx_map_ahead(&g->by_hash, of[hdx_least(i + AHEAD, n - 1)].hash);
            if (code == HDX_OK)
                code = add_key(ask, g, ids[i], keys[from + i].second, &of[i], err);
            hdx_text_free(texts[i]);
        }
    }
    return code;
}

static void drop_single(key_groups *g)
{
    uint64_t left = 0;
    for (uint64_t i = 0; i < g->at.count; i++)
        if (g->at.at[i].maps > 1)
            g->at.at[left++] = g->at.at[i];
    g->at.count = left;
}

static int by_maps(const void *a, const void *b)
{
    const same_key *x = a, *y = b;
    if (x->maps != y->maps)
        return x->maps > y->maps ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

hdx_code hdx_map_keys_rows(hdx_ask *ask, hdx_map *maps, const hdx_column columns[HDX_MAP_KEY_COLUMNS], hdx_rows **out,
                           hdx_error *err)
{
    const uint64_t room = maps->count;
    key_groups     g = { .by_hash = hdx_map_of(ask->q.mem), .arena = hdx_arena_of(ask->q.mem) };
    hdx_table     *t = NULL;
    hdx_pair      *keys = NULL;
    uint64_t       count = 0;
    hdx_code       code = list_keys(ask, maps, &keys, &count, err);
    if (code != HDX_OK || (code = group_keys(ask, &g, keys, count, err)) != HDX_OK)
        return code;
    hdx_mem_put(ask->q.mem, keys, room * sizeof *keys);
    drop_single(&g);
    if ((code = hdx_graph_check(ask->g, err)) != HDX_OK ||
        (code = hdx_table_in(ask->q.mem, columns, HDX_MAP_KEY_COLUMNS, &t, err)) != HDX_OK)
        return code;
    if (g.at.count > 0)
        qsort(g.at.at, g.at.count, sizeof *g.at.at, by_maps);
    for (uint64_t i = 0; code == HDX_OK && i < g.at.count; i++) {
        const same_key *k = &g.at.at[i];
        hdx_cell        cells[HDX_MAP_KEY_COLUMNS] = { [0] = hdx_id_cell(ask->g, k->id),
                                                       [1] = hdx_class_cell(ask->g, k->class),
                                                       [2] = hdx_cell_null(),
                                                       [3] = hdx_cell_uint(k->maps),
                                                       [4] = hdx_cell_uint(k->keys) };
        code = hdx_label_cell(&ask->q, k->id, hdx_table_arena(t), &cells[2], err);
        if (code == HDX_OK)
            code = hdx_table_add(t, cells, err);
    }
    if (code == HDX_OK)
        return hdx_table_rows(t, out, err);
    hdx_table_free(t);
    return code;
}
