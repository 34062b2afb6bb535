/*
 * android.c - notes on Android objects that follow from more than one field (SHARK 5.1). Notes that follow from one
 * field are rows of tables.c.
 *
 * In:  an instance, and the inspected classes of its hierarchy as bits.
 * Out: notes. The states of tables.c are looked up here as well, so that all notes come in Shark's order.
 * Knows field names of fifteen years of Android. Where Shark stops because a field or an object is missing, the note is
 * omitted.
 * Cost: chains (parents of views, wrapped contexts, messages) are followed to their end; cycles are detected (Brent).
 */
#include "leaks/leaks.h"

#include <stdio.h>
#include <stdlib.h>

#define HAS(bits, c) (((bits) >> (c)&1) != 0)
#define VIEW         "android.view.View"
#define LEAKS        HDX_LEAK_LEAKING
#define NOT          HDX_LEAK_NOT_LEAKING
#define LABEL        HDX_LEAK_UNKNOWN

typedef struct cycle_check {
    hdx_id   mark;
    uint64_t steps, limit;
} cycle_check;
static bool chain_continues(cycle_check *c, hdx_id next)
{
    if (next == HDX_NO_ID || next == c->mark)
        return false;
    if (c->limit == 0 || ++c->steps == c->limit) {
        c->limit = c->limit == 0 ? 1 : 2 * c->limit;
        c->steps = 0;
        c->mark = next;
    }
    return true;
}

/* "pkg.Name@0x7f3a10" */
static const char *name_with_address(leak_heap *h, hdx_id id)
{
    if (id == HDX_NO_ID)
        return "null";
    const hdx_text n = hdx_leak_name_of(h, id);
    return hdx_leak_print(h, "%.*s@0x%llx", (int)n.len, n.at, (unsigned long long)hdx_graph_address(h->g, id));
}
static const char *class_text(leak_heap *h, hdx_id id)
{
    return id == HDX_NO_ID ? "null" : hdx_leak_cstr(h, hdx_leak_name_of(h, id));
}
static const char *enum_name(leak_heap *h, hdx_id id) { return hdx_leak_get_text(h, id, "java.lang.Enum", "name"); }

/*
 * Returns 0 if there is no such reference field, 1 if it is null, 2 if it is set, even to an object that is not
 * in the dump.
 */
static int reference_state(leak_heap *h, hdx_id id, const char *owner, const char *field)
{
    hdx_value v;
    return !hdx_leak_get(h, id, owner, field, &v) || v.type != 2 ? 0 : v.as.address == 0 ? 1 : 2;
}

/* ---- contexts (SHARK 2.6) ---- */

/* Returns the first of the four classes in the hierarchy, from the object's class upwards. */
static leak_class context_class(leak_heap *h, hdx_id id)
{
    static const leak_class four[] = { LC_CONTEXT_WRAPPER, LC_ACTIVITY, LC_APPLICATION, LC_SERVICE };
    uint32_t                c = hdx_leak_is_instance(h, id) ? hdx_graph_class_of(h->g, id) : HDX_NO_CLASS;
    if (c != HDX_NO_CLASS && (hdx_leak_bits(h, c) & (1ull << LC_CONTEXT_WRAPPER | 1ull << LC_ACTIVITY |
                                                     1ull << LC_APPLICATION | 1ull << LC_SERVICE)) == 0)
        return LC_CLASSES;
    for (; c < h->class_count; c = h->classes[c].super)
        for (unsigned k = 0; k < 4; k++)
            if (hdx_text_is(h->names[c], hdx_leak_class_names[four[k]]))
                return four[k];
    return LC_CLASSES;
}

hdx_id hdx_leak_component(leak_heap *h, hdx_id id)
{
    leak_class  what = context_class(h, id);
    cycle_check c = { id, 0, 0 };
    if (what != LC_CONTEXT_WRAPPER)
        return what == LC_CLASSES ? HDX_NO_ID : id;
    for (;;) {
        const hdx_id wrapper = id;
        id = hdx_leak_get_object(h, wrapper, "android.content.ContextWrapper", "mBase");
        if (id == HDX_NO_ID)
            return HDX_NO_ID;
        what = context_class(h, id);
        bool again = what == LC_CONTEXT_WRAPPER;
        if (what == LC_ACTIVITY)
            return id;
        if (hdx_leak_isa(h, wrapper, LC_DECOR_CONTEXT) &&
            reference_state(h, wrapper, hdx_leak_class_names[LC_DECOR_CONTEXT], "mPhoneWindow") != 0) {
            const hdx_id window =
                hdx_leak_get_object(h, wrapper, hdx_leak_class_names[LC_DECOR_CONTEXT], "mPhoneWindow");
            id = hdx_leak_get_object(h, window, "android.view.Window", "mContext");
            if (id == HDX_NO_ID || hdx_leak_isa(h, id, LC_ACTIVITY))
                return id;
            again = hdx_leak_isa(h, id, LC_CONTEXT_WRAPPER);
        }
        if (what == LC_APPLICATION || what == LC_SERVICE)
            return id;
        if (!again || !chain_continues(&c, id))
            return HDX_NO_ID;
    }
}

