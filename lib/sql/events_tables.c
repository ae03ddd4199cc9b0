/* events_tables.c - the tables whose rows are events: the variants of Perfetto's slice tables, and `event`, which only tracekit
 * has. */
#include "events.h"

#define TIMED "id INTEGER, ts INTEGER, dur INTEGER, "
#define THREAD_TIME "thread_ts INTEGER, thread_dur INTEGER"
#define THREAD_COUNTS THREAD_TIME ", thread_instruction_count INTEGER, thread_instruction_delta INTEGER"

#define SLICE_COLUMNS                                                                                                          \
  TIMED "track_id INTEGER, category TEXT, name TEXT, depth INTEGER, stack_id INTEGER, parent_stack_id INTEGER, "               \
        "parent_id INTEGER, arg_set_id INTEGER, " THREAD_COUNTS ", cat TEXT, slice_id INTEGER, "               \
        "child_dur INTEGER HIDDEN" /* for the view slice_self_dur */
static const uint8_t SLICE[] = {COL_ID,       COL_TS,       COL_DUR,      COL_TRACK_ID,        COL_CATEGORY,  COL_NAME,
                                COL_DEPTH,    COL_STACK_ID, COL_PARENT_STACK_ID, COL_PARENT_ID, COL_ARG_SET_ID, COL_THREAD_TS,
                                COL_THREAD_DUR, COL_NULL_INT, COL_NULL_INT, COL_CATEGORY,      COL_ID,
                                COL_CHILD_DUR};

#define THREAD_SLICE_COLUMNS                                                                                                   \
  TIMED "category TEXT, name TEXT, track_id INTEGER, track_name TEXT, thread_name TEXT, utid INTEGER, tid INTEGER, "           \
        "is_main_thread INTEGER, process_name TEXT, upid INTEGER, pid INTEGER, depth INTEGER, parent_id INTEGER, "             \
        "arg_set_id INTEGER, " THREAD_TIME
static const uint8_t THREAD_SLICE[] = {COL_ID,   COL_TS,  COL_DUR,   COL_CATEGORY,  COL_NAME,       COL_TRACK_ID,   COL_TRACK_NAME,
                                       COL_THREAD_NAME,   COL_UTID,  COL_TID,       COL_IS_MAIN_THREAD, COL_PROCESS_NAME,
                                       COL_UPID, COL_PID, COL_DEPTH, COL_PARENT_ID, COL_ARG_SET_ID, COL_THREAD_TS,  COL_THREAD_DUR};

#define PROCESS_SLICE_COLUMNS                                                                                                  \
  TIMED "category TEXT, name TEXT, track_id INTEGER, track_name TEXT, process_name TEXT, upid INTEGER, pid INTEGER, "          \
        "depth INTEGER, parent_id INTEGER, arg_set_id INTEGER, " THREAD_TIME
static const uint8_t PROCESS_SLICE[] = {COL_ID,   COL_TS,  COL_DUR,   COL_CATEGORY,  COL_NAME,       COL_TRACK_ID, COL_TRACK_NAME,
                                        COL_PROCESS_NAME,  COL_UPID,  COL_PID,       COL_DEPTH,      COL_PARENT_ID, COL_ARG_SET_ID,
                                        COL_THREAD_TS, COL_THREAD_DUR};

#define EITHER_SLICE_COLUMNS                                                                                                   \
  TIMED "category TEXT, name TEXT, track_id INTEGER, track_name TEXT, thread_name TEXT, utid INTEGER, tid INTEGER, "           \
        "process_name TEXT, upid INTEGER, pid INTEGER, depth INTEGER, parent_id INTEGER, arg_set_id INTEGER"
static const uint8_t EITHER_SLICE[] = {COL_ID,   COL_TS,  COL_DUR,   COL_CATEGORY,  COL_NAME, COL_TRACK_ID, COL_TRACK_NAME,
                                       COL_THREAD_NAME,   COL_UTID,  COL_TID,       COL_PROCESS_NAME, COL_UPID, COL_PID,
                                       COL_DEPTH, COL_PARENT_ID, COL_ARG_SET_ID};

