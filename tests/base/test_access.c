/*
 * test_access.c - who may read what was made of several files, of a file without rights to look at, of an ACL that is
 * none.
 */
#include "base/access.h"
#include "base/base.h"
#include "support/folder.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

/*
 * What the system says where a test wants it to say something else: these stand instead of those of the C library.
 */
typedef struct attribute {
    ssize_t size; /* of the ACL; -1: */
    int     with; /* errno */
    uint8_t version;
} attribute;
static const attribute *told;
static bool             no_proc;
static unsigned         masks_set;

ssize_t getxattr(const char *path, const char *name, void *value, size_t size)
{
    if (told == NULL)
        return syscall(SYS_getxattr, path, name, value, size);
    memset(value, 0, size);
    *(uint8_t *)value = told->version;
    errno = told->with;
    return told->size;
}

mode_t umask(mode_t mask)
{
    masks_set++;
    return (mode_t)syscall(SYS_umask, mask);
}

FILE *fopen64(const char *path, const char *how)
{
    const int fd = no_proc ? -1 : open(path, how[0] == 'r' ? O_RDONLY : O_RDWR | O_CREAT, 0600);
    return fd < 0 ? NULL : fdopen(fd, how[0] == 'r' ? "r" : "w");
}

Test(access, of_two_is_what_both_allow)
{
    static const struct {
        uint32_t a, b, a_gid, b_gid, both;
    } cases[] = {
        { 0644, 0640, 1, 1, 0640 }, { 0664, 0660, 1, 1, 0660 }, { 0644, 0600, 1, 2, 0600 }, { 0640, 0640, 1, 2, 0600 },
        { 0644, 0644, 1, 2, 0604 }, { 0604, 0644, 1, 2, 0600 }, { 0666, 0646, 1, 2, 0604 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hdx_access a = { .mode = cases[i].a, .gid = cases[i].a_gid }, b = { .mode = cases[i].b, .gid = cases[i].b_gid };
        hdx_access_narrow(&a, &b);
        cr_expect(a.mode == cases[i].both, "%zu: %o", i, a.mode);
    }
    hdx_access a = { .mode = 0664, .acl_size = 12 }, b = { .mode = 0664 };
    hdx_access_narrow(&a, &b);
    cr_expect(a.mode == 0600 && a.acl_size == 0);
}

Test(access, of_what_is_not_there_is_the_owners_alone)
{
    hdx_access a;
    hdx_access_of("/nowhere/at/all", &a);
    cr_expect(a.mode == 0600 && a.acl_size == 0);
}

/* Of a folder it is the catalog's: of an index the folder alone may be open to its maker. */
Test(access, of_an_index_is_that_of_its_catalog_and_of_a_file_its_own)
{
    char       folder[TEST_FOLDER], path[64];
    hdx_access a;
    test_folder_make(folder, "access");
    (void)snprintf(path, sizeof path, "%s/catalog.mdb", folder);
    hdx_access_of(folder, &a);
    cr_expect(a.mode == 0600, "without a catalog: %o", a.mode);
    FILE *f = fopen(path, "w");
    cr_assert(f != NULL && fclose(f) == 0);
    static const mode_t modes[] = { 0640, 0644, 0604, 0666, 0755 };
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        cr_assert(chmod(path, modes[i]) == 0);
        hdx_access_of(folder, &a);
        cr_expect(a.mode == (modes[i] & 0666u) && a.gid == (uint32_t)getegid() && a.acl_size == 0, "%o of a folder: %o",
                  (unsigned)modes[i], a.mode);
        hdx_access_of(path, &a);
        cr_expect(a.mode == (modes[i] & 0666u), "%o of a file: %o", (unsigned)modes[i], a.mode);
    }
    test_folder_remove(folder);
}

