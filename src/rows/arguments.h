/*
 * arguments.h - what a caller gave for the parameters of an answer, checked once and then read by name.
 *
 * A question reads its own parameters only; names that it never declared are a fault of the program (an assert).
 * Presets hold where nothing was given.
 */
#ifndef HDX_ROWS_ARGUMENTS_H
#define HDX_ROWS_ARGUMENTS_H

#include "base/base.h"
#include <heapdex/answer.h>

typedef struct hdx_arguments { /* borrowed */
    const hdx_answer   *answer;
    const hdx_argument *at;
    size_t              count;
} hdx_arguments;

/* NULL: not given, and no preset. The last one given holds. */
const char *hdx_argument_text(const hdx_arguments *a, const char *name);
bool        hdx_argument_flag(const hdx_arguments *a, const char *name);
uint64_t    hdx_argument_number(const hdx_arguments *a, const char *name); /* numbers and sizes; 0: not given */
int         hdx_argument_choice(const hdx_arguments *a,
                                const char          *name); /* place of the word among `choices`; -1: not given */
unsigned    hdx_argument_choices(const hdx_arguments *a,
                                 const char          *name); /* bit i: the i-th of `choices` is among them */
/* All values of one that may be repeated, into an array from the arena. */
hdx_code hdx_argument_texts(const hdx_arguments *a, const char *name, hdx_arena *arena, const char *const **at,
                            size_t *count, hdx_error *err);

/* Are rows alone wanted, without the document beside them (`document` is false)? */
bool hdx_argument_plain(const hdx_arguments *a);
/* Is it one of the answer's own parameters? Then that holds, and no common one of the same name. */
bool hdx_argument_declared(const hdx_arguments *a, const char *name);

/* Place of a word among words with blanks between; -1: not there. */
int hdx_word_place(const char *words, const char *word, size_t len);
/* `common`: what all answers take besides. */
hdx_code        hdx_arguments_check(const hdx_arguments *a, const hdx_parameter *common, size_t common_count,
                                    const char *before, hdx_error *err);
const hdx_form *hdx_arguments_form(const hdx_arguments *a);

#endif
