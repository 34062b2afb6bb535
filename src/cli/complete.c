/*
 * complete.c - completions of bash and zsh, and the list of examples, out of the table (hidden command "__complete").
 *
 * heapdex.bash and _heapdex beside this file are what it prints; a test compares them, so that packages need not run the program.
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

static void bash(hdx_buffer *out)
{
    hdx_buffer_text(out, "# bash completion of heapdex; printed by: heapdex __complete bash\n"
                         "_heapdex()\n"
                         "{\n"
                         "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= i\n"
                         "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
                         "        case ${COMP_WORDS[i]} in\n            ");
    for (size_t i = 0; i < CLI_COMMANDS; i++)
        hdx_buffer_format(out, "%s%s", i > 0 ? "|" : "", cli_commands[i].name);
    hdx_buffer_text(out, ") command=${COMP_WORDS[i]}; break ;;\n"
                         "        esac\n"
                         "    done\n"
                         "    COMPREPLY=()\n"
                         "    [[ $prev == '=' ]] && prev=${COMP_WORDS[COMP_CWORD-2]}\n"
                         "    [[ $cur == '=' ]] && { cur=; }\n"
                         "    case $command:$prev in\n");
    for (size_t i = 0; i < cli_option_count; i++) {
        const cli_option *o = &cli_options[i];
        if (o->choices == NULL)
            continue;
        if ((o->commands | CLI_IN(CLI_EXPORT)) == CLI_EVERY) {
            hdx_buffer_format(out, "        *:--%s", o->name);
        } else {
            bool first = true;
            hdx_buffer_text(out, "        ");
            for (unsigned c = 0; c < CLI_COMMANDS; c++)
                if (o->commands & CLI_IN(c)) {
                    hdx_buffer_format(out, "%s%s:--%s", first ? "" : "|", cli_commands[c].name, o->name);
                    first = false;
                }
        }
        hdx_buffer_format(out, ") COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return ;;\n", o->choices);
    }
    hdx_buffer_text(out, "    esac\n"
                         "    if [[ $cur == -* ]]; then\n"
                         "        case $command in\n");
    for (unsigned c = 0; c <= CLI_COMMANDS; c++) {
        hdx_buffer_format(out, "            %s) COMPREPLY=($(compgen -W '", c < CLI_COMMANDS ? cli_commands[c].name : "*");
        bool first = true;
        for (size_t i = 0; i < cli_option_count; i++) {
            const cli_option *o = &cli_options[i];
            if (c < CLI_COMMANDS ? (o->commands & CLI_IN(c)) != 0 : (o->commands | CLI_IN(CLI_EXPORT)) == CLI_EVERY) {
                hdx_buffer_format(out, "%s--%s", first ? "" : " ", o->name);
                first = false;
            }
        }
        hdx_buffer_text(out, "' -- \"$cur\")) ;;\n");
    }
    hdx_buffer_text(out, "        esac\n"
                         "    elif [[ -z $command ]]; then\n"
                         "        COMPREPLY=($(compgen -W '");
    for (size_t i = 0; i < CLI_COMMANDS; i++)
        hdx_buffer_format(out, "%s%s", i > 0 ? " " : "", cli_commands[i].name);
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
    bool again = o->id == CLI_OPT_WHERE || o->id == CLI_OPT_EXCLUDE_FIELD;
    for (unsigned form = 0; form < 2; form++) {
        if (form == 1 && o->letter == 0)
            return;
        hdx_buffer_text(out, " \\\n                '");
        if (again)
            hdx_buffer_text(out, "*");
        if (form == 0)
            hdx_buffer_format(out, "--%s%s[", o->name, o->value != NULL ? "=" : "");
        else
            hdx_buffer_format(out, "-%c[", o->letter);
        described(out, o->help);
        hdx_buffer_text(out, "]");
        if (o->value != NULL && o->choices != NULL)
            hdx_buffer_format(out, ":%s:(%s)", o->name, o->choices);
        else if (o->value != NULL)
            hdx_buffer_format(out, ":%s:%s", o->name, o->id == CLI_OPT_OUTPUT ? "_files" : o->id == CLI_OPT_INDEX_DIR ? "_files -/" : " ");
        hdx_buffer_text(out, "'");
    }
}

static void zsh(hdx_buffer *out)
{
    hdx_buffer_text(out, "#compdef heapdex\n"
                         "# zsh completion of heapdex; printed by: heapdex __complete zsh\n"
                         "_heapdex()\n"
                         "{\n"
                         "    local -a commands\n"
                         "    commands=(\n");
    for (size_t i = 0; i < CLI_COMMANDS; i++) {
        hdx_buffer_format(out, "        '%s:", cli_commands[i].name);
        quoted(out, cli_commands[i].help);
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
    for (unsigned c = 0; c < CLI_COMMANDS; c++) {
        hdx_buffer_format(out, "        %s)\n            _arguments -s", cli_commands[c].name);
        for (size_t i = 0; i < cli_option_count; i++)
            if (cli_options[i].commands & CLI_IN(c))
                zsh_option(out, &cli_options[i]);
        hdx_buffer_text(out, " \\\n                '1:heap dump:_files' '*::object: ' ;;\n");
    }
    hdx_buffer_text(out, "    esac\n"
                         "}\n"
                         "_heapdex \"$@\"\n");
}

bool cli_complete(hdx_buffer *out, const char *shell)
{
    if (strcmp(shell, "bash") == 0)
        bash(out);
    else if (strcmp(shell, "zsh") == 0)
        zsh(out);
    else if (strcmp(shell, "examples") == 0)
        for (size_t i = 0; i < 2 * (size_t)CLI_COMMANDS; i++)
            hdx_buffer_format(out, "%s\n", cli_commands[i / 2].examples[i % 2]);
    else
        return false;
    return true;
}
