// libmpv 2 (mpv 0.35): clients of a player and their events.
#ifndef INSTRUMENT_CMPV_H
#define INSTRUMENT_CMPV_H

#include <mpv/client.h>

#endif
