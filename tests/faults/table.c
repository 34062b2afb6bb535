/*
 * table.c - every question with every fault: each line of asks.txt is asked once as it is, which counts the calls that
 * it makes at the door of the graph, and then again and again with one of them going wrong (faults.h). Each of these
 * has to end with HDX_DAMAGED (a command: exit code 5) and the words of the fault, and what is asked afterwards of the
 * same session has to be what it was.
 *
 *     table [PART]      only lines with this in them
 *
 * Of each kind the first calls and some of the others are tried, some 50 of a line, by a die whose seed is the line.
 * HDX_FAULTS=N in the environment: the first N, and a quarter as many of the others; HDX_FAULTS=all: all that may fail,
 * and 1,250 getters. A line is a process of its own, which has copies of the dumps and their indexes: what crashes,
 * hangs or leaks is said with the line and the call.
 */
#include "indexes/folder.h"
#include "cli/cli.h"
#include "cli/leaky.h"
#include "faults/faults.h"
#include "query/sample_dump.h"
#include "query/trouble_dump.h"
#include "rows/rows.h"
#include "support/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ALL_VALUES 1000u /* of HDX_FAULTS=all */
#define AT_ONCE    2
#define RUN_MOST   60 /* seconds for one run, which takes some milliseconds */
#define WORDS      24
#define LINE_SIZE  1024

static const char *const dumps[] = { "shop", "sample", "trouble", "leaky" };
static const char *const kinds[] = { "-", "code", "value", "getter", "later", "table" };

typedef struct child {
    pid_t     pid;
    unsigned  number;
    char      line[LINE_SIZE];
    uint64_t *told; /* shared: kind and call of the run under way, runs, wrong ones */
} child;
enum { KIND, CALL, RUNS, WRONG, TOLD };

static void die(const char *what)
{
    (void)fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(1);
}

static void system_must(const char *command)
{
    if (system(command) != 0)
        die(command);
}

/* ---- one line ---- */

typedef struct asking {
    char         words[LINE_SIZE];
    const char  *at[WORDS];
    int          count;
    bool         command;   /* words of a command line; else dump, answer and its arguments, of one session */
    const char  *statement; /* of "DUMP sql STATEMENT"; NULL: an answer */
    hdx_session *session;
    hdx_sql     *sql;
    int          errors; /* where a command says what is wrong */
} asking;

typedef struct result {
    int        code;
    hdx_buffer out, error;
} result;

/* 'a b' is one word, and so is "a b". */
static void read_words(asking *a, const char *line)
{
    char *at = a->words;
    (void)snprintf(a->words, sizeof a->words, "%s", line);
    while (*(at += strspn(at, " ")) != '\0' && a->count < WORDS - 1) {
        const char end[] = { *at, '\0' };
        const bool quoted = *at == '\'' || *at == '"';
        a->at[a->count++] = at += quoted;
        at += strcspn(at, quoted ? end : " ");
        if (*at != '\0')
            *at++ = '\0';
    }
    a->command = strcmp(a->at[0], "heapdex") == 0;
}

static bool put(void *to, const char *bytes, size_t len)
{
    hdx_buffer_put(to, bytes, len);
    return true;
}

static int ask_session(asking *a, hdx_buffer *out, hdx_buffer *error)
{
    hdx_argument arguments[WORDS];
    size_t       count = 0;
    hdx_rows    *rows = NULL;
    hdx_error    err = { .offset = HDX_NOWHERE };
    hdx_sink     sink = { put, out };
    char         copy[LINE_SIZE], *to = copy;
    for (int i = 2; i < a->count && a->statement == NULL; i++) { /* their values are cut off behind the name */
        const size_t size = strlen(a->at[i]) + 1;
        memcpy(to, a->at[i], size);
        char *value = strchr(to, '=');
        if (value != NULL)
            *value++ = '\0';
        arguments[count++] = (hdx_argument){ to, value };
        to += size;
    }
    hdx_code code = a->statement != NULL ? hdx_sql_run(a->sql, a->statement, NULL, &rows, &err)
                                         : hdx_answer_run(a->session, a->at[1], arguments, count, &rows, &err);
    if (code == HDX_OK && rows != NULL)
        code = hdx_render(rows, &(hdx_render_options){ .format = HDX_FORMAT_JSON }, &sink, &err);
    hdx_rows_close(rows);
    hdx_buffer_text(error, err.message);
    return (int)code;
}

