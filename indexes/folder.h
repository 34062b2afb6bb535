/*
 * folder.h - recognizes index folders, and removes from a folder only what heapdex writes there.
 *
 * A folder is proved to be an index by the head of a file in it; a file called catalog.mdb proves nothing, because
 * other programs use that name. Inside of an index, names are the proof: the table in folder.c has every name that a
 * build, a view or a saved answer gets, and the folder in which it is. Files with other names, or with such a name in
 * another place, belong to the user.
 */
#ifndef HDX_INDEXES_FOLDER_H
#define HDX_INDEXES_FOLDER_H

#include "indexes/indexes.h"

#define HDX_FOLDER_VIEWS          "views"
#define HDX_FOLDER_CHECKPOINT     "checkpoint"
#define HDX_FOLDER_CHECKPOINT_NEW "checkpoint.new"

#define HDX_NOTES 47u /* saved answers (graph.h) */
extern const char *const hdx_note_names[HDX_NOTES];

/*
 * Returns whether a folder is an index, complete or damaged: it has catalog.sum or catalog.mdb, and the head or the
 * foot of a file of heapdex. Only regular files are opened: a named pipe would wait.
 */
bool hdx_folder_is_index(hdx_io *io, const char *path);

/*
 * Looks for an entry that heapdex does not write into an index or a partial build, in the folder and its subfolders.
 * True: there is one, and `name` is its path within the folder. A missing folder has none; for one that cannot be read
 * the result is true and `name` is ".".
 */
bool hdx_folder_has_other(const char *path, char name[256]);

/*
 * Removes the files that heapdex writes into an index or a partial build, then the folder. Other files stay, and so
 * does the folder: -ENOTEMPTY. A link is removed, never followed. Returns 0 if nothing exists.
 */
int hdx_folder_clear(hdx_io *io, const char *path);

/*
 * Sets the access of the files that heapdex writes there, and of their folders, to `like`. Other files are not changed.
 */
void hdx_folder_share(hdx_io *io, const char *path, const hdx_access *like);

/*
 * Returns whether the folder of a path is an index, or inside of one. True: `index` is the path of that index without
 * links. The last component of the path is ignored; it and the folders before it need not exist.
 */
bool hdx_folder_around(hdx_io *io, const char *path, char index[4096]);

#endif