bool hdx_leak_context_destroyed(leak_heap *h, hdx_id id)
{
    const hdx_id component = id == HDX_NO_ID ? HDX_NO_ID : hdx_leak_component(h, id);
    return component != HDX_NO_ID && hdx_leak_isa(h, component, LC_ACTIVITY) &&
           hdx_leak_get_bool(h, component, "android.app.Activity", "mDestroyed", NULL);
}

static void context_fields(leak_inspector *i, hdx_id id, leak_look *l)
{
    leak_heap *h = i->h;
    hdx_values v = { 0 };
    hdx_error  err;
    /* copied by hdx_graph_fields, because the code below reads many other objects */
    hdx_code code = hdx_graph_fields(h->g, id, &v, &err);
    hdx_leak_fail(h, code, &err);
    for (uint64_t n = 0; code == HDX_OK && n < v.count; n++) {
        const hdx_id to = v.at[n].value.type == 2 && !v.at[n].value.absent
                              ? hdx_leak_object_at(h, v.at[n].value.as.address)
                              : HDX_NO_ID;
        if (to == HDX_NO_ID || !hdx_leak_isa(h, to, LC_CONTEXT))
            continue;
        const hdx_id component = hdx_leak_component(h, to);
        const char  *name = hdx_leak_cstr(h, hdx_leak_field_name(h, v.at[n].owner, v.at[n].name)), *state = "",
                   *wraps = "";
        if (component != HDX_NO_ID && component != to)
            wraps = hdx_leak_print(h, ", wrapping %s", class_text(h, component));
        if (component != HDX_NO_ID && hdx_leak_isa(h, component, LC_ACTIVITY))
            state = hdx_leak_get_bool(h, component, "android.app.Activity", "mDestroyed", NULL)
                        ? ", mDestroyed = true"
                        : ", mDestroyed = false";
        hdx_leak_look_add(i, l, LABEL, "context.field",
                          hdx_leak_print(h, "%s is a context: %s%s%s", name, class_text(h, to), wraps, state));
    }
    hdx_values_free(&v);
}

static void context_wrapper(leak_inspector *i, hdx_id id, leak_look *l)
{
    leak_heap   *h = i->h;
    const hdx_id c = hdx_leak_component(h, id);
    if (c == HDX_NO_ID)
        hdx_leak_look_add(i, l, LABEL, "context_wrapper.nothing", "wraps no activity, application or service");
    else if (hdx_leak_isa(h, c, LC_ACTIVITY) && hdx_leak_get_bool(h, c, "android.app.Activity", "mDestroyed", NULL))
        hdx_leak_look_add(i, l, LEAKS, "context_wrapper.activity_destroyed",
                          hdx_leak_print(h, "wraps the activity %s, and its mDestroyed is true", class_text(h, c)));
    else if (hdx_leak_isa(h, c, LC_ACTIVITY))
        hdx_leak_look_add(i, l, LABEL, "context_wrapper.activity",
                          hdx_leak_print(h, "wraps the activity %s, mDestroyed = false", class_text(h, c)));
    else if (hdx_leak_isa(h, c, LC_APPLICATION))
        hdx_leak_look_add(i, l, LABEL, "context_wrapper.application", "wraps the application");
    else
        hdx_leak_look_add(i, l, LABEL, "context_wrapper.service",
                          hdx_leak_print(h, "wraps the service %s", class_text(h, c)));
}

