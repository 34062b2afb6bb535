/*
 * test_heaps.c - leaks in heaps whose objects are at random and whose collections are as their libraries make them:
 * of OpenJDK, of old OpenJDK, of Harmony, and of neither; with watched objects, threads and locals, matchers, rules, a
 * mapping, and what metadata are made of. heaps.txt has the checksum of each search (support/checksums.h).
 *
 * A line is a seed, a flavour, a finder and words: sizes (retained sizes), wide (ids of 64 bits), long (a crossed list,
 * which makes sizes come from dominators of all), small (ids of 4 bytes), matched, ruled, mapped, android, 1.0.3 (the
 * version of Android's dumps), typed (fields of Android have other types than they should),
 * kept (the answer is kept, and taken from there), rows (as rows, with documents), two (rows of two searches), limit=N
 * (KiB that the search may take), harmed (bytes of what is kept are others, with right sums: is it found?).
 */
#include "base/crc.h"
#include "leaks/leaks.h"
#include "leaks/told.h"
#include "rows/rows.h"
#include "support/checksums.h"
#include "support/dump_maker.h"
#include "support/folder.h"
#include "support/refusing.h"

enum { MOST = 700, KINDS = 80, PROCESS = 0x7ff000 };
enum { JDK, OLD, HARMONY, NEITHER };
/* Of as many fields as any class has: those that are not named are 0. */
#define VALUES(...) ((const uint64_t[32]){ __VA_ARGS__ })

typedef struct kind {
    char     name[80];
    uint64_t id;
} kind;
typedef struct maker {
    dump_maker *m;
    uint64_t    state;
    int         flavour;
    bool        android, typed;
    kind        kinds[KINDS];
    unsigned    kind_count;
    uint64_t    objects[MOST]; /* those that later ones may refer to */
    unsigned    count;
    uint64_t    forward[40]; /* ids of objects that come last: references to them go forward */
    unsigned    forward_count;
} maker;

static uint64_t roll(maker *k, uint64_t n) { return (k->state = hdx_mix64(k->state + 0x9e37)) % n; }

static uint64_t kind_of(const maker *k, const char *name)
{
    for (unsigned i = 0; i < k->kind_count; i++)
        if (strcmp(k->kinds[i].name, name) == 0)
            return k->kinds[i].id;
    return 0;
}

static void type(maker *k, const char *name, const char *super, const char *fields)
{
    static const char *const theirs[] = { "android", "leakcanary", "libcore", "sun.misc", "com.squareup" };
    char                     other[256];
    kind                    *at = &k->kinds[k->kind_count++];
    cr_assert(k->kind_count <= KINDS);
    (void)snprintf(at->name, sizeof at->name, "%s", name);
    at->id = 0x1000 + 0x20 * k->kind_count;
    (void)snprintf(other, sizeof other, "%s", fields);
    for (size_t i = 0; k->typed && i < sizeof theirs / sizeof *theirs; i++)
        for (char *f = other; strncmp(name, theirs[i], strlen(theirs[i])) == 0 && (f = strchr(f, ':')) != NULL; f++)
            f[1] = f[1] == 'L' ? 'J' : f[1] == 'J' ? 'I' : f[1] == 'I' ? 'S' : f[1] == 'Z' ? 'B' : f[1];
    (void)dump_maker_class_at(k->m, at->id, name, kind_of(k, super), other);
}

static uint64_t keep(maker *k, uint64_t id)
{
    if (k->count < MOST)
        k->objects[k->count++] = id;
    return id;
}

/* Any object there is, null, one to come, or none. */
static uint64_t any(maker *k)
{
    const uint64_t r = roll(k, 100);
    return r < 22 || k->count == 0 ? 0
           : r < 24                ? 0xdead8
           : r < 40                ? k->forward[roll(k, k->forward_count)]
                                   : k->objects[roll(k, k->count)];
}

static uint64_t make(maker *k, const char *name, const uint64_t *values)
{
    const uint64_t c = kind_of(k, name);
    return c == 0 ? 0 : keep(k, dump_maker_instance(k->m, c, values));
}
static uint64_t array(maker *k, const uint64_t *values, uint32_t count)
{
    return dump_maker_array(k->m, kind_of(k, "java.lang.Object[]"), values, count);
}
static uint64_t text(maker *k, const char *t)
{
    uint64_t letters[64];
    uint32_t n = (uint32_t)strlen(t);
    for (uint32_t i = 0; i < n; i++)
        letters[i] = (uint8_t)t[i];
    const uint64_t bytes = dump_maker_primitives(k->m, 'B', letters, n);
    return dump_maker_instance(k->m, kind_of(k, "java.lang.String"), VALUES(bytes, 0, 0));
}

/* ---- classes ---- */

static void base_types(maker *k)
{
    type(k, "java.lang.Object", "", k->android ? "shadow$_klass_:L shadow$_monitor_:I" : "");
    type(k, "java.lang.Class", "java.lang.Object", "");
    type(k, "java.lang.ClassLoader", "java.lang.Object", "parent:L");
    type(k, "java.lang.String", "java.lang.Object", "value:L coder:B hash:I");
    type(k, "java.lang.Object[]", "java.lang.Object", "");
    type(k, "java.lang.Integer", "java.lang.Object", "value:I");
    type(k, "java.lang.Integer[]", "java.lang.Object", "");
    type(k, "java.lang.Thread", "java.lang.Object", k->flavour == NEITHER ? "id:I" : "name:L target:L");
    type(k, "app.Worker", "java.lang.Thread", "job:L");
    type(k, "java.lang.ref.Reference", "java.lang.Object", "referent:L queue:L");
    type(k, "java.lang.ref.WeakReference", "java.lang.ref.Reference", "");
    type(k, "java.lang.ref.SoftReference", "java.lang.ref.Reference", "");
}

