/*
 * owner.h - who holds something: host, boot, process namespace, process, its start, the job it belongs to. A line of
 * text for a file that others find.
 *
 *     heapdex 1 host=node7 boot=3f1c... space=4026531836 pid=4711 start=8812345 since=1700000000 job=slurm:99
 */
#ifndef HDX_BASE_OWNER_H
#define HDX_BASE_OWNER_H

#include <stdbool.h>
#include <stddef.h>

#define HDX_OWNER_RECORD 512u /* bytes that a line takes at most */

typedef struct hdx_owner {
    char               host[65], boot[40], job[48];
    unsigned long long space, start, since;
    long               pid;
} hdx_owner;

typedef enum hdx_owner_is {
    HDX_OWNER_UNTOLD, /* there is no such line */
    HDX_OWNER_DEAD,
    HDX_OWNER_ALIVE,
    HDX_OWNER_ELSEWHERE /* on another host, or among processes that are not seen from here */
} hdx_owner_is;

int          hdx_owner_record(char *out, size_t size); /* of this process; what snprintf says */
bool         hdx_owner_read(const char *text, hdx_owner *o);
hdx_owner_is hdx_owner_fate(const hdx_owner *o);
/* Reads the record in an open file; "" where nothing can be read. Returns 0 or a negative errno. */
int hdx_owner_load(int fd, char text[HDX_OWNER_RECORD]);
/* Is an open file still the file of that name? A link is another file. */
bool hdx_owner_is_at(int fd, const char *path);
void hdx_owner_words(const char *text, char *out, size_t size); /* of a line, for people */
bool hdx_owner_boot(char boot[40]);                             /* the rest zero; false: the system does not say */

/* This host as a part of names of files, and any text as one: '/' and '.' are '-' there. */
void hdx_owner_host_in_names(char host[65]);
void hdx_owner_in_names(char *text);

#endif
