/*
 * schema.c - the JSON Schema of an answer, from its declaration.
 *
 * Addresses are strings "0x...", reals may be "NaN" and "Infinity" (JSON has no such numbers), values removed from a
 * stripped dump are {"absent": true}. Nested columns are visited with an explicit stack instead of recursion.
 */
#include "answer/answer.h"
#include "render/render.h"

#define DEEPEST 16u /* answers nest less deeply */

static void quoted(hdx_buffer *out, const char *text)
{
    const hdx_cell cell = hdx_cell_string(text);
    hdx_render_json_cell(out, &cell);
}

static void indented(hdx_buffer *out, unsigned depth) { hdx_buffer_format(out, "\n%*s", (int)(2 * depth), ""); }

/* Writes the schema of one value without its members: "type": ..., "description": ... */
static void put_type(hdx_buffer *out, const hdx_column *c)
{
    static const char *const types[] = { "integer", "integer", "number", "boolean",
                                         "string",  "string",  "array",  "object" };
    const bool               nullable = (c->flags & HDX_COLUMN_NULLABLE) != 0;
    if (c->type == HDX_TYPE_ANY) {
        hdx_buffer_text(
            out, "\"type\": [\"integer\", \"number\", \"boolean\", \"string\", \"object\", \"array\", \"null\"]");
    } else if (c->type == HDX_TYPE_REAL) {
        hdx_buffer_format(out, "\"type\": [\"number\", \"string\"%s]", nullable ? ", \"null\"" : "");
    } else if (nullable) { /* the object is {"absent": true} */
        hdx_buffer_format(out, "\"type\": [\"%s\", %s\"null\"]", types[c->type],
                          c->type == HDX_TYPE_OBJECT ? "" : "\"object\", ");
    } else {
        hdx_buffer_format(out, "\"type\": \"%s\"", types[c->type]);
    }
    if (c->type == HDX_TYPE_ADDRESS)
        hdx_buffer_text(out, ", \"pattern\": \"^0x[0-9a-f]+$\"");
    if (c->type == HDX_TYPE_UNSIGNED)
        hdx_buffer_text(out, ", \"minimum\": 0");
    if (c->unit != HDX_UNIT_NONE)
        hdx_buffer_format(out, ", \"unit\": \"%s\"", hdx_column_unit_name(c->unit));
    if (c->sentence != NULL) {
        hdx_buffer_text(out, ", \"description\": ");
        quoted(out, c->sentence);
    }
}

typedef struct level { /* columns of an object that are being written */
    const hdx_column *at;
    unsigned          count, next;
    bool              list; /* the columns are those of the entries of a list: one more brace to close */
} level;

static void required(hdx_buffer *out, const hdx_column *columns, unsigned count)
{
    bool any = false;
    for (unsigned i = 0; i < count; i++)
        if ((columns[i].flags & HDX_COLUMN_OPTIONAL) == 0) {
            hdx_buffer_text(out, any ? ", " : "\"required\": [");
            quoted(out, columns[i].name);
            any = true;
        }
    hdx_buffer_text(out, any ? "], " : "");
}

/* Begins "required": [...], "properties": { ... } of an object with these columns. */
static void put_members(hdx_buffer *out, const hdx_column *columns, unsigned count, unsigned indent)
{
    level    stack[DEEPEST];
    unsigned depth = 1;
    stack[0] = (level){ columns, count, 0, false };
    required(out, columns, count);
    hdx_buffer_text(out, "\"properties\": {");
    while (depth > 0) {
        level *l = &stack[depth - 1];
        if (l->next == l->count) {
            const bool list = l->list;
            depth--;
            indented(out, indent + depth);
            hdx_buffer_text(out, depth == 0 ? "}" : list ? "}}}" : "}}");
            continue;
        }
        const hdx_column *c = &l->at[l->next++];
        hdx_buffer_text(out, l->next > 1 ? "," : "");
        indented(out, indent + depth);
        quoted(out, c->name);
        hdx_buffer_text(out, ": {");
        put_type(out, c);
        if (c->member_count == 0) {
            hdx_buffer_text(out, "}");
            continue;
        }
        hdx_buffer_text(out, c->type == HDX_TYPE_LIST ? ", \"items\": {" : ", ");
        if (c->members[0].name == NULL) { /* plain values, or an object whose keys are data */
            hdx_buffer_text(out, c->type == HDX_TYPE_LIST ? "" : "\"additionalProperties\": {");
            put_type(out, &c->members[0]);
            hdx_buffer_text(out, "}}");
        } else if (depth < DEEPEST) {
            if (c->type == HDX_TYPE_LIST)
                hdx_buffer_text(out, "\"type\": \"object\", ");
            required(out, c->members, c->member_count);
            hdx_buffer_text(out, "\"properties\": {");
            stack[depth++] = (level){ c->members, c->member_count, 0, c->type == HDX_TYPE_LIST };
        }
    }
}

