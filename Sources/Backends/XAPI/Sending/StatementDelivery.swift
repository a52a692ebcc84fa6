internal import Instrument
internal import InstrumentHTTP
internal import InstrumentJSON

/// Sends statements to an LRS, which stores all of them or none.
///
/// Source: xAPI 1.0.3, Communication 2.1.2 (POST) and 2.1.3 (GET); Data 2.3.1.
struct StatementDelivery: Sendable {
    enum Verdict: Hashable {
        /// All statements have arrived, except those that the LRS refused, with its reasons.
        case delivered(except: [SampleID: String])
        /// No statement is known to have arrived; the queue acts on the outcome.
        case failed(DeliveryOutcome)
    }

    let connection: LRSConnection
    let clock: any SchedulingClock

    /// Sends statements. If the LRS refuses all because of one, the queue halves the batch until one sample is
    /// left; the statements of that sample are then sent one by one.
    func deliver(_ entries: [StatementDraft.Entry]) async -> Verdict {
        let verdict = await attempt(entries)
        guard let reason = verdict.refusal, let first = entries.first,
            entries.allSatisfy({ $0.sample == first.sample })
        else { return verdict }
        if entries.count == 1 { return .delivered(except: [first.id: reason]) }
        return await deliverOneByOne(entries)
    }

    private func deliverOneByOne(_ entries: [StatementDraft.Entry]) async -> Verdict {
        var refused: [SampleID: String] = [:]
        for entry in entries {
            let verdict = await attempt([entry])
            if let reason = verdict.refusal {
                refused[entry.id] = reason
            } else if case .delivered(let conflicts) = verdict {
                refused.merge(conflicts) { first, _ in first }
            } else {
                return verdict
            }
        }
        return .delivered(except: refused)
    }

    private func attempt(_ entries: [StatementDraft.Entry]) async -> Verdict {
        let (status, outcome) = await post(entries)
        return status == 409 ? await resolve(entries, outcome) : Self.verdict(outcome)
    }

    /// Sends statements in one request; the status is nil without a readable response.
    private func post(
        _ entries: [StatementDraft.Entry]
    ) async -> (status: Int?, outcome: DeliveryOutcome) {
        var body = [UInt8(ascii: "[")]
        for entry in entries {
            if body.count > 1 { body.append(UInt8(ascii: ",")) }
            body += entry.bytes
        }
        body.append(UInt8(ascii: "]"))
        do throws(HTTPError) {
            let request = try connection.request(posting: body)
            let response = try await connection.transport.send(request)
            return (response.status, DeliveryOutcome(response, to: request, now: clock.wallTime))
        } catch {
            return (nil, DeliveryOutcome(error))
        }
    }

    private static func verdict(_ outcome: DeliveryOutcome, except: [SampleID: String] = [:]) -> Verdict {
        outcome == .acknowledged ? .delivered(except: except) : .failed(outcome)
    }

    /// Resolves a conflict: statements that the LRS has and that are equal have arrived, missing ones are sent
    /// once more.
    private func resolve(_ entries: [StatementDraft.Entry], _ conflict: DeliveryOutcome) async -> Verdict {
        let answer = if case .refused(let reason) = conflict { reason } else { "HTTP 409" }
        var (missing, conflicts) = ([StatementDraft.Entry](), [SampleID: String]())
        for start in stride(from: 0, to: entries.count, by: Self.questionsAtOnce) {
            let part = entries[start..<min(start + Self.questionsAtOnce, entries.count)]
            for (entry, stored) in zip(part, await look(up: Array(part))) {
                switch stored {
                case .same: break
                case .missing: missing.append(entry)
                case .other: conflicts[entry.id] = "\(answer) (a different statement is stored as \(entry.id))"
                case .unknown(let outcome): return .failed(outcome)
                }
            }
        }
        if missing.isEmpty { return .delivered(except: conflicts) }
        if missing.count == entries.count {
            return .failed(.refused(reason: "\(answer) (the LRS has stored none of the statements)"))
        }
        return Self.verdict(await post(missing).outcome, except: conflicts)
    }

    private enum Stored { case same, other, missing, unknown(DeliveryOutcome) }

    /// Limits the lookups, so that a batch ends within its timeout even if responses are slow.
    private static var questionsAtOnce: Int { 8 }

    /// Looks up the stored statements, in the order of the entries.
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
            return .unknown(
                .retry(
                    after: nil,
                    reason: "the LRS's response to a lookup of a statement must be JSON (found something else)"
                )
            )
        }
        guard let stored = answer.statement(entry.id) else { return try await lookUpVoided(entry) }
        let version = connection.configuration.version
        return StatementComparison.isSame(entry.json, stored, version: version) ? .same : .other
    }

    /// Looks up a statement that may have been voided, which counts as stored.
    private func lookUpVoided(_ entry: StatementDraft.Entry) async throws(HTTPError) -> Stored {
        let response = try await connection.statement(entry.id.wire, as: "voidedStatementId")
        switch response.status {
        case 200: return (try? JSONValue(parsing: response.body))?.statement(entry.id) == nil ? .missing : .same
        case 404, 400: return .missing
        default: return .unknown(outcome(of: response))
        }
    }

    /// The outcome of a failed lookup, which must not refuse the samples.
    private func outcome(of response: HTTPResponse) -> DeliveryOutcome {
        switch DeliveryOutcome(response, now: clock.wallTime) {
        case .retry(let delay, let reason): .retry(after: delay, reason: reason)
        case .unauthorized(let reason): .unauthorized(reason: reason)
        default: .retry(after: nil, reason: "HTTP \(response.status) to a lookup of a statement")
        }
    }
}

extension StatementDelivery.Verdict {
    /// The reason if the LRS refused all statements; otherwise nil.
    fileprivate var refusal: String? {
        switch self {
        case .failed(.refused(let reason)), .failed(.tooLarge(let reason)): reason
        case .failed, .delivered: nil
        }
    }
}

extension JSONValue {
    /// The statement with an identifier in a response, which should contain just this statement. Some LRSs
    /// return a list, which may be empty or contain other statements.
    func statement(_ id: SampleID) -> JSONValue? {
        (self["statements"]?.elements ?? [self]).first { $0["id"]?.id == id }
    }
}
