// libVLC 3.0: media players and their events.
#ifndef INSTRUMENT_CVLC_H
#define INSTRUMENT_CVLC_H

#include <vlc/vlc.h>

#endif
