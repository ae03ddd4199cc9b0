/* finish_filed.h - tracks as the file describes them, for readers that restore nothing. */
#ifndef FORMAT_PERFETTO_READ_FINISH_FILED_H
#define FORMAT_PERFETTO_READ_FINISH_FILED_H

#include "reader.h"

/* Stores "perfetto.filed": tracks as the file describes them. */
void perfetto_filed_tracks(struct perfetto *r);

#endif
