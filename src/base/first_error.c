/* first_error.c - the first error of several workers. */
#include "base/first_error.h"

void hdx_first_error_put(hdx_first_error *f, hdx_code code, const hdx_error *err)
{
    if (code == HDX_OK || atomic_exchange(&f->any, true))
        return;
    f->error = *err;
    f->error.code = code;
}

hdx_code hdx_first_error_take(const hdx_first_error *f, hdx_error *err)
{
    if (!atomic_load(&f->any))
        return HDX_OK;
    if (err != NULL)
        *err = f->error;
    return f->error.code;
}
