// Signals that are told to a pipe: what a handler may do, and Swift cannot say.
#ifndef INSTRUMENT_SIGNAL_SHIM_H
#define INSTRUMENT_SIGNAL_SHIM_H

// Makes the pipe that notes come through; returns its end to read from, or -1 with errno set. Once a process; not
// thread-safe, nor are the others.
int signal_shim_open(void);
// Puts our handler before the one that is installed now; 0, or 1 if the signal is ignored and stays so, or -1 with
// errno set. Does nothing for a signal that is watched already.
int signal_shim_watch(int number);
// The same for a signal that the process takes any number of times, such as SIGHUP for a reload: none of them ends it.
int signal_shim_watch_repeatedly(int number);
// Puts back what was installed before us, unless somebody has installed another since.
void signal_shim_unwatch(int number);
// Whether the signal was the default's before us, and so would end or stop the process.
int signal_shim_had_default(int number);

#endif
