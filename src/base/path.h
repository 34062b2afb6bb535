/* path.h - the folder and the name in a path, as text: nothing is looked up. */
#ifndef HDX_BASE_PATH_H
#define HDX_BASE_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* What follows the last slash: "app.hprof" of "dumps/app.hprof", "" of "dumps/". */
const char *hdx_path_name(const char *path);

/* "dumps" of "dumps/app.hprof", "/" of "/app.hprof", "." of "app.hprof". False: it does not fit into `size` bytes. */
bool hdx_path_folder(const char *path, char *out, size_t size);

#endif
