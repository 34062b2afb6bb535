/*
 * inputs.c - the files that a call reads, and that none of its outputs may replace.
 *
 * In:  a call.
 * Out: the dump, further dumps, every argument that names a file to read, dumps that a statement attaches.
 * Standard input is no path; hdx_output_check asks for it by itself.
 */
#include "cli/cli.h"

#include "base/own.h"

#include <stdio.h>

/* Parameters that name a file, and are outputs. */
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

hdx_code cli_check_outputs(const cli_call *call, const cli_inputs *inputs, hdx_error *err)
{
    const char *const all[] = { cli_is_folder(call) ? NULL : call->output, cli_given(call, "output"), call->junit,
                                call->sarif, call->markdown };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i] == NULL || strcmp(all[i], "-") == 0)
            continue;
        const hdx_code code = hdx_output_check(all[i], inputs->at, inputs->count, err);
        if (code != HDX_OK)
            return code;
        for (size_t k = 0; k < i; k++)
            if (all[k] != NULL && strcmp(all[k], "-") != 0 && hdx_same_file(all[i], all[k]))
                return hdx_fail(err, HDX_USAGE, all[i], HDX_NOWHERE, "is named as the output twice");
    }
    return HDX_OK;
}