static void read_all(int fd, hdx_buffer *out)
{
    char    part[4096];
    ssize_t n;
    if (lseek(fd, 0, SEEK_SET) != 0)
        die("lseek");
    while ((n = read(fd, part, sizeof part)) > 0)
        hdx_buffer_put(out, part, (size_t)n);
}

/* What was written since it was emptied last. */
static void take_all(int fd, hdx_buffer *out)
{
    read_all(fd, out);
    if (ftruncate(fd, 0) != 0 || lseek(fd, 0, SEEK_SET) != 0)
        die("ftruncate");
}

static int ask_command(asking *a, hdx_buffer *out, hdx_buffer *error)
{
    const int said = dup(STDERR_FILENO);
    if (dup2(a->errors, STDERR_FILENO) < 0)
        die("dup2");
    const int code = hdx_cli_main(a->count, a->at);
    if (dup2(said, STDERR_FILENO) < 0 || close(said) != 0)
        die("dup2");
    take_all(STDOUT_FILENO, out);
    take_all(a->errors, error);
    return code;
}

static void ask(asking *a, result *r)
{
    hdx_buffer_clear(&r->out);
    hdx_buffer_clear(&r->error);
    hdx_buffer_text(&r->out, "");
    hdx_buffer_text(&r->error, "");
    (void)alarm(RUN_MOST);
    r->code = a->command ? ask_command(a, &r->out, &r->error) : ask_session(a, &r->out, &r->error);
    (void)alarm(0);
}

/* Answers kept beside an index would save the next run its calls. */
static void forget(void)
{
    char path[96];
    for (size_t i = 0; i < HDX_COUNT(dumps); i++)
        for (uint64_t key = 0; key < HDX_NOTES; key++) {
            (void)snprintf(path, sizeof path, "%s.hdx/%s", dumps[i], hdx_graph_saved_name(key));
            (void)unlink(path);
        }
}

/* ---- its runs ---- */

typedef struct line {
    asking    a;
    result    first, now;
    uint64_t *told, random_state;
    uint64_t  most; /* of HDX_FAULTS; 0: it is not set */
    uint64_t  faults;
} line;

static uint64_t roll(line *l)
{
    l->random_state ^= l->random_state << 13;
    l->random_state ^= l->random_state >> 7;
    l->random_state ^= l->random_state << 17;
    return l->random_state;
}

static void complain(line *l, const char *what, const char *function)
{
    if (l->told[WRONG]++ < 12)
        (void)fprintf(stderr, "  %s %llu%s%s: %s; code %d, %.200s\n", kinds[l->told[KIND]],
                      (unsigned long long)l->told[CALL], function != NULL ? ", " : "", function != NULL ? function : "",
                      what, l->now.code, l->now.error.at);
}

static bool same(const result *a, const result *b)
{
    return a->code == b->code && a->out.len == b->out.len && memcmp(a->out.at, b->out.at, a->out.len) == 0;
}

static void ask_again(line *l)
{
    ask(&l->a, &l->now);
    if (!same(&l->first, &l->now))
        complain(l, "the next answer is another one", NULL);
    forget();
}

static void run(line *l, fault_kind kind, uint64_t n)
{
    const int damaged = l->a.command ? 5 : (int)HDX_DAMAGED;
    l->told[KIND] = kind;
    l->told[CALL] = n;
    l->told[RUNS]++;
    fault_begin(kind, n);
    ask(&l->a, &l->now);
    const char *function = fault_end(NULL);
    if (function == NULL && !same(&l->first, &l->now))
        complain(l, "nothing went wrong, and the answer is another one", NULL);
    if (function != NULL) {
        if (l->now.code != damaged)
            complain(l, "not told", function);
        else if (strstr(l->now.error.at, FAULT_WORDS) == NULL || strstr(l->now.error.at, function) == NULL)
            complain(l, "told in other words", function);
        l->faults++;
    }
    if (l->faults % 8 == 1)
        ask_again(l);
    else
        forget();
}

/* Every call up to `small`, and `some` of the others. */
static void run_kind(line *l, fault_kind kind, uint64_t small, uint64_t some)
{
    uint64_t calls;
    fault_begin(kind, 0);
    ask(&l->a, &l->now);
    (void)fault_end(&calls);
    forget();
    const uint64_t most = small == UINT64_MAX ? 0 : kind == FAULT_CODE || l->most < UINT64_MAX ? l->most : ALL_VALUES;
    const uint64_t last = most > 0 ? most : small, others = most > 0 ? most / 4 : some;
    for (uint64_t n = 1; n <= calls && n <= last; n++)
        run(l, kind, n);
    if (calls <= last)
        return;
    for (uint64_t i = 0; i < others && i < calls - last; i++) {
        const uint64_t far = roll(l) % (calls - last), bits = roll(l) % 64; /* half of them anywhere, half near */
        run(l, kind, last + 1 + (i % 2 == 0 ? far : far >> (bits % (64 - (unsigned)__builtin_clzll(far | 1)))));
    }
}

