public import Instrument
internal import InstrumentCMCD
public import InstrumentHTTP

/// Sends event reports of Common Media Client Data version 2 (CTA-5004-B) to a collector.
///
/// ```swift
/// let backend = try CMCDBackend(HTTPURL("https://collector.example/cmcd"), transport: SystemTransport())
/// ```
///
/// A request is a `POST` with `Content-Type: application/cmcd` and one record in each line. The session (`sid`) and the
/// number (`sn`) of a record are the same at each attempt, so that a collector can recognise copies. The reports of ads
/// have the session and the content of the playback that they interrupt, and `msd` is sent with the first media, be it
/// an ad.
///
/// | answer | meaning |
/// |---|---|
/// | 2xx | accepted |
/// | 410 | the collector wants no more reports of the session: its samples of this run become dead letters |
/// | others | as for every HTTP backend (`DeliveryOutcome`) |
public final class CMCDBackend: Backend {
    /// The report of a sample, before it is numbered.
    private struct Item {
        let record: SampleRecord
        var report: CMCDReport
        let session: String
        var number = 0
    }

    /// The name from the configuration.
    public var name: BackendName { configuration.name }
    /// The policy from the configuration.
    public var policy: DeliveryPolicy { configuration.policy }
    /// `cmcd`, with any ``name``.
    public var service: ServiceName? { "cmcd" }
    /// The changes in sent reports so far, because CMCD does not allow the original values.
    public var alterations: [Alteration: Int] { log.counts }

    private let url: HTTPURL
    private let headers: HTTPHeaders
    private let configuration: CMCDConfiguration
    private let transport: any HTTPTransport
    private let clock: any SchedulingClock
    private let log: AlterationLog
    private let accepted = AcceptedSamples()
    private let numbers = Lock(SessionNumbers())
    private let contents = Lock(Contents())

    /// The playbacks before the batch that is delivered, and behind it: each attempt begins with the same ones.
    private struct Contents {
        var before = ContentSessions()
        var behind = ContentSessions()
        /// The first sample of the batch.
        var first: SampleID?
    }

    /// Creates a backend.
    ///
    /// - Parameters:
    ///   - url: the collector's address. Reports go nowhere else.
    ///   - configuration: how it sends.
    ///   - transport: sends requests.
    ///   - clock: tells the calendar time, for a `Retry-After` that is a date.
    ///   - report: receives the alterations of each accepted request; called on the backend's thread.
    public init(
        _ url: HTTPURL,
        configuration: CMCDConfiguration = CMCDConfiguration(),
        transport: any HTTPTransport,
        clock: any SchedulingClock = SystemClock(),
        report: @escaping @Sendable (Diagnostic) -> Void = { _ in }
    ) throws(HTTPError) {
        var headers = configuration.headers
        try headers.set("Content-Type", "application/cmcd")
        self.headers = headers
        self.url = url
        self.configuration = configuration
        self.transport = transport
        self.clock = clock
        log = AlterationLog(configuration.name, report: report)
    }

    /// Sends the reports of the batch in one request; a batch without reports counts as delivered.
    public func deliver(_ batch: Batch) async -> DeliveryOutcome {
        var items = numbered(accepted.remaining(of: batch), reports(of: batch.records))
        var ended: [SampleID: String] = [:]
        (items, ended) = withoutEndedSessions(items)
        if !items.isEmpty {
            let outcome = await send(items)
            switch outcome {
            case .acknowledged: break
            case .gone: if let failure = await sendEachSession(items, &ended) { return failure }
            default: return outcome
            }
        }
        accepted.settle(batch)
        return ended.isEmpty ? .acknowledged : .acknowledgedExcept(ended)
    }

    /// The reports of a batch, without their numbers; those of ads with the session of their content.
    private func reports(of records: [SampleRecord]) -> [SampleID: CMCDReport] {
        let mapped = records.map { configuration.mapping($0) }
        return contents.withLock { contents in
            if contents.first != records.first?.id {
                (contents.before, contents.first) = (contents.behind, records.first?.id)
            }
            contents.behind = contents.before
            var reports: [SampleID: CMCDReport] = [:]
            for (record, report) in zip(records, mapped) {
                var report = report
                contents.behind.take(record.sample, &report)
                reports[record.id] = report
            }
            return reports
        }
    }

    /// The reports of samples, each with the number that it keeps at every attempt: numbers are used up by accepted
    /// reports alone.
    private func numbered(_ records: [SampleRecord], _ reports: [SampleID: CMCDReport]) -> [Item] {
        let beginnings = records.compactMap { Self.beginning($0.sample) }
        let numbers = numbers.withLock { numbers in
            for session in beginnings { numbers.begin(session) }
            return numbers
        }
        var next: [String: Int] = [:]
        var items: [Item] = []
        for record in records {
            guard var report = reports[record.id] else { continue }
            let session = if case .string(let text)? = report[.sessionID] { text } else { "" }
            let number = next[session] ?? numbers.next(session, sequence: record.sequence)
            next[session] = number + 1
            report[.sequenceNumber] = .integer(number)
            items.append(Item(record: record, report: report, session: session, number: number))
        }
        return items
    }

    /// The session that begins with a sample: with the request for playback, or without one with the load of the
    /// stream.
    private static func beginning(_ sample: Sample) -> String? {
        guard case .event(let event) = sample else { return nil }
        let isFirst =
            event.action == .mediaRequest
            || event.action == .streamLoad && event[Action.mediaRequest.timeKey] == nil
        return isFirst ? CMCDMapping.session(of: event) : nil
    }

    private func withoutEndedSessions(_ items: [Item]) -> ([Item], [SampleID: String]) {
        let numbers = numbers.withLock { $0 }
        var ended: [SampleID: String] = [:]
        for item in items where numbers.hasEnded(item.session) { ended[item.record.id] = Self.endedReason }
        return (ended.isEmpty ? items : items.filter { ended[$0.record.id] == nil }, ended)
    }

    private static let endedReason = "HTTP 410: the collector wants no more reports of this session"

    private func send(_ items: [Item]) async -> DeliveryOutcome {
        var writer = CMCDWriter()
        for (index, item) in items.enumerated() {
            if index > 0 { writer.separate() }
            writer.append(item.report)
        }
        let request = HTTPRequest(.post, url, headers: headers, body: writer.bytes, timeout: configuration.timeout)
        let outcome = await transport.deliver(request, clock: clock)
        if outcome == .acknowledged {
            accepted.insert(items.map(\.record.id))
            numbers.withLock { numbers in
                for item in items { numbers.accepted(item.session, number: item.number) }
            }
            log.record(writer.alterations)
        }
        return outcome
    }

    /// Finds the sessions that a 410 is about, by a request for each; returns the outcome of a request that failed
    /// otherwise.
    private func sendEachSession(_ items: [Item], _ ended: inout [SampleID: String]) async -> DeliveryOutcome? {
        var sessions: [String] = []
        for item in items where !sessions.contains(item.session) { sessions.append(item.session) }
        for session in sessions {
            let own = items.filter { $0.session == session }
            let outcome = sessions.count == 1 ? .gone(reason: "") : await send(own)
            switch outcome {
            case .acknowledged: break
            case .gone:
                numbers.withLock { $0.end(session) }
                for item in own { ended[item.record.id] = Self.endedReason }
            default: return outcome
            }
        }
        return nil
    }
}
