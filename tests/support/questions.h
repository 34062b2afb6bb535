/* questions.h - the questions as C functions, which rooms above them ask by name (hdx_answer_run). */
#ifndef HDX_TESTS_SUPPORT_QUESTIONS_H
#define HDX_TESTS_SUPPORT_QUESTIONS_H

#include "query/histogram/histogram.h"
#include "query/holding/holding.h"
#include "query/objects.h"
#include "query/paths/paths.h"
#include "query/runtime/threads.h"
#include "query/suspects/suspects.h"
#include "query/texts/content.h"

#endif
