/*
 * questions.h - the list of all questions and tables. A new one is a file that defines hdx_question_NAME
 * (hdx_table_of_NAME) and an entry here: command line, help, completions, JSON Schema and `export` use the list.
 */
#ifndef HDX_QUERY_QUESTIONS_H
#define HDX_QUERY_QUESTIONS_H

#include "query/query.h"

#define HDX_QUESTIONS(x)                                                                                               \
    x(info) x(find) x(histogram) x(dominators) x(top) x(holders) x(object) x(objects) x(refs) x(path) x(retained)      \
        x(immediate_dominators) x(free_if) x(garbage) x(roots) x(threads) x(properties) x(loaders)                     \
            x(duplicate_classes) x(statics) x(thread_locals) x(referents) x(finalizers) x(cleaners) x(direct_buffers)  \
                x(open_files) x(suspects) x(collections) x(entries) x(map_keys) x(strings) x(duplicates) x(arrays)     \
                    x(biggest_arrays) x(sizes)

#define HDX_TABLES(x)                                                                                                  \
    x(objects) x(references) x(named_references) x(classes) x(loaders) x(roots) x(threads) x(packages) x(dump)         \
        x(suspects)

#define HDX_QUESTION_IS(name) extern const hdx_question hdx_question_##name;
#define HDX_TABLE_IS(name)    extern const hdx_question hdx_table_of_##name;
HDX_QUESTIONS(HDX_QUESTION_IS) HDX_TABLES(HDX_TABLE_IS)

#endif
