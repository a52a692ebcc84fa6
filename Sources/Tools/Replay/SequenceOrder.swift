internal import Instrument

/// Puts the samples of each log in the order of their numbers, although a recording holds them in another one.
///
/// A sample that continues its log leaves at once: a recording in order costs a comparison a sample. A sample after a
/// gap waits for the missing ones until ``window`` samples wait; then the gap counts as missing. A sample that comes
/// still later leaves out of order, and is counted as late. The order of samples of different logs stays.
///
/// A sample's identifier names its log. The numbers of other producers count for each instrument (the first part of
/// `senderId`); a number that goes back while the time goes forward begins such a log again.
struct SequenceOrder {
    /// A sample and the number of its source.
    typealias Item = (record: SampleRecord, source: Int)

    /// The largest number of samples that wait, and of their attributes, which bounds the memory.
    static let window = 32_768
    private static let mostAttributes = 64 * window
    /// The largest number of logs that are remembered.
    private static let mostLogs = 100_000

    /// The samples that came after a sample with a greater number and are in their place again.
    private(set) var reorderedCount = 0
    /// The samples that came too late.
    private(set) var lateCount = 0
    /// The numbers between the first and the last number of each log that no sample has.
    private(set) var missingCount = 0

    private enum Key: Hashable {
        case log(UInt64)
        case instrument(Substring)
        case unknown
    }

    /// A sample that waits.
    private struct Held {
        let record: SampleRecord
        let source: Int
        /// The number of times that the log has begun again, and the number of the arrival, for equal numbers.
        let round: Int
        let arrival: Int
    }

    /// The samples of one log.
    private struct Log {
        let isCounted: Bool
        var round = 0
        var highest: (number: UInt64, time: Timestamp)?
        var last: (number: UInt64, round: Int)?
        var held = Fifo<Held>()
        /// In place of `held` once samples have come out of order.
        var sorted: Heap<Held>?

        var first: Held? { sorted == nil ? held.first : sorted?.first }

        /// Notes a sample that continues the log; false if the sample is not the next one.
        mutating func continues(with number: UInt64) -> Bool {
            guard let last, last.round == round, last.number < .max, number == last.number + 1 else { return false }
            self.last = (number, round)
            highest?.number = number
            return true
        }

        /// Whether a sample is the next one of the log.
        func isNext(_ number: UInt64, _ round: Int) -> Bool {
            guard let last, last.round == round else { return number == 0 }
            return number == last.number || (last.number < .max && number == last.number + 1)
        }
    }

    private let window: Int
    private var places: [Key: Int] = [:]
    private var logs: [Log] = []
    /// The log of each sample that waits, in the order of arrivals.
    private var line = Fifo<Int>()
    private var attributeCount = 0
    private var arrivals = 0
    private var latest: (key: Key, place: Int)?
    private var latestSender: (sender: String, key: Key)?
    /// The latest log of an identifier.
    private var latestLog: (log: UInt64, place: Int)?

    init(window: Int = Self.window) { self.window = window }

    /// Adds a sample; returns the sample if it may leave at once.
    ///
    /// - Parameter isOfLog: whether the sample's identifier belongs to its number.
    mutating func add(_ item: Item, isOfLog: Bool) -> Item? {
        let number = item.record.sequence
        if isOfLog, let latestLog, latestLog.log == item.record.id.log, line.isEmpty,
            logs[latestLog.place].continues(with: number)
        {
            return item
        }
        let key = isOfLog ? .log(item.record.id.log) : foreignKey(of: item.record)
        let place = place(of: key)
        if isOfLog { latestLog = (item.record.id.log, place) }
        let time = item.record.sample.time
        if let highest = logs[place].highest, number <= highest.number {
            if case .log = key {
                reorderedCount += 1
            } else if time > highest.time {
                logs[place].round += 1
                logs[place].highest = (number, time)
            } else if number < highest.number {
                reorderedCount += 1
            }
        } else {
            logs[place].highest = (number, time)
        }
        let round = logs[place].round
        if line.isEmpty, logs[place].isNext(number, round) {
            logs[place].last = (number, round)
            return item
        }
        arrivals += 1
        attributeCount += item.record.sample.attributes.count
        let held = Held(record: item.record, source: item.source, round: round, arrival: arrivals)
        hold(held, in: place)
        line.append(place)
        return nil
    }

