/* mount.h - detects from the mount table whether file locks reach other hosts. */
#ifndef HDX_BASE_MOUNT_H
#define HDX_BASE_MOUNT_H

#include "base/base.h"

/*
 * Returns whether flock on files of a mount (a line of /proc/self/mountinfo) excludes other hosts that mount it. True
 * for file systems of one host.
 */
bool hdx_mount_locks_reach(const char *line);
/* Same for an open file; true if the mount table does not list it. */
bool hdx_mount_locks_reach_fd(int fd);

#endif
