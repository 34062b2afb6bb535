/*
 * complete.c - completions of bash, zsh and fish, and the list of examples (hidden command "__complete").
 *
 *     __complete bash|zsh|fish         the script of a shell, which calls one of the following for each completion
 *     __complete words WORD...         completions of the last word (offers.h): first a line with the kind of files
 * that are offered, then a line per offer: word, tab, sentence; files after an empty line
 *     __complete line LINE BREAKS      the same for bash, quoted for that line
 *     __complete classes DUMP PREFIX   names of classes
 *     __complete examples              one per line, for the test that runs them
 *
 * The files heapdex.bash, _heapdex and heapdex.fish in this folder contain the same scripts, so that packages need not
 * run the program; a test compares them. A completion that fails prints nothing.
 */
#include "cli/offers.h"

/* ---- the scripts ---- */

static const char bash[] =
    "# bash completion of heapdex; printed by: heapdex __complete bash\n"
    "_heapdex()\n"
    "{\n"
    "    local program=${1:-${COMP_WORDS[0]}} line=${COMP_LINE:0:COMP_POINT} offer i\n"
    "    COMPREPLY=()\n"
    "    if [[ -z $line ]]; then\n"
    "        line=${COMP_WORDS[0]}\n"
    "        for ((i = 1; i <= COMP_CWORD; i++)); do\n"
    "            [[ ${COMP_WORDS[i]} == [=:] || ${COMP_WORDS[i-1]} == [=:] ]] || line+=' '\n"
    "            line+=${COMP_WORDS[i]}\n"
    "        done\n"
    "    fi\n"
    "    while IFS= read -r offer; do\n"
    "        COMPREPLY+=(\"$offer\")\n"
    "    done < <(\"${program/#\\~/$HOME}\" __complete line \"$line\" \"$COMP_WORDBREAKS\" 2>/dev/null)\n"
    "    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[/=:.,\\#\\ ] ]]; then\n"
    "        compopt -o nospace 2>/dev/null\n"
    "    fi\n"
    "}\n"
    "complete -F _heapdex heapdex\n";

static const char zsh[] =
    "#compdef heapdex\n"
    "# zsh completion of heapdex; printed by: heapdex __complete zsh\n"
    "_heapdex()\n"
    "{\n"
    "    local -a lines whole whole_shown open open_shown\n"
    "    local line text shown\n"
    "    lines=(\"${(@f)$(${~words[1]} __complete words \"${(@Q)words[2,CURRENT-1]}\" \"${(Q)PREFIX}\" "
    "2>/dev/null)}\")\n"
    "    case $lines[1] in\n"
    "        dumps) _files -g '*.(hprof|hprof.gz|bin|hdx)' ;;\n"
    "        files) _files ;;\n"
    "        folders) _files -/ ;;\n"
    "    esac\n"
    "    for line in \"${(@)lines[2,-1]}\"; do\n"
    "        text=${line%%$'\\t'*}\n"
    "        shown=$text\n"
    "        [[ $line == *$'\\t'?* ]] && shown=\"$text  -- ${line#*$'\\t'}\"\n"
    "        [[ -z $line ]] && break # files, which zsh finds by itself\n"
    "        if [[ $text == *[/=:.,\\#\\ ] ]]; then\n"
    "            open+=(\"$text\")\n"
    "            open_shown+=(\"$shown\")\n"
    "        else\n"
    "            whole+=(\"$text\")\n"
    "            whole_shown+=(\"$shown\")\n"
    "        fi\n"
    "    done\n"
    "    (( $#whole )) && compadd -l -d whole_shown -a whole\n"
    "    (( $#open )) && compadd -l -S '' -d open_shown -a open\n"
    "    return 0\n"
    "}\n"
    "_heapdex \"$@\"\n";

static const char fish[] =
    "# fish completion of heapdex; printed by: heapdex __complete fish\n"
    "function __heapdex_offers\n"
    "    set -l words (commandline -opc)\n"
    "    set -l raw (commandline -ct)\n"
    "    set -l current\n"
    "    for quote in '' \\' '\"' # an open one is closed for reading\n"
    "        set current (string unescape -- \"$raw$quote\")\n"
    "        test -n \"$current\"; and break\n"
    "    end\n"
    "    test (count $words) -gt 0; or return\n"
    "    $words[1] __complete words $words[2..-1] \"$current\" 2>/dev/null | tail -n +2 | string match -r '.+'\n"
    "end\n"
    "complete -c heapdex -f -a '(__heapdex_offers)'\n";

bool cli_complete(hdx_buffer *out, const char *shell)
{
    const size_t count = cli_command_count();
    if (strcmp(shell, "bash") == 0)
        hdx_buffer_text(out, bash);
    else if (strcmp(shell, "zsh") == 0)
        hdx_buffer_text(out, zsh);
    else if (strcmp(shell, "fish") == 0)
        hdx_buffer_text(out, fish);
    else if (strcmp(shell, "examples") == 0)
        for (size_t i = 0; i < 2 * count; i++)
            hdx_buffer_format(out, "%s\n", cli_command_at(i / 2)->examples[i % 2]);
    else
        return false;
    return true;
}

/* ---- queries of the scripts ---- */

static void put_words(hdx_buffer *out, const char *const *words, size_t count)
{
    cli_offers o;
    cli_offer_words(&o, words, count);
    hdx_buffer_format(out, "%s\n", o.files != NULL ? o.files : "none");
    for (size_t i = 0; i < o.count; i++) {
        if (o.files != NULL && i == o.words)
            hdx_buffer_text(out, "\n");
        hdx_buffer_format(out, "%s\t%s\n", o.at[i].text, o.at[i].about != NULL ? o.at[i].about : "");
    }
    cli_offers_free(&o);
}

static void put_line(hdx_buffer *out, const char *text, const char *breaks)
{
    hdx_arena          arena = hdx_arena_of(NULL);
    size_t             count, from;
    char               quote;
    const char *const *words = cli_bash_words(&arena, text, breaks, &count, &from, &quote);
    if (words != NULL && count > 1) { /* the first word is heapdex */
        cli_offers o;
        cli_offer_words(&o, words + 1, count - 1);
        for (size_t i = 0; i < o.count; i++) {
            cli_put_bash(out, o.at[i].text + from, quote, from == 0);
            hdx_buffer_text(out, "\n");
        }
        cli_offers_free(&o);
    }
    hdx_arena_free(&arena);
}

static void put_classes(hdx_buffer *out, const char *dump, const char *prefix)
{
    cli_offers o = { .arena = hdx_arena_of(NULL), .wanted = prefix };
    cli_offer_classes(&o, dump, prefix);
    for (size_t i = 0; i < o.count; i++)
        hdx_buffer_format(out, "%s\n", o.at[i].text);
    cli_offers_free(&o);
}

bool cli_offered(hdx_buffer *out, int argc, const char *const *argv)
{
    if (argc < 4)
        return false;
    if (strcmp(argv[2], "words") == 0)
        put_words(out, argv + 3, (size_t)argc - 3);
    else if (strcmp(argv[2], "line") == 0 && argc == 5)
        put_line(out, argv[3], argv[4]);
    else if (strcmp(argv[2], "classes") == 0 && argc == 5)
        put_classes(out, argv[3], argv[4]);
    else
        return false;
    return true;
}
