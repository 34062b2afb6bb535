/*
 * wait.h - waits for events. A test does not sleep in the hope that something has happened by then: it looks every
 * millisecond whether the event is there. The limit only ends a test that would hang.
 *
 *     for (unsigned naps = 0; access("x.sarif", F_OK) != 0;)
 *         wait_nap(&naps, "x.sarif");
 *
 * What other processes and threads do is read from /proc.
 */
#ifndef HDX_TESTS_SUPPORT_WAIT_H
#define HDX_TESTS_SUPPORT_WAIT_H

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define WAIT_NAPS 60000u /* of a millisecond at least: a minute, and more where the machine is busy */

/* Sleeps a millisecond. Ends the test when an event has not come after WAIT_NAPS of them. */
static inline void wait_nap(unsigned *naps, const char *event)
{
    if (++*naps > WAIT_NAPS) {
        (void)fprintf(stderr, "the test has waited in vain for this: %s\n", event);
        abort();
    }
    (void)usleep(1000);
}

/* The union of the sets of signals in these lines of /proc/PID/status ("SigPnd:"). Empty if there is no such process.
 */
static inline unsigned long long process_signals(pid_t pid, const char *const *lines, unsigned count)
{
    char               path[64], line[256];
    unsigned long long all = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *status = fopen(path, "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        for (unsigned i = 0; i < count; i++)
            if (strncmp(line, lines[i], strlen(lines[i])) == 0)
                all |= strtoull(line + strlen(lines[i]), NULL, 16);
    if (status != NULL)
        (void)fclose(status);
    return all;
}

/* CPU time of a process so far, in ticks of the clock (sysconf(_SC_CLK_TCK) a second); 0 if there is no such process.
 */
static inline unsigned long process_cpu_ticks(pid_t pid)
{
    char          path[64], text[1024] = "";
    unsigned long user = 0, system = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *stat = fopen(path, "r");
    if (stat == NULL)
        return 0;
    text[fread(text, 1, sizeof text - 1, stat)] = '\0';
    (void)fclose(stat);
    const char *behind_name = strrchr(text, ')'); /* fields 3 to 15 follow it; 14 and 15 are the times */
    if (behind_name != NULL)
        (void)sscanf(behind_name, ") %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %lu %lu", &user, &system);
    return user + system;
}

/* How often a thread was switched off the processor, if it sleeps or has ended; -1: it runs, or waits for a disk. */
static inline long long switches_if_asleep(const char *path)
{
    char      line[256], state = 'X';
    long long all = 0, count;
    FILE     *status = fopen(path, "r");
    if (status == NULL) /* it has ended */
        return 0;
    while (fgets(line, sizeof line, status) != NULL) {
        (void)sscanf(line, "State: %c", &state);
        if (sscanf(line, "voluntary_ctxt_switches: %lld", &count) == 1 ||
            sscanf(line, "nonvoluntary_ctxt_switches: %lld", &count) == 1)
            all += count;
    }
    (void)fclose(status);
    return strchr("SZX", state) != NULL ? all : -1;
}

/* The same, summed over all threads of a process except one (0: over all threads). */
static inline long long all_switches_if_asleep(pid_t pid, pid_t except)
{
    char           path[400];
    long long      all = 0, of_one = 0;
    struct dirent *e;
    (void)snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *d = opendir(path);
    while (d != NULL && of_one >= 0 && (e = readdir(d)) != NULL) {
        if (e->d_name[0] == '.' || atoi(e->d_name) == (int)except)
            continue;
        (void)snprintf(path, sizeof path, "/proc/%d/task/%s/status", (int)pid, e->d_name);
        of_one = switches_if_asleep(path);
        all += of_one;
    }
    if (d != NULL)
        (void)closedir(d);
    return of_one < 0 ? -1 : all;
}

/*
 * All threads of a process sleep, except for one if it is named, and none of them ran between two looks: each has
 * ended, or waits for something that is not there yet.
 */
static inline bool process_is_asleep(pid_t pid, pid_t except)
{
    const long long before = all_switches_if_asleep(pid, except);
    if (before < 0)
        return false;
    (void)usleep(1000);
    return all_switches_if_asleep(pid, except) == before;
}

/* Waits until all other threads of this process have ended or wait for something. */
static inline void wait_for_other_threads_to_sleep(void)
{
    for (unsigned naps = 0; !process_is_asleep(getpid(), gettid());)
        wait_nap(&naps, "all other threads are asleep");
}

#endif
