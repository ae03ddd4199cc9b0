/* value.h - reads JSON that others wrote, into a tree with limits on depth and size. */
#ifndef CLI_MCP_VALUE_H
#define CLI_MCP_VALUE_H

#include <stdbool.h>
#include <stddef.h>

enum value_kind { VALUE_NULL, VALUE_FALSE, VALUE_TRUE, VALUE_NUMBER, VALUE_STRING, VALUE_ARRAY, VALUE_OBJECT };

/* Text points into the input: `raw` is the value as it was written, `key` the raw key with its quotes, NULL outside objects. */
struct value {
  enum value_kind kind;
  const char *raw, *key;
  size_t n_raw, n_key;
  struct value *child, *next; /* first member or element; next one of the same parent */
  size_t n;                   /* number of members or elements */
};

/* A parsed JSON text; its nodes are allocated in blocks. */
struct value_tree {
  struct value *root;
  struct value_block *blocks;
  size_t n; /* number of nodes */
};

/* Reads one JSON text, valid UTF-8 without NUL, and nothing after it. Returns false if it is invalid, too deep or too large. */
bool value_read(struct value_tree *t, const char *text, size_t n);
void value_free(struct value_tree *t);

/* Returns the member; NULL if the value is not an object or lacks it. Of equal keys, the first counts. */
const struct value *value_member(const struct value *v, const char *key);

/* Returns the text of a string, to be freed; NULL if the value is not a string, contains a NUL, or memory ran out. */
char *value_text(const struct value *v);

#endif
