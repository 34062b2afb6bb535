/*
 * output.c - decides whether an answer may be written to a file: not to an input of the call, a heap dump or a file of
 * an index.
 *
 * In:  the path of an output, the paths of all inputs of the call.
 * Out: HDX_OK, or why the file may not be written.
 * An output replaces an existing file of its name, such as an older answer; the files above must not be lost that way.
 */
#include "answer/answer.h"

#include "base/own.h"
#include "base/whole.h"
#include "making/making.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool is_standard_input(const struct stat *file)
{
    struct stat in;
    return fstat(STDIN_FILENO, &in) == 0 && S_ISREG(in.st_mode) && in.st_dev == file->st_dev &&
           in.st_ino == file->st_ino;
}

hdx_code hdx_output_check(const char *path, const char *const *inputs, size_t count, hdx_error *err)
{
    char        index[HDX_PATH_ROOM], target[HDX_PATH_ROOM];
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
    if (exists && !S_ISREG(st.st_mode)) /* devices and pipes are written to, not replaced */
        return HDX_OK;
    if (hdx_folder_around(hdx_io_system(), path, index) ||
        (hdx_whole_target(path, target) == 0 && hdx_folder_around(hdx_io_system(), target, index)))
        return hdx_fail(err, HDX_USAGE, path, HDX_NOWHERE, "is inside the index %s; output cannot be written there",
                        index);
    if (hdx_output_is_dump(path))
        return hdx_hint(err, hdx_fail(err, HDX_USAGE, path, HDX_NOWHERE, "is a heap dump; the output would replace it"),
                        "name another file, or remove the dump first");
    return HDX_OK;
}

bool hdx_output_is_dump(const char *path)
{
    uint64_t    time_ms;
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 && hdx_answer_is_dump(path, &time_ms);
}
