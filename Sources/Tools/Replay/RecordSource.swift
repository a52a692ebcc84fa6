internal import Instrument
internal import InstrumentBackends
internal import InstrumentDurableQueue

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The samples of one input, in their order. Used by one thread at a time.
protocol RecordSource: AnyObject {
    /// The next sample; nil at the end.
    func next() throws(ReplayError) -> SampleRecord?
    /// The bytes that were read so far; zero where the number is unknown.
    var byteCount: Int { get }
}

extension ReplayInput {
    /// Opens the input; `report` receives every part that is skipped.
    func open(
        maxLineLength: Int,
        report: @escaping @Sendable (ReplayProblem) -> Void
    ) throws(ReplayError) -> any RecordSource {
        switch self {
        case .file(let path):
            try LineSource(openForReading(path), name: path, maxLineLength: maxLineLength, report: report)
        case .standardInput:
            try LineSource(dup(STDIN_FILENO), name: description, maxLineLength: maxLineLength, report: report)
        case .queue(let directory): QueueSource(directory, report: report)
        }
    }
}

/// The system's `open`, which a method above hides.
private func openForReading(_ path: String) -> Int32 { open(path, O_RDONLY | O_CLOEXEC) }

/// The samples in JSON lines.
private final class LineSource: RecordSource {
    private var reader: SampleFileReader

    init(
        _ descriptor: Int32,
        name: String,
        maxLineLength: Int,
        report: @escaping @Sendable (ReplayProblem) -> Void
    ) throws(ReplayError) {
        do throws(FileBackendError) {
            reader = try SampleFileReader(
                descriptor: descriptor,
                name: name,
                maxLineLength: maxLineLength,
                acceptsOpenEnd: true
            ) { report(ReplayProblem(input: name, line: $0.line, reason: $0.reason)) }
        } catch { throw ReplayError(error.description) }
    }

    func next() throws(ReplayError) -> SampleRecord? {
        do throws(FileBackendError) { return try reader.next() } catch { throw ReplayError(error.description) }
    }

    var byteCount: Int { reader.byteCount }
}

/// The samples that a durable queue has not delivered: those that wait for a backend, and the dead letters. Takes none
/// of them.
///
/// Samples that wait for several backends are returned once for each; ``ReplayReader`` keeps the first.
private final class QueueSource: RecordSource {
    private let pages: AnyIterator<[SampleRecord]>
    private var page: [SampleRecord] = []
    private var position = 0

    init(_ directory: String, report: @escaping @Sendable (ReplayProblem) -> Void) {
        let problem = { @Sendable (reason: String) in ReplayProblem(input: directory, line: nil, reason: reason) }
        let busy = QueueFolder.folders(in: directory).filter(\.isInUse)
        for folder in busy { report(problem("a running process uses \(folder.path); its samples are left out")) }
        let queue = DurableQueueReader(directory: directory) { report(problem("\($0)")) }
        // The largest backlog first: it is the longest uninterrupted part of the log.
        let backends = queue.backends.sorted { queue.backlog(of: $0).count > queue.backlog(of: $1).count }
        let queued = backends.lazy.flatMap { AnySequence(queue.queued(for: $0)) }
        let dead = backends.lazy.map { queue.deadLetters(of: $0).map(\.record) }
        var (first, second) = (queued.makeIterator(), dead.makeIterator())
        // Dead letters are older than the samples that wait.
        pages = AnyIterator { second.next() ?? first.next() }
    }

    func next() throws(ReplayError) -> SampleRecord? {
        while position == page.count {
            guard let next = pages.next() else { return nil }
            (page, position) = (next, 0)
        }
        defer { position += 1 }
        return page[position]
    }

    var byteCount: Int { 0 }
}