static void list_types(maker *k)
{
    const int f = k->flavour;
    type(k, "java.util.LinkedList", "java.lang.Object",
         f == HARMONY   ? "size:I voidLink:L"
         : f == NEITHER ? "size:I head:L"
                        : "size:I first:L last:L");
    type(k, "java.util.LinkedList$Node", "java.lang.Object", "item:L next:L prev:L");
    type(k, "java.util.LinkedList$Link", "java.lang.Object", "data:L next:L previous:L");
    type(k, "java.util.AbstractList", "java.lang.Object", "modCount:I");
    type(k, "java.util.ArrayList", "java.util.AbstractList",
         f == HARMONY   ? "array:L size:I"
         : f == NEITHER ? "data:L size:I"
         : f == OLD     ? "elementData:L"
                        : "elementData:L size:I");
    type(k, "java.util.concurrent.CopyOnWriteArrayList", "java.lang.Object",
         f == HARMONY   ? "elements:L"
         : f == NEITHER ? "all:L"
                        : "lock:L array:L");
}

static void map_types(maker *k)
{
    const int f = k->flavour;
    type(k, "java.util.HashMap", "java.lang.Object", f == HARMONY ? "table:L size:I" : "table:L size:I loadFactor:F");
    type(k, "java.util.LinkedHashMap", "java.util.HashMap", "head:L");
    if (f == OLD)
        type(k, "java.util.HashMap$Entry", "java.lang.Object", "key:L value:L next:L hash:I");
    else if (f == JDK)
        type(k, "java.util.HashMap$Node", "java.lang.Object", "hash:I key:L value:L next:L");
    else
        type(k, "java.util.HashMap$HashMapEntry", "java.lang.Object", "key:L value:L hash:I next:L");
    type(k, "java.util.concurrent.ConcurrentHashMap", "java.lang.Object", f == NEITHER ? "segments:L" : "table:L");
    type(k, "java.util.concurrent.ConcurrentHashMap$Node", "java.lang.Object", "hash:I key:L val:L next:L");
    type(k, "java.util.HashSet", "java.lang.Object", f == HARMONY ? "backingMap:L" : f == NEITHER ? "own:L" : "map:L");
    type(k, "java.util.LinkedHashSet", "java.util.HashSet", "");
    type(k, "android.util.ArraySet", "java.lang.Object", "mHashes:L mArray:L mSize:I");
    type(k, "androidx.arch.core.internal.SafeIterableMap", "java.lang.Object", "mStart:L mEnd:L");
    type(k, "androidx.arch.core.internal.FastSafeIterableMap", "androidx.arch.core.internal.SafeIterableMap", "more:L");
    type(k, "androidx.arch.core.internal.SafeIterableMap$Entry", "java.lang.Object",
         "mKey:L mValue:L mNext:L mPrevious:L");
}

static void android_types(maker *k)
{
    if (k->android) {
        dump_maker_static(k->m, "MANUFACTURER", k->typed ? 'J' : 'L', k->forward[0]);
        dump_maker_static(k->m, "ID", k->typed ? 'J' : 'L', k->forward[1]);
        type(k, "android.os.Build", "java.lang.Object", "");
        dump_maker_static(k->m, "SDK_INT", k->typed ? 'J' : 'I', 24);
        type(k, "android.os.Build$VERSION", "java.lang.Object", "");
    }
    type(k, "android.os.MessageQueue", "java.lang.Object", "mMessages:L mQuitting:Z");
    type(k, "android.os.Message", "java.lang.Object", "next:L obj:L target:L callback:L what:I when:J");
    type(k, "android.animation.Animator", "java.lang.Object", "mListeners:L");
    type(k, "android.animation.ObjectAnimator", "android.animation.Animator", "mTarget:L mPropertyName:L");
    type(k, "android.content.Context", "java.lang.Object", "");
    type(k, "android.app.Activity", "android.content.Context", "mDestroyed:Z mContext:L");
    dump_maker_static(k->m, "sCurrentActivityThread", k->typed ? 'J' : 'L', PROCESS);
    type(k, "android.app.ActivityThread", "java.lang.Object",
         k->flavour == NEITHER ? "mBoundApplication:L mInitialApplication:L"
                               : "mNewActivities:L mBoundApplication:L mInitialApplication:L");
    type(k, "android.app.ActivityThread$ActivityClientRecord", "java.lang.Object",
         k->flavour == HARMONY ? "activity:L window:L"
         : k->flavour == OLD   ? "own:L nextIdle:L window:L"
                               : "activity:L nextIdle:L window:L");
    type(k, "android.app.ActivityThread$AppBindData", "java.lang.Object", "appInfo:L");
    type(k, "android.content.pm.ApplicationInfo", "java.lang.Object", "processName:L");
    type(k, "android.util.DisplayMetrics", "java.lang.Object", "widthPixels:I heightPixels:I");
    type(k, "android.graphics.Bitmap", "java.lang.Object", "mWidth:I mHeight:I mBuffer:L");
    type(k, "sun.misc.Cleaner", "java.lang.ref.Reference", "thunk:L prev:L next:L");
    type(k, "libcore.util.NativeAllocationRegistry", "java.lang.Object", "size:J classLoader:L");
    type(k, "libcore.util.NativeAllocationRegistry$CleanerThunk", "java.lang.Object", "nativePtr:J this$0:L");
    type(k, "android.database.sqlite.SQLiteDatabase", "java.lang.Object",
         "mConfigurationLocked:L mConnectionPoolLocked:L");
    type(k, "android.database.sqlite.SQLiteDatabaseConfiguration", "java.lang.Object", "label:L path:L");
}

static void app_types(maker *k)
{
    dump_maker_static(k->m, "heapDumpUptimeMillis", k->typed || k->flavour == NEITHER ? 'I' : 'J', 90000);
    type(k, "leakcanary.KeyedWeakReference", "java.lang.ref.WeakReference",
         "key:L description:L watchUptimeMillis:J retainedUptimeMillis:J");
    type(k, "com.squareup.leakcanary.KeyedWeakReference", "java.lang.ref.WeakReference", "key:L name:L");
    dump_maker_static(k->m, "version", k->typed ? 'J' : 'L', k->forward[1]);
    type(k, "leakcanary.internal.InternalLeakCanary", "java.lang.Object", "resumedActivity:L application:L");
    type(k, "app.Base", "java.lang.Object", "held:L name:L");
    type(k, "app.Middle", "app.Base", "");
    type(k, "app.Plain", "app.Middle", "a:L held:L count:I b:L");
    type(k, "app.Node", "java.lang.Object", "next:L all:L");
    type(k, "app.Leak", "java.lang.Object", "x:L y:L flag:Z size:J");
    type(k, "app.Leak$1", "app.Leak", "z:L");
    type(k, "app.Screen$12", "java.lang.Object", "this$0:L");
    type(k, "a.b", "java.lang.Object", "a:L b:L");
    type(k, "a.c", "a.b", "a:L");
    type(k, "a.b[]", "java.lang.Object", "");
}

