/* nearest.c - the name that a misspelt one probably stands for. */
#include "base/nearest.h"
#include "base/path.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#define FAR     200u    /* bytes of a name: longer ones are not compared */
#define ENTRIES 100000u /* of a folder: further ones are not compared */

unsigned hdx_edit_distance(hdx_text a, hdx_text b, unsigned limit)
{
    unsigned row[3][FAR + 1];
    if (a.len > FAR || b.len > FAR || (a.len > b.len ? a.len - b.len : b.len - a.len) > limit)
        return limit + 1;
    unsigned *before = row[2], *above = row[0], *here = row[1]; /* `before` is read from the third row on */
    for (unsigned j = 0; j <= b.len; j++)
        above[j] = j;
    for (unsigned i = 1; i <= a.len; i++) {
        int      x = tolower((unsigned char)a.at[i - 1]);
        unsigned least = here[0] = i;
        for (unsigned j = 1; j <= b.len; j++) {
            int      y = tolower((unsigned char)b.at[j - 1]);
            unsigned best = above[j - 1] + (x != y);
            if (above[j] + 1 < best)
                best = above[j] + 1;
            if (here[j - 1] + 1 < best)
                best = here[j - 1] + 1;
            if (i > 1 && j > 1 && x == tolower((unsigned char)b.at[j - 2]) &&
                y == tolower((unsigned char)a.at[i - 2]) && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            here[j] = best;
            if (best < least)
                least = best;
        }
        if (least > limit)
            return limit + 1;
        unsigned *free_row = before;
        before = above;
        above = here;
        here = free_row;
    }
    return above[b.len] > limit ? limit + 1 : above[b.len];
}

void hdx_nearest_offer(hdx_nearest *n, const char *candidate)
{
    const size_t   len = strlen(n->wanted), other = strlen(candidate);
    const unsigned near = len < 9 ? (unsigned)len / 3 : 3; /* a third of the word: more changes make another word */
    if (other > FAR)                                       /* for a long `wanted` no candidate is near enough */
        return;
    unsigned d =
        hdx_edit_distance((hdx_text){ n->wanted, (uint32_t)len }, (hdx_text){ candidate, (uint32_t)other }, near);
    if (d > 1 && len >= 3 && len < other && strncmp(n->wanted, candidate, len) == 0)
        d = 1; /* a truncated word counts as one wrong letter */
    if (d <= near && (n->best == NULL || d < n->distance)) {
        n->best = candidate;
        n->distance = d;
    }
}

bool hdx_nearest_file(const char *path, char *out, size_t size)
{
    const char    *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
    char           folder[4096], best[256] = "";
    hdx_nearest    near = { .wanted = name };
    struct dirent *entry;
    DIR           *d = *name != '\0' && hdx_path_folder(path, folder, sizeof folder) ? opendir(folder) : NULL;
    if (d == NULL)
        return false;
    for (unsigned i = 0; i < ENTRIES && (entry = readdir(d)) != NULL; i++) {
        const char *before = near.best;
        hdx_nearest_offer(&near, entry->d_name);
        if (near.best != before) { /* the entry is valid until the next one is read */
            (void)snprintf(best, sizeof best, "%s", entry->d_name);
            near.best = best;
        }
    }
    (void)closedir(d);
    return near.best != NULL &&
           (size_t)snprintf(out, size, "%.*s%s", slash == NULL ? 0 : (int)(slash - path + 1), path, best) < size;
}
