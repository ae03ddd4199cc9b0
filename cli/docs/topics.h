/* topics.h - `tracekit help TOPIC`: one screen on each subject that the commands have in common. */
#ifndef CLI_DOCS_TOPICS_H
#define CLI_DOCS_TOPICS_H

#include "docs.h"

/* topic_name() returns the i-th topic of `tracekit help TOPIC`; NULL past the end. topic_print() prints a topic, and calls
 * `table` to print the table of formats; returns false if the topic is unknown. */
const char *topic_name(size_t i, const char **summary);
bool topic_print(FILE *to, const char *name, void (*table)(FILE *to));

#endif
