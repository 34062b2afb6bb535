/*
 * library_dump.h - heaps of the classes of JDKs and of Android that questions know by name: files, sockets, buffers,
 * cleaners, finalizers, references of every strength, threads of every kind, loaders, properties, collections. Values
 * are drawn: mostly of the class that stands there in a real heap, sometimes nothing, sometimes anything.
 */
#ifndef HDX_TESTS_QUERY_LIBRARY_DUMP_H
#define HDX_TESTS_QUERY_LIBRARY_DUMP_H

#include "hprof/hprof.h"
#include "support/dump_maker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct library_class {
    const char *name, *super, *fields, *statics;
} library_classes[] = {
    { "java.lang.Object", "", "", "" },
    { "java.lang.Class", "java.lang.Object", "name:L classLoader:L", "" },
    { "java.lang.String", "java.lang.Object", "value:L coder:B hash:I", "" },
    { "byte[]", "java.lang.Object", "", "" },
    { "java.lang.Object[]", "java.lang.Object", "", "" },
    { "java.lang.ClassLoader", "java.lang.Object", "parent:L name:L", "" },
    { "java.net.URLClassLoader", "java.lang.ClassLoader", "path:L", "" },
    { "java.io.FileDescriptor", "java.lang.Object", "fd:I handle:J", "" },
    { "java.io.FileInputStream", "java.lang.Object", "fd:L path:L", "" },
    { "java.io.FileOutputStream", "java.lang.Object", "fd:L path:L", "" },
    { "java.io.RandomAccessFile", "java.lang.Object", "fd:L path:L", "" },
    { "java.net.SocketInputStream", "java.io.FileInputStream", "impl:L", "" },
    { "java.net.SocketImpl", "java.lang.Object", "serverSocket:L fd:L address:L port:I localport:I", "" },
    { "sun.nio.ch.NioSocketImpl", "java.net.SocketImpl", "server:Z state:I", "" },
    { "java.net.DatagramSocketImpl", "java.lang.Object", "fd:L localPort:I", "" },
    { "java.net.InetAddress$InetAddressHolder", "java.lang.Object", "hostName:L address:I family:I", "" },
    { "java.net.InetAddress", "java.lang.Object", "holder:L", "" },
    { "java.net.InetSocketAddress$InetSocketAddressHolder", "java.lang.Object", "hostname:L addr:L port:I", "" },
    { "java.net.InetSocketAddress", "java.lang.Object", "holder:L", "" },
    { "sun.nio.ch.FileChannelImpl", "java.lang.Object", "fd:L path:L", "" },
    { "sun.nio.ch.ServerSocketChannelImpl", "java.lang.Object", "fd:L localAddress:L", "" },
    { "sun.nio.ch.SocketChannelImpl", "java.lang.Object", "fd:L remoteAddress:L", "" },
    { "sun.nio.ch.SinkChannelImpl", "java.lang.Object", "fd:L", "" },
    { "android.os.ParcelFileDescriptor", "java.lang.Object", "mFd:L", "" },
    { "java.util.zip.ZStreamRef", "java.lang.Object", "address:J", "" },
    { "java.util.zip.Inflater", "java.lang.Object", "zsRef:L", "" },
    { "java.util.zip.Deflater", "java.lang.Object", "streamHandle:J", "" },
    { "java.util.zip.ZipFile", "java.lang.Object", "jzfile:J closeRequested:Z name:L", "" },
    { "sun.nio.fs.UnixPath", "java.lang.Object", "path:L", "" },
    { "sun.nio.fs.UnixDirectoryStream", "java.lang.Object", "dp:J isClosed:Z dir:L", "" },
    { "sun.nio.ch.EPollSelectorImpl", "java.lang.Object", "epfd:I closed:Z", "" },
    { "sun.nio.fs.LinuxWatchService$Poller", "java.lang.Object", "ifd:I closed:Z", "" },
    { "java.lang.ProcessImpl", "java.lang.Object", "pid:I hasExited:Z", "" },
    { "java.lang.ref.ReferenceQueue", "java.lang.Object", "head:L lock:L", "" },
    { "java.lang.ref.Reference", "java.lang.Object", "referent:L queue:L next:L discovered:L", "pending:L" },
    { "java.lang.ref.WeakReference", "java.lang.ref.Reference", "", "" },
    { "java.lang.ref.SoftReference", "java.lang.ref.Reference", "timestamp:J", "clock:J" },
    { "java.lang.ref.PhantomReference", "java.lang.ref.Reference", "", "" },
    { "java.lang.ref.FinalReference", "java.lang.ref.Reference", "", "" },
    { "java.lang.ref.Finalizer", "java.lang.ref.FinalReference", "next:L prev:L", "queue:L unfinalized:L" },
    { "java.lang.ref.FinalizerReference", "java.lang.ref.Reference", "next:L prev:L zombie:L", "queue:L head:L" },
    { "java.lang.Daemons$FinalizerDaemon", "java.lang.Object", "finalizingObject:L", "INSTANCE:L" },
    { "jdk.internal.ref.PhantomCleanable", "java.lang.ref.PhantomReference", "prev:L next:L list:L", "" },
    { "jdk.internal.ref.CleanerImpl$PhantomCleanableRef", "jdk.internal.ref.PhantomCleanable", "action:L", "" },
    { "jdk.internal.ref.Cleaner", "java.lang.ref.PhantomReference", "next:L prev:L thunk:L", "first:L" },
    { "sun.misc.Cleaner", "java.lang.ref.PhantomReference", "next:L prev:L thunk:L", "first:L" },
    { "java.nio.DirectByteBuffer$Deallocator", "java.lang.Object", "address:J size:J capacity:I", "" },
    { "sun.nio.ch.FileChannelImpl$Unmapper", "java.lang.Object", "address:J size:J cap:I fd:L", "" },
    { "libcore.util.NativeAllocationRegistry", "java.lang.Object", "size:J freeFunction:J", "" },
    { "libcore.util.NativeAllocationRegistry$CleanerThunk", "java.lang.Object", "nativePtr:J this$0:L", "" },
    { "java.nio.Buffer", "java.lang.Object", "mark:I position:I limit:I capacity:I address:J", "" },
    { "java.nio.ByteBuffer", "java.nio.Buffer", "hb:L offset:I", "" },
    { "java.nio.MappedByteBuffer", "java.nio.ByteBuffer", "fd:L", "" },
    { "java.nio.DirectByteBuffer", "java.nio.MappedByteBuffer", "att:L cleaner:L", "" },
    { "java.nio.DirectByteBufferR", "java.nio.DirectByteBuffer", "", "" },
    { "java.nio.HeapByteBuffer", "java.nio.ByteBuffer", "", "" },
    { "java.nio.LongBuffer", "java.nio.Buffer", "hb:L offset:I", "" },
    { "java.nio.DirectLongBufferU", "java.nio.LongBuffer", "att:L", "" },
    { "jdk.internal.foreign.AbstractMemorySegmentImpl", "java.lang.Object", "length:J readOnly:Z scope:L", "" },
    { "jdk.internal.foreign.NativeMemorySegmentImpl", "jdk.internal.foreign.AbstractMemorySegmentImpl", "min:J", "" },
    { "java.util.concurrent.atomic.AtomicLong", "java.lang.Object", "value:J", "" },
    { "java.nio.Bits", "java.lang.Object", "", "COUNT:L TOTAL_CAPACITY:L" },
    { "java.lang.ThreadGroup", "java.lang.Object", "name:L parent:L", "" },
    { "java.lang.Thread$FieldHolder", "java.lang.Object", "group:L priority:I daemon:Z threadStatus:I", "" },
    { "java.lang.Thread", "java.lang.Object",
      "name:L holder:L threadLocals:L inheritableThreadLocals:L "
      "contextClassLoader:L tid:J started:Z",
      "" },
    { "java.lang.ref.Finalizer$FinalizerThread", "java.lang.Thread", "running:Z", "" },
    { "java.lang.BaseVirtualThread", "java.lang.Thread", "", "" },
    { "java.lang.VirtualThread", "java.lang.BaseVirtualThread", "state:I carrierThread:L",
      "NEW:I STARTED:I RUNNING:I PARKING:I PARKED:I PINNED:I TERMINATED:I" },
    { "java.lang.ThreadLocal", "java.lang.Object", "threadLocalHashCode:I", "" },
    { "java.lang.ThreadLocal$ThreadLocalMap", "java.lang.Object", "table:L size:I", "" },
    { "java.lang.ThreadLocal$ThreadLocalMap$Entry", "java.lang.ref.WeakReference", "value:L", "" },
    { "java.util.HashMap$Node", "java.lang.Object", "hash:I key:L value:L next:L", "" },
    { "java.util.HashMap", "java.lang.Object", "table:L size:I modCount:I threshold:I loadFactor:F", "" },
    { "java.util.LinkedHashMap", "java.util.HashMap", "head:L tail:L", "" },
    { "java.util.HashSet", "java.lang.Object", "map:L", "" },
    { "java.util.ArrayList", "java.lang.Object", "elementData:L size:I modCount:I", "" },
    { "java.util.LinkedList$Node", "java.lang.Object", "item:L next:L prev:L", "" },
    { "java.util.LinkedList", "java.lang.Object", "size:I first:L last:L", "" },
    { "java.util.concurrent.ConcurrentHashMap$Node", "java.lang.Object", "hash:I key:L val:L next:L", "" },
    { "java.util.concurrent.ConcurrentHashMap", "java.lang.Object", "table:L baseCount:J counterCells:L", "" },
    { "java.util.concurrent.CopyOnWriteArrayList", "java.lang.Object", "array:L", "" },
    { "java.util.Properties", "java.lang.Object", "map:L defaults:L", "" },
    { "java.lang.System", "java.lang.Object", "", "props:L security:L" },
    { "java.lang.Runtime", "java.lang.Object", "", "currentRuntime:L" },
    { "java.lang.ProcessEnvironment", "java.lang.Object", "", "theEnvironment:L theUnmodifiableEnvironment:L" },
    { "sun.management.VMManagementImpl", "java.lang.Object", "vmArgs:L", "version:L" },
    { "java.lang.Integer", "java.lang.Object", "value:I", "" },
    { "java.lang.Boolean", "java.lang.Object", "value:Z", "TRUE:L FALSE:L" },
    { "java.lang.Enum", "java.lang.Object", "name:L ordinal:I", "" },
    { "java.lang.StringBuilder", "java.lang.Object", "value:L coder:B count:I", "" },
    { "java.util.Locale", "java.lang.Object", "baseLocale:L hashCodeValue:I", "" },
    { "java.net.URL", "java.lang.Object", "protocol:L host:L port:I file:L ref:L", "" },
    { "java.lang.StackTraceElement", "java.lang.Object", "declaringClass:L methodName:L fileName:L lineNumber:I", "" },
    { "android.os.Build", "java.lang.Object", "", "ID:L MANUFACTURER:L" },
    { "app.Service", "java.lang.Object", "files:L cache:L next:L count:I", "INSTANCE:L LIMIT:I RATIO:D" },
};
#ifndef LIBRARY_OBJECTS
#define LIBRARY_OBJECTS 420u
#endif
enum { LIBRARY_CLASSES = sizeof library_classes / sizeof *library_classes };

