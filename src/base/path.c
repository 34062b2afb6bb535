/* path.c - the folder and the name in a path (path.h). */
#include "base/path.h"

#include <stdio.h>
#include <string.h>

const char *hdx_path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

bool hdx_path_folder(const char *path, char *out, size_t size)
{
    const int len = (int)(hdx_path_name(path) - path);
    const int n = len == 0 ? snprintf(out, size, ".") : snprintf(out, size, "%.*s", len == 1 ? 1 : len - 1, path);
    return n > 0 && (size_t)n < size;
}
