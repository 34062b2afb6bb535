/*
 * clones.h - HDX_CLONES before a function compiles it for older and newer processors; the loader selects the newest
 * version that the processor supports.
 *
 * For loops over whole pages of numbers, which become 10 to 50 % faster with wider registers and with shifts that
 * preserve flags. A static function benefits only if the compiler inlines it. ThreadSanitizer would instrument the
 * loader's selection before it is initialized, and other compilers and C libraries lack parts of the mechanism:
 * HDX_CLONES is empty there.
 */
#ifndef HDX_BASE_CLONES_H
#define HDX_BASE_CLONES_H

#include <stdint.h> /* defines which C library this is */

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && __GNUC__ >= 12 &&                              \
    !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define HDX_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define HDX_CLONES
#endif

#endif
