internal import CKafka
internal import InstrumentHTTP

/// Why a message has not arrived, and what that means for the batch.
struct KafkaFailure: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        /// Temporary: the same message may arrive later.
        case temporary
        /// The cluster does not accept the login or the topic, which an operator may change.
        case unauthorized
        /// The broker refuses a record batch as too large; the message may be a small one among others.
        case tooLarge
        /// The broker refuses a record batch; the message may be an innocent one among others.
        case refused
        /// The message itself is refused, whatever other messages are sent with it.
        case culprit
    }

    let kind: Kind
    let reason: String

    /// The failure of a report.
    ///
    /// - Parameters:
    ///   - code: the report's error.
    ///   - words: what librdkafka said last about its connections, which explains a message that was not sent in time.
    ///   - secrets: texts to hide.
    init(_ code: rd_kafka_resp_err_t, words: String?, secrets: [String]) {
        var text = String(cString: rd_kafka_err2str(code)) + " (" + String(cString: rd_kafka_err2name(code)) + ")"
        if Self.isConnection(code), let words { text += ": " + words }
        kind = Self.kind(of: code)
        reason = ServerWords.words(text, hiding: secrets) ?? "the message was not delivered"
    }

    /// The failure of messages that wait because no broker answers.
    init(unreached words: String, isUnauthorized: Bool, secrets: [String]) {
        let text = "no broker answers: " + words
        kind = isUnauthorized ? .unauthorized : .temporary
        reason = ServerWords.words(text, hiding: secrets) ?? "no broker answers"
    }

    /// The failure of a message that the producer itself does not take.
    init(ofProducing code: rd_kafka_resp_err_t, secrets: [String]) {
        let failure = KafkaFailure(code, words: nil, secrets: secrets)
        kind = failure.kind == .tooLarge || failure.kind == .refused ? .culprit : failure.kind
        reason = failure.reason
    }

    init(_ kind: Kind, _ reason: String) {
        self.kind = kind
        self.reason = reason
    }

    /// What librdkafka says about a connection, without the parts that differ from attempt to attempt.
    static func words(ofConnection text: String) -> String {
        text.firstRange(of: " (after ").map { String(text[..<$0.lowerBound]) } ?? text
    }

    /// Whether the error means that no broker has answered.
    private static func isConnection(_ code: rd_kafka_resp_err_t) -> Bool {
        switch code {
        case RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, RD_KAFKA_RESP_ERR__TIMED_OUT, RD_KAFKA_RESP_ERR__TRANSPORT,
            RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
            true
        default: false
        }
    }

    private static func kind(of code: rd_kafka_resp_err_t) -> Kind {
        switch code {
        case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE,
            RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE:
            .tooLarge
        case RD_KAFKA_RESP_ERR_INVALID_RECORD, RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP, RD_KAFKA_RESP_ERR_POLICY_VIOLATION,
            RD_KAFKA_RESP_ERR_UNSUPPORTED_FOR_MESSAGE_FORMAT, RD_KAFKA_RESP_ERR__BAD_MSG:
            .refused
        case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED,
            RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED, RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM,
            RD_KAFKA_RESP_ERR_SECURITY_DISABLED, RD_KAFKA_RESP_ERR__AUTHENTICATION, RD_KAFKA_RESP_ERR__SSL,
            // Topics and settings that an operator has to create or change.
            RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC,
            RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION, RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION,
            RD_KAFKA_RESP_ERR_INVALID_REQUIRED_ACKS:
            .unauthorized
        default: .temporary
        }
    }
}
