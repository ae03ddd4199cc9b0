/* tracekit_fields.h - descriptions of the fields of results. Part of tracekit.h, which includes this file.
 *
 * Each row of a result, such as struct tk_report_rank, has a list of fields: their names, units, types and meanings. JSON,
 * Python, the schemas and docs/fields.md are made from these lists, so that a field has one name everywhere.
 *
 * One rule for units: a name ends in the unit of its value, unless the value is a count or a string. Times are exact to the
 * picosecond and are named and printed in nanoseconds (_ns); shares are percentages (_percent); rates are 10^9 bytes per second
 * (_gb_per_s). */
#ifndef TRACEKIT_FIELDS_H
#define TRACEKIT_FIELDS_H

#ifndef TRACEKIT_H
#error "include tracekit.h"
#endif

/* Kinds of rows that are described; each comment names the struct that contains such a row. */
enum tk_row {
  TK_ROW_REPORT,            /* tk_report */
  TK_ROW_REPORT_RANK,       /* tk_report_rank */
  TK_ROW_REPORT_FINDING,    /* tk_report_finding */
  TK_ROW_REPORT_STEP,       /* tk_report_step; owner: its rank */
  TK_ROW_REPORT_SPLIT,      /* tk_report_split */
  TK_ROW_REPORT_SPREAD,     /* tk_report_spread */
  TK_ROW_REPORT_STREAM,     /* tk_report_stream; owner: its rank */
  TK_ROW_REPORT_KERNEL,     /* tk_report_kernel */
  TK_ROW_REPORT_LAUNCH,     /* tk_report_launch */
  TK_ROW_REPORT_COLLECTIVE, /* tk_report_collective */
  TK_ROW_REPORT_WAIT,       /* tk_report_meeting */
  TK_ROW_REPORT_OP,         /* tk_report_op */
  TK_ROW_REPORT_ANNOTATION, /* tk_report_annotation */
  TK_ROW_REPORT_MEMORY,     /* tk_report_memory */
  TK_ROW_TOP,               /* tk_top_row */
  TK_ROW_TREE,              /* tk_tree_node; owner: its tk_tree_report */
  TK_ROW_DIFF,              /* tk_diff_row */
  TK_ROW_DIFF_SUM,          /* tk_diff_row: a sum of rows, which has no name */
  TK_ROW_DIFF_BEFORE,       /* tk_diff_row: the side before */
  TK_ROW_DIFF_AFTER,        /* tk_diff_row: the side after */
  TK_ROW_MERGE_RANK,        /* tk_merge_rank */
  TK_ROW_REPORT_GAP,        /* tk_report_gap */
  TK_ROW_COMPARE,           /* tk_compare_row */
  TK_ROW_COMPARE_SUM,       /* tk_compare_row: a sum of rows, which has no name */
  TK_ROW_COMPARE_CELL,      /* tk_compare_cell; owner: its row */
  TK_ROW_COMPARE_SHIFT,     /* tk_compare_shift */
  TK_ROW_COMPARE_RUN,       /* tk_compare_run */
  TK_ROW_LISTED,            /* tk_listed */
  TK_ROW_EXTRACTED,         /* tk_extracted */
  TK_ROW_SIZE_KIND,         /* tk_size_row, by TK_SIZE_KIND; the next five follow enum tk_size_by */
  TK_ROW_SIZE_CAT,          /* tk_size_row */
  TK_ROW_SIZE_NAME,         /* tk_size_row */
  TK_ROW_SIZE_ARG,          /* tk_size_row */
  TK_ROW_SIZE_TRACK,        /* tk_size_row */
  TK_ROW_SIZE_RANK,         /* tk_size_row */
  TK_ROW_REPORT_ROOF,       /* tk_report_roof */
  TK_ROW_REPORT_HELD,       /* tk_report_held */
  TK_ROW_REPORT_FIGURE,     /* tk_report_figure */
  TK_ROW_REPORT_COMPILATION, /* tk_report_compilation */
  TK_ROW_REPORT_LAYER,      /* tk_report_layer */
  TK_ROW_REPORT_FUNCTION,   /* tk_report_function */
  TK_ROW_REPORT_DEVICE_OP,  /* tk_report_device_op */
  TK_N_ROWS
};

enum tk_type {
  TK_TYPE_BOOL,
  TK_TYPE_INT,    /* int64_t */
  TK_TYPE_COUNT,  /* uint64_t */
  TK_TYPE_NUMBER, /* double */
  TK_TYPE_TIME,   /* struct tk_total */
  TK_TYPE_TEXT,   /* not NUL-terminated */
  TK_TYPE_TEXTS,  /* a list of NUL-terminated strings */
  TK_TYPE_ROW,    /* another row */
  TK_TYPE_ROWS    /* a list of rows */
};

enum tk_unit { TK_UNIT_NONE, TK_UNIT_NS, TK_UNIT_PERCENT, TK_UNIT_BYTES, TK_UNIT_GB_PER_S, TK_UNIT_MEAN /* mean of a count */,
  TK_UNIT_PS };

/* Representation of a value that is unknown in this trace. */
enum tk_unknown {
  TK_UNKNOWN_NEVER,
  TK_UNKNOWN_NULL,  /* null in JSON, None in Python */
  TK_UNKNOWN_ABSENT /* the field is absent */
};

/* A value; only the member of its type is set. Texts and rows live as long as the result. */
struct tk_value {
  enum tk_type type;
  bool truth;
  int64_t integer;
  uint64_t count;
  double number;
  struct tk_total time;
  const char *text;
  const char *const *texts;
  const void *rows;
  size_t n; /* length of the string, or number of strings or rows */
};

struct tk_field {
  const char *name; /* "busy_ns" */
  const char *help; /* meaning, without a full stop */
  enum tk_type type;
  enum tk_unit unit;
  enum tk_row of; /* ROW and ROWS: kind of the rows */
  enum tk_unknown unknown;
  bool ranked;    /* ROWS: in descending order; users see the first few */
  /* private to tk_field_value: the position of the value in the struct */
  size_t offset, size, n_offset;
  bool (*known)(const void *row, const void *owner);
  bool (*get)(const void *row, const void *owner, struct tk_value *v);
};

/* Returns the n fields of a kind of row, in the order of JSON, and in *stride the size of its struct. */
TK_API const struct tk_field *tk_fields(enum tk_row row, size_t *n, size_t *stride);
/* Returns the i-th of the rows in an array of a report: rows[i], for programs that also run with a later library, in which the rows
 * may be larger. The row lives as long as the report. Returns NULL if the kind is unknown. */
TK_API const void *tk_row_at(const void *rows, enum tk_row row, size_t i);
/* Returns the name of a kind of row, such as "report rank". */
TK_API const char *tk_row_name(enum tk_row row);
/* Stores the value of a field of a row. Returns false if it is unknown in this trace. `owner` is the row that contains `row`, for
 * the kinds for which enum tk_row names an owner. */
TK_API bool tk_field_value(const struct tk_field *f, const void *row, const void *owner, struct tk_value *v);

#endif
