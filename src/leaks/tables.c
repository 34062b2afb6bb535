/*
 * tables.c - what is known of Android and of Java collections: references that are not followed or mark a leak of the platform, states that
 * one field tells, fields behind virtual references. Rows only; who reads them is said in leaks.h. Names are those after a mapping.
 */
#include "leaks/leaks.h"

#define FIELD HDX_LEAK_INSTANCE_FIELD
#define STATIC HDX_LEAK_STATIC_FIELD
#define GLOBAL HDX_LEAK_NATIVE_GLOBAL
#define LOCAL HDX_LEAK_JAVA_LOCAL
#define LIBRARY(kind, from, to, class, member, maker, build, note) { kind, false, false, from, to, class, member, maker, build, note }
#define IGNORED(kind, everywhere, class, member, note) { kind, true, everywhere, 0, 0, class, member, "", "", note }

/*
 * References of Android and of makers of devices that are known to leak, and those that are not followed at all (SHARK 3.7 to 3.9).
 * Two of them can never match, as in Shark: ConnectivityManager#sInstance is a static field, and
 * ConnectivityManager$CallbackHandler has a package in truth. They stand here so that the list is the one people know.
 */
static const hdx_leak_matcher matchers[] = {
    LIBRARY(FIELD, 29, 0, "android.permission.PermissionControllerManager", "mContext", "", "", "Manager keeps the context it was first made with"),
    LIBRARY(FIELD, 29, 29, "android.app.Activity$1", "this$0", "", "", "Finish callback stub is an inner class; the other process holds it on"),
    LIBRARY(FIELD, 19, 0, "android.app.ActivityThread", "mNewActivities", "", "",
            "List of new activities is emptied only when the main thread is idle"),
    LIBRARY(FIELD, 0, 19, "android.widget.Editor$SpanController", "this$0", "", "", "Span kept in saved text holds the editor and its view"),
    LIBRARY(FIELD, 0, 19, "android.widget.Editor$EasyEditSpanController", "this$0", "", "", "As SpanController"),
    LIBRARY(STATIC, 21, 21, "android.media.session.MediaSessionLegacyHelper", "sInstance", "", "", "Singleton keeps the first context it gets"),
    LIBRARY(STATIC, 0, 22, "android.text.TextLine", "sCached", "", "", "Pool of three text lines is not cleared on recycle"),
    LIBRARY(FIELD, 0, 30, "android.os.Message", "obj", "", "", "An idle handler thread keeps its last message; dialogs reuse messages as templates"),
    LIBRARY(FIELD, 15, 33, "android.view.inputmethod.InputMethodManager", "mNextServedView", "", "", "Next view to be served stays after detach"),
    LIBRARY(FIELD, 15, 28, "android.view.inputmethod.InputMethodManager", "mServedView", "", "", "Served view stays after detach"),
    LIBRARY(FIELD, 15, 27, "android.view.inputmethod.InputMethodManager", "mServedInputConnection", "", "",
            "Input connection of the last view stays"),
    LIBRARY(FIELD, 23, 28, "android.view.inputmethod.InputMethodManager", "mLastSrvView", "HUAWEI", "", "Vendor field: last served view"),
    LIBRARY(FIELD, 15, 28, "android.view.inputmethod.InputMethodManager", "mCurRootView", "", "", "Root view stays after the activity is gone"),
    LIBRARY(FIELD, 30, 0, "android.view.inputmethod.InputMethodManager", "mImeInsetsConsumer", "", "", "Insets consumer is not cleared"),
    LIBRARY(FIELD, 33, 33, "android.hardware.input.InputManager", "mLateInitContext", "", "", "Singleton keeps the context of its late start"),
    LIBRARY(FIELD, 14, 22, "android.animation.LayoutTransition$1", "val$parent", "", "",
            "Pre-draw listener keeps the parent group until the window goes"),
    LIBRARY(FIELD, 16, 24, "android.view.textservice.SpellCheckerSession$1", "this$0", "", "", "Handler of a session closed before it was bound"),
    LIBRARY(FIELD, 22, 22, "android.widget.SpellChecker$1", "this$0", "", "", "Posted runnable keeps a detached text view"),
    LIBRARY(FIELD, 15, 22, "android.support.v7.internal.widget.ActivityChooserModel", "mActivityChoserModelPolicy", "", "",
            "Static model keeps the policy, often the activity"),
    LIBRARY(FIELD, 0, 0, "android.widget.ActivityChooserModel", "mActivityChoserModelPolicy", "", "",
            "Static model keeps the policy, often the activity"),
    LIBRARY(FIELD, 22, 28, "android.media.projection.MediaProjection$MediaProjectionCallback", "this$0", "", "",
            "Callback stub held by another process"),
    LIBRARY(FIELD, 0, 20, "android.speech.SpeechRecognizer$InternalListener", "this$0", "", "", "Listener stub is an inner class"),
    LIBRARY(GLOBAL, 5, 0, "android.accounts.AccountManager$AmsTask$Response", "", "", "", "Response stub lives until the caller collects it"),
    LIBRARY(FIELD, 0, 22, "android.media.MediaScannerConnection", "mContext", "", "", "Scan connection keeps the activity it was called with"),
    LIBRARY(FIELD, 18, 25, "android.os.UserManager", "mContext", "", "", "Singleton made with an activity context"),
    LIBRARY(FIELD, 0, 21, "android.appwidget.AppWidgetHost$Callbacks", "this$0", "", "", "Callback stub keeps the host"),
    LIBRARY(FIELD, 0, 22, "android.media.AudioManager$1", "this$0", "", "", "Audio focus never given back by video views"),
    LIBRARY(FIELD, 0, 23, "android.widget.Editor$Blink", "this$0", "", "", "Cursor blink message outlives the dialog"),
    LIBRARY(FIELD, 0, 23, "android.net.ConnectivityManager", "sInstance", "", "",
            "Matcher is of instance kind although the field is static, so it does not fire on class objects"),
    LIBRARY(FIELD, 26, 27, "android.view.accessibility.AccessibilityNodeInfo", "mOriginalText", "", "", "Pooled node info keeps the original text"),
    LIBRARY(FIELD, 24, 0, "android.app.assist.AssistStructure$ViewNodeText", "mText", "", "", "Assist data keeps text with spans of views"),
    LIBRARY(FIELD, 27, 27, "android.widget.AccessibilityIterators$LineTextSegmentIterator", "mLayout", "", "", "Line iterator keeps a text layout"),
    LIBRARY(FIELD, 28, 28, "android.hardware.biometrics.BiometricPrompt", "mFingerprintManager", "", "",
            "Prompt keeps the fingerprint manager and its context"),
    LIBRARY(FIELD, 28, 28, "android.widget.Magnifier$InternalPopupWindow", "mCallback", "", "", "Frame callback held by the renderer"),
    LIBRARY(FIELD, 24, 26, "com.android.internal.policy.BackdropFrameRenderer", "mDecorView", "", "",
            "Renderer thread that does not end keeps the decor view"),
    LIBRARY(FIELD, 28, 28, "android.view.ViewGroup$ViewLocationHolder", "mRoot", "", "", "Pooled holder keeps its root view"),
    LIBRARY(FIELD, 28, 29, "android.view.accessibility.AccessibilityNodeIdManager", "mIdsToViews", "", "",
            "Map of ids keeps views that were detached before attached"),
    LIBRARY(FIELD, 24, 24, "android.speech.tts.TextToSpeech", "mContext", "", "", "Shutdown leaves the context in place"),
    LIBRARY(FIELD, 24, 24, "android.speech.tts.TtsEngines", "mContext", "", "", "As TextToSpeech"),
    LIBRARY(GLOBAL, 0, 0, "android.view.inputmethod.InputMethodManager$ControlledInputConnectionWrapper", "", "", "",
            "Input connection stub held by native code"),
    LIBRARY(GLOBAL, 0, 0, "android.widget.Toast$TN", "", "", "", "Toast callback stub held by native code"),
    LIBRARY(FIELD, 29, 29, "android.app.ApplicationPackageManager$HasSystemFeatureQuery", "this$0", "", "",
            "Query object was an inner class in a preview"),
    LIBRARY(FIELD, 31, 31, "android.companion.CompanionDeviceService$Stub", "this$0", "", "", "Stub keeps the destroyed service"),
    LIBRARY(GLOBAL, 31, 32, "android.graphics.animation.RenderNodeAnimator", "", "", "", "Native animation is not ended for detached views"),
    LIBRARY(GLOBAL, 24, 27, "android.media.PlayerBase$1", "", "", "", "App-ops callback is an inner class"),
    LIBRARY(FIELD, 32, 32, "android.window.WindowOnBackInvokedDispatcher$OnBackInvokedCallbackWrapper", "mCallback", "", "TPP2.220218.008",
            "Callback stub of one preview build"),
    LIBRARY(FIELD, 33, 33, "ConnectivityManager$CallbackHandler", "this$0", "", "",
            "Class name without package in the rule: does not fire on real dumps"),
    LIBRARY(FIELD, 29, 33, "android.nfc.cardemulation.HostApduService$MsgHandler", "this$0", "", "", "Handler outlives the service"),
    LIBRARY(GLOBAL, 31, 32, "android.app.AppOpsManager$3", "", "", "", "App-ops stub held by native code"),
    LIBRARY(FIELD, 30, 30, "android.view.ViewGroup", "mPreSortedChildren", "", "", "Temporary child list is not cleared"),
    LIBRARY(FIELD, 29, 30, "android.view.ViewGroup", "mCurrentDragChild", "", "", "Dragged child stays after detach"),
    LIBRARY(FIELD, 26, 34, "android.view.View$$ExternalSyntheticLambda3", "f$0", "", "",
            "Tooltip lambda posted with a delay; lambda number differs by release"),
    LIBRARY(FIELD, 28, 29, "android.app.ActivityTransitionState", "mExitingToView", "", "", "Shared element of a transition stays"),
    LIBRARY(FIELD, 33, 33, "android.animation.AnimationHandler", "mAnimatorRequestors", "", "", "Requestor of a destroyed window stays"),
    LIBRARY(STATIC, 0, 0, "com.facebook.flipper.plugins.inspector.descriptors.ApplicationDescriptor", "editedDelegates", "", "",
            "Debug tool keeps root views"),
    LIBRARY(GLOBAL, 34, 34, "android.app.UiModeManager$1", "", "", "", "Callback stub keeps the manager and its context"),
    LIBRARY(STATIC, 19, 19, "com.samsung.android.smartclip.SpenGestureManager", "mContext", "samsung", "", "Static context field of the vendor"),
    LIBRARY(FIELD, 19, 21, "android.sec.clipboard.ClipboardUIManager", "mContext", "samsung", "", "Singleton keeps an activity context"),
    LIBRARY(GLOBAL, 19, 28, "com.samsung.android.content.clipboard.SemClipboardManager$1", "", "samsung", "", "Inner class held by native code"),
    LIBRARY(GLOBAL, 19, 28, "com.samsung.android.content.clipboard.SemClipboardManager$3", "", "samsung", "", "Inner class held by native code"),
    LIBRARY(FIELD, 23, 23, "android.sec.clipboard.ClipboardExManager", "mContext", "samsung", "", "Native callback chain ends in the manager"),
    LIBRARY(FIELD, 23, 23, "android.sec.clipboard.ClipboardExManager", "mPersonaManager", "samsung", "",
            "Native callback chain ends in the persona manager"),
    LIBRARY(FIELD, 22, 22, "android.widget.TextView$IClipboardDataPasteEventImpl", "this$0", "samsung", "",
            "Paste callback keeps a detached text view"),
    LIBRARY(FIELD, 19, 24, "com.samsung.android.emergencymode.SemEmergencyManager", "mContext", "samsung", "", "Singleton keeps a decor context"),
    LIBRARY(FIELD, 24, 24, "com.samsung.android.knox.SemPersonaManager", "mContext", "samsung", "", "Keeps a context"),
    LIBRARY(FIELD, 28, 29, "android.app.SemAppIconSolution", "mContext", "samsung", "", "Keeps a context"),
    LIBRARY(STATIC, 19, 19, "com.android.org.chromium.android_webview.AwResource", "sResources", "samsung", "", "Keeps resources"),
    LIBRARY(STATIC, 19, 31, "android.widget.TextView", "mLastHoveredView", "samsung", "", "Static field: last hovered view"),
    LIBRARY(FIELD, 19, 19, "android.os.PersonaManager", "mContext", "samsung", "", "Resources lead to a manager with an activity context"),
    LIBRARY(FIELD, 19, 19, "android.content.res.Resources", "mContext", "samsung", "", "Vendor context field in resources"),
    LIBRARY(FIELD, 19, 19, "android.view.ViewConfiguration", "mContext", "samsung", "", "Vendor context field in view configurations"),
    LIBRARY(STATIC, 19, 19, "android.media.AudioManager", "mContext_static", "samsung", "", "Static context field of the vendor"),
    LIBRARY(STATIC, 22, 23, "android.app.ActivityManager", "mContext", "samsung", "", "Static context field of the vendor"),
    LIBRARY(STATIC, 27, 27, "android.widget.TextView", "mTargetView", "samsung", "", "Static view field of the vendor"),
    LIBRARY(FIELD, 26, 29, "com.android.internal.policy.MultiWindowDecorSupport", "mWindow", "samsung", "", "Decor helper keeps a window"),
    LIBRARY(FIELD, 28, 30, "android.view.inputmethod.InputMethodManager", "mCurrentInputConnection", "samsung", "",
            "Editable connection stays after the activity"),
    LIBRARY(STATIC, 24, 25, "android.gestureboost.GestureBoostManager", "mContext", "HUAWEI", "", "Singleton keeps an activity context"),
    LIBRARY(STATIC, 19, 22, "android.widget.BubblePopupHelper", "sHelper", "LGE", "", "Static helper keeps the last focused view"),
    LIBRARY(FIELD, 21, 21, "com.lge.systemservice.core.LGContext", "mContext", "LGE", "", "Singleton keeps an activity context"),
    LIBRARY(FIELD, 27, 27, "com.lge.systemservice.core.SmartCoverManager", "mContext", "LGE", "",
            "Native callback keeps the manager and its context"),
    LIBRARY(FIELD, 29, 29, "android.view.inputmethod.InputMethodManager", "mLastFocusView", "LGE", "", "Last focused view stays after detach"),
    LIBRARY(FIELD, 19, 19, "com.nvidia.ControllerMapper.MapperClient$ServiceClient", "this$0", "NVIDIA", "",
            "Anonymous handler keeps the client and its context"),
    LIBRARY(STATIC, 19, 19, "android.hardware.SystemSensorManager", "mAppContextImpl", "LENOVO", "", "Static context of the sensor manager"),
    LIBRARY(STATIC, 22, 22, "android.hardware.SystemSensorManager", "mAppContextImpl", "vivo", "", "Static context of the sensor manager"),
    LIBRARY(STATIC, 21, 22, "android.app.Instrumentation", "mRecommendActivity", "Meizu", "", "Static activity field of the vendor"),
    LIBRARY(FIELD, 19, 22, "android.app.admin.DevicePolicyManager$SettingsObserver", "this$0", "motorola", "",
            "Content observer is an inner class held by a binder"),
    LIBRARY(FIELD, 30, 0, "android.app.ExtendedStatusBarManager", "mContext", "SHARP", "", "Context field leads to a decor context"),
    LIBRARY(STATIC, 28, 28, "com.oneplus.util.OemSceneCallBlocker", "sContext", "OnePlus", "", "Static context field of the vendor"),
    LIBRARY(STATIC, 30, 30, "android.os.PerfMonitor", "mLastCallback", "OnePlus", "", "Static callback keeps a view click"),
    LIBRARY(FIELD, 28, 28, "android.text.method.TextKeyListener", "mContext", "Razer", "", "Vendor context field in a static listener"),
    LIBRARY(STATIC, 30, 0, "android.content.res.ResourcesImpl", "mAppContext", "LENOVO|Xiaomi|HMD Global|INFINIX|TES|realme", "",
            "Static context field in forks of the system"),
    IGNORED(FIELD, true, "java.lang.ref.WeakReference", "referent", "Weak reference"),
    IGNORED(FIELD, true, "leakcanary.KeyedWeakReference", "referent", "Weak reference of LeakCanary 2"),
    IGNORED(FIELD, true, "java.lang.ref.SoftReference", "referent", "Soft reference"),
    IGNORED(FIELD, true, "java.lang.ref.PhantomReference", "referent", "Phantom reference"),
    IGNORED(FIELD, true, "java.lang.ref.Finalizer", "prev", "List of finalizers (JVM)"),
    IGNORED(FIELD, true, "java.lang.ref.Finalizer", "element", "List of finalizers"),
    IGNORED(FIELD, true, "java.lang.ref.Finalizer", "next", "List of finalizers (JVM)"),
    IGNORED(FIELD, true, "java.lang.ref.FinalizerReference", "prev", "List of finalizers (Android)"),
    IGNORED(FIELD, true, "java.lang.ref.FinalizerReference", "element", "List of finalizers"),
    IGNORED(FIELD, true, "java.lang.ref.FinalizerReference", "next", "List of finalizers (Android)"),
    IGNORED(FIELD, true, "sun.misc.Cleaner", "prev", "List of cleaners"),
    IGNORED(FIELD, true, "sun.misc.Cleaner", "next", "List of cleaners"),
    IGNORED(LOCAL, true, "", "FinalizerWatchdogDaemon", "Objects about to be finalized"),
    IGNORED(LOCAL, true, "", "main", "Locals of the main thread change all the time"),
    IGNORED(LOCAL, true, "", "LeakCanary-Heap-Dump", "Thread of the dump itself"),
    IGNORED(FIELD, false, "leakcanary.internal.InternalLeakCanary", "resumedActivity", "Activity kept on purpose by the library"),
    IGNORED(FIELD, false, "leakcanary.internal.InternalLeakCanary", "application", "Application kept by the library"),
    IGNORED(FIELD, true, "android.view.Choreographer$FrameDisplayEventReceiver", "mMessageQueue",
            "Kept for the native peer; the looper holds the queue anyway"),
};

