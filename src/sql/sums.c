/*
 * sums.c - aggregate functions: sets of objects and their retained size, sums by a key, the median of numbers.
 *
 * In:  the rows of a group, one after the other.
 * Out: one value. tally returns a list in JSON, group_ids a pointer that retained_set accepts and no client sees.
 * Memory of a group is counted in the session's account and freed at its end; SQLite ends each group that it began.
 * tally is GROUP BY by hashing: SQLite's own sorts its rows, some 480 ns a row.
 */
#include "query/holding/holding.h"
#include "answer/answer.h"
#include "graph/graph.h"
#include "render/render.h"
#include "sql/sql.h"

#include <math.h>
#include <stdlib.h>

/* ---- ids ---- */

sql_ids *hdx_sql_ids_open(sql_heap *heap, hdx_error *err)
{
    sql_ids *ids = calloc(1, sizeof *ids);
    if (ids == NULL) {
        (void)hdx_no_memory(err, "a set of objects", sizeof *ids);
        return NULL;
    }
    *ids = (sql_ids){ .heap = heap,
                      .list = hdx_ids_of(heap->query.mem),
                      .words = hdx_bits_words(hdx_graph_objects(heap->g)) };
    return ids;
}

void hdx_sql_ids_close(void *own)
{
    sql_ids *ids = own;
    if (ids == NULL)
        return;
    hdx_mem_put(ids->heap->query.mem, ids->bits, ids->words * sizeof *ids->bits);
    hdx_ids_drop(&ids->list);
    free(ids);
}

hdx_code hdx_sql_ids_bits(sql_ids *ids, hdx_error *err)
{
    if (ids->bits == NULL) {
        if ((ids->bits = hdx_mem_array(ids->heap->query.mem, ids->words, sizeof *ids->bits)) == NULL)
            return hdx_no_memory(err, "a set of objects", ids->words * sizeof *ids->bits);
        for (uint64_t i = 0; i < ids->list.count; i++)
            hdx_bits_put(ids->bits, ids->list.at[i]);
        hdx_ids_drop(&ids->list);
    }
    return HDX_OK;
}

/* Ignores ids that no object has. */
hdx_code hdx_sql_ids_add(sql_ids *ids, hdx_id id, hdx_error *err)
{
    if (id >= hdx_graph_objects(ids->heap->g))
        return HDX_OK;
    if (ids->bits == NULL && ids->list.count < ids->words)
        return hdx_ids_push(&ids->list, id, err);
    const hdx_code code = hdx_sql_ids_bits(ids, err);
    if (code == HDX_OK)
        hdx_bits_put(ids->bits, id);
    return code;
}

/*
 * A search from the roots that does not enter these objects finds what stays reachable; the other live objects would be
 * freed.
 */
hdx_code hdx_sql_ids_retained(sql_ids *ids, uint64_t **gone, hdx_error *err)
{
    const sql_heap *heap = ids->heap;
    hdx_code        code = hdx_sql_ids_bits(ids, err);
    uint64_t       *seen = *gone = NULL;
    if (code != HDX_OK)
        return code;
    if ((seen = hdx_mem_array(heap->query.mem, ids->words, sizeof *seen)) == NULL)
        return hdx_no_memory(err, "a retained set", ids->words * sizeof *seen);
    code = hdx_retained_bits(&heap->query, ids->bits, seen, err);
    if (code == HDX_OK)
        *gone = seen;
    else
        hdx_mem_put(heap->query.mem, seen, ids->words * sizeof *seen);
    return code;
}

static hdx_code size_of(const sql_ids *ids, const uint64_t *gone, uint64_t *bytes, hdx_error *err)
{
    const uint64_t n = hdx_graph_objects(ids->heap->g);
    hdx_code       code = HDX_OK;
    *bytes = 0;
    for (hdx_id first = 0; code == HDX_OK && first < n; first += HDX_RUN) {
        const uint32_t here = (uint32_t)(n - first < HDX_RUN ? n - first : HDX_RUN);
        uint64_t       sizes[HDX_RUN], any = 0;
        for (uint32_t w = 0; w < (here + 63) / 64; w++)
            any |= gone[first / 64 + w];
        if (any == 0)
            continue;
        hdx_graph_read_shallow(ids->heap->g, first, here, sizes);
        for (uint32_t w = 0; w < (here + 63) / 64; w++)
            for (uint64_t bits = gone[first / 64 + w]; bits != 0; bits &= bits - 1) {
                const uint32_t i = w * 64 + (uint32_t)__builtin_ctzll(bits);
                *bytes += i < here ? sizes[i] : 0;
            }
        code = sql_turn(ids->heap->db, err);
    }
    return code == HDX_OK ? hdx_graph_check(ids->heap->g, err) : code;
}

