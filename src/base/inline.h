/*
 * inline.h - HDX_INLINE before a function inlines it into each caller, so that branches on constant arguments are
 * resolved at compile time. For the innermost steps of long loops, and for functions that take functions as arguments.
 */
#ifndef HDX_BASE_INLINE_H
#define HDX_BASE_INLINE_H

#define HDX_INLINE static inline __attribute__((always_inline))

#endif
