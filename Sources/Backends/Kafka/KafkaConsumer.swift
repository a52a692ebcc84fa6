internal import CKafka
internal import Instrument
internal import InstrumentHTTP

/// A consumer of librdkafka for all partitions of a topic. Used by one thread at a time: that of ``KafkaReader``.
final class KafkaConsumer: CustomReflectable {
    /// What a poll returned.
    enum News: Hashable {
        case message([UInt8])
        /// A partition has no newer message.
        case end
        case nothing
    }

    /// What the callback about connections writes, on the thread that polls.
    private final class Notes { var words: String? }

    private static let timeout: Int32 = 10_000
    /// How often new partitions are looked for.
    private static let refreshInterval = Duration.seconds(60)

    private let handle: OpaquePointer
    private let topic: String
    private let secrets: [String]
    private let notes: Notes
    private let clock = SystemClock()
    private var nextRefresh: MonotonicInstant
    /// The offset of the next message, by partition.
    private(set) var offsets: [Int32: Int64] = [:]
    private var partitionsAtEnd: Set<Int32> = []

    var isAtEnd: Bool { !offsets.isEmpty && partitionsAtEnd.count == offsets.count }

    /// - Throws: ``KafkaError`` if no broker answers, or the topic does not exist.
    init(_ settings: KafkaSettings, topic: String, from start: KafkaStart) throws(KafkaError) {
        let notes = Notes()
        guard let configuration = rd_kafka_conf_new() else {
            throw KafkaError(.invalidSetting, "librdkafka has no memory for its settings")
        }
        var text = [CChar](repeating: 0, count: 512)
        for (name, value) in settings.fixed + settings.others
        where rd_kafka_conf_set(configuration, name, value, &text, text.count) != RD_KAFKA_CONF_OK {
            rd_kafka_conf_destroy(configuration)
            throw Self.failure("librdkafka refuses a setting: " + Self.string(text), hiding: settings.secrets)
        }
        rd_kafka_conf_set_opaque(configuration, Unmanaged.passUnretained(notes).toOpaque())
        rd_kafka_conf_set_error_cb(configuration) { _, code, reason, opaque in
            guard let opaque, let reason else { return }
            let notes = Unmanaged<Notes>.fromOpaque(opaque).takeUnretainedValue()
            // Only sums up what was said about each broker.
            if code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN.rawValue, notes.words != nil { return }
            notes.words = KafkaFailure.words(ofConnection: String(cString: reason))
        }
        rd_kafka_conf_set_log_cb(configuration) { _, _, _, _ in }
        guard let handle = rd_kafka_new(RD_KAFKA_CONSUMER, configuration, &text, text.count) else {
            rd_kafka_conf_destroy(configuration)
            throw Self.failure("librdkafka refuses a setting: " + Self.string(text), hiding: settings.secrets)
        }
        (self.handle, self.topic, self.notes, secrets) = (handle, topic, notes, settings.secrets)
        nextRefresh = clock.now.advanced(by: Self.refreshInterval)
        rd_kafka_poll_set_consumer(handle)
        try assign(try begin(of: try partitions(), start))
    }

    deinit { rd_kafka_destroy_flags(handle, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE) }

    /// Empty, so that no dump shows a password.
    var customMirror: Mirror { Mirror(self, children: []) }

    /// Looks for new partitions now and then, and asks the brokers whether they are there after bad news.
    func refresh() throws(KafkaError) {
        guard notes.words != nil || nextRefresh <= clock.now else { return }
        let all = try partitions()
        notes.words = nil
        nextRefresh = clock.now.advanced(by: Self.refreshInterval)
        let new = all.filter { offsets[$0] == nil }
        // Their messages are all new.
        if !new.isEmpty {
            try assign(Dictionary(new.map { ($0, Int64(RD_KAFKA_OFFSET_BEGINNING)) }) { first, _ in first })
        }
    }

    /// Waits for a message.
    /// - Throws: ``KafkaError`` for a failure that does not end by itself.
    func poll(milliseconds: Int32) throws(KafkaError) -> News {
        guard let message = rd_kafka_consumer_poll(handle, milliseconds) else { return .nothing }
        defer { rd_kafka_message_destroy(message) }
        let fields = message.pointee
        switch fields.err {
        case RD_KAFKA_RESP_ERR_NO_ERROR:
            offsets[fields.partition] = fields.offset + 1
            partitionsAtEnd.remove(fields.partition)
            return .message(Array(UnsafeRawBufferPointer(start: fields.payload, count: fields.len)))
        case RD_KAFKA_RESP_ERR__PARTITION_EOF:
            partitionsAtEnd.insert(fields.partition)
            if offsets[fields.partition].map({ $0 < 0 }) ?? true { offsets[fields.partition] = fields.offset }
            return .end
        case RD_KAFKA_RESP_ERR__TRANSPORT, RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, RD_KAFKA_RESP_ERR__TIMED_OUT,
            RD_KAFKA_RESP_ERR__RESOLVE, RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
            // librdkafka connects again; the next refresh says whether it could.
            notes.words = notes.words ?? Self.text(fields.err)
            return .nothing
        default: throw failure("the brokers refuse to send messages: " + Self.text(fields.err))
        }
    }

