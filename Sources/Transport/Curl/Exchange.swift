#if !canImport(Darwin)
internal import InstrumentHTTP
internal import Instrument

/// Takes a successful body as it comes.
struct Receiver: Sendable {
    /// Takes the announced size before the first piece, if there is one.
    var expect: (@Sendable (Int) -> Void)?
    var receive: @Sendable (UnsafeRawBufferPointer) -> Void
}

/// One running request and the task that waits for it. The task is resumed exactly once, by whichever comes first:
/// the transfer, a cancellation or a shutdown.
final class Exchange: Sendable {
    typealias Outcome = Result<HTTPResponse, HTTPError>

    private enum Phase {
        /// No task waits yet.
        case made
        case waiting(CheckedContinuation<Outcome, Never>)
        /// The exchange has ended; the outcome stays until a task waits.
        case ended(Outcome)
    }

    let number: UInt64
    let request: HTTPRequest
    /// Takes a successful body as it comes; nil keeps it for the response.
    let receiver: Receiver?
    private let phase = Lock(Phase.made)

    init(_ request: HTTPRequest, number: UInt64, _ receiver: Receiver?) {
        self.request = request
        self.number = number
        self.receiver = receiver
    }

    var hasEnded: Bool {
        phase.withLock { phase in
            if case .ended = phase { true } else { false }
        }
    }

    /// Sets the continuation to resume; false if the exchange had ended already.
    func wait(_ continuation: CheckedContinuation<Outcome, Never>) -> Bool {
        let outcome: Outcome? = phase.withLock { phase in
            if case .ended(let outcome) = phase { return outcome }
            phase = .waiting(continuation)
            return nil
        }
        guard let outcome else { return true }
        continuation.resume(returning: outcome)
        return false
    }

    /// Ends it; false if it had ended before.
    @discardableResult
    func end(_ outcome: Outcome) -> Bool {
        let (isFirst, continuation): (Bool, CheckedContinuation<Outcome, Never>?) = phase.withLock { phase in
            switch phase {
            case .ended: return (false, nil)
            case .made:
                phase = .ended(outcome)
                return (true, nil)
            case .waiting(let continuation):
                phase = .ended(outcome)
                return (true, continuation)
            }
        }
        continuation?.resume(returning: outcome)
        return isFirst
    }
}
#endif
