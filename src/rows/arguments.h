/*
 * arguments.h - the arguments of an answer, checked once and then read by name.
 *
 * An answer reads its own parameters only; a name that it did not declare is a programming error (an assert). Presets
 * apply to parameters that are not given.
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

/* Returns the value of a parameter, the last one if it is given several times; NULL: not given, and no preset. */
const char *hdx_argument_text(const hdx_arguments *a, const char *name);
bool        hdx_argument_flag(const hdx_arguments *a, const char *name);
uint64_t    hdx_argument_number(const hdx_arguments *a, const char *name); /* of numbers and sizes; 0: not given */
/* Sets *out to a number or size, or to a share of `whole` such as 0.1%; 0: not given. */
hdx_code hdx_argument_share(const hdx_arguments *a, const char *name, uint64_t whole, uint64_t *out, hdx_error *err);
int hdx_argument_choice(const hdx_arguments *a, const char *name); /* index of the value in `choices`; -1: not given */
unsigned hdx_argument_choices(const hdx_arguments *a, const char *name); /* bit i: the i-th of `choices` is given */
/* Returns all values of a parameter that may be repeated, as an array in the arena. */
hdx_code hdx_argument_texts(const hdx_arguments *a, const char *name, hdx_arena *arena, const char *const **at,
                            size_t *count, hdx_error *err);

/* Returns whether only rows are wanted, without the document (`document` is false). */
bool hdx_argument_plain(const hdx_arguments *a);
/* Returns whether the answer declares this parameter itself; then a common one of the same name does not apply. */
bool hdx_argument_declared(const hdx_arguments *a, const char *name);

/* Returns the index of a word in a list of words separated by blanks; -1: not in the list. */
int hdx_word_place(const char *words, const char *word, size_t len);
/* Checks the arguments as hdx_answer_check does. `common`: the parameters that all answers accept. */
hdx_code        hdx_arguments_check(const hdx_arguments *a, const hdx_parameter *common, size_t common_count,
                                    const char *before, hdx_error *err);
const hdx_form *hdx_arguments_form(const hdx_arguments *a);

#endif
