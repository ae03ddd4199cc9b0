/* template.h - the fast path, for events that are spelled like earlier events. */
#ifndef FORMAT_CHROME_READ_TEMPLATE_H
#define FORMAT_CHROME_READ_TEMPLATE_H

#include "reader.h"

struct templates *templates_new(struct mem *mem);
void templates_free(struct templates *p);

/* Reads the event at p if it is spelled like an earlier one. Returns the position after it; NULL, without any effect,
 * otherwise. */
const uint8_t *template_match(struct chrome *r, const uint8_t *p);

/* The general path calls these functions for each value that it reads and at the end of an event. If p is NULL (no templates),
 * they do nothing. */
void template_begin(struct templates *p, const uint8_t *from);
void template_value(struct templates *p, enum template_op op, const uint8_t *value, const uint8_t *end);
void template_abandon(struct templates *p);
void template_learn(struct templates *p, struct chrome *r, const struct chrome_event *e, uint32_t args, const uint8_t *end);

#endif
