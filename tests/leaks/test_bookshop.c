/*
 * test_bookshop.c - leaks of examples/bookshop.hprof.gz, whatever its objects are called, and of Android heaps whose
 * objects have their fields filled at random: every trace with all its steps, notes and sizes. bookshop.txt and
 * android_heaps.txt have the checksum of each search (support/checksums.h).
 */
#include "leaks/leaks.h"
#include "leaks/told.h"
#include "support/checksums.h"
#include "support/dump_maker.h"
#include "support/folder.h"
#include <heapdex/heapdex.h>

#include <criterion/criterion.h>

static uint64_t text_of(void *context, const char *ask, hdx_buffer *b)
{
    char        words[256];
    const char *classes[8];
    (void)snprintf(words, sizeof words, "%s", ask);
    hdx_leaks_options o = { .finder = HDX_LEAKS_CLASSES, .classes = classes, .no_memory_of_it = true };
    o.retained = strcmp(strtok(words, " "), "sizes") == 0;
    o.width = (unsigned)strtoul(strtok(NULL, " "), NULL, 10) == 64 ? 64 : 0;
    o.threads = (unsigned)strtoul(strtok(NULL, " "), NULL, 10);
    for (char *word; (word = strtok(NULL, " ")) != NULL;)
        classes[o.class_count++] = word;
    return put_search(b, context, &o, ask);
}
Test(bookshop, is_searched_as_before)
{
    static const char dump[] = HDX_TREE "/examples/bookshop.hprof.gz";
    char              folder[TEST_FOLDER], index[64];
    hdx_graph        *g;
    hdx_index_report  report;
    hdx_error         err;
    test_folder_make(folder, "bookshop");
    (void)snprintf(index, sizeof index, "%s/a.hdx", folder);
    const hdx_index_options options = { .dump = dump, .index_dir = index, .threads = 1 };
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
    cr_assert(hdx_graph_open(index, dump, &g, &err) == HDX_OK, "%s", err.message);
    checksums_check(HDX_TREE "/tests/leaks/bookshop.txt", text_of, g);
    hdx_graph_close(g);
    test_folder_remove(folder);
}

/* ---- Android heaps at random ---- */

/* Names that rules look for, with the type they have; every class has them all. */
static const char all_fields[] =
    "mContext:L mDestroyed:Z size:I mParent:L mAttachInfo:L mArray:L array:L target:L referent:L mWindowAttachCount:I "
    "mView:L mTextView:L elementData:L elements:L _state:L what:I when:J key:L name:L watchUptimeMillis:J "
    "retainedUptimeMillis:J mOuterContext:L mBase:L mWM:L mWidth:I mHeight:I mTitle:L mType:I mTag:L mTN:L mState:L "
    "mStarted:Z mStartDelay:J mRunning:Z mRepeatMode:I mRepeatCount:I mQuitting:Z mQuiting:Z mPropertyName:L "
    "mProperty:L mName:L mMessages:L mLooper:L mListeners:L mLifecycleRegistry:L mInitialized:Z mID:I mDuration:J "
    "mAnimationEndRequested:Z mWindowAttributes:L mThread:L mServices:L mReceivers:L state:L obj:L callback:L dead:Z "
    "mFragmentManager:L table:L value:L next:L map:L mFlags:I mApplication:L mActivities:L";

