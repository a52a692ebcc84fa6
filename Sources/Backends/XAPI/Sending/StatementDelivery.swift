internal import Instrument
internal import InstrumentJSON
internal import InstrumentTransport

/// Brings statements to an LRS, which takes all of them or none.
///
/// Source: xAPI 1.0.3, Communication 2.1.2 (POST) and 2.1.3 (GET); Data 2.3.1.
struct StatementDelivery: Sendable {
    enum Verdict: Hashable {
        /// They have arrived, but for those of these samples, for the given reasons.
        case delivered(except: [SampleID: String])
        /// What the queue has to do.
        case failed(DeliveryOutcome)
    }

    let connection: LRSConnection
    let clock: any SchedulingClock

    func deliver(_ entries: [StatementDraft.Entry]) async -> Verdict {
        do throws(HTTPError) {
            let response = try await post(entries)
            if response.status == 409 { return try await resolve(entries) }
            return verdict(on: response)
        } catch {
            return .failed(DeliveryOutcome(error))
        }
    }

    private func post(_ entries: [StatementDraft.Entry]) async throws(HTTPError) -> HTTPResponse {
        try await connection.post(JSONValue.array(entries.map(\.json)).bytes)
    }

    private func verdict(on response: HTTPResponse, except: [SampleID: String] = [:]) -> Verdict {
        let outcome = DeliveryOutcome(response, now: clock.wallTime)
        return outcome == .acknowledged ? .delivered(except: except) : .failed(outcome)
    }

    /// The LRS knows some of the identifiers: what is there and the same has arrived, what is missing goes once more.
    private func resolve(_ entries: [StatementDraft.Entry]) async throws(HTTPError) -> Verdict {
        var (missing, conflicts) = ([StatementDraft.Entry](), [SampleID: String]())
        for start in stride(from: 0, to: entries.count, by: Self.questionsAtOnce) {
            let part = entries[start..<min(start + Self.questionsAtOnce, entries.count)]
            for (entry, stored) in zip(part, await look(up: Array(part))) {
                switch stored {
                case .same: break
                case .missing: missing.append(entry)
                case .other: conflicts[entry.sample] = "HTTP 409: another statement is stored as \(entry.id)"
                case .unknown(let outcome): return .failed(outcome)
                }
            }
        }
        if missing.isEmpty { return .delivered(except: conflicts) }
        if missing.count == entries.count { return .failed(.refused(reason: "HTTP 409, though none of it is stored")) }
        return verdict(on: try await post(missing), except: conflicts)
    }

    private enum Stored { case same, other, missing, unknown(DeliveryOutcome) }

    /// So that a batch is through before its time is up, also where an answer takes long.
    private static var questionsAtOnce: Int { 8 }

    /// What is stored, in the order of the entries.
    private func look(up entries: [StatementDraft.Entry]) async -> [Stored] {
        await withTaskGroup(of: (Int, Stored).self) { group in
            for (number, entry) in entries.enumerated() {
                group.addTask {
                    do throws(HTTPError) { return (number, try await look(up: entry)) } catch {
                        return (number, .unknown(DeliveryOutcome(error)))
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private func look(up entry: StatementDraft.Entry) async throws(HTTPError) -> Stored {
        let response = try await connection.statement(entry.id.wire)
        if response.status == 404 { return try await lookUpVoided(entry) }
        guard response.status == 200 else { return .unknown(outcome(of: response)) }
        guard let answer = try? JSONValue(parsing: response.body) else {
            return .unknown(.retry(after: nil, reason: "the LRS answered a question for a statement with no JSON"))
        }
        guard let stored = answer.statement(entry.id) else { return try await lookUpVoided(entry) }
        let version = connection.configuration.version
        return StatementComparison.isSame(entry.json, stored, version: version) ? .same : .other
    }

    /// A statement that somebody has made void since is there no less.
    private func lookUpVoided(_ entry: StatementDraft.Entry) async throws(HTTPError) -> Stored {
        let response = try await connection.statement(entry.id.wire, as: "voidedStatementId")
        switch response.status {
        case 200: return (try? JSONValue(parsing: response.body))?.statement(entry.id) == nil ? .missing : .same
        case 404, 400: return .missing
        default: return .unknown(outcome(of: response))
        }
    }

    /// An answer that is none to the question must not refuse the samples.
    private func outcome(of response: HTTPResponse) -> DeliveryOutcome {
        switch DeliveryOutcome(response, now: clock.wallTime) {
        case .retry(let delay, let reason): .retry(after: delay, reason: reason)
        case .unauthorized(let reason): .unauthorized(reason: reason)
        default: .retry(after: nil, reason: "HTTP \(response.status) to a question for a statement")
        }
    }
}

extension JSONValue {
    /// The statement of that identifier in an answer that should be just that. Some LRSs put it into a list, which may be
    /// empty, or hold what was not asked for.
    func statement(_ id: SampleID) -> JSONValue? {
        (self["statements"]?.elements ?? [self]).first { $0["id"]?.id == id }
    }
}
