/* tables.h - a whole table by its name, as `export` finds it. */
#ifndef HDX_TESTS_SUPPORT_TABLES_H
#define HDX_TESTS_SUPPORT_TABLES_H

#include "query/questions.h"

static inline const hdx_question *table_question(const char *name)
{
    static const hdx_question *const tables[] = {
#define TABLE(name) &hdx_table_of_##name,
        HDX_TABLES(TABLE)
#undef TABLE
    };
    for (size_t i = 0; i < HDX_COUNT(tables); i++)
        if (strcmp(tables[i]->declared.name, name) == 0)
            return tables[i];
    return NULL;
}

static inline hdx_code table_named(const hdx_query *q, const char *name, hdx_rows **out, hdx_error *err)
{
    const hdx_question *table = table_question(name);
    *out = NULL;
    return table != NULL ? hdx_question_open(table, q, &(hdx_arguments){ &table->declared, NULL, 0 }, out, err)
                         : hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "there is no table %s", name);
}

#endif