/* Handles mOuterContext of a ContextImpl. `of`: the object that gets the note. */
static void outer_context(leak_inspector *i, hdx_id of, hdx_id context, bool manager, leak_look *l)
{
    leak_heap   *h = i->h;
    const hdx_id outer = hdx_leak_get_object(h, context, "android.app.ContextImpl", "mOuterContext");
    const char  *text = hdx_leak_print(h, "mOuterContext is %s", class_text(h, outer));
    bool         there = false,
         destroyed = outer != HDX_NO_ID && hdx_leak_get_bool(h, outer, "android.app.Activity", "mDestroyed", &there);
    if (outer != HDX_NO_ID && hdx_leak_isa(h, outer, LC_ACTIVITY) && there && destroyed)
        hdx_leak_look_add(
            i, l, LEAKS, manager ? "context_manager.outer_activity_destroyed" : "context_impl.outer_activity_destroyed",
            hdx_leak_print(h, "%s, mDestroyed = true", text));
    else if (outer != HDX_NO_ID && hdx_leak_isa(h, outer, LC_ACTIVITY) && there)
        hdx_leak_look_add(i, l, NOT, manager ? "context_manager.outer_activity" : "context_impl.outer_activity",
                          hdx_leak_print(h, "%s, mDestroyed = false", text));
    else if (outer != HDX_NO_ID && hdx_leak_isa(h, outer, LC_APPLICATION))
        hdx_leak_look_add(i, l, NOT, manager ? "context_manager.outer_application" : "context_impl.outer_application",
                          text);
    else if (outer == of)
        hdx_leak_look_add(i, l, LABEL, manager ? "context_manager.outer_self" : "context_impl.outer_self",
                          "mOuterContext is the object itself");
    else
        hdx_leak_look_add(i, l, LABEL, manager ? "context_manager.outer_other" : "context_impl.outer_other", text);
}

/* ---- views ---- */

static void view_id(leak_inspector *i, hdx_id id, const char *via, leak_look *l)
{
    static const char *const names_class = "shark.AndroidResourceIdNames";
    leak_heap               *h = i->h;
    const hdx_class         *c = hdx_leak_class_raw(h, names_class);
    const hdx_id             holder = hdx_leak_static_object(h, c, "holderField");
    const int64_t            wanted = hdx_leak_get_int(h, id, VIEW, "mID", -1);
    hdx_values               ids = { 0 };
    hdx_error                err;
    const char              *name = NULL;
    if (holder == HDX_NO_ID || wanted == -1)
        return;
    const hdx_id numbers = hdx_leak_get_object(h, holder, names_class, "resourceIds"),
                 names = hdx_leak_get_object(h, holder, names_class, "names");
    if (numbers != HDX_NO_ID && hdx_graph_kind(h->g, numbers) == HDX_PRIMITIVE_ARRAY) {
        hdx_code code = hdx_graph_elements(h->g, numbers, 0, UINT64_MAX, &ids, &err);
        hdx_leak_fail(h, code, &err);
        for (uint64_t n = 0; code == HDX_OK && n < ids.count && name == NULL; n++)
            if (!ids.at[n].value.absent && ids.at[n].value.type == 10 && ids.at[n].value.as.integer == wanted) {
                uint64_t count;
                hdx_id  *texts = hdx_leak_elements(h, names, n + 1, &count);
                name = n < count ? hdx_leak_text(h, texts[n]) : NULL;
                hdx_mem_put(NULL, texts, count * sizeof *texts);
                break;
            }
        hdx_values_free(&ids);
    }
    hdx_leak_look_add(i, l, LABEL, "view.id", hdx_leak_print(h, "%smID = R.id.%s", via, name != NULL ? name : "null"));
}

