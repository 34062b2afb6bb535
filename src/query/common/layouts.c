/*
 * layouts.c - parses lines of layouts, from text and from the built-in tables.
 *
 * In:  untrusted text.
 * Out: layouts; parsing stops at the first invalid line and reports its number.
 */
#include "query/common/layouts.h"

#include "base/pattern.h"
#include "base/textfile.h"
#include <stdlib.h>
#include <string.h>

#define FILE_MOST  (1u << 20)
#define LINES_MOST 10000u /* per text */
#define NAMES_MOST 30000u /* that one text adds; with the built-in ones they stay below HDX_STEP_EACH */

const char *hdx_collection_kind_name(hdx_collection_kind kind)
{
    static const char *const names[] = { "list", "map", "set", "queue" };
    return names[kind];
}

/* ---- words ---- */

typedef struct reading {
    hdx_layouts *l;
    const char  *file;
    uint64_t     line;
    hdx_error   *err;
    uint64_t     lines_before, names_before; /* read before this text */
} reading;

static hdx_code fault(const reading *r, const char *what, hdx_text seen)
{
    return hdx_fail(r->err, HDX_USAGE, r->file, HDX_NOWHERE, "line %llu: %s: '%.*s'", (unsigned long long)r->line, what,
                    (int)(seen.len < 100 ? seen.len : 100), seen.at);
}

static hdx_code no_memory(const reading *r) { return hdx_no_memory(r->err, "layouts", sizeof(hdx_layout)); }

static hdx_text next_word(hdx_text *rest)
{
    while (rest->len > 0 && (unsigned char)*rest->at <= ' ')
        *rest = (hdx_text){ rest->at + 1, rest->len - 1 };
    hdx_text word = { rest->at, 0 };
    while (word.len < rest->len && (unsigned char)word.at[word.len] > ' ')
        word.len++;
    *rest = (hdx_text){ rest->at + word.len, rest->len - word.len };
    return word;
}

/* Returns the text before the first `mark` and skips the mark; without one, returns all of it. */
static hdx_text until(hdx_text *rest, char mark)
{
    const char    *end = rest->len == 0 ? NULL : memchr(rest->at, mark, rest->len);
    hdx_text       part = { rest->at, end == NULL ? rest->len : (uint32_t)(end - rest->at) };
    const uint32_t past = part.len + (end != NULL);
    *rest = (hdx_text){ rest->at + past, rest->len - past };
    return part;
}

/* ---- names ---- */

static hdx_code number_of(const reading *r, hdx_text name, uint16_t *out)
{
    hdx_layouts *l = r->l;
    bool         fresh;
    uint64_t    *known = hdx_map_put(&l->named, hdx_hash_bytes(1, name.at, name.len), &fresh);
    if (known == NULL)
        return no_memory(r);
    if (!fresh && l->names.at[*known - 1].len == name.len &&
        memcmp(l->names.at[*known - 1].at, name.at, name.len) == 0) {
        *out = (uint16_t)(*known - 1);
        return HDX_OK;
    }
    const char *copy = hdx_arena_copy(&l->arena, name.at, name.len);
    if (copy == NULL || !hdx_list_room(l->mem, HDX_LIST_REF(&l->names)))
        return no_memory(r);
    if (l->names.count - r->names_before == NAMES_MOST)
        return fault(r, "too many field names", name);
    l->names.at[l->names.count++] = (hdx_text){ copy, name.len };
    *known = l->names.count;
    *out = (uint16_t)(l->names.count - 1);
    return HDX_OK;
}

/* a.b[].c */
static hdx_code path_of(const reading *r, hdx_text text, hdx_field_path *out)
{
    const hdx_text whole = text;
    out->count = 0;
    if (text.len == 0)
        return fault(r, "the name of a field is expected", text);
    for (bool more = true; more;) {
        more = memchr(text.at, '.', text.len) != NULL;
        hdx_text part = until(&text, '.');
        unsigned each = 0;
        for (; part.len > 2 && memcmp(part.at + part.len - 2, "[]", 2) == 0; each++)
            part.len -= 2;
        if (part.len == 0 || memchr(part.at, '[', part.len) != NULL || (more && text.len == 0))
            return fault(r, "a path such as map.table or segments[].count is expected", whole);
        if (out->count + 1 + each > HDX_PATH_STEPS)
            return fault(r, "a path has 8 steps at most", whole);
        hdx_code code = number_of(r, part, &out->step[out->count++]);
        if (code != HDX_OK)
            return code;
        for (; each > 0; each--)
            out->step[out->count++] = HDX_STEP_EACH;
    }
    return HDX_OK;
}