/* ---- objects ---- */

static uint64_t linked(maker *k, unsigned n, bool circle)
{
    const bool  link = k->flavour == HARMONY;
    const char *of = link ? "java.util.LinkedList$Link" : "java.util.LinkedList$Node";
    uint64_t    ids[8];
    for (unsigned i = 0; i < n; i++)
        ids[i] = k->m->next_id + 32 * i;
    for (unsigned i = 0; i < n; i++)
        (void)dump_maker_instance(k->m, kind_of(k, of),
                                  VALUES(any(k),
                                         i + 1 < n ? ids[i + 1]
                                         : circle  ? ids[n / 2]
                                                   : 0,
                                         i > 0 ? ids[i - 1] : 0));
    return link ? make(k, "java.util.LinkedList", VALUES(n, n > 0 ? ids[0] : 0))
                : make(k, "java.util.LinkedList", VALUES(n, n > 0 ? ids[0] : 0, n > 0 ? ids[n - 1] : 0));
}

static uint64_t some(maker *k, uint32_t n)
{
    uint64_t values[12];
    for (uint32_t i = 0; i < n; i++)
        values[i] = any(k);
    return array(k, values, n);
}

static const char *entry_name(const maker *k)
{
    return k->flavour == OLD   ? "java.util.HashMap$Entry"
           : k->flavour == JDK ? "java.util.HashMap$Node"
                               : "java.util.HashMap$HashMapEntry";
}

static uint64_t entry(maker *k, const char *of, uint64_t next)
{
    const uint64_t key = roll(k, 3) == 0 ? text(k, roll(k, 2) == 0 ? "one key" : "") : any(k), value = any(k);
    if (strcmp(of, "java.util.HashMap$Entry") == 0)
        return dump_maker_instance(k->m, kind_of(k, of), VALUES(key, value, next, 7));
    if (strcmp(of, "java.util.HashMap$HashMapEntry") == 0)
        return dump_maker_instance(k->m, kind_of(k, of), VALUES(key, value, 7, next));
    return dump_maker_instance(k->m, kind_of(k, of), VALUES(7, key, value, next));
}

static uint64_t table(maker *k, const char *of, uint32_t n)
{
    uint64_t buckets[8];
    for (uint32_t i = 0; i < n; i++) {
        buckets[i] = 0;
        for (uint64_t j = roll(k, 4); j > 0; j--)
            buckets[i] = entry(k, of, buckets[i]);
    }
    return array(k, buckets, n);
}

static uint64_t map(maker *k, const char *name)
{
    const uint64_t of = table(k, entry_name(k), 4);
    if (strcmp(name, "java.util.LinkedHashMap") == 0)
        return make(k, name, VALUES(any(k), of, 3, 0));
    return make(k, name, VALUES(of, 3, 0));
}

static uint64_t safe(maker *k, const char *name)
{
    uint64_t next = 0;
    for (uint64_t j = roll(k, 4); j > 0; j--)
        next = dump_maker_instance(k->m, kind_of(k, "androidx.arch.core.internal.SafeIterableMap$Entry"),
                                   VALUES(any(k), any(k), next, any(k)));
    return strstr(name, "Fast") != NULL ? make(k, name, VALUES(any(k), next, any(k)))
                                        : make(k, name, VALUES(next, any(k)));
}

static uint64_t messages(maker *k)
{
    uint64_t next = 0;
    for (uint64_t j = roll(k, 4); j > 0; j--)
        next = keep(k, dump_maker_instance(k->m, kind_of(k, "android.os.Message"),
                                           VALUES(next, any(k), any(k), any(k), roll(k, 9), roll(k, 99999))));
    return make(k, "android.os.MessageQueue", VALUES(next, roll(k, 2)));
}

static uint64_t activities(maker *k, uint64_t id)
{
    uint64_t next = 0;
    for (uint64_t j = 1 + roll(k, 4); j > 0; j--) {
        const uint64_t activity = make(k, "android.app.Activity", VALUES(roll(k, 2), any(k)));
        next = k->flavour == HARMONY
                   ? make(k, "android.app.ActivityThread$ActivityClientRecord", VALUES(activity, any(k)))
                   : make(k, "android.app.ActivityThread$ActivityClientRecord", VALUES(activity, next, any(k)));
    }
    const uint64_t process = make(k, "android.content.pm.ApplicationInfo", VALUES(text(k, "app.process")));
    const uint64_t bound = make(k, "android.app.ActivityThread$AppBindData", VALUES(process));
    const uint64_t of = kind_of(k, "android.app.ActivityThread"), other = any(k);
    if (k->flavour == NEITHER)
        return dump_maker_instance_at(k->m, id, of, VALUES(bound, other));
    return dump_maker_instance_at(k->m, id, of, VALUES(next, bound, other));
}

static uint64_t lists(maker *k, uint64_t what)
{
    const uint64_t n = roll(k, 6);
    if (what == 0)
        return linked(k, (unsigned)n, roll(k, 3) == 0);
    const uint64_t elements = some(k, (uint32_t)n);
    if (what == 1) {
        static const int64_t more[] = { 0, 0, -1, 1, -2 };
        const uint64_t       size = (uint64_t)((int64_t)n + more[roll(k, 5)]) & 0xffffffff;
        return k->flavour == OLD ? make(k, "java.util.ArrayList", VALUES(elements, 0))
                                 : make(k, "java.util.ArrayList", VALUES(elements, size, 0));
    }
    return k->flavour == HARMONY || k->flavour == NEITHER
               ? make(k, "java.util.concurrent.CopyOnWriteArrayList", VALUES(elements))
               : make(k, "java.util.concurrent.CopyOnWriteArrayList", VALUES(any(k), elements));
}

