/* test_damaged.c - a dump with one record that is none, or that ends early, is not stripped: the place is told, and no
 * file is left. */
#include "told.h"

static uint64_t be32(const uint8_t *p)
{
    return (uint64_t)p[0] << 24 | (uint64_t)p[1] << 16 | (uint64_t)p[2] << 8 | p[3];
}

static void refused_at(place *p, const uint8_t *at, size_t len, hdx_strip_policy policy, uint64_t offset,
                       const char *message)
{
    const char      *dump = place_path(p, "a.hprof"), *out = place_path(p, "b.hprof");
    hdx_strip_report r = { .policy = HDX_STRIP_NONE };
    hdx_error        err = { .offset = 0 };
    dump_maker_save_bytes(dump, at, len);
    const hdx_code code = strip_to(dump, policy, out, &r, &err);
    cr_expect(code == HDX_BAD_DUMP, "%s: %d", message, (int)code);
    cr_expect(err.offset == offset, "%llu, not %llu: %s", (ull)err.offset, (ull)offset, err.message);
    cr_expect(strstr(err.message, message) != NULL, "%s", err.message);
    cr_expect(access(out, F_OK) != 0);
}

Test(damaged, records_of_dumps_are_told_with_their_place)
{
    static const hdx_strip_policy policies[] = { HDX_STRIP_MATRIX, HDX_STRIP_KOOM, HDX_STRIP_TAILOR, HDX_STRIP_SHARK,
                                                 HDX_STRIP_REDACTED };
    place                         p = place_new();
    size_t                        len;
    unsigned                      records = 0;
    dump_maker                   *m = android_dump_new(4, false);
    const uint8_t                *bytes = dump_maker_bytes(m, &len);
    uint8_t                      *other = malloc(len);
    memcpy(other, bytes, len);
    for (uint64_t at = 31; at < len; at += 9 + be32(bytes + at + 5), records++) {
        const hdx_strip_policy policy = policies[records % 5];
        other[at] = 0x77;
        refused_at(&p, other, len, policy, at, "unknown record tag 0x77");
        other[at] = bytes[at];
        refused_at(&p, other, at + 5, policy, at, "a record header needs 9 bytes; 5 remain");
    }
    cr_expect(records > 20);
    free(other);
    dump_maker_free(m);
    place_remove(&p);
}
