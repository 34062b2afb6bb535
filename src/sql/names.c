/*
 * names.c - makes names of columns unique.
 *
 * In:  names from a statement or a dump, possibly thousands of equal ones.
 * Out: each of them once; an equal one gets a number.
 * For each name a set stores the number that was given last, so that the next equal name does not try all of them
 * again.
 */
#include "sql/names.h"

#include "sql/sqlite.h"

#include <stdio.h>
#include <string.h>

struct sql_name {
    const char *text;
    uint64_t    len, next; /* index + 1 of another name with the same hash; 0: none */
    unsigned    given;     /* the last number added to this name; 0: none yet */
};

void hdx_sql_names_open(sql_names *n, hdx_mem *mem, bool any_case)
{
    *n = (sql_names){ .mem = mem, .places = hdx_map_of(mem), .texts = hdx_arena_of(mem), .any_case = any_case };
    sqlite3_randomness(sizeof n->seed, &n->seed); /* names come from a dump */
}

void hdx_sql_names_close(sql_names *n)
{
    hdx_map_free(&n->places);
    hdx_arena_free(&n->texts);
    hdx_mem_put(n->mem, n->at, n->capacity * sizeof *n->at);
    *n = (sql_names){ 0 };
}

static uint64_t hash_of(const sql_names *n, const char *text, uint64_t len)
{
    if (!n->any_case)
        return hdx_hash_bytes(n->seed, text, len);
    uint64_t hash = n->seed;
    for (uint64_t i = 0; i < len; i++) {
        const uint8_t c = (uint8_t)text[i];
        hash = (hash ^ (c >= 'A' && c <= 'Z' ? c | 0x20u : c)) * 0x100000001b3ull;
    }
    return hdx_mix64(hash);
}

static bool same(const sql_names *n, const sql_name *name, const char *text, uint64_t len)
{
    return name->len == len &&
           (n->any_case ? sqlite3_stricmp(name->text, text) == 0 : memcmp(name->text, text, len) == 0);
}

/* Returns the index of the name; *fresh: it was added. UINT64_MAX: no memory. */
static uint64_t place_of(sql_names *n, const char *text, bool *fresh)
{
    const uint64_t len = strlen(text);
    bool           first;
    uint64_t      *head = hdx_map_put(&n->places, hash_of(n, text, len), &first);
    *fresh = false;
    for (uint64_t i = head == NULL ? 0 : *head; i != 0; i = n->at[i - 1].next)
        if (same(n, &n->at[i - 1], text, len))
            return i - 1;
    const char *copy = head == NULL ? NULL : hdx_arena_copy(&n->texts, text, len);
    if (copy == NULL || !hdx_mem_room(n->mem, (void **)&n->at, &n->capacity, n->count, sizeof *n->at))
        return UINT64_MAX;
    n->at[n->count++] = (sql_name){ .text = copy, .len = len, .next = *head };
    *head = n->count;
    *fresh = true;
    return n->count - 1;
}

const char *hdx_sql_names_add_free(sql_names *n, const char *text, bool *taken)
{
    bool           fresh;
    const uint64_t place = place_of(n, text, &fresh);
    *taken = place != UINT64_MAX && !fresh;
    return fresh ? n->at[place].text : NULL;
}

const char *hdx_sql_names_add(sql_names *n, const char *text, const char *mark, unsigned from)
{
    bool           fresh;
    const uint64_t place = place_of(n, text, &fresh);
    uint64_t       found = place;
    hdx_buffer     another = hdx_buffer_of(n->mem);
    if (place != UINT64_MAX && !fresh) {
        hdx_buffer_text(&another, text);
        hdx_buffer_text(&another, mark);
        const uint64_t stem = another.len;
        unsigned       number = n->at[place].given >= from ? n->at[place].given : from - 1;
        do {
            another.len = stem;
            hdx_buffer_format(&another, "%u", ++number);
            found = another.failed ? UINT64_MAX : place_of(n, another.at, &fresh);
        } while (found != UINT64_MAX && !fresh);
        n->at[place].given = number;
    }
    hdx_buffer_free(&another);
    return found == UINT64_MAX ? NULL : n->at[found].text;
}