static uint64_t wrappers(maker *k)
{
    uint64_t values[5];
    for (unsigned i = 0; i < 5; i++)
        values[i] = roll(k, 3) == 0 ? 0 : dump_maker_instance(k->m, kind_of(k, "java.lang.Integer"), VALUES(i));
    return keep(k, dump_maker_array(k->m, kind_of(k, "java.lang.Integer[]"), values, 5));
}

static void collection(maker *k)
{
    const uint64_t what = roll(k, 16);
    if (what < 3)
        (void)lists(k, what);
    else if (what == 3)
        (void)map(k, "java.util.HashMap");
    else if (what == 4)
        (void)map(k, "java.util.LinkedHashMap");
    else if (what == 5)
        (void)make(k, "java.util.concurrent.ConcurrentHashMap",
                   VALUES(table(k, "java.util.concurrent.ConcurrentHashMap$Node", 5)));
    else if (what == 6)
        (void)make(k, "java.util.HashSet", VALUES(map(k, "java.util.HashMap")));
    else if (what == 7)
        (void)make(k, "java.util.LinkedHashSet", VALUES(map(k, "java.util.LinkedHashMap")));
    else if (what == 8)
        (void)make(k, "android.util.ArraySet", VALUES(any(k), some(k, 4), 2));
    else if (what == 9)
        (void)safe(k, "androidx.arch.core.internal.SafeIterableMap");
    else if (what == 10)
        (void)safe(k, "androidx.arch.core.internal.FastSafeIterableMap");
    else if (what == 11)
        (void)messages(k);
    else if (what == 12)
        (void)make(k, "android.animation.ObjectAnimator",
                   VALUES(make(k, roll(k, 3) == 0 ? "java.lang.ref.SoftReference" : "java.lang.ref.WeakReference",
                               VALUES(any(k), any(k))),
                          any(k), any(k)));
    else if (what == 13)
        (void)wrappers(k);
    else if (what == 14)
        keep(k, some(k, 7));
    else
        (void)make(k, "java.lang.ref.WeakReference", VALUES(any(k), any(k)));
}

static void plain(maker *k)
{
    switch (roll(k, 7)) {
    case 0: (void)make(k, "app.Base", VALUES(any(k), any(k))); break;
    case 1: (void)make(k, "app.Middle", VALUES(any(k), any(k))); break;
    case 2: (void)make(k, "app.Leak", VALUES(any(k), any(k), roll(k, 2), roll(k, 5))); break;
    case 3: (void)make(k, "a.b", VALUES(any(k), any(k))); break;
    case 4: (void)make(k, "a.c", VALUES(any(k), any(k), any(k))); break;
    case 5: (void)make(k, "app.Screen$12", VALUES(any(k))); break;
    default: (void)make(k, "app.Plain", VALUES(any(k), any(k), 3, any(k), any(k), any(k))); break;
    }
}

static void watches(maker *k)
{
    for (unsigned i = 0; i < 12; i++) {
        const uint64_t leak = make(k, i % 3 == 0 ? "app.Leak$1" : "app.Leak", NULL),
                       key = text(k, i % 4 == 0 ? "a key" : "b key");
        if (i % 5 == 4)
            (void)make(k, "com.squareup.leakcanary.KeyedWeakReference", VALUES(key, key, leak, 0));
        else
            (void)make(k, "leakcanary.KeyedWeakReference",
                       VALUES(i % 6 == 0 ? 0 : key, i % 4 == 1 ? 0 : text(k, "why"), 1000 * i,
                              i % 4 == 3 ? UINT64_MAX : 2000 * i, i == 7 ? 0 : leak, any(k)));
    }
}

/* The screen has 400 pixels: more than 440 are a large bitmap. */
static void natives(maker *k)
{
    static const uint32_t sizes[][2] = { { 0, 11 },  { 40, 11 }, { 41, 11 },          { 441, 1 },          { 1, 441 },
                                         { 440, 1 }, { 441, 0 }, { UINT32_MAX, 441 }, { 441, UINT32_MAX }, { 20, 20 } };
    for (unsigned i = 0; i < 10; i++) {
        const uint64_t bitmap = make(k, "android.graphics.Bitmap", VALUES(sizes[i][0], sizes[i][1], any(k)));
        const uint64_t registry =
            make(k, "libcore.util.NativeAllocationRegistry", VALUES(i == 3 ? UINT64_MAX : 1000 * i, any(k)));
        const uint64_t thunk =
            make(k, "libcore.util.NativeAllocationRegistry$CleanerThunk", VALUES(5, i == 2 ? bitmap : registry));
        (void)make(k, "sun.misc.Cleaner", VALUES(i == 1 ? registry : thunk, any(k), any(k), i == 4 ? 0 : bitmap, 0));
        (void)make(k, "sun.misc.Cleaner", VALUES(thunk, 0, 0, bitmap, 0));
    }
    (void)make(k, "android.util.DisplayMetrics", VALUES(20, 20));
    for (unsigned i = 0; i < 3; i++)
        (void)make(k, "android.database.sqlite.SQLiteDatabase",
                   VALUES(i == 2 ? 0
                                 : make(k, "android.database.sqlite.SQLiteDatabaseConfiguration",
                                        VALUES(text(k, "books.db"), 0)),
                          i == 1 ? 0 : any(k)));
}

