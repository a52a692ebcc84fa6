import CKafka.Mock
import Foundation
import Instrument
import InstrumentKafka
import LoopbackServers

/// Brokers on loopback addresses, from librdkafka, which fail on command. They live in a process, which ends with this
/// object.
///
/// Unchecked: the process and its pipes never change, and `isTalking` lets one command at a time use them.
final class MockCluster: @unchecked Sendable {
    static let topic = "samples"

    let partitions: Int
    let brokers: [String]
    private let process = Process()
    private let (commands, answers) = (Pipe.forChild(), Pipe.forChild())
    private let isTalking = Lock(())

    init(brokers: Int = 3, partitions: Int = 4) throws {
        self.partitions = partitions
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments.first ?? "").deletingLastPathComponent()
            .appendingPathComponent("KafkaClusterChild")
        process.arguments = ["\(brokers)"]
        (process.standardInput, process.standardOutput) = (commands, answers)
        try process.start()
        self.brokers = Self.line(answers.fileHandleForReading).split(separator: ",").map(String.init)
        guard self.brokers.count == brokers else { throw NoCluster() }
        createTopic(Self.topic, partitions: partitions, replicas: brokers)
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
    }

    func endpoint(_ topic: String = topic) throws -> KafkaEndpoint { try KafkaEndpoint(brokers: brokers, topic: topic) }

    // MARK: Failing

    func createTopic(_ name: String, partitions: Int, replicas: Int) { run("topic \(name) \(partitions) \(replicas)") }

    /// Brokers have the numbers 1, 2, 3 ….
    func setBroker(_ number: Int, isDown: Bool) { run("\(isDown ? "down" : "up") \(number)") }

    func setLeader(of partition: Int, to broker: Int) { run("leader \(Self.topic) \(partition) \(broker)") }

    func setRoundTrip(of broker: Int, milliseconds: Int) { run("roundtrip \(broker) \(milliseconds)") }

    /// The next requests that produce are answered with these errors, each with one.
    func failProducing(_ errors: rd_kafka_resp_err_t...) { fail(errors) }

    func failProducing(_ error: rd_kafka_resp_err_t, times: Int) { fail(Array(repeating: error, count: times)) }

    private func fail(_ errors: [rd_kafka_resp_err_t]) {
        run("fail " + errors.map { "\($0.rawValue)" }.joined(separator: " "))
    }

    /// Requests that produce succeed again.
    func endFailures() { run("succeed") }

    func setTopicError(_ error: rd_kafka_resp_err_t) { run("refuse \(Self.topic) \(error.rawValue)") }

    private func run(_ command: String) {
        isTalking.withLock { _ in
            commands.fileHandleForWriting.write(Data((command + "\n").utf8))
            let answer = Self.line(answers.fileHandleForReading)
            precondition(answer == "ok", "The brokers answered '\(answer)' to '\(command)'.")
        }
    }

    private static func line(_ handle: FileHandle) -> String {
        var bytes: [UInt8] = []
        while let byte = handle.readData(ofLength: 1).first, byte != UInt8(ascii: "\n") { bytes.append(byte) }
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: Reading

    struct Message: Hashable {
        let partition: Int
        let key: String?
        let value: [UInt8]
        let headers: [String: String]

        var id: SampleID? { headers["id"].flatMap { SampleID($0) } }
    }

    /// Every message of the topic: partition by partition, each in its order. Blocks; every broker must be up.
    func messages(of topic: String = topic) throws -> [Message] {
        let configuration = rd_kafka_conf_new()
        rd_kafka_conf_set_log_cb(configuration) { _, _, _, _ in }
        for (name, value) in [
            ("bootstrap.servers", brokers.joined(separator: ",")), ("group.id", "test"),
            ("enable.partition.eof", "true"), ("enable.auto.commit", "false"), ("check.crcs", "true"),
        ] {
            guard rd_kafka_conf_set(configuration, name, value, nil, 0) == RD_KAFKA_CONF_OK else { throw NoCluster() }
        }
        guard let consumer = rd_kafka_new(RD_KAFKA_CONSUMER, configuration, nil, 0) else { throw NoCluster() }
        defer { rd_kafka_destroy(consumer) }
        rd_kafka_poll_set_consumer(consumer)
        let list = rd_kafka_topic_partition_list_new(Int32(partitions))
        defer { rd_kafka_topic_partition_list_destroy(list) }
        for partition in 0..<partitions {
            rd_kafka_topic_partition_list_add(list, topic, Int32(partition)).pointee.offset = -2
        }
        guard rd_kafka_assign(consumer, list) == RD_KAFKA_RESP_ERR_NO_ERROR else { throw NoCluster() }
        var (read, ended) = ([Message](), Set<Int32>())
        // Ten silent minutes end the wait.
        var patience = 6000
        while ended.count < partitions, patience > 0 {
            guard let message = rd_kafka_consumer_poll(consumer, 100) else {
                patience -= 1
                continue
            }
            defer { rd_kafka_message_destroy(message) }
            switch message.pointee.err {
            case RD_KAFKA_RESP_ERR_NO_ERROR: read.append(Self.message(message))
            case RD_KAFKA_RESP_ERR__PARTITION_EOF: ended.insert(message.pointee.partition)
            default: break
            }
        }
        if patience == 0 { throw NoCluster() }
        return read.enumerated().sorted { ($0.element.partition, $0.offset) < ($1.element.partition, $1.offset) }
            .map(\.element)
    }

    private static func message(_ message: UnsafeMutablePointer<rd_kafka_message_t>) -> Message {
        let fields = message.pointee
        var headers: [String: String] = [:]
        var list: OpaquePointer?
        if rd_kafka_message_headers(message, &list) == RD_KAFKA_RESP_ERR_NO_ERROR {
            var (index, name, value, size) = (0, nil as UnsafePointer<CChar>?, nil as UnsafeRawPointer?, 0)
            while rd_kafka_header_get_all(list, index, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR {
                if let name { headers[String(cString: name)] = String(decoding: bytes(value, size), as: UTF8.self) }
                index += 1
            }
        }
        return Message(
            partition: Int(fields.partition),
            key: fields.key.map { String(decoding: bytes($0, fields.key_len), as: UTF8.self) },
            value: bytes(fields.payload, fields.len),
            headers: headers
        )
    }

    private static func bytes(_ start: UnsafeRawPointer?, _ count: Int) -> [UInt8] {
        Array(UnsafeRawBufferPointer(start: start, count: count))
    }
}

struct NoCluster: Error {}
