/*
 * clones.h - HDX_CLONES before a function: it is compiled for older and newer processors, and the loader takes the
 * newest that this one knows.
 *
 * For loops over whole pages of numbers, which gain a tenth to a half by wider registers and by shifts that keep no
 * flags. Static functions get so much only where the compiler puts them inside. What the loader runs to choose would be
 * watched by ThreadSanitizer before that is ready; other compilers and C libraries lack one thing or another: there it
 * means nothing.
 */
#ifndef HDX_BASE_CLONES_H
#define HDX_BASE_CLONES_H

#include <stdint.h> /* says which C library this is */

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && __GNUC__ >= 12 &&                              \
    !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define HDX_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define HDX_CLONES
#endif

#endif
