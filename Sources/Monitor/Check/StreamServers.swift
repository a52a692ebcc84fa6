internal import Instrument
internal import InstrumentHTTP
internal import InstrumentManifests
internal import InstrumentRules

/// What a check learnt of the servers of a stream.
struct ServerReport: Sendable {
    /// The failures of servers: one for each resource that a server lacks, at the address of the server.
    var failures: [FetchFailure] = []
    /// The addresses of resources whose failures are among those of servers, now or in a later report.
    var explained: Set<HTTPURL> = []
}

/// The servers of a stream: which of them a check uses, and which have failed.
///
/// A resource that a server lacks is asked of the others, as players do. It is a fault of the server where another
/// server has the resource, or where no server delivers anything; otherwise, it is a fault of the resource.
actor StreamServers {
    /// The answer to a request, and the address from which it came.
    struct Answer<Value: Sendable>: Sendable {
        var address: HTTPURL
        var result: Result<Value, ResourceClient.Failure>
    }

    /// A server that lacks a resource.
    private struct Absence: Sendable {
        var address: HTTPURL
        var failure: FetchFailure
    }

    /// A resource that no server has.
    private struct Missing: Sendable {
        var url: HTTPURL
        var kind: FetchFailure.Kind
        var absences: [Absence]
        /// Whether the failure may be reported later.
        var mayWait = false
        /// Whether a report left it out.
        var hasWaited = false
    }

    /// The number of resources that must be missing before no server is said to deliver anything.
    private static let fewestMissing = 2

    private let clock: any SchedulingClock
    private var table = LocationTable()
    private var directories: [HTTPURL] = []
    /// The servers that delivered something, by what they delivered: one may have playlists, and no segments.
    private var delivering: [FetchFailure.Kind: Set<HTTPURL>] = [:]
    /// The servers that lack something.
    private var failing: Set<HTTPURL> = []
    /// The first resources that no server had.
    private var firstMissing: [FetchFailure.Kind: Set<HTTPURL>] = [:]
    /// The resources that no server has, and that are not reported yet.
    private var missing: [Missing] = []
    private var report = ServerReport()

    init(clock: any SchedulingClock) { self.clock = clock }

    /// Takes the servers of a manifest.
    func take(_ presentation: Presentation) {
        table.take(presentation)
        // A manifest may be reloaded: each directory once.
        directories = Set(presentation.locations.flatMap(\.directories)).sorted { $0.path.count > $1.path.count }
    }

    /// Requests a resource of an MPD from the server in use and, where that lacks it, from the others.
    ///
    /// - Parameters:
    ///   - url: the address of the resource in the manifest.
    ///   - kind: what is requested, for the report.
    ///   - showsContent: whether the answer has the content, and not its first byte alone, so that it shows that the
    ///     server delivers.
    ///   - defect: what a body shows that is not the resource; nil for the resource.
    /// - Returns: the answer of the first server that has the resource; the first answer if none has.
    nonisolated func answer<Value: Sendable>(
        for url: HTTPURL,
        _ kind: FetchFailure.Kind,
        showsContent: Bool = true,
        defect: @Sendable (Value) -> String? = { _ in nil },
        _ request: @Sendable (HTTPURL) async -> Result<Value, ResourceClient.Failure>
    ) async -> Answer<Value> {
        var table = await self.table
        var first: Answer<Value>?
        var absences: [Absence] = []
        var hasNext = true
        while hasNext, !Task.isCancelled {
            let address = table.address(of: url)
            // The levels of an MPD may lead to an address twice.
            guard !absences.contains(where: { $0.address == address }) else { break }
            let answer = Answer(address: address, result: await request(address))
            guard let failure = Self.failure(of: answer, kind, defect) else {
                await note(address, delivers: url, kind, after: absences, isProof: showsContent)
                return answer
            }
            absences.append(Absence(address: address, failure: failure))
            first = first ?? answer
            hasNext = table.leaveServer(of: url, for: nil, now: clock.now)
        }
        if !Task.isCancelled { await note(Missing(url: url, kind: kind, absences: absences)) }
        return first ?? Answer(address: url, result: .failure(.connection("cancelled")))
    }

    /// Asks the servers that nothing was asked of yet for a resource that another server has.
    nonisolated func compare<Value: Sendable>(
        _ url: HTTPURL,
        _ kind: FetchFailure.Kind,
        defect: @Sendable (Value) -> String?,
        _ request: @Sendable (HTTPURL) async -> Result<Value, ResourceClient.Failure>
    ) async {
        for address in await unknownAddresses(of: url) where !Task.isCancelled {
            let answer = Answer(address: address, result: await request(address))
            if let failure = Self.failure(of: answer, kind, defect) {
                await add(Absence(address: address, failure: failure))
            } else {
                await note(address, delivers: url, kind, after: [])
            }
        }
    }

    /// Why an answer does not have the resource; nil if it has.
    private static func failure<Value>(
        of answer: Answer<Value>,
        _ kind: FetchFailure.Kind,
        _ defect: (Value) -> String?
    ) -> FetchFailure? {
        switch answer.result {
        case .success(let value):
            defect(value).map { FetchFailure(kind: kind, url: answer.address, reason: $0) }
        case .failure(let failure): FetchFailure(kind, answer.address, failure)
        }
    }

    /// Notes the answer to the request for a playlist of HLS, which each server has under a separate name.
    func note(_ result: Result<FetchedText, ResourceClient.Failure>, of url: HTTPURL) {
        let answer = Answer(address: url, result: result)
        if let failure = Self.failure(of: answer, .manifest, { ManifestContent.replacement(of: $0.bytes) }) {
            var resource = Missing(url: url, kind: .manifest, absences: [Absence(address: url, failure: failure)])
            if case .failure = result { resource.mayWait = true }
            note(resource)
        } else {
            note(url, delivers: url, .manifest, after: [])
        }
    }

    /// Returns what was learnt since the report before.
    ///
    /// - Parameter isLast: whether nothing more is requested. Playlists of HLS may arrive late: the first one that is
    ///   missing waits for others of its server.
    func takeReport(isLast: Bool = false) -> ServerReport {
        defer { report = ServerReport() }
        var waiting: [Missing] = []
        for resource in missing {
            let servers = resource.absences.map { directory(of: $0.address) }
            let known = delivering[resource.kind] ?? []
            let isDead = !servers.isEmpty && servers.allSatisfy { $0.map { !known.contains($0) } ?? false }
            let hasMore = firstMissing[resource.kind, default: []].count >= Self.fewestMissing
            if isDead, hasMore {
                report.explained.insert(resource.url)
                for absence in resource.absences { add(absence) }
            } else if resource.mayWait, isDead, !isLast {
                report.explained.insert(resource.url)
                waiting.append(resource)
            } else if resource.hasWaited {
                report.failures += resource.absences.map(\.failure)
            }
        }
        missing = waiting.map { resource in
            var resource = resource
            resource.hasWaited = true
            return resource
        }
        return report
    }

    private func note(
        _ address: HTTPURL,
        delivers url: HTTPURL,
        _ kind: FetchFailure.Kind,
        after absences: [Absence],
        isProof: Bool = true
    ) {
        if isProof, let server = directory(of: address) { delivering[kind, default: []].insert(server) }
        for absence in absences {
            add(absence)
            // Another request may have left the server meanwhile.
            if table.address(of: url) == absence.address { _ = table.leaveServer(of: url, for: nil, now: clock.now) }
        }
    }

    private func note(_ resource: Missing) {
        missing.append(resource)
        guard firstMissing[resource.kind, default: []].count < Self.fewestMissing else { return }
        firstMissing[resource.kind, default: []].insert(resource.url)
    }

    private func add(_ absence: Absence) {
        var failure = absence.failure
        failure.isOfServer = true
        // What follows in a reason is advice.
        failure.reason = "\(failure.reason.prefix { $0 != ";" }) for \(absence.address)"
        if let server = directory(of: absence.address) {
            failing.insert(server)
            failure.url = server
        }
        report.failures.append(failure)
    }

    private func directory(of address: HTTPURL) -> HTTPURL? {
        directories.first { $0.origin == address.origin && address.path.hasPrefix($0.path) }
    }

    /// The addresses of a resource at the servers of which nothing is known.
    private func unknownAddresses(of url: HTTPURL) -> [HTTPURL] {
        var (others, found) = (table, [HTTPURL]())
        while others.leaveServer(of: url, for: nil, now: clock.now) {
            let address = others.address(of: url)
            guard let server = directory(of: address), !failing.contains(server),
                delivering[.segment]?.contains(server) != true,
                !found.contains(address)
            else { continue }
            found.append(address)
        }
        return found
    }
}

extension ManifestContent {
    /// What a server without a resource may send in its place with status 200; nil for other bodies.
    static func replacement(of bytes: [UInt8]) -> String? {
        let content = ManifestContent(bytes)
        return [.page, .json, .empty].contains(content) ? "\(content)" : nil
    }
}
