internal import Instrument

/// The number of a request: unique, and rising across restarts.
public typealias SeerRequestID = UInt64

/// What became of a request.
public struct SeerResponse: Hashable, Sendable {
    /// What it is about.
    public enum Event: String, CaseIterable, Hashable, Sendable {
        /// A token was fetched, or could not be.
        case tokenFetch
        /// A Tin Can statement was reported or queued.
        case tinCanReport
        /// An activity was reported or queued.
        case activityReport
        /// Instrumentation was reported or queued.
        case instrumentationReport
        /// A session was started.
        case sessionStart
        /// What waited was reported, all of it, or up to the first failure.
        case queueReport
        /// A batch of what waited was reported.
        case queuedBatch
    }

    /// What it is about.
    public let event: Event
    /// Whether it went well.
    public let isSuccess: Bool
    /// Which request it answers.
    public let requestID: SeerRequestID
    /// The type of the payloads that it is about; nil where it is about none, or all.
    public let requestType: SeerPayload.Kind?
    /// Whether the payload waits in the queue now.
    public let isQueued: Bool
    /// What went wrong.
    public let error: SeerError?
    /// The requests that a batch or a report of the queue is about.
    public let requestIDs: [SeerRequestID]
    /// The requests whose payloads were thrown away, because they were the oldest in a full queue.
    public let removedIDs: [SeerRequestID]

    init(
        _ event: Event,
        _ requestID: SeerRequestID,
        type: SeerPayload.Kind? = nil,
        error: SeerError? = nil,
        isQueued: Bool = false,
        requestIDs: [SeerRequestID] = [],
        removedIDs: [SeerRequestID] = []
    ) {
        self.event = event
        isSuccess = error == nil
        self.requestID = requestID
        requestType = type
        self.isQueued = isQueued
        self.error = error
        self.requestIDs = requestIDs
        self.removedIDs = removedIDs
    }
}

/// Why a request did not go well. It names no secrets and may be printed.
public struct SeerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What went wrong, by number; an open set.
    public struct Code: Hashable, Sendable {
        /// The number.
        public let number: Int
        /// Creates a code.
        public init(_ number: Int) { self.number = number }

        /// The payload breaks rules; it was neither sent nor queued.
        public static let invalidPayload = Code(1)
        /// The service could not be reached, or cannot at the moment.
        public static let unavailable = Code(2)
        /// The service does not know us, or does not let us.
        public static let unauthorized = Code(3)
        /// The service will never take the payload; it is a dead letter.
        public static let refused = Code(4)
        /// The queue's store failed.
        public static let storeFailed = Code(5)
        /// The queue is full, and nothing was stored.
        public static let queueFull = Code(9)
        /// The disk is full, and nothing was stored.
        public static let diskFull = Code(10)
    }

    /// What went wrong.
    public let code: Code
    /// What happened, for people.
    public let description: String

    /// Creates an error.
    public init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// What a delivery that did not go well means; nil for one that did.
    init?(_ outcome: DeliveryOutcome) {
        switch outcome {
        case .acknowledged, .acknowledgedExcept: return nil
        case .retry(_, let reason), .gone(let reason): self.init(.unavailable, reason)
        case .unauthorized(let reason): self.init(.unauthorized, reason)
        case .refused(let reason), .tooLarge(let reason): self.init(.refused, reason)
        }
    }

    init(_ error: QueueError) {
        let code: Code = error.code == .diskFull ? .diskFull : error.code == .full ? .queueFull : .storeFailed
        self.init(code, error.message)
    }
}
