// libmpv 2 (mpv 0.35): clients of a player and their events, and its pictures in memory.
#ifndef INSTRUMENT_CMPV_H
#define INSTRUMENT_CMPV_H

#include <mpv/client.h>
#include <mpv/render.h>

#endif