Test(access, that_cannot_be_given_leaves_the_owner_alone)
{
    char        folder[TEST_FOLDER], path[64];
    struct stat st;
    test_folder_make(folder, "access");
    (void)snprintf(path, sizeof path, "%s/f", folder);
    FILE *f = fopen(path, "w");
    cr_assert(f != NULL && fclose(f) == 0);
    hdx_access like = {
        .mode = 0664, .gid = (uint32_t)getegid(), .acl_size = 12, .acl = { 2, 0, 0, 0, 77, 0, 7, 0 }
    }; /* no such tag */
    hdx_access_give(&like, path);
    cr_expect(stat(path, &st) == 0 && (st.st_mode & 07777) == 0600, "%o", st.st_mode);
    test_folder_remove(folder);
}

/* Modes that umask narrows; of folders what can be read can be searched, and the owner gets at both. */
Test(access, is_given_less_the_umask)
{
    static const struct {
        mode_t   umask;
        uint32_t like, file, folder;
    } cases[] = {
        { 0, 0666, 0666, 0777 },   { 022, 0666, 0644, 0755 }, { 027, 0664, 0640, 0750 }, { 077, 0666, 0600, 0700 },
        { 022, 0604, 0604, 0705 }, { 0, 0044, 0444, 0755 },   { 0, 0400, 0400, 0700 },   { 0777, 0666, 0400, 0700 },
    };
    char        folder[TEST_FOLDER], path[64], inner[64];
    struct stat st;
    test_folder_make(folder, "access");
    (void)snprintf(path, sizeof path, "%s/f", folder);
    (void)snprintf(inner, sizeof inner, "%s/d", folder);
    FILE *f = fopen(path, "w");
    cr_assert(f != NULL && fclose(f) == 0 && mkdir(inner, 0700) == 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const hdx_access like = { .mode = cases[i].like, .gid = (uint32_t)getegid() };
        const mode_t     before = umask(cases[i].umask);
        hdx_access_give(&like, path);
        hdx_access_give(&like, inner);
        (void)umask(before);
        cr_expect(stat(path, &st) == 0 && (st.st_mode & 07777) == cases[i].file, "%zu: %o", i, st.st_mode);
        cr_expect(stat(inner, &st) == 0 && (st.st_mode & 07777) == cases[i].folder, "%zu: %o", i, st.st_mode);
    }
    cr_assert(chmod(path, 0640) == 0);
    char link[64];
    (void)snprintf(link, sizeof link, "%s/l", folder);
    cr_assert(symlink(path, link) == 0);
    hdx_access_give(&(hdx_access){ .mode = 0666, .gid = (uint32_t)getegid() }, link);
    cr_expect(stat(path, &st) == 0 && (st.st_mode & 07777) == 0640, "a link is left alone: %o", st.st_mode);
    cr_assert(unlink(link) == 0 && mkfifo(link, 0600) == 0);
    hdx_access_give(&(hdx_access){ .mode = 0666, .gid = (uint32_t)getegid() }, link);
    cr_expect(stat(link, &st) == 0 && (st.st_mode & 07777) == 0600, "a pipe is left alone: %o", st.st_mode);
    test_folder_remove(folder);
}

/* An ACL of an owner, a user, a group, another group, a mask and others. */
enum { ENTRIES = 6, ACL_SIZE = 4 + 8 * ENTRIES };

static void put_acl(uint8_t *acl, const uint8_t *permissions)
{
    static const struct {
        uint8_t  tag;
        uint16_t id;
    } who[ENTRIES] = { { 0x01, 0xffff }, { 0x02, 1234 },   { 0x04, 0xffff },
                       { 0x08, 77 },     { 0x10, 0xffff }, { 0x20, 0xffff } };
    memset(acl, 0, ACL_SIZE);
    acl[0] = 2;
    for (unsigned i = 0; i < ENTRIES; i++) {
        uint8_t *at = acl + 4 + 8 * (size_t)i;
        at[0] = who[i].tag;
        at[2] = permissions[i];
        at[4] = (uint8_t)who[i].id;
        at[5] = (uint8_t)(who[i].id >> 8);
        at[6] = at[7] = who[i].id == 0xffff ? 0xff : 0;
    }
}

