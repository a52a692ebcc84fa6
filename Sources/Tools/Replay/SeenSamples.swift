package import Instrument

/// The samples that were seen, so that a sample that is recorded twice counts once.
///
/// The numbers of a log's samples are kept as ranges: samples that were written in order cost a few bytes for a whole
/// log. Samples whose identifier does not belong to their number come from another producer; of those the latest
/// 100,000 are remembered.
package struct SeenSamples: Sendable {
    package init() {}

    private static let mostForeign = 100_000
    /// The largest number of logs that are remembered; a process has one log, or one for each folder of its durable
    /// queue.
    private static let mostLogs = 100_000

    private var logs: [UInt64: NumberRanges] = [:]
    private var foreign: Set<SampleID> = []
    private var foreignOrder: [SampleID] = []
    private var oldest = 0
    /// The log of the latest sample, whose ranges are cached outside the table.
    private var current: (log: UInt64, ranges: NumberRanges)?

    /// Remembers a sample; false if it was there.
    ///
    /// - Parameter isOfLog: whether the sample's identifier belongs to its number.
    package mutating func insert(_ record: SampleRecord, isOfLog: Bool) -> Bool {
        guard isOfLog else { return insertForeign(record.id) }
        let log = record.id.log
        if current?.log != log { change(to: log) }
        return current?.ranges.insert(record.sequence) ?? true
    }

    private mutating func change(to log: UInt64) {
        if let current { logs[current.log] = current.ranges }
        if logs.count > Self.mostLogs { logs.removeAll() }
        current = (log, logs.removeValue(forKey: log) ?? NumberRanges())
    }

    private mutating func insertForeign(_ id: SampleID) -> Bool {
        guard foreign.insert(id).inserted else { return false }
        if foreignOrder.count < Self.mostForeign {
            foreignOrder.append(id)
        } else {
            foreign.remove(foreignOrder[oldest])
            foreignOrder[oldest] = id
            oldest = (oldest + 1) % Self.mostForeign
        }
        return true
    }
}

extension SampleRecord {
    /// Whether the identifier is that of the sample's number in a log; false for samples of other producers.
    package var isOfLog: Bool { SampleID(log: id.log, sequence: sequence) == id }
}

/// A set of numbers as sorted ranges. Adding numbers in ascending order costs a constant; a set that is full of gaps
/// forgets its smallest numbers.
struct NumberRanges: Sendable {
    /// The largest number of ranges of a set.
    private static let mostRanges = 65_536

    private(set) var ranges: [ClosedRange<UInt64>] = []

    /// Adds a number; false if it was there.
    mutating func insert(_ number: UInt64) -> Bool {
        if let last = ranges.last, number > last.upperBound {
            if number - last.upperBound == 1 {
                ranges[ranges.count - 1] = last.lowerBound...number
            } else {
                append(number)
            }
            return true
        }
        let index = firstRange(endingAtOrAfter: number)
        guard index < ranges.count else {
            append(number)
            return true
        }
        if ranges[index].contains(number) { return false }
        guard ranges.count >= Self.mostRanges else {
            insert(number, before: index)
            return true
        }
        forgetSmallest()
        // A number below those that are remembered is forgotten at once.
        if index >= Self.mostRanges / 2 { insert(number, before: index - Self.mostRanges / 2) }
        return true
    }

    private mutating func append(_ number: UInt64) {
        if ranges.count >= Self.mostRanges { forgetSmallest() }
        ranges.append(number...number)
    }

    private mutating func forgetSmallest() { ranges.removeFirst(Self.mostRanges / 2) }

    /// Adds a number in the gap before a range, which may close the gap.
    private mutating func insert(_ number: UInt64, before index: Int) {
        let touchesNext = ranges[index].lowerBound - number == 1
        let touchesPrevious = index > 0 && number - ranges[index - 1].upperBound == 1
        switch (touchesPrevious, touchesNext) {
        case (true, true):
            ranges[index - 1] = ranges[index - 1].lowerBound...ranges[index].upperBound
            ranges.remove(at: index)
        case (true, false): ranges[index - 1] = ranges[index - 1].lowerBound...number
        case (false, true): ranges[index] = number...ranges[index].upperBound
        case (false, false): ranges.insert(number...number, at: index)
        }
    }

    private func firstRange(endingAtOrAfter number: UInt64) -> Int {
        ranges.partitioningIndex { $0.upperBound >= number }
    }
}
