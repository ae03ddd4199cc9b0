/* scheduler.h - names that readers of the scheduler share, so that the same queries work for each format. */
#ifndef FORMAT_SCHEDULER_H
#define FORMAT_SCHEDULER_H

/* Name of the process with a thread for each CPU, and categories of the spans on CPUs and of the states of threads. */
#define SCHEDULER_PROCESS "CPU scheduling"
#define SCHEDULER_RUNS "sched"
#define SCHEDULER_STATES "thread_state"

enum scheduler_state {
  SCHEDULER_RUNNABLE, SCHEDULER_PREEMPTED, SCHEDULER_SLEEPING, SCHEDULER_BLOCKED, SCHEDULER_STOPPED, SCHEDULER_TRACED, SCHEDULER_DEAD,
  SCHEDULER_ZOMBIE, SCHEDULER_PARKED, SCHEDULER_TASK_DEAD, SCHEDULER_WAKE_KILL, SCHEDULER_WAKING, SCHEDULER_NO_LOAD, SCHEDULER_IDLE,
  SCHEDULER_RUNNING
};

/* Returns the name of a state in Perfetto's viewer. */
const char *scheduler_name(enum scheduler_state state);

#endif
