/*
 * folder.h - which folders are indexes, and removing from a folder what heapdex writes there and nothing else.
 *
 * A folder proves that it is an index by the head of a file in it; a file called catalog.mdb proves nothing, since
 * other programs use that name. Inside an index, names are the proof: the table in folder.c has every name that a
 * build, a view or a remembered answer gives, and the folder that it is given in. What has any other name, or has such
 * a name in another place, belongs to the user.
 */
#ifndef HDX_INDEXES_FOLDER_H
#define HDX_INDEXES_FOLDER_H

#include "indexes/indexes.h"

#define HDX_FOLDER_VIEWS          "views"
#define HDX_FOLDER_CHECKPOINT     "checkpoint"
#define HDX_FOLDER_CHECKPOINT_NEW "checkpoint.new"

#define HDX_NOTES 23u /* remembered answers (graph.h) */
extern const char *const hdx_note_names[HDX_NOTES];

/*
 * Is it an index, whole or damaged: a folder with catalog.sum or catalog.mdb, and with the head or the foot of a file
 * of heapdex? Files that are not regular are not opened: a named pipe would wait.
 */
bool hdx_folder_is_index(hdx_io *io, const char *path);

/*
 * Looks for an entry that heapdex does not write into an index or a partial build, in the folder and in its subfolders.
 * True: there is one, and `name` has its path from the folder on. A folder that is missing has none; of one that cannot
 * be read the answer is true and `name` is ".".
 */
bool hdx_folder_has_other(const char *path, char name[256]);

/*
 * Removes the files that heapdex writes into an index or a partial build, then the folder. Anything else stays, and so
 * does the folder: -ENOTEMPTY. A link is removed, never followed. Nothing there: 0.
 */
int hdx_folder_clear(hdx_io *io, const char *path);

/* Gives the files that heapdex writes there, and the folders they are in, the access `like`. The rest keeps its own. */
void hdx_folder_share(hdx_io *io, const char *path, const hdx_access *like);

/*
 * Does the folder of a path lie in an index, or is it one? True: `index` has the path of that index without links. The
 * last component of the path is not looked at; it and the folders before it need not exist.
 */
bool hdx_folder_around(hdx_io *io, const char *path, char index[4096]);

#endif
