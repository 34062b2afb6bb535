/* test_mount.c - which mounts keep their locks to themselves. */
#include "base/mount.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static const char *mounts; /* what stands in /proc/self/mountinfo; NULL: there is none */

/* Instead of that of the C library. */
FILE *fopen64(const char *path, const char *how)
{
    (void)path;
    return mounts == NULL ? NULL : fmemopen((void *)(uintptr_t)mounts, strlen(mounts), how);
}

Test(mount, tells_locks_that_other_hosts_see)
{
    static const char *const reach[] = {
        "36 35 98:0 / /mnt rw,noatime master:1 - ext4 /dev/root rw,errors=continue",
        "40 35 0:52 / /nfs rw - nfs4 server:/x rw,vers=4.2,local_lock=none",
        "40 35 0:52 / /lustre rw - lustre mds@tcp:/l rw,flock,lazystatfs",
        "40 35 0:52 / /nolock rw - ext4 /dev/nolock rw",
        "no table at all",
    };
    static const char *const local[] = {
        "40 35 0:52 / /nfs rw - nfs server:/x rw,vers=3,nolock,proto=tcp\n",
        "40 35 0:52 / /nfs rw - nfs server:/x rw,vers=3,local_lock=flock",
        "40 35 0:52 / /nfs rw - nfs server:/x rw,local_lock=all,vers=3",
        "40 35 0:52 / /lustre rw - lustre mds@tcp:/l rw,localflock",
        "40 35 0:52 / /s rw - fuse.sshfs host:/x rw",
        "40 35 0:52 / /v rw - 9p share rw",
    };
    for (size_t i = 0; i < sizeof reach / sizeof *reach; i++)
        cr_expect(hdx_mount_locks_reach(reach[i]), "%s", reach[i]);
    for (size_t i = 0; i < sizeof local / sizeof *local; i++)
        cr_expect(!hdx_mount_locks_reach(local[i]), "%s", local[i]);
}

/* Where nothing can be asked, nobody is told that others are shut out. */
Test(mount, of_no_file_is_not_known) { cr_expect(hdx_mount_locks_reach_fd(-1)); }

Test(mount, options_are_whole_words)
{
    static const char *const reach[] = {
        "40 35 0:52 / /n rw - nfs server:/x rw,nolocks",
        "40 35 0:52 / /n rw - nfs server:/x rw,xnolock",
        "40 35 0:52 / /n rw - nfs server:/x rw,xnolock,local_lock=allx",
        "40 35 0:52 / /n rw - fuseblk /dev/x rw",
        "40 35 0:52 / /n rw - 9pfs share rw",
    };
    static const char *const local[] = {
        "40 35 0:52 / /n rw - nfs server:/x rw,xnolock,nolock",
        "40 35 0:52 / /n rw - nfs server:/x nolock",
        "40 35 0:52 / /n rw - cifs //server/x rw,nobrl\n",
        "40 35 0:52 / /n rw - virtiofs share rw",
    };
    for (size_t i = 0; i < sizeof reach / sizeof *reach; i++)
        cr_expect(hdx_mount_locks_reach(reach[i]), "%s", reach[i]);
    for (size_t i = 0; i < sizeof local / sizeof *local; i++)
        cr_expect(!hdx_mount_locks_reach(local[i]), "%s", local[i]);
}

/* The first line of the device of the file decides. */
Test(mount, of_a_file_is_found_by_its_device)
{
    static const char local[] = "%u %u %u:%u / /x rw - fuse.sshfs host:/x rw\n",
                      far[] = "%u %u %u:%u / /x rw - ext4 /dev/x rw\n";
    char        table[4][80], all[400];
    struct stat st;
    int         ends[2];
    cr_assert(pipe(ends) == 0 && fstat(ends[0], &st) == 0);
    const unsigned here[2] = { major(st.st_dev), minor(st.st_dev) };
    for (unsigned mask = 0; mask < 16; mask++) {
        all[0] = '\0';
        for (unsigned i = 0; i < 4; i++) { /* one and three are of the device, two and four of others */
            (void)snprintf(table[i], sizeof table[i], mask >> i & 1 ? local : far, here[0], here[1], here[0] + i % 2,
                           here[1] + (i == 3));
            (void)strcat(all, table[i]);
        }
        mounts = all;
        cr_expect(hdx_mount_locks_reach_fd(ends[0]) == !(mask & 1), "%s", all);
        (void)memset(all, 'x', strlen(table[0]) - 1); /* not understood: the third line decides */
        cr_expect(hdx_mount_locks_reach_fd(ends[0]) == !(mask >> 2 & 1), "%s", all);
    }
    mounts = "1 1 4000:4000 / /x rw - fuse.sshfs host:/x rw\n";
    cr_expect(hdx_mount_locks_reach_fd(ends[0]), "it is not in the table");
    cr_expect(hdx_mount_locks_reach_fd(-1));
    mounts = NULL;
    cr_expect(hdx_mount_locks_reach_fd(ends[0]), "there is no table");
}
