/* cells.c - cells of rows and documents by name. */
#include "render/render.h"

static const hdx_cell none = { .kind = HDX_CELL_NULL };

const hdx_cell *hdx_cell_member(const hdx_cell *object, const char *key)
{
    for (uint64_t i = 0; object->kind == HDX_CELL_OBJECT && i < object->as.object.count; i++)
        if (strcmp(object->as.object.at[i].key, key) == 0)
            return &object->as.object.at[i].value;
    return &none;
}

const hdx_cell *hdx_cell_named(const hdx_column *columns, unsigned count, const hdx_cell *row, const char *name)
{
    for (unsigned i = 0; i < count; i++)
        if (strcmp(columns[i].name, name) == 0)
            return &row[i];
    return &none;
}

const hdx_cell *hdx_rows_extra_cell(const hdx_rows *rows, const char *key)
{
    const hdx_member *extra;
    for (unsigned n = 0; (extra = hdx_rows_extra(rows, n))->key != NULL; n++)
        if (strcmp(extra->key, key) == 0)
            return &extra->value;
    return &none;
}
