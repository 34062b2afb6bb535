/*
 * first_error.h - keeps the first error of several workers for their caller.
 *
 *     hdx_first_error fault = { 0 };                                             before the workers run
 *     while (!hdx_first_error_any(&fault) && take(...))                          in each of them
 *         hdx_first_error_put(&fault, step(..., &err), &err);
 *     return hdx_first_error_take(&fault, err);                                  when all have ended
 */
#ifndef HDX_BASE_FIRST_ERROR_H
#define HDX_BASE_FIRST_ERROR_H

#include <heapdex/error.h>
#include <stdatomic.h>

/* All zero: no error. It has no lock and need not be freed. */
typedef struct hdx_first_error {
    atomic_bool any;
    hdx_error   error; /* written by the thread that set `any`; read after all have ended */
} hdx_first_error;

/* Stores the error unless one is stored already; ignores HDX_OK. Any thread may call it at any time. */
void hdx_first_error_put(hdx_first_error *f, hdx_code code, const hdx_error *err);

/* Returns whether any thread has failed: the work of the others is then useless. */
static inline bool hdx_first_error_any(const hdx_first_error *f) { return atomic_load(&f->any); }

/*
 * Returns the code of the stored error, or HDX_OK, and copies the error to *err (may be NULL). REQUIRES: no worker is
 * running.
 */
hdx_code hdx_first_error_take(const hdx_first_error *f, hdx_error *err);

#endif
