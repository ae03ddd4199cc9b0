/* page.h - the page around a viewer: the files of cli/view/page/, which the build embeds in the command. */
#ifndef CLI_VIEW_PAGE_H
#define CLI_VIEW_PAGE_H

#include "server.h"

/* Replies with a file of the page; "" = the page itself. Returns false if there is no file with this name. */
bool view_page_answer(struct view_text name, struct view_reply *reply);

#endif