static void expect_acl(const char *path, const uint8_t *permissions)
{
    uint8_t want[ACL_SIZE], have[ACL_SIZE + 8];
    put_acl(want, permissions);
    cr_assert(getxattr(path, "system.posix_acl_access", have, sizeof have) == ACL_SIZE, "%s", path);
    for (unsigned i = 0; i < ENTRIES; i++)
        cr_expect(memcmp(want + 4 + 8 * (size_t)i, have + 4 + 8 * (size_t)i, 8) == 0, "%s, entry %u: %u, not %u", path,
                  i, have[4 + 8 * (size_t)i + 2], permissions[i]);
}

Test(access, of_a_file_with_an_acl_is_given_with_it)
{
    char        folder[TEST_FOLDER], from[64], to[64], inner[64];
    uint8_t     acl[ACL_SIZE];
    hdx_access  like;
    struct stat st;
    test_folder_make(folder, "access");
    (void)snprintf(from, sizeof from, "%s/from", folder);
    (void)snprintf(to, sizeof to, "%s/to", folder);
    (void)snprintf(inner, sizeof inner, "%s/inner", folder);
    const int a = open(from, O_CREAT | O_RDWR, 0600), b = open(to, O_CREAT | O_RDWR, 0600);
    cr_assert(a >= 0 && b >= 0 && close(a) == 0 && close(b) == 0 && mkdir(inner, 0700) == 0);
    put_acl(acl, (const uint8_t[]){ 6, 4, 4, 6, 6, 4 });
    if (setxattr(from, "system.posix_acl_access", acl, ACL_SIZE, 0) != 0)
        cr_skip("no ACLs here");
    hdx_access_of(from, &like);
    cr_assert(like.acl_size == ACL_SIZE && like.mode == 0664 && memcmp(like.acl, acl, ACL_SIZE) == 0);
    (void)umask(022);
    hdx_access_give(&like, to);
    expect_acl(to, (const uint8_t[]){ 6, 4, 4, 6, 4, 4 }); /* the mask loses what the umask takes */
    hdx_access_give(&like, inner);
    expect_acl(inner, (const uint8_t[]){ 7, 5, 5, 7, 5, 5 });
    (void)umask(077);
    hdx_access_give(&like, to);
    expect_acl(to, (const uint8_t[]){ 6, 4, 4, 6, 0, 0 });
    (void)umask(0);
    like.mode = 0640; /* narrowed since */
    hdx_access_give(&like, to);
    expect_acl(to, (const uint8_t[]){ 6, 4, 4, 6, 4, 0 });
    put_acl(like.acl, (const uint8_t[]){ 0, 0, 4, 0, 4, 4 });
    like.mode = 0044;
    hdx_access_give(&like, to);
    expect_acl(to, (const uint8_t[]){ 4, 0, 4, 0, 4, 4 }); /* its owner must get at it */
    hdx_access_give(&like, inner);
    expect_acl(inner, (const uint8_t[]){ 7, 0, 5, 0, 5, 5 });
    hdx_access_give(&(hdx_access){ .mode = 0640, .gid = (uint32_t)getegid() }, to);
    cr_expect(getxattr(to, "system.posix_acl_access", NULL, 0) < 0, "one that is there goes");
    cr_expect(stat(to, &st) == 0 && (st.st_mode & 07777) == 0640, "%o", st.st_mode);
    test_folder_remove(folder);
}

Test(access, of_two_with_the_same_acl_keeps_it)
{
    hdx_access a = { .mode = 0664, .gid = 5, .acl_size = ACL_SIZE }, b;
    put_acl(a.acl, (const uint8_t[]){ 6, 4, 4, 6, 6, 4 });
    b = a;
    b.mode = 0640;
    hdx_access_narrow(&a, &b);
    cr_expect(a.mode == 0640 && a.acl_size == ACL_SIZE);
    b.acl[6] = 7;
    hdx_access_narrow(&a, &b);
    cr_expect(a.mode == 0600 && a.acl_size == 0);
    hdx_access c = { .mode = 0666, .gid = 5 }, d = { .mode = 0666, .gid = 5, .acl_size = ACL_SIZE };
    hdx_access_narrow(&c, &d);
    cr_expect(c.mode == 0600 && c.acl_size == 0 && c.gid == 0);
}

