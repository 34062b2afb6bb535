/*
 * output.c - which files an answer may be written to: none that the call reads, and none that is part of an index.
 *
 * In:  the path of an output, the paths of all inputs of the call.
 * Out: HDX_OK, or why the file may not be written.
 * An output replaces what has its name, which is what the caller wants of an older answer. Of an input it never is.
 */
#include "answer/answer.h"

#include "base/own.h"
#include "making/making.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Of the folder that has it up to the root: an index, with the views in it, is two or three levels. */
static bool is_in_index(const char *path, char index[4096])
{
    const char *slash = strrchr(path, '/');
    char        folder[4096];
    (void)snprintf(folder, sizeof folder, "%.*s", slash == NULL || slash == path ? 1 : (int)(slash - path),
                   slash == NULL ? "." : path);
    if (realpath(folder, index) == NULL)
        return false;
    while (index[0] == '/' && index[1] != '\0') {
        if (hdx_folder_is_index(hdx_io_system(), index))
            return true;
        *strrchr(index, '/') = '\0';
    }
    return false;
}

static bool is_standard_input(const struct stat *file)
{
    struct stat in;
    return fstat(STDIN_FILENO, &in) == 0 && S_ISREG(in.st_mode) && in.st_dev == file->st_dev &&
           in.st_ino == file->st_ino;
}

hdx_code hdx_output_check(const char *path, const char *const *inputs, size_t count, hdx_error *err)
{
    char        index[4096];
    struct stat st;
    const bool  exists = stat(path, &st) == 0;
    if (exists && S_ISDIR(st.st_mode))
        return hdx_fail(err, HDX_USAGE, path, HDX_NOWHERE, "is a folder; the output must be a file");
    for (size_t i = 0; i < count; i++)
        if (inputs[i] != NULL && strcmp(inputs[i], "-") != 0 && hdx_same_file(path, inputs[i]))
            return strcmp(path, inputs[i]) == 0
                       ? hdx_fail(err, HDX_USAGE, path, HDX_NOWHERE,
                                  "is an input of this call; the output would replace it")
                       : hdx_fail(err, HDX_USAGE, path, HDX_NOWHERE,
                                  "is the same file as %s, an input of this call; the output would replace it",
                                  inputs[i]);
    if (exists && is_standard_input(&st))
        return hdx_fail(err, HDX_USAGE, path, HDX_NOWHERE,
                        "is the standard input of this call; the output would replace it");
    if ((!exists || S_ISREG(st.st_mode)) && is_in_index(path, index))
        return hdx_fail(err, HDX_USAGE, path, HDX_NOWHERE, "lies in the index %s; an output is never written there",
                        index);
    return HDX_OK;
}

bool hdx_output_is_dump(const char *path)
{
    uint64_t    time_ms;
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 && hdx_answer_is_dump(path, &time_ms);
}