    /// Returns the next sample that may leave.
    ///
    /// - Parameter isAtEnd: whether no other sample comes.
    mutating func next(isAtEnd: Bool) -> Item? {
        guard let place = line.first, let held = logs[place].first else { return nil }
        let isFull = line.count > window || attributeCount > Self.mostAttributes || logs.count > Self.mostLogs
        guard isAtEnd || isFull || logs[place].isNext(held.record.sequence, held.round) else {
            return nil
        }
        _ = line.removeFirst()
        if logs[place].sorted == nil {
            _ = logs[place].held.removeFirst()
        } else {
            _ = logs[place].sorted?.removeFirst()
        }
        attributeCount -= held.record.sample.attributes.count
        leave(held, of: place)
        if line.isEmpty { forgetLogs() }
        return (held.record, held.source)
    }

    private mutating func hold(_ held: Held, in place: Int) {
        if logs[place].sorted == nil, let last = logs[place].held.last, Self.precedes(held, last) {
            var heap = Heap<Held>(Self.precedes)
            // Each of these is greater than those before it, so that an insertion costs a constant.
            while let earlier = logs[place].held.removeFirst() { heap.insert(earlier) }
            logs[place].sorted = heap
        }
        if logs[place].sorted == nil { logs[place].held.append(held) } else { logs[place].sorted?.insert(held) }
    }

    private static func precedes(_ left: Held, _ right: Held) -> Bool {
        if left.round != right.round { return left.round < right.round }
        return (left.record.sequence, left.arrival) < (right.record.sequence, right.arrival)
    }

    private mutating func leave(_ held: Held, of place: Int) {
        let number = held.record.sequence
        guard let last = logs[place].last, last.round == held.round else {
            logs[place].last = (number, held.round)
            return
        }
        if number < last.number {
            lateCount += 1
            reorderedCount -= 1
            // The gap that the sample fills was counted.
            missingCount = max(0, missingCount - 1)
            return
        }
        if logs[place].isCounted, number > last.number {
            missingCount = missingCount.saturatingAdd(Int(clamping: number - last.number - 1))
        }
        logs[place].last = (number, held.round)
    }

    private mutating func foreignKey(of record: SampleRecord) -> Key {
        guard let sender = record.sample.attributes[.senderId] else { return .unknown }
        if let latestSender, latestSender.sender == sender { return latestSender.key }
        let key = Key.instrument(sender.lastIndex(of: "-").map { sender[..<$0] } ?? sender[...])
        latestSender = (sender, key)
        return key
    }

    private mutating func place(of key: Key) -> Int {
        if let latest, latest.key == key { return latest.place }
        let place: Int
        if let known = places[key] {
            place = known
        } else {
            place = logs.count
            logs.append(Log(isCounted: key != .unknown))
            places[key] = place
        }
        latest = (key, place)
        return place
    }

    private mutating func forgetLogs() {
        guard logs.count > Self.mostLogs else { return }
        places.removeAll()
        logs.removeAll()
        (latest, latestLog) = (nil, nil)
    }
}

extension Timestamp {
    /// Whether the time is later; a clock of another process or boot decides only at equal wall times.
    fileprivate static func > (left: Timestamp, right: Timestamp) -> Bool {
        let (earlier, later) = (right.wallTime.milliseconds, left.wallTime.milliseconds)
        return later == earlier ? left.instant > right.instant : later > earlier
    }
}

/// A queue of elements: the first one leaves first.
struct Fifo<Element> {
    private var elements: [Element?] = []
    private var start = 0

    var isEmpty: Bool { start == elements.count }
    var count: Int { elements.count - start }
    var first: Element? { isEmpty ? nil : elements[start] }
    var last: Element? { isEmpty ? nil : elements[elements.count - 1] }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func removeFirst() -> Element? {
        if isEmpty { return nil }
        let first = elements[start]
        elements[start] = nil
        start += 1
        if isEmpty {
            elements.removeAll(keepingCapacity: true)
            start = 0
        } else if start > 1024, start > elements.count / 2 {
            elements.removeFirst(start)
            start = 0
        }
        return first
    }
}
