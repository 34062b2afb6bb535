/*
 * test_android.c - what objects of Android say of themselves: each rule of android.c and of hdx_leak_states, both ways
 * (table inspectors.tsv of the facts).
 *
 * A heap is two tables of words. Classes: "name", "super", "field:TYPE ...", "static:TYPE=value ...". Objects: "name",
 * "class", "field=value ...", what the finder by state says of it, and its notes: reasons first ("L code", "N code"),
 * then labels ("code: text"), with | between them. Values are numbers, @object, #class or 'text'; {object} in a note is
 * its address. Arrays have their elements with commas between them.
 */
#include "../query/heap.h"
#include "leaks/leaks.h"

#define OBJECT_AT(n) (0x100000u + 0x100u * (unsigned)(n))
#define CLASS_AT(n)  (0x1000u + 0x10u * (unsigned)(n))
#define MOST         200

typedef struct kind {
    const char *name, *super, *fields, *statics;
} kind;
typedef struct thing {
    const char *name, *class, *fields;
    bool        found;
    const char *notes;
} thing;
typedef struct world {
    const kind  *kinds;
    size_t       kind_count;
    const thing *things;
    size_t       thing_count;
} world;

static size_t kind_named(const world *w, const char *name, size_t len)
{
    for (size_t n = 0; n < w->kind_count; n++)
        if (strlen(w->kinds[n].name) == len && memcmp(w->kinds[n].name, name, len) == 0)
            return n;
    cr_assert(false, "no class %.*s", (int)len, name);
    return 0;
}

static size_t thing_named(const world *w, const char *name, size_t len)
{
    for (size_t n = 0; n < w->thing_count; n++)
        if (strlen(w->things[n].name) == len && memcmp(w->things[n].name, name, len) == 0)
            return n;
    cr_assert(false, "no object %.*s", (int)len, name);
    return 0;
}

static uint64_t value_of(const world *w, dump_maker *m, const char *at, size_t len)
{
    char text[64];
    if (*at == '@')
        return OBJECT_AT(thing_named(w, at + 1, len - 1));
    if (*at == '#')
        return CLASS_AT(kind_named(w, at + 1, len - 1));
    if (*at != '\'')
        return (uint64_t)strtoll(at, NULL, 0);
    (void)snprintf(text, sizeof text, "%.*s", (int)len - 2, at + 1);
    return dump_maker_string(m, CLASS_AT(kind_named(w, "java.lang.String", 16)), text);
}

/* The value of a field among "a=1 b=@x"; 0 where it is not named. */
static uint64_t field_of(const world *w, dump_maker *m, const char *fields, const char *name, size_t len)
{
    while (*fields != '\0') {
        const size_t word = strcspn(fields, " ");
        if (word > len && fields[len] == '=' && memcmp(fields, name, len) == 0)
            return value_of(w, m, fields + len + 1, word - len - 1);
        fields += word;
        fields += strspn(fields, " ");
    }
    return 0;
}

static void put_kinds(const world *w, dump_maker *m)
{
    for (size_t n = 0; n < w->kind_count; n++) {
        const kind *k = &w->kinds[n];
        for (const char *at = k->statics; *at != '\0'; at += strspn(at, " ")) {
            char         name[64];
            const size_t word = strcspn(at, " "), colon = strcspn(at, ":");
            (void)snprintf(name, sizeof name, "%.*s", (int)colon, at);
            dump_maker_static(m, name, at[colon + 1], value_of(w, m, at + colon + 3, word - colon - 3));
            at += word;
        }
        (void)dump_maker_class_at(m, CLASS_AT(n), k->name,
                                  *k->super == '\0' ? 0 : CLASS_AT(kind_named(w, k->super, strlen(k->super))),
                                  k->fields);
        dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, CLASS_AT(n), 0, 0);
    }
}

static void put_elements(const world *w, dump_maker *m, size_t n)
{
    uint64_t values[32];
    uint32_t count = 0;
    for (const char *at = w->things[n].fields; *at != '\0'; at += strspn(at, ",")) {
        const size_t word = strcspn(at, ",");
        values[count++] = value_of(w, m, at, word);
        at += word;
    }
    if (strcmp(w->things[n].class, "int[]") == 0)
        (void)dump_maker_primitives_at(m, OBJECT_AT(n), 'I', values, count);
    else
        (void)dump_maker_array_at(
            m, OBJECT_AT(n), CLASS_AT(kind_named(w, w->things[n].class, strlen(w->things[n].class))), values, count);
}

static void put_things(const world *w, dump_maker *m)
{
    for (size_t n = 0; n < w->thing_count; n++) {
        const thing *t = &w->things[n];
        uint64_t     values[32];
        size_t       count = 0;
        if (strchr(t->class, '[') != NULL) {
            put_elements(w, m, n);
        } else {
            const size_t own = kind_named(w, t->class, strlen(t->class));
            for (const kind *k = &w->kinds[own]; k != NULL;
                 k = *k->super == '\0' ? NULL : &w->kinds[kind_named(w, k->super, strlen(k->super))])
                for (const char *at = k->fields; *at != '\0'; at += strspn(at, " ")) {
                    values[count++] = field_of(w, m, t->fields, at, strcspn(at, ":"));
                    at += strcspn(at, " ");
                }
            (void)dump_maker_instance_at(m, OBJECT_AT(n), CLASS_AT(own), values);
        }
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, OBJECT_AT(n), 0, 0);
    }
}

