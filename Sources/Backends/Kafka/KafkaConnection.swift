internal import Dispatch
internal import Instrument

/// The one producer of a backend, created when needed and replaced after a fatal error.
///
/// Its calls into librdkafka run on a separate dispatch queue, because waiting for reports and ending a producer block.
final class KafkaConnection: Sendable {
    /// A cancelled task is noticed this often.
    private static let slice: Int32 = 50
    /// A delivery of which nothing arrives reports after this time why no broker answers. Its messages stay with the
    /// producer, and the next attempt waits for them.
    private static let patience = Duration.seconds(5)
    /// Reports of cancelled deliveries and news about connections are collected this often while nothing is delivered,
    /// so that they do not pile up in librdkafka.
    private static let idleInterval = DispatchTimeInterval.seconds(5)

    /// Unchecked: every access is in a block of the connection's serial dispatch queue.
    private final class Confined: @unchecked Sendable {
        var producer: KafkaProducer?
        /// The reports of the producer that was replaced.
        var reports = DeliveryReports()
        var isIdlePollScheduled = false
    }

    /// A delivery under way.
    ///
    /// Unchecked: every access is in a block of the connection's serial dispatch queue.
    private final class Course: @unchecked Sendable {
        var producer: KafkaProducer?
        /// Its outcome, once nothing more is to be done.
        var outcome: DeliveryOutcome?
    }

    private let settings: KafkaSettings
    private let topic: String
    private let queue = DispatchQueue(label: "instrument.kafka")
    private let confined = Confined()

    init(_ settings: KafkaSettings, topic: String) {
        self.settings = settings
        self.topic = topic
    }

    /// Produces messages and returns once each has its report.
    ///
    /// - Parameters:
    ///   - parts: the messages in parts; librdkafka sends one part while the next one is encoded.
    ///   - ids: the samples of all messages.
    func deliver(_ parts: some Sequence<OutgoingMessages>, of ids: [SampleID]) async -> DeliveryOutcome {
        let (course, isCancelled) = (Course(), Lock(false))
        return await withTaskCancellationHandler {
            queue.async { [self] in begin(course, ids) { isCancelled.withLock { $0 } } }
            for part in parts {
                queue.async { Self.produce(part, course) { isCancelled.withLock { $0 } } }
            }
            return await withCheckedContinuation { continuation in
                queue.async { [self] in
                    continuation.resume(returning: finish(course, ids) { isCancelled.withLock { $0 } })
                    pollWhileIdle()
                }
            }
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
    }

    /// Ends the producer once no delivery is under way. Messages that were not sent are dropped.
    func close() async {
        await withCheckedContinuation { continuation in
            queue.async { [confined] in
                confined.producer = nil
                continuation.resume()
            }
        }
    }

    // MARK: On the dispatch queue

    private func begin(_ course: Course, _ ids: [SampleID], _ isCancelled: () -> Bool) {
        if isCancelled() { return course.outcome = Self.cancelled }
        do throws(KafkaError) {
            let producer = try producer()
            producer.notes.reports.begin(ids)
            course.producer = producer
        } catch {
            course.outcome = .retry(after: nil, reason: error.description)
        }
    }

    private static func produce(_ part: OutgoingMessages, _ course: Course, _ isCancelled: () -> Bool) {
        guard course.outcome == nil, let producer = course.producer else { return }
        for message in part.messages {
            guard producer.notes.reports.needsMessage(message.id) else { continue }
            while !produce(message, of: part, through: producer) {
                if isCancelled() { return course.outcome = unreached(producer) ?? cancelled }
                producer.poll(milliseconds: slice)
            }
        }
        producer.poll(milliseconds: 0)
    }

    /// Waits for the reports. The course gives its producer up here: ending a replaced producer blocks, and must not
    /// block the lane.
    private func finish(_ course: Course, _ ids: [SampleID], _ isCancelled: () -> Bool) -> DeliveryOutcome {
        guard let producer = course.producer.take() else { return course.outcome ?? Self.cancelled }
        let outcome = course.outcome ?? Self.awaitReports(of: ids, from: producer, isCancelled)
        if let fatal = producer.fatalError {
            replace(producer)
            switch outcome {
            case .acknowledged, .acknowledgedExcept: break
            default: return .retry(after: nil, reason: "the producer cannot continue and is replaced (\(fatal))")
            }
        }
        // librdkafka remembers an error of a topic for minutes and refuses messages without asking the brokers.
        if case .unauthorized = outcome { replace(producer) }
        return outcome
    }

    private func producer() throws(KafkaError) -> KafkaProducer {
        if let producer = confined.producer { return producer }
        let producer = try KafkaProducer(settings, topic: topic)
        producer.notes.reports = confined.reports
        confined.producer = producer
        return producer
    }

    /// Ends a producer; the next delivery creates another one, which knows what has arrived.
    private func replace(_ producer: KafkaProducer) {
        confined.reports = producer.notes.reports
        confined.reports.abandon()
        confined.producer = nil
    }

    private static let cancelled = DeliveryOutcome.retry(after: nil, reason: "the delivery was cancelled")

    /// Why no broker answers, as librdkafka said last; nil if it has not said anything since a message arrived.
    private static func unreached(_ producer: KafkaProducer) -> DeliveryOutcome? {
        guard let failure = producer.notes.unreached else { return nil }
        return failure.kind == .unauthorized
            ? .unauthorized(reason: failure.reason) : .retry(after: nil, reason: failure.reason)
    }

    private static func awaitReports(
        of ids: [SampleID],
        from producer: KafkaProducer,
        _ isCancelled: () -> Bool
    ) -> DeliveryOutcome {
        let (notes, clock) = (producer.notes, SystemClock())
        let (begin, count) = (clock.now, notes.reports.underWayCount)
        while notes.reports.awaitedCount > 0 {
            if isCancelled() { return unreached(producer) ?? cancelled }
            if notes.reports.underWayCount == count, begin.duration(to: clock.now) >= patience,
                let outcome = unreached(producer)
            {
                return outcome
            }
            producer.poll(milliseconds: slice)
        }
        let outcome = notes.reports.outcome(of: ids)
        // librdkafka repeats an error after a while only, so words stay until something has arrived.
        if outcome == .acknowledged { (notes.words, notes.isUnauthorized) = (nil, false) }
        return outcome
    }

    /// False while the producer's buffer is full.
    private static func produce(
        _ message: OutgoingMessages.Message,
        of part: OutgoingMessages,
        through producer: KafkaProducer
    ) -> Bool {
        let notes = producer.notes
        let number = notes.reports.reserve(message.id)
        switch producer.produce(message, of: part, number: number) {
        case .underWay: return true
        case .full:
            notes.reports.release(number)
            return false
        case .failed(let failure):
            notes.reports.release(number)
            notes.reports.fail(message.id, failure)
            return true
        }
    }

    private func pollWhileIdle() {
        if confined.isIdlePollScheduled || confined.producer == nil { return }
        confined.isIdlePollScheduled = true
        queue.asyncAfter(deadline: .now() + Self.idleInterval) { [weak self] in
            guard let self else { return }
            confined.isIdlePollScheduled = false
            confined.producer?.poll(milliseconds: 0)
            pollWhileIdle()
        }
    }
}