/* Locals in frames of stacks that there are, and of some that there are not. */
static void threads(maker *k)
{
    static const char *const names[] = { "main", "worker-1", "worker-2", "kept" };
    const uint32_t           of = dump_maker_load(k->m, kind_of(k, "app.Worker"), "app.Worker");
    for (unsigned i = 0; i < 4; i++) {
        uint64_t frames[3];
        for (int n = 0; n < 3; n++)
            frames[n] = dump_maker_frame(k->m, n == 1 ? "run" : "call", of, n == 2 ? -1 : 12 + n);
        dump_maker_trace(k->m, 100 + i, i + 1, frames, 3);
        const uint64_t thread = i == 2 ? make(k, "app.Worker", VALUES(any(k), text(k, names[i]), any(k)))
                                       : make(k, "java.lang.Thread", VALUES(text(k, names[i]), any(k)));
        dump_maker_root(k->m, HDX_SUB_ROOT_THREAD_OBJECT, thread, i + 1, (int32_t)(100 + i));
        for (int n = -1; n < 4; n++)
            dump_maker_root(k->m, HDX_SUB_ROOT_JAVA_FRAME, k->objects[roll(k, k->count)], i + 1, n);
    }
    dump_maker_root(k->m, HDX_SUB_ROOT_JAVA_FRAME, k->objects[roll(k, k->count)], 77, 0);
}

static void roots(maker *k)
{
    static const uint8_t tags[] = { HDX_SUB_ROOT_JNI_GLOBAL,   HDX_SUB_ROOT_JNI_LOCAL,    HDX_SUB_ROOT_NATIVE_STACK,
                                    HDX_SUB_ROOT_STICKY_CLASS, HDX_SUB_ROOT_THREAD_BLOCK, HDX_SUB_ROOT_MONITOR_USED,
                                    HDX_SUB_ROOT_UNKNOWN };
    for (unsigned i = 0; i < 14; i++)
        dump_maker_root(k->m, tags[i % 7], k->objects[roll(k, k->count)], 1 + i % 3, 0);
    for (unsigned i = 0; i < 6; i++)
        dump_maker_root(k->m, tags[i % 2], make(k, i % 3 == 2 ? "app.Plain" : "app.Screen$12", VALUES(any(k))), 1, 0);
    for (unsigned i = 0; i < k->kind_count; i += 3)
        dump_maker_root(k->m, HDX_SUB_ROOT_STICKY_CLASS, k->kinds[i].id, 0, 0);
}

/* A list whose nodes all refer to one object: see test_search.c. */
static void long_list(maker *k)
{
    const uint64_t all = make(k, "app.Leak", VALUES(any(k), any(k), 1, 1));
    uint64_t       next = any(k);
    for (unsigned i = 0; i < 1500; i++)
        next = dump_maker_instance(k->m, kind_of(k, "app.Node"), VALUES(next, i % 100 == 50 ? any(k) : all));
    dump_maker_static(k->m, "list", 'L', next);
}

static void forward_objects(maker *k)
{
    for (unsigned i = 0; i < k->forward_count; i++) {
        if (i < 2) {
            const uint64_t letters[] = { 's', 'a', 'm', 's', 'u', 'n', 'g' };
            const uint64_t bytes = dump_maker_primitives(k->m, 'B', letters, i == 0 ? 7 : 2);
            (void)dump_maker_instance_at(k->m, k->forward[i], kind_of(k, "java.lang.String"), VALUES(bytes, 0, 0));
        } else if (i % 4 == 3) {
            (void)dump_maker_instance_at(k->m, k->forward[i], kind_of(k, "app.Leak"), VALUES(any(k), any(k), 0, 4));
        } else
            (void)dump_maker_instance_at(k->m, k->forward[i], kind_of(k, "app.Plain"),
                                         VALUES(any(k), any(k), 3, any(k), any(k), any(k)));
    }
}

static dump_maker *world(unsigned seed, int flavour, const char *words)
{
    maker *k = calloc(1, sizeof *k);
    k->m = dump_maker_new(strstr(words, "small") != NULL ? 4 : 8);
    k->m->next_id = 0x100000;
    k->state = seed;
    k->flavour = flavour;
    k->android = strstr(words, "android") != NULL;
    k->typed = strstr(words, "typed") != NULL;
    if (strstr(words, "1.0.3") != NULL)
        k->m->version = "1.0.3";
    k->forward_count = 40;
    for (unsigned i = 0; i < k->forward_count; i++)
        k->forward[i] = 0x800000 + 0x40 * i;
    base_types(k);
    list_types(k);
    map_types(k);
    android_types(k);
    app_types(k);
    for (unsigned i = 0; i < 8; i++)
        plain(k);
    for (unsigned i = 0; i < 160; i++) {
        collection(k);
        plain(k);
        plain(k);
    }
    watches(k);
    natives(k);
    keep(k, activities(k, PROCESS));
    keep(k, activities(k, PROCESS + 0x40));
    forward_objects(k);
    if (strstr(words, "long") != NULL)
        long_list(k);
    for (unsigned i = 0; i < 10; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "kept%u", i);
        dump_maker_static(k->m, name, i % 4 == 3 ? 'I' : 'L', i % 4 == 3 ? i : any(k));
    }
    dump_maker_static(k->m, "$staticOverhead", 'L', any(k));
    type(k, "app.Holder", "java.lang.Object", "");
    dump_maker_root(k->m, HDX_SUB_ROOT_STICKY_CLASS, kind_of(k, "app.Holder"), 0, 0);
    threads(k);
    roots(k);
    dump_maker *m = k->m;
    free(k);
    return m;
}

/* ---- searches ---- */

static const char matchers[] = "# what is known\n"
                               "library instance-field app.Base#held the base holds it\n"
                               "library instance-field app.Middle#held sdk=21..24 the middle does\n"
                               "ignored instance-field app.Plain#b\n"
                               "library static-field app.Holder#kept0 manufacturer=LGE|samsung a static\n"
                               "ignored static-field app.Holder#kept1\n"
                               "library static-field app.Holder#kept2 build=sa sdk=24 another static\n"
                               "library static-field app.Holder#kept4 build=sb another static\n"
                               "library static-field app.Holder#kept5 sdk=25.. another static\n"
                               "library static-field app.Holder#kept6 sdk=..23 another static\n"
                               "library native-global app.Plain held by native code\n"
                               "ignored native-global app.Screen$12\n"
                               "library java-local worker-1 a local of a worker\n"
                               "ignored java-local kept\n"
                               "library instance-field a.b#a named before the mapping\n"
                               "library instance-field com.acme.Book#author named after it\n";