/* The class whose objects a field of that name mostly has. */
static const char *const library_hints[][2] = {
    { "fd", "java.io.FileDescriptor" },
    { "mFd", "java.io.FileDescriptor" },
    { "path", "java.lang.String" },
    { "name", "java.lang.String" },
    { "value", "byte[]" },
    { "hb", "byte[]" },
    { "address", "java.net.InetAddress" },
    { "addr", "java.net.InetAddress" },
    { "localAddress", "java.net.InetSocketAddress" },
    { "remoteAddress", "java.net.InetSocketAddress" },
    { "zsRef", "java.util.zip.ZStreamRef" },
    { "dir", "sun.nio.fs.UnixPath" },
    { "queue", "java.lang.ref.ReferenceQueue" },
    { "cleaner", "jdk.internal.ref.Cleaner" },
    { "first", "jdk.internal.ref.Cleaner" },
    { "att", "java.nio.DirectByteBuffer" },
    { "unfinalized", "java.lang.ref.Finalizer" },
    { "pending", "java.lang.ref.Finalizer" },
    { "COUNT", "java.util.concurrent.atomic.AtomicLong" },
    { "TOTAL_CAPACITY", "java.util.concurrent.atomic.AtomicLong" },
    { "threadLocals", "java.lang.ThreadLocal$ThreadLocalMap" },
    { "inheritableThreadLocals", "java.lang.ThreadLocal$ThreadLocalMap" },
    { "contextClassLoader", "java.net.URLClassLoader" },
    { "parent", "java.net.URLClassLoader" },
    { "carrierThread", "java.lang.Thread" },
    { "group", "java.lang.ThreadGroup" },
    { "table", "java.lang.Object[]" },
    { "elementData", "java.lang.Object[]" },
    { "array", "java.lang.Object[]" },
    { "props", "java.util.Properties" },
    { "vmArgs", "java.util.ArrayList" },
    { "theEnvironment", "java.util.HashMap" },
    { "key", "java.lang.String" },
    { "val", "java.lang.String" },
    { "hostName", "java.lang.String" },
    { "version", "java.lang.String" },
    { "this$0", "libcore.util.NativeAllocationRegistry" },
};

