internal import Instrument
internal import InstrumentCMCD

/// The configuration of Common Media Client Data (CMCD, CTA-5004-B) on a probe's requests.
///
/// Reports name the session and the content, so a probe adds them only to requests for configured hosts, and never to
/// the request that follows a redirect to another host. Requests of progressive media carry no report.
public struct RequestReporting: Hashable, Sendable {
    /// The transport of a report.
    public enum Mode: String, Hashable, Sendable, CaseIterable {
        /// As the query parameter `CMCD`.
        case query
        /// As the header fields `CMCD-Object`, `CMCD-Request`, `CMCD-Session` and `CMCD-Status`.
        case header
    }

    /// How a report is transported.
    package var mode: Mode
    /// The hosts whose requests carry reports, in lower case and without a port; nil for the host of the source alone.
    package var hosts: Set<String>?
    /// The identifier of the content (`cid`); nil sends none.
    package var contentID: String?

    /// Creates a configuration.
    public init(_ mode: Mode, hosts: Set<String>? = nil, contentID: String? = nil) {
        self.mode = mode
        self.hosts = hosts.map { Set($0.map { $0.lowercased() }) }
        self.contentID = contentID
    }
}

/// A report and its transport, as a part of a request.
struct ReportedRequest: Hashable, Sendable {
    let mode: RequestReporting.Mode
    let report: CMCDReport
}

/// The reports of one playback: its session, and the numbers of its requests.
struct RequestReports: Sendable {
    let reporting: RequestReporting
    private let session: String
    private let sourceHost: String
    private var nextNumber = 0
    private var reportedStalls = 0
    private var isDelayReported = false

    init(_ reporting: RequestReporting, session: String, sourceHost: String) {
        self.reporting = reporting
        self.session = session
        self.sourceHost = sourceHost
    }

    /// Whether requests for a host carry a report.
    func isConfigured(_ host: String) -> Bool { reporting.hosts?.contains(host) ?? (host == sourceHost) }

    /// The common fields of the playback's reports, for the next request.
    ///
    /// The start delay is sent once, with the first request for media after the start (CTA-5004-B, Table 1).
    func report(on purpose: FetchPurpose, _ view: PlaybackView) -> CMCDReport {
        var report = CMCDReport()
        report[.version] = .integer(2)
        report[.sessionID] = .string(session)
        report[.contentID] = reporting.contentID.map { .string($0) }
        report[.sequenceNumber] = .integer(nextNumber)
        if view.stallCount > reportedStalls { report[.isStarved] = .boolean(true) }
        if purpose.isMedia, !isDelayReported {
            report[.startDelay] = view.startDelay.map { .integer(max(0, $0.milliseconds)) }
        }
        return report
    }

    /// Records that a request with a report has begun.
    mutating func begun(_ report: CMCDReport, _ view: PlaybackView) {
        nextNumber += 1
        reportedStalls = view.stallCount
        if report[.startDelay] != nil { isDelayReported = true }
    }
}

extension FetchPurpose {
    /// Whether the response is media that is played.
    fileprivate var isMedia: Bool {
        switch self {
        case .segment, .hint(.part, _): true
        default: false
        }
    }
}