static hdx_code one_path(const reading *r, hdx_text text, hdx_field_path *out)
{
    hdx_code code = path_of(r, text, out);
    for (unsigned i = 0; code == HDX_OK && i < out->count; i++)
        if (out->step[i] == HDX_STEP_EACH)
            return fault(r, "[] is not allowed here", text);
    return code;
}

static hdx_code paths_of(const reading *r, hdx_text text, char between, hdx_field_paths *out)
{
    const hdx_text whole = text;
    hdx_code       code = HDX_OK;
    out->count = 0;
    for (bool more = true; more && code == HDX_OK;) {
        if (out->count == HDX_PATHS_MOST)
            return fault(r, "ten paths at most", whole);
        more = text.len > 0 && memchr(text.at, between, text.len) != NULL;
        code = path_of(r, until(&text, between), &out->at[out->count++]);
    }
    return code;
}

static hdx_code node_paths(const reading *r, hdx_text text, hdx_field_paths *out)
{
    hdx_code code = paths_of(r, text, ',', out);
    for (unsigned i = 0; code == HDX_OK && i < out->count; i++)
        for (unsigned k = 0; k < out->at[i].count; k++)
            if (out->at[i].step[k] == HDX_STEP_EACH)
                return fault(r, "[] is not allowed here", text);
    return code;
}

static hdx_code static_of(const reading *r, hdx_text text, hdx_static_name *out)
{
    const hdx_text whole = text;
    const hdx_text class_name = until(&text, '#');
    if (class_name.len == 0 || text.len == 0)
        return fault(r, "CLASS#STATIC is expected", whole);
    const char *copy = hdx_arena_copy(&r->l->arena, text.at, text.len);
    out->class_name = hdx_arena_copy(&r->l->arena, class_name.at, class_name.len);
    out->field = (hdx_text){ copy, text.len };
    return copy == NULL || out->class_name == NULL ? no_memory(r) : HDX_OK;
}

/* CLASS#FIELD,CLASS#FIELD */
static hdx_code unwraps_of(const reading *r, hdx_text value, hdx_layout *l)
{
    const hdx_text whole = value;
    hdx_code       code = HDX_OK;
    for (bool more = true; more && code == HDX_OK;) {
        if (l->unwrap_count == HDX_UNWRAPS_MOST)
            return fault(r, "four classes at most", whole);
        more = value.len > 0 && memchr(value.at, ',', value.len) != NULL;
        hdx_text       part = until(&value, ',');
        const hdx_text class_name = until(&part, '#');
        hdx_unwrap    *u = &l->unwrap[l->unwrap_count++];
        if (class_name.len == 0 || part.len == 0)
            return fault(r, "CLASS#FIELD is expected", whole);
        const char *copy = hdx_arena_copy(&r->l->arena, class_name.at, class_name.len);
        if (copy == NULL)
            return no_memory(r);
        u->class_name = (hdx_text){ copy, class_name.len };
        u->reference = hdx_text_is(part, "referent");
        code = number_of(r, part, &u->field);
    }
    return code;
}

/* ---- sizes ---- */

static hdx_code term_of(const reading *r, hdx_text text, hdx_size_term *out)
{
    *out = (hdx_size_term){ .sign = '=' };
    if (text.len > 0 && *text.at >= '0' && *text.at <= '9') {
        out->sign = 0;
        for (uint32_t i = 0; i < text.len; i++) {
            if (text.at[i] < '0' || text.at[i] > '9' || i > 9)
                return fault(r, "a number of at most 10 digits is expected", text);
            out->number = out->number * 10 + (uint64_t)(text.at[i] - '0');
        }
        return HDX_OK;
    }
    if (text.len > 0 && strchr("#?%", *text.at) != NULL) {
        out->sign = *text.at;
        text = (hdx_text){ text.at + 1, text.len - 1 };
    }
    hdx_code code = path_of(r, text, &out->path);
    unsigned each = 0;
    for (unsigned i = 0; code == HDX_OK && i < out->path.count; i++)
        each += out->path.step[i] == HDX_STEP_EACH;
    if (code == HDX_OK && (each > 1 || out->path.step[out->path.count - 1] == HDX_STEP_EACH))
        return fault(r, "one [] at most, and a field after it", text);
    return code;
}

