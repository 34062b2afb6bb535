/*
 * inline.h - HDX_INLINE before a function: it is compiled into each caller, so that what is constant there decides
 * nothing while it runs. For the innermost steps of long loops, and for functions that are given other functions.
 */
#ifndef HDX_BASE_INLINE_H
#define HDX_BASE_INLINE_H

#define HDX_INLINE static inline __attribute__((always_inline))

#endif
