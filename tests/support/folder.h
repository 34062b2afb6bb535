/*
 * folder.h - an empty folder for a test to work in, and its end.
 *
 *     char folder[TEST_FOLDER];
 *     test_folder_make(folder, "tape");      /tmp/hdx-tape- and six letters
 *     ...
 *     test_folder_remove(folder);            with all that is in it
 *
 * What goes wrong is said in one line, and then abort(): the programs of tests/fuzz and tests/threads, which have no
 * Criterion, use this too.
 */
#ifndef HDX_TESTS_SUPPORT_FOLDER_H
#define HDX_TESTS_SUPPORT_FOLDER_H

#define TEST_FOLDER 32 /* bytes of a path; a stem of 11 letters fits everywhere */

void test_folder_make(char path[TEST_FOLDER], const char *stem);
void test_folder_make_fast(char        path[TEST_FOLDER],
                           const char *stem); /* in memory, where the system has a place for that */
void test_folder_remove(const char *path);    /* links in it are not followed */

#endif
