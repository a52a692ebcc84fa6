internal import Instrument
internal import InstrumentHTTP

/// Takes a successful body as it comes.
struct Receiver: Sendable {
    /// Takes the announced size before the first piece, if there is one.
    var expect: (@Sendable (Int) -> Void)?
    var receive: @Sendable (UnsafeRawBufferPointer) -> Void
}

/// One running request and the caller that waits for it. The caller learns the outcome exactly once, from whichever
/// comes first: the transfer, a cancellation or a shutdown.
final class Exchange: Sendable {
    typealias Outcome = Result<HTTPResponse, HTTPError>

    private enum Phase {
        /// Nobody waits yet.
        case made
        case waiting(@Sendable (Outcome) -> Void)
        /// The exchange has ended; the outcome stays until somebody waits.
        case ended(Outcome)
    }

    let number: UInt64
    let request: HTTPRequest
    /// The host that the request goes to, with scheme and port.
    let origin: String
    /// When the request's time is over, which begins when the exchange is made.
    let deadline: MonotonicInstant
    /// Takes a successful body as it comes; nil keeps it for the response.
    let receiver: Receiver?
    private let phase = Lock(Phase.made)

    init(_ request: HTTPRequest, number: UInt64, _ receiver: Receiver?) {
        self.request = request
        origin = request.url.origin
        deadline = SystemClock().now.advanced(by: request.timeout)
        self.number = number
        self.receiver = receiver
    }

    var hasEnded: Bool {
        phase.withLock { phase in
            if case .ended = phase { true } else { false }
        }
    }

    /// Sets who learns the outcome; false if the exchange had ended already.
    func wait(_ learn: @escaping @Sendable (Outcome) -> Void) -> Bool {
        let outcome: Outcome? = phase.withLock { phase in
            if case .ended(let outcome) = phase { return outcome }
            phase = .waiting(learn)
            return nil
        }
        guard let outcome else { return true }
        learn(outcome)
        return false
    }

    /// Ends it; false if it had ended before.
    @discardableResult
    func end(_ outcome: Outcome) -> Bool {
        let (isFirst, learn): (Bool, (@Sendable (Outcome) -> Void)?) = phase.withLock { phase in
            switch phase {
            case .ended: return (false, nil)
            case .made:
                phase = .ended(outcome)
                return (true, nil)
            case .waiting(let learn):
                phase = .ended(outcome)
                return (true, learn)
            }
        }
        learn?(outcome)
        return isFirst
    }
}
