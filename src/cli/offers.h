/*
 * offers.h - what may stand at a place of the command line: asked by the completions of shells, which know nothing of
 * heapdex themselves.
 *
 *     words     heapdex, what was written before, the beginning that stands at the cursor
 *     offers    every word that begins so and would be understood there
 */
#ifndef HDX_CLI_OFFERS_H
#define HDX_CLI_OFFERS_H

#include "cli/cli.h"

#define CLI_OFFERS_MOST 200u /* of names out of a dump: more are offered by their packages */

typedef struct cli_offer {
    const char *text;
    const char *about; /* a sentence; NULL: none */
} cli_offer;

typedef struct cli_offers {
    hdx_arena   arena;
    cli_offer  *at; /* none of them holds a character that acts on a terminal */
    size_t      count, room;
    size_t      words;  /* of them that are no files; files come after all others */
    const char *wanted; /* all of them begin so */
    const char *files;  /* NULL, or which files are among them: "dumps", "files", "folders" */
} cli_offers;

/* words[count - 1] stands at the cursor; words[0] is the first behind heapdex. */
void cli_offer_words(cli_offers *o, const char *const *words, size_t count);
/* Names of classes of the dump that begin so, out of its index: where there is none, none. */
void cli_offer_classes(cli_offers *o, const char *dump, const char *prefix);
/* The same of an open index, `before` them and `behind` those that are whole; o->wanted is `before` and the prefix. */
void cli_offer_classes_of(cli_offers *o, hdx_graph *g, const char *before, const char *prefix, const char *behind);
void cli_offers_free(cli_offers *o);

/*
 * A line of bash, cut at the cursor, as words. *from: how much of the last word bash does not replace; its `breaks`
 * (COMP_WORDBREAKS) end what it takes for a word. *quote: the one that is open there, or 0. NULL: no memory.
 */
const char *const *cli_bash_words(hdx_arena *arena, const char *line, const char *breaks, size_t *count, size_t *from,
                                  char *quote);
/* Text as bash reads it back behind such a quote. start: it stands at the beginning of a word, where ~ is a folder. */
void cli_put_bash(hdx_buffer *out, const char *text, char quote, bool start);

#endif