static const char rules[] = "leaking app.Leak flag = true it is flagged\n"
                            "not-leaking app.Base+ name != null it has a name\n"
                            "label app.Plain count >= 3 counted\n"
                            "leaking com.acme.Book author = null nobody wrote it\n"
                            "label app.Leak+ size > 2\n";
static const char mapping[] = "com.acme.Book -> a.b:\n"
                              "    java.lang.String author -> a\n"
                              "    app.Leak sequel -> b\n"
                              "com.acme.Volume -> a.c:\n"
                              "    int[] pages -> a\n"
                              "    10:12:void run(int):20:22 -> call\n";

typedef struct searched {
    char              folder[TEST_FOLDER];
    hdx_graph        *g;
    hdx_leaks_options o;
    const char       *classes[4];
} searched;

static void open_world(searched *s, const char *ask)
{
    char             flavour[16], finder[16], dump[64], index[64];
    unsigned         seed;
    int              at = 0;
    hdx_index_report report;
    hdx_error        err;
    cr_assert(sscanf(ask, "%u %15s %15s %n", &seed, flavour, finder, &at) == 3, "%s", ask);
    const char *words = ask + at;
    dump_maker *m = world(seed,
                          strcmp(flavour, "jdk") == 0       ? JDK
                          : strcmp(flavour, "old") == 0     ? OLD
                          : strcmp(flavour, "harmony") == 0 ? HARMONY
                                                            : NEITHER,
                          words);
    test_folder_make_fast(s->folder, "heaps");
    (void)snprintf(dump, sizeof dump, "%s/a.hprof", s->folder);
    (void)snprintf(index, sizeof index, "%s/a.hdx", s->folder);
    dump_maker_save(m, dump);
    dump_maker_free(m);
    const hdx_index_options options = { .dump = dump, .index_dir = index, .threads = 1 };
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
    cr_assert(hdx_graph_open(index, dump, &s->g, &err) == HDX_OK, "%s", err.message);
    s->o = (hdx_leaks_options){ .finder = strcmp(finder, "watched") == 0   ? HDX_LEAKS_WATCHED
                                          : strcmp(finder, "filters") == 0 ? HDX_LEAKS_FILTERS
                                                                           : HDX_LEAKS_CLASSES,
                                .no_memory_of_it = strstr(words, "kept") == NULL,
                                .retained = strstr(words, "sizes") != NULL,
                                .threads = 1 + seed % 2,
                                .width = strstr(words, "wide") != NULL ? 64 : 0 };
    s->classes[0] = strcmp(finder, "lists") == 0 ? "java.util.*List*" : "app.Leak*";
    s->classes[1] = strcmp(finder, "all") == 0 ? "*" : strcmp(finder, "arrays") == 0 ? "/\\[\\]$/" : "app.Screen$12";
    s->o.classes = s->classes;
    s->o.class_count = s->o.finder == HDX_LEAKS_CLASSES ? 2 : 0;
    if (strstr(words, "matched") != NULL)
        s->o.matcher_file = (hdx_leak_file){ "matchers.txt", matchers, sizeof matchers - 1 };
    if (strstr(words, "ruled") != NULL)
        s->o.rule_file = (hdx_leak_file){ "rules.txt", rules, sizeof rules - 1 };
    if (strstr(words, "mapped") != NULL)
        s->o.mapping = (hdx_leak_file){ "mapping.txt", mapping, sizeof mapping - 1 };
    if (strstr(words, "key") != NULL)
        s->o.key = "a key";
    if (strstr(words, "limit=") != NULL)
        s->o.memory = strtoull(strstr(words, "limit=") + 6, NULL, 10) << 10;
    if (strstr(words, "aged") != NULL)
        s->o.min_watch_ms = 85000;
}

static void close_world(searched *s)
{
    hdx_graph_close(s->g);
    test_folder_remove(s->folder);
}

static void put_value(hdx_buffer *b, const hdx_cell *c)
{
    if (c->kind == HDX_CELL_LIST) {
        hdx_buffer_text(b, "[");
        for (uint64_t i = 0; i < c->as.list.count; i++) {
            put_value(b, &c->as.list.at[i]);
            hdx_buffer_text(b, " ");
        }
        hdx_buffer_text(b, "]");
    } else if (c->kind == HDX_CELL_OBJECT) {
        hdx_buffer_text(b, "{");
        for (uint64_t i = 0; i < c->as.object.count; i++) {
            hdx_buffer_format(b, "%s=", c->as.object.at[i].key);
            put_value(b, &c->as.object.at[i].value);
            hdx_buffer_text(b, " ");
        }
        hdx_buffer_text(b, "}");
    } else if (c->kind == HDX_CELL_TEXT) {
        hdx_buffer_put(b, c->as.text.at, c->as.text.len);
    } else
        hdx_buffer_format(b, "%d:%llx", (int)c->kind, c->kind == HDX_CELL_NULL ? 0 : (ull)c->as.natural);
}

static uint64_t put_rows(hdx_buffer *b, const hdx_leaks *const *leaks, const char *const *names, size_t count)
{
    uint64_t n = 0;
    for (unsigned documents = 0; documents < 2; documents++) {
        hdx_rows       *rows;
        const hdx_cell *cells;
        unsigned        columns;
        hdx_error       err;
        cr_assert(hdx_leaks_rows(leaks, names, count, documents != 0, &rows, &err) == HDX_OK, "%s", err.message);
        (void)hdx_rows_columns(rows, &columns);
        for (n = 0; hdx_rows_next(rows, &cells); n++) {
            for (unsigned i = 0; i < columns; i++) {
                put_value(b, &cells[i]);
                hdx_buffer_text(b, ",");
            }
            hdx_buffer_text(b, "\n");
        }
        for (unsigned i = 0; hdx_rows_extra(rows, i)->key != NULL; i++) {
            hdx_buffer_format(b, "%s ", hdx_rows_extra(rows, i)->key);
            put_value(b, &hdx_rows_extra(rows, i)->value);
            hdx_buffer_text(b, "\n");
        }
        hdx_rows_close(rows);
    }
    return n;
}