static void view(leak_inspector *i, hdx_id id, const char *via, leak_look *l)
{
    leak_heap  *h = i->h;
    hdx_id      up = hdx_leak_get_object(h, id, VIEW, "mParent"), root = HDX_NO_ID;
    cycle_check c = { id, 0, 0 };
    while (up != HDX_NO_ID && hdx_leak_isa(h, up, LC_VIEW)) {
        root = up;
        up = hdx_leak_get_object(h, up, VIEW, "mParent");
        if (!chain_continues(&c, up))
            break;
    }
    if (up != HDX_NO_ID && hdx_leak_isa(h, up, LC_VIEW))
        up = HDX_NO_ID; /* parents that form a cycle have no root view */
    const char *const decor = "com.android.internal.policy.DecorView";
    const bool        window = up != HDX_NO_ID || (root != HDX_NO_ID && hdx_text_is(hdx_leak_name_of(h, root), decor));
    const bool        detached = reference_state(h, id, VIEW, "mAttachInfo") != 2;
    const int64_t     count = hdx_leak_get_int(h, id, VIEW, "mWindowAttachCount", 0);
    if (hdx_leak_context_destroyed(h, hdx_leak_get_object(h, id, VIEW, "mContext")))
        hdx_leak_look_add(i, l, LEAKS, "view.context_destroyed",
                          hdx_leak_print(h, "%sView.mContext belongs to a destroyed activity", via));
    else if (window && count > 0 && detached)
        hdx_leak_look_add(i, l, LEAKS, "view.detached_in_window",
                          hdx_leak_print(h, "%sthe view is detached and still in the hierarchy of a window", via));
    else if (window && count > 0 && root != HDX_NO_ID && reference_state(h, root, VIEW, "mAttachInfo") != 2)
        hdx_leak_look_add(
            i, l, LEAKS, "view.attach_disorder",
            hdx_leak_print(h, "%sthe view is attached, its root view %s is detached", via, class_text(h, root)));
    else if (window && count > 0)
        hdx_leak_look_add(i, l, NOT, "view.attached_in_window", hdx_leak_print(h, "%sthe view is attached", via));
    hdx_leak_look_add(i, l, LABEL, "view.in_window",
                      hdx_leak_print(h, "%s%s of the hierarchy of a window", via, window ? "part" : "not part"));
    hdx_leak_look_add(
        i, l, LABEL, "view.attached",
        hdx_leak_print(h, "%sView.mAttachInfo is %s", via, detached ? "null (detached)" : "set (attached)"));
    view_id(i, id, via, l);
    hdx_leak_look_add(i, l, LABEL, "view.window_attach_count",
                      hdx_leak_print(h, "%sView.mWindowAttachCount = %lld", via, (long long)count));
}

/* ---- services, fragments ---- */

