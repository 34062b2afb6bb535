/* crc.h - CRC32C (Castagnoli), as index files use it; SSE4.2 where the processor has it, a table elsewhere. */
#ifndef HDX_BASE_CRC_H
#define HDX_BASE_CRC_H

#include <heapdex/types.h>

/*
 * crc of the bytes, going on from `seed` (0 at the start, or an earlier result). Reference value: "123456789" ->
 * 0xe3069283.
 */
uint32_t hdx_crc32c(uint32_t seed, const void *bytes, size_t len);
/* The same from the table, whatever the processor has. */
uint32_t hdx_crc32c_by_table(uint32_t seed, const void *bytes, size_t len);

#endif
