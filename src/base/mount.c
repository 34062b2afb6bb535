/*
 * mount.c - mounts whose flock only works within the host.
 *
 *     36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - nfs4 server:/x rw,vers=4.2,local_lock=none
 *        the device ^                    the type ^   ^ and options
 */
#include "base/mount.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

static bool has_option(const char *list, const char *word)
{
    const size_t len = strlen(word);
    for (const char *at = list; (at = strstr(at, word)) != NULL; at += len)
        if ((at == list || at[-1] == ',' || at[-1] == ' ') &&
            (at[len] == '\0' || at[len] == ',' || at[len] == ' ' || at[len] == '\n'))
            return true;
    return false;
}

bool hdx_mount_locks_reach(const char *line)
{
    static const char *const local[] = { "nolock", "local_lock=flock", "local_lock=all", "localflock", "nobrl" };
    const char              *type = strstr(line, " - ");
    if (type == NULL)
        return true;
    type += 3;
    if (strncmp(type, "fuse.", 5) == 0 || strncmp(type, "9p ", 3) == 0 ||
        strncmp(type, "virtiofs ", 9) == 0) /* the kernel locks locally */
        return false;
    for (size_t i = 0; i < sizeof local / sizeof *local; i++)
        if (has_option(type, local[i]))
            return false;
    return true;
}

bool hdx_mount_locks_reach_fd(int fd)
{
    char        line[4096], device[32], field[32];
    struct stat st;
    bool        reach = true;
    FILE       *table = fstat(fd, &st) == 0 ? fopen("/proc/self/mountinfo", "re") : NULL;
    if (table == NULL)
        return true;
    (void)snprintf(device, sizeof device, "%u:%u", major(st.st_dev), minor(st.st_dev));
    while (fgets(line, sizeof line, table) != NULL)
        if (sscanf(line, "%*u %*u %31s", field) == 1 && strcmp(field, device) == 0) {
            reach = hdx_mount_locks_reach(line);
            break;
        }
    (void)fclose(table);
    return reach;
}
