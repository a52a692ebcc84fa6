internal import CKafka
internal import Instrument
internal import InstrumentHTTP
internal import InstrumentText

/// A producer of librdkafka, with its settings. Used by one thread at a time: that of ``KafkaConnection``.
final class KafkaProducer: CustomReflectable {
    /// What the callbacks of librdkafka write, on the thread that polls.
    final class Notes {
        var reports = DeliveryReports()
        /// What librdkafka said last about its connections.
        var words: String?
        /// Whether that was about the login or the certificates.
        var isUnauthorized = false
        let secrets: [String]

        /// Why no broker answers; nil without news about connections.
        var unreached: KafkaFailure? {
            words.map { KafkaFailure(unreached: $0, isUnauthorized: isUnauthorized, secrets: secrets) }
        }

        init(secrets: [String]) { self.secrets = secrets }
    }

    let notes: Notes
    private let handle: OpaquePointer
    private let topic: OpaquePointer

    /// - Throws: ``KafkaError`` if librdkafka refuses a setting, or cannot start its threads.
    init(_ settings: KafkaSettings, topic name: String) throws(KafkaError) {
        let notes = Notes(secrets: settings.secrets)
        let configuration = try Self.configuration(settings)
        rd_kafka_conf_set_opaque(configuration, Unmanaged.passUnretained(notes).toOpaque())
        var text = [CChar](repeating: 0, count: 512)
        guard let handle = rd_kafka_new(RD_KAFKA_PRODUCER, configuration, &text, text.count) else {
            // Only a producer that was created owns the configuration.
            rd_kafka_conf_destroy(configuration)
            throw Self.refusal(text, settings)
        }
        guard let topic = rd_kafka_topic_new(handle, name, nil) else {
            rd_kafka_destroy(handle)
            throw KafkaError(.invalidSetting, "librdkafka refuses the topic \"\(name)\"")
        }
        self.notes = notes
        self.handle = handle
        self.topic = topic
    }

    /// Messages that were not sent are dropped; the queue has them.
    deinit {
        rd_kafka_purge(handle, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT)
        rd_kafka_topic_destroy(topic)
        rd_kafka_destroy(handle)
    }

    /// Checks settings without a producer.
    static func check(_ settings: KafkaSettings) throws(KafkaError) {
        rd_kafka_conf_destroy(try configuration(settings))
    }

    private static func configuration(_ settings: KafkaSettings) throws(KafkaError) -> OpaquePointer {
        guard let configuration = rd_kafka_conf_new() else {
            throw KafkaError(.invalidSetting, "librdkafka has no memory for its settings")
        }
        for (name, value) in settings.fixed + settings.others {
            var text = [CChar](repeating: 0, count: 512)
            if rd_kafka_conf_set(configuration, name, value, &text, text.count) == RD_KAFKA_CONF_OK { continue }
            rd_kafka_conf_destroy(configuration)
            throw refusal(text, settings)
        }
        rd_kafka_conf_set_dr_msg_cb(configuration, reported)
        rd_kafka_conf_set_error_cb(configuration, failed)
        // The reasons of failures reach the app as diagnostics of the queue; nothing writes to standard error.
        rd_kafka_conf_set_log_cb(configuration, logged)
        return configuration
    }

    private static func refusal(_ text: [CChar], _ settings: KafkaSettings) -> KafkaError {
        let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        let words = ServerWords.words(String(decoding: bytes, as: UTF8.self), hiding: settings.secrets) ?? "no reason"
        return KafkaError(.invalidSetting, "librdkafka refuses a setting: " + words)
    }

    /// Empty, so that no dump shows a password.
    var customMirror: Mirror { Mirror(self, children: []) }

    // MARK: Producing

    /// What a call that produces a message returned.
    enum Production: Hashable {
        case underWay
        /// The buffer is full: poll, then try again.
        case full
        case failed(KafkaFailure)
    }

    /// Hands a message to librdkafka, which copies it. Does not block.
    func produce(_ message: OutgoingMessages.Message, of part: OutgoingMessages, number: Int) -> Production {
        let code = part.values.withBytes { values in
            part.texts.withBytes { texts in
                call(
                    UnsafeRawBufferPointer(rebasing: values[message.value]),
                    message.key.map { UnsafeRawBufferPointer(rebasing: texts[$0]) },
                    Self.list(part.headers[message.headers], texts),
                    number
                )
            }
        }
        switch code {
        case RD_KAFKA_RESP_ERR_NO_ERROR: return .underWay
        case RD_KAFKA_RESP_ERR__QUEUE_FULL: return .full
        default: return .failed(KafkaFailure(ofProducing: code, secrets: notes.secrets))
        }
    }