const hdx_leak_matcher *hdx_leak_matchers(size_t *count)
{
    *count = sizeof matchers / sizeof *matchers;
    return matchers;
}

const char *const leak_class_names[LC_CLASSES] = {
    [LC_CLASS_LOADER] = "java.lang.ClassLoader", [LC_THREAD] = "java.lang.Thread", [LC_VIEW] = "android.view.View",
    [LC_EDITOR] = "android.widget.Editor", [LC_CONTEXT] = "android.content.Context", [LC_CONTEXT_WRAPPER] = "android.content.ContextWrapper",
    [LC_ACTIVITY] = "android.app.Activity", [LC_APPLICATION] = "android.app.Application", [LC_SERVICE] = "android.app.Service",
    [LC_DECOR_CONTEXT] = "com.android.internal.policy.DecorContext", [LC_CONTEXT_MANAGER] = "android.app.ApplicationContextManager",
    [LC_CONTEXT_IMPL] = "android.app.ContextImpl", [LC_DIALOG] = "android.app.Dialog", [LC_ACTIVITY_THREAD] = "android.app.ActivityThread",
    [LC_INPUT_METHOD_MANAGER] = "android.view.inputmethod.InputMethodManager", [LC_FRAGMENT] = "android.app.Fragment",
    [LC_SUPPORT_FRAGMENT] = "android.support.v4.app.Fragment", [LC_ANDROIDX_FRAGMENT] = "androidx.fragment.app.Fragment",
    [LC_MESSAGE_QUEUE] = "android.os.MessageQueue", [LC_LOADED_APK] = "android.app.LoadedApk", [LC_PRESENTER] = "mortar.Presenter",
    [LC_MORTAR_SCOPE] = "mortar.MortarScope", [LC_COORDINATOR] = "com.squareup.coordinators.Coordinator", [LC_VIEW_ROOT] = "android.view.ViewRootImpl",
    [LC_WINDOW] = "android.view.Window", [LC_MESSAGE] = "android.os.Message", [LC_TOAST] = "android.widget.Toast",
    [LC_RECOMPOSER] = "androidx.compose.runtime.Recomposer", [LC_COMPOSITION] = "androidx.compose.runtime.CompositionImpl",
    [LC_ANIMATOR] = "android.animation.Animator", [LC_OBJECT_ANIMATOR] = "android.animation.ObjectAnimator",
    [LC_LIFECYCLE] = "androidx.lifecycle.LifecycleRegistry", [LC_STRING] = "java.lang.String",
    [LC_CLEANER_THUNK] = "libcore.util.NativeAllocationRegistry$CleanerThunk", [LC_ALLOCATION_REGISTRY] = "libcore.util.NativeAllocationRegistry",
};

