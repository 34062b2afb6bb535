/* own.h - the names that heapdex gives to what belongs to an index: FOLDER/.heapdex-WHAT-NAME (base/own.h). */
#ifndef HDX_TESTS_OWN_H
#define HDX_TESTS_OWN_H

#include <stdio.h>
#include <string.h>

/* WHAT ("part", "lock") of the index at a path; valid until the fourth call after it. */
static inline const char *own_of(const char *what, const char *index)
{
    static char     paths[4][4300];
    static unsigned next;
    const char     *slash = strrchr(index, '/'), *name = slash == NULL ? index : slash + 1;
    char           *path = paths[next++ % 4];
    (void)snprintf(path, sizeof paths[0], "%.*s.heapdex-%s-%s", (int)(name - index), index, what, name);
    return path;
}

/* The same of the index next to a dump. */
static inline const char *own_of_dump(const char *what, const char *dump)
{
    char index[4200];
    (void)snprintf(index, sizeof index, "%s.hdx", dump);
    return own_of(what, index);
}

#endif