    private func call(
        _ value: UnsafeRawBufferPointer,
        _ key: UnsafeRawBufferPointer?,
        _ list: OpaquePointer?,
        _ number: Int
    ) -> rd_kafka_resp_err_t {
        let error = withUnsafeTemporaryAllocation(of: rd_kafka_vu_t.self, capacity: 6) { parts in
            var count = 0
            func add(_ type: rd_kafka_vtype_t, _ set: (inout rd_kafka_vu_t) -> Void) {
                var part = rd_kafka_vu_t()
                part.vtype = type
                set(&part)
                parts.initializeElement(at: count, to: part)
                count += 1
            }
            add(RD_KAFKA_VTYPE_RKT) { $0.u.rkt = topic }
            add(RD_KAFKA_VTYPE_VALUE) {
                $0.u.mem = .init(ptr: UnsafeMutableRawPointer(mutating: value.baseAddress), size: value.count)
            }
            add(RD_KAFKA_VTYPE_MSGFLAGS) { $0.u.i = Int32(RD_KAFKA_MSG_F_COPY) }
            add(RD_KAFKA_VTYPE_OPAQUE) { $0.u.ptr = UnsafeMutableRawPointer(bitPattern: number + 1) }
            if let key {
                add(RD_KAFKA_VTYPE_KEY) {
                    $0.u.mem = .init(ptr: UnsafeMutableRawPointer(mutating: key.baseAddress), size: key.count)
                }
            }
            if let list { add(RD_KAFKA_VTYPE_HEADERS) { $0.u.headers = list } }
            return rd_kafka_produceva(handle, parts.baseAddress, count)
        }
        guard let error else { return RD_KAFKA_RESP_ERR_NO_ERROR }
        // Only a message that was taken owns its headers.
        if let list { rd_kafka_headers_destroy(list) }
        defer { rd_kafka_error_destroy(error) }
        return rd_kafka_error_code(error)
    }

    /// The headers of a message for librdkafka, which copies their texts; nil without headers.
    private static func list(
        _ headers: ArraySlice<OutgoingMessages.Header>,
        _ texts: UnsafeRawBufferPointer
    ) -> OpaquePointer? {
        if headers.isEmpty { return nil }
        let list = rd_kafka_headers_new(headers.count)
        for header in headers {
            let name = UnsafeRawBufferPointer(rebasing: texts[header.name])
            let value = UnsafeRawBufferPointer(rebasing: texts[header.value])
            _ = name.withMemoryRebound(to: CChar.self) {
                rd_kafka_header_add(list, $0.baseAddress, $0.count, value.baseAddress, value.count)
            }
        }
        return list
    }

    /// Serves reports; waits for the first one, at most for `milliseconds`.
    func poll(milliseconds: Int32) { rd_kafka_poll(handle, milliseconds) }

    /// The error after which this producer sends nothing more; nil while it can.
    var fatalError: String? {
        var text = [CChar](repeating: 0, count: 512)
        let code = rd_kafka_fatal_error(handle, &text, text.count)
        return code == RD_KAFKA_RESP_ERR_NO_ERROR ? nil : String(cString: rd_kafka_err2name(code))
    }
}

// MARK: Callbacks

private func notes(_ opaque: UnsafeMutableRawPointer?) -> KafkaProducer.Notes? {
    opaque.map { Unmanaged<KafkaProducer.Notes>.fromOpaque($0).takeUnretainedValue() }
}

/// The report of a message; called by `rd_kafka_poll`.
private func reported(
    _ handle: OpaquePointer?,
    _ message: UnsafePointer<rd_kafka_message_t>?,
    _ opaque: UnsafeMutableRawPointer?
) {
    guard let notes = notes(opaque), let message = message?.pointee else { return }
    let number = Int(bitPattern: message._private) - 1
    if message.err == RD_KAFKA_RESP_ERR_NO_ERROR { return notes.reports.report(number, nil) }
    var failure = KafkaFailure(message.err, words: notes.words, secrets: notes.secrets)
    if message.err == RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, notes.isUnauthorized {
        failure = KafkaFailure(.unauthorized, failure.reason)
    }
    notes.reports.report(number, failure)
}

/// News about connections; called by `rd_kafka_poll`.
private func failed(
    _ handle: OpaquePointer?,
    _ error: Int32,
    _ reason: UnsafePointer<CChar>?,
    _ opaque: UnsafeMutableRawPointer?
) {
    guard let notes = notes(opaque), let reason else { return }
    let code = rd_kafka_resp_err_t(rawValue: error)
    // Only sums up what was said about each broker.
    if code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, notes.words != nil { return }
    notes.words = KafkaFailure.words(ofConnection: String(cString: reason))
    notes.isUnauthorized = code == RD_KAFKA_RESP_ERR__AUTHENTICATION || code == RD_KAFKA_RESP_ERR__SSL
}

private func logged(
    _ handle: OpaquePointer?,
    _ level: Int32,
    _ facility: UnsafePointer<CChar>?,
    _ text: UnsafePointer<CChar>?
) {}
