/* store.h - shared by writer and reader of LMDB. For this room only. */
#ifndef HDX_CATALOG_STORE_H
#define HDX_CATALOG_STORE_H

#include "catalog/values.h"
#include <lmdb.h>

#define HDX_CATALOG_FILE "catalog.mdb"
#define HDX_CATALOG_SUM  "catalog.sum"
#define HDX_CATALOG_WORK "catalog.tmp" /* during writing */
#define HDX_PATH_MAX     4096u

/*
 * Maps an LMDB code (or errno) to an error: no memory, or no room in the map, is HDX_LIMIT, a broken file HDX_DAMAGED,
 * everything else HDX_IO.
 */
hdx_code hdx_lmdb_fail(hdx_error *err, int rc, const char *doing);
hdx_code hdx_catalog_path(char path[HDX_PATH_MAX], const char *folder, const char *name, hdx_error *err);

/* Make keys: a letter and one or two numbers, big-endian so that they sort by value. Each returns the length. */
#define HDX_KEY_ROOM 13u
size_t hdx_key_of(uint8_t key[HDX_KEY_ROOM], uint8_t letter); /* "m", "n" */
size_t hdx_key_numbered(uint8_t key[HDX_KEY_ROOM], uint8_t letter,
                        uint32_t number); /* classes, heaps, threads, texts */
size_t hdx_key_root(uint8_t key[HDX_KEY_ROOM], hdx_id object,
                    uint32_t chunk); /* chunk: of those beginning with this object */

#endif
