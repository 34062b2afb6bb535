/*
 * addresses.h - address <-> id. Ids are ranks of addresses (unsigned), so a bitmap over the used chunks of the address
 * range, with the number of bits before each word next to it, converts both ways: id = rank + popcount, address =
 * select.
 *
 * While it is built, several threads insert; repeated addresses are reported. If addresses are too sparse for a bitmap
 * (more than about 16 bytes an object), or not aligned as expected, the set changes its form automatically (a finer
 * unit, or a sorted table), which callers notice only in its speed. hdx_addresses_freeze ends building: the set is then
 * read-only and can be queried. hdx_addresses_write stores the same structure on disk, hdx_addresses_open maps it.
 */
#ifndef HDX_INDEXES_ADDRESSES_H
#define HDX_INDEXES_ADDRESSES_H

#include "indexes/indexes.h"

typedef struct hdx_addresses hdx_addresses;

/*
 * Creates an empty set for building. granularity: the expected alignment of addresses (8, or 1 for odd ids); other
 * addresses are accepted, too.
 */
hdx_code hdx_addresses_new(hdx_mem *mem, unsigned granularity, hdx_addresses **out, hdx_error *err);
/*
 * Inserts n addresses; *repeated is increased by the number that already existed (from this call or an earlier one).
 * Thread-safe.
 */
hdx_code hdx_addresses_insert(hdx_addresses *set, const hdx_addr *addresses, size_t n, uint64_t *repeated,
                              hdx_error *err);
/* Inserts one address. REQUIRES: a single thread. *fresh: it was new. */
hdx_code hdx_addresses_insert_one(hdx_addresses *set, hdx_addr address, bool *fresh, hdx_error *err);
/* Returns whether the set contains an address. REQUIRES: no thread is inserting. */
bool hdx_addresses_has(const hdx_addresses *set, hdx_addr address);
/*
 * REQUIRES: the set is being built, by a single thread. The first passes its content to `put` in pieces, in order; the
 * second restores it with `get` into an empty set (HDX_NOT_FOUND: the data are not a set). Both return HDX_OK or the
 * error that ends the work.
 */
typedef hdx_code hdx_addresses_put(void *context, const void *bytes, uint64_t len, hdx_error *err);
typedef hdx_code hdx_addresses_get(void *context, void *to, uint64_t len, hdx_error *err);
hdx_code         hdx_addresses_keep(const hdx_addresses *set, hdx_addresses_put *put, void *context, hdx_error *err);
hdx_code         hdx_addresses_restore(hdx_addresses *set, hdx_addresses_get *get, void *context, hdx_error *err);
/* Ends building and computes ranks. REQUIRES: no inserts follow. */
hdx_code hdx_addresses_freeze(hdx_addresses *set, hdx_error *err);
void     hdx_addresses_close(hdx_addresses *set); /* NULL is allowed */

uint64_t hdx_addresses_count(const hdx_addresses *set);
/*
 * REQUIRES: the set is frozen or opened. Returns the id of an address; HDX_NO_ID: no object has it. Takes a few ns; the
 * hot path of a build.
 */
hdx_id hdx_addresses_find(const hdx_addresses *set, hdx_addr address);
/* n look-ups; faster than n calls. */
void hdx_addresses_find_many(const hdx_addresses *set, const hdx_addr *addresses, size_t n, hdx_id *ids);
/* Same as hdx_ints_ahead (indexes.h), by address or by id. */
void     hdx_addresses_ahead(const hdx_addresses *set, const hdx_addr *addresses, size_t n, size_t i, hdx_pace pace);
void     hdx_addresses_ahead_at(const hdx_addresses *set, const hdx_id *ids, size_t n, size_t i, hdx_pace pace);
hdx_addr hdx_addresses_at(const hdx_addresses *set, hdx_id id);
/* Returns the addresses of ids first .. first + n - 1, in order, about 1 ns each. */
void hdx_addresses_read(const hdx_addresses *set, hdx_id first, uint32_t n, hdx_addr *out);

hdx_code hdx_addresses_write(const hdx_index_place *place, hdx_kind kind, const hdx_addresses *set, hdx_index_file *out,
                             hdx_error *err);
hdx_code hdx_addresses_open(const hdx_index_place *place, hdx_kind kind, const hdx_index_file *file, uint64_t count,
                            hdx_damage_note *note, hdx_addresses **out, hdx_error *err);

#endif
