/*
 * owner.h - identifies the process that holds a lock: host, boot, process namespace, process, its start time and the
 * job that it belongs to. The record is one line of text in a file.
 *
 *     heapdex 1 host=node7 boot=3f1c... space=4026531836 pid=4711 start=8812345 since=1700000000 job=slurm:99
 */
#ifndef HDX_BASE_OWNER_H
#define HDX_BASE_OWNER_H

#include <stdbool.h>
#include <stddef.h>

#define HDX_OWNER_RECORD 512u /* largest size of a line in bytes */

typedef struct hdx_owner {
    char               host[65], boot[40], job[48];
    unsigned long long space, start, since;
    long               pid;
} hdx_owner;

typedef enum hdx_owner_is {
    HDX_OWNER_UNKNOWN, /* the file has no such line */
    HDX_OWNER_DEAD,
    HDX_OWNER_ALIVE,
    HDX_OWNER_ELSEWHERE /* on another host, or in a process namespace that is not visible here */
} hdx_owner_is;

int          hdx_owner_record(char *out, size_t size); /* of this process; returns as snprintf */
bool         hdx_owner_read(const char *text, hdx_owner *o);
hdx_owner_is hdx_owner_fate(const hdx_owner *o);
/* Reads the record in an open file; "" if it cannot be read. Returns 0 or a negative errno. */
int hdx_owner_load(int fd, char text[HDX_OWNER_RECORD]);
/* Returns whether an open file is still the file of that name. A symbolic link is another file. */
bool hdx_owner_is_at(int fd, const char *path);
void hdx_owner_words(const char *text, char *out, size_t size); /* describes a line for people */
bool hdx_owner_boot(char boot[40]);                             /* pads with zeros; false: unknown */

/* The host, and any text, as part of a file name: '/' and '.' are replaced by '-'. */
void hdx_owner_host_in_names(char host[65]);
void hdx_owner_in_names(char *text);

#endif
