/*
 * mapping.c - restores original names that R8 and ProGuard replaced (SHARK 1.7).
 *
 *     com.example.Session -> a.b:               a class
 *         java.lang.Object current -> a         a field of a.b
 *         1:7:void open(int):12:18 -> c         a method of a.b
 *
 * In:  the text of a mapping file, which is untrusted: invalid lines are skipped.
 * Out: original names of classes, of fields with their declaring class, of methods.
 * Cost: a hash table of entries that point into a copy of the text; memory is bounded by a small multiple of the file.
 */
#include "leaks/leaks.h"

typedef enum member { A_CLASS, A_FIELD, A_METHOD } member;
typedef struct entry {
    hdx_text class_name, name, clear; /* obfuscated, obfuscated, original; name is empty for a class */
    member   what;
} entry;
struct leak_mapping {
    char     *text;
    uint64_t  size;
    entry    *entries;
    uint64_t  count, capacity;
    uint32_t *slots; /* index in entries + 1; the table's size is a power of two */
    uint64_t  slot_count;
};

static hdx_text strip(hdx_text t)
{
    while (t.len > 0 && (unsigned char)t.at[0] <= ' ') {
        t.at++;
        t.len--;
    }
    while (t.len > 0 && (unsigned char)t.at[t.len - 1] <= ' ')
        t.len--;
    return t;
}

/* Splits a text at the first `mark`; false: no mark. */
static bool split_at(hdx_text t, const char *mark, hdx_text *before, hdx_text *after)
{
    const size_t n = strlen(mark);
    const char  *at = t.len >= n ? memmem(t.at, t.len, mark, n) : NULL;
    if (at == NULL)
        return false;
    *before = (hdx_text){ t.at, (uint32_t)(at - t.at) };
    *after = (hdx_text){ at + n, (uint32_t)(t.len - (size_t)(at - t.at) - n) };
    return true;
}

static uint64_t hash(member what, hdx_text class_name, hdx_text name)
{
    return hdx_mix64(hdx_hash_bytes(hdx_hash_bytes((uint64_t)what, class_name.at, class_name.len), name.at, name.len));
}

static bool same(const entry *e, member what, hdx_text class_name, hdx_text name)
{
    return e->what == what && hdx_text_same(e->class_name, class_name) && hdx_text_same(e->name, name);
}

static const entry *find(const leak_mapping *m, member what, hdx_text class_name, hdx_text name)
{
    if (m == NULL || m->slot_count == 0)
        return NULL;
    for (uint64_t i = hash(what, class_name, name);; i++) {
        const uint32_t at = m->slots[i & (m->slot_count - 1)];
        if (at == 0)
            return NULL;
        if (same(&m->entries[at - 1], what, class_name, name))
            return &m->entries[at - 1];
    }
}

/* "1:7:void open(int):12:18" -> "open" */
static bool method_name(hdx_text left, hdx_text *name)
{
    const char *open = memchr(left.at, '(', left.len);
    uint32_t    from, end;
    if (open == NULL)
        return false;
    end = (uint32_t)(open - left.at);
    for (from = end; from > 0 && left.at[from - 1] != ' '; from--)
        ;
    *name = strip((hdx_text){ left.at + from, end - from });
    return name->len > 0;
}

/* Reads one line; false: no memory. */
static bool line(leak_mapping *m, hdx_text text, hdx_text *class_name, bool *inside)
{
    hdx_text left, right, rest, type;
    entry    e = { .what = A_FIELD };
    text = strip(text);
    if (text.len == 0 || text.at[0] == '#')
        return true;
    if (text.at[text.len - 1] == ':') {
        *inside = split_at(text, "->", &left, &right) && split_at(right, ":", &right, &rest);
        if (!*inside)
            return true;
        *class_name = strip(right);
        e = (entry){ *class_name, { "", 0 }, strip(left), A_CLASS };
    } else {
        if (!*inside || !split_at(text, "->", &left, &right))
            return true;
        e.class_name = *class_name;
        e.name = strip(right);
        if (memchr(text.at, '(', text.len) != NULL) {
            e.what = A_METHOD;
            if (!method_name(left, &e.clear))
                return true;
        } else {
            if (!split_at(text, " ", &type, &rest) || !split_at(rest, "->", &left, &right))
                return true;
            e.name = strip(right);
            e.clear = strip(left);
        }
    }
    if (!hdx_mem_room(NULL, (void **)&m->entries, &m->capacity, m->count, sizeof *m->entries))
        return false;
    m->entries[m->count++] = e;
    return true;
}

