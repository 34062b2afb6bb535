/*
 * inputs.c - the files that a call reads, which none of its outputs may replace.
 *
 * In:  a call.
 * Out: the dump, further dumps, every argument that names a file to read, dumps of --attach.
 * Standard input has no path; hdx_output_check tests it itself.
 */
#include "cli/cli.h"

#include "base/own.h"

#include <stdio.h>

/* Returns whether a parameter names an output file. */
static bool is_output(const char *parameter)
{
    return strcmp(parameter, "output") == 0 || strcmp(parameter, "out") == 0;
}

static bool names_file(const hdx_answer *answer, const char *parameter)
{
    for (unsigned i = 0; i < answer->parameter_count; i++)
        if (strcmp(answer->parameters[i].name, parameter) == 0)
            return answer->parameters[i].kind == HDX_PARAMETER_FILE && !is_output(parameter);
    return false;
}

hdx_code cli_inputs_of(const cli_call *call, hdx_arena *arena, cli_inputs *out, hdx_error *err)
{
    const size_t most = call->word_count + call->argument_count + 1;
    out->at = hdx_arena_get(arena, most * sizeof *out->at);
    if (out->at == NULL)
        return hdx_no_memory(err, "names of files", most);
    out->at[out->count++] = call->index.dump;
    for (size_t i = 0; (call->answer->flags & HDX_ANSWER_DUMPS) && i < call->word_count; i++)
        out->at[out->count++] = call->words[i];
    for (size_t i = 0; i < call->argument_count; i++) {
        const hdx_argument *a = &call->arguments[i];
        const char         *value = a->value;
        if (value != NULL && strcmp(a->name, "attach") == 0 && (value = strchr(value, '=')) != NULL)
            out->at[out->count++] = value + 1;
        else if (value != NULL && names_file(call->answer, a->name) && strcmp(value, "-") != 0)
            out->at[out->count++] = value;
    }
    return HDX_OK;
}

/* Returns the file of each output of the call; NULL: standard output. */
static hdx_code outputs_of(const cli_call *call, hdx_arena *arena, const char ***out, size_t *count, hdx_error *err)
{
    const char *const named[] = { cli_is_folder(call) ? NULL : call->output, cli_given(call, "output"), call->junit,
                                  call->sarif, call->markdown };
    const char       *tables = cli_is_folder(call) ? cli_given(call, "table") : NULL, *name;
    hdx_code          code = HDX_OK;
    size_t            most = sizeof named / sizeof *named + 1;
    for (const char *comma = tables; comma != NULL && (comma = strchr(comma, ',')) != NULL; comma++)
        most++;
    const char **at = *out = hdx_arena_get(arena, most * sizeof *at);
    if (at == NULL)
        return hdx_no_memory(err, "names of files", most);
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (named[i] != NULL && strcmp(named[i], "-") != 0)
            at[(*count)++] = named[i];
    for (unsigned i = 0; code == HDX_OK && tables != NULL; i++) {
        if ((code = cli_table_name(tables, i, arena, &name, err)) != HDX_OK || name == NULL)
            break;
        code = cli_table_path(call, name, arena, &at[(*count)++], err);
    }
    return code;
}

/* Also compares targets of symbolic links: two links may lead to one file that does not exist yet. */
static bool same_target(const char *a, const char *b)
{
    char x[HDX_PATH_ROOM], y[HDX_PATH_ROOM];
    return strcmp(a, b) == 0 || hdx_same_file(hdx_whole_target(a, x) < 0 ? a : x, hdx_whole_target(b, y) < 0 ? b : y);
}

hdx_code cli_check_outputs(const cli_call *call, const cli_inputs *inputs, hdx_arena *arena, hdx_error *err)
{
    const char **all;
    size_t       count = 0;
    hdx_code     code = cli_is_folder(call) ? cli_check_folder(call, err) : HDX_OK;
    if (code == HDX_OK)
        code = outputs_of(call, arena, &all, &count, err);
    for (size_t i = 0; code == HDX_OK && i < count; i++) {
        code = hdx_output_check(all[i], inputs->at, inputs->count, err);
        for (size_t k = 0; code == HDX_OK && k < i; k++)
            if (same_target(all[i], all[k]))
                return hdx_fail(err, HDX_USAGE, all[i], HDX_NOWHERE, "two outputs name this file");
    }
    return code;
}
