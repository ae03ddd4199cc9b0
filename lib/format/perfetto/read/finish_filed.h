/* finish_filed.h - stores tracks as the file describes them, for queries. */
#ifndef FORMAT_PERFETTO_READ_FINISH_FILED_H
#define FORMAT_PERFETTO_READ_FINISH_FILED_H

#include "reader.h"

/* Stores the meta "perfetto.filed": tracks as the file describes them. */
void perfetto_filed_tracks(struct perfetto *r);

#endif
