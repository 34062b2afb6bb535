/*
 * first_error.h - of several workers each may fail; who asked hears of one of them.
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

/* All zero: nothing has failed. It holds no lock, so nothing is to be freed. */
typedef struct hdx_first_error {
    atomic_bool any;
    hdx_error   error; /* by whoever set `any`; read when all have ended */
} hdx_first_error;

/* Keeps what failed unless something is kept already; HDX_OK is nothing. From any thread, at any time. */
void hdx_first_error_put(hdx_first_error *f, hdx_code code, const hdx_error *err);

/* Whether something failed, in any thread so far: what the others do is for nothing. */
static inline bool hdx_first_error_any(const hdx_first_error *f) { return atomic_load(&f->any); }

/* The code of what is kept and, if the caller wants them, its words; else HDX_OK. Only when no worker runs any more. */
hdx_code hdx_first_error_take(const hdx_first_error *f, hdx_error *err);

#endif