/* group_ids(id [, schema]), retained_set_size(id [, schema]) */
static void ids_step(sqlite3_context *context, int count, sqlite3_value **values)
{
    sql_db     *db = sqlite3_user_data(context);
    hdx_error   err;
    hdx_code    code = HDX_OK;
    sql_ids   **ids = sqlite3_aggregate_context(context, sizeof *ids);
    const char *schema = count > 1 ? (const char *)sqlite3_value_text(values[1]) : NULL;
    sql_heap   *heap = hdx_sql_heap_of(db, schema);
    if (ids == NULL) {
        sqlite3_result_error_nomem(context);
        return;
    }
    if (heap == NULL)
        code = hdx_fail(&err, HDX_USAGE, "", HDX_NOWHERE, "no dump has the schema %.60s", schema);
    else if (*ids == NULL && (*ids = hdx_sql_ids_open(heap, &err)) == NULL)
        code = err.code;
    else if ((*ids)->heap != heap)
        code = hdx_fail(&err, HDX_USAGE, "", HDX_NOWHERE, "all objects of a set must be in one dump");
    if (code == HDX_OK && sqlite3_value_numeric_type(values[0]) == SQLITE_INTEGER)
        code = hdx_sql_ids_add(*ids, (hdx_id)sqlite3_value_int64(values[0]), &err);
    if (code == HDX_OK)
        code = sql_turn(db, &err);
    if (code != HDX_OK)
        hdx_sql_function_failed(context, db, &err);
}

static void ids_end(sqlite3_context *context)
{
    sql_ids **ids = sqlite3_aggregate_context(context, 0);
    if (ids != NULL && *ids != NULL)
        sqlite3_result_pointer(context, *ids, SQL_IDS, hdx_sql_ids_close);
}

static void size_end(sqlite3_context *context)
{
    sql_db   *db = sqlite3_user_data(context);
    sql_ids **ids = sqlite3_aggregate_context(context, 0);
    uint64_t *gone = NULL, bytes = 0;
    hdx_error err;
    hdx_code  code = HDX_OK;
    if (ids == NULL || *ids == NULL) {
        sqlite3_result_int(context, 0);
        return;
    }
    if ((*ids)->bits == NULL && (*ids)->list.count <= 1)
        bytes = (*ids)->list.count == 0 ? 0 : hdx_graph_retained((*ids)->heap->g, (*ids)->list.at[0]);
    else if ((code = hdx_sql_ids_retained(*ids, &gone, &err)) == HDX_OK)
        code = size_of(*ids, gone, &bytes, &err);
    hdx_mem_put((*ids)->heap->query.mem, gone, (*ids)->words * sizeof *gone);
    hdx_sql_ids_close(*ids);
    if (code == HDX_OK)
        sqlite3_result_int64(context, (sqlite3_int64)bytes);
    else
        hdx_sql_function_failed(context, db, &err);
}

/* ---- tally ---- */

typedef struct total { /* of a key */
    int      type;     /* SQLite's type of the key */
    hdx_text text;
    int64_t  number;
    double   real;
    uint64_t count, next; /* index + 1 of another with the same hash; 0: none */
    int64_t  sum;
    double   sum_real;
    bool     is_real; /* the sum does not fit in 64 bits */
    bool     has_sum;
} total;

typedef struct tally {
    hdx_mem  *mem;
    hdx_map   places; /* index + 1 by hash of the key */
    hdx_arena texts;
    total    *at;
    uint64_t  count, capacity, seed;
    bool      begun;
} tally;

static void tally_free(tally *t)
{
    hdx_map_free(&t->places);
    hdx_arena_free(&t->texts);
    hdx_mem_put(t->mem, t->at, t->capacity * sizeof *t->at);
}

static void tally_begin(tally *t, hdx_mem *mem)
{
    *t = (tally){ .mem = mem, .places = hdx_map_of(mem), .texts = hdx_arena_of(mem), .begun = true };
    sqlite3_randomness(sizeof t->seed, &t->seed); /* keys come from a dump */
}

