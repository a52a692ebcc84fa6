package import Instrument
package import InstrumentBackends

/// Where a reader of a topic begins.
package enum KafkaStart: Hashable, Sendable {
    /// With what is produced from now on.
    case latest
    /// With the messages that were produced since a time.
    case since(WallTime)
    /// With these offsets by partition; partitions without one from their beginning.
    case offsets([Int32: Int64])
}

/// Reads all partitions of a topic, from its own positions: no group, so that several readers see every message.
///
/// A failure ends the consumer; the next call makes another one, which continues behind the messages that were
/// returned.
package final class KafkaReader: Sendable {
    /// Messages and bytes that are returned at once.
    private static let mostMessages = 5_000
    private static let mostBytes = 8 << 20

    private struct Position {
        var consumer: KafkaConsumer?
        var start: KafkaStart
    }

    private let settings: KafkaSettings
    private let topic: String
    private let reading: SerialReading<Position>
    private let known = Lock<[Int32: Int64]>([:])

    /// - Throws: ``KafkaError`` for a login that would send its password without encryption.
    package init(_ endpoint: KafkaEndpoint, from start: KafkaStart) throws(KafkaError) {
        settings = try KafkaSettings(reading: endpoint)
        topic = endpoint.topic
        reading = SerialReading(label: "instrument.kafka.reader", Position(start: start))
        if case .offsets(let offsets) = start { known.withLock { $0 = offsets } }
    }

    /// The offsets behind the messages that were returned, by partition; empty before the first success.
    package var offsets: [Int32: Int64] { known.withLock { $0 } }

    /// Waits for messages, at most two seconds.
    /// - Throws: ``KafkaError`` if no broker answers, or refuses.
    package func next() async throws(KafkaError) -> ReadMessages {
        try await reading.read { [self] position, isCancelled throws(KafkaError) in
            try read(from: &position, isCancelled)
        }
    }

    /// Ends the consumer.
    package func close() async { await reading.change { $0.consumer = nil } }

    // MARK: On the dispatch queue

    private func read(from position: inout Position, _ isCancelled: () -> Bool) throws(KafkaError) -> ReadMessages {
        do throws(KafkaError) {
            let consumer = try consumer(at: &position)
            try consumer.refresh()
            var messages = ReadMessages()
            var (bytes, patience) = (0, 40)
            while patience > 0, messages.values.count < Self.mostMessages, bytes < Self.mostBytes, !isCancelled() {
                switch try consumer.poll(milliseconds: messages.values.isEmpty ? 50 : 0) {
                case .message(let value):
                    messages.values.append(value)
                    bytes += value.count
                case .end: if messages.values.isEmpty, consumer.isAtEnd { patience = 0 }
                case .nothing: patience = messages.values.isEmpty ? patience - 1 : 0
                }
            }
            messages.isAtEnd = consumer.isAtEnd
            let offsets = consumer.offsets
            known.withLock { $0 = offsets }
            position.start = .offsets(offsets)
            return messages
        } catch {
            position.consumer = nil
            throw error
        }
    }

    private func consumer(at position: inout Position) throws(KafkaError) -> KafkaConsumer {
        if let consumer = position.consumer { return consumer }
        let consumer = try KafkaConsumer(settings, topic: topic, from: position.start)
        // From now on, a failure loses nothing.
        position.start = .offsets(consumer.offsets)
        known.withLock { $0 = consumer.offsets }
        position.consumer = consumer
        return consumer
    }
}
