"""The brokers of run-fleet.py: librdkafka's mock cluster, in a process that starts no other.

Usage: fleet_brokers.py BROKERS TOPIC PARTITIONS

Prints the addresses of the brokers, separated by commas. Then it reads commands, a line each, and answers each with "ok": `down BROKER`,
`up BROKER` (1, 2, 3 …), and `send FILE`, which produces the messages of a JSON list of texts in base64. It ends with its standard input. The cluster keeps the newest
5 MiB of each partition: a consumer must not be further behind.
"""
import base64, ctypes, json, signal, sys

LIBRARY = "librdkafka.so.1"
CONFIGURATION, PRODUCER, COPY = ctypes.c_void_p, 0, 2


def load():
    library = ctypes.CDLL(LIBRARY)
    signatures = {
        "rd_kafka_conf_new": (CONFIGURATION, []), "rd_kafka_conf_set": (ctypes.c_int, [CONFIGURATION] + [ctypes.c_char_p] * 3 + [ctypes.c_size_t]),
        "rd_kafka_conf_set_log_cb": (None, [CONFIGURATION, ctypes.c_void_p]),
        "rd_kafka_new": (ctypes.c_void_p, [ctypes.c_int, CONFIGURATION, ctypes.c_char_p, ctypes.c_size_t]),
        "rd_kafka_mock_cluster_new": (ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_int]),
        "rd_kafka_mock_cluster_bootstraps": (ctypes.c_char_p, [ctypes.c_void_p]),
        "rd_kafka_mock_topic_create": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_int]),
        "rd_kafka_mock_broker_set_down": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_int32]),
        "rd_kafka_mock_broker_set_up": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_int32]),
        "rd_kafka_topic_new": (ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]),
        "rd_kafka_produce": (
            ctypes.c_int,
            [ctypes.c_void_p, ctypes.c_int32, ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p],
        ),
        "rd_kafka_flush": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_int]), "rd_kafka_topic_destroy": (None, [ctypes.c_void_p]),
        "rd_kafka_destroy": (None, [ctypes.c_void_p]),
        "rd_kafka_topic_partition_list_new": (ctypes.c_void_p, [ctypes.c_int]),
        "rd_kafka_topic_partition_list_add": (ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int32]),
        "rd_kafka_topic_partition_list_set_offset": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int32, ctypes.c_int64]),
        "rd_kafka_topic_partition_list_destroy": (None, [ctypes.c_void_p]), "rd_kafka_assign": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_void_p]),
        "rd_kafka_queue_get_consumer": (ctypes.c_void_p, [ctypes.c_void_p]),
        "rd_kafka_consume_batch_queue": (ctypes.c_ssize_t, [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t]),
        "rd_kafka_message_destroy": (None, [ctypes.c_void_p]), "rd_kafka_commit": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int]),
    }
    for name, (result, arguments) in signatures.items():
        getattr(library, name).restype, getattr(library, name).argtypes = result, arguments
    return library


def new(library, settings=(), kind=PRODUCER):
    configuration = library.rd_kafka_conf_new()
    library.rd_kafka_conf_set_log_cb(configuration, None)
    for name, value in settings:
        if library.rd_kafka_conf_set(configuration, name.encode(), value.encode(), None, 0):
            raise SystemExit(f"librdkafka refuses {name}")
    client = library.rd_kafka_new(kind, configuration, None, 0)
    if not client:
        raise SystemExit("librdkafka creates no client")
    return client


def send(library, brokers, topic, values):
    client = new(library, [("bootstrap.servers", brokers), ("message.max.bytes", "8000000")])
    handle = library.rd_kafka_topic_new(client, topic.encode(), None)
    for value in values:
        if library.rd_kafka_produce(handle, -1, COPY, value, len(value), None, 0, None):
            raise SystemExit("librdkafka refuses a message")
    left = library.rd_kafka_flush(client, 600_000)
    library.rd_kafka_topic_destroy(handle)
    library.rd_kafka_destroy(client)
    if left:
        raise SystemExit("messages were not delivered within 600 s")


def main(count, topic, partitions):
    # A run that is killed leaves nothing for long.
    signal.alarm(7200)
    library = load()
    cluster = library.rd_kafka_mock_cluster_new(new(library), count)
    library.rd_kafka_mock_topic_create(cluster, topic.encode(), partitions, count)
    brokers = library.rd_kafka_mock_cluster_bootstraps(cluster).decode()
    print(brokers, flush=True)
    for line in sys.stdin:
        command, argument = line.split(maxsplit=1)
        if command == "send":
            with open(argument.strip(), encoding="ascii") as file:
                send(library, brokers, topic, [base64.b64decode(text) for text in json.load(file)])
        else:
            change = library.rd_kafka_mock_broker_set_down if command == "down" else library.rd_kafka_mock_broker_set_up
            change(cluster, int(argument))
        print("ok", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
