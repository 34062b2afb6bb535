/*
 * builders.c - builds with several workers, two builds of one dump at a time, and readers of a whole index while it is
 * replaced.
 *
 * Every index file must have the same bytes from 1 worker and from 4.
 */
#include "place.h"

#include <pthread.h>

typedef struct job {
    const place *p;
    char         index[96];
    unsigned     threads;
    pthread_t    thread;
} job;

static void *build(void *context)
{
    job *j = context;
    build_index(j->p, j->index, j->threads);
    return NULL;
}

/* One that rebuilds over an index that readers hold. */
static void *rebuild(void *context)
{
    job              *j = context;
    hdx_index_options options = { .dump = j->p->dump, .index_dir = j->index, .threads = j->threads, .force = true };
    hdx_index_report  report;
    hdx_error         err;
    if (hdx_index_build(&options, &report, &err) != HDX_OK)
        die("building again", &err);
    return NULL;
}

static uint8_t *content(const char *folder, const char *name, uint64_t size)
{
    char     path[256];
    uint8_t *bytes = malloc(size == 0 ? 1 : size);
    snprintf(path, sizeof path, "%s/%s.hdx", folder, name);
    FILE *file = fopen(path, "rb");
    if (bytes == NULL || file == NULL || fread(bytes, 1, size, file) != size)
        die(path, NULL);
    fclose(file);
    return bytes;
}

static void same_files(const char *a, const char *b)
{
    hdx_graph  *x, *y;
    hdx_error   err;
    const char *name, *other;
    uint64_t    size, other_size;
    if (hdx_graph_open(a, NULL, &x, &err) != HDX_OK || hdx_graph_open(b, NULL, &y, &err) != HDX_OK)
        die("opening", &err);
    for (unsigned i = 0; hdx_graph_file(x, i, &name, &size); i++) {
        if (strncmp(name, "catalog", 7) == 0) /* it notes when it was built */
            continue;
        if (!hdx_graph_file(y, i, &other, &other_size) || strcmp(name, other) != 0 || size != other_size)
            die(name, NULL);
        uint8_t *p = content(a, name, size), *q = content(b, name, size);
        if (memcmp(p, q, size) != 0)
            die(name, NULL);
        free(p);
        free(q);
    }
    hdx_graph_close(x);
    hdx_graph_close(y);
}

int main(void)
{
    place     p;
    job       jobs[3];
    hdx_error err;
    place_make(&p, 60000);
    for (unsigned i = 0; i < 3; i++) {
        jobs[i] = (job){ .p = &p, .threads = i == 0 ? 1 : 4 };
        snprintf(jobs[i].index, sizeof jobs[i].index, "%s/%u.hdx", p.folder, i);
        if (pthread_create(&jobs[i].thread, NULL, build, &jobs[i]) != 0)
            die("no thread", NULL);
    }
    for (unsigned i = 0; i < 3; i++)
        pthread_join(jobs[i].thread, NULL);
    same_files(jobs[0].index, jobs[1].index);
    same_files(jobs[0].index, jobs[2].index);
    hdx_graph *held;
    if (hdx_graph_open(jobs[1].index, p.dump, &held, &err) != HDX_OK ||
        pthread_create(&jobs[1].thread, NULL, rebuild, &jobs[1]) != 0)
        die("opening", &err);
    for (hdx_id id = 0; id < hdx_graph_objects(held); id++)
        if (hdx_graph_nearest(held, id) != HDX_NO_ID && !hdx_graph_live(held, id))
            die("an index that is replaced changed for its reader", NULL);
    pthread_join(jobs[1].thread, NULL);
    if (hdx_graph_verify(held, true, &err) != HDX_OK)
        die("what was held", &err);
    hdx_graph_close(held);
    same_files(jobs[0].index, jobs[1].index);
    place_remove(&p);
    return 0;
}
