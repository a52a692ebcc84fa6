internal import Instrument

/// The results of one delivery.
struct PublishResults {
    /// The messages to publish, in their order.
    let waiting: [OutgoingMessage]
    /// The samples whose messages the stream has stored in this delivery.
    private(set) var stored: [SampleID] = []
    private var refused: [SampleID: String] = [:]
    private var temporary: String?
    private var unauthorized: String?

    /// - Parameters:
    ///   - messages: the messages of the batch.
    ///   - limit: the most bytes of a message; larger ones are refused without being sent, because a server ends the
    ///     connection.
    init(_ messages: [OutgoingMessage], limit: Int) {
        var waiting: [OutgoingMessage] = []
        for message in messages {
            if message.size > limit {
                refused[message.id] = "the message has \(message.size) bytes; the server's max_payload is \(limit)"
            } else if !NATSEndpoint.isSubject(message.subject) {
                refused[message.id] = "the mapping returned a subject that cannot be published to"
            } else {
                waiting.append(message)
            }
        }
        self.waiting = waiting
    }

    /// Records an answer; false if no further message must be sent: later ones would overtake the one that is sent
    /// again.
    mutating func record(_ answer: PublishAnswer, of id: SampleID) -> Bool {
        switch answer {
        case .stored:
            stored.append(id)
            return true
        case .refused(let reason):
            refused[id] = reason
            return true
        case .temporary(let reason):
            temporary = temporary ?? reason
            return false
        case .unauthorized(let reason):
            unauthorized = unauthorized ?? reason
            return false
        }
    }

    var outcome: DeliveryOutcome {
        if let unauthorized { return .unauthorized(reason: unauthorized) }
        if let temporary { return .retry(after: nil, reason: temporary) }
        return refused.isEmpty ? .acknowledged : .acknowledgedExcept(refused)
    }
}
