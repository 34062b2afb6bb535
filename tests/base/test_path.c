/* test_path.c - the folder and the name in a path. */
#include "base/path.h"

#include <criterion/criterion.h>

Test(path, has_a_folder_and_a_name)
{
    static const char *const each[][3] = { { "a", ".", "a" },   { "/a", "/", "a" },
                                           { "x/a", "x", "a" }, { "/x/y/a", "/x/y", "a" },
                                           { "./a", ".", "a" }, { "x/", "x", "" },
                                           { "", ".", "" } };
    char                     out[16];
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        cr_expect(hdx_path_folder(each[i][0], out, sizeof out));
        cr_expect_str_eq(out, each[i][1]);
        cr_expect_str_eq(hdx_path_name(each[i][0]), each[i][2]);
    }
    cr_expect_not(hdx_path_folder("/a/long/folder/a", out, 14));
    cr_expect(hdx_path_folder("/a/long/folder/a", out, 15));
}