static uint64_t asks_most(void)
{
    const char *text = getenv("HDX_FAULTS");
    return text == NULL ? 0 : strcmp(text, "all") == 0 ? UINT64_MAX : strtoull(text, NULL, 10);
}

static int ask_line(const char *text, uint64_t *told)
{
    static line l;
    hdx_error   err;
    l.told = told;
    l.random_state = 88172645463325252u ^ hdx_crc32c(0, text, strlen(text));
    l.most = asks_most();
    l.first.out = l.first.error = l.now.out = l.now.error = hdx_buffer_of(NULL);
    read_words(&l.a, text);
    if (l.a.command) {
        if ((l.a.errors = open("errors", O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600)) < 0)
            die("errors");
    } else {
        if (strcmp(l.a.at[1], "sql") == 0)
            l.a.statement = strstr(text, " sql ") + 5;
        if (hdx_session_open(&(hdx_index_options){ .dump = l.a.at[0], .threads = 1 }, &l.a.session, &err) != HDX_OK ||
            (l.a.statement != NULL && hdx_sql_open(l.a.session, NULL, &l.a.sql, &err) != HDX_OK))
            die(err.message);
    }
    ask(&l.a, &l.first);
    forget();
    ask(&l.a, &l.now);
    forget();
    if (l.first.code != 0 || !same(&l.first, &l.now)) {
        (void)fprintf(stderr, "  code %d: %s%.300s\n", l.first.code, l.first.error.at,
                      same(&l.first, &l.now) ? "" : "; the second answer is another one");
        return 1;
    }
    run_kind(&l, FAULT_CODE, 10, 5);
    run_kind(&l, FAULT_VALUE, 2, 4);
    run_kind(&l, FAULT_GETTER, UINT64_MAX, 0);
    run_kind(&l, FAULT_LATER, UINT64_MAX, 0);
    for (uint64_t table = 1; table < FAULT_TABLES_END; table++)
        run(&l, FAULT_TABLE, table);
    ask_again(&l);
    hdx_sql_close(l.a.sql);
    hdx_session_close(l.a.session);
    hdx_buffer_free(&l.first.out);
    hdx_buffer_free(&l.first.error);
    hdx_buffer_free(&l.now.out);
    hdx_buffer_free(&l.now.error);
    return told[WRONG] != 0;
}

/* ---- all lines ---- */

static void make_dumps(void)
{
    static char      gunzip[] = "gzip -dc '" HDX_TREE "/examples/bookshop.hprof.gz' > shop";
    hdx_index_report report;
    hdx_error        err;
    dump_maker      *sample = sample_dump(8, 0, 0), *trouble = trouble_dump();
    dump_maker_save(sample, "sample");
    dump_maker_save(trouble, "trouble");
    dump_maker_free(sample);
    dump_maker_free(trouble);
    leaky_make("leaky", true);
    system_must(gunzip);
    for (size_t i = 0; i < HDX_COUNT(dumps); i++)
        if (hdx_index_build(&(hdx_index_options){ .dump = dumps[i], .threads = 1 }, &report, &err) != HDX_OK)
            die(err.message);
    const int said = dup(STDOUT_FILENO), nowhere = open("/dev/null", O_WRONLY);
    for (size_t i = 0; i + 1 < HDX_COUNT(dumps); i++) {
        const char *const words[] = { "heapdex", "index", dumps[i], "--quiet", "--view", "v=-refs:weak,soft" };
        if (dup2(nowhere, STDOUT_FILENO) < 0 || hdx_cli_main(HDX_COUNT(words), words) != 0)
            die("a view");
    }
    if (dup2(said, STDOUT_FILENO) < 0 || close(said) != 0 || close(nowhere) != 0)
        die("dup2");
}

