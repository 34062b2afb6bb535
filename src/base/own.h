/*
 * own.h - names of files and folders that belong to heapdex, because users do not choose such names.
 *
 * Every temporary file, partial build and lock is called ".heapdex-..." and is in the folder of the file that it
 * serves. No name is formed by a suffix to a user's name: app.part and app.lock belong to the user. doc/files.md lists
 * all paths that heapdex writes or deletes, and how it proves that they are its own.
 *
 *     char temp[4200];
 *     int  fd = hdx_own_create("out/report.csv", 0600, temp, sizeof temp); // out/.heapdex-4f0c2a9be1d37785, new
 *     ...
 *     rename(temp, "out/report.csv");
 */
#ifndef HDX_BASE_OWN_H
#define HDX_BASE_OWN_H

#include <stdbool.h>
#include <stddef.h>

#define HDX_OWN_PREFIX ".heapdex-"

/*
 * hdx_own_is_name returns whether the last component of a path begins with HDX_OWN_PREFIX, hdx_own_is_temporary whether
 * hdx_own_name makes such names.
 */
bool hdx_own_is_name(const char *path);
bool hdx_own_is_temporary(const char *path);

/*
 * Makes a random name in the folder of `path`, for a file that will be renamed to `path`. Nothing is created. False:
 * the name exceeds `size` bytes.
 */
bool hdx_own_name(const char *path, char *out, size_t size);

/*
 * Creates a new file with such a name, with `mode` less the umask, open for reading and writing. An existing file is
 * never opened. Returns its descriptor or a negative errno.
 */
int hdx_own_create(const char *path, unsigned mode, char *out, size_t size);

/*
 * Same for a file without a name, if the file system supports that: a killed process then leaves nothing. `out` is
 * empty until hdx_own_link gives the file its temporary name. On other file systems this is hdx_own_create.
 */
int hdx_own_create_unnamed(const char *path, unsigned mode, char *out, size_t size);
/* 0, also if it has a name already; or a negative errno */
int hdx_own_link(int fd, const char *path, char *out, size_t size);

/*
 * Makes the name of a companion of `path`: "FOLDER/.heapdex-WHAT-NAME". A NAME that is too long for a file system is
 * cut and gets a hash of the whole name. False: it exceeds `size` bytes.
 */
bool hdx_own_companion_path(const char *path, const char *what, char *out, size_t size);

/*
 * Returns whether two paths lead to the same file: equal device and inode or, if neither exists, equal names in the
 * same folder.
 */
bool hdx_same_file(const char *a, const char *b);

#endif
