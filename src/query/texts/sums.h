/*
 * sums.h - distinguishes contents by sums of 122 bits.
 *
 * A content is a sequence of numbers c1 .. cn below 2^32. Its sum is c1 x^(n-1) + ... + cn modulo 2^61 - 1, for two
 * points x that the process chose at random. Two different contents of at most n numbers have equal sums with a
 * probability of at most (n / 2^61)^2, whatever the contents are, because the author of a dump does not know the
 * points. Sums are therefore compared in place of contents.
 *
 *     hdx_sum s = { { 0, 0 } };
 *     hdx_sum_add(&key, &s, 4, bytes, len);             numbers of 4 bytes; parts but the last hold whole ones
 *     hdx_sum_number(&key, &s, length);                 other distinguishing facts
 *
 * The sum of a part of a content follows from those of two beginnings (hdx_sum_between).
 */
#ifndef HDX_QUERY_SUMS_H
#define HDX_QUERY_SUMS_H

#include "base/base.h"

typedef struct hdx_sum {
    uint64_t at[2]; /* below 2^61 - 1 */
} hdx_sum;
typedef struct hdx_sum_key {
    uint64_t power[2][5]; /* of the two points; [1] is the point itself */
} hdx_sum_key;

void hdx_sum_key_make(hdx_sum_key *key);
/* Adds numbers. size 2: each 2 bytes are a number; size 4: each 4 bytes, the last padded with zeros. */
void hdx_sum_add(const hdx_sum_key *key, hdx_sum *s, unsigned size, const uint8_t *bytes, uint64_t len);
void hdx_sum_number(const hdx_sum_key *key, hdx_sum *s, uint32_t number);
/* Returns the sum of the `count` numbers between two beginnings of one content. */
hdx_sum hdx_sum_between(const hdx_sum_key *key, const hdx_sum *first, const hdx_sum *end, uint64_t count);

#endif
