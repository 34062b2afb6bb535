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
    cr_expect(gt(u32, answers_refused(&h, suspects), 300));
    heap_close(&h);
}

/* Every n-th ask of asked.txt that is about the heap itself. */
static void refuse_asked(heap *h, unsigned first)
{
    char     line[512];
    unsigned n = 0, refused = 0;
    FILE    *file = fopen(HDX_TREE "/tests/query/asked.txt", "r");
    cr_assert(file != NULL);
    while (fgets(line, sizeof line, file) != NULL) {
        int at = 0;
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#' || sscanf(line, "%*s %*s %n", &at) != 0 || n++ % 4 != first)
            continue;
        refused += answers_refused(h, (const char *const[]){ line + at, NULL });
    }
    cr_expect(gt(u32, refused, 5000), "%u", refused);
    (void)fclose(file);
}

Test(town, is_told_as_a_whole_or_not_at_all)
{
    heap h;
    town_make(&h);
    refuse_asked(&h, 1);
    heap_close(&h);
}
