/* reader.h - state of the reader of Firefox profiles. */
#ifndef FORMAT_GECKO_READ_READER_H
#define FORMAT_GECKO_READ_READER_H

#include "graph/trace.h"
#include "rows.h"

/* Tables that samples and markers refer to. They belong to a thread; in newer profiles, all threads share some or all of them. */
struct gecko_tables {
  struct gecko_strings {
    struct gecko_string {
      struct json_string text; /* not decoded */
      tk_id id;                /* 0 = not interned yet */
    } *v;
    uint32_t n, cap;
  } strings;
  struct gecko_ids {
    tk_id *v;
    uint32_t n, cap;
  } libs, resources, sources; /* names of libraries and of resources, names of files */
  struct gecko_places {
    struct gecko_place {
      tk_id file;
      uint32_t line, column;
    } *v;
    uint32_t n, cap;
  } places; /* positions in original sources, by source maps */
  struct gecko_funcs {
    struct tk_frame *v;
    uint32_t n, cap;
  } funcs;
  struct gecko_nodes {
    struct gecko_node {
      tk_id id;  /* frame or stack; 0 = none */
      tk_id cat; /* name of its category; 0 = none */
    } *v;
    uint32_t n, cap;
  } frames, stacks;
};

/* A library of a raw profile and the addresses at which it was mapped. */
struct gecko_mapping {
  uint64_t start, end;
  tk_id name;
};

struct gecko_open {
  tk_time ts;
  tk_id cls;
  uint32_t args;
  uint32_t next; /* index + 1 of the open marker with the same name that started before; 0 = none */
  bool ended;
};

/* Meaning of a member of a marker's data. The values of all members but OTHER are indices of strings. */
enum gecko_field { GECKO_FIELD_OTHER, GECKO_FIELD_STRING, GECKO_FIELD_FLOW, GECKO_FIELD_LAST_FLOW };

/* A flow id in the data of a marker. */
struct gecko_flow {
  tk_id id; /* string */
  tk_id event;
  bool last; /* the flow ends here */
};

struct gecko {
  struct tk_trace *t;
  struct mem *mem;
  const uint8_t *text;
  i128 start_ps;  /* time since 1970 from which the times of the trace count: the start of the main process */
  i128 offset_ps; /* start time of the process that is being read, relative to the origin */
  bool times_are_bytes;
  bool is_recording; /* of the DevTools: samples and markers have different clocks (read.c) */
  struct gecko_ids categories;
  struct map fields; /* hash of a marker type and a key -> enum gecko_field */
  bool has_flows;    /* some type of marker has flow ids */
  struct gecko_flow *flows; /* flow ids of all markers */
  uint32_t n_flows, cap_flows;
  struct gecko_tables shared;
  struct gecko_mapping *mappings; /* mappings of the raw process that is being read, sorted by start */
  uint32_t n_mappings, cap_mappings;
  /* The thread that is being read. */
  struct gecko_tables tables;
  tk_id track;
  struct tk_ident pid;
  tk_time first_sample;
  bool has_sample;
  struct gecko_open *open; /* markers that have started */
  uint32_t n_open, cap_open;
  struct map open_by_name; /* name -> index + 1 of the open marker that started last; 0 = none */
  struct map threads;      /* track -> number of threads of the file that have its ids */
  uint32_t n_threads, n_counters;
  tk_id unit_samples, unit_ms, unit_bytes, key_cpu, key_delay, key_responsiveness, key_type;
  uint64_t n_stackless, n_marker_stacks, n_started_before;
};

#endif