static hdx_code size_of(const reading *r, hdx_text text, hdx_layout *l)
{
    const hdx_text whole = text;
    hdx_code       code = HDX_OK;
    for (bool more = true; more && code == HDX_OK;) {
        if (l->term_count == sizeof l->term / sizeof *l->term)
            return fault(r, "six terms at most", whole);
        more = text.len > 0 && memchr(text.at, '+', text.len) != NULL;
        code = term_of(r, until(&text, '+'), &l->term[l->term_count++]);
    }
    return code;
}

/* ---- lines ---- */

static const struct {
    const char *word;
    hdx_way     way;
} ways[] = { { "slots", HDX_WAY_SLOTS },     { "sparse", HDX_WAY_SPARSE }, { "pairs", HDX_WAY_PAIRS },
             { "keys", HDX_WAY_COLUMNS },    { "first", HDX_WAY_CHAIN },   { "root", HDX_WAY_TREE },
             { "buckets", HDX_WAY_BUCKETS }, { "fields", HDX_WAY_FIELDS }, { "of", HDX_WAY_OF } };

static hdx_code way_word(const reading *r, hdx_text name, hdx_text value, hdx_layout *l, bool *is)
{
    *is = false;
    for (unsigned i = 0; i < HDX_COUNT(ways); i++) {
        if (!hdx_text_is(name, ways[i].word))
            continue;
        *is = true;
        if (l->way != HDX_WAY_NONE)
            return fault(r, "elements are described twice", name);
        l->way = ways[i].way;
        hdx_code code = paths_of(r, value, ',', &l->source);
        if (code == HDX_OK && l->source.count > 1 &&
            (l->way == HDX_WAY_COLUMNS || l->way == HDX_WAY_CHAIN || l->way == HDX_WAY_TREE || l->way == HDX_WAY_OF))
            return fault(r, "one path is expected", value);
        for (unsigned k = 0; code == HDX_OK && k < l->source.count; k++)
            for (unsigned s = 0; s < l->source.at[k].count; s++)
                if (l->source.at[k].step[s] == HDX_STEP_EACH && (l->way == HDX_WAY_COLUMNS || l->way >= HDX_WAY_CHAIN))
                    return fault(r, "[] is not allowed here", value);
        return code;
    }
    return HDX_OK;
}

static hdx_code choice(const reading *r, hdx_text value, const char *words, const char *what, int *out)
{
    *out = value.len == 0 ? -1 : hdx_word_place(words, value.at, value.len);
    return *out < 0 ? fault(r, what, value) : HDX_OK;
}

/* word: as written in the text. */
static hdx_code named_word(const reading *r, hdx_text word, hdx_text name, hdx_text value, hdx_layout *l)
{
    bool     is;
    int      place = 0;
    hdx_code code = HDX_OK;
    if ((code = way_word(r, name, value, l, &is)) != HDX_OK || is)
        return code;
    const struct {
        const char     *word;
        hdx_field_path *path;
    } paths[] = { { "from", &l->from }, { "to", &l->to },     { "bits", &l->bits },   { "last", &l->last },
                  { "next", &l->next }, { "left", &l->left }, { "right", &l->right }, { "bin", &l->bin } };
    for (unsigned i = 0; i < HDX_COUNT(paths); i++)
        if (hdx_text_is(name, paths[i].word))
            return one_path(r, value, paths[i].path);
    if (hdx_text_is(name, "size"))
        return size_of(r, value, l);
    if (hdx_text_is(name, "values")) {
        l->values.count = 1;
        return one_path(r, value, &l->values.at[0]);
    }
    if (hdx_text_is(name, "key"))
        return node_paths(r, value, &l->key);
    if (hdx_text_is(name, "value"))
        return node_paths(r, value, &l->value);
    if (hdx_text_is(name, "nothing"))
        return static_of(r, value, &l->nothing);
    if (hdx_text_is(name, "null"))
        return static_of(r, value, &l->null);
    if (hdx_text_is(name, "chain"))
        return static_of(r, value, &l->chain);
    if (hdx_text_is(name, "unwrap"))
        return unwraps_of(r, value, l);
    if (hdx_text_is(name, "take")) {
        code = choice(r, value, "keys values", "keys or values is expected", &place);
        l->take = place == 0 ? HDX_TAKE_KEYS : HDX_TAKE_VALUES;
        return code;
    }
    if (hdx_text_is(name, "free")) {
        code = choice(r, value, "key value none", "key, value or none is expected", &place);
        l->free = place == 0 ? HDX_FREE_KEY : place == 1 ? HDX_FREE_VALUE : HDX_FREE_NONE;
        return code;
    }
    return fault(r, "unknown word", word);
}

