/* nearest.c - the name that a misspelt one was probably meant to be. */
#include "cli/cli.h"

enum { LONGEST = 40 }; /* of the names compared; longer words are nobody's typing error */

unsigned cli_distance(const char *a, const char *b)
{
    size_t   m = strlen(a), n = strlen(b);
    unsigned rows[3][LONGEST + 1]; /* the row in work and the two above: a swap looks two rows up */
    if (m > LONGEST || n > LONGEST)
        return (unsigned)(m > n ? m : n);
    for (size_t j = 0; j <= n; j++)
        rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= m; i++) {
        unsigned *now = rows[i % 3], *above = rows[(i + 2) % 3], *higher = rows[(i + 1) % 3];
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= n; j++) {
            unsigned best = above[j - 1] + (a[i - 1] != b[j - 1]);
            if (above[j] + 1 < best)
                best = above[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && higher[j - 2] + 1 < best)
                best = higher[j - 2] + 1;
            now[j] = best;
        }
    }
    return rows[m % 3][n];
}

void cli_nearest_offer(cli_nearest *n, const char *candidate)
{
    size_t   len = strlen(n->wanted), other = strlen(candidate);
    unsigned d = cli_distance(n->wanted, candidate);
    if (d > 1 && len >= 3 && len < other && strncmp(n->wanted, candidate, len) == 0)
        d = 1; /* a word cut short is as good as one wrong letter */
    unsigned near = len <= 3 ? 1 : len <= 6 ? 2 : 3;
    if (d <= near && (n->best == NULL || d < n->distance)) {
        n->best = candidate;
        n->distance = d;
    }
}
