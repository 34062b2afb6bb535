/* nearest.h - finds the name that a misspelt one probably stands for. */
#ifndef HDX_BASE_NEAREST_H
#define HDX_BASE_NEAREST_H

#include <heapdex/types.h>

/*
 * Returns the number of characters to insert, remove, change or swap with a neighbour, ignoring case; limit + 1 if it
 * exceeds `limit` or if a text exceeds 200 bytes.
 */
unsigned hdx_edit_distance(hdx_text a, hdx_text b, unsigned limit);

/*
 * The nearest of the candidates that were offered, if it is near enough to be meant. REQUIRES: `best` is NULL at first.
 * Candidates are borrowed.
 */
typedef struct hdx_nearest {
    const char *wanted;
    const char *best;
    unsigned    distance;
} hdx_nearest;
void hdx_nearest_offer(hdx_nearest *n, const char *candidate);

/*
 * Finds the file in the same folder whose name is near enough to that of `path`, which does not exist. False: there is
 * none, the folder cannot be read, or `out` is too small.
 */
bool hdx_nearest_file(const char *path, char *out, size_t size);

#endif
