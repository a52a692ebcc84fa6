/// A fault of a response.
public enum Fault: Hashable, Sendable {
    /// Another status with a short text; `retryAfter` goes into `Retry-After`, in whole seconds rounded up.
    case status(Int, retryAfter: Duration? = nil)
    /// The connection is reset (RST) instead of an answer.
    case resetBeforeHead
    /// The connection is reset (RST) after this number of bytes of the body.
    case reset(afterBytes: Int)
    /// No response; the connection stays open.
    case hangBeforeHead
    /// The response stops after this number of bytes of the body; the connection stays open.
    case hang(afterBytes: Int)
    /// `Content-Length` is correct, but the connection is closed (FIN) after this number of bytes of the body.
    case truncate(afterBytes: Int)
    /// `Content-Length` is smaller than the body by this number of bytes; the whole body is sent, then the connection
    /// is closed.
    case understate(byBytes: Int)
    /// The head is delayed by this time.
    case slowFirstByte(Duration)
    /// A redirect to another path of this origin, in the same session.
    case redirect(to: String, status: Int = 302)
    /// A redirect to the requested path.
    case redirectToItself
    /// The correct body with another `Content-Type`.
    case contentType(String)
    /// An HTML page with status 200, like the log-in page of an access point.
    case html
    /// The resource at another path of this origin, with its type.
    case body(of: String)
    /// The first line of the body, then comment lines until the client closes the connection.
    case endless
    /// The body in pieces of this number of bytes at an interval, independent of the link.
    case trickle(bytes: Int, every: Duration)
    /// A live playlist or manifest as of the start of the rule.
    case stale
}

/// A rule: the requests to which a fault applies.
///
/// Counts are per session: each rule counts the requests that match its pattern and its time. The first rule whose
/// occurrence matches applies, and a request has at most one fault. The origin's own pages (`/`, `/requests`) have
/// none.
public struct FaultRule: Hashable, Sendable {
    /// The occurrence among the matching requests.
    public enum Occurrence: Hashable, Sendable {
        /// All requests.
        case all
        /// The request with that number, from 1.
        case nth(Int)
        /// The first requests up to this number.
        case first(Int)
        /// Every request of that period: 3 is the third, the sixth …
        case every(Int)

        /// Whether the occurrence includes the request with that number, from 1.
        func contains(_ number: Int) -> Bool {
            switch self {
            case .all: true
            case .nth(let wanted): number == wanted
            case .first(let count): number <= count
            case .every(let period): period > 0 && number % period == 0
            }
        }
    }

    /// The fault.
    package var fault: Fault
    /// The pattern of paths (without session and query): `*` stands for any text, also across slashes, `?` for one
    /// character.
    package var pattern: String
    /// The occurrence.
    package var occurrence: Occurrence
    /// The start, since the session's first request.
    package var start: Duration
    /// The end, since the session's first request; nil means without an end.
    package var end: Duration?

    /// Creates a rule, by default for every request.
    public init(
        _ fault: Fault,
        on pattern: String = "*",
        _ occurrence: Occurrence = .all,
        from start: Duration = .zero,
        until end: Duration? = nil
    ) {
        self.fault = fault
        self.pattern = pattern
        self.occurrence = occurrence
        self.start = start
        self.end = end
    }

    /// Whether pattern and time match, independent of the count.
    func fits(path: String, at time: Duration) -> Bool {
        if time < start { return false }
        if let end, time >= end { return false }
        return PathPattern.matches(pattern, path)
    }
}
