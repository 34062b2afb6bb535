/* mount.h - what the table of mounts says of a file's locks. */
#ifndef HDX_BASE_MOUNT_H
#define HDX_BASE_MOUNT_H

#include "base/base.h"

/*
 * A line of /proc/self/mountinfo: does flock on files of this mount exclude other hosts that have it mounted? A file
 * system of one host does.
 */
bool hdx_mount_locks_reach(const char *line);
/* The same of an open file; true where the table does not tell. */
bool hdx_mount_locks_reach_fd(int fd);

#endif