/* Whatever stands in the note: what verify says of it, and what is read of it where it is believed. */
static uint64_t put_harmed(hdx_buffer *b, const searched *s)
{
    enum { HEAD = 48 };
    const char    *name;
    char           path[128];
    static uint8_t note[1 << 16];
    uint64_t       bytes, found = 0;
    cr_assert(hdx_graph_saved(s->g, 0, &name, &bytes) && bytes < sizeof note);
    (void)snprintf(path, sizeof path, "%s/a.hdx/%s", s->folder, name);
    FILE *f = fopen(path, "rb");
    cr_assert(f != NULL && fread(note, 1, bytes, f) == bytes && fclose(f) == 0);
    for (uint64_t at = HEAD; at<bytes; at += bytes> 1000 ? 17 : 1) {
        const uint8_t  was = note[at];
        hdx_leaks     *leaks = NULL;
        hdx_leak_steps steps = { 0 };
        hdx_error      err = { .offset = HDX_NOWHERE };
        note[at] ^= at % 3 == 0 ? 0x01 : at % 3 == 1 ? 0x80 : 0x12;
        hdx_put32(note + 40, hdx_crc32c(0, note + HEAD, bytes - HEAD));
        hdx_put32(note + 44, hdx_crc32c(0, note, 44));
        f = fopen(path, "wb");
        cr_assert(f != NULL && fwrite(note, 1, bytes, f) == bytes && fclose(f) == 0);
        const hdx_code code = hdx_leaks_verify(s->g, &err);
        hdx_buffer_format(b, "%llu %s %s\n", (ull)at, hdx_code_name(code), code != HDX_OK ? err.message : "");
        found += code != HDX_OK;
        uint8_t *copy = hdx_mem_get(NULL, bytes - HEAD);
        memcpy(copy, note + HEAD, bytes - HEAD);
        leak_answer *a = hdx_leak_decode(copy, bytes - HEAD);
        if (a == NULL)
            hdx_mem_put(NULL, copy, bytes - HEAD);
        leaks = a != NULL ? &a->out : NULL;
        for (uint64_t i = 0; leaks != NULL && i < leaks->leak_count; i++)
            for (uint64_t n = 0; n < leaks->leaks[i].trace_count; n++)
                if (hdx_leak_steps_read(leaks, &leaks->leaks[i].traces[n], &steps, NULL) == HDX_OK)
                    for (uint64_t k = 0; k < steps.count; k++)
                        put_step(b, &steps.at[k]);
        hdx_leak_steps_free(&steps);
        hdx_leaks_free(leaks);
        note[at] = was;
    }
    return found;
}

static uint64_t text_of(void *context, const char *ask, hdx_buffer *b)
{
    searched   s;
    hdx_leaks *leaks = NULL, *again = NULL;
    hdx_error  err = { .offset = HDX_NOWHERE };
    uint64_t   n = 0;
    (void)context;
    open_world(&s, ask);
    hdx_code code = hdx_leaks_search(s.g, &s.o, &leaks, &err);
    cr_expect(code == HDX_OK || err.code == code, "%s", err.message);
    if (code != HDX_OK) {
        hdx_buffer_format(b, "%s %s %s", hdx_code_name(code), err.where, err.message);
    } else if (strstr(ask, "harmed") != NULL) {
        n = put_harmed(b, &s);
    } else if (strstr(ask, "rows") != NULL) {
        n = put_rows(b, (const hdx_leaks *const *)&leaks, NULL, 1);
    } else if (strstr(ask, "two") != NULL) {
        s.o.retained = false; /* leaks of the same signatures, the second time without sizes */
        cr_assert(hdx_leaks_search(s.g, &s.o, &again, &err) == HDX_OK);
        n = put_rows(b, (const hdx_leaks *const[]){ leaks, again }, (const char *const[]){ "first", "second" }, 2);
    } else {
        n = put_leaks(b, leaks);
    }
    if (code == HDX_OK && strstr(ask, "kept") != NULL &&
        strstr(ask, "harmed") == NULL) { /* and again, from what is kept */
        hdx_buffer other = hdx_buffer_of(NULL);
        cr_assert(hdx_leaks_search(s.g, &s.o, &again, &err) == HDX_OK && again->remembered && !leaks->remembered);
        (void)put_leaks(&other, again);
        cr_expect(other.len == b->len && memcmp(other.at, b->at, b->len) == 0, "%s", ask);
        cr_expect(hdx_leaks_verify(s.g, &err) == HDX_OK, "%s: %s", ask, err.message);
        hdx_buffer_free(&other);
    }
    hdx_leaks_free(leaks);
    hdx_leaks_free(again);
    close_world(&s);
    return n;
}

Test(heaps, are_searched_as_before) { checksums_check(HDX_TREE "/tests/leaks/heaps.txt", text_of, NULL); }

/* The search and its rows, with one request for memory refused: an error in words, or the same answer without it. */
Test(heaps, are_not_searched_with_memory_that_is_refused)
{
    static const char *const asks[] = { "5 jdk watched android matched ruled mapped sizes", "23 jdk all sizes long",
                                        "31 harmony classes kept android matched mapped",
                                        "60 jdk filters android ruled sizes wide" };
    unsigned                 refused = 0, in_spite = 0;
    for (size_t i = 0; i < sizeof asks / sizeof *asks; i++) {
        searched   s;
        hdx_buffer whole = hdx_buffer_of(NULL);
        open_world(&s, asks[i]);
        s.o.threads = 1;
        s.o.no_memory_of_it = true;
        (void)put_search(&whole, s.g, &s.o, asks[i]);
        s.o.no_memory_of_it = strstr(asks[i], "kept") == NULL;
        for (unsigned n = 0;; n += 1) {
            hdx_leaks *leaks = NULL;
            hdx_rows  *rows = NULL;
            hdx_error  err = { .message = "" };
            refusing_memory(n + 1);
            hdx_code code = hdx_leaks_search(s.g, &s.o, &leaks, &err);
            if (code == HDX_OK)
                code = hdx_leaks_rows((const hdx_leaks *const[]){ leaks }, NULL, 1, n % 2 == 0, &rows, &err);
            const bool was_refused = refusing_ends();
            if (code == HDX_OK) {
                hdx_buffer b = hdx_buffer_of(NULL);
                (void)put_leaks(&b, leaks);
                cr_expect(b.len == whole.len && memcmp(b.at, whole.at, b.len) == 0, "%s: %u granted", asks[i], n);
                hdx_buffer_free(&b);
            } else
                cr_expect(was_refused && code == HDX_LIMIT && err.code == code && err.message[0] != '\0',
                          "%s: %u granted: %s %s", asks[i], n, hdx_code_name(code), err.message);
            refused += was_refused;
            in_spite += was_refused && code == HDX_OK;
            hdx_rows_close(rows);
            hdx_leaks_free(leaks);
            if (!was_refused)
                break;
        }
        hdx_buffer_free(&whole);
        close_world(&s);
    }
    cr_expect(in_spite < 10, "%u of %u answers came in spite of it", in_spite, refused);
}