/* Texts and blobs are compared by their bytes, so a blob can be a key as well. */
static uint64_t key_of(const tally *t, sqlite3_value *value, total *key)
{
    *key = (total){ .type = sqlite3_value_type(value) };
    switch (key->type) {
    case SQLITE_INTEGER: key->number = sqlite3_value_int64(value); return hdx_mix64((uint64_t)key->number ^ t->seed);
    case SQLITE_FLOAT:
        key->real = sqlite3_value_double(value);
        return hdx_hash_bytes(t->seed, &key->real, sizeof key->real);
    case SQLITE_NULL: return hdx_mix64(t->seed + 1);
    default:
        key->type = SQLITE_TEXT;
        key->text.at = (const char *)sqlite3_value_text(value);
        key->text.len = (uint32_t)sqlite3_value_bytes(value);
        return hdx_hash_bytes(t->seed, key->text.at, key->text.len);
    }
}

static bool same_key(const total *a, const total *b)
{
    return a->type == b->type && a->number == b->number && a->real == b->real && a->text.len == b->text.len &&
           (a->text.len == 0 || memcmp(a->text.at, b->text.at, a->text.len) == 0);
}

static total *total_of(tally *t, sqlite3_value *value)
{
    total          key;
    bool           fresh;
    const uint64_t hash = key_of(t, value, &key);
    uint64_t      *place = hdx_map_put(&t->places, hash, &fresh);
    if (place == NULL)
        return NULL;
    for (uint64_t i = *place; i != 0; i = t->at[i - 1].next)
        if (same_key(&t->at[i - 1], &key))
            return &t->at[i - 1];
    if (key.text.len > 0 && (key.text.at = hdx_arena_copy(&t->texts, key.text.at, key.text.len)) == NULL)
        return NULL;
    if (!hdx_mem_room(t->mem, (void **)&t->at, &t->capacity, t->count, sizeof *t->at))
        return NULL;
    key.next = *place;
    t->at[t->count++] = key;
    *place = t->count;
    return &t->at[t->count - 1];
}

static void add(total *x, sqlite3_value *value)
{
    switch (sqlite3_value_numeric_type(value)) {
    case SQLITE_NULL: return;
    case SQLITE_INTEGER: {
        const int64_t n = sqlite3_value_int64(value);
        int64_t       sum;
        if (!x->is_real && !__builtin_add_overflow(x->sum, n, &sum)) {
            x->sum = sum;
            break;
        }
    } /* fall through */
    default: x->sum_real = (x->is_real ? x->sum_real : (double)x->sum) + sqlite3_value_double(value); x->is_real = true;
    }
    x->has_sum = true;
}

/* tally(key [, value]) */
static void tally_step(sqlite3_context *context, int count, sqlite3_value **values)
{
    sql_db   *db = sqlite3_user_data(context);
    tally    *t = sqlite3_aggregate_context(context, sizeof *t);
    hdx_error err;
    hdx_code  code = HDX_OK;
    if (t == NULL) {
        sqlite3_result_error_nomem(context);
        return;
    }
    if (!t->begun)
        tally_begin(t, &db->session->mem);
    total *x = total_of(t, values[0]);
    if (x == NULL) {
        code = hdx_no_memory(&err, "a tally", t->count * sizeof *t->at);
    } else {
        x->count++;
        if (count > 1)
            add(x, values[1]);
        code = sql_turn(db, &err);
    }
    if (code != HDX_OK)
        hdx_sql_function_failed(context, db, &err);
}

static double weight(const total *x) { return !x->has_sum ? -INFINITY : x->is_real ? x->sum_real : (double)x->sum; }

/* Orders by sum, greatest first; without sums, or if they are equal, by count. */
static int heaviest(const void *a, const void *b)
{
    const total *x = a, *y = b;
    const double v = weight(x), w = weight(y);
    if (v != w)
        return v > w ? -1 : 1;
    return x->count != y->count ? (x->count > y->count ? -1 : 1) : (x->next > y->next) - (x->next < y->next);
}

static hdx_cell key_cell(const total *x)
{
    switch (x->type) {
    case SQLITE_INTEGER: return hdx_cell_int(x->number);
    case SQLITE_FLOAT: return hdx_cell_real(x->real);
    case SQLITE_NULL: return hdx_cell_null();
    default: return hdx_cell_text(x->text);
    }
}

static hdx_cell sum_cell(const total *x)
{
    return !x->has_sum ? hdx_cell_null() : x->is_real ? hdx_cell_real(x->sum_real) : hdx_cell_int(x->sum);
}

