/* extras.c - allocates these objects in the memory of the rows. */
#include "query/common/extras.h"

#include <assert.h>

static hdx_code add_object(hdx_rows *rows, const char *name, const hdx_column *members, unsigned count,
                           const hdx_cell *cells, hdx_error *err)
{
    hdx_member *m = hdx_arena_get(hdx_rows_arena(rows), count * sizeof *m);
    if (m == NULL)
        return hdx_no_memory(err, name, count * sizeof *m);
    for (unsigned i = 0; i < count; i++)
        m[i] = (hdx_member){ members[i].name, cells[i] };
    return hdx_rows_add_extra(rows, name, hdx_cell_object(m, count), err);
}

hdx_code hdx_extras_add(hdx_code code, hdx_rows **rows, const char *name, const hdx_column *members, unsigned count,
                        const hdx_cell *cells, hdx_error *err)
{
    if (code != HDX_OK || (code = add_object(*rows, name, members, count, cells, err)) == HDX_OK)
        return code;
    hdx_rows_close(*rows);
    *rows = NULL;
    return code;
}

hdx_code hdx_extras_add_numbers(hdx_code code, hdx_rows **rows, const char *name, const hdx_column *members,
                                unsigned count, const uint64_t *numbers, hdx_error *err)
{
    hdx_cell cells[HDX_EXTRAS_MOST];
    assert(count <= HDX_EXTRAS_MOST);
    for (unsigned i = 0; i < count; i++)
        cells[i] = hdx_cell_uint(numbers[i]);
    return hdx_extras_add(code, rows, name, members, count, cells, err);
}
