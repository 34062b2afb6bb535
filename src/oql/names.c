/*
 * names.c - names and texts as SQL writes them, and what the dump knows about classes and fields.
 *
 * A field is a column of its class's table only if it is the field that MAT would choose: of several with one name MAT
 * chooses the topmost, but the table's column is the lowest; SQL's names ignore case, Java's do not; and a class whose
 * name equals that of a built-in table, or differs from another class only in case, has no table of that name.
 */
#include "oql/oql.h"
#include "base/nearest.h"

#include <stdio.h>
#include <strings.h>

bool hdx_oql_same(const char *a, const char *b) { return strcasecmp(a, b) == 0; }

static const char *quoted(oql *o, const char *text, char quote)
{
    size_t n = 0;
    if (text == NULL)
        return NULL;
    for (const char *s = text; *s != '\0'; s++)
        n += *s == quote ? 2 : 1;
    char *out = hdx_oql_get(o, n + 3), *at = out;
    if (out == NULL)
        return NULL;
    *at++ = quote;
    for (; *text != '\0'; text++) {
        if (*text == quote)
            *at++ = quote;
        *at++ = *text;
    }
    *at++ = quote;
    *at = '\0';
    return out;
}

const char *hdx_oql_literal(oql *o, const char *text) { return quoted(o, text, '\''); }

static bool is_in(const char *words, const char *text)
{
    char word[24];
    if (strlen(text) + 3 > sizeof word)
        return false;
    (void)snprintf(word, sizeof word, " %s ", text);
    return strcasestr(words, word) != NULL;
}

/* Returns the name without quotes if SQL cannot misread it. */
const char *hdx_oql_identifier(oql *o, const char *text)
{
    static const char *const keywords =
        " abort action add after all alter always analyze and as asc attach autoincrement before begin between by "
        "cascade case cast check collate column commit conflict constraint create cross current current_date "
        "current_time current_timestamp database default deferrable deferred delete desc detach distinct do drop each "
        "else end escape except exclude exclusive exists explain fail filter first following for foreign from full "
        "generated glob group groups having if ignore immediate in index indexed initially inner insert instead "
        "intersect into is isnull join key last left like limit match materialized natural no not nothing notnull "
        "null nulls of offset on or order others outer over partition plan pragma preceding primary query raise range "
        "recursive references regexp reindex release rename replace restrict returning right rollback row rows "
        "savepoint select set table temp temporary then ties to transaction trigger unbounded union unique update "
        "using vacuum values view virtual when where window with without true false rowid oid _rowid_ ";
    if (text == NULL) /* after an earlier failure */
        return NULL;
    const char *s = text;
    while ((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || *s == '_' || (s > text && *s >= '0' && *s <= '9'))
        s++;
    return *s == '\0' && s > text && !is_in(keywords, text) ? text : quoted(o, text, '"');
}

bool hdx_oql_reserved(const char *text)
{
    static const char *const tables =
        " objects refs named_refs classes fields_of_class statics packages loaders roots threads frames heaps dump "
        "damage path dominators subtree dominated reach reachable_by retained_set fields elements entries histogram "
        "main temp ";
    return is_in(tables, text) || strncasecmp(text, "sqlite_", 7) == 0;
}

/* ---- classes ---- */

static bool text_is(hdx_text t, const char *s) { return t.len == strlen(s) && memcmp(t.at, s, t.len) == 0; }
static bool text_is_but_case(hdx_text t, const char *s)
{
    return t.len == strlen(s) && strncasecmp(t.at, s, t.len) == 0;
}

bool hdx_oql_class_there(oql *o, const char *name) { return o->g == NULL || hdx_graph_class_named(o->g, name) != NULL; }

void *hdx_oql_no_class(oql *o, uint32_t at, const char *name)
{
    uint32_t         count;
    const hdx_class *classes = hdx_graph_classes(o->g, &count), *best = NULL;
    const hdx_text   wanted = { name, (uint32_t)strlen(name) };
    unsigned         least = 4;
    for (uint32_t i = 0; i < count; i++) {
        const unsigned d = hdx_edit_distance(wanted, classes[i].name, least - 1);
        if (d < least) {
            least = d;
            best = &classes[i];
        }
        if (least <= 1)
            break;
    }
    if (best != NULL)
        return hdx_oql_fail(o, HDX_NOT_FOUND, at,
                            hdx_oql_format(o, "did you mean %.*s?", (int)best->name.len, best->name.at),
                            "unknown class %.100s", name);
    return hdx_oql_fail(o, HDX_NOT_FOUND, at,
                        "heap dumps have no interfaces; name an implementing class such as java.util.AbstractMap, or a "
                        "pattern in quotes",
                        "unknown class %.100s", name);
}

bool hdx_oql_is_interface(oql *o, const char *name)
{
    uint32_t         count;
    const hdx_class *c = o->g == NULL ? NULL : hdx_graph_class_named(o->g, name);
    if (c == NULL || c->super != HDX_NO_CLASS || c->kind != HDX_INSTANCE || c->instances > 0 ||
        strcmp(name, "java.lang.Object") == 0)
        return false;
    const hdx_class *classes = hdx_graph_classes(o->g, &count);
    for (uint32_t i = 0; i < count; i++)
        if (classes[i].super == c->number)
            return false;
    return true;
}

void *hdx_oql_no_heirs(oql *o, uint32_t at, const char *name)
{
    static const struct {
        const char *interface, *class;
    } known[] = {
        { "java.util.Map", "java.util.AbstractMap" },     { "java.util.List", "java.util.AbstractList" },
        { "java.util.Set", "java.util.AbstractSet" },     { "java.util.Collection", "java.util.AbstractCollection" },
        { "java.util.Queue", "java.util.AbstractQueue" },
    };
    const char *class = "name an implementing class, or a pattern in quotes";
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i].interface) == 0)
            class = known[i].class;
    return hdx_oql_refuse(o, at, hdx_oql_format(o, "name %s", class),
                          "%.100s is an interface, and heap dumps do not record which classes implement it", name);
}

