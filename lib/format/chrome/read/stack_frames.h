/* stack_frames.h - the top-level dictionary "stackFrames" of Chrome JSON, to which samples refer by the id of a frame.
 *
 *     "stackFrames":{"5":{"name":"main","category":"app"},"7":{"name":"work","category":"lib.so","parent":"5"}} */
#ifndef FORMAT_CHROME_READ_STACK_FRAMES_H
#define FORMAT_CHROME_READ_STACK_FRAMES_H

#include "format/json_walk.h"
#include "graph/trace.h"

struct stack_frames {
  struct tk_trace *t;
  struct intern ids; /* text of an id -> number of the frame */
  struct stack_entry {
    uint32_t parent; /* number of the parent; 0 = none */
    tk_id frame;     /* 0 = the dictionary does not have this frame */
    tk_id stack;
    bool has_stack;
  } *list; /* by number of the frame */
  uint32_t cap;
  uint32_t *path;
  uint32_t cap_path;
  bool read;
};

void stack_frames_init(struct stack_frames *f, struct tk_trace *t);
void stack_frames_free(struct stack_frames *f);

/* Returns the stack whose innermost frame has this id, a number or a string; 0 if the dictionary does not have it. */
tk_id stack_frames_find(struct stack_frames *f, struct json_walk *w, const struct json_value *id);

#endif
