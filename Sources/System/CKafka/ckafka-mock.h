// The mock cluster inside librdkafka.
#ifndef INSTRUMENT_CKAFKA_MOCK_H
#define INSTRUMENT_CKAFKA_MOCK_H

#include "ckafka.h"
#include <librdkafka/rdkafka_mock.h>

#endif
