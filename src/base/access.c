/*
 * access.c - copies modes, groups and POSIX ACLs, or omits them (access.h).
 *
 * The ACL is the attribute system.posix_acl_access: a version (2) of 4 bytes, then entries { tag 2, permissions 2, id 4
 * }, little-endian. The group bits of the mode are then its mask. Three cases would give the copy wider access than the
 * original, and are prevented:
 *   - a group that cannot be set: its bits are removed, and others get no more than it had, since its members are
 * others now;
 *   - an ACL that the file system cannot store: its mode alone allows too much, so only the owner gets access;
 *   - an ACL that the copy inherits from the default ACL of its folder: it is removed before the mode would activate
 * its entries.
 */
#include "base/access.h"
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define ACL         "system.posix_acl_access"
#define DEFAULT_ACL "system.posix_acl_default"

enum { USER_OBJ = 0x01, GROUP_OBJ = 0x04, MASK = 0x10, OTHER = 0x20 };

void hdx_access_of(const char *path, hdx_access *out)
{
    char        catalog[4200];
    struct stat st;
    *out = (hdx_access){ .mode = 0600 };
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        (void)snprintf(catalog, sizeof catalog, "%s/catalog.mdb", path);
        path = catalog;
    }
    if (stat(path, &st) != 0)
        return;
    const ssize_t got = getxattr(path, ACL, out->acl, sizeof out->acl);
    if (got < 0 && errno != ENODATA && errno != EOPNOTSUPP)
        return;
    if (got > 0 && (got < 4 || got % 8 != 4 || hdx_le32(out->acl) != 2))
        return;
    out->acl_size = got > 0 ? (uint32_t)got : 0;
    out->mode = st.st_mode & 0666;
    out->gid = st.st_gid;
}

void hdx_access_narrow(hdx_access *a, const hdx_access *b)
{
    const bool alike = a->gid == b->gid && a->acl_size == b->acl_size && memcmp(a->acl, b->acl, a->acl_size) == 0;
    if (!alike && (a->acl_size > 0 || b->acl_size > 0)) {
        *a = (hdx_access){ .mode = 0600 };
        return;
    }
    a->mode &= b->mode;
    if (!alike) /* members of either group are "others" for the other */
        a->mode &= 0600u | (a->mode >> 3 & b->mode >> 3 & 6u);
}

/* Reads the mask from the kernel, because umask() would change it for a moment for all threads. */
static uint32_t umask_now(void)
{
    char     line[128];
    unsigned mask;
    bool     found = false;
    FILE    *status = fopen("/proc/self/status", "re");
    while (status != NULL && !found && fgets(line, sizeof line, status) != NULL)
        found = sscanf(line, "Umask: %o", &mask) == 1;
    if (status != NULL)
        (void)fclose(status);
    if (!found) {
        mask = (unsigned)umask(077);
        (void)umask((mode_t)mask);
    }
    return mask & 0777;
}

static uint32_t searchable(uint32_t bits, bool folder) { return folder ? bits | (bits >> 2 & 0111u) : bits; }

static uint32_t mode_of(const hdx_access *like, bool grouped, bool folder, uint32_t mask)
{
    uint32_t mode = like->mode & ~mask;
    if (!grouped)
        mode &= 0600u | (like->mode >> 3 & 6u);
    mode |= folder ? 0600u : 0400u; /* its owner needs access */
    return searchable(mode & 0666u, folder);
}

static void put16(uint8_t *to, uint32_t v)
{
    to[0] = (uint8_t)v;
    to[1] = (uint8_t)(v >> 8);
}

static bool set_acl(int fd, const hdx_access *like, bool grouped, bool folder, uint32_t mask)
{
    uint8_t  acl[HDX_ACL_MAX];
    uint32_t group = 6;
    memcpy(acl, like->acl, like->acl_size);
    for (uint32_t at = 4; at < like->acl_size; at += 8)
        if (acl[at] == GROUP_OBJ)
            group = acl[at + 2] & 6u;
    for (uint32_t at = 4; at < like->acl_size; at += 8) {
        uint32_t bits =
            acl[at + 2] & 6u; /* the three classes get no more than the mode allows: it may have been narrowed since */
        switch (acl[at]) {
        case USER_OBJ: bits = (bits & like->mode >> 6 & ~(mask >> 6)) | (folder ? 6u : 4u); break;
        case GROUP_OBJ: bits = grouped ? bits : 0; break;
        case MASK: bits &= like->mode >> 3 & ~(mask >> 3); break;
        case OTHER: bits &= like->mode & ~mask & (grouped ? 6u : group); break;
        default: break;
        }
        put16(acl + at + 2, searchable(bits & 6u, folder) & 7u);
    }
    return fsetxattr(fd, ACL, acl, like->acl_size, 0) == 0;
}

void hdx_access_give(const hdx_access *like, const char *path)
{
    struct stat st;
    const int   fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) && st.st_uid == geteuid()) {
        const bool     folder = S_ISDIR(st.st_mode);
        const uint32_t mask = umask_now();
        (void)fremovexattr(fd, ACL);
        (void)fremovexattr(fd, DEFAULT_ACL);
        const bool grouped = st.st_gid == like->gid || fchown(fd, (uid_t)-1, like->gid) == 0;
        if (like->acl_size == 0)
            (void)fchmod(fd, mode_of(like, grouped, folder, mask));
        else if (!set_acl(fd, like, grouped, folder, mask))
            (void)fchmod(fd, folder ? 0700 : 0600);
    }
    (void)close(fd);
}
