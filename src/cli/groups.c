/*
 * groups.c - the groups of commands that `heapdex help` lists and `heapdex help GROUP` explains. The line of a command
 * says when to use it instead of similar ones; the test cli.test_help fails for a command without a group.
 */
#include "cli/cli.h"

typedef struct member {
    const char *command, *when;
} member;

typedef struct group {
    const char   *name, *title;
    const member *members;
    size_t        count;
} group;

static const member of_start[] = {
    { "info", "what the dump is, what stands out, and which command goes on" },
    { "suspects", "what retains more than a tenth of the heap, with the path to it" },
    { "top", "an overview: objects, classes, packages and loaders that retain most" },
    { "histogram", "objects and bytes of each class, package or loader" },
    { "dominators", "which object retains how much, and what below it" },
    { "find", "classes, static fields, threads, properties and Strings with a text in their name" },
    { "report", "all of this in one file to mail or to attach" },
};
static const member of_alive[] = {
    { "path", "the shortest path from a GC root to an object" },
    { "holders", "the fields, threads and roots that retain most of the heap together" },
    { "statics", "the static fields by what they retain" },
    { "roots", "the GC roots themselves" },
    { "object", "one object: its fields, elements and sizes" },
    { "objects", "the instances of a class, one row each" },
    { "refs", "the neighbours of an object: outgoing, or with --in incoming references" },
    { "retained", "what would be free if a set of objects were gone" },
    { "free-if", "what would be free if a field, class, loader or kind of root held nothing" },
    { "immediate-dominators", "which of your classes retain, for example, all byte[]" },
};
static const member of_waste[] = {
    { "collections", "empty, sparse and oversized collections" },
    { "entries", "the keys and values of one collection" },
    { "map-keys", "many small maps with the same keys" },
    { "strings", "Strings by text, or counted by value" },
    { "duplicates", "equal Strings and arrays, and who holds them" },
    { "arrays", "primitive arrays that are constant, half empty or wider than needed" },
    { "biggest-arrays", "the largest arrays and the fields that hold them" },
    { "garbage", "what no root reaches, in connected pieces" },
    { "sizes", "why sizes differ from those of another tool" },
};
static const member of_jvm[] = {
    { "threads", "stacks, locks, pools, and what each thread retains" },
    { "thread-locals", "values of ThreadLocals, by thread or by key" },
    { "loaders", "class loaders, and those that should be gone" },
    { "duplicate-classes", "classes that several loaders define" },
    { "properties", "arguments of the JVM, system properties, environment" },
    { "referents", "what soft, weak and phantom references lead to" },
    { "finalizers", "objects that wait for their finalizer" },
    { "cleaners", "actions that run after an object is gone" },
    { "direct-buffers", "memory outside of the heap" },
    { "open-files", "files, sockets and processes that were not closed" },
};
static const member of_gates[] = {
    { "leaks", "leaks as LeakCanary finds them: Android, or classes that you name" },
    { "check", "rules for a heap; a broken rule fails the build" },
};
static const member of_many[] = {
    { "diff", "what differs between two heaps" },
    { "trend", "what grows over three dumps or more" },
    { "batch", "indexes and answers of a whole folder" },
};
static const member of_own[] = {
    { "sql", "SQL over objects, references and the fields of each class" },
    { "oql", "queries of Eclipse MAT" },
    { "export", "whole tables for other programs" },
};
static const member of_files[] = {
    { "index", "build the index before the first question, or define a view (VIEWS in heapdex(7))" },
    { "estimate", "memory, disk and time of a build, before it starts" },
    { "verify", "check an index" },
    { "remove", "delete an index" },
    { "detect", "whether a dump is stripped, and by which tool" },
    { "strip", "write a smaller or redacted dump" },
    { "restore", "make a stripped dump readable for other tools" },
};

static const group groups[] = {
    { "start", "start here", of_start, sizeof of_start / sizeof *of_start },
    { "alive", "why is it alive", of_alive, sizeof of_alive / sizeof *of_alive },
    { "waste", "where is the waste", of_waste, sizeof of_waste / sizeof *of_waste },
    { "jvm", "the state of the JVM", of_jvm, sizeof of_jvm / sizeof *of_jvm },
    { "gates", "leaks and gates", of_gates, sizeof of_gates / sizeof *of_gates },
    { "many", "several dumps", of_many, sizeof of_many / sizeof *of_many },
    { "own", "questions of your own", of_own, sizeof of_own / sizeof *of_own },
    { "files", "files", of_files, sizeof of_files / sizeof *of_files },
};
#define COUNT (sizeof groups / sizeof *groups)

void cli_help_groups(hdx_buffer *out)
{
    for (size_t g = 0; g < COUNT; g++) {
        hdx_buffer_format(out, "\n%s (heapdex help %s):\n", groups[g].title, groups[g].name);
        for (size_t i = 0; i < groups[g].count; i++)
            cli_put_help_line(out, groups[g].members[i].command, groups[g].members[i].when);
    }
}

const char *cli_group_name(size_t i) { return i < COUNT ? groups[i].name : NULL; }
const char *cli_group_title(size_t i) { return groups[i].title; }

const char *cli_group_command(size_t i, size_t k, const char **when)
{
    if (k >= groups[i].count)
        return NULL;
    *when = groups[i].members[k].when;
    return groups[i].members[k].command;
}

void cli_help_group(hdx_buffer *out, size_t i)
{
    hdx_buffer_format(out, "%s:\n", groups[i].title);
    for (size_t k = 0; k < groups[i].count; k++) {
        const member     *m = &groups[i].members[k];
        const hdx_answer *a = cli_command_named(m->command);
        hdx_buffer_text(out, "\n");
        cli_put_help_line(out, m->command, m->when);
        if (a != NULL)
            cli_put_help_line(out, "", a->sentence);
    }
    hdx_buffer_text(out, "\nheapdex help COMMAND shows its options, its columns and two examples.\n");
}