static const struct {
    const char *name, *super;
} android_classes[] = {
    { "java.lang.Object", "" },
    { "java.lang.Class", "java.lang.Object" },
    { "java.lang.ClassLoader", "java.lang.Object" },
    { "java.lang.String", "java.lang.Object" },
    { "java.lang.Thread", "java.lang.Object" },
    { "java.lang.Enum", "java.lang.Object" },
    { "java.lang.ref.Reference", "java.lang.Object" },
    { "java.lang.ref.WeakReference", "java.lang.ref.Reference" },
    { "leakcanary.KeyedWeakReference", "java.lang.ref.WeakReference" },
    { "java.util.ArrayList", "java.lang.Object" },
    { "java.util.HashMap", "java.lang.Object" },
    { "java.util.HashMap$Node", "java.lang.Object" },
    { "android.content.Context", "java.lang.Object" },
    { "android.content.ContextWrapper", "android.content.Context" },
    { "android.app.Activity", "android.content.ContextWrapper" },
    { "android.app.Application", "android.content.ContextWrapper" },
    { "android.app.Service", "android.content.ContextWrapper" },
    { "android.app.ContextImpl", "android.content.Context" },
    { "android.app.ActivityThread", "java.lang.Object" },
    { "android.app.LoadedApk", "java.lang.Object" },
    { "android.app.Fragment", "java.lang.Object" },
    { "androidx.fragment.app.Fragment", "java.lang.Object" },
    { "androidx.lifecycle.LifecycleRegistry", "java.lang.Object" },
    { "androidx.arch.core.internal.SafeIterableMap", "java.lang.Object" },
    { "android.view.View", "java.lang.Object" },
    { "com.android.internal.policy.DecorView", "android.view.View" },
    { "android.view.Window", "java.lang.Object" },
    { "android.view.ViewRootImpl", "java.lang.Object" },
    { "android.view.WindowManager$LayoutParams", "java.lang.Object" },
    { "android.widget.Editor", "java.lang.Object" },
    { "android.widget.Toast", "java.lang.Object" },
    { "android.widget.Toast$TN", "java.lang.Object" },
    { "android.os.Message", "java.lang.Object" },
    { "android.os.MessageQueue", "java.lang.Object" },
    { "android.os.Looper", "java.lang.Object" },
    { "android.os.Handler", "java.lang.Object" },
    { "android.os.Build", "java.lang.Object" },
    { "android.os.Build$VERSION", "java.lang.Object" },
    { "android.animation.Animator", "java.lang.Object" },
    { "android.animation.ValueAnimator", "android.animation.Animator" },
    { "android.animation.ObjectAnimator", "android.animation.ValueAnimator" },
    { "android.graphics.Bitmap", "java.lang.Object" },
    { "mortar.MortarScope", "java.lang.Object" },
    { "kotlinx.coroutines.flow.StateFlowImpl", "java.lang.Object" },
    { "sun.misc.Cleaner", "java.lang.Object" },
    { "app.MainActivity", "android.app.Activity" },
    { "app.Cache", "java.lang.Object" },
    { "app.Screen$1", "android.view.View" },
};
enum { ANDROID_CLASSES = sizeof android_classes / sizeof *android_classes, OBJECTS = 900, STRINGS = 12 };

typedef struct android_heap {
    dump_maker *m;
    uint64_t    state, classes[ANDROID_CLASSES], strings[STRINGS], ids[OBJECTS], arrays[8];
} android_heap;

static uint64_t roll(android_heap *d, uint64_t n) { return (d->state = hdx_mix64(d->state)) % n; }

static uint64_t reference(android_heap *d)
{
    const uint64_t r = roll(d, 100);
    return r < 35   ? 0
           : r < 37 ? 0xdead0
           : r < 50 ? d->strings[roll(d, STRINGS)]
           : r < 56 ? d->arrays[roll(d, 8)]
           : r < 58 ? d->classes[roll(d, ANDROID_CLASSES)]
                    : d->ids[roll(d, OBJECTS)];
}

static uint64_t class_of(const android_heap *d, const char *name)
{
    for (unsigned c = 0; c < ANDROID_CLASSES; c++)
        if (strcmp(android_classes[c].name, name) == 0)
            return d->classes[c];
    return 0;
}

static const char *fields_of(unsigned c)
{
    return c == 0                                                      ? "" /* what all have, Strings too */
           : strcmp(android_classes[c].name, "java.lang.String") == 0  ? "value:L coder:B hash:I"
           : c < 3 || strncmp(android_classes[c].name, "app.", 4) == 0 ? "next:L view:L count:I"
                                                                       : all_fields;
}

static void make_classes(android_heap *d)
{
    for (unsigned c = 0; c < ANDROID_CLASSES; c++) {
        d->classes[c] = 0x1000 + 0x10 * c;
        if (strcmp(android_classes[c].name, "android.os.Build") == 0) {
            dump_maker_static(d->m, "MANUFACTURER", 'L', d->strings[3]);
            dump_maker_static(d->m, "ID", 'L', d->strings[4]);
        }
        if (strcmp(android_classes[c].name, "android.os.Build$VERSION") == 0)
            dump_maker_static(d->m, "SDK_INT", 'I', 19 + roll(d, 16));
        if (strcmp(android_classes[c].name, "leakcanary.KeyedWeakReference") == 0)
            dump_maker_static(d->m, "heapDumpUptimeMillis", 'J', 50000);
        if (strcmp(android_classes[c].name, "android.app.ActivityThread") == 0)
            dump_maker_static(d->m, "sCurrentActivityThread", 'L', d->ids[5]);
        if (strncmp(android_classes[c].name, "app.", 4) == 0)
            for (unsigned i = 0; i < 12; i++) {
                char name[16];
                (void)snprintf(name, sizeof name, "kept%u", i);
                dump_maker_static(d->m, name, 'L', d->ids[roll(d, OBJECTS)]);
            }
        (void)dump_maker_class_at(d->m, d->classes[c], android_classes[c].name, class_of(d, android_classes[c].super),
                                  fields_of(c));
        dump_maker_root(d->m, HDX_SUB_ROOT_STICKY_CLASS, d->classes[c], 0, 0);
    }
}