static void begin(child *c, unsigned number, const char *text)
{
    char command[256];
    c->number = number;
    memset(c->told, 0, TOLD * sizeof *c->told);
    (void)snprintf(c->line, sizeof c->line, "%s", text);
    (void)snprintf(command, sizeof command, "mkdir %u && cp -r shop sample trouble leaky *.hdx %u", number, number);
    system_must(command);
    (void)fflush(NULL);
    if ((c->pid = fork()) < 0)
        die("fork");
    if (c->pid > 0)
        return;
    (void)snprintf(command, sizeof command, "%u", number);
    if (chdir(command) != 0 || freopen("said", "w", stderr) == NULL || freopen("out", "w+", stdout) == NULL)
        die(command);
    exit(ask_line(text, c->told));
}

static void copy_file(unsigned number, const char *name)
{
    char   path[64], part[4096];
    size_t n;
    (void)snprintf(path, sizeof path, "%u/%s", number, name);
    FILE *file = fopen(path, "r");
    while (file != NULL && (n = fread(part, 1, sizeof part, file)) > 0)
        (void)fwrite(part, 1, n, stderr);
    if (file != NULL)
        (void)fclose(file);
}

/* True where all was well. */
static bool end(child *c, int status, uint64_t *runs)
{
    char       folder[16];
    const bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    *runs += c->told[RUNS];
    if (!good) {
        (void)fprintf(stderr, "%s\n", c->line);
        copy_file(c->number, "said");
        if (c->told[WRONG] > 0)
            (void)fprintf(stderr, "  %llu of %llu runs are wrong\n", (unsigned long long)c->told[WRONG],
                          (unsigned long long)c->told[RUNS]);
        if (WIFSIGNALED(status) || WEXITSTATUS(status) > 1) {
            copy_file(c->number, "errors");
            (void)fprintf(stderr, "  %s %llu: ended by %s %d\n", kinds[c->told[KIND]],
                          (unsigned long long)c->told[CALL], WIFSIGNALED(status) ? "signal" : "exit code",
                          WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        }
    }
    (void)snprintf(folder, sizeof folder, "%u", c->number);
    test_folder_remove(folder);
    c->pid = 0;
    return good;
}

/* Waits for one of them. */
static bool take(child *all, uint64_t *runs)
{
    int         status;
    const pid_t pid = wait(&status);
    for (int i = 0; i < AT_ONCE; i++)
        if (pid > 0 && all[i].pid == pid)
            return end(&all[i], status, runs);
    die("wait");
    return false;
}

int main(int argc, char **argv)
{
    static child all[AT_ONCE];
    char         folder[TEST_FOLDER], text[LINE_SIZE];
    unsigned     asked = 0, bad = 0;
    uint64_t     runs = 0;
    hdx_buffer   asks = hdx_buffer_of(NULL);
    const int    file = open(HDX_TREE "/tests/faults/asks.txt", O_RDONLY);
    test_folder_make_fast(folder, "faults");
    if (file < 0 || chdir(folder) != 0)
        die("asks.txt");
    (void)setenv("XDG_CACHE_HOME", folder, 1);
    make_dumps();
    for (int i = 0; i < AT_ONCE; i++)
        if ((all[i].told = mmap(NULL, TOLD * sizeof *all[i].told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                                -1, 0)) == MAP_FAILED)
            die("mmap");
    read_all(file, &asks);
    for (const char *next = asks.at; *next != '\0'; next += *next != '\0') {
        (void)snprintf(text, sizeof text, "%.*s", (int)strcspn(next, "\n"), next);
        next += strcspn(next, "\n");
        const bool rare = text[0] == '+'; /* asked with all faults, or by its name */
        if (rare)
            memmove(text, text + 2, strlen(text + 2) + 1);
        if (text[0] == '#' || (rare && argc < 2 && asks_most() == 0) || text[0] == '\0' ||
            (argc > 1 && strstr(text, argv[1]) == NULL))
            continue;
        int at = 0;
        while (at < AT_ONCE && all[at].pid != 0)
            at++;
        if (at == AT_ONCE) {
            bad += !take(all, &runs);
            for (at = 0; all[at].pid != 0;)
                at++;
        }
        begin(&all[at], ++asked, text);
    }
    for (int i = 0; i < AT_ONCE; i++)
        if (all[i].pid != 0)
            bad += !take(all, &runs), i = -1;
    (void)close(file);
    hdx_buffer_free(&asks);
    (void)!chdir("/");
    test_folder_remove(folder);
    (void)printf("%u asks, %llu runs with a fault; %u asks with one that is wrong\n", asked, (unsigned long long)runs,
                 bad);
    return bad != 0 || asked == 0;
}
