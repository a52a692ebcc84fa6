// librdkafka, 1.9 or later: a producer that is idempotent, and `rd_kafka_produceva`.
#ifndef INSTRUMENT_CKAFKA_H
#define INSTRUMENT_CKAFKA_H

#include <librdkafka/rdkafka.h>

#endif
