/* carried.h - layout of the block in which other formats preserve those properties of Perfetto tracks that their own files
 * cannot represent.
 *
 * write/carried.c writes one CARRIED_GRAPH for each graph, read/adopt.c reads them back. Packets are not embedded. */
#ifndef FORMAT_PERFETTO_CARRIED_H
#define FORMAT_PERFETTO_CARRIED_H

enum {
  CARRIED_GRAPH = 1,

  GRAPH_TRACK = 1,
  GRAPH_META = 2,

  CARRIED_KIND = 1,  /* enum tk_track_kind; this and the next three fields identify the track in the other format */
  CARRIED_PID = 2,
  CARRIED_TID = 3,
  CARRIED_NAME = 4,
  CARRIED_CODE = 5,  /* for a named track: the number of its tid, which encodes NAMED_* and the parent (fields.h) */
  CARRIED_ENTRY = 6, /* the track's entry in the meta perfetto.tracks, without PASSTHROUGH_TRACK */
  CARRIED_EMPTY = 7, /* the track has no events, so the other format may omit it */
  CARRIED_SORT = 8,  /* sort index; absent = none */

  IDENT_KIND = 1, /* enum tk_ident_kind */
  IDENT_NUM = 2,
  IDENT_TEXT = 3,

  CARRIED_KEY = 1, /* this and the next two: a meta whose origin is Perfetto */
  CARRIED_AFTER = 2,
  CARRIED_BYTES = 3
};

#endif