static hdx_code word_of(const reading *r, hdx_text word, hdx_layout *l)
{
    hdx_text value = word, name = until(&value, '=');
    if (hdx_text_is(word, "hidden") || hdx_text_is(word, "unknown")) {
        *(*word.at == 'h' ? &l->hidden : &l->unknown) = true;
        return HDX_OK;
    }
    return name.len == word.len ? fault(r, "a word such as size=size is expected", word)
                                : named_word(r, word, name, value, l);
}

/* Checks that the words of a line fit together. */
static hdx_code check(const reading *r, const hdx_layout *l)
{
    const bool     nodes = l->way == HDX_WAY_CHAIN || l->way == HDX_WAY_TREE || l->way == HDX_WAY_BUCKETS;
    const hdx_text name = l->class_name;
    if (l->unknown && (l->way != HDX_WAY_NONE || l->term_count > 0))
        return fault(r, "layout 'unknown' excludes a size and elements", name);
    if (!l->unknown && l->way == HDX_WAY_NONE && l->term_count == 0)
        return fault(r, "neither a size nor elements", name);
    if (nodes && l->key.count == 0 && l->value.count == 0)
        return fault(r, "key= or value= of the nodes is expected", name);
    if ((l->way == HDX_WAY_CHAIN || l->way == HDX_WAY_BUCKETS) && l->next.count == 0)
        return fault(r, "next= is expected", name);
    if (l->way == HDX_WAY_TREE && (l->left.count == 0 || l->right.count == 0))
        return fault(r, "left= and right= are expected", name);
    if (l->way == HDX_WAY_FIELDS && l->kind == HDX_COLLECTION_MAP && l->source.count % 2 != 0)
        return fault(r, "fields of a map must be pairs of key and value", name);
    if (l->values.count > 0 && l->way != HDX_WAY_COLUMNS)
        return fault(r, "values= needs keys=", name);
    return HDX_OK;
}

/* Adds a line with only the name of its class; it becomes valid after its words are read. */
static hdx_code begin_line(const reading *r, hdx_text class_name, hdx_layout **out)
{
    hdx_layouts *all = r->l;
    *out = NULL;
    if (all->lines.count - r->lines_before == LINES_MOST)
        return fault(r, "10000 lines at most", class_name);
    if (!hdx_list_room(all->mem, HDX_LIST_REF(&all->lines)))
        return no_memory(r);
    hdx_layout *l = *out = &all->lines.at[all->lines.count];
    memset(l, 0, sizeof *l);
    const char *copy = hdx_arena_copy(&all->arena, class_name.at, class_name.len);
    if (copy == NULL)
        return no_memory(r);
    l->class_name = (hdx_text){ copy, class_name.len };
    l->glob = hdx_is_glob(l->class_name);
    return HDX_OK;
}

static hdx_code line_of(const reading *r, hdx_text line)
{
    hdx_layouts *all = r->l;
    hdx_text     rest = line, class_name = next_word(&rest), word;
    hdx_layout  *l;
    int          kind = 0;
    if (class_name.len == 0 || *class_name.at == '#')
        return HDX_OK;
    hdx_code code = begin_line(r, class_name, &l);
    if (code != HDX_OK)
        return code;
    code = choice(r, next_word(&rest), "list map set queue", "list, map, set or queue is expected", &kind);
    l->kind = (hdx_collection_kind)kind;
    while (code == HDX_OK && (word = next_word(&rest)).len > 0 && *word.at != '#')
        code = word_of(r, word, l);
    if (code == HDX_OK && (code = check(r, l)) == HDX_OK)
        all->lines.count++;
    return code;
}