typedef struct library {
    dump_maker *m;
    uint64_t    random_state, ids[LIBRARY_CLASSES];
    unsigned    class_of[LIBRARY_OBJECTS];
} library;

static inline uint32_t library_draw(library *l, uint32_t n)
{
    l->random_state = l->random_state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(l->random_state >> 33) % n;
}

static inline unsigned library_named(const char *name)
{
    for (unsigned i = 0; i < LIBRARY_CLASSES; i++)
        if (strcmp(library_classes[i].name, name) == 0)
            return i;
    return LIBRARY_CLASSES;
}

static inline uint64_t library_id(unsigned object) { return 0x100000 + 0x200 * (uint64_t)object; }

/* The next one of a class, from a drawn place on; of any class where there is none. */
static inline uint64_t library_one_of(library *l, unsigned class)
{
    const unsigned from = library_draw(l, LIBRARY_OBJECTS);
    for (unsigned i = 0; i < LIBRARY_OBJECTS; i++)
        if (l->class_of[(from + i) % LIBRARY_OBJECTS] == class)
            return library_id((from + i) % LIBRARY_OBJECTS);
    return library_id(from);
}

static inline uint64_t library_ref(library *l, const char *holder, const char *field, size_t len)
{
    const uint32_t how = library_draw(l, 12);
    if (how == 0)
        return 0;
    if (how == 1)
        return library_draw(l, 3) == 0 ? 0xdead0 : library_id(library_draw(l, LIBRARY_OBJECTS));
    if (strncmp(field, "next", len) == 0 && len == 4) /* of its own kind; a list ends now and then */
        return library_draw(l, 4) == 0 ? 0 : library_one_of(l, library_named(holder));
    if (strncmp(field, "holder", len) == 0 && len == 6) {
        char           name[128];
        const unsigned thread = library_named("java.lang.Thread$FieldHolder");
        (void)snprintf(name, sizeof name, "%s$%sHolder", holder, strrchr(holder, '.') + 1);
        return library_one_of(l, strstr(holder, "Thread") != NULL ? thread : library_named(name));
    }
    for (size_t i = 0; i < sizeof library_hints / sizeof *library_hints; i++)
        if (strlen(library_hints[i][0]) == len && strncmp(library_hints[i][0], field, len) == 0)
            return library_one_of(l, library_named(library_hints[i][1]));
    return library_id(library_draw(l, LIBRARY_OBJECTS));
}

