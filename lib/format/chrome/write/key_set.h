/* key_set.h - looks up an arg by its key. */
#ifndef FORMAT_CHROME_WRITE_KEY_SET_H
#define FORMAT_CHROME_WRITE_KEY_SET_H

#include "print.h"

bool key_set_has(struct key_set *set, const struct key_list *list, struct fragment key);

#endif
