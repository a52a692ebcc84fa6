// libcurl, 7.68 or later: `curl_multi_wakeup` came with that.
#ifndef INSTRUMENT_CCURL_H
#define INSTRUMENT_CCURL_H

#include <curl/curl.h>

#endif
