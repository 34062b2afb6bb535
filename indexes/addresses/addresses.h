/*
 * addresses.h - address <-> id. Ids are ranks of addresses (unsigned), so a bitmap over the used chunks of the address
 * range, with the number of bits before each word beside it, answers both ways: id = rank + popcount, address = select.
 *
 * Building: several threads insert; a repeated address is told. When addresses are too sparse for a bitmap (more than
 * about 16 bytes an object), or not aligned as assumed, the set changes its form by itself (a finer unit, or a sorted
 * table): callers do not notice, beyond time. After hdx_addresses_freeze the set is read-only and answers;
 * hdx_addresses_write puts the same structure on disk, hdx_addresses_open maps it.
 */
#ifndef HDX_INDEXES_ADDRESSES_H
#define HDX_INDEXES_ADDRESSES_H

#include "indexes/indexes.h"

typedef struct hdx_addresses hdx_addresses;

/*
 * Empty set for building. granularity: the alignment addresses are expected to have (8, or 1 where ids are odd); others
 * are taken too.
 */
hdx_code hdx_addresses_new(hdx_mem *mem, unsigned granularity, hdx_addresses **out, hdx_error *err);
/*
 * Inserts n addresses; *repeated is raised by the number that were there before (in this call or an earlier one).
 * Thread-safe.
 */
hdx_code hdx_addresses_insert(hdx_addresses *set, const hdx_addr *addresses, size_t n, uint64_t *repeated,
                              hdx_error *err);
/* One address, by a single thread: *fresh says whether it was new. */
hdx_code hdx_addresses_insert_one(hdx_addresses *set, hdx_addr address, bool *fresh, hdx_error *err);
/* Is it in? While building, not beside inserting threads. */
bool hdx_addresses_has(const hdx_addresses *set, hdx_addr address);
/*
 * While building, by one thread: all that is in, to `put` in pieces, front to back; and back out of `get` into an empty
 * set, whichever code wrote it (HDX_NOT_FOUND: it is none). Both give HDX_OK or the error that ends the work.
 */
typedef hdx_code hdx_addresses_put(void *context, const void *bytes, uint64_t len, hdx_error *err);
typedef hdx_code hdx_addresses_get(void *context, void *to, uint64_t len, hdx_error *err);
hdx_code         hdx_addresses_keep(const hdx_addresses *set, hdx_addresses_put *put, void *context, hdx_error *err);
hdx_code         hdx_addresses_restore(hdx_addresses *set, hdx_addresses_get *get, void *context, hdx_error *err);
/* Ends building: ranks are made. More inserts are not allowed. */
hdx_code hdx_addresses_freeze(hdx_addresses *set, hdx_error *err);
void     hdx_addresses_close(hdx_addresses *set); /* built or opened; NULL: nothing */

uint64_t hdx_addresses_count(const hdx_addresses *set);
/* Frozen or opened: the id, or HDX_NO_ID where no object has this address. A few ns; the hot path of a build. */
hdx_id hdx_addresses_find(const hdx_addresses *set, hdx_addr address);
/* n lookups; cheaper than n calls. */
void hdx_addresses_find_many(const hdx_addresses *set, const hdx_addr *addresses, size_t n, hdx_id *ids);
/* As hdx_ints_ahead (indexes.h), by address or by id. */
void     hdx_addresses_ahead(const hdx_addresses *set, const hdx_addr *addresses, size_t n, size_t i, hdx_pace pace);
void     hdx_addresses_ahead_at(const hdx_addresses *set, const hdx_id *ids, size_t n, size_t i, hdx_pace pace);
hdx_addr hdx_addresses_at(const hdx_addresses *set, hdx_id id);
/* Addresses of ids first .. first + n - 1, in order, about 1 ns each. */
void hdx_addresses_read(const hdx_addresses *set, hdx_id first, uint32_t n, hdx_addr *out);

hdx_code hdx_addresses_write(const hdx_index_place *place, hdx_kind kind, const hdx_addresses *set, hdx_index_file *out,
                             hdx_error *err);
hdx_code hdx_addresses_open(const hdx_index_place *place, hdx_kind kind, const hdx_index_file *file, uint64_t count,
                            hdx_damage_note *note, hdx_addresses **out, hdx_error *err);

#endif
