/* test_mount.c - which mounts keep their locks to themselves. */
#include "base/mount.h"

#include <criterion/criterion.h>

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
