/* tables.h - a whole table by its name, as `export` finds it. */
#ifndef HDX_TESTS_SUPPORT_TABLES_H
#define HDX_TESTS_SUPPORT_TABLES_H

#include "query/questions.h"

static inline hdx_code table_named(const hdx_query *q, const char *name, hdx_rows **out, hdx_error *err)
{
    static const hdx_question *const tables[] = {
#define TABLE(name) &hdx_table_of_##name,
        HDX_TABLES(TABLE)
#undef TABLE
    };
    *out = NULL;
    for (size_t i = 0; i < HDX_COUNT(tables); i++)
        if (strcmp(tables[i]->declared.name, name) == 0)
            return tables[i]->open(q, &(hdx_arguments){ &tables[i]->declared, NULL, 0 }, out, err);
    return hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "there is no table %s", name);
}

#endif
