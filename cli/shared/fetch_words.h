/* fetch_words.h - checks addresses and writes the command lines of the programs that read them. */
#ifndef CLI_SHARED_FETCH_WORDS_H
#define CLI_SHARED_FETCH_WORDS_H

#include "tracekit.h"

enum { FETCH_WORDS = 20, FETCH_TEXT = 8192 };

/* A command line; its words point into `text`, into the address, or to literals. */
struct fetch_words {
  const char *argv[FETCH_WORDS + 1];
  size_t n;
  char text[FETCH_TEXT];
  size_t used;
};

enum fetch_task { FETCH_OPEN, FETCH_LIST, FETCH_LOCAL };

/* A scheme of addresses, such as s3, and the programs that read such addresses. */
struct fetch_scheme {
  const char *name;
  const char *programs[2]; /* tried in this order; NULL = no other */
  const char *remedy;      /* how to get the program */
  const char *folders;     /* NULL = folders can be listed; otherwise why not */
  const char *forbidden;   /* characters that the program would take for a pattern */
  bool copies;             /* the program makes a local copy and prints its path */
  bool asks;               /* the program may ask the user at the terminal */
  /* Writes the command line for a program. Returns why the address is invalid, or NULL. */
  const char *(*words)(struct fetch_words *w, const char *program, const char *address, enum fetch_task task);
};

extern const char *const fetch_names[]; /* NULL-terminated; the first scheme is for nsys reports (fetch_export.h) */

/* Finds the row of an address, which must be one of fetch_names. */
const struct fetch_scheme *fetch_scheme_of(const char *address);

/* Returns why the address must not be passed to a program; NULL if it may be. */
const char *fetch_wrong(const struct fetch_scheme *scheme, const char *address);

/* Returns the path within the repository of an hf:// address; "" if the address names the whole repository. */
const char *fetch_hf_path(const char *address);

#endif
