/*
 * offers.h - completions for a place of the command line, for the completion scripts of shells, which contain no
 * knowledge of heapdex.
 *
 *   input: heapdex, the words before the cursor, the beginning of the word at the cursor
 *   offers: every word with this beginning that is valid there
 */
#ifndef HDX_CLI_OFFERS_H
#define HDX_CLI_OFFERS_H

#include "cli/cli.h"

#define CLI_OFFERS_MOST 200u /* of names in a dump: if there are more, their packages are offered */

typedef struct cli_offer {
    const char *text;
    const char *about; /* a sentence; NULL: none */
} cli_offer;

typedef struct cli_offers {
    hdx_arena   arena;
    cli_offer  *at; /* without characters that affect a terminal */
    size_t      count, room;
    size_t      words;  /* number of offers that are not files; files follow all others */
    const char *wanted; /* the beginning of all offers */
    const char *files;  /* which files are offered: "dumps", "files", "folders"; NULL: none */
} cli_offers;

/* Computes the offers. words[count - 1] is the word at the cursor; words[0] is the first after heapdex. */
void cli_offer_words(cli_offers *o, const char *const *words, size_t count);
/* Offers class names of the dump with this beginning, from its index; none without an index. */
void cli_offer_classes(cli_offers *o, const char *dump, const char *prefix);
/*
 * Same for an open index, with `before` in front of each name, and `behind` after complete names; o->wanted is `before`
 * and the prefix.
 */
void cli_offer_classes_of(cli_offers *o, hdx_graph *g, const char *before, const char *prefix, const char *behind);
void cli_offers_free(cli_offers *o);

/*
 * Splits a line of bash, up to the cursor, into words. *from: length of the beginning of the last word that bash does
 * not replace, because characters of `breaks` (COMP_WORDBREAKS) separate words. *quote: the open quote at the cursor,
 * or 0. NULL: no memory.
 */
const char *const *cli_bash_words(hdx_arena *arena, const char *line, const char *breaks, size_t *count, size_t *from,
                                  char *quote);
/* Appends text quoted for bash after such a quote. start: it is the beginning of a word, where ~ is a folder. */
void cli_put_bash(hdx_buffer *out, const char *text, char quote, bool start);

#endif