Test(access, of_a_file_whose_acl_cannot_be_understood_is_the_owners_alone)
{
    static const struct {
        attribute says;
        uint32_t  size; /* of the ACL; 1: nobody but the owner */
    } cases[] = {
        { { 12, 0, 2 }, 12 },  { { 4, 0, 2 }, 4 },        { { HDX_ACL_MAX, 0, 2 }, HDX_ACL_MAX },
        { { 0, 0, 0 }, 0 },    { { -1, ENODATA, 0 }, 0 }, { { -1, EOPNOTSUPP, 0 }, 0 },
        { { -1, EIO, 0 }, 1 }, { { -1, ERANGE, 0 }, 1 },  { { 1, 0, 2 }, 1 },
        { { 3, 0, 2 }, 1 },    { { 8, 0, 2 }, 1 },        { { 13, 0, 2 }, 1 },
        { { 12, 0, 1 }, 1 },   { { 4, 0, 3 }, 1 },
    };
    char       folder[TEST_FOLDER], path[64];
    hdx_access a;
    test_folder_make(folder, "access");
    (void)snprintf(path, sizeof path, "%s/f", folder);
    FILE *f = fopen(path, "w");
    cr_assert(f != NULL && fclose(f) == 0 && chmod(path, 0664) == 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        told = &cases[i].says;
        hdx_access_of(path, &a);
        told = NULL;
        cr_expect(a.mode == (cases[i].size == 1 ? 0600 : 0664), "case %zu: %o", i, a.mode);
        cr_expect(a.acl_size == (cases[i].size == 1 ? 0 : cases[i].size), "case %zu: %u", i, a.acl_size);
    }
    test_folder_remove(folder);
}

/* 128 entries are the most that are copied. */
Test(access, of_a_file_with_as_many_entries_as_there_is_room_for)
{
    enum { MOST = 4 + 8 * 129 };
    char       folder[TEST_FOLDER], from[64], to[64];
    uint8_t    acl[MOST], have[MOST];
    hdx_access like;
    test_folder_make(folder, "access");
    (void)snprintf(from, sizeof from, "%s/from", folder);
    (void)snprintf(to, sizeof to, "%s/to", folder);
    const int a = open(from, O_CREAT | O_RDWR, 0600), b = open(to, O_CREAT | O_RDWR, 0600);
    cr_assert(a >= 0 && b >= 0 && close(a) == 0 && close(b) == 0);
    for (unsigned entries = 128; entries <= 129; entries++) {
        memset(acl, 0, sizeof acl);
        acl[0] = 2;
        for (unsigned i = 0; i < entries; i++) {
            uint8_t *at = acl + 4 + 8 * (size_t)i;
            at[0] = i == 0 ? 0x01 : i < entries - 3 ? 0x02 : i == entries - 3 ? 0x04 : i == entries - 2 ? 0x10 : 0x20;
            at[2] = i == 0 ? 6 : 4;
            if (at[0] == 0x02)
                at[4] = (uint8_t)i;
            else
                memset(at + 4, 0xff, 4);
        }
        if (setxattr(from, "system.posix_acl_access", acl, 4 + 8 * (size_t)entries, 0) != 0)
            cr_skip("no ACLs here");
        hdx_access_of(from, &like);
        cr_expect(like.acl_size == (entries == 128 ? HDX_ACL_MAX : 0) && like.mode == (entries == 128 ? 0644 : 0600));
        if (entries == 129)
            break;
        (void)umask(0);
        hdx_access_give(&like, to);
        cr_assert(getxattr(to, "system.posix_acl_access", have, sizeof have) == (ssize_t)HDX_ACL_MAX);
        cr_expect(memcmp(have, acl, HDX_ACL_MAX) == 0);
    }
    test_folder_remove(folder);
}

