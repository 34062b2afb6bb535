/* test_first_error.c - several workers fail: one error is heard of, whole. */
#include "base/base.h"
#include "base/first_error.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

Test(first_error, is_none_where_nothing_failed)
{
    hdx_first_error f = { 0 };
    hdx_error       err = { .code = HDX_BUSY }, unused = { .message = "unused" };
    hdx_first_error_put(&f, HDX_OK, &unused);
    cr_expect(not(hdx_first_error_any(&f)));
    cr_expect(eq(int, hdx_first_error_take(&f, &err), HDX_OK));
    cr_expect(eq(int, err.code, HDX_BUSY), "the caller's error is left as it was");
}

Test(first_error, is_kept_whatever_comes_after_it)
{
    hdx_first_error f = { 0 };
    hdx_error       err;
    hdx_first_error_put(&f, hdx_fail(&err, HDX_IO, "first", 7, "cannot read %d bytes", 12), &err);
    hdx_first_error_put(&f, hdx_fail(&err, HDX_LIMIT, "second", 8, "no room"), &err);
    hdx_first_error_put(&f, HDX_OK, &err);
    cr_expect(hdx_first_error_any(&f));
    err = (hdx_error){ 0 };
    cr_expect(eq(int, hdx_first_error_take(&f, &err), HDX_IO));
    cr_expect(eq(int, err.code, HDX_IO));
    cr_expect(eq(u64, err.offset, 7));
    cr_expect(eq(str, err.where, "first"));
    cr_expect(eq(str, err.message, "cannot read 12 bytes"));
    cr_expect(eq(int, hdx_first_error_take(&f, NULL), HDX_IO), "and again, without words");
}

Test(first_error, has_the_code_that_was_returned)
{
    hdx_first_error f = { 0 };
    hdx_error       err, none = { 0 };
    hdx_first_error_put(&f, HDX_CANCELLED, &none); /* some stop without words */
    cr_expect(eq(int, hdx_first_error_take(&f, &err), HDX_CANCELLED));
    cr_expect(eq(int, err.code, HDX_CANCELLED));
}

#define WORKERS 8u

typedef struct failing {
    hdx_first_error   fault;
    _Atomic(uint32_t) put;
} failing;

static void fail_often(void *context, unsigned n)
{
    failing  *f = context;
    hdx_error err;
    for (unsigned i = 0; i < 1000; i++) {
        hdx_first_error_put(&f->fault, hdx_fail(&err, HDX_BAD_DUMP, "worker", n, "step %u of worker %u", i, n), &err);
        if (!hdx_first_error_any(&f->fault))
            return;
        atomic_fetch_add(&f->put, 1);
    }
}

Test(first_error, of_many_workers_is_one_and_whole)
{
    for (unsigned round = 0; round < 50; round++) {
        failing   f = { 0 };
        hdx_error err;
        char      expected[64];
        hdx_workers_run(WORKERS, fail_often, &f);
        cr_expect(eq(u32, atomic_load(&f.put), WORKERS * 1000), "whoever put one sees that there is one");
        cr_assert(eq(int, hdx_first_error_take(&f.fault, &err), HDX_BAD_DUMP));
        cr_assert(lt(u64, err.offset, WORKERS));
        (void)snprintf(expected, sizeof expected, "step 0 of worker %u", (unsigned)err.offset);
        cr_expect(eq(str, err.message, expected));
    }
}