/* {object} -> 0x100a00 */
static void expand(const world *w, const char *notes, char *out, size_t size)
{
    size_t n = 0;
    while (*notes != '\0' && n + 24 < size) {
        if (*notes != '{') {
            out[n++] = *notes++;
            continue;
        }
        const size_t len = strcspn(notes + 1, "}");
        n += (size_t)snprintf(out + n, size - n, "0x%x", OBJECT_AT(thing_named(w, notes + 1, len)));
        notes += len + 2;
    }
    out[n] = '\0';
}

static void notes_of(const leak_look *l, char *out, size_t size)
{
    size_t n = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < l->reason_count && n < size; i++)
        n += (size_t)snprintf(out + n, size - n, "%s%s %s", n > 0 ? "|" : "",
                              l->reasons[i].means == HDX_LEAK_LEAKING ? "L" : "N", l->reasons[i].code);
    for (uint32_t i = 0; i < l->label_count && n < size; i++)
        n += (size_t)snprintf(out + n, size - n, "%s%s: %s", n > 0 ? "|" : "", l->labels[i].code, l->labels[i].text);
}

static void expect_world(const world *w)
{
    heap                    h;
    leak_heap               lh;
    leak_inspector          i;
    const leak_rules        rules = { .rule_count = 0 };
    const hdx_leaks_options by_state = { .finder = HDX_LEAKS_FILTERS };
    uint64_t                count = 0, capacity = 0;
    hdx_id                 *leaking = NULL;
    dump_maker             *m = dump_maker_new(8);
    char                    want[2000], got[2000];
    cr_assert(w->thing_count < MOST);
    put_kinds(w, m);
    put_things(w, m);
    heap_open(&h, m);
    ok(hdx_leak_heap_open(h.g, NULL, &lh, &h.err));
    ok(hdx_leak_inspector_open(&lh, &rules, &i, &h.err));
    ok(hdx_leak_find(&i, &by_state, &leaking, &count, &capacity, &h.err));
    for (size_t n = 0; n < w->thing_count; n++) {
        const thing *t = &w->things[n];
        const hdx_id id = id_at(&h, OBJECT_AT(n));
        leak_look    l;
        bool         found = false;
        for (uint64_t k = 0; k < count; k++)
            found = found || leaking[k] == id;
        hdx_leak_look_into(&i, id, &l);
        expand(w, t->notes, want, sizeof want);
        notes_of(&l, got, sizeof got);
        cr_expect(strcmp(want, got) == 0, "%s (%s)\n   want %s\n    got %s", t->name, t->class, want, got);
        cr_expect(found == t->found, "%s (%s): the finder by state %s", t->name, t->class,
                  found ? "takes it" : "does not take it");
        hdx_leak_look_drop(&l);
    }
    cr_expect(eq(int, lh.code, HDX_OK), "%s", lh.err.message);
    hdx_mem_put(NULL, leaking, capacity * sizeof *leaking);
    hdx_leak_inspector_close(&i);
    hdx_leak_heap_close(&lh);
    heap_close(&h);
}

#define CORE                                                                                                           \
    { "java.lang.Object", "", "", "" }, { "java.lang.Class", "java.lang.Object", "", "" },                             \
        { "java.lang.ClassLoader", "java.lang.Object", "", "" },                                                       \
        { "java.lang.String", "java.lang.Object", "value:L coder:B hash:I", "" },                                      \
        { "[Ljava.lang.Object;", "java.lang.Object", "", "" }, { "java.lang.Enum", "java.lang.Object", "name:L", "" }, \
        { "java.lang.Thread", "java.lang.Object", "name:L", "" }, { "android.os.Build", "java.lang.Object", "", "" },  \
        { "app.Plain", "java.lang.Object", "", "" }, { "android.content.Context", "java.lang.Object", "", "" },        \
    {                                                                                                                  \
        "android.util.ArrayMap", "java.lang.Object", "mArray:L", ""                                                    \
    }

