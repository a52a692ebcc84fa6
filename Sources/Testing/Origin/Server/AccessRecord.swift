internal import Instrument
internal import InstrumentJSON

/// The record of a request.
public struct AccessRecord: Hashable, Sendable {
    /// The end of a response.
    public enum Outcome: String, Hashable, Sendable {
        /// The response has not ended.
        case pending
        /// The connection has received every byte of the response, correct or faulty.
        case complete
        /// A rule ended the response early: a reset, a truncation.
        case cut
        /// A rule stopped the response and keeps the connection open.
        case hanging
        /// The client closed the connection before the end.
        case aborted
    }

    /// The number of the request, from 1.
    public var number: Int
    /// The number of the connection, from 1.
    public var connection: Int
    /// The session's name; empty without one.
    public var session: String
    /// The method.
    public var method: String
    /// The path without session and query.
    public var path: String
    /// The query, as sent.
    public var query: String
    /// The value of `Range`; nil without one.
    public var range: String?
    /// The status; 0 if the rule prevents a response.
    public var status: Int
    /// The number of bytes of the body that the connection has received.
    public var bytes: Int
    /// The arrival of the request's head, since the session's first request; for the origin's pages since its start.
    public var start: Duration
    /// The instant at which the first byte of the body left, or the head without a body; since the session's first
    /// request.
    public var firstByte: Duration?
    /// The instant at which the last byte left, since the session's first request.
    public var lastByte: Duration?
    /// The arrival of the request's head, since the start of the origin.
    package var sinceOriginStart: Duration
    /// The end of the response.
    public var outcome: Outcome
    /// The applied rule, as its index in the list of rules, from 0.
    public var rule: Int?

    /// The record as one line of JSON, without the line's end; times in seconds.
    public var json: String {
        var members: [String: JSONValue] = [
            "number": .int(number), "connection": .int(connection), "session": .string(session),
            "method": .string(method),
            "path": .string(path), "status": .int(status), "bytes": .int(bytes), "start": .double(start.seconds),
            "sinceOriginStart": .double(sinceOriginStart.seconds), "outcome": .string(outcome.rawValue),
        ]
        if !query.isEmpty { members["query"] = .string(query) }
        if let range { members["range"] = .string(range) }
        if let firstByte { members["firstByte"] = .double(firstByte.seconds) }
        if let lastByte { members["lastByte"] = .double(lastByte.seconds) }
        if let rule { members["rule"] = .int(rule) }
        return JSONValue.object(members).description
    }
}
