/* scheduler.c - see scheduler.h. */
#include "scheduler.h"

const char *scheduler_name(enum scheduler_state state) {
  static const char *const NAMES[] = {
      [SCHEDULER_RUNNABLE] = "Runnable", [SCHEDULER_PREEMPTED] = "Runnable (Preempted)", [SCHEDULER_SLEEPING] = "Sleeping",
      [SCHEDULER_BLOCKED] = "Uninterruptible Sleep", [SCHEDULER_STOPPED] = "Stopped", [SCHEDULER_TRACED] = "Traced",
      [SCHEDULER_DEAD] = "Exit (Dead)", [SCHEDULER_ZOMBIE] = "Exit (Zombie)", [SCHEDULER_PARKED] = "Parked",
      [SCHEDULER_TASK_DEAD] = "Task Dead", [SCHEDULER_WAKE_KILL] = "Wake Kill", [SCHEDULER_WAKING] = "Waking",
      [SCHEDULER_NO_LOAD] = "No Load", [SCHEDULER_IDLE] = "Idle", [SCHEDULER_RUNNING] = "Running"};
  return NAMES[state];
}
