/* test_text.c - text that grows, sizes as people write them, sizes as people read them. */
#include "base/base.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

Test(sizes, are_read_with_and_without_units)
{
    static const struct {
        const char *text;
        uint64_t    bytes;
    } good[] = {
        { "0", 0 },
        { "1", 1 },
        { "1048576", 1048576 },
        { "1K", 1024 },
        { "3k", 3072 },
        { "768M", 805306368 },
        { "4G", 4294967296 },
        { "2t", 2199023255552 },
        { "9", 9 },
        { "5B", 5 },
        { "5b", 5 },
        { "2KB", 2048 },
        { "2KiB", 2048 },
        { "2Ki", 2048 },
        { "7Gib", 7516192768 },
        { "18446744073709551615", UINT64_MAX },
        { "16777215T", 18446742974197923840u },
    };
    static const char *const bad[] = {
        "",   " 1",  "-1",    "+1",   "x",    "1x",        "1 K", "K", "1KK", "18446744073709551616",
        "1i", "1iB", "1BB",   "1KBi", "1.5M", "0x10",      "1P",  "/", ":",   "1a",
        "1{", "1`",  "1\x01", "1Kii", "1@",   "16777216T",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        uint64_t bytes = 7;
        cr_expect(hdx_size_of(good[i].text, &bytes) && bytes == good[i].bytes, "%s: %llu", good[i].text,
                  (unsigned long long)bytes);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t bytes;
        cr_expect(hdx_size_of(bad[i], &bytes) == false, "%s", bad[i]);
    }
}

Test(sizes, are_shown_with_at_most_four_digits)
{
    static const struct {
        uint64_t    bytes;
        const char *text;
    } cases[] = {
        { 0, "0 B" },
        { 1, "1 B" },
        { 2, "2 B" },
        { 1023, "1023 B" },
        { 1024, "1.0 KB" },
        { 1074, "1.0 KB" },
        { 1076, "1.1 KB" },
        { 1536, "1.5 KB" },
        { 10240, "10.0 KB" },
        { 1023948, "999.9 KB" },
        { 1024000, "1000 KB" },
        { 1048012, "1023 KB" },
        { 1048013, "1.0 MB" },
        { 1048575, "1.0 MB" },
        { 1048576, "1.0 MB" },
        { 1572864, "1.5 MB" },
        { 1073741823, "1.0 GB" },
        { 5368709120, "5.0 GB" },
        { 1649267441664, "1.5 TB" },
        { 1125899906842624, "1.0 PB" },
        { 1152921504606846976, "1.0 EB" },
        { UINT64_MAX, "16.0 EB" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[16];
        hdx_human_size(cases[i].bytes, text);
        cr_expect(strcmp(text, cases[i].text) == 0, "%llu: %s, not %s", (unsigned long long)cases[i].bytes, text,
                  cases[i].text);
    }
}

/* Every length around the room that a text is formatted in first, and around the doubling of the buffer. */
Test(text, is_whole_at_every_length)
{
    char long_text[2100];
    memset(long_text, 'x', sizeof long_text);
    for (int len = 0; len < 2100; len += len < 1030 ? 1 : 97) {
        hdx_mem    mem = { 0 };
        hdx_buffer b = hdx_buffer_of(&mem);
        hdx_buffer_text(&b, "<");
        hdx_buffer_format(&b, "%.*s", len, long_text);
        hdx_buffer_text(&b, ">");
        cr_assert(eq(u64, b.len, (uint64_t)len + 2));
        cr_assert(b.at[0] == '<' && b.at[len + 1] == '>' && b.at[len + 2] == '\0' && strlen(b.at) == b.len, "%d", len);
        cr_assert(strspn(b.at + 1, "x") == (size_t)len);
        cr_assert(b.capacity > b.len && b.capacity <= (len < 254 ? 256 : 2 * b.len) && mem.used == b.capacity);
        hdx_buffer_free(&b);
        cr_assert(mem.used == 0 && b.at == NULL && b.capacity == 0);
    }
}

Test(text, that_is_cleared_is_empty_and_may_fail_anew)
{
    hdx_mem    mem = { 0 };
    hdx_buffer b = hdx_buffer_of(&mem);
    hdx_buffer_clear(&b); /* nothing was ever put */
    cr_expect(b.at == NULL && b.len == 0);
    hdx_buffer_put(&b, NULL, 0);
    cr_expect(b.len == 0 && !b.failed && b.at != NULL && b.at[0] == '\0');
    hdx_buffer_text(&b, "page");
    const uint64_t used = mem.used;
    hdx_buffer_clear(&b);
    cr_expect(b.len == 0 && b.at[0] == '\0' && mem.used == used);
    mem.limit = used;
    char big[600];
    memset(big, 'y', sizeof big);
    hdx_buffer_put(&b, big, sizeof big);
    cr_expect(b.len == 0 && b.failed);
    hdx_buffer_text(&b, "small"); /* would fit, but something is missing in front of it */
    cr_expect(b.len == 0);
    cr_expect(hdx_buffer_room(&b, 1) == NULL);
    hdx_buffer_clear(&b);
    hdx_buffer_text(&b, "small");
    cr_expect(strcmp(b.at, "small") == 0 && !b.failed);
    cr_expect(hdx_buffer_room(&b, UINT64_MAX) == NULL && b.failed);
    hdx_buffer_clear(&b);
    cr_expect(hdx_buffer_room(&b, UINT64_MAX - 5) == NULL && b.failed);
    hdx_buffer_free(&b);
    cr_expect(mem.used == 0);
}

Test(text, that_cannot_be_formatted_changes_nothing)
{
    hdx_mem    mem = { 0 };
    hdx_buffer b = hdx_buffer_of(&mem);
    hdx_buffer_text(&b, "page");
    hdx_buffer_format(&b, "%lc", (wint_t)0x7fffffff); /* no character of any locale */
    cr_expect(b.len == 4 && strcmp(b.at, "page") == 0 && !b.failed);
    hdx_buffer_free(&b);
}

Test(names, of_hosts_are_parts_of_names_of_files)
{
    char host[65], text[] = "a.b/c-d..e/", none[] = "";
    hdx_owner_in_names(text);
    cr_expect(strcmp(text, "a-b-c-d--e-") == 0, "%s", text);
    hdx_owner_in_names(none);
    cr_expect(none[0] == '\0');
    memset(host, 'x', sizeof host);
    hdx_owner_host_in_names(host);
    char real[256] = "";
    cr_assert(gethostname(real, sizeof real - 1) == 0);
    hdx_owner_in_names(real);
    cr_expect(strcmp(real, host) == 0 && host[64] == '\0', "%s, %s", real, host);
}
