/* nearest.h - the name that a misspelt one was probably meant to be. */
#ifndef HDX_BASE_NEAREST_H
#define HDX_BASE_NEAREST_H

#include <heapdex/types.h>

/*
 * Characters to insert, remove, change or swap with a neighbour, case ignored; more than `limit`: limit + 1. Texts over
 * 200 bytes are too far.
 */
unsigned hdx_edit_distance(hdx_text a, hdx_text b, unsigned limit);

/*
 * Keeps the nearest of the candidates offered, if it is near enough to be meant. Begins with best NULL; candidates are
 * borrowed.
 */
typedef struct hdx_nearest {
    const char *wanted;
    const char *best;
    unsigned    distance;
} hdx_nearest;
void hdx_nearest_offer(hdx_nearest *n, const char *candidate);

/*
 * The path of a file in the same folder whose name is near enough to that of `path`, which is not there. False: there
 * is none, the folder cannot be read, or `out` is too small.
 */
bool hdx_nearest_file(const char *path, char *out, size_t size);

#endif
