/* meta.h - interprets top-level data: the clock, and properties that confuse viewers. */
#ifndef FORMAT_CHROME_READ_META_H
#define FORMAT_CHROME_READ_META_H

#include "reader.h"

/* Interprets top-level data about the clock, and adds notes about oddities (meta.c). */
void chrome_meta(struct chrome *r);

#endif
