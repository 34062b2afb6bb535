/*
 * access.h - copies the read permissions of a file to files that are made from it, and never widens them.
 *
 * Files that heapdex creates are at first accessible to their owner only: files 0600, folders 0700 (io.h). When they
 * are complete they get mode, group and POSIX ACL of the dump, less the caller's umask. Permissions that cannot be
 * copied are omitted, never replaced by wider ones.
 *
 *     hdx_access like;
 *     hdx_access_of("app.hprof", &like);
 *     io->share(io, "app.hprof.hdx.part/class.hdx", &like);
 */
#ifndef HDX_BASE_ACCESS_H
#define HDX_BASE_ACCESS_H

#include <stdint.h>

/* bytes: 128 entries; a longer ACL is not copied, and the file remains private to its owner */
#define HDX_ACL_MAX 1028u

typedef struct hdx_access {
    uint32_t mode; /* permission bits, of 0666 */
    uint32_t gid;
    uint32_t acl_size;         /* 0: none */
    uint8_t  acl[HDX_ACL_MAX]; /* in the kernel's format: acl.c of Linux, version 2 */
} hdx_access;

/*
 * Reads the permissions of a file, of an index folder those of its catalog. Follows links. If the file cannot be
 * examined, *out is private to the owner.
 */
void hdx_access_of(const char *path, hdx_access *out);
/* Reduces `a` to what both allow. */
void hdx_access_narrow(hdx_access *a, const hdx_access *b);
/*
 * Applies permissions to a file or folder that heapdex created: readable where `like` is, with the same group and ACL,
 * and searchable, too, if it is a folder. Links are not changed.
 */
void hdx_access_give(const hdx_access *like, const char *path);

#endif
