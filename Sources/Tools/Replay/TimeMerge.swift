internal import Instrument

/// Merges the samples of several sources by time. Keeps one sample of each source.
///
/// The order of samples within a source never changes: a sample whose clock was set back counts as simultaneous with
/// the sample before it. Samples of one log in several sources are ordered by their numbers, whatever their times are,
/// so that a log that was split into parts is merged into the log again. Of simultaneous samples of different logs, the
/// one of the earlier source is first.
struct TimeMerge {
    /// The next sample of a source.
    private struct Head {
        let record: SampleRecord
        /// Milliseconds since 1970, never less than those of the source's samples before.
        let time: Int64
        let source: Int
        var log: UInt64 { record.id.log }
    }

    /// The sources whose next sample is of the log, by the number of that sample.
    private struct Log {
        var heads = Heap<Head> { ($0.record.sequence, $0.source) < ($1.record.sequence, $1.source) }
        /// Changes whenever the first head does: entries with an older number are obsolete.
        var version = 0
    }

    /// A log and the time of its first head when the entry was made.
    private struct Entry {
        let time: Int64
        let source: Int
        let log: UInt64
        let version: Int
    }

    private let sources: [any RecordSource]
    private var latest: [Int64]
    private var logs: [UInt64: Log] = [:]
    private var entries = Heap<Entry> { ($0.time, $0.source) < ($1.time, $1.source) }
    private var isBegun = false

    init(_ sources: [any RecordSource]) {
        self.sources = sources
        latest = Array(repeating: .min, count: sources.count)
    }

    /// The next sample and the number of its source; nil at the end.
    mutating func next() throws(ReplayError) -> (record: SampleRecord, source: Int)? {
        if !isBegun {
            isBegun = true
            for source in sources.indices { try advance(source) }
        }
        while let entry = entries.removeFirst() {
            guard var log = logs[entry.log], log.version == entry.version, let head = log.heads.removeFirst() else {
                continue
            }
            log.version += 1
            logs[entry.log] = log.heads.isEmpty ? nil : log
            try advance(head.source)
            // The next sample of the source may be the log's first one, which is announced by now.
            if logs[entry.log]?.version == log.version { announce(entry.log) }
            return (head.record, head.source)
        }
        return nil
    }

    private mutating func advance(_ source: Int) throws(ReplayError) {
        guard let record = try sources[source].next() else { return }
        let time = max(latest[source], record.sample.time.wallTime.milliseconds)
        latest[source] = time
        let head = Head(record: record, time: time, source: source)
        var log = logs.removeValue(forKey: head.log) ?? Log()
        log.heads.insert(head)
        let isFirst = log.heads.first?.source == source
        if isFirst { log.version += 1 }
        logs[head.log] = log
        if isFirst { announce(head.log) }
    }

    /// Puts a log in line by the time of its first head.
    private mutating func announce(_ number: UInt64) {
        guard let log = logs[number], let first = log.heads.first else { return }
        entries.insert(Entry(time: first.time, source: first.source, log: number, version: log.version))
    }
}

/// A binary heap: the first element is one that no other precedes.
struct Heap<Element> {
    private var elements: [Element] = []
    private let precedes: (Element, Element) -> Bool

    init(_ precedes: @escaping (Element, Element) -> Bool) { self.precedes = precedes }

    var isEmpty: Bool { elements.isEmpty }
    var count: Int { elements.count }
    var first: Element? { elements.first }
    /// The elements, the first one at the beginning, the others in no order.
    var unordered: [Element] { elements }

    mutating func insert(_ element: Element) {
        elements.append(element)
        var child = elements.count - 1
        while child > 0, case let parent = (child - 1) / 2, precedes(elements[child], elements[parent]) {
            elements.swapAt(child, parent)
            child = parent
        }
    }

    mutating func removeFirst() -> Element? {
        guard let first = elements.first, let last = elements.popLast() else { return nil }
        if elements.isEmpty { return first }
        elements[0] = last
        var parent = 0
        while true {
            let left = 2 * parent + 1
            guard left < elements.count else { return first }
            let right = left + 1
            let child = right < elements.count && precedes(elements[right], elements[left]) ? right : left
            guard precedes(elements[child], elements[parent]) else { return first }
            elements.swapAt(child, parent)
            parent = child
        }
    }
}