/* ---- Android as it is ---- */
static const kind kinds[] = {
    CORE,
    { "java.util.ArrayList", "java.lang.Object", "size:I elementData:L", "" },
    { "android.content.ContextWrapper", "android.content.Context", "mBase:L", "" },
    { "android.app.Activity", "android.content.ContextWrapper", "mDestroyed:Z", "" },
    { "app.Main", "android.app.Activity", "", "" },
    { "android.app.Application", "android.content.ContextWrapper", "", "" },
    { "android.app.Service", "android.content.ContextWrapper", "", "" },
    { "app.Player", "android.app.Service", "", "" },
    { "com.android.internal.policy.DecorContext", "android.content.ContextWrapper", "mPhoneWindow:L", "" },
    { "android.view.Window", "java.lang.Object", "mContext:L mDestroyed:Z", "" },
    { "android.app.ApplicationContextManager", "java.lang.Object", "mContext:L", "" },
    { "android.app.ContextImpl", "android.content.Context", "mOuterContext:L", "" },
    { "android.view.View", "java.lang.Object", "mParent:L mContext:L mAttachInfo:L mWindowAttachCount:I mID:I", "" },
    { "app.Button", "android.view.View", "", "" },
    { "com.android.internal.policy.DecorView", "android.view.View", "", "" },
    { "android.view.ViewRootImpl", "java.lang.Object", "mView:L mContext:L mWindowAttributes:L", "" },
    { "android.view.WindowManager$LayoutParams", "java.lang.Object", "mTitle:L type:I", "" },
    { "android.widget.Editor", "java.lang.Object", "mTextView:L", "" },
    { "android.app.Dialog", "java.lang.Object", "mDecor:L", "" },
    { "android.app.ActivityThread", "java.lang.Object", "mServices:L", "sCurrentActivityThread:L=@process" },
    { "android.view.inputmethod.InputMethodManager", "java.lang.Object", "", "" },
    { "android.app.Fragment", "java.lang.Object", "mFragmentManager:L mTag:L", "" },
    { "android.support.v4.app.Fragment", "java.lang.Object", "mFragmentManager:L mTag:L", "" },
    { "androidx.fragment.app.Fragment", "java.lang.Object", "mLifecycleRegistry:L mTag:L", "" },
    { "androidx.lifecycle.LifecycleRegistry", "java.lang.Object", "state:L", "" },
    { "app.State", "java.lang.Enum", "", "" },
    { "android.os.MessageQueue", "java.lang.Object", "mQuitting:Z mMessages:L", "" },
    { "android.os.Message", "java.lang.Object", "what:I when:J obj:L callback:L target:L", "" },
    { "android.os.Handler", "java.lang.Object", "mLooper:L", "" },
    { "android.os.Looper", "java.lang.Object", "mThread:L", "" },
    { "android.app.LoadedApk", "java.lang.Object", "mReceivers:L", "" },
    { "mortar.Presenter", "java.lang.Object", "view:L", "" },
    { "mortar.MortarScope", "java.lang.Object", "name:L dead:Z", "" },
    { "com.squareup.coordinators.Coordinator", "java.lang.Object", "attached:Z", "" },
    { "android.widget.Toast", "java.lang.Object", "mTN:L", "" },
    { "android.widget.Toast$TN", "java.lang.Object", "mWM:L mView:L", "" },
    { "androidx.compose.runtime.Recomposer", "java.lang.Object", "_state:L", "" },
    { "kotlinx.coroutines.flow.StateFlowImpl", "java.lang.Object", "_state:L", "" },
    { "androidx.compose.runtime.CompositionImpl", "java.lang.Object", "disposed:Z", "" },
    { "android.animation.Animator", "java.lang.Object", "mListeners:L", "" },
    { "android.animation.ValueAnimator", "android.animation.Animator",
      "mInitialized:Z mStarted:Z mRunning:Z mAnimationEndRequested:Z mDuration:J mStartDelay:J mRepeatCount:I "
      "mRepeatMode:I",
      "" },
    { "android.animation.ObjectAnimator", "android.animation.ValueAnimator", "mPropertyName:L mProperty:L", "" },
    { "android.util.Property", "java.lang.Object", "mName:L mType:L", "" },
    { "shark.AndroidResourceIdNames", "java.lang.Object", "resourceIds:L names:L", "holderField:L=@id_names" },
};
#define DEAD     "context.field: mContext is a context: app.Main, mDestroyed = true"
#define LIVING   "context.field: mContext is a context: app.Main, mDestroyed = false"
#define IN       "view.in_window: part of the hierarchy of a window"
#define OUT      "view.in_window: not part of the hierarchy of a window"
#define ON       "view.attached: View.mAttachInfo is set (attached)"
#define OFF      "view.attached: View.mAttachInfo is null (detached)"
#define NO_ID    "view.id: mID = R.id.null"
#define COUNT(n) "view.window_attach_count: View.mWindowAttachCount = " #n
static const thing things[] = {
    { "plain", "app.Plain", "", false, "" },
    { "name_ok", "[Ljava.lang.Object;", "'ok','title'", false, "" },
    { "ids", "int[]", "7,8", false, "" },
    { "id_names", "shark.AndroidResourceIdNames", "resourceIds=@ids names=@name_ok", false, "" },
    /* activities, applications, services */
    { "living", "app.Main", "mDestroyed=0", false, "N activity.not_destroyed" },
    { "dead", "app.Main", "mDestroyed=1", true, "L activity.destroyed" },
    { "application", "android.app.Application", "", false, "N singleton.application" },
    { "running", "app.Player", "", false, "N service.held" },
    { "also_running", "app.Player", "", false, "N service.held" },
    { "as_key", "app.Player", "", true, "L service.not_held" },
    { "ended", "app.Player", "", true, "L service.not_held" },
    { "services", "[Ljava.lang.Object;", "@as_key,@running,@plain,0,@plain,@also_running", false, "" },
    { "service_map", "android.util.ArrayMap", "mArray=@services", false, "" },
    { "process", "android.app.ActivityThread", "mServices=@service_map", false, "N singleton.activity_thread" },
    { "methods", "android.view.inputmethod.InputMethodManager", "", false, "N singleton.input_method_manager" },
    /* contexts */
    { "wraps_dead", "android.content.ContextWrapper", "mBase=@dead", true,
      "L context_wrapper.activity_destroyed|context.field: mBase is a context: app.Main, mDestroyed = true" },
    { "wraps_living", "android.content.ContextWrapper", "mBase=@living", false,
      "context.field: mBase is a context: app.Main, mDestroyed = false|context_wrapper.activity: wraps the activity "
      "app.Main, mDestroyed = false" },
    { "wraps_twice", "android.content.ContextWrapper", "mBase=@wraps_dead", true,
      "L context_wrapper.activity_destroyed|context.field: mBase is a context: android.content.ContextWrapper, "
      "wrapping app.Main, mDestroyed = true" },
    { "wraps_app", "android.content.ContextWrapper", "mBase=@application", false,
      "context.field: mBase is a context: android.app.Application|context_wrapper.application: wraps the application" },
    { "wraps_service", "android.content.ContextWrapper", "mBase=@ended", false,
      "context.field: mBase is a context: app.Player|context_wrapper.service: wraps the service app.Player" },
    { "wraps_null", "android.content.ContextWrapper", "", false,
      "context_wrapper.nothing: wraps no activity, application or service" },
    { "wraps_impl", "android.content.ContextWrapper", "mBase=@impl_dead", false,
      "context.field: mBase is a context: android.app.ContextImpl|context_wrapper.nothing: wraps no activity, "
      "application or service" },
    { "circle_a", "android.content.ContextWrapper", "mBase=@circle_b", false,
      "context.field: mBase is a context: android.content.ContextWrapper|context_wrapper.nothing: wraps no activity, "
      "application or service" },
    { "circle_b", "android.content.ContextWrapper", "mBase=@circle_c", false,
      "context.field: mBase is a context: android.content.ContextWrapper|context_wrapper.nothing: wraps no activity, "
      "application or service" },
    { "circle_c", "android.content.ContextWrapper", "mBase=@circle_b", false,
      "context.field: mBase is a context: android.content.ContextWrapper|context_wrapper.nothing: wraps no activity, "
      "application or service" },
    { "decor_dead", "com.android.internal.policy.DecorContext", "mBase=@impl_app mPhoneWindow=@window_dead", true,
      "L context_wrapper.activity_destroyed|context.field: mBase is a context: android.app.ContextImpl" },
    { "decor_living", "com.android.internal.policy.DecorContext", "mBase=@application mPhoneWindow=@window_living",
      false,
      "context.field: mBase is a context: android.app.Application|context_wrapper.activity: wraps the activity "
      "app.Main, mDestroyed = false" },
    { "decor_without", "com.android.internal.policy.DecorContext", "mBase=@application", false,
      "context.field: mBase is a context: android.app.Application|context_wrapper.nothing: wraps no activity, "
      "application or service" },
    { "decor_activity", "com.android.internal.policy.DecorContext", "mBase=@living mPhoneWindow=@window_dead", false,
      "context.field: mBase is a context: app.Main, mDestroyed = false|context_wrapper.activity: wraps the activity "
      "app.Main, mDestroyed = false" },
    { "impl_dead", "android.app.ContextImpl", "mOuterContext=@dead", true,
      "L context_impl.outer_activity_destroyed|context.field: mOuterContext is a context: app.Main, mDestroyed = "
      "true" },
    { "impl_living", "android.app.ContextImpl", "mOuterContext=@living", false,
      "N context_impl.outer_activity|context.field: mOuterContext is a context: app.Main, mDestroyed = false" },
    { "impl_app", "android.app.ContextImpl", "mOuterContext=@application", false,
      "N context_impl.outer_application|context.field: mOuterContext is a context: android.app.Application" },
    { "impl_self", "android.app.ContextImpl", "mOuterContext=@impl_self", false,
      "context.field: mOuterContext is a context: android.app.ContextImpl|context_impl.outer_self: mOuterContext is "
      "the object itself" },
    { "impl_service", "android.app.ContextImpl", "mOuterContext=@ended", false,
      "context.field: mOuterContext is a context: app.Player|context_impl.outer_other: mOuterContext is app.Player" },
    { "impl_null", "android.app.ContextImpl", "", false, "context_impl.outer_other: mOuterContext is null" },
    { "manager_dead", "android.app.ApplicationContextManager", "mContext=@impl_dead", true,
      "L context_manager.outer_activity_destroyed|context.field: mContext is a context: android.app.ContextImpl" },
    { "manager_living", "android.app.ApplicationContextManager", "mContext=@impl_living", false,
      "N context_manager.outer_activity|context.field: mContext is a context: android.app.ContextImpl" },
    { "manager_app", "android.app.ApplicationContextManager", "mContext=@impl_app", false,
      "N context_manager.outer_application|context.field: mContext is a context: android.app.ContextImpl" },
    { "manager_other", "android.app.ApplicationContextManager", "mContext=@impl_service", false,
      "context.field: mContext is a context: android.app.ContextImpl|context_manager.outer_other: mOuterContext is "
      "app.Player" },
    /* views */
    { "view_dead", "app.Button", "mContext=@dead mID=-1", true,
      "L view.context_destroyed|" OUT "|" OFF "|" COUNT(0) "|" DEAD },
    { "view_loose", "app.Button", "mContext=@living mID=7", false,
      OUT "|" OFF "|view.id: mID = R.id.ok|" COUNT(0) "|" LIVING },
    { "view_loose_once", "app.Button", "mContext=@living mID=8 mWindowAttachCount=3", false,
      OUT "|" OFF "|view.id: mID = R.id.title|" COUNT(3) "|" LIVING },
    { "view_loose_on", "app.Button", "mAttachInfo=@plain mWindowAttachCount=1", false,
      OUT "|" ON "|" NO_ID "|" COUNT(1) },
    { "decor", "com.android.internal.policy.DecorView",
      "mParent=@root_set mAttachInfo=@plain mWindowAttachCount=1 mID=-1", false,
      "N view.attached_in_window|" IN "|" ON "|" COUNT(1) },
    { "decor_off", "com.android.internal.policy.DecorView", "mParent=@root_set mWindowAttachCount=1 mID=-1", true,
      "L view.detached_in_window|" IN "|" OFF "|" COUNT(1) },
    { "decor_alone", "com.android.internal.policy.DecorView", "mWindowAttachCount=1 mID=-1", true,
      OUT "|" OFF "|" COUNT(1) },
    { "decor_never", "com.android.internal.policy.DecorView", "mParent=@root_set mID=-1", false,
      IN "|" OFF "|" COUNT(0) },
    { "child_on", "app.Button", "mParent=@decor mAttachInfo=@plain mWindowAttachCount=1 mID=-1", false,
      "N view.attached_in_window|" IN "|" ON "|" COUNT(1) },
    { "child_off", "app.Button", "mParent=@decor mWindowAttachCount=2 mID=-1", false,
      "L view.detached_in_window|" IN "|" OFF "|" COUNT(2) },
    { "child_never", "app.Button", "mParent=@decor mID=-1", false, IN "|" OFF "|" COUNT(0) },
    { "child_disorder", "app.Button", "mParent=@decor_off mAttachInfo=@plain mWindowAttachCount=1 mID=-1", false,
      "L view.attach_disorder|" IN "|" ON "|" COUNT(1) },
    { "child_of_alone", "app.Button", "mParent=@decor_alone mWindowAttachCount=1 mID=-1", false,
      "L view.detached_in_window|" IN "|" OFF "|" COUNT(1) },
    { "grandchild_dead", "app.Button",
      "mParent=@child_on mContext=@dead mAttachInfo=@plain mWindowAttachCount=1 mID=-1", false,
      "L view.context_destroyed|" IN "|" ON "|" COUNT(1) "|" DEAD },
    { "ring_a", "app.Button", "mParent=@ring_b mWindowAttachCount=1 mID=-1", false, OUT "|" OFF "|" COUNT(1) },
    { "ring_b", "app.Button", "mParent=@ring_a mWindowAttachCount=1 mID=-1", false, OUT "|" OFF "|" COUNT(1) },
    { "editor_dead", "android.widget.Editor", "mTextView=@view_dead", true,
      "L view.context_destroyed|view.in_window: Editor.mTextView: not part of the hierarchy of a window|"
      "view.attached: Editor.mTextView: View.mAttachInfo is null (detached)|view.window_attach_count: "
      "Editor.mTextView: View.mWindowAttachCount = 0" },
    { "editor_living", "android.widget.Editor", "mTextView=@child_on", false,
      "N view.attached_in_window|view.in_window: Editor.mTextView: part of the hierarchy of a window|"
      "view.attached: Editor.mTextView: View.mAttachInfo is set (attached)|view.window_attach_count: Editor.mTextView: "
      "View.mWindowAttachCount = 1" },
    { "editor_empty", "android.widget.Editor", "", false, "" },
    { "editor_odd", "android.widget.Editor", "mTextView=@plain", false, "" },
    /* windows */
    { "params", "android.view.WindowManager$LayoutParams", "mTitle='Main' type=1", false, "" },
    { "toast_params", "android.view.WindowManager$LayoutParams", "type=2005", false, "" },
    { "root_set", "android.view.ViewRootImpl", "mView=@decor mContext=@living mWindowAttributes=@params", false,
      LIVING "|view_root.view_set: ViewRootImpl.mView is set|view_root.title: mWindowAttributes.mTitle = "
             "Main|view_root.type: mWindowAttributes.type = 1" },
    { "root_null", "android.view.ViewRootImpl", "mContext=@dead mWindowAttributes=@toast_params", true,
      "L view_root.view_null|" DEAD
      "|view_root.title: mWindowAttributes.mTitle = null|view_root.type: mWindowAttributes.type = 2005 (a toast)" },
    { "root_dead", "android.view.ViewRootImpl", "mView=@decor mContext=@dead", true,
      "L view_root.context_destroyed|" DEAD
      "|view_root.view_set: ViewRootImpl.mView is set|view_root.title: mWindowAttributes.mTitle = null|"
      "view_root.type: mWindowAttributes.type = 0" },
    { "window_dead", "android.view.Window", "mContext=@dead mDestroyed=1", true, "L window.destroyed|" DEAD },
    { "window_living", "android.view.Window", "mContext=@living mDestroyed=0", false,
      LIVING "|window.not_destroyed: Window.mDestroyed is false" },
    { "dialog_shown", "android.app.Dialog", "mDecor=@decor", false,
      "dialog.decor: mDecor is set: the dialog has a window" },
    { "dialog_hidden", "android.app.Dialog", "", false, "dialog.decor: mDecor is null: the dialog is not shown" },
    { "tn_done", "android.widget.Toast$TN", "mWM=@plain", false, "" },
    { "tn_shown", "android.widget.Toast$TN", "mWM=@plain mView=@plain", false, "" },
    { "tn_never", "android.widget.Toast$TN", "mView=@plain", false, "" },
    { "toast_done", "android.widget.Toast", "mTN=@tn_done", true, "L toast.done" },
    { "toast_shown", "android.widget.Toast", "mTN=@tn_shown", false, "N toast.showing" },
    { "toast_never", "android.widget.Toast", "mTN=@tn_never", false, "" },
    { "toast_without", "android.widget.Toast", "", false, "" },
    /* fragments and what lives by states */
    { "DESTROYED", "app.State", "name='DESTROYED'", false, "" },
    { "RESUMED", "app.State", "name='RESUMED'", false, "" },
    { "nameless", "app.State", "", false, "" },
    { "registry_dead", "androidx.lifecycle.LifecycleRegistry", "state=@DESTROYED", false,
      "lifecycle.state: state is DESTROYED" },
    { "registry_living", "androidx.lifecycle.LifecycleRegistry", "state=@RESUMED", false, "N lifecycle.state" },
    { "registry_empty", "androidx.lifecycle.LifecycleRegistry", "", false, "" },
    { "registry_nameless", "androidx.lifecycle.LifecycleRegistry", "state=@nameless", false, "" },
    { "fragment_off", "android.app.Fragment", "mTag='first'", true,
      "L fragment.manager_null|fragment.tag: mTag = first" },
    { "fragment_on", "android.app.Fragment", "mFragmentManager=@plain mTag=''", false, "N fragment.manager_set" },
    { "support_off", "android.support.v4.app.Fragment", "", true, "L fragment.manager_null" },
    { "support_on", "android.support.v4.app.Fragment", "mFragmentManager=@plain mTag='list'", false,
      "N fragment.manager_set|fragment.tag: mTag = list" },
    { "x_dead", "androidx.fragment.app.Fragment", "mLifecycleRegistry=@registry_dead mTag='x'", true,
      "L fragment.lifecycle_destroyed|fragment.tag: mTag = x" },
    { "x_living", "androidx.fragment.app.Fragment", "mLifecycleRegistry=@registry_living", false,
      "N fragment.lifecycle" },
    { "x_none", "androidx.fragment.app.Fragment", "", false, "fragment.no_lifecycle: mLifecycleRegistry is null" },
    { "x_empty", "androidx.fragment.app.Fragment", "mLifecycleRegistry=@registry_empty", false, "" },
    /* queues, receivers */
    { "main", "java.lang.Thread", "name='main'", false, "N thread.main|thread.name: thread name: main" },
    { "worker", "java.lang.Thread", "name='main-2'", false, "thread.name: thread name: main-2" },
    { "unnamed", "java.lang.Thread", "", false, "thread.name: thread name: null" },
    { "looper", "android.os.Looper", "mThread=@worker", false, "" },
    { "looper_alone", "android.os.Looper", "", false, "" },
    { "handler", "android.os.Handler", "mLooper=@looper", false, "" },
    { "handler_alone", "android.os.Handler", "mLooper=@looper_alone", false, "" },
    { "message", "android.os.Message", "what=-4 when=1200 obj=@plain callback=@main target=@handler", false,
      "message.what: Message.what = -4|message.when: Message.when = 1200|message.obj: Message.obj = app.Plain@{plain}|"
      "message.callback: Message.callback = java.lang.Thread@{main}|message.target: Message.target = "
      "android.os.Handler@{handler}" },
    { "message_alone", "android.os.Message", "target=@handler_alone", false,
      "message.what: Message.what = 0|message.when: Message.when = 0|message.obj: Message.obj = null|message.callback: "
      "Message.callback = null|"
      "message.target: Message.target = android.os.Handler@{handler_alone}" },
    { "queue_on", "android.os.MessageQueue", "mMessages=@message", false,
      "N message_queue.running|message_queue.thread: thread of its handler: main-2" },
    { "queue_off", "android.os.MessageQueue", "mQuitting=1 mMessages=@message_alone", true,
      "L message_queue.quitting|message_queue.thread: thread of its handler: null" },
    { "queue_empty", "android.os.MessageQueue", "", false, "N message_queue.running" },
    { "inner", "[Ljava.lang.Object;", "@plain,@main,0,@main,@toast_without,@main", false, "" },
    { "inner_map", "android.util.ArrayMap", "mArray=@inner", false, "" },
    { "outer", "[Ljava.lang.Object;", "@living,@inner_map,0,@inner_map,@application,0", false, "" },
    { "outer_map", "android.util.ArrayMap", "mArray=@outer", false, "" },
    { "apk", "android.app.LoadedApk", "mReceivers=@outer_map", false,
      "loaded_apk.receivers: receivers are registered|loaded_apk.context: for the context "
      "Main@{living}|loaded_apk.receiver:   receiver Plain@{plain}|"
      "loaded_apk.receiver:   receiver Toast@{toast_without}|loaded_apk.context: for the context "
      "Application@{application}" },
    { "apk_without", "android.app.LoadedApk", "", false, "" },
    /* libraries */
    { "presenter_off", "mortar.Presenter", "", false, "mortar_presenter.view: view is null" },
    { "presenter_on", "mortar.Presenter", "view=@plain", false, "mortar_presenter.view: view is set" },
    { "scope_dead", "mortar.MortarScope", "dead=1 name='s'", true, "L mortar_scope.dead" },
    { "scope_living", "mortar.MortarScope", "", false, "N mortar_scope.alive" },
    { "coordinator_on", "com.squareup.coordinators.Coordinator", "attached=1", false,
      "coordinator.attached: attached is true" },
    { "coordinator_off", "com.squareup.coordinators.Coordinator", "", false,
      "coordinator.attached: attached is false" },
    { "composition_off", "androidx.compose.runtime.CompositionImpl", "disposed=1", false, "L composition.disposed" },
    { "composition_on", "androidx.compose.runtime.CompositionImpl", "", false, "N composition.not_disposed" },
#define RECOMPOSER(state, notes)                                                                                       \
    { state, "app.State", "name='" state "'", false, "" },                                                             \
        { "flow" state, "kotlinx.coroutines.flow.StateFlowImpl", "_state=@" state, false, "" },                        \
    {                                                                                                                  \
        "recomposer" state, "androidx.compose.runtime.Recomposer", "_state=@flow" state, false, notes                  \
    }
    RECOMPOSER("ShutDown", "L recomposer.state"),
    RECOMPOSER("ShuttingDown", "L recomposer.state"),
    RECOMPOSER("Inactive", "recomposer.state: the recomposer is Inactive"),
    RECOMPOSER("InactivePendingWork", "recomposer.state: the recomposer is InactivePendingWork"),
    RECOMPOSER("PendingWork", "N recomposer.state"),
    RECOMPOSER("Idle", "N recomposer.state"),
    RECOMPOSER("Other", ""),
    { "recomposer_empty", "androidx.compose.runtime.Recomposer", "", false, "" },
    /* animators */
    { "animator_none", "android.animation.Animator", "", false, "animator.no_listeners: mListeners is null" },
    { "listeners", "[Ljava.lang.Object;", "@plain,0,@main,@living", false, "" },
    { "list", "java.util.ArrayList", "size=3 elementData=@listeners", false, "" },
    { "list_empty", "java.util.ArrayList", "size=0 elementData=@listeners", false, "" },
    { "list_odd", "java.util.ArrayList", "size=-1 elementData=@listeners", false, "" },
    { "animator_listened", "android.animation.Animator", "mListeners=@list", false,
      "animator.listener: mListeners[0] = app.Plain@{plain}|animator.listener: mListeners[2] = "
      "java.lang.Thread@{main}" },
    { "animator_empty", "android.animation.Animator", "mListeners=@list_empty", false,
      "animator.listeners_empty: mListeners is empty" },
    { "animator_odd", "android.animation.Animator", "mListeners=@list_odd", false,
      "animator.listeners_empty: mListeners is empty" },
#define F "object_animator.field: "
    { "property", "android.util.Property", "mName='alpha' mType=#app.Plain", false, "" },
    { "property_bare", "android.util.Property", "mType=@plain", false, "" },
    { "object_animator", "android.animation.ObjectAnimator",
      "mPropertyName='alpha' mProperty=@property mInitialized=1 mRunning=1 mDuration=300 mStartDelay=-5 "
      "mRepeatCount=-1 mRepeatMode=1",
      false,
      "animator.no_listeners: mListeners is null|" F "mPropertyName = alpha|" F "mProperty.mName = alpha|" F
      "mProperty.mType = app.Plain|" F "mInitialized = true|" F "mStarted = false|" F "mRunning = true|" F
      "mAnimationEndRequested = false|" F "mDuration = 300|" F "mStartDelay = -5|" F "mRepeatCount = -1 (for ever)|" F
      "mRepeatMode = 1 (from the start)" },
    { "object_animator_bare", "android.animation.ObjectAnimator",
      "mProperty=@property_bare mStarted=1 mAnimationEndRequested=1 mRepeatCount=2 mRepeatMode=2", false,
      "animator.no_listeners: mListeners is null|" F "mPropertyName = null|" F "mProperty.mName = null|" F
      "mProperty.mType = null|" F "mInitialized = false|" F "mStarted = true|" F "mRunning = false|" F
      "mAnimationEndRequested = true|" F "mDuration = 0|" F "mStartDelay = 0|" F "mRepeatCount = 2|" F
      "mRepeatMode = 2 (back and forth)" },
    { "object_animator_null", "android.animation.ObjectAnimator", "", false,
      "animator.no_listeners: mListeners is null|" F "mPropertyName = null|" F "mProperty = null|" F
      "mInitialized = false|" F "mStarted = false|" F "mRunning = false|" F "mAnimationEndRequested = false|" F
      "mDuration = 0|" F "mStartDelay = 0|" F "mRepeatCount = 0|" F "mRepeatMode = 0" },
};

