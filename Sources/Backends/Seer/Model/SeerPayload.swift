public import InstrumentJSON
public import InstrumentXAPI

/// A payload for Seer, from a typed value or from JSON; both give the same bytes.
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

    /// The type.
    package let kind: Kind
    /// The JSON that is sent.
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

    /// Returns the failures; empty for a valid payload.
    public func failures(isStrict: Bool = false) -> [ValidationFailure] {
        let validator = SeerValidator(isStrict: isStrict)
        return kind == .tinCan ? validator.failures(inTinCan: json) : validator.failures(inActivity: json)
    }
}

extension SeerPayload.Kind {
    /// The event of a response about such a payload.
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

    /// The envelope of a batch: an object for activities, an array for Tin Can.
    var envelope: (before: [UInt8], after: [UInt8]) {
        self == .tinCan ? (Array("[".utf8), Array("]".utf8)) : (Array(#"{"activities":["#.utf8), Array("]}".utf8))
    }

    /// The body of a batch.
    func body(of payloads: [[UInt8]]) -> [UInt8] {
        envelope.before + Array(payloads.joined(separator: [UInt8(ascii: ",")])) + envelope.after
    }

    /// Returns the number of payloads, from the first one on, that fit into a body; 0 if the first one alone is
    /// too large.
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
