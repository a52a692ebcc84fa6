public import InstrumentJSON
public import InstrumentXAPI

/// What is reported to Seer: typed, or as JSON of one's own; both give the same bytes.
public struct SeerPayload: Hashable, Sendable {
    /// The types, which are never mixed in a batch.
    public enum Kind: String, CaseIterable, Hashable, Sendable {
        /// Activity streams.
        case activity
        /// Activity streams about the app itself.
        case instrumentation
        /// Tin Can statements.
        case tinCan
    }

    /// Its type.
    public let kind: Kind
    /// What is sent.
    public let json: JSONValue

    /// Creates a payload from JSON.
    public init(_ kind: Kind, json: JSONValue) {
        self.kind = kind
        self.json = json
    }

    /// An activity.
    public static func activity(_ stream: Seer.ActivityStream) -> SeerPayload { .init(.activity, json: stream.json) }
    /// Instrumentation.
    public static func instrumentation(_ stream: Seer.Instrumentation) -> SeerPayload {
        .init(.instrumentation, json: stream.json)
    }
    /// A Tin Can statement.
    public static func tinCan(_ statement: Seer.TinCan) -> SeerPayload { .init(.tinCan, json: statement.json) }

    /// What is wrong with it; empty for a valid one.
    public func failures(isStrict: Bool = false) -> [ValidationFailure] {
        let validator = SeerValidator(isStrict: isStrict)
        return kind == .tinCan ? validator.failures(inTinCan: json) : validator.failures(inActivity: json)
    }
}

extension SeerPayload.Kind {
    /// The event that speaks of one.
    var event: SeerResponse.Event {
        switch self {
        case .activity: .activityReport
        case .instrumentation: .instrumentationReport
        case .tinCan: .tinCanReport
        }
    }

    var endpoint: SeerEndpoints.Name {
        switch self {
        case .activity: .activity
        case .instrumentation: .instrumentation
        case .tinCan: .tinCan
        }
    }

    var batchEndpoint: SeerEndpoints.Name {
        switch self {
        case .activity: .activityBatch
        case .instrumentation: .instrumentationBatch
        case .tinCan: .tinCanBatch
        }
    }

    /// What stands around several: an object for activities, an array for Tin Can.
    var envelope: (before: [UInt8], after: [UInt8]) {
        self == .tinCan ? (Array("[".utf8), Array("]".utf8)) : (Array(#"{"activities":["#.utf8), Array("]}".utf8))
    }

    /// The body of a batch.
    func body(of payloads: [[UInt8]]) -> [UInt8] {
        envelope.before + Array(payloads.joined(separator: [UInt8(ascii: ",")])) + envelope.after
    }

    /// How many of these sizes, from the first on, fit a body of that many bytes; none if the first alone is too large.
    func count(of sizes: some Sequence<Int>, fitting limit: Int) -> Int {
        var (count, bytes) = (0, envelope.before.count + envelope.after.count)
        for size in sizes {
            bytes += size + (count > 0 ? 1 : 0)
            if bytes > limit { break }
            count += 1
        }
        return count
    }
}
