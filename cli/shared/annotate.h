/* annotate.h - prints findings in formats that CI services read: GitHub workflow commands and JUnit XML. */
#ifndef CLI_SHARED_ANNOTATE_H
#define CLI_SHARED_ANNOTATE_H

#include "options/opt.h"

enum annotations { ANNOTATE_NOT, ANNOTATE_GITHUB, ANNOTATE_JUNIT };

struct finding {
  char *input, *what, *said; /* what: text of the assertion; said: text of the result */
  bool failed, unknown;      /* if both are false, the assertion holds */
};

struct annotations_of {
  enum annotations as;
  const char *command;
  struct finding *v;
  size_t n;
  bool out_of_memory;
};

extern const struct opt_word annotate_words[];

void annotate(struct annotations_of *a, const char *input, const char *what, const char *said, bool failed, bool unknown);
/* Prints the findings and frees them. */
void annotate_end(struct annotations_of *a);

#endif
