/*
 * whole.h - tests that ask the same of very many things ask it of a part of them, and of all where HDX_WHOLE is set, as
 * in tests/long.
 */
#ifndef HDX_TESTS_SUPPORT_WHOLE_H
#define HDX_TESTS_SUPPORT_WHOLE_H

#include <stdlib.h>

/* One of so many is looked at. */
static inline unsigned test_each(unsigned part) { return getenv("HDX_WHOLE") != NULL ? 1 : part; }

#endif
