/*
 * line.c - reads lines from the terminal (line.h).
 *
 * This file reads the keys for libedit, which would restart a read after a signal, while Ctrl-C must end the line.
 */
#include "cli/line.h"
#include "cli/history.h"

#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <wchar.h>

struct cli_line {
    cli_line_complete *complete;
    void              *context;
    bool               interrupted;
#ifdef HDX_EDIT
    EditLine   *edit;
    History    *history;
    History    *own; /* lines of this call, which are not in the file */
    char       *path;
    const char *prompt;
#endif
};

/* Signals are delivered only during ppoll, not between the check for one and the wait. */
static bool wait_for_key(void)
{
    struct pollfd key = { .fd = STDIN_FILENO, .events = POLLIN };
    sigset_t      ours, before;
    (void)sigemptyset(&ours);
    (void)sigaddset(&ours, SIGINT);
    (void)sigaddset(&ours, SIGTERM);
    (void)sigaddset(&ours, SIGHUP);
    (void)pthread_sigmask(SIG_BLOCK, &ours, &before);
    const bool waits = !cli_shell_must_stop() && ppoll(&key, 1, NULL, &before) > 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return waits;
}

/* Reads one byte; false: Ctrl-C, end of input, or the program must end. */
static bool read_byte(cli_line *l, char *byte)
{
    for (;;) {
        const bool    there = wait_for_key();
        const ssize_t n = there ? read(STDIN_FILENO, byte, 1) : -1;
        if (n >= 0)
            return n == 1;
        l->interrupted = cli_shell_interrupted();
        if (l->interrupted || cli_signal() != 0 || errno != EINTR)
            return false;
    }
}

#ifndef HDX_EDIT

cli_line *cli_line_open(const char *path, cli_line_complete *complete, void *context)
{
    cli_line *l = calloc(1, sizeof *l);
    (void)path;
    if (l != NULL)
        *l = (cli_line){ .complete = complete, .context = context };
    return l;
}

void cli_line_close(cli_line *l) { free(l); }

cli_line_end cli_line_read(cli_line *l, const char *prompt, hdx_buffer *out)
{
    char byte;
    bool any = false;
    l->interrupted = false;
    (void)!write(STDOUT_FILENO, prompt, strlen(prompt));
    while (read_byte(l, &byte) && byte != '\n') {
        hdx_buffer_put(out, &byte, 1);
        any = true;
    }
    return l->interrupted ? CLI_LINE_INTERRUPTED : any || byte == '\n' ? CLI_LINE_WHOLE : CLI_LINE_OVER;
}

void cli_line_remember(cli_line *l, const char *text)
{
    (void)l;
    (void)text;
}

#else

static char *prompt_of(EditLine *edit)
{
    cli_line *l = NULL;
    (void)el_get(edit, EL_CLIENTDATA, &l);
    return (char *)(uintptr_t)l->prompt;
}

/* Reads the next character. Returns 1; 0 at the end of input; -1 if the line is abandoned. */
static int next_character(EditLine *edit, wchar_t *character)
{
    cli_line *l = NULL;
    mbstate_t state = { 0 };
    char      byte;
    (void)el_get(edit, EL_CLIENTDATA, &l);
    while (read_byte(l, &byte)) {
        const size_t n = mbrtowc(character, &byte, 1, &state);
        if (n == (size_t)-2)
            continue;
        if (n == (size_t)-1) { /* an invalid sequence: the byte is used as a character */
            memset(&state, 0, sizeof state);
            *character = (unsigned char)byte;
        }
        return 1;
    }
    return l->interrupted || cli_signal() != 0 ? -1 : 0;
}

static unsigned char tab(EditLine *edit, wint_t key)
{
    cli_line       *l = NULL;
    const LineInfo *line = el_line(edit);
    cli_line_more   more = { 0 };
    (void)key;
    (void)el_get(edit, EL_CLIENTDATA, &l);
    if (!l->complete(l->context, line->buffer, (size_t)(line->cursor - line->buffer), &more))
        return CC_REDISPLAY;
    if (more.drop > 0)
        el_deletestr(edit, (int)more.drop);
    if (more.insert != NULL && *more.insert != '\0' && el_insertstr(edit, more.insert) != 0)
        return CC_ERROR;
    return CC_REDISPLAY;
}

cli_line *cli_line_open(const char *path, cli_line_complete *complete, void *context)
{
    cli_line *l = calloc(1, sizeof *l);
    if (l == NULL)
        return NULL;
    (void)setlocale(LC_CTYPE, "");
    *l = (cli_line){ .complete = complete, .context = context, .path = path != NULL ? strdup(path) : NULL };
    l->edit = el_init("heapdex", stdin, stdout, stderr);
    l->history = cli_history_new();
    l->own = cli_history_new();
    if (l->edit == NULL || l->history == NULL || l->own == NULL) {
        cli_line_close(l);
        return NULL;
    }
    (void)el_set(l->edit, EL_CLIENTDATA, l);
    (void)el_set(l->edit, EL_PROMPT, prompt_of);
    (void)el_set(l->edit, EL_EDITOR, "emacs");
    (void)el_set(l->edit, EL_SIGNAL, 0);
    (void)el_set(l->edit, EL_GETCFN, next_character);
    (void)el_wset(l->edit, EL_ADDFN, L"heapdex-complete", L"completes a word",
                  tab); /* el_set would copy both texts and never free them */
    (void)el_set(l->edit, EL_BIND, "^I", "heapdex-complete", (char *)NULL);
    (void)el_set(l->edit, EL_BIND, "^R", "em-inc-search-prev", (char *)NULL);
    (void)el_set(l->edit, EL_HIST, history, l->history);
    if (l->path != NULL)
        cli_history_load(l->history, l->path);
    return l;
}

void cli_line_close(cli_line *l)
{
    if (l == NULL)
        return;
    if (l->path != NULL && l->own != NULL)
        cli_history_add(l->own, l->path);
    if (l->edit != NULL)
        el_end(l->edit);
    if (l->history != NULL)
        history_end(l->history);
    if (l->own != NULL)
        history_end(l->own);
    free(l->path);
    free(l);
}

cli_line_end cli_line_read(cli_line *l, const char *prompt, hdx_buffer *out)
{
    int count = 0;
    l->prompt = prompt;
    l->interrupted = false;
    /* before the prompt, so that Ctrl-D pressed after it is a key and not an end of input */
    (void)el_set(l->edit, EL_PREP_TERM, 1);
    const char *text = el_gets(l->edit, &count);
    if (l->interrupted || cli_signal() != 0) {
        el_reset(l->edit);
        if (l->interrupted) /* as a terminal itself shows it */
            (void)!write(STDOUT_FILENO, "^C", 2);
        return l->interrupted ? CLI_LINE_INTERRUPTED : CLI_LINE_OVER;
    }
    if (text == NULL || count <= 0)
        return CLI_LINE_OVER;
    hdx_buffer_put(out, text, (uint64_t)count - (text[count - 1] == '\n'));
    return CLI_LINE_WHOLE;
}

void cli_line_remember(cli_line *l, const char *text)
{
    HistEvent event;
    (void)history(l->history, &event, H_ENTER, text);
    (void)history(l->own, &event, H_ENTER, text);
}

#endif