/* Of several entries for one name the last wins. */
static bool index_entries(leak_mapping *m)
{
    if (m->count >= UINT32_MAX / 4)
        return false;
    for (m->slot_count = 16; m->slot_count < 2 * m->count; m->slot_count *= 2)
        ;
    if ((m->slots = hdx_mem_array(NULL, m->slot_count, sizeof *m->slots)) == NULL)
        return false;
    for (uint64_t n = 0; n < m->count; n++) {
        const entry *e = &m->entries[n];
        uint64_t     i = hash(e->what, e->class_name, e->name) & (m->slot_count - 1);
        while (m->slots[i] != 0 && !same(&m->entries[m->slots[i] - 1], e->what, e->class_name, e->name))
            i = (i + 1) & (m->slot_count - 1);
        m->slots[i] = (uint32_t)n + 1;
    }
    return true;
}

hdx_code hdx_leak_mapping_read(const char *at, size_t len, leak_mapping **out, hdx_error *err)
{
    hdx_text      class_name = { "", 0 };
    bool          inside = false, good = true;
    leak_mapping *m = hdx_mem_get(NULL, sizeof *m);
    *out = NULL;
    if (m == NULL)
        return hdx_no_memory(err, "a mapping", sizeof *m);
    m->size = len;
    good = len < UINT32_MAX && (m->text = hdx_mem_get(NULL, len)) != NULL;
    if (good && len > 0)
        memcpy(m->text, at, len);
    for (size_t from = 0; good && from < len;) {
        const char *end = memchr(m->text + from, '\n', len - from);
        size_t      n = end == NULL ? len - from : (size_t)(end - m->text) - from;
        good = line(m, (hdx_text){ m->text + from, (uint32_t)n }, &class_name, &inside);
        from += n + 1;
    }
    if (!good || !index_entries(m)) {
        hdx_leak_mapping_free(m);
        return hdx_no_memory(err, "a mapping", len);
    }
    *out = m;
    return HDX_OK;
}

void hdx_leak_mapping_free(leak_mapping *m)
{
    if (m == NULL)
        return;
    hdx_mem_put(NULL, m->text, m->size);
    hdx_mem_put(NULL, m->entries, m->capacity * sizeof *m->entries);
    hdx_mem_put(NULL, m->slots, m->slots != NULL ? m->slot_count * sizeof *m->slots : 0);
    hdx_mem_put(NULL, m, sizeof *m);
}

hdx_text hdx_leak_mapping_class(const leak_mapping *m, hdx_text obscure, hdx_arena *arena)
{
    const hdx_text none = { "", 0 };
    uint32_t       base = obscure.len;
    while (base >= 2 && memcmp(obscure.at + base - 2, "[]", 2) == 0)
        base -= 2;
    const entry *e = find(m, A_CLASS, (hdx_text){ obscure.at, base }, none);
    if (e == NULL)
        return obscure;
    if (base == obscure.len)
        return e->clear;
    const uint32_t len = e->clear.len + (obscure.len - base);
    char          *text = hdx_arena_get(arena, (uint64_t)len + 1);
    if (text == NULL)
        return obscure;
    memcpy(text, e->clear.at, e->clear.len);
    memcpy(text + e->clear.len, obscure.at + base, obscure.len - base);
    return (hdx_text){ text, len };
}

hdx_text hdx_leak_mapping_field(const leak_mapping *m, hdx_text class_name, hdx_text field)
{
    const entry *e = find(m, A_FIELD, class_name, field);
    return e != NULL ? e->clear : field;
}

hdx_text hdx_leak_mapping_method(const leak_mapping *m, hdx_text class_name, hdx_text method)
{
    const entry *e = find(m, A_METHOD, class_name, method);
    return e != NULL ? e->clear : method;
}
