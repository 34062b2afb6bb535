/*
 * own.h - names of files and folders that belong to heapdex because no user gives such names.
 *
 * Every temporary file, every partial build and every lock is called ".heapdex-..." in the folder of what it is for.
 * No name is derived by appending to a user's name: app.part and app.lock are the user's. doc/files.md lists all
 * paths that heapdex writes or deletes, and how it proves that they are its own.
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

/* Does the last component of a path begin with HDX_OWN_PREFIX? Is it one that hdx_own_name makes? */
bool hdx_own_is_name(const char *path);
bool hdx_own_is_temporary(const char *path);

/*
 * A random name in the folder of `path`, for a file that will be renamed to `path`. Nothing is created. False: the name
 * does not fit into `size` bytes.
 */
bool hdx_own_name(const char *path, char *out, size_t size);

/*
 * Creates a new file with such a name, with `mode` less what the umask takes away: open for reading and writing. A file
 * that exists is never opened. A negative errno on failure.
 */
int hdx_own_create(const char *path, unsigned mode, char *out, size_t size);

/*
 * The same for a file without a name, where the file system has such files: a process that is killed leaves nothing.
 * out is empty then, until hdx_own_link gives the file its temporary name. Elsewhere this is hdx_own_create.
 */
int hdx_own_create_unnamed(const char *path, unsigned mode, char *out, size_t size);
int hdx_own_link(int fd, const char *path, char *out, size_t size); /* 0, also where it has one; a negative errno */

/*
 * The one name for something of `path`: "FOLDER/.heapdex-WHAT-NAME". A NAME too long for a file system is cut and gets
 * a hash of the whole. False: it does not fit into `size` bytes.
 */
bool hdx_own_beside(const char *path, const char *what, char *out, size_t size);

/* Do two paths lead to one file: the same device and inode, or, where neither exists, one name in the same folder? */
bool hdx_same_file(const char *a, const char *b);

#endif
