/* crc.h - CRC32C (Castagnoli), as used in index files: with SSE4.2 if the processor has it, otherwise with a table. */
#ifndef HDX_BASE_CRC_H
#define HDX_BASE_CRC_H

#include <heapdex/types.h>

/*
 * Returns the CRC of the bytes, continued from `seed` (0 at the start, or an earlier result). Reference value:
 * "123456789" -> 0xe3069283.
 */
uint32_t hdx_crc32c(uint32_t seed, const void *bytes, size_t len);
/* Same as hdx_crc32c, always with the table. */
uint32_t hdx_crc32c_by_table(uint32_t seed, const void *bytes, size_t len);

#endif
