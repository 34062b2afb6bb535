/* path.h - splits a path into folder and name, as text: the file system is not read. */
#ifndef HDX_BASE_PATH_H
#define HDX_BASE_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the part after the last slash: "app.hprof" of "dumps/app.hprof", "" of "dumps/". */
const char *hdx_path_name(const char *path);

/*
 * Returns the folder: "dumps" of "dumps/app.hprof", "/" of "/app.hprof", "." of "app.hprof". False: it exceeds `size`
 * bytes.
 */
bool hdx_path_folder(const char *path, char *out, size_t size);

#endif
