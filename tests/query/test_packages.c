/* test_packages.c - the package of a class name. */
#include "query/query.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

static hdx_text t(const char *s) { return (hdx_text){ s, (uint32_t)strlen(s) }; }

static void expect_package(const char *name, const char *want)
{
    hdx_text p = hdx_package_of(t(name));
    cr_expect(hdx_text_is(p, want), "package of %s is %.*s, not %s", name, (int)p.len, p.at, want);
}

Test(package, is_what_stands_before_the_last_dot)
{
    expect_package("java.util.HashMap$Node", "java.util");
    expect_package("java.lang.String[][]", "java.lang");
    expect_package("Zoo", "(default package)");
    expect_package("byte[]", "(default package)");
    expect_package("", "(default package)");
    expect_package(".x", "(default package)");
    expect_package("app.Main$$Lambda+0x00007f1c.04001200", "app");
    expect_package("app.Main$$Lambda$46/0x00.12", "app");
}