Test(android, objects_say_what_the_table_of_inspectors_has)
{
    expect_world(&(world){ kinds, sizeof kinds / sizeof *kinds, things, sizeof things / sizeof *things });
}

/* ---- fields of older and newer releases, and fields that are not there ---- */
static const kind old_kinds[] = {
    CORE,
    { "java.util.ArrayList", "java.lang.Object", "size:I array:L", "" },
    { "android.content.ContextWrapper", "android.content.Context", "mBase:L", "" },
    { "android.app.Activity", "android.content.ContextWrapper", "", "" },
    { "android.app.Service", "android.content.ContextWrapper", "", "" },
    { "com.android.internal.policy.DecorContext", "android.content.ContextWrapper", "", "" },
    { "android.app.ContextImpl", "android.content.Context", "mOuterContext:L", "" },
    { "android.view.View", "java.lang.Object", "mParent:L mContext:L mID:I", "" },
    { "android.view.ViewRootImpl", "java.lang.Object", "mWindowAttributes:L", "" },
    { "android.view.Window", "java.lang.Object", "", "" },
    { "android.app.Dialog", "java.lang.Object", "", "" },
    { "android.support.v4.app.Fragment", "java.lang.Object", "", "" },
    { "androidx.fragment.app.Fragment", "java.lang.Object", "mLifecycleRegistry:L", "" },
    { "androidx.lifecycle.LifecycleRegistry", "java.lang.Object", "mState:L", "" },
    { "app.State", "java.lang.Enum", "", "" },
    { "android.os.MessageQueue", "java.lang.Object", "mQuiting:Z", "" },
    { "app.Queue", "android.os.MessageQueue", "mQuitting:Z", "" },
    { "android.os.Message", "java.lang.Object", "when:J", "" },
    { "mortar.MortarScope", "java.lang.Object", "name:L", "" },
    { "androidx.compose.runtime.CompositionImpl", "java.lang.Object", "state:I", "" },
    { "android.animation.Animator", "java.lang.Object", "mListeners:L", "" },
    { "android.widget.Toast", "java.lang.Object", "mTN:L", "" },
    { "android.widget.Toast$TN", "java.lang.Object", "mWM:L", "" },
    { "leakcanary.KeyedWeakReference", "java.lang.Object", "", "heapDumpUptimeMillis:J=5000" },
};
static const thing old_things[] = {
    { "plain", "app.Plain", "", false, "" },
    { "activity", "android.app.Activity", "", false, "" },
    { "wraps", "android.content.ContextWrapper", "mBase=@activity", false,
      "context.field: mBase is a context: android.app.Activity, mDestroyed = false|"
      "context_wrapper.activity: wraps the activity android.app.Activity, mDestroyed = false" },
    { "decor", "com.android.internal.policy.DecorContext", "mBase=@activity", false,
      "context.field: mBase is a context: android.app.Activity, mDestroyed = false|"
      "context_wrapper.activity: wraps the activity android.app.Activity, mDestroyed = false" },
    { "decor_service", "com.android.internal.policy.DecorContext", "mBase=@service", false,
      "context.field: mBase is a context: android.app.Service|context_wrapper.service: wraps the service "
      "android.app.Service" },
    { "service", "android.app.Service", "", true, "L service.not_held" },
    { "impl", "android.app.ContextImpl", "mOuterContext=@activity", false,
      "context.field: mOuterContext is a context: android.app.Activity, mDestroyed = false|context_impl.outer_other: "
      "mOuterContext is android.app.Activity" },
    { "view", "android.view.View", "mID=7", false, OUT "|" OFF "|" COUNT(0) },
    { "root", "android.view.ViewRootImpl", "", false,
      "view_root.title: mWindowAttributes.mTitle = null|view_root.type: mWindowAttributes.type = 0" },
    { "window", "android.view.Window", "", false, "" },
    { "dialog", "android.app.Dialog", "", false, "" },
    { "support", "android.support.v4.app.Fragment", "", false, "" },
    { "CREATED", "app.State", "name='CREATED'", false, "" },
    { "DESTROYED", "app.State", "name='DESTROYED'", false, "" },
    { "registry", "androidx.lifecycle.LifecycleRegistry", "mState=@CREATED", false, "N lifecycle.state" },
    { "registry_dead", "androidx.lifecycle.LifecycleRegistry", "mState=@DESTROYED", false,
      "lifecycle.state: state is DESTROYED" },
    { "x", "androidx.fragment.app.Fragment", "mLifecycleRegistry=@registry", false, "N fragment.lifecycle" },
    { "x_dead", "androidx.fragment.app.Fragment", "mLifecycleRegistry=@registry_dead", true,
      "L fragment.lifecycle_destroyed" },
    { "queue_on", "android.os.MessageQueue", "", false, "N message_queue.running" },
    { "queue_off", "android.os.MessageQueue", "mQuiting=1", true, "L message_queue.quitting" },
    { "queue_below", "app.Queue", "mQuitting=1", false,
      "N message_queue.running" }, /* a field of another class says nothing */
#define MESSAGE(when, text)                                                                                            \
    {                                                                                                                  \
        "message" #when, "android.os.Message", "when=" #when, false,                                                   \
            "message.what: Message.what = 0|message.when: Message.when = " #when " (" text ")|"                        \
            "message.obj: Message.obj = null|message.callback: Message.callback = null|message.target: "               \
            "Message.target = null"                                                                                    \
    }
    MESSAGE(5001, "after the dump by 1 ms"),
    MESSAGE(5000, "before the dump by 0 ms"),
    MESSAGE(4000, "before the dump by 1000 ms"),
    { "scope", "mortar.MortarScope", "", false, "" },
    { "composition", "androidx.compose.runtime.CompositionImpl", "state=0", false, "N composition.not_disposed" },
    { "composition_idle", "androidx.compose.runtime.CompositionImpl", "state=1", false,
      "composition.state: state is 1: deactivated" },
    { "composition_broken", "androidx.compose.runtime.CompositionImpl", "state=2", false,
      "composition.state: state is 2: inconsistent" },
    { "composition_off", "androidx.compose.runtime.CompositionImpl", "state=3", false, "L composition.disposed" },
    { "composition_odd", "androidx.compose.runtime.CompositionImpl", "state=4", false, "" },
    { "listeners", "[Ljava.lang.Object;", "@plain", false, "" },
    { "list", "java.util.ArrayList", "size=1 array=@listeners", false, "" },
    { "animator", "android.animation.Animator", "mListeners=@list", false,
      "animator.listener: mListeners[0] = app.Plain@{plain}" },
    { "tn", "android.widget.Toast$TN", "mWM=@plain", false, "" },
    { "toast", "android.widget.Toast", "mTN=@tn", false, "" },
};

Test(android, objects_of_other_releases_say_what_their_fields_tell)
{
    expect_world(&(world){ old_kinds, sizeof old_kinds / sizeof *old_kinds, old_things,
                           sizeof old_things / sizeof *old_things });
}