#define NOT HDX_LEAK_NOT_LEAKING
#define LEAKS HDX_LEAK_LEAKING
#define LABEL HDX_LEAK_UNKNOWN
const leak_state leak_states[] = {
    { LC_ACTIVITY, "mDestroyed", LT_TRUE, LEAKS, "activity.destroyed", "Activity.mDestroyed is true" },
    { LC_ACTIVITY, "mDestroyed", LT_FALSE, NOT, "activity.not_destroyed", "Activity.mDestroyed is false" },
    { LC_DIALOG, "mDecor", LT_NULL, LABEL, "dialog.decor", "mDecor is null: the dialog is not shown" },
    { LC_DIALOG, "mDecor", LT_SET, LABEL, "dialog.decor", "mDecor is set: the dialog has a window" },
    { LC_ACTIVITY_THREAD, NULL, LT_ALWAYS, NOT, "singleton.activity_thread", "there is one ActivityThread in a process" },
    { LC_APPLICATION, NULL, LT_ALWAYS, NOT, "singleton.application", "the Application lives as long as its process" },
    { LC_INPUT_METHOD_MANAGER, NULL, LT_ALWAYS, NOT, "singleton.input_method_manager", "there is one InputMethodManager in a process" },
    { LC_FRAGMENT, "mFragmentManager", LT_NULL, LEAKS, "fragment.manager_null", "Fragment.mFragmentManager is null" },
    { LC_FRAGMENT, "mFragmentManager", LT_SET, NOT, "fragment.manager_set", "Fragment.mFragmentManager is set" },
    { LC_SUPPORT_FRAGMENT, "mFragmentManager", LT_NULL, LEAKS, "fragment.manager_null", "Fragment.mFragmentManager is null" },
    { LC_SUPPORT_FRAGMENT, "mFragmentManager", LT_SET, NOT, "fragment.manager_set", "Fragment.mFragmentManager is set" },
    { LC_PRESENTER, "view", LT_NULL, LABEL, "mortar_presenter.view", "view is null" },
    { LC_PRESENTER, "view", LT_SET, LABEL, "mortar_presenter.view", "view is set" },
    { LC_COORDINATOR, "attached", LT_TRUE, LABEL, "coordinator.attached", "attached is true" },
    { LC_COORDINATOR, "attached", LT_FALSE, LABEL, "coordinator.attached", "attached is false" },
    { LC_WINDOW, "mDestroyed", LT_TRUE, LEAKS, "window.destroyed", "Window.mDestroyed is true" },
    { LC_WINDOW, "mDestroyed", LT_FALSE, LABEL, "window.not_destroyed", "Window.mDestroyed is false" },
    { LC_COMPOSITION, "disposed", LT_TRUE, LEAKS, "composition.disposed", "disposed is true" },
    { LC_COMPOSITION, "disposed", LT_FALSE, NOT, "composition.not_disposed", "disposed is false" },
};
const size_t leak_state_count = sizeof leak_states / sizeof *leak_states;

