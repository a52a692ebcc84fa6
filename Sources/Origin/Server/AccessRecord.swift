internal import Instrument
internal import InstrumentJSON

/// The record of a request.
public struct AccessRecord: Hashable, Sendable {
    /// How a response ended.
    public enum Outcome: String, Hashable, Sendable {
        /// It is under way.
        case pending
        /// All that was to be sent has been given to the connection, be it right or wrong.
        case complete
        /// The origin cut it short, as a rule asked: a reset, a truncation.
        case cut
        /// The origin stopped sending and holds the connection open, as a rule asked.
        case hanging
        /// The client went away before the end.
        case aborted
    }

    /// Counts the origin's requests, from 1.
    public var number: Int
    /// Counts the origin's connections, from 1.
    public var connection: Int
    /// The session's name; empty without one.
    public var session: String
    /// The method.
    public var method: String
    /// The path without session and query.
    public var path: String
    /// The query as it was sent.
    public var query: String
    /// The value of `Range`, if there was one.
    public var range: String?
    /// The status that was sent; 0 if the rule allows no answer.
    public var status: Int
    /// How many bytes of the body have been given to the connection.
    public var bytes: Int
    /// When the request's head was complete, since the session's first request; for the origin's own pages since its start.
    public var start: Duration
    /// When the first byte of the body was sent, or the head if there was no body; since the session's first request.
    public var firstByte: Duration?
    /// When the last byte was sent, since the session's first request.
    public var lastByte: Duration?
    /// When the request's head was complete, since the origin was started.
    public var sinceOriginStart: Duration
    /// How it ended.
    public var outcome: Outcome
    /// The rule that acted, as its number in the list of rules, from 0.
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