#define EVENT_COLUMNS                                                                                                          \
  TIMED "name TEXT, category TEXT, type TEXT, kind TEXT, kinds TEXT, self_dur INTEGER, depth INTEGER, parent_id INTEGER, "    \
        "track_id INTEGER, track_name TEXT, thread_name TEXT, tid INTEGER, process_name TEXT, pid INTEGER, utid INTEGER, "     \
        "upid INTEGER, rank INTEGER, host TEXT, step INTEGER, stream INTEGER, device INTEGER, phase TEXT, op TEXT, "           \
        "module TEXT, launch_id INTEGER, arg_set_id INTEGER"
static const uint8_t EVENT[] = {COL_ID,        COL_TS,         COL_DUR,         COL_NAME,     COL_CATEGORY,     COL_TYPE,   COL_KIND,
                                COL_KINDS,     COL_SELF_DUR,   COL_DEPTH,       COL_PARENT_ID, COL_TRACK_ID,    COL_TRACK_NAME,
                                COL_THREAD_NAME, COL_TID,      COL_PROCESS_NAME, COL_PID,     COL_UTID,         COL_UPID,   COL_RANK,
                                COL_HOST,      COL_STEP,       COL_STREAM,      COL_DEVICE,   COL_PHASE,        COL_OP,     COL_MODULE,
                                COL_LAUNCH_ID, COL_ARG_SET_ID};

/* Table-valued functions return the columns of a slice, and take their argument in a hidden column. */
#define FOUND_COLUMNS                                                                                                          \
  TIMED "track_id INTEGER, category TEXT, name TEXT, depth INTEGER, parent_id INTEGER, arg_set_id INTEGER, " THREAD_COUNTS
static const uint8_t FOUND[] = {COL_ID, COL_TS, COL_DUR, COL_TRACK_ID, COL_CATEGORY, COL_NAME, COL_DEPTH, COL_PARENT_ID, COL_ARG_SET_ID,
                                COL_THREAD_TS, COL_THREAD_DUR, COL_NULL_INT, COL_NULL_INT, COL_ARGUMENT};

#define STACKED_COLUMNS                                                                                                        \
  TIMED "track_id INTEGER, category TEXT, name TEXT, depth INTEGER, stack_id INTEGER, parent_stack_id INTEGER, "               \
        "parent_id INTEGER, arg_set_id INTEGER, " THREAD_COUNTS
static const uint8_t STACKED[] = {COL_ID,    COL_TS,       COL_DUR,             COL_TRACK_ID,  COL_CATEGORY,   COL_NAME,     COL_DEPTH,
                                  COL_STACK_ID, COL_PARENT_STACK_ID, COL_PARENT_ID, COL_ARG_SET_ID, COL_THREAD_TS, COL_THREAD_DUR,
                                  COL_NULL_INT, COL_NULL_INT, COL_ARGUMENT};

const struct event_table event_tables[] = {
  {"slice", SLICE_COLUMNS, SLICE, SORT_ALL, false, WALK_ALL},
  {"slices", SLICE_COLUMNS, SLICE, SORT_ALL, false, WALK_ALL},
  {"slice_with_stack_id", SLICE_COLUMNS, SLICE, SORT_ALL, false, WALK_ALL},
  {"thread_slice", THREAD_SLICE_COLUMNS, THREAD_SLICE, SORT_THREAD, false, WALK_ALL},
  {"process_slice", PROCESS_SLICE_COLUMNS, PROCESS_SLICE, SORT_PROCESS, false, WALK_ALL},
  {"thread_or_process_slice", EITHER_SLICE_COLUMNS, EITHER_SLICE, SORT_THREAD | SORT_PROCESS, false, WALK_ALL},
  {"event", EVENT_COLUMNS, EVENT, SORT_ALL, true, WALK_ALL},
  {"ancestor_slice", FOUND_COLUMNS ", start_id INTEGER HIDDEN", FOUND, SORT_ALL, false, WALK_ANCESTORS},
  {"descendant_slice", FOUND_COLUMNS ", start_id INTEGER HIDDEN", FOUND, SORT_ALL, false, WALK_DESCENDANTS},
  {"ancestor_slice_by_stack", STACKED_COLUMNS ", start_stack_id INTEGER HIDDEN", STACKED, SORT_ALL, false, WALK_STACK_UP},
  {"descendant_slice_by_stack", STACKED_COLUMNS ", start_stack_id INTEGER HIDDEN", STACKED, SORT_ALL, false, WALK_STACK_DOWN},
  {0},
};
