// The brokers of the Kafka tests: librdkafka's mock cluster, in a process that starts no other.
//
//   KafkaClusterChild BROKERS
//
// It writes the addresses of the brokers as one line, separated by commas. Then it reads commands, a line each, and
// answers each with "ok" or "error". It ends with its standard input.
//
//   topic NAME PARTITIONS REPLICAS     creates a topic
//   down BROKER | up BROKER            brokers have the numbers 1, 2, 3 …
//   leader TOPIC PARTITION BROKER
//   roundtrip BROKER MILLISECONDS
//   fail ERROR…                        the next requests that produce are answered with these errors, each with one
//   succeed                            forgets the errors that were not answered yet
//   refuse TOPIC ERROR                 answers every request for the topic with the error; 0 ends this
//
// A broker that goes down closes its port and binds it again, and librdkafka ends the process if that fails. It fails
// while a child that was forked before holds a copy of the closed socket, so that the brokers cannot live in the test
// process, which starts many children.

import CKafka.Mock
import Foundation

/// The number of the request that produces, in the protocol.
let produce: Int16 = 0

struct InvalidCommand: Error {}

func answer(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

func run(_ words: [String], on cluster: OpaquePointer) throws {
    func number(_ index: Int) throws -> Int32 {
        guard words.indices.contains(index), let number = Int32(words[index]) else { throw InvalidCommand() }
        return number
    }
    let result =
        switch words.first {
        case "topic": rd_kafka_mock_topic_create(cluster, words[1], try number(2), try number(3))
        case "down": rd_kafka_mock_broker_set_down(cluster, try number(1))
        case "up": rd_kafka_mock_broker_set_up(cluster, try number(1))
        case "leader": rd_kafka_mock_partition_set_leader(cluster, words[1], try number(2), try number(3))
        case "roundtrip": rd_kafka_mock_broker_set_rtt(cluster, try number(1), try number(2))
        case "fail": try fail(words.indices.dropFirst().map(number), on: cluster)
        case "succeed": succeed(on: cluster)
        case "refuse": try refuse(words[1], number(2), on: cluster)
        default: throw InvalidCommand()
        }
    guard result == RD_KAFKA_RESP_ERR_NO_ERROR else { throw InvalidCommand() }
}

func fail(_ errors: [Int32], on cluster: OpaquePointer) -> rd_kafka_resp_err_t {
    let errors = errors.map(rd_kafka_resp_err_t.init(rawValue:))
    rd_kafka_mock_push_request_errors_array(cluster, produce, errors.count, errors)
    return RD_KAFKA_RESP_ERR_NO_ERROR
}

func succeed(on cluster: OpaquePointer) -> rd_kafka_resp_err_t {
    rd_kafka_mock_clear_request_errors(cluster, produce)
    return RD_KAFKA_RESP_ERR_NO_ERROR
}

func refuse(_ topic: String, _ error: Int32, on cluster: OpaquePointer) -> rd_kafka_resp_err_t {
    rd_kafka_mock_topic_set_error(cluster, topic, rd_kafka_resp_err_t(rawValue: error))
    return RD_KAFKA_RESP_ERR_NO_ERROR
}

// A test run that is killed leaves nothing for long.
alarm(3600)
let configuration = rd_kafka_conf_new()
rd_kafka_conf_set_log_cb(configuration) { _, _, _, _ in }
guard let count = CommandLine.arguments.dropFirst().first.flatMap({ Int32($0) }),
    let producer = rd_kafka_new(RD_KAFKA_PRODUCER, configuration, nil, 0),
    let cluster = rd_kafka_mock_cluster_new(producer, count)
else { exit(2) }
answer(String(cString: rd_kafka_mock_cluster_bootstraps(cluster)))
while let line = readLine() {
    do {
        try run(line.split(separator: " ").map(String.init), on: cluster)
        answer("ok")
    } catch {
        answer("error")
    }
}
exit(0)
