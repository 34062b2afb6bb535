/*
 * access.h - who may read a file, given on to what is made from it and never more.
 *
 * Whatever the project makes is its owner's alone at first: files 0600, folders 0700 (io.h). When it is done it gets
 * what the dump has: mode, group and POSIX ACL, less what the caller's umask takes away. What cannot be given is left
 * out, never replaced by something wider.
 *
 *     hdx_access like;
 *     hdx_access_of("app.hprof", &like);
 *     io->share(io, "app.hprof.hdx.part/class.hdx", &like);
 */
#ifndef HDX_BASE_ACCESS_H
#define HDX_BASE_ACCESS_H

#include <stdint.h>

#define HDX_ACL_MAX 1028u /* bytes: 128 entries; a longer one is not copied, and its file stays its owner's */

typedef struct hdx_access {
    uint32_t mode; /* of 0666 */
    uint32_t gid;
    uint32_t acl_size;         /* 0: none */
    uint8_t  acl[HDX_ACL_MAX]; /* as the kernel has it: acl.c of Linux, version 2 */
} hdx_access;

/* Of a file; links are followed. What cannot be looked at is its owner's alone. Index folders: of their catalog. */
void hdx_access_of(const char *path, hdx_access *out);
/* What both allow. */
void hdx_access_narrow(hdx_access *a, const hdx_access *b);
/*
 * For a file or folder that is ours: readable where `like` is, by the same group and ACL, searchable too where it is a
 * folder. A link is left alone.
 */
void hdx_access_give(const hdx_access *like, const char *path);

#endif
