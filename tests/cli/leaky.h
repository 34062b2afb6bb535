/* leaky.h - a small dump with leaks. */
#ifndef TESTS_CLI_LEAKY_H
#define TESTS_CLI_LEAKY_H

#include "hprof/hprof.h"
#include "support/dump_maker.h"

#include <stdio.h>

/*
 *     Holder.first  -> Node.next -> Screen 1 (watched)           Holder.second -> Screen 2 (watched)
 *     nobody        -> Screen 3 (watched)                         Screen 4 is watched and not retained yet
 */
static inline void leaky_make(const char *path, bool second)
{
    dump_maker *m = dump_maker_new(8);
    uint64_t    object = dump_maker_class(m, "java/lang/Object", 0, "");
    uint64_t    string = dump_maker_class(m, "java/lang/String", object, "value:L coder:B hash:I");
    uint64_t    reference = dump_maker_class(m, "java/lang/ref/Reference", object, "referent:L queue:L");
    uint64_t    weak = dump_maker_class(m, "java/lang/ref/WeakReference", reference, "");
    dump_maker_static(m, "heapDumpUptimeMillis", 'J', 30000);
    uint64_t keyed = dump_maker_class(m, "leakcanary/KeyedWeakReference", weak,
                                      "key:L description:L watchUptimeMillis:J retainedUptimeMillis:J");
    uint64_t node = dump_maker_class(m, "app/Node", object, "next:L");
    uint64_t screen = dump_maker_class(m, "app/Screen", object, "closed:Z");
    uint64_t screens[4];
    for (int i = 0; i < 4; i++) {
        char key[16];
        (void)snprintf(key, sizeof key, "key-%d", i + 1);
        screens[i] = dump_maker_instance(m, screen, DUMP_VALUES(i < 2));
        dump_maker_instance(m, keyed,
                            DUMP_VALUES(dump_maker_string(m, string, key),
                                        dump_maker_string(m, string, "it was closed"), 10000u + 10000u * (i == 1),
                                        i == 3 ? UINT64_MAX : 25000, screens[i], 0));
    }
    uint64_t first = dump_maker_instance(m, node, DUMP_VALUES(screens[0]));
    dump_maker_static(m, "first", 'L', first);
    if (second)
        dump_maker_static(m, "second", 'L', screens[1]);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, dump_maker_class(m, "app/Holder", object, ""), 0, 0);
    dump_maker_save(m, path);
    dump_maker_free(m);
}

#endif