static void tally_end(sqlite3_context *context)
{
    tally *t = sqlite3_aggregate_context(context, 0);
    if (t == NULL || !t->begun) {
        sqlite3_result_text(context, "[]", 2, SQLITE_STATIC);
        return;
    }
    hdx_buffer text = hdx_buffer_of(t->mem);
    for (uint64_t i = 0; i < t->count; i++)
        t->at[i].next = i; /* in order of arrival */
    if (t->count > 0)
        qsort(t->at, t->count, sizeof *t->at, heaviest);
    for (uint64_t i = 0; i < t->count && !text.failed; i++) {
        const hdx_member members[] = { { "key", key_cell(&t->at[i]) },
                                       { "count", hdx_cell_uint(t->at[i].count) },
                                       { "sum", sum_cell(&t->at[i]) } };
        const hdx_cell   row = hdx_cell_object(members, 3);
        hdx_buffer_text(&text, i == 0 ? "[" : ",");
        hdx_render_json_cell(&text, &row);
    }
    hdx_buffer_text(&text, t->count == 0 ? "[]" : "]");
    if (text.failed)
        sqlite3_result_error_nomem(context);
    else
        sqlite3_result_text64(context, text.at, text.len, SQLITE_TRANSIENT, SQLITE_UTF8);
    hdx_buffer_free(&text);
    tally_free(t);
}

/* ---- the median and other quantiles ---- */

typedef struct numbers {
    double  *at;
    uint64_t count, capacity;
    double   percent;
} numbers;

static void numbers_step(sqlite3_context *context, int count, sqlite3_value **values)
{
    sql_db   *db = sqlite3_user_data(context);
    numbers  *n = sqlite3_aggregate_context(context, sizeof *n);
    hdx_error err;
    hdx_code  code = HDX_OK;
    if (n == NULL) {
        sqlite3_result_error_nomem(context);
        return;
    }
    const double percent = count > 1 ? sqlite3_value_double(values[1]) : 50;
    if (!(percent >= 0 && percent <= 100))
        code = hdx_fail(&err, HDX_USAGE, "", HDX_NOWHERE, "percentile needs a number from 0 to 100");
    else if (sqlite3_value_type(values[0]) == SQLITE_NULL)
        return;
    else if (!hdx_mem_room(&db->session->mem, (void **)&n->at, &n->capacity, n->count, sizeof *n->at))
        code = hdx_no_memory(&err, "numbers", n->count * sizeof *n->at);
    else
        n->at[n->count++] = sqlite3_value_double(values[0]), n->percent = percent;
    if (code == HDX_OK)
        code = sql_turn(db, &err);
    if (code != HDX_OK)
        hdx_sql_function_failed(context, db, &err);
}

static int rising(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Interpolates linearly between the two adjacent numbers. */
static void numbers_end(sqlite3_context *context)
{
    sql_db  *db = sqlite3_user_data(context);
    numbers *n = sqlite3_aggregate_context(context, 0);
    if (n == NULL || n->count == 0) {
        if (n != NULL)
            hdx_mem_put(&db->session->mem, n->at, n->capacity * sizeof *n->at);
        return;
    }
    qsort(n->at, n->count, sizeof *n->at, rising);
    const double   place = n->percent / 100 * (double)(n->count - 1);
    const uint64_t below = (uint64_t)place, above = below + 1 < n->count ? below + 1 : below;
    sqlite3_result_double(context, n->at[below] + (n->at[above] - n->at[below]) * (place - (double)below));
    hdx_mem_put(&db->session->mem, n->at, n->capacity * sizeof *n->at);
}

/* ---- all functions ---- */

int hdx_sql_install_sums(sql_db *db)
{
    static const struct {
        const char *name;
        int         count;
        void (*step)(sqlite3_context *context, int count, sqlite3_value **values);
        void (*end)(sqlite3_context *context);
    } sums[] = {
        { "group_ids", 1, ids_step, ids_end },          { "group_ids", 2, ids_step, ids_end },
        { "retained_set_size", 1, ids_step, size_end }, { "retained_set_size", 2, ids_step, size_end },
        { "tally", 1, tally_step, tally_end },          { "tally", 2, tally_step, tally_end },
        { "median", 1, numbers_step, numbers_end },     { "percentile", 2, numbers_step, numbers_end },
    };
    int rc = SQLITE_OK;
    for (size_t i = 0; rc == SQLITE_OK && i < sizeof sums / sizeof *sums; i++)
        rc = sqlite3_create_function_v2(db->db, sums[i].name, sums[i].count, SQLITE_UTF8 | SQLITE_INNOCUOUS, db, NULL,
                                        sums[i].step, sums[i].end, NULL);
    return rc;
}