static inline uint64_t library_number(library *l)
{
    static const uint64_t some[] = { 0, 1, 2, 5, 17, 0x191, 0xe1, UINT64_MAX, 0x7fffffff, 4096, 0x7f0000001000 };
    const uint32_t        k = library_draw(l, 16);
    return k < sizeof some / sizeof *some ? some[k] : library_draw(l, 200);
}

/* "name:L size:I" of one class, one value after the other. */
static inline unsigned library_values(library *l, unsigned class, const char *fields, uint64_t *values)
{
    unsigned n = 0;
    for (const char *at = fields; *at != '\0'; at += strspn(at, " ")) {
        const size_t len = strcspn(at, ":");
        values[n++] = at[len + 1] == 'L' ? library_ref(l, library_classes[class].name, at, len) : library_number(l);
        at += len + 2;
    }
    return n;
}

static inline void library_object(library *l, unsigned object)
{
    const unsigned class = l->class_of[object];
    const char *name = library_classes[class].name;
    uint64_t    values[64], id = library_id(object);
    unsigned    n = 0;
    if (strcmp(name, "byte[]") == 0) {
        const uint32_t len = library_draw(l, 20), first = library_draw(l, 26);
        for (uint32_t i = 0; i < len; i++)
            values[i] = 'a' + (first + i) % 26;
        (void)dump_maker_primitives_at(l->m, id, 'B', values, len);
    } else if (strcmp(name, "java.lang.Object[]") == 0) {
        const uint32_t           len = library_draw(l, 12), kind = library_draw(l, 4);
        static const char *const of[] = { "java.util.HashMap$Node", "java.lang.ThreadLocal$ThreadLocalMap$Entry",
                                          "java.util.concurrent.ConcurrentHashMap$Node", "java.lang.String" };
        for (uint32_t i = 0; i < len; i++)
            values[i] = library_draw(l, 3) == 0 ? 0 : library_one_of(l, library_named(of[kind]));
        (void)dump_maker_array_at(l->m, id, l->ids[class], values, len);
    } else {
        for (unsigned of = class; of < LIBRARY_CLASSES; of = library_named(library_classes[of].super))
            n += library_values(l, of, library_classes[of].fields, values + n);
        (void)dump_maker_instance_at(l->m, id, l->ids[class], values);
    }
}