/* The members that head.c writes. */
static const hdx_column dump_keys[] = {
    HDX_COLUMN("path", TEXT, NONE, 0, "name of the dump, as given"),
    HDX_COLUMN("size", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE, "uncompressed size"),
    HDX_COLUMN("format", TEXT, NONE, HDX_COLUMN_NULLABLE, "format version from the header"),
    HDX_COLUMN("id_size", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE, "size of an id in the dump"),
    HDX_COLUMN("number", UNSIGNED, NONE, 0, "number of the heap in the file, from 1"),
};
static const hdx_column damage_keys[] = {
    HDX_COLUMN("offset", UNSIGNED, NONE, 0, "position in the dump"),
    HDX_COLUMN("record", TEXT, NONE, HDX_COLUMN_NULLABLE, "kind of record"),
    HDX_COLUMN("expected", TEXT, NONE, HDX_COLUMN_NULLABLE, "description of the damage"),
    HDX_COLUMN("kept_objects", UNSIGNED, COUNT, 0, "objects read before this position"),
    HDX_COLUMN("lost_bytes", UNSIGNED, BYTES, 0, "skipped bytes"),
    HDX_COLUMN("kind", TEXT, NONE, 0, "truncated, length, unknown_tag, layout ..."),
};
static const hdx_column warning_item[] = { HDX_ITEM(TEXT, "text of the warning") };
static const hdx_column head_keys[] = {
    HDX_COLUMN("heapdex", TEXT, NONE, 0, "version of heapdex"),
    HDX_COLUMN("command", TEXT, NONE, 0, "name of the answer"),
    HDX_NESTED("dump", OBJECT, 0, "the dump", dump_keys),
    HDX_NESTED("damage", LIST, 0, "damaged places of the dump", damage_keys),
    HDX_NESTED("warnings", LIST, 0, "other warnings about the dump", warning_item),
};

static const hdx_column view_keys[] = {
    HDX_COLUMN("name", TEXT, NONE, 0, "name of the view"),
    HDX_COLUMN("spec", TEXT, NONE, 0, "roots and references that the view excludes"),
    HDX_COLUMN("references_left_out", UNSIGNED, COUNT, 0, "excluded references between objects"),
};
static const hdx_column view_key = HDX_NESTED("view", OBJECT, 0, "view of the index that the answer used", view_keys);

static const hdx_column cut_keys[] = {
    HDX_COLUMN("rows", UNSIGNED, COUNT, HDX_COLUMN_NULLABLE, "rows that follow; null if they are not counted"),
    HDX_COLUMN("objects", UNSIGNED, COUNT, HDX_COLUMN_NULLABLE, "objects in these rows; null if not known"),
    HDX_COLUMN("retained", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE,
               "their retained size; null if not known, or if rows may count the same bytes"),
    HDX_COLUMN("cursor", TEXT, NONE, 0, "value of `after` for the next page"),
};
static const hdx_column cut_key =
    HDX_NESTED("cut", OBJECT, HDX_COLUMN_OPTIONAL | HDX_COLUMN_NULLABLE,
               "what follows the page; only with `limit` or `after`, null on the last page", cut_keys);

hdx_code hdx_answer_schema(const hdx_answer *answer, const hdx_argument *arguments, size_t count, char **text,
                           hdx_error *err)
{
    const hdx_form  *form = hdx_answer_form(answer, arguments, count);
    hdx_buffer       out = hdx_buffer_of(NULL);
    const hdx_column rows = { "rows",           HDX_TYPE_LIST, HDX_UNIT_NONE,     0,
                              answer->sentence, form->columns, form->column_count };
    hdx_column       all[HDX_COUNT(head_keys) + 3 + 16];
    unsigned         n = 0;
    *text = NULL;
    for (unsigned i = 0; i < HDX_COUNT(head_keys); i++)
        all[n++] = head_keys[i];
    if ((answer->flags & HDX_ANSWER_HEAP) != 0 &&
        hdx_answer_last(&(hdx_arguments){ answer, arguments, count }, "view") != NULL)
        all[n++] = view_key;
    all[n++] = rows;
    if (!hdx_argument_declared(&(hdx_arguments){ answer, arguments, count }, "limit"))
        all[n++] = cut_key;
    for (unsigned i = 0; i < answer->document_count && n < HDX_COUNT(all); i++)
        all[n++] = answer->document[i];
    hdx_buffer_text(&out, "{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n  \"title\": ");
    quoted(&out, answer->name);
    hdx_buffer_text(&out, ",\n  \"type\": \"object\", ");
    put_members(&out, all, n, 1);
    hdx_buffer_text(&out, "\n}\n");
    if (out.failed) {
        hdx_buffer_free(&out);
        return hdx_no_memory(err, "a schema", out.len);
    }
    *text = strdup(out.at);
    hdx_buffer_free(&out);
    return *text == NULL ? hdx_no_memory(err, "a schema", 0) : HDX_OK;
}
