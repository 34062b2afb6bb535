/* small_manifest.h - the least that a manifest of a catalog says, for tests that need one whatever is in it. */
#ifndef HDX_TESTS_CATALOG_SMALL_MANIFEST_H
#define HDX_TESTS_CATALOG_SMALL_MANIFEST_H

#include "catalog/catalog.h"

#include <string.h>

static inline hdx_manifest small_manifest(void)
{
    hdx_manifest m = { .format = HDX_CATALOG_FORMAT, .heapdex = "0.1.0", .version = "1.0.2", .objects = 100 };
    memcpy(m.identity, "0123456789abcdef", 16);
    return m;
}

#endif
