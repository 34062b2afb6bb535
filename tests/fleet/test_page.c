/*
 * test_page.c - the tables in doc/fleet.md are those that are declared, column by column.
 *
 * HDX_WRITE_FLEET=/tmp/fleet.md writes the page as it would be now.
 */
#include "fleet/written.h"

#define PAGE  HDX_TREE "/doc/fleet.md"
#define BEGIN "<!-- tables: written by a test, tests/fleet/test_page.c -->\n"
#define END   "<!-- end of tables -->\n"

static void put_table(hdx_buffer *b, const hdx_fleet_declared *d)
{
    hdx_buffer_format(b, "\n### %s%s\n\n%c%s.", d->name, d->on_demand ? " (on demand)" : "",
                      (char)(d->sentence[0] >= 'a' && d->sentence[0] <= 'z' ? d->sentence[0] - 32 : d->sentence[0]),
                      d->sentence + 1);
    if (d->command[0] != '\0')
        hdx_buffer_format(b, "\n\n    heapdex %s", d->command);
    hdx_buffer_text(b, "\n\n| column | type | unit | what |\n| --- | --- | --- | --- |\n");
    for (unsigned i = 0; i < d->column_count; i++) {
        const hdx_column *c = &d->columns[i];
        hdx_buffer_format(b, "| `%s` | %s%s | %s | %s |\n", c->name, hdx_column_type_name(c->type),
                          (c->flags & HDX_COLUMN_NULLABLE) != 0 ? ", null" : "", hdx_column_unit_name(c->unit),
                          c->sentence);
    }
}

Test(page, has_the_tables_that_are_declared)
{
    hdx_fleet_declared d;
    uint64_t           len;
    const char        *path = getenv("HDX_WRITE_FLEET");
    char              *page = file_bytes(PAGE, &len);
    char              *begin = strstr(page, BEGIN), *end = strstr(page, END);
    hdx_buffer         b = hdx_buffer_of(NULL);
    cr_assert(begin != NULL && end != NULL && begin < end);
    begin += strlen(BEGIN);
    for (unsigned i = 0; hdx_fleet_table_at(i, &d); i++)
        put_table(&b, &d);
    hdx_buffer_text(&b, "\n");
    if (path != NULL) {
        FILE *file = fopen(path, "w");
        cr_assert(file != NULL);
        (void)fprintf(file, "%.*s%s%s", (int)(begin - page), page, b.at, end);
        (void)fclose(file);
    } else {
        cr_expect((size_t)(end - begin) == b.len && memcmp(begin, b.at, b.len) == 0,
                  "HDX_WRITE_FLEET writes the page anew");
    }
    hdx_buffer_free(&b);
    free(page);
}

/* Names that a table of SQLite, a folder and a program can have, none twice, and a sentence to each. */
Test(page, tables_and_columns_have_plain_names_and_sentences)
{
    static const char  letters[] = "abcdefghijklmnopqrstuvwxyz_";
    hdx_fleet_declared d, other;
    for (unsigned i = 0; hdx_fleet_table_at(i, &d); i++) {
        cr_expect(strspn(d.name, letters) == strlen(d.name) && d.sentence[0] != '\0', "%s", d.name);
        for (unsigned k = 0; k < i; k++)
            cr_expect(hdx_fleet_table_at(k, &other) && strcmp(other.name, d.name) != 0, "%s", d.name);
        for (unsigned c = 0; c < d.column_count; c++) {
            const hdx_column *column = &d.columns[c];
            cr_expect(strspn(column->name, letters) == strlen(column->name) && column->sentence[0] != '\0', "%s.%s",
                      d.name, column->name);
            cr_expect(column->type != HDX_TYPE_LIST && column->type != HDX_TYPE_OBJECT && column->type != HDX_TYPE_ANY,
                      "%s.%s", d.name, column->name);
            for (unsigned k = 0; k < c; k++)
                cr_expect(strcmp(d.columns[k].name, column->name) != 0, "%s.%s", d.name, column->name);
        }
        cr_expect(strcmp(d.columns[0].name, "dump_id") == 0, "%s", d.name);
    }
}
