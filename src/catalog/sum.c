/*
 * sum.c - the file catalog.sum: what LMDB's file must be, byte for byte, before LMDB opens it.
 *
 *   offset size  field
 *        0    8  magic     "heapdexC"
 *        8    4  format    HDX_CATALOG_FORMAT
 *       12    4  zero
 *       16   16  identity  as in the heads of the index files and in the manifest
 *       32    8  size      bytes of catalog.mdb
 *       40    4  crc       CRC32C of catalog.mdb
 *       44    4  own       CRC32C of the 44 bytes before; the last four bytes of the file in every format
 */
#include "catalog/values.h"

static const char magic[8] = { 'h', 'e', 'a', 'p', 'd', 'e', 'x', 'C' };

void hdx_encode_sum(uint8_t to[HDX_SUM_SIZE], const uint8_t identity[16], uint64_t size, uint32_t crc)
{
    memset(to, 0, HDX_SUM_SIZE);
    memcpy(to, magic, sizeof magic);
    hdx_put32(to + 8, HDX_CATALOG_FORMAT);
    memcpy(to + 16, identity, 16);
    hdx_put64(to + 32, size);
    hdx_put32(to + 40, crc);
    hdx_put32(to + 44, hdx_crc32c(0, to, 44));
}

hdx_code hdx_decode_sum(hdx_view bytes, uint8_t identity[16], uint64_t *size, uint32_t *crc, hdx_error *err)
{
    const uint8_t *p = bytes.at;
    if (bytes.len < 16 || memcmp(p, magic, sizeof magic) != 0)
        return hdx_fail(err, HDX_DAMAGED, "catalog.sum", 0, "%zu bytes without the header of a catalog.sum", bytes.len);
    uint32_t own = hdx_le32(p + bytes.len - 4), is = hdx_crc32c(0, p, bytes.len - 4), format = hdx_le32(p + 8);
    if (own != is)
        return hdx_fail(err, HDX_DAMAGED, "catalog.sum", bytes.len - 4, "checksum is %08x; the file has %08x", is, own);
    if (format != HDX_CATALOG_FORMAT)
        return hdx_hint(err,
                        hdx_fail(err, HDX_NOT_FOUND, "catalog.sum", 8,
                                 "index has format %u; this heapdex reads format %u", format, HDX_CATALOG_FORMAT),
                        "heapdex index DUMP builds a new one");
    if (bytes.len != HDX_SUM_SIZE || hdx_le32(p + 12) != 0)
        return hdx_fail(err, HDX_DAMAGED, "catalog.sum", 12, "%zu bytes; expected %u with zero at byte 12", bytes.len,
                        HDX_SUM_SIZE);
    memcpy(identity, p + 16, 16);
    *size = hdx_le64(p + 32);
    *crc = hdx_le32(p + 40);
    return HDX_OK;
}