#define MAP "java.util.HashMap"
#define SAFE "androidx.arch.core.internal.SafeIterableMap"
const leak_known_field leak_known_fields[LK_KNOWN] = {
    [LK_LINKED_FIRST] = { "java.util.LinkedList", "first" },
    [LK_LINKED_VOID] = { "java.util.LinkedList", "voidLink" },
    [LK_NODE_ITEM] = { "java.util.LinkedList$Node", "item" },
    [LK_NODE_NEXT] = { "java.util.LinkedList$Node", "next" },
    [LK_LINK_DATA] = { "java.util.LinkedList$Link", "data" },
    [LK_LINK_NEXT] = { "java.util.LinkedList$Link", "next" },
    [LK_LIST_DATA] = { "java.util.ArrayList", "elementData" },
    [LK_LIST_ARRAY] = { "java.util.ArrayList", "array" },
    [LK_COW_ARRAY] = { "java.util.concurrent.CopyOnWriteArrayList", "array" },
    [LK_COW_ELEMENTS] = { "java.util.concurrent.CopyOnWriteArrayList", "elements" },
    [LK_HASH_TABLE] = { MAP, "table" },
    [LK_ENTRY_KEY] = { MAP "$Entry", "key" },
    [LK_ENTRY_VALUE] = { MAP "$Entry", "value" },
    [LK_ENTRY_NEXT] = { MAP "$Entry", "next" },
    [LK_HENTRY_KEY] = { MAP "$HashMapEntry", "key" },
    [LK_HENTRY_VALUE] = { MAP "$HashMapEntry", "value" },
    [LK_HENTRY_NEXT] = { MAP "$HashMapEntry", "next" },
    [LK_HNODE_KEY] = { MAP "$Node", "key" },
    [LK_HNODE_VALUE] = { MAP "$Node", "value" },
    [LK_HNODE_NEXT] = { MAP "$Node", "next" },
    [LK_CHM_TABLE] = { "java.util.concurrent.ConcurrentHashMap", "table" },
    [LK_CNODE_KEY] = { "java.util.concurrent.ConcurrentHashMap$Node", "key" },
    [LK_CNODE_VALUE] = { "java.util.concurrent.ConcurrentHashMap$Node", "val" },
    [LK_CNODE_NEXT] = { "java.util.concurrent.ConcurrentHashMap$Node", "next" },
    [LK_SET_MAP] = { "java.util.HashSet", "map" },
    [LK_SET_BACKING] = { "java.util.HashSet", "backingMap" },
    [LK_ARRAYSET_ARRAY] = { "android.util.ArraySet", "mArray" },
    [LK_SAFE_START] = { SAFE, "mStart" },
    [LK_SAFE_KEY] = { SAFE "$Entry", "mKey" },
    [LK_SAFE_VALUE] = { SAFE "$Entry", "mValue" },
    [LK_SAFE_NEXT] = { SAFE "$Entry", "mNext" },
    [LK_QUEUE_MESSAGES] = { "android.os.MessageQueue", "mMessages" },
    [LK_MESSAGE_NEXT] = { "android.os.Message", "next" },
    [LK_ANIMATOR_TARGET] = { "android.animation.ObjectAnimator", "mTarget" },
    [LK_REFERENT] = { "java.lang.ref.Reference", "referent" },
    [LK_NEW_ACTIVITIES] = { "android.app.ActivityThread", "mNewActivities" },
    [LK_NEXT_IDLE] = { "android.app.ActivityThread$ActivityClientRecord", "nextIdle" },
    [LK_RECORD_ACTIVITY] = { "android.app.ActivityThread$ActivityClientRecord", "activity" },
    [LK_STRING_VALUE] = { "java.lang.String", "value" },
};

bool leak_is_wrapper(hdx_text class_name)
{
    static const char *const names[] = { "Boolean", "Character", "Float", "Double", "Byte", "Short", "Integer", "Long" };
    static const char        package[] = "java.lang.";
    const uint32_t           n = sizeof package - 1;
    if (class_name.len <= n || memcmp(class_name.at, package, n) != 0)
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (hdx_text_is((hdx_text){ class_name.at + n, class_name.len - n }, names[i]))
            return true;
    return false;
}
