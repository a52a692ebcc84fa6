internal import Instrument
internal import InstrumentManifests
internal import InstrumentTransport

/// The requests of a playback that are running, and those that wait for a retry. Commands for the engine gather here
/// until the engine takes them.
struct FetchTable: Sendable {
    private let configuration: ProbeConfiguration
    private var running: [Int: Fetching] = [:]
    private var retries: [FetchPurpose: Retrying] = [:]
    private var nextNumber = 0
    private var commands: [LoadCommand] = []

    init(_ configuration: ProbeConfiguration) { self.configuration = configuration }

    var isEmpty: Bool { running.isEmpty }

    /// The running request for a purpose.
    func fetching(_ purpose: FetchPurpose) -> Fetching? { running.values.first { $0.purpose == purpose } }

    /// Whether a request is running that a track waits for.
    func isBusy(_ role: StreamRole) -> Bool {
        running.values.contains { $0.purpose.role == role && !$0.purpose.isHint }
    }

    /// The running segment requests, the oldest first.
    var segments: [Fetching] { sorted { $0.purpose.kind == .segment && !$0.purpose.isHint } }

    /// The instant at which the retry of a failed request is due; nil if none is planned.
    func retryInstant(_ purpose: FetchPurpose) -> MonotonicInstant? { retries[purpose]?.notBefore }

    /// The running requests that have exceeded a limit of their retry policy, the oldest first.
    func overdue(at now: MonotonicInstant) -> [Fetching] { sorted { $0.tooLate <= now } }

    func isRunning(_ number: Int) -> Bool { running[number] != nil }

    /// The instants at which a request times out or a retry is due.
    func deadlines(after now: MonotonicInstant) -> [MonotonicInstant] {
        running.values.map(\.tooLate) + retries.values.map(\.notBefore).filter { $0 > now }
    }

    private func sorted(_ isIncluded: (Fetching) -> Bool) -> [Fetching] {
        running.values.filter(isIncluded).sorted { $0.number < $1.number }
    }
}

// MARK: Changes
extension FetchTable {
    /// Begins a request.
    ///
    /// - Parameter body: the body of a request for a licence.
    /// - Returns: nil if a request for the purpose is running already, or its retry is not due.
    mutating func begin(
        _ purpose: FetchPurpose,
        _ url: HTTPURL,
        range: ByteRange? = nil,
        body: [UInt8] = [],
        report: ReportedRequest? = nil,
        now: MonotonicInstant
    ) -> Fetching? {
        let retry = retries[purpose]
        if let retry, retry.notBefore > now { return nil }
        guard fetching(purpose) == nil else { return nil }
        let policy = configuration.profile[retry: purpose.kind].limited(by: configuration)
        let limits = configuration.limits
        let request = ResourceRequest(
            kind: purpose.kind,
            url: url,
            method: purpose.method,
            body: body,
            range: range,
            decoding: purpose.isOfText ? configuration.profile.textCodings.decoding(of: url) : .unasked,
            timeout: policy.loadTimeout ?? limits.longestFetch,
            maxBytes: limits.bytes(of: purpose.kind),
            maxBitrate: limits.maximumBandwidth,
            isFirst: nextNumber == 0,
            report: report
        )
        let fetching = Fetching(
            number: nextNumber,
            purpose: purpose,
            request: request,
            buffer: FetchBuffer(),
            begun: now,
            failures: retry?.failures ?? 0,
            policy: policy
        )
        nextNumber += 1
        running[fetching.number] = fetching
        commands.append(.fetch(fetching))
        return fetching
    }

    /// Removes a request that has ended; nil if it was cancelled before.
    mutating func end(_ number: Int) -> Fetching? { running.removeValue(forKey: number) }

    /// Continues the request of a hint as the request of the resource that a playlist lists now.
    ///
    /// - Returns: the request; nil if none is running.
    mutating func promote(_ hint: FetchPurpose, to purpose: FetchPurpose, now: MonotonicInstant) -> Fetching? {
        guard let fetching = fetching(hint)?.promoted(to: purpose, at: now) else { return nil }
        running[fetching.number] = fetching
        return fetching
    }

    mutating func cancel(_ number: Int, _ reason: ResourceFailure = .notWanted) {
        guard let fetching = running.removeValue(forKey: number) else { return }
        commands.append(.cancel(fetching, reason))
    }

    /// Cancels the requests of a track and forgets its retries.
    ///
    /// - Returns: the cancelled requests.
    mutating func cancel(_ role: StreamRole) -> [Fetching] {
        let cancelled = sorted { $0.purpose.role == role }
        for fetching in cancelled { cancel(fetching.number) }
        retries = retries.filter { $0.key.role != role }
        return cancelled
    }

    mutating func cancelAll() {
        for number in running.keys.sorted() { cancel(number) }
    }

    /// Plans the retry of a failed request.
    ///
    /// - Parameters:
    ///   - count: the number of failures that the profile's player counts; nil for those of the resource.
    ///   - ignoresStatus: whether the player retries whatever the failure was.
    ///   - randomness: between 0 and 1; spreads the back-off.
    ///   - isBuffered: whether there is media to play until an instant.
    /// - Returns: false if the policy allows no retry.
    mutating func planRetry(
        of fetching: Fetching,
        after failure: ResourceFailure,
        count: Int? = nil,
        ignoresStatus: Bool = false,
        randomness: Double,
        now: MonotonicInstant,
        isBuffered: (MonotonicInstant) -> Bool = { _ in false }
    ) -> Bool {
        forgetRetry(fetching.purpose)
        let (policy, cause) = (fetching.policy, failure.failure)
        let failures = fetching.failures + 1
        let counted = count ?? failures
        let due = now.advanced(by: policy.delay(after: cause, failures: counted, randomness: randomness))
        guard !failure.isFinal, ignoresStatus || policy.retries(after: cause),
            counted <= policy.maximumRetries(after: cause) || policy.continuesWhileBuffered && isBuffered(due)
        else { return false }
        retries[fetching.purpose] = Retrying(failures: failures, notBefore: due)
        return true
    }

    /// Plans a first attempt, as if the request had not failed before.
    mutating func planRestart(of purpose: FetchPurpose, at instant: MonotonicInstant) {
        retries[purpose] = Retrying(failures: 0, notBefore: instant)
    }

    mutating func forgetRetry(_ purpose: FetchPurpose) { retries[purpose] = nil }

    mutating func takeCommands() -> [LoadCommand] {
        defer { commands = [] }
        return commands
    }
}