/* It is read where that changes nothing for other threads; where it cannot be, it is set and set back. */
Test(access, asks_for_the_umask_without_setting_it_where_it_can)
{
    char        folder[TEST_FOLDER], path[64];
    struct stat st;
    test_folder_make(folder, "access");
    (void)snprintf(path, sizeof path, "%s/f", folder);
    FILE *f = fopen(path, "w");
    cr_assert(f != NULL && fclose(f) == 0);
    const hdx_access like = { .mode = 0666, .gid = (uint32_t)getegid() };
    (void)umask(026);
    for (unsigned without = 0; without < 2; without++) {
        masks_set = 0;
        no_proc = without == 1;
        hdx_access_give(&like, path);
        no_proc = false;
        cr_expect(stat(path, &st) == 0 && (st.st_mode & 07777) == 0640, "%o", st.st_mode);
        cr_expect(masks_set == 2 * without);
        cr_assert(umask(026) == 026);
    }
    test_folder_remove(folder);
}

/* LeakSanitizer looks into the process at its end, and another owner may not. */
static void be_who_one_was(void) { cr_assert(getuid() != 0 || (seteuid(0) == 0 && setegid(0) == 0)); }

/* Members of a group that cannot be given are others now, and others get no more than the group had. */
Test(access, of_a_group_that_cannot_be_given_is_that_of_others)
{
    static const struct {
        uint32_t like, file, folder;
    } cases[] = { { 0664, 0604, 0705 }, { 0640, 0600, 0700 }, { 0646, 0604, 0705 },
                  { 0604, 0600, 0700 }, { 0666, 0606, 0707 }, { 0626, 0602, 0702 } };
    char        folder[TEST_FOLDER], path[64], inner[64];
    struct stat st;
    test_folder_make(folder, "access");
    (void)snprintf(path, sizeof path, "%s/f", folder);
    (void)snprintf(inner, sizeof inner, "%s/d", folder);
    const int fd = open(path, O_CREAT | O_RDWR, 0600);
    cr_assert(fd >= 0 && close(fd) == 0 && mkdir(inner, 0700) == 0);
    (void)umask(0);
    hdx_access like = { .mode = 0664, .gid = 54321 };
    if (geteuid() == 0) {
        hdx_access_give(&like, path);
        cr_expect(stat(path, &st) == 0 && (st.st_mode & 07777) == 0664 && st.st_gid == 54321);
        cr_assert(chown(path, 65534, 65534) == 0 && chown(inner, 65534, 65534) == 0 &&
                  chown(folder, 65534, 65534) == 0 && setgroups(1, &(gid_t){ 777 }) == 0 && setegid(65534) == 0 &&
                  seteuid(65534) == 0);
        hdx_access_give(&(hdx_access){ .mode = 0660, .gid = 777 }, path);
        cr_expect(stat(path, &st) == 0 && (st.st_mode & 07777) == 0660 && st.st_gid == 777 && st.st_uid == 65534,
                  "a group of one's own: %o, %u", st.st_mode, (unsigned)st.st_gid);
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        like.mode = cases[i].like;
        hdx_access_give(&like, path);
        hdx_access_give(&like, inner);
        cr_expect(stat(path, &st) == 0 && (st.st_mode & 07777) == cases[i].file, "%o: %o", cases[i].like, st.st_mode);
        cr_expect(stat(inner, &st) == 0 && (st.st_mode & 07777) == cases[i].folder, "%o: %o", cases[i].like,
                  st.st_mode);
    }
    static const uint8_t acls[][2][ENTRIES] = {
        { { 6, 4, 4, 6, 6, 4 }, { 6, 4, 0, 6, 6, 4 } },
        { { 6, 4, 2, 6, 6, 4 }, { 6, 4, 0, 6, 6, 0 } },
        { { 6, 4, 2, 6, 6, 6 }, { 6, 4, 0, 6, 6, 2 } },
    };
    for (size_t i = 0; i < sizeof acls / sizeof *acls; i++) {
        like.mode = 0666;
        like.acl_size = ACL_SIZE;
        put_acl(like.acl, acls[i][0]);
        hdx_access_give(&like, path);
        if (getxattr(path, "system.posix_acl_access", NULL, 0) < 0) {
            be_who_one_was();
            cr_skip("no ACLs here");
        }
        expect_acl(path, acls[i][1]);
    }
    test_folder_remove(folder);
    be_who_one_was();
}