/* A name without a package may be that of another table: "class NAME" always means the class. */
const char *hdx_oql_class_table(oql *o, const char *name, bool heirs)
{
    return hdx_oql_identifier(o, hdx_oql_format(o, "%s%s",
                                                heirs                       ? "instanceof "
                                                : strchr(name, '.') == NULL ? "class "
                                                                            : "",
                                                name));
}

bool hdx_oql_class_has_table(oql *o, const char *name)
{
    uint32_t count;
    if (o->g == NULL || strchr(name, '@') != NULL || strncasecmp(name, "instanceof ", 11) == 0 ||
        strncasecmp(name, "class ", 6) == 0)
        return false;
    const hdx_class *classes = hdx_graph_classes(o->g, &count);
    bool             there = false;
    for (uint32_t i = 0; i < count; i++) {
        const bool same = text_is(classes[i].name, name);
        there |= same;
        if (!same && text_is_but_case(classes[i].name, name))
            return false;
    }
    return there;
}

#define COLUMNS 1000u /* later columns may be cut, because SQLite allows 2,000 */

/*
 * Counts the fields of this name, ignoring case, in the class and its superclasses; *exact: those with the same case.
 */
static unsigned fields_called(oql *o, const hdx_class *c, const char *field, unsigned *exact, uint8_t *type)
{
    unsigned found = 0;
    uint32_t steps = 0, before = 0, count;
    (void)hdx_graph_classes(o->g, &count);
    *exact = 0;
    for (; c != NULL && steps++ < count; c = hdx_graph_class(o->g, c->super))
        for (uint32_t i = 0; i < c->field_count; i++, before++)
            if (text_is_but_case(c->fields[i].name, field)) {
                found++;
                if (text_is(c->fields[i].name, field) && before < COLUMNS) {
                    ++*exact;
                    *type = c->fields[i].type;
                }
            }
    return found;
}

bool hdx_oql_class_has_column(oql *o, const char *name, const char *field, uint8_t *type)
{
    uint32_t count, same = 0;
    if (!hdx_oql_class_has_table(o, name) || is_in(" this class ", field) || field[0] == '@')
        return false;
    const hdx_class *classes = hdx_graph_classes(o->g, &count);
    for (uint32_t i = 0; i < count; i++) {
        unsigned exact;
        uint8_t  this_type = 0;
        if (!text_is(classes[i].name, name))
            continue;
        if (fields_called(o, &classes[i], field, &exact, &this_type) != 1 || exact != 1 ||
            (same > 0 && this_type != *type))
            return false;
        *type = this_type;
        same++;
    }
    return same > 0;
}

struct known {
    const char   *class_name, *field;
    int           types;
    struct known *next;
};

static int types_of(oql *o, const char *name, const char *field)
{
    uint32_t         count, steps;
    int              types = OQL_NO_FIELD;
    const hdx_class *classes = hdx_graph_classes(o->g, &count), *top = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const hdx_class *c = &classes[i];
        for (uint32_t f = 0; f < c->field_count && types != OQL_BOTH; f++)
            if (text_is(c->fields[f].name, field)) {
                const int type = c->fields[f].type == 2 ? OQL_REFERENCES : OQL_NUMBERS;
                types = types == OQL_NO_FIELD || types == type ? type : OQL_BOTH;
            }
    }
    if (types != OQL_BOTH || name == NULL || (top = hdx_graph_class_named(o->g, name)) == NULL)
        return types;
    /*
     * If the dump has fields of several types, those that objects of the class have count: its own and inherited ones.
     */
    int own = OQL_NO_FIELD;
    steps = 0;
    for (const hdx_class *c = top; c != NULL && steps++ < count; c = hdx_graph_class(o->g, c->super))
        for (uint32_t f = 0; f < c->field_count; f++)
            if (text_is(c->fields[f].name, field))
                own = c->fields[f].type == 2 ? OQL_REFERENCES : OQL_NUMBERS; /* the topmost is the last */
    return own == OQL_NO_FIELD ? types : own;
}

int hdx_oql_field_types(oql *o, const char *name, const char *field)
{
    if (o->g == NULL)
        return OQL_NO_FIELD;
    for (const struct known *k = o->known; k != NULL; k = k->next)
        if (strcmp(k->field, field) == 0 &&
            (k->class_name == name || (name != NULL && k->class_name != NULL && strcmp(k->class_name, name) == 0)))
            return k->types;
    struct known *k = hdx_oql_get(o, sizeof *k);
    if (k == NULL)
        return OQL_NO_FIELD;
    *k = (struct known){ name, field, types_of(o, name, field), o->known };
    o->known = k;
    return k->types;
}
