/* dump_of_class.h - a dump with an object of a class of any name, for tests of how names are shown. */
#ifndef TESTS_CLI_DUMP_OF_CLASS_H
#define TESTS_CLI_DUMP_OF_CLASS_H

#include "hprof/hprof.h"
#include "support/dump_maker.h"

/* The object is at 0x1000 and refers to a byte[] of 5,000 bytes. */
static inline void save_dump_of_class(const char *file, const char *name)
{
    dump_maker *m = dump_maker_new(8);
    (void)dump_maker_class_at(m, 0x100, "java.lang.Object", 0, "");
    (void)dump_maker_class_at(m, 0x300, "byte[]", 0x100, "");
    (void)dump_maker_class_at(m, 0x200, name, 0x100, "a:L");
    dump_maker_primitives_at(m, 0x2000, 'B', NULL, 5000);
    dump_maker_instance_at(m, 0x1000, 0x200, DUMP_VALUES(0x2000));
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, 0x1000, 0, 0);
    dump_maker_save(m, file);
    dump_maker_free(m);
}

#endif