hdx_code hdx_layouts_begin(hdx_layouts *l, hdx_mem *mem, hdx_error *err)
{
    (void)err;
    *l = (hdx_layouts){ .mem = mem, .arena = hdx_arena_of(mem), .named = hdx_map_of(mem) };
    return HDX_OK;
}

hdx_code hdx_layouts_read(hdx_layouts *l, const char *name, const char *text, size_t len, hdx_error *err)
{
    reading  r = { l, name, 0, err, l->lines.count, l->names.count };
    hdx_code code = HDX_OK;
    if (len > FILE_MOST)
        return hdx_fail(err, HDX_USAGE, name, HDX_NOWHERE, "a table of layouts has 1 MiB at most");
    for (hdx_text rest = { text, (uint32_t)len }; code == HDX_OK && rest.len > 0;) {
        r.line++;
        code = line_of(&r, until(&rest, '\n'));
    }
    return code;
}

static hdx_text text_of(const char *s) { return (hdx_text){ s, (uint32_t)strlen(s) }; }

static hdx_code known_line(const reading *r, const hdx_known_layout *k)
{
    const struct {
        const char *name, *value;
    } words[] = { { "size", k->size },   { "slots", k->slots },   { "sparse", k->sparse },   { "pairs", k->pairs },
                  { "keys", k->keys },   { "values", k->values }, { "buckets", k->buckets }, { "first", k->first },
                  { "root", k->root },   { "fields", k->fields }, { "of", k->of },           { "from", k->from },
                  { "to", k->to },       { "bits", k->bits },     { "last", k->last },       { "next", k->next },
                  { "left", k->left },   { "right", k->right },   { "bin", k->bin },         { "key", k->key },
                  { "value", k->value }, { "take", k->take },     { "free", k->free },       { "nothing", k->nothing },
                  { "null", k->null },   { "chain", k->chain },   { "unwrap", k->unwrap } };
    hdx_layout *l;
    hdx_code    code = begin_line(r, text_of(k->name), &l);
    if (code != HDX_OK)
        return code;
    l->kind = k->kind;
    l->hidden = k->hidden;
    l->unknown = k->unknown;
    for (unsigned i = 0; code == HDX_OK && i < HDX_COUNT(words); i++)
        if (words[i].value != NULL)
            code = named_word(r, text_of(words[i].value), text_of(words[i].name), text_of(words[i].value), l);
    if (code == HDX_OK && (code = check(r, l)) == HDX_OK)
        r->l->lines.count++;
    return code;
}

hdx_code hdx_layouts_known(hdx_layouts *l, hdx_error *err)
{
    const struct {
        const hdx_known_layout *at;
        unsigned                count;
    } tables[] = { { hdx_layouts_of_languages, hdx_layouts_of_languages_count },
                   { hdx_layouts_of_libraries, hdx_layouts_of_libraries_count } };
    reading  r = { l, "layouts", 0, err, l->lines.count, l->names.count };
    hdx_code code = HDX_OK;
    for (unsigned t = 0; t < HDX_COUNT(tables); t++)
        for (unsigned i = 0; code == HDX_OK && i < tables[t].count; i++) {
            r.line++;
            code = known_line(&r, &tables[t].at[i]);
        }
    return code;
}

hdx_code hdx_layouts_open(hdx_layouts *l, const char *path, const hdx_progress *progress, hdx_mem *mem, hdx_error *err)
{
    hdx_text text;
    hdx_code code = hdx_layouts_begin(l, mem, err);
    if (code == HDX_OK && path != NULL &&
        (code = hdx_text_file(path, FILE_MOST, progress, &l->arena, &text, err)) == HDX_OK)
        code = hdx_layouts_read(l, path, text.at, text.len, err);
    return code == HDX_OK ? hdx_layouts_known(l, err) : code;
}

void hdx_layouts_free(hdx_layouts *l)
{
    hdx_list_free(l->mem, HDX_LIST_REF(&l->lines));
    hdx_list_free(l->mem, HDX_LIST_REF(&l->names));
    hdx_map_free(&l->named);
    hdx_arena_free(&l->arena);
}
