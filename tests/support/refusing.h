/*
 * refusing.h - memory and calls of the system that fail on demand where no door is handed in: memory without a budget
 * (hdx_mem NULL, malloc), and hdx_io_system(). For tests of the rooms that cmake/tests.cmake links so.
 *
 *     for (unsigned n = 1;; n++) {
 *         refusing_memory(n);
 *         ... ask ...
 *         if (!refusing_ends()) break;          no request was left to refuse
 *     }
 */
#ifndef HDX_TESTS_REFUSING_H
#define HDX_TESTS_REFUSING_H

#include <stdbool.h>

void refusing_memory(unsigned n); /* the n-th request from now on, of whichever thread */
void refusing_input(unsigned n);  /* the n-th opening, reading or looking up of a file */
bool refusing_ends(void);         /* was it refused? */

#endif