static unsigned asked, patience;
static bool     impatient(void *context)
{
    (void)context;
    return asked++ >= patience;
}

Test(heaps, are_not_searched_to_the_end_when_somebody_stops_it)
{
    static const char *const asks[] = { "5 jdk watched android matched sizes", "23 jdk all sizes long",
                                        "60 jdk filters android ruled sizes wide", "7 jdk lists sizes long" };
    for (size_t i = 0; i < sizeof asks / sizeof *asks; i++) {
        searched           s;
        const hdx_progress progress = { NULL, NULL, impatient };
        hdx_leaks         *leaks;
        hdx_error          err;
        open_world(&s, asks[i]);
        s.o.progress = &progress;
        s.o.threads = 1;
        asked = 0;
        patience = UINT32_MAX;
        cr_assert(hdx_leaks_search(s.g, &s.o, &leaks, &err) == HDX_OK);
        hdx_leaks_free(leaks);
        const unsigned all = asked;
        cr_expect(all >= 6, "%s: asked %u times", asks[i], all);
        for (patience = 0; patience < all; patience++) {
            asked = 0;
            cr_expect(hdx_leaks_search(s.g, &s.o, &leaks, &err) == HDX_CANCELLED && leaks == NULL,
                      "%s: stopped at %u of %u", asks[i], patience, all);
        }
        close_world(&s);
    }
}

/* Which bitmaps are large depends on the screen: more than a tenth larger, of sizes that there are. */
Test(heaps, have_large_bitmaps_where_there_is_a_screen)
{
    static const struct {
        uint64_t wide, high;
        unsigned large; /* of the bitmaps below */
    } screens[] = { { 20, 20, 5 },
                    { 0, 20, 0 },
                    { 20, 0, 0 },
                    { UINT32_MAX, 20, 0 },
                    { 20, UINT32_MAX, 0 },
                    { 0, 0, 0 },
                    { 1, 1, 8 },
                    { 10, 40, 5 },
                    { 3000000000, 1, 0 },
                    { 1, 3000000000, 0 },
                    { 20, 21, 1 },
                    { INT32_MAX, INT32_MAX, 0 },
                    { UINT32_MAX, UINT32_MAX, 0 } };
    static const uint64_t bitmaps[][2] = { { 20, 20 }, { 440, 1 }, { 441, 1 },          { 1, 441 },
                                           { 0, 900 }, { 900, 0 }, { UINT32_MAX, 900 }, { 900, UINT32_MAX },
                                           { 21, 21 }, { 22, 21 }, { 21, 1000 },        { UINT32_MAX, UINT32_MAX },
                                           { 2, 1 } };
    for (size_t i = 0; i < sizeof screens / sizeof *screens; i++) {
        searched         s = { .g = NULL };
        char             dump[64], index[64];
        hdx_index_report report;
        hdx_error        err;
        dump_maker      *m = dump_maker_new(8);
        const uint64_t   object = dump_maker_class(m, "java.lang.Object", 0, "");
        m->version = "1.0.3";
        const uint64_t bitmap = dump_maker_class(m, "android.graphics.Bitmap", object, "mWidth:I mHeight:I"),
                       metrics = dump_maker_class(m, "android.util.DisplayMetrics", object,
                                                  i % 2 == 0 ? "widthPixels:I heightPixels:I"
                                                             : "density:I widthPixels:I heightPixels:I");
        for (size_t k = 0; k < sizeof bitmaps / sizeof *bitmaps; k++)
            (void)dump_maker_instance(m, bitmap, bitmaps[k]);
        (void)dump_maker_instance(m, metrics,
                                  i % 2 == 0 ? VALUES(screens[i].wide, screens[i].high)
                                             : VALUES(7, screens[i].wide, screens[i].high));
        test_folder_make_fast(s.folder, "heaps");
        (void)snprintf(dump, sizeof dump, "%s/a.hprof", s.folder);
        (void)snprintf(index, sizeof index, "%s/a.hdx", s.folder);
        dump_maker_save(m, dump);
        dump_maker_free(m);
        const hdx_index_options options = { .dump = dump, .index_dir = index, .threads = 1 };
        cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
        cr_assert(hdx_graph_open(index, dump, &s.g, &err) == HDX_OK, "%s", err.message);
        s.o = (hdx_leaks_options){ .finder = HDX_LEAKS_FILTERS, .no_memory_of_it = true, .threads = 1 };
        hdx_leaks *leaks;
        cr_assert(hdx_leaks_search(s.g, &s.o, &leaks, &err) == HDX_OK, "%s", err.message);
        unsigned large = 99, count = 0;
        for (uint64_t k = 0; k < leaks->metadata_count; k++) {
            if (strcmp(leaks->metadata[k].name, "Large bitmap count") == 0)
                large = (unsigned)strtoul(leaks->metadata[k].text, NULL, 10);
            if (strcmp(leaks->metadata[k].name, "Bitmap count") == 0)
                count = (unsigned)strtoul(leaks->metadata[k].text, NULL, 10);
        }
        cr_expect(large == screens[i].large, "screen %zu: %u large ones", i, large);
        cr_expect(count == sizeof bitmaps / sizeof *bitmaps, "screen %zu: %u", i, count);
        hdx_leaks_free(leaks);
        close_world(&s);
    }
}
