/* test_cells.c - may this cell stand in this column? */
#include "rows/rows.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

Test(cells, have_the_type_of_their_column)
{
    static const hdx_cell cells[] = {
        { .kind = HDX_CELL_UINT }, { .kind = HDX_CELL_INT },     { .kind = HDX_CELL_REAL }, { .kind = HDX_CELL_BOOL },
        { .kind = HDX_CELL_TEXT }, { .kind = HDX_CELL_ADDRESS }, { .kind = HDX_CELL_LIST }, { .kind = HDX_CELL_OBJECT },
    };
    static const hdx_type types[] = { HDX_TYPE_UNSIGNED, HDX_TYPE_SIGNED,  HDX_TYPE_REAL, HDX_TYPE_BOOL,
                                      HDX_TYPE_TEXT,     HDX_TYPE_ADDRESS, HDX_TYPE_LIST, HDX_TYPE_OBJECT };
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
            const hdx_column column = { .type = types[k] }, any = { .type = HDX_TYPE_ANY },
                             nullable = { .type = types[k], .flags = HDX_COLUMN_NULLABLE };
            cr_expect(eq(int, hdx_cell_is(&cells[i], &column), i == k), "cell %zu, column %zu", i, k);
            cr_expect(eq(int, hdx_cell_is(&cells[i], &nullable), i == k), "cell %zu, column %zu", i, k);
            cr_expect(hdx_cell_is(&cells[i], &any));
        }
}

Test(cells, are_missing_only_where_that_is_said)
{
    const hdx_cell   missing[] = { { .kind = HDX_CELL_NULL }, { .kind = HDX_CELL_ABSENT } };
    const hdx_column columns[] = { { .type = HDX_TYPE_ADDRESS },
                                   { .type = HDX_TYPE_UNSIGNED },
                                   { .type = HDX_TYPE_ANY } };
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < 3; k++) {
            hdx_column nullable = columns[k];
            nullable.flags |= HDX_COLUMN_NULLABLE;
            cr_expect(hdx_cell_is(&missing[i], &columns[k]) == false, "cell %zu, column %zu", i, k);
            cr_expect(hdx_cell_is(&missing[i], &nullable), "cell %zu, column %zu", i, k);
        }
}
