package import Instrument

/// A sample of a recording, and the input that it is from.
package struct ReplayedSample: Sendable {
    /// The sample, with its identifier and number.
    package let record: SampleRecord
    /// The position of the input among the reader's inputs.
    package let input: Int
}

/// Reads recorded samples: files in order, or merged by time, each sample once, and the samples of each log in the
/// order of their numbers. Needs little memory for any length.
///
/// ```swift
/// let reader = try ReplayReader(ReplayInput.all(named: ["samples.ndjson"])) { print($0) }
/// while let sample = try reader.next() { … }
/// ```
///
/// A part that cannot be read is reported and skipped: a damaged or overlong line, a damaged gzip member, the torn end
/// of a file. Used by one thread at a time.
package final class ReplayReader {
    /// The order of the samples.
    package enum Order: String, Sendable, CaseIterable {
        /// The inputs one after another.
        case input
        /// By the time of the samples, over all inputs; the order within an input stays.
        case time
    }

    /// The inputs.
    package let inputs: [ReplayInput]
    /// The samples that were returned.
    package private(set) var sampleCount = 0
    /// The samples that were left out because an earlier sample had the same identifier.
    package private(set) var duplicateCount = 0
    /// The samples that were recorded out of order and are returned in order.
    package var reorderedCount: Int { sequence.reorderedCount }
    /// The samples that were recorded too far from their place to be returned in order.
    package var lateCount: Int { sequence.lateCount }
    /// The numbers that no sample has, between the first and the last number of each log.
    package var missingCount: Int { sequence.missingCount }
    /// The parts that were skipped.
    package var problemCount: Int { problems.count }

    private let order: Order
    private let maxLineLength: Int
    private let problems: ProblemCounter
    private var seen = SeenSamples()
    private var sequence: SequenceOrder
    private var isAtEnd = false
    private var merge: TimeMerge?
    private var sources: [any RecordSource] = []
    private var current = 0
    private var finishedBytes = 0

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - inputs: the inputs, in the order in which they are read.
    ///   - order: the order of the samples.
    ///   - maxLineLength: the longest line in bytes; longer lines are skipped.
    ///   - window: the largest number of samples that wait for an earlier one; nil is ``SequenceOrder/window``.
    ///   - report: receives every part that is skipped, on the thread that reads.
    package init(
        _ inputs: [ReplayInput],
        order: Order = .input,
        maxLineLength: Int = 16 << 20,
        window: Int? = nil,
        report: @escaping @Sendable (ReplayProblem) -> Void = { _ in }
    ) {
        sequence = SequenceOrder(window: window ?? SequenceOrder.window)
        self.inputs = inputs
        self.order = order
        self.maxLineLength = maxLineLength
        problems = ProblemCounter(report)
    }

    /// Returns the next sample; nil at the end.
    /// - Throws: ``ReplayError`` if an input cannot be opened or read.
    package func next() throws(ReplayError) -> ReplayedSample? {
        while true {
            if let (record, input) = sequence.next(isAtEnd: isAtEnd) {
                sampleCount += 1
                return ReplayedSample(record: record, input: input)
            }
            if isAtEnd { return nil }
            guard let item = try nextRecord() else {
                isAtEnd = true
                continue
            }
            let isOfLog = item.record.isOfLog
            guard seen.insert(item.record, isOfLog: isOfLog) else {
                duplicateCount += 1
                continue
            }
            if let (record, input) = sequence.add(item, isOfLog: isOfLog) {
                sampleCount += 1
                return ReplayedSample(record: record, input: input)
            }
        }
    }

    /// The bytes that were read so far, and the size of all inputs where it is known.
    package var progress: (read: Int, total: Int?) {
        let read = sources.reduce(finishedBytes) { $0 + $1.byteCount }
        let sizes = inputs.map(\.size)
        return (read, sizes.contains(nil) ? nil : sizes.reduce(0) { $0 + ($1 ?? 0) })
    }

    private func nextRecord() throws(ReplayError) -> SequenceOrder.Item? {
        if order == .time {
            if merge == nil {
                for input in inputs { sources.append(try open(input)) }
                merge = TimeMerge(sources)
            }
            return try merge?.next()
        }
        while current < inputs.count {
            if sources.isEmpty { sources = [try open(inputs[current])] }
            if let record = try sources.first?.next() { return (record, current) }
            finishedBytes += sources.first?.byteCount ?? 0
            sources = []
            current += 1
        }
        return nil
    }

    private func open(_ input: ReplayInput) throws(ReplayError) -> any RecordSource {
        let problems = problems
        return try input.open(maxLineLength: maxLineLength) { problems.report($0) }
    }
}

/// Counts problems and passes them on.
private final class ProblemCounter: Sendable {
    private let counted = Lock(0)
    private let pass: @Sendable (ReplayProblem) -> Void

    init(_ pass: @escaping @Sendable (ReplayProblem) -> Void) { self.pass = pass }

    var count: Int { counted.withLock { $0 } }

    func report(_ problem: ReplayProblem) {
        counted.withLock { $0 += 1 }
        pass(problem)
    }
}