static inline void library_threads(library *l)
{
    const uint32_t finalizer =
        dump_maker_load(l->m, l->ids[library_named("java.lang.ref.Finalizer")], "java/lang/ref/Finalizer");
    const uint64_t frames[] = { dump_maker_frame(l->m, "runFinalizer", finalizer, 7),
                                dump_maker_frame(l->m, "run", finalizer, -3),
                                dump_maker_frame(l->m, "start", finalizer, -1) };
    unsigned       serial = 0;
    for (unsigned i = 0; i < LIBRARY_OBJECTS && serial < 6; i++)
        if (strstr(library_classes[l->class_of[i]].name, "Thread") != NULL &&
            strstr(library_classes[l->class_of[i]].name, "ThreadLocal") == NULL) {
            serial++;
            dump_maker_trace(l->m, serial + 1, serial, frames + serial % 2, serial % 3);
            dump_maker_root(l->m, HDX_SUB_ROOT_THREAD_OBJECT, library_id(i), serial, (int32_t)serial + 1);
            dump_maker_root(l->m, HDX_SUB_ROOT_JAVA_FRAME, library_id(library_draw(l, LIBRARY_OBJECTS)), serial, 0);
        }
}

static inline dump_maker *library_dump(uint32_t id_size, uint64_t random_state)
{
    library l = { .m = dump_maker_new(id_size), .random_state = random_state };
    l.m->next_id = 0x1000;
    l.m->time_ms = random_state * 1000;
    for (unsigned i = 0; i < LIBRARY_OBJECTS; i++) {
        const uint32_t common = library_draw(&l, 10);
        l.class_of[i] = common == 0   ? library_named("java.lang.String")
                        : common == 1 ? library_named("byte[]")
                        : common == 2 ? library_named("java.lang.Object[]")
                                      : 5 + library_draw(&l, LIBRARY_CLASSES - 5);
    }
    for (unsigned i = 0; i < LIBRARY_CLASSES; i++) {
        const struct library_class *c = &library_classes[i];
        char                        name[64];
        for (const char *at = c->statics; *at != '\0'; at += strspn(at, " ")) {
            const size_t len = strcspn(at, ":");
            (void)snprintf(name, sizeof name, "%.*s", (int)len, at);
            dump_maker_static(l.m, name, at[len + 1],
                              at[len + 1] == 'L' ? library_ref(&l, c->name, at, len) : library_number(&l));
            at += len + 2;
        }
        const unsigned super = library_named(c->super);
        l.ids[i] = dump_maker_class(l.m, c->name, super < LIBRARY_CLASSES ? l.ids[super] : 0, c->fields);
        dump_maker_root(l.m, HDX_SUB_ROOT_STICKY_CLASS, l.ids[i], 0, 0);
    }
    for (unsigned i = 0; i < LIBRARY_OBJECTS; i++) {
        library_object(&l, i);
        if (library_draw(&l, 4) == 0)
            dump_maker_root(l.m, HDX_SUB_ROOT_JNI_GLOBAL, library_id(i), 0, 0);
    }
    library_threads(&l);
    return l.m;
}

#endif
