/* roots.h - the folders in which a client may name files. */
#ifndef CLI_MCP_ROOTS_H
#define CLI_MCP_ROOTS_H

#include <stdbool.h>
#include <stddef.h>

enum { ROOTS_WHY = 256 };

struct roots {
  char **v; /* absolute, without symbolic links */
  size_t n;
};

/* Stores the absolute paths of the folders as roots. Returns false, with a message to the user, if a folder cannot be used. */
bool roots_open(struct roots *r, const char *const *folders, size_t n);
void roots_free(struct roots *r);

/* Returns the absolute path of a name within the roots, to be freed: a file, a folder without links that lead out, or a member
 * of an archive ("logs.zip:rank0.json"). NULL with the reason in `why`. */
char *roots_resolve(const struct roots *r, const char *name, char why[ROOTS_WHY]);

#endif
