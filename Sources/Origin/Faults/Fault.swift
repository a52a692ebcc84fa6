/// What goes wrong with a response.
public enum Fault: Hashable, Sendable {
    /// Another status with a short text; `retryAfter` goes into `Retry-After`, in whole seconds rounded up.
    case status(Int, retryAfter: Duration? = nil)
    /// The connection is reset (RST) instead of an answer.
    case resetBeforeHead
    /// The connection is reset (RST) after that many bytes of the body.
    case reset(afterBytes: Int)
    /// No answer ever; the connection stays open.
    case hangBeforeHead
    /// Nothing more after that many bytes of the body; the connection stays open.
    case hang(afterBytes: Int)
    /// `Content-Length` is right, but the connection is closed (FIN) after that many bytes of the body.
    case truncate(afterBytes: Int)
    /// `Content-Length` is smaller than the body by that many bytes; all of it is sent, then the connection is closed.
    case understate(byBytes: Int)
    /// The head comes later by that much.
    case slowFirstByte(Duration)
    /// A redirect to another path of this origin, in the same session.
    case redirect(to: String, status: Int = 302)
    /// A redirect to the path that was asked for.
    case redirectToItself
    /// The right body under another `Content-Type`.
    case contentType(String)
    /// An HTML page with status 200, like an access point's log-in page.
    case html
    /// The resource at another path of this origin, with its type.
    case body(of: String)
    /// The first line of the body, then comment lines until the client has had enough.
    case endless
    /// The body in pieces of that many bytes, one at a time, beside the link.
    case trickle(bytes: Int, every: Duration)
    /// A live playlist or manifest as it was when the rule came into force.
    case stale
}

/// To which requests a fault happens.
///
/// Counts are per session: each rule counts the requests that fit its pattern and its time; the first rule whose count says
/// so acts, and a request suffers one fault at most. The origin's own pages (`/`, `/requests`) are spared.
public struct FaultRule: Hashable, Sendable {
    /// Which of the requests that fit.
    public enum Occurrence: Hashable, Sendable {
        /// All of them.
        case all
        /// The one of that number, from 1.
        case nth(Int)
        /// The first requests up to this number.
        case first(Int)
        /// Each of that period: 3 is the third, the sixth …
        case every(Int)

        /// Whether the request of that number, from 1, is one.
        func contains(_ number: Int) -> Bool {
            switch self {
            case .all: true
            case .nth(let wanted): number == wanted
            case .first(let count): number <= count
            case .every(let period): period > 0 && number % period == 0
            }
        }
    }

    /// What happens.
    public var fault: Fault
    /// To which paths (without session and query): `*` stands for anything, also across slashes, `?` for one character.
    public var pattern: String
    /// To which of them.
    public var occurrence: Occurrence
    /// From when, since the session's first request.
    public var start: Duration
    /// The end, since the session's first request; nil means without an end.
    public var end: Duration?

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

    /// Whether pattern and time fit; the count is another matter.
    func fits(path: String, at time: Duration) -> Bool {
        if time < start { return false }
        if let end, time >= end { return false }
        return PathPattern.matches(pattern, path)
    }
}