    // MARK: Positions

    /// The numbers of the topic's partitions.
    private func partitions() throws(KafkaError) -> [Int32] {
        guard let topicHandle = rd_kafka_topic_new(handle, topic, nil) else {
            throw failure("librdkafka refuses the topic \"\(topic)\"")
        }
        defer { rd_kafka_topic_destroy(topicHandle) }
        var metadata: UnsafePointer<rd_kafka_metadata>?
        let code = rd_kafka_metadata(handle, 0, topicHandle, &metadata, Self.timeout)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR, let metadata else {
            // Serves what was said about the connections. A message is read again, because this consumer ends.
            if let message = rd_kafka_consumer_poll(handle, 0) { rd_kafka_message_destroy(message) }
            throw failure("no broker answers: " + (notes.words ?? Self.text(code)))
        }
        defer { rd_kafka_metadata_destroy(metadata) }
        guard metadata.pointee.topic_cnt == 1, let found = metadata.pointee.topics?.pointee else {
            throw failure("the brokers say nothing about the topic \"\(topic)\"")
        }
        guard found.err == RD_KAFKA_RESP_ERR_NO_ERROR, found.partition_cnt > 0 else {
            throw failure("the topic \"\(topic)\" cannot be read: \(Self.text(found.err)); create the topic")
        }
        return UnsafeBufferPointer(start: found.partitions, count: Int(found.partition_cnt)).map(\.id)
    }

    /// The offsets to begin at.
    private func begin(of partitions: [Int32], _ start: KafkaStart) throws(KafkaError) -> [Int32: Int64] {
        let values: [(Int32, Int64)]
        switch start {
        case .offsets(let known):
            values = partitions.map { ($0, known[$0] ?? Int64(RD_KAFKA_OFFSET_BEGINNING)) }
        case .since(let time): values = try offsets(of: partitions, at: time)
        case .latest:
            // The numbers, and not "the end": a failure before the first message must not move the beginning.
            var ends: [(Int32, Int64)] = []
            for partition in partitions {
                var (low, high): (Int64, Int64) = (0, 0)
                let code = rd_kafka_query_watermark_offsets(handle, topic, partition, &low, &high, Self.timeout)
                guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
                    throw failure("the end of partition \(partition) is unknown: " + Self.text(code))
                }
                ends.append((partition, high))
            }
            values = ends
        }
        return Dictionary(values) { first, _ in first }
    }

    private func offsets(of partitions: [Int32], at time: WallTime) throws(KafkaError) -> [(Int32, Int64)] {
        guard let list = rd_kafka_topic_partition_list_new(Int32(partitions.count)) else {
            throw failure("librdkafka has no memory for the partitions")
        }
        defer { rd_kafka_topic_partition_list_destroy(list) }
        for partition in partitions {
            rd_kafka_topic_partition_list_add(list, topic, partition)?.pointee.offset = max(0, time.milliseconds)
        }
        let code = rd_kafka_offsets_for_times(handle, list, Self.timeout)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
            throw failure("the offsets of a time are unknown: " + Self.text(code))
        }
        // A partition without a message since then has the offset of its end.
        return UnsafeBufferPointer(start: list.pointee.elems, count: Int(list.pointee.cnt)).map {
            ($0.partition, $0.offset)
        }
    }

    /// Reads further partitions.
    private func assign(_ begin: [Int32: Int64]) throws(KafkaError) {
        guard let list = rd_kafka_topic_partition_list_new(Int32(begin.count)) else {
            throw failure("librdkafka has no memory for the partitions")
        }
        defer { rd_kafka_topic_partition_list_destroy(list) }
        for (partition, offset) in begin.merging(offsets, uniquingKeysWith: { $1 }) {
            rd_kafka_topic_partition_list_add(list, topic, partition)?.pointee.offset = offset
        }
        let code = rd_kafka_assign(handle, list)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
            throw failure("the partitions cannot be read: " + Self.text(code))
        }
        offsets.merge(begin) { known, _ in known }
        partitionsAtEnd = []
    }

    // MARK: Words

    private func failure(_ text: String) -> KafkaError { Self.failure(text, hiding: secrets) }

    private static func failure(_ text: String, hiding secrets: [String]) -> KafkaError {
        KafkaError(.unreadable, ServerWords.words(text, hiding: secrets) ?? "the topic cannot be read")
    }

    private static func text(_ code: rd_kafka_resp_err_t) -> String {
        String(cString: rd_kafka_err2str(code)) + " (" + String(cString: rd_kafka_err2name(code)) + ")"
    }

    private static func string(_ text: [CChar]) -> String {
        String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension KafkaError.Code {
    /// A topic cannot be read now.
    static let unreadable = KafkaError.Code("unreadable")
}
