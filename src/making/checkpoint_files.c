/* checkpoint_files.c - which index files a checkpoint has, by the steps and tasks that are done. */
#include "making/checkpoint.h"

/*
 * The pass that leaves an index file of a kind, and the task of it that writes the file. Address and seek precede all
 * passes.
 */
static const struct maker {
    bool          before;
    hdx_pass_name pass;
    uint64_t      task;
} makers[HDX_KINDS] = {
    [HDX_KIND_ADDRESS] = { .before = true },
    [HDX_KIND_POSITION] = { false, HDX_PASS_OBJECTS, HDX_TASK_COLUMNS },
    [HDX_KIND_CLASS] = { false, HDX_PASS_OBJECTS, HDX_TASK_COLUMNS },
    [HDX_KIND_SIZE] = { false, HDX_PASS_OBJECTS, HDX_TASK_COLUMNS },
    [HDX_KIND_HEAP] = { false, HDX_PASS_OBJECTS, HDX_TASK_COLUMNS },
    [HDX_KIND_OUTBOUND] = { false, HDX_PASS_OBJECTS, HDX_TASK_OUTBOUND },
    [HDX_KIND_INBOUND] = { false, HDX_PASS_REFERENCES, HDX_TASK_INBOUND },
    [HDX_KIND_INSTANCES] = { false, HDX_PASS_OBJECTS, HDX_TASK_INSTANCES },
    [HDX_KIND_SPECIAL] = { false, HDX_PASS_REFERENCES, HDX_TASK_NEAREST },
    [HDX_KIND_DOMINATOR] = { false, HDX_PASS_RETAINED, HDX_TASK_TREE },
    [HDX_KIND_NEAREST] = { false, HDX_PASS_REFERENCES, HDX_TASK_NEAREST },
    [HDX_KIND_DOMINATORS] = { false, HDX_PASS_RETAINED, HDX_TASK_TREE },
    [HDX_KIND_DOMINATED] = { false, HDX_PASS_RETAINED, HDX_TASK_TREE },
    [HDX_KIND_RETAINED] = { false, HDX_PASS_RETAINED, HDX_TASK_RETAINED },
    [HDX_KIND_SEEK] = { .before = true },
};

bool hdx_checkpoint_has_kind(const hdx_pass *p, uint64_t done, uint64_t tasks, hdx_kind kind)
{
    const hdx_build    *b = p->b;
    const struct maker *m = &makers[kind];
    const hdx_amounts   amounts = hdx_build_amounts(b);
    const bool          compressed =
        b->manifest.files[kind].name[0] != '\0'; /* the index seek exists for some compressed dumps only */
    return (m->before || hdx_checkpoint_has(done, m->pass) || (tasks & m->task) != 0) &&
           hdx_kind_there(kind, p->until, &amounts, compressed);
}

bool hdx_checkpoint_makes(uint64_t tasks, hdx_kind kind) { return (tasks & makers[kind].task) != 0; }
