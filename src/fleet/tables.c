/*
 * tables.c - the list of tables. Each row is a table: an answer with fixed arguments, the columns taken from it, and
 * the additional columns. Types, units and descriptions are declared by the answer and not repeated here.
 *
 * With these arguments the number of rows grows with the classes, threads and suspects of a heap but not with its
 * objects, because a fleet has many dumps. Tables on demand are complete.
 */
#include "fleet/fleet.h"

#include <assert.h>
#include <stdio.h>

/* Thousandths of a percent of the live bytes; smaller objects of the dominator tree are omitted. */
#define DOMINATORS_PART  100u
#define DOMINATORS_WHERE "percent >= 0.1"

static const fleet_table tables[] = {
    { .name = "dump", .sentence = "facts about the dump, its origin and its index; one row" },
    { .name = "classes",
      .sentence = "objects and bytes of each class",
      .answer = "histogram",
      .arguments = { { "retained", "true" } },
      .columns = "class,loader,objects,shallow,retained,percent",
      .added = { &hdx_fleet_loader_name, &hdx_fleet_class_key } },
    { .name = "packages",
      .sentence = "objects and bytes of each package",
      .answer = "histogram",
      .arguments = { { "by", "package" }, { "retained", "true" } },
      .columns = "package,classes,objects,shallow,retained,percent" },
    { .name = "loaders",
      .sentence = "class loaders, the classes they define, and what keeps them alive",
      .answer = "loaders",
      .columns = "address,class,label,parent,outside,classes,instances,shallow,retained,held_by" },
    { .name = "dominators",
      .sentence =
          "top of the dominator tree: objects that retain 0.1 % of the live bytes or more, at most eight levels",
      .answer = "dominators",
      .arguments = { { "depth", "8" }, { "where", DOMINATORS_WHERE } },
      .columns = "address,class,label,shallow,retained,percent,children,depth",
      .added = { &hdx_fleet_owner, &hdx_fleet_class_path },
      .least_percent = DOMINATORS_PART },
    { .name = "dominators_by_class",
      .sentence = "top level of the dominator tree by class; class objects by the class that they represent",
      .answer = "dominators",
      .arguments = { { "by", "owner" } },
      .columns = "class,statics,objects,shallow,retained,percent",
      .added = { &hdx_fleet_class_key } },
    { .name = "suspects",
      .sentence = "leak suspects",
      .answer = "suspects",
      .columns = "suspect,problem,kind,object,class,objects,bytes,percent,accumulation_point,accumulation_class,"
                 "accumulation_retained,accumulated_class,accumulated_objects,accumulated_bytes,sentence" },
    { .name = "leaks",
      .sentence = "leaks as LeakCanary finds them, by signature; no rows without watched objects",
      .answer = "leaks",
      .columns = "kind,signature,objects,retained,retained_objects,class,root,matcher,suspects" },
    { .name = "threads",
      .sentence = "threads, and the pool of each according to its name",
      .answer = "threads",
      .columns = "address,name,daemon,priority,state,virtual,context_loader,shallow,retained",
      .added = { &hdx_fleet_pool } },
    { .name = "roots",
      .sentence = "GC roots by type",
      .answer = "roots",
      .arguments = { { "by", "type" } },
      .columns = "type,objects,roots,shallow,retained" },
    { .name = "collections",
      .sentence = "collections by class, and the waste in their arrays",
      .answer = "collections",
      .arguments = { { "by", "class" }, { "sort", "waste:desc" } },
      .columns = "class,collections,empty,single,size,capacity,waste,shallow,unknown",
      .added = { &hdx_fleet_class_key } },
    { .name = "strings",
      .sentence = "texts of duplicate Strings: the 1,000 with the most waste",
      .answer = "strings",
      .arguments = { { "by", "value" }, { "where", "wasted > 0" }, { "sort", "wasted:desc" }, { "limit", "1000" } },
      .columns = "label,objects,arrays,length,bytes,wasted,address" },
    { .name = "dominators_full",
      .sentence = "full dominator tree: every live object with its dominator",
      .answer = "export",
      .arguments = { { "table", "objects" } },
      .columns = "address,class,shallow,retained,dominator",
      .on_demand = true },
    { .name = "objects",
      .sentence = "every live object",
      .answer = "export",
      .arguments = { { "table", "objects" } },
      .columns = "id,address,class,class_address,kind,shallow,retained,dominator,outbound,inbound,heap,length",
      .on_demand = true },
    { .name = "references",
      .sentence = "every reference between live objects",
      .answer = "export",
      .arguments = { { "table", "references" } },
      .columns = "src,dst",
      .on_demand = true },
    { .name = "manifest", .sentence = "other manifest columns of the dump, one row each" },
    { .name = "problems", .sentence = "reasons for missing rows or values: failed answers, damage, stripping" },
};

const fleet_table *hdx_fleet_table(unsigned i) { return i < HDX_COUNT(tables) ? &tables[i] : NULL; }

size_t hdx_fleet_arguments(const fleet_table *t, hdx_argument out[8])
{
    size_t count = 0;
    for (size_t i = 0; t->arguments[i].name != NULL; i++)
        out[count++] = t->arguments[i];
    out[count++] = (hdx_argument){ "columns", t->columns };
    out[count++] = (hdx_argument){ "document", "false" };
    return count;
}

unsigned hdx_fleet_columns(const fleet_table *t, hdx_column out[HDX_FLEET_MOST_COLUMNS], unsigned *answered)
{
    unsigned count = 0;
    out[count++] = hdx_fleet_id_column;
    *answered = 0;
    if (t->answer == NULL)
        return count + hdx_fleet_once_columns(t, out + count, HDX_FLEET_MOST_COLUMNS - count);
    hdx_argument    arguments[8];
    const size_t    argument_count = hdx_fleet_arguments(t, arguments);
    const hdx_form *form = hdx_answer_form(hdx_answer_named(t->answer), arguments, argument_count);
    for (const char *at = t->columns; *at != '\0'; at += *at == ',') {
        const hdx_text name = { at, (uint32_t)strcspn(at, ",") };
        unsigned       i = 0;
        while (!hdx_text_is(name, form->columns[i].name))
            i++;
        assert(i < form->column_count && count < HDX_FLEET_MOST_COLUMNS);
        out[count++] = form->columns[i];
        at += name.len;
    }
    *answered = count - 1;
    for (unsigned i = 0; t->added[i] != NULL; i++)
        out[count++] = t->added[i]->column;
    return count;
}

/* Writes a command such as "histogram --by package --retained". */
static void say_command(const fleet_table *t, char *out, size_t room)
{
    size_t n = (size_t)snprintf(out, room, "%s", t->answer);
    for (size_t i = 0; t->arguments[i].name != NULL && n < room; i++) {
        const hdx_argument *a = &t->arguments[i];
        const bool          flag = strcmp(a->value, "true") == 0, quoted = strchr(a->value, ' ') != NULL;
        n += (size_t)snprintf(out + n, room - n, " --%s%s%s%s%s", a->name, flag ? "" : " ", quoted ? "'" : "",
                              flag ? "" : a->value, quoted ? "'" : "");
    }
}

bool hdx_fleet_table_at(unsigned i, hdx_fleet_declared *out)
{
    const fleet_table *t = hdx_fleet_table(i);
    unsigned           answered;
    if (t == NULL)
        return false;
    *out = (hdx_fleet_declared){ .name = t->name, .sentence = t->sentence, .on_demand = t->on_demand };
    if (t->answer != NULL)
        say_command(t, out->command, sizeof out->command);
    out->column_count = hdx_fleet_columns(t, out->columns, &answered);
    return true;
}
