/* tables.h - the rows of tables that hold spans or instants. */
#ifndef FORMAT_NSYS_READ_TABLES_H
#define FORMAT_NSYS_READ_TABLES_H

enum nsys_on { ON_THREAD, ON_STREAM };

struct nsys_table {
  const char *name;     /* or the beginning of it, ended by '*' */
  enum nsys_on on;
  const char *category;
  const char *call;     /* column with the name: a text, an id of StringIds, or a value of `labels` */
  const char *labels;   /* ENUM_ table; NULL = none */
  const char *pattern;  /* of the name, with %s for it; NULL = the name itself */
  int lane;             /* ON_STREAM: enum nsys_lane */
};

#endif
