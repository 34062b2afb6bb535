/* store.c - error codes, paths and keys for both writer and reader. */
#include "catalog/store.h"

#include <errno.h>
#include <stdio.h>

hdx_code hdx_lmdb_fail(hdx_error *err, int rc, const char *doing)
{
    switch (rc) {
    case ENOMEM:
    case MDB_MAP_FULL:
    case MDB_TXN_FULL:
    case MDB_PAGE_FULL: return hdx_fail(err, HDX_LIMIT, "catalog", HDX_NOWHERE, "%s: %s", doing, mdb_strerror(rc));
    case MDB_CORRUPTED:
    case MDB_PAGE_NOTFOUND:
    case MDB_INVALID:
    case MDB_VERSION_MISMATCH:
    case MDB_INCOMPATIBLE:
    case MDB_CURSOR_FULL: return hdx_fail(err, HDX_DAMAGED, "catalog", HDX_NOWHERE, "%s: %s", doing, mdb_strerror(rc));
    default: return hdx_fail(err, HDX_IO, "catalog", HDX_NOWHERE, "%s: %s", doing, mdb_strerror(rc));
    }
}

hdx_code hdx_catalog_path(char path[HDX_PATH_MAX], const char *folder, const char *name, hdx_error *err)
{
    int n = snprintf(path, HDX_PATH_MAX, "%s/%s", folder, name);
    return n > 0 && (unsigned)n < HDX_PATH_MAX ? HDX_OK
                                               : hdx_fail(err, HDX_USAGE, folder, HDX_NOWHERE, "path too long");
}

static void put_be32(uint8_t *to, uint32_t v)
{
    to[0] = (uint8_t)(v >> 24);
    to[1] = (uint8_t)(v >> 16);
    to[2] = (uint8_t)(v >> 8);
    to[3] = (uint8_t)v;
}

size_t hdx_key_of(uint8_t key[HDX_KEY_ROOM], uint8_t letter)
{
    key[0] = letter;
    return 1;
}

size_t hdx_key_numbered(uint8_t key[HDX_KEY_ROOM], uint8_t letter, uint32_t number)
{
    key[0] = letter;
    put_be32(key + 1, number);
    return 5;
}

size_t hdx_key_root(uint8_t key[HDX_KEY_ROOM], hdx_id object, uint32_t chunk)
{
    key[0] = HDX_KEY_ROOT;
    put_be32(key + 1, (uint32_t)(object >> 32));
    put_be32(key + 5, (uint32_t)object);
    put_be32(key + 9, chunk);
    return 13;
}
