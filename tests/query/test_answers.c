/*
 * test_answers.c - answers that stand in files to be read: about suspects of every kind (trouble.h), and about a heap
 * with one of everything (town.h) the same while something is refused.
 */
#include "answers.h"
#include "town.h"
#include "trouble.h"

static const char *const suspects[] = { "live suspects threshold=3",
                                        "rows suspects threshold=3 drop=100 share=1",
                                        "rows suspects threshold=3 drop=1 share=100",
                                        "live suspects threshold=100",
                                        "live table:suspects",
                                        NULL };

Test(trouble, is_told_in_words)
{
    heap h;
    trouble_make(&h);
    answers_expect(&h, "trouble.txt", suspects);
    heap_close(&h);
}

Test(trouble, is_told_as_a_whole_or_not_at_all)
{
    heap h;
    trouble_make(&h);
    answers_refused(&h, suspects);
    heap_close(&h);
}
