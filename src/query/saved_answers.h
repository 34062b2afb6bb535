/*
 * saved_answers.h - whole answers to slow questions, saved next to the index by the first call and returned by later
 * ones: those of questions with `saved` (query.h).
 */
#ifndef HDX_QUERY_SAVED_ANSWERS_H
#define HDX_QUERY_SAVED_ANSWERS_H

#include "query/query.h"

/* An answer of more bytes is not saved: it is computed each time. */
#define HDX_SAVED_ANSWER_MOST (1u << 20)

/*
 * As hdx_question_open, with rows that are saved. Rows are computed and saved with all columns but those that need a
 * read of the dump for each row (HDX_COLUMN_LATE), and without the bounds of the caller; where the caller names columns
 * or bounds, less has to be computed, and nothing is saved.
 */
hdx_code hdx_saved_answer_open(const hdx_question *question, const hdx_query *q, const hdx_arguments *a, hdx_rows **out,
                               hdx_error *err);

/* Computes all saved answers again, and returns HDX_DAMAGED if one differs. */
hdx_code hdx_saved_answers_verify(const hdx_query *q, hdx_error *err);

#endif