static void make_objects(android_heap *d)
{
    static const char *const texts[] = { "main", "DESTROYED", "key-1",   "samsung", "ID1", "app.MainActivity",
                                         "Idle", "ShutDown",  "RESUMED", "",        "a b", "leak" };
    const uint64_t           array = 0x2000;
    (void)dump_maker_class_at(d->m, array, "java.lang.Object[]", class_of(d, "java.lang.Object"), "");
    for (unsigned i = 0; i < STRINGS; i++) {
        uint64_t letters[32];
        for (size_t k = 0; k < strlen(texts[i]); k++)
            letters[k] = (uint8_t)texts[i][k];
        const uint64_t bytes = d->strings[i] + 0x80;
        (void)dump_maker_primitives_at(d->m, bytes, 'B', letters, (uint32_t)strlen(texts[i]));
        (void)dump_maker_instance_at(d->m, d->strings[i], class_of(d, "java.lang.String"), DUMP_VALUES(bytes, 0, 0));
    }
    for (unsigned i = 0; i < 8; i++) {
        uint64_t some[12];
        for (unsigned k = 0; k < 12; k++)
            some[k] = reference(d);
        (void)dump_maker_array_at(d->m, d->arrays[i], array, some, 12);
    }
    for (unsigned i = 0; i < OBJECTS; i++) {
        const unsigned c = 4 + i % (ANDROID_CLASSES - 4);
        uint64_t       values[512];
        unsigned       n = 0;
        for (const char *name = android_classes[c].name; *name != '\0';) { /* its own fields, then those above */
            unsigned at = 0;
            while (strcmp(android_classes[at].name, name) != 0)
                at++;
            for (const char *f = fields_of(at); (f = strchr(f, ':')) != NULL; f++)
                values[n++] = f[1] == 'L'       ? reference(d)
                              : f[1] == 'Z'     ? roll(d, 2)
                              : f[1] == 'J'     ? roll(d, 3) == 0 ? UINT64_MAX : roll(d, 60000)
                                  : roll(d, 2) == 0 ? 0xffffffff
                                                : roll(d, 3000);
            name = android_classes[at].super;
        }
        (void)dump_maker_instance_at(d->m, d->ids[i], d->classes[c], values);
        if (i % 90 == 0)
            dump_maker_root(d->m, HDX_SUB_ROOT_JNI_GLOBAL, d->ids[i], 0, 0);
        if (i % 200 == 7)
            dump_maker_root(d->m, HDX_SUB_ROOT_JAVA_FRAME, d->ids[i], 1, 0);
    }
}

/* "7 watched plain": the seed, the finder, and whether with sizes. */
static uint64_t android_heap_text(void *context, const char *ask, hdx_buffer *b)
{
    char              folder[TEST_FOLDER], dump[64], index[64], finder[16], sizes[16];
    unsigned          seed;
    android_heap     *d = calloc(1, sizeof *d);
    const char       *classes[] = { "app.*", "android.view.View" };
    hdx_graph        *g;
    hdx_index_report  report;
    hdx_error         err;
    hdx_leaks_options o = { .classes = classes, .class_count = 2, .no_memory_of_it = true };
    (void)context;
    cr_assert(sscanf(ask, "%u %15s %15s", &seed, finder, sizes) == 3);
    o.finder = finder[0] == 'w' ? HDX_LEAKS_WATCHED : finder[0] == 'f' ? HDX_LEAKS_FILTERS : HDX_LEAKS_CLASSES;
    if (o.finder != HDX_LEAKS_CLASSES)
        o.class_count = 0;
    o.retained = sizes[0] == 's';
    o.threads = 1 + seed % 2;
    o.width = seed % 3 == 0 ? 64 : 0;
    d->m = dump_maker_new(seed % 2 == 0 ? 4 : 8);
    d->m->version = "1.0.3";
    d->state = seed;
    for (unsigned i = 0; i < OBJECTS; i++)
        d->ids[i] = 0x100000 + 0x1000 * i;
    for (unsigned i = 0; i < STRINGS; i++)
        d->strings[i] = 0x40000 + 0x100 * i;
    for (unsigned i = 0; i < 8; i++)
        d->arrays[i] = 0x60000 + 0x100 * i;
    make_classes(d);
    make_objects(d);
    test_folder_make_fast(folder, "android");
    (void)snprintf(dump, sizeof dump, "%s/a.hprof", folder);
    (void)snprintf(index, sizeof index, "%s/a.hdx", folder);
    dump_maker_save(d->m, dump);
    dump_maker_free(d->m);
    free(d);
    const hdx_index_options options = { .dump = dump, .index_dir = index, .threads = 1 };
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
    cr_assert(hdx_graph_open(index, dump, &g, &err) == HDX_OK, "%s", err.message);
    const uint64_t count = put_search(b, g, &o, ask);
    hdx_graph_close(g);
    test_folder_remove(folder);
    return count;
}

Test(android_heaps, are_searched_as_before)
{
    checksums_check(HDX_TREE "/tests/leaks/android_heaps.txt", android_heap_text, NULL);
}
