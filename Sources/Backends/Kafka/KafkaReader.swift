internal import Dispatch
package import Instrument

/// Where a reader of a topic begins.
package enum KafkaStart: Hashable, Sendable {
    /// With what is produced from now on.
    case latest
    /// With the messages that were produced since a time.
    case since(WallTime)
    /// With these offsets by partition; partitions without one from their beginning.
    case offsets([Int32: Int64])
}

/// Messages of a topic.
package struct KafkaMessages: Sendable {
    /// The values, those of a partition in their order.
    package var values: [[UInt8]] = []
    /// Whether the reader has reached the end of every partition.
    package var isAtEnd = false
}

/// Reads all partitions of a topic, from its own positions: no group, so that several readers see every message.
///
/// A failure ends the consumer; the next call makes another one, which continues behind the messages that were
/// returned.
package final class KafkaReader: Sendable {
    /// Messages and bytes that are returned at once.
    private static let mostMessages = 5_000
    private static let mostBytes = 8 << 20

    /// Unchecked: every access is in a block of the reader's serial dispatch queue.
    private final class Confined: @unchecked Sendable {
        var consumer: KafkaConsumer?
        var start: KafkaStart
        init(_ start: KafkaStart) { self.start = start }
    }

    private let settings: KafkaSettings
    private let topic: String
    private let queue = DispatchQueue(label: "instrument.kafka.reader")
    private let confined: Confined
    private let known = Lock<[Int32: Int64]>([:])

    /// - Throws: ``KafkaError`` for a login that would send its password without encryption.
    package init(_ endpoint: KafkaEndpoint, from start: KafkaStart) throws(KafkaError) {
        settings = try KafkaSettings(reading: endpoint)
        topic = endpoint.topic
        confined = Confined(start)
        if case .offsets(let offsets) = start { known.withLock { $0 = offsets } }
    }

    /// The offsets behind the messages that were returned, by partition; empty before the first success.
    package var offsets: [Int32: Int64] { known.withLock { $0 } }

    /// Waits for messages, at most two seconds.
    /// - Throws: ``KafkaError`` if no broker answers, or refuses.
    package func next() async throws(KafkaError) -> KafkaMessages {
        let isCancelled = Lock(false)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                queue.async { [self] in
                    let result = Result { () throws(KafkaError) in try read { isCancelled.withLock { $0 } } }
                    continuation.resume(returning: result)
                }
            }
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
        return try result.get()
    }

    /// Ends the consumer.
    package func close() async {
        await withCheckedContinuation { continuation in
            queue.async { [confined] in
                confined.consumer = nil
                continuation.resume()
            }
        }
    }

    // MARK: On the dispatch queue

    private func read(_ isCancelled: () -> Bool) throws(KafkaError) -> KafkaMessages {
        do throws(KafkaError) {
            let consumer = try consumer()
            try consumer.refresh()
            var messages = KafkaMessages()
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
            confined.start = .offsets(offsets)
            return messages
        } catch {
            confined.consumer = nil
            throw error
        }
    }

    private func consumer() throws(KafkaError) -> KafkaConsumer {
        if let consumer = confined.consumer { return consumer }
        let consumer = try KafkaConsumer(settings, topic: topic, from: confined.start)
        // From now on, a failure loses nothing.
        confined.start = .offsets(consumer.offsets)
        known.withLock { $0 = consumer.offsets }
        confined.consumer = consumer
        return consumer
    }
}
