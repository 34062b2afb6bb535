/* commands.c - what there is to call: every answer of the library, and what the command line has besides. */
#include "cli/cli.h"

static const hdx_answer *const own[] = { &cli_sql_command, &cli_oql_command, &cli_batch_command };
#define OWN       (sizeof own / sizeof *own)
#define LANGUAGES 2u /* of them, first */

/* They stand before what gives whole tables. */
static size_t place(const hdx_answer *const *all, size_t count)
{
    size_t i = 0;
    while (i < count && strcmp(all[i]->name, "export") != 0)
        i++;
    return i;
}

size_t cli_command_count(void)
{
    size_t count;
    (void)hdx_answers(&count);
    return count + OWN;
}

const hdx_answer *cli_command_at(size_t i)
{
    size_t                   count;
    const hdx_answer *const *all = hdx_answers(&count);
    const size_t             first = place(all, count);
    return i < first ? all[i] : i < first + OWN ? own[i - first] : all[i - OWN];
}

const hdx_answer *cli_command_named(const char *name)
{
    for (size_t i = 0; i < OWN; i++)
        if (strcmp(own[i]->name, name) == 0)
            return own[i];
    return hdx_answer_named(name);
}

bool cli_has_language(const hdx_answer *command)
{
    for (size_t i = 0; i < LANGUAGES; i++)
        if (own[i] == command)
            return true;
    return false;
}