static int by_id(const void *a, const void *b)
{
    const hdx_id *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Reads the values of ActivityThread.mServices, an ArrayMap: the odd slots of its array. */
static void read_services(leak_inspector *i)
{
    leak_heap *h = i->h;
    hdx_id     thread =
        hdx_leak_static_object(h, hdx_leak_class_raw(h, "android.app.ActivityThread"), "sCurrentActivityThread");
    hdx_id   map = hdx_leak_get_object(h, thread, "android.app.ActivityThread", "mServices");
    uint64_t count;
    hdx_id  *at =
        hdx_leak_elements(h, hdx_leak_get_object(h, map, "android.util.ArrayMap", "mArray"), UINT64_MAX, &count);
    i->services_known = true;
    for (uint64_t n = 1; n < count; n += 2)
        if (at[n] != HDX_NO_ID &&
            hdx_mem_room(NULL, (void **)&i->services, &i->service_capacity, i->service_count, sizeof *i->services))
            i->services[i->service_count++] = at[n];
    if (i->service_count > 1)
        qsort(i->services, (size_t)i->service_count, sizeof *i->services, by_id);
    hdx_mem_put(NULL, at, count * sizeof *at);
}

static void service(leak_inspector *i, hdx_id id, leak_look *l)
{
    if (!i->services_known)
        read_services(i);
    if (i->service_count > 0 && bsearch(&id, i->services, (size_t)i->service_count, sizeof id, by_id) != NULL)
        hdx_leak_look_add(i, l, NOT, "service.held", "ActivityThread.mServices contains it: the service is running");
    else
        hdx_leak_look_add(i, l, LEAKS, "service.not_held",
                          "ActivityThread.mServices does not contain it: the service has ended");
}

static const char *lifecycle_state(leak_heap *h, hdx_id registry)
{
    const char *owner = hdx_leak_class_names[LC_LIFECYCLE];
    hdx_id      state = hdx_leak_get_object(h, registry, owner, "state");
    return enum_name(h, state != HDX_NO_ID ? state : hdx_leak_get_object(h, registry, owner, "mState"));
}

static void fragment_tag(leak_inspector *i, hdx_id id, leak_class c, leak_look *l)
{
    const char *tag = hdx_leak_get_text(i->h, id, hdx_leak_class_names[c], "mTag");
    if (tag != NULL && *tag != '\0')
        hdx_leak_look_add(i, l, LABEL, "fragment.tag", hdx_leak_print(i->h, "mTag = %s", tag));
}

static void androidx_fragment(leak_inspector *i, hdx_id id, leak_look *l)
{
    leak_heap   *h = i->h;
    const hdx_id registry =
        hdx_leak_get_object(h, id, hdx_leak_class_names[LC_ANDROIDX_FRAGMENT], "mLifecycleRegistry");
    const char *state = registry != HDX_NO_ID ? lifecycle_state(h, registry) : NULL;
    if (registry == HDX_NO_ID)
        hdx_leak_look_add(i, l, LABEL, "fragment.no_lifecycle", "mLifecycleRegistry is null");
    else if (state != NULL && strcmp(state, "DESTROYED") == 0)
        hdx_leak_look_add(i, l, LEAKS, "fragment.lifecycle_destroyed", "the lifecycle of the fragment is DESTROYED");
    else if (state != NULL)
        hdx_leak_look_add(i, l, NOT, "fragment.lifecycle",
                          hdx_leak_print(h, "the lifecycle of the fragment is %s", state));
    fragment_tag(i, id, LC_ANDROIDX_FRAGMENT, l);
}

/* ---- messages, windows, receivers ---- */

static void message_queue(leak_inspector *i, hdx_id id, leak_look *l)
{
    static const char *const q = "android.os.MessageQueue";
    leak_heap               *h = i->h;
    bool                     there, quitting = hdx_leak_get_bool(h, id, q, "mQuitting", &there);
    if (!there)
        quitting = hdx_leak_get_bool(h, id, q, "mQuiting", &there);
    if (there)
        hdx_leak_look_add(i, l, quitting ? LEAKS : NOT, quitting ? "message_queue.quitting" : "message_queue.running",
                          quitting ? "the queue is quitting" : "the queue is running");
    hdx_id handler = hdx_leak_get_object(h, hdx_leak_get_object(h, id, q, "mMessages"), "android.os.Message", "target");
    hdx_id looper = hdx_leak_get_object(h, handler, "android.os.Handler", "mLooper");
    const char *name = hdx_leak_get_text(h, hdx_leak_get_object(h, looper, "android.os.Looper", "mThread"),
                                         "java.lang.Thread", "name");
    if (looper != HDX_NO_ID)
        hdx_leak_look_add(i, l, LABEL, "message_queue.thread",
                          hdx_leak_print(h, "thread of its handler: %s", name != NULL ? name : "null"));
}

static const char *simple(leak_heap *h, hdx_id id)
{
    const char *full = name_with_address(h, id), *at = strchr(full, '@'), *from = full;
    for (const char *p = full; p < at; p++)
        if (*p == '.')
            from = p + 1;
    return from;
}

static void loaded_apk(leak_inspector *i, hdx_id id, leak_look *l)
{
    leak_heap *h = i->h;
    uint64_t   count, inner;
    hdx_id     map = hdx_leak_get_object(h, id, "android.app.LoadedApk", "mReceivers");
    hdx_id    *at =
        hdx_leak_elements(h, hdx_leak_get_object(h, map, "android.util.ArrayMap", "mArray"), UINT64_MAX, &count);
    for (uint64_t n = 0; n + 1 < count; n += 2) {
        if (at[n] == HDX_NO_ID)
            continue;
        hdx_leak_look_add(i, l, LABEL, "loaded_apk.receivers", "receivers are registered");
        hdx_leak_look_add(i, l, LABEL, "loaded_apk.context", hdx_leak_print(h, "for the context %s", simple(h, at[n])));
        hdx_id *receivers = hdx_leak_elements(h, hdx_leak_get_object(h, at[n + 1], "android.util.ArrayMap", "mArray"),
                                              UINT64_MAX, &inner);
        for (uint64_t r = 0; r < inner; r += 2)
            if (receivers[r] != HDX_NO_ID)
                hdx_leak_look_add(i, l, LABEL, "loaded_apk.receiver",
                                  hdx_leak_print(h, "  receiver %s", simple(h, receivers[r])));
        hdx_mem_put(NULL, receivers, inner * sizeof *receivers);
    }
    hdx_mem_put(NULL, at, count * sizeof *at);
}

static void view_root(leak_inspector *i, hdx_id id, leak_look *l)
{
    static const char *const r = "android.view.ViewRootImpl";
    leak_heap               *h = i->h;
    const int                at = reference_state(h, id, r, "mView");
    if (at == 1)
        hdx_leak_look_add(i, l, LEAKS, "view_root.view_null", "ViewRootImpl.mView is null");
    if (at == 2) {
        if (hdx_leak_context_destroyed(h, hdx_leak_get_object(h, id, r, "mContext")))
            hdx_leak_look_add(i, l, LEAKS, "view_root.context_destroyed",
                              "ViewRootImpl.mContext belongs to a destroyed activity");
        hdx_leak_look_add(i, l, LABEL, "view_root.view_set", "ViewRootImpl.mView is set");
    }
    const hdx_id window = hdx_leak_get_object(h, id, r, "mWindowAttributes");
    const char  *title = hdx_leak_get_text(h, window, "android.view.WindowManager$LayoutParams", "mTitle");
    hdx_leak_look_add(i, l, LABEL, "view_root.title",
                      hdx_leak_print(h, "mWindowAttributes.mTitle = %s", title != NULL ? title : "null"));
    const long long type = (long long)hdx_leak_get_int(h, window, "android.view.WindowManager$LayoutParams", "type", 0);
    hdx_leak_look_add(i, l, LABEL, "view_root.type",
                      hdx_leak_print(h, "mWindowAttributes.type = %lld%s", type, type == 2005 ? " (a toast)" : ""));
}

static void message(leak_inspector *i, hdx_id id, leak_look *l)
{
    static const char *const m = "android.os.Message";
    leak_heap               *h = i->h;
    const int64_t            when = hdx_leak_get_int(h, id, m, "when", 0);
    hdx_leak_look_add(i, l, LABEL, "message.what",
                      hdx_leak_print(h, "Message.what = %lld", (long long)hdx_leak_get_int(h, id, m, "what", 0)));
    if (i->has_uptime) {
        const int64_t apart = (int64_t)((uint64_t)when - (uint64_t)i->uptime);
        hdx_leak_look_add(i, l, LABEL, "message.when",
                          hdx_leak_print(h, "Message.when = %lld (%s the dump by %llu ms)", (long long)when,
                                         apart > 0 ? "after" : "before",
                                         (unsigned long long)(apart > 0 ? (uint64_t)apart : 0 - (uint64_t)apart)));
    } else
        hdx_leak_look_add(i, l, LABEL, "message.when", hdx_leak_print(h, "Message.when = %lld", (long long)when));
    hdx_leak_look_add(
        i, l, LABEL, "message.obj",
        hdx_leak_print(h, "Message.obj = %s", name_with_address(h, hdx_leak_get_object(h, id, m, "obj"))));
    hdx_leak_look_add(
        i, l, LABEL, "message.callback",
        hdx_leak_print(h, "Message.callback = %s", name_with_address(h, hdx_leak_get_object(h, id, m, "callback"))));
    hdx_leak_look_add(
        i, l, LABEL, "message.target",
        hdx_leak_print(h, "Message.target = %s", name_with_address(h, hdx_leak_get_object(h, id, m, "target"))));
}

static void toast(leak_inspector *i, hdx_id id, leak_look *l)
{
    static const char *const inner = "android.widget.Toast$TN";
    leak_heap               *h = i->h;
    const hdx_id             tn = hdx_leak_get_object(h, id, "android.widget.Toast", "mTN");
    if (reference_state(h, tn, inner, "mWM") != 2)
        return; /* never shown */
    const int at = reference_state(h, tn, inner, "mView");
    if (at == 1)
        hdx_leak_look_add(i, l, LEAKS, "toast.done", "the toast was shown and is gone: mTN.mView is null");
    if (at == 2)
        hdx_leak_look_add(i, l, NOT, "toast.showing", "the toast is on the screen: mTN.mView is set");
}

/* ---- libraries ---- */

static bool one_of(const char *word, const char *a, const char *b)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

static void recomposer(leak_inspector *i, hdx_id id, leak_look *l)
{
    leak_heap   *h = i->h;
    const hdx_id flow = hdx_leak_get_object(h, id, hdx_leak_class_names[LC_RECOMPOSER], "_state");
    const char  *state = enum_name(h, hdx_leak_get_object(h, flow, "kotlinx.coroutines.flow.StateFlowImpl", "_state"));
    if (state == NULL)
        return;
    const char *text = hdx_leak_print(h, "the recomposer is %s", state);
    if (one_of(state, "ShutDown", "ShuttingDown"))
        hdx_leak_look_add(i, l, LEAKS, "recomposer.state", text);
    else if (one_of(state, "Inactive", "InactivePendingWork"))
        hdx_leak_look_add(i, l, LABEL, "recomposer.state", text);
    else if (one_of(state, "PendingWork", "Idle"))
        hdx_leak_look_add(i, l, NOT, "recomposer.state", text);
}

static void mortar_scope(leak_inspector *i, hdx_id id, leak_look *l)
{
    leak_heap  *h = i->h;
    const char *name = hdx_leak_get_text(h, id, "mortar.MortarScope", "name");
    bool        there, dead = hdx_leak_get_bool(h, id, "mortar.MortarScope", "dead", &there);
    if (there)
        hdx_leak_look_add(
            i, l, dead ? LEAKS : NOT, dead ? "mortar_scope.dead" : "mortar_scope.alive",
            hdx_leak_print(h, "dead is %s, scope %s", dead ? "true" : "false", name != NULL ? name : "null"));
}

static void animator(leak_inspector *i, hdx_id id, leak_look *l)
{
    leak_heap   *h = i->h;
    const hdx_id list = hdx_leak_get_object(h, id, "android.animation.Animator", "mListeners");
    if (list == HDX_NO_ID) {
        hdx_leak_look_add(i, l, LABEL, "animator.no_listeners", "mListeners is null");
        return;
    }
    const int64_t size = hdx_leak_get_int(h, list, "java.util.ArrayList", "size", 0);
    hdx_id        data = hdx_leak_get_object(h, list, "java.util.ArrayList", "elementData");
    uint64_t      count;
    bool          any = false;
    if (data == HDX_NO_ID)
        data = hdx_leak_get_object(h, list, "java.util.ArrayList", "array");
    hdx_id *at = hdx_leak_elements(h, data, size < 0 ? 0 : (uint64_t)size, &count);
    for (uint64_t n = 0; n < count; n++)
        if (at[n] != HDX_NO_ID) {
            any = true;
            hdx_leak_look_add(
                i, l, LABEL, "animator.listener",
                hdx_leak_print(h, "mListeners[%llu] = %s", (unsigned long long)n, name_with_address(h, at[n])));
        }
    if (!any)
        hdx_leak_look_add(i, l, LABEL, "animator.listeners_empty", "mListeners is empty");
    hdx_mem_put(NULL, at, count * sizeof *at);
}

static void object_animator(leak_inspector *i, hdx_id id, leak_look *l)
{
    static const char *const o = "android.animation.ObjectAnimator", *const v = "android.animation.ValueAnimator",
                             *const p = "android.util.Property";
    static const char *const        flags[] = { "mInitialized", "mStarted", "mRunning", "mAnimationEndRequested" },
                             *const times[] = { "mDuration", "mStartDelay" };
    leak_heap                      *h = i->h;
    const char  *code = "object_animator.field", *name = hdx_leak_get_text(h, id, o, "mPropertyName");
    const hdx_id property = hdx_leak_get_object(h, id, o, "mProperty");
    hdx_leak_look_add(i, l, LABEL, code, hdx_leak_print(h, "mPropertyName = %s", name != NULL ? name : "null"));
    if (property == HDX_NO_ID) {
        hdx_leak_look_add(i, l, LABEL, code, "mProperty = null");
    } else {
        const hdx_id type = hdx_leak_get_object(h, property, p, "mType");
        name = hdx_leak_get_text(h, property, p, "mName");
        hdx_leak_look_add(i, l, LABEL, code, hdx_leak_print(h, "mProperty.mName = %s", name != NULL ? name : "null"));
        hdx_leak_look_add(i, l, LABEL, code,
                          hdx_leak_print(h, "mProperty.mType = %s",
                                         type != HDX_NO_ID && hdx_leak_what_of(h, type) == HDX_LEAK_IS_CLASS
                                             ? class_text(h, type)
                                             : "null"));
    }
    for (unsigned n = 0; n < 4; n++)
        hdx_leak_look_add(
            i, l, LABEL, code,
            hdx_leak_print(h, "%s = %s", flags[n], hdx_leak_get_bool(h, id, v, flags[n], NULL) ? "true" : "false"));
    for (unsigned n = 0; n < 2; n++)
        hdx_leak_look_add(i, l, LABEL, code,
                          hdx_leak_print(h, "%s = %lld", times[n], (long long)hdx_leak_get_int(h, id, v, times[n], 0)));
    const int64_t times_more = hdx_leak_get_int(h, id, v, "mRepeatCount", 0),
                  mode = hdx_leak_get_int(h, id, v, "mRepeatMode", 0);
    hdx_leak_look_add(
        i, l, LABEL, code,
        hdx_leak_print(h, "mRepeatCount = %lld%s", (long long)times_more, times_more == -1 ? " (for ever)" : ""));
    hdx_leak_look_add(i, l, LABEL, code,
                      hdx_leak_print(h, "mRepeatMode = %lld%s", (long long)mode,
                                     mode == 1   ? " (from the start)"
                                     : mode == 2 ? " (back and forth)"
                                                 : ""));
}

static void lifecycle(leak_inspector *i, hdx_id id, leak_look *l)
{
    const char *state = lifecycle_state(i->h, id);
    if (state != NULL)
        hdx_leak_look_add(i, l, strcmp(state, "DESTROYED") == 0 ? LABEL : NOT, "lifecycle.state",
                          hdx_leak_print(i->h, "state is %s", state));
}

/* ---- all inspectors, in Shark's order ---- */

static void look_platform(leak_inspector *i, hdx_id id, uint64_t bits, leak_look *l)
{
    leak_heap *h = i->h;
    if (HAS(bits, LC_VIEW))
        view(i, id, "", l);
    if (HAS(bits, LC_EDITOR)) {
        const hdx_id text = hdx_leak_get_object(h, id, "android.widget.Editor", "mTextView");
        if (text != HDX_NO_ID && hdx_leak_isa(h, text, LC_VIEW))
            view(i, text, "Editor.mTextView: ", l);
    }
    if (HAS(bits, LC_ACTIVITY))
        hdx_leak_look_states(i, id, LC_ACTIVITY, l);
    if (HAS(bits, LC_SERVICE))
        service(i, id, l);
    context_fields(i, id, l);
    if (HAS(bits, LC_CONTEXT_WRAPPER) && context_class(h, id) == LC_CONTEXT_WRAPPER)
        context_wrapper(i, id, l);
    if (HAS(bits, LC_CONTEXT_MANAGER))
        outer_context(i, id, hdx_leak_get_object(h, id, hdx_leak_class_names[LC_CONTEXT_MANAGER], "mContext"), true, l);
    if (HAS(bits, LC_CONTEXT_IMPL))
        outer_context(i, id, id, false, l);
}

void hdx_leak_look_android(leak_inspector *i, hdx_id id, uint64_t bits, leak_look *l)
{
    static const leak_class first[] = { LC_DIALOG,   LC_ACTIVITY_THREAD, LC_APPLICATION, LC_INPUT_METHOD_MANAGER,
                                        LC_FRAGMENT, LC_SUPPORT_FRAGMENT };
    leak_heap              *h = i->h;
    look_platform(i, id, bits, l);
    for (size_t n = 0; n < sizeof first / sizeof *first; n++)
        if (HAS(bits, first[n])) {
            hdx_leak_look_states(i, id, first[n], l);
            if (first[n] == LC_FRAGMENT || first[n] == LC_SUPPORT_FRAGMENT)
                fragment_tag(i, id, first[n], l);
        }
    if (HAS(bits, LC_ANDROIDX_FRAGMENT))
        androidx_fragment(i, id, l);
    if (HAS(bits, LC_MESSAGE_QUEUE))
        message_queue(i, id, l);
    if (HAS(bits, LC_LOADED_APK))
        loaded_apk(i, id, l);
    if (HAS(bits, LC_PRESENTER))
        hdx_leak_look_states(i, id, LC_PRESENTER, l);
    if (HAS(bits, LC_MORTAR_SCOPE))
        mortar_scope(i, id, l);
    if (HAS(bits, LC_COORDINATOR))
        hdx_leak_look_states(i, id, LC_COORDINATOR, l);
    if (HAS(bits, LC_THREAD)) {
        const char *name = hdx_leak_get_text(h, id, "java.lang.Thread", "name");
        if (name != NULL && strcmp(name, "main") == 0)
            hdx_leak_look_add(i, l, NOT, "thread.main", "the main thread runs as long as its process");
    }
    if (HAS(bits, LC_VIEW_ROOT))
        view_root(i, id, l);
    if (HAS(bits, LC_WINDOW))
        hdx_leak_look_states(i, id, LC_WINDOW, l);
    if (HAS(bits, LC_MESSAGE))
        message(i, id, l);
    if (HAS(bits, LC_TOAST))
        toast(i, id, l);
    if (HAS(bits, LC_RECOMPOSER))
        recomposer(i, id, l);
    if (HAS(bits, LC_COMPOSITION))
        hdx_leak_look_states(i, id, LC_COMPOSITION, l);
    if (HAS(bits, LC_ANIMATOR))
        animator(i, id, l);
    if (HAS(bits, LC_OBJECT_ANIMATOR))
        object_animator(i, id, l);
    if (HAS(bits, LC_LIFECYCLE))
        lifecycle(i, id, l);
}
