/*
 * test_access.c - who may read what was made of several files, of a file without rights to look at, of an ACL that is
 * none.
 */
#include "base/access.h"
#include "base/base.h"
#include "support/folder.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

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
