/*
 * complete.c - completions of bash and zsh, and the list of examples (hidden command "__complete").
 *
 * heapdex.bash and _heapdex beside this file are what it prints; a test compares them, so that packages need not run
 * the program.
 */
#include "cli/cli.h"

/* Prints text for a single-quoted shell word. */
static void quoted(hdx_buffer *out, const char *text)
{
    for (; *text != '\0'; text++)
        if (*text == '\'')
            hdx_buffer_text(out, "'\\''");
        else
            hdx_buffer_put(out, text, 1);
}

/* Is an option of this name the same for every command, but for a few that have their own? */
static bool is_general(const char *name)
{
    cli_option o;
    return cli_option_named(NULL, name, strlen(name), &o);
}

static void bash_choices(hdx_buffer *out)
{
    cli_option               options[CLI_OPTIONS_MAX];
    size_t                   count, n;
    const hdx_answer *const *all = hdx_answers(&count);
    for (size_t c = 0; c < count; c++) { /* of commands first: what is general stands after */
        n = cli_options_of(all[c], options);
        for (size_t i = 0; i < n; i++) {
            cli_option general;
            const bool other = is_general(options[i].is->name) &&
                               cli_option_named(NULL, options[i].is->name, strlen(options[i].is->name), &general) &&
                               general.is != options[i].is;
            if (options[i].is->choices != NULL && (!is_general(options[i].is->name) || other))
                hdx_buffer_format(out, "        %s:--%s) COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return ;;\n",
                                  all[c]->name, options[i].is->name, options[i].is->choices);
        }
    }
    n = cli_options_of(NULL, options);
    for (size_t i = 0; i < n; i++)
        if (options[i].is->choices != NULL)
            hdx_buffer_format(out, "        *:--%s) COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return ;;\n",
                              options[i].is->name, options[i].is->choices);
}

static void bash(hdx_buffer *out)
{
    cli_option               options[CLI_OPTIONS_MAX];
    size_t                   count;
    const hdx_answer *const *all = hdx_answers(&count);
    hdx_buffer_text(out, "# bash completion of heapdex; printed by: heapdex __complete bash\n"
                         "_heapdex()\n"
                         "{\n"
                         "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= i\n"
                         "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
                         "        case ${COMP_WORDS[i]} in\n            ");
    for (size_t i = 0; i < count; i++)
        hdx_buffer_format(out, "%s%s", i > 0 ? "|" : "", all[i]->name);
    hdx_buffer_text(out, ") command=${COMP_WORDS[i]}; break ;;\n"
                         "        esac\n"
                         "    done\n"
                         "    COMPREPLY=()\n"
                         "    [[ $prev == '=' ]] && prev=${COMP_WORDS[COMP_CWORD-2]}\n"
                         "    [[ $cur == '=' ]] && { cur=; }\n"
                         "    case $command:$prev in\n");
    bash_choices(out);
    hdx_buffer_text(out, "    esac\n"
                         "    if [[ $cur == -* ]]; then\n"
                         "        case $command in\n");
    for (size_t c = 0; c <= count; c++) {
        const size_t n = cli_options_of(c < count ? all[c] : NULL, options);
        hdx_buffer_format(out, "            %s) COMPREPLY=($(compgen -W '", c < count ? all[c]->name : "*");
        for (size_t i = 0; i < n; i++)
            hdx_buffer_format(out, "%s--%s", i == 0 ? "" : " ", options[i].is->name);
        hdx_buffer_text(out, "' -- \"$cur\")) ;;\n");
    }
    hdx_buffer_text(out, "        esac\n"
                         "    elif [[ -z $command ]]; then\n"
                         "        COMPREPLY=($(compgen -W '");
    for (size_t i = 0; i < count; i++)
        hdx_buffer_format(out, "%s%s", i > 0 ? " " : "", all[i]->name);
    hdx_buffer_text(out, "' -- \"$cur\"))\n"
                         "    fi\n"
                         "}\n"
                         "complete -o default -o bashdefault -F _heapdex heapdex\n");
}

/* Text inside the brackets of an _arguments specification. */
static void described(hdx_buffer *out, const char *text)
{
    for (; *text != '\0'; text++)
        if (*text == '\'')
            hdx_buffer_text(out, "'\\''");
        else if (*text == '[' || *text == ']' || *text == ':' || *text == '\\')
            hdx_buffer_format(out, "\\%c", *text);
        else
            hdx_buffer_put(out, text, 1);
}

static void zsh_option(hdx_buffer *out, const cli_option *o)
{
    const hdx_parameter *p = o->is;
    for (unsigned form = 0; form < 2; form++) {
        if (form == 1 && o->letter == 0)
            return;
        hdx_buffer_text(out, " \\\n                '");
        if (p->flags & HDX_PARAMETER_REPEATED)
            hdx_buffer_text(out, "*");
        if (form == 0)
            hdx_buffer_format(out, "--%s%s[", p->name, p->value != NULL ? "=" : "");
        else
            hdx_buffer_format(out, "-%c[", o->letter);
        described(out, p->sentence);
        hdx_buffer_text(out, "]");
        if (p->value != NULL && p->choices != NULL)
            hdx_buffer_format(out, ":%s:(%s)", p->name, p->choices);
        else if (p->value != NULL)
            hdx_buffer_format(out, ":%s:%s", p->name,
                              p->kind == HDX_PARAMETER_FILE ? "_files"
                              : o->id == CLI_OPT_INDEX_DIR  ? "_files -/"
                                                            : " ");
        hdx_buffer_text(out, "'");
    }
}

static void zsh(hdx_buffer *out)
{
    cli_option               options[CLI_OPTIONS_MAX];
    size_t                   count;
    const hdx_answer *const *all = hdx_answers(&count);
    hdx_buffer_text(out, "#compdef heapdex\n"
                         "# zsh completion of heapdex; printed by: heapdex __complete zsh\n"
                         "_heapdex()\n"
                         "{\n"
                         "    local -a commands\n"
                         "    commands=(\n");
    for (size_t i = 0; i < count; i++) {
        hdx_buffer_format(out, "        '%s:", all[i]->name);
        quoted(out, all[i]->sentence);
        hdx_buffer_text(out, "'\n");
    }
    hdx_buffer_text(out, "    )\n"
                         "    if (( CURRENT == 2 )); then\n"
                         "        _describe command commands\n"
                         "        return\n"
                         "    fi\n"
                         "    local command=$words[2]\n"
                         "    shift words\n"
                         "    (( CURRENT-- ))\n"
                         "    case $command in\n");
    for (size_t c = 0; c < count; c++) {
        const size_t n = cli_options_of(all[c], options);
        hdx_buffer_format(out, "        %s)\n            _arguments -s", all[c]->name);
        for (size_t i = 0; i < n; i++)
            zsh_option(out, &options[i]);
        hdx_buffer_text(out, " \\\n                '1:heap dump:_files' '*::object: ' ;;\n");
    }
    hdx_buffer_text(out, "    esac\n"
                         "}\n"
                         "_heapdex \"$@\"\n");
}

bool cli_complete(hdx_buffer *out, const char *shell)
{
    size_t                   count;
    const hdx_answer *const *all = hdx_answers(&count);
    if (strcmp(shell, "bash") == 0)
        bash(out);
    else if (strcmp(shell, "zsh") == 0)
        zsh(out);
    else if (strcmp(shell, "examples") == 0)
        for (size_t i = 0; i < 2 * count; i++)
            hdx_buffer_format(out, "%s\n", all[i / 2]->examples[i % 2]);
    else
        return false;
    return true;
}
