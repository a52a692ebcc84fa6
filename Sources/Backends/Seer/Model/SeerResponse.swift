internal import Instrument

/// The number of a request: unique, and rising across restarts.
public typealias SeerRequestID = UInt64

/// The result of a request.
public struct SeerResponse: Hashable, Sendable {
    /// The event that the response reports.
    public enum Event: String, CaseIterable, Hashable, Sendable {
        /// A token was fetched, or fetching it failed.
        case tokenFetch
        /// A Tin Can statement was reported or queued.
        case tinCanReport
        /// An activity was reported or queued.
        case activityReport
        /// Instrumentation was reported or queued.
        case instrumentationReport
        /// A session was started.
        case sessionStart
        /// The queue was reported, completely or up to the first failure.
        case queueReport
        /// A batch of the queue was reported.
        case queuedBatch
    }

    /// The event that the response reports.
    public let event: Event
    /// Whether the request succeeded.
    public let isSuccess: Bool
    /// The request.
    public let requestID: SeerRequestID
    /// The type of the payloads; nil for none or for all types.
    public let requestType: SeerPayload.Kind?
    /// Whether the payload waits in the queue now.
    public let isQueued: Bool
    /// The error; nil for a success.
    public let error: SeerError?
    /// The requests in a batch or in a report of the queue.
    public let requestIDs: [SeerRequestID]
    /// The requests whose payloads a full queue evicted.
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

/// The reason of a failed request. It contains no secrets and may be printed.
public struct SeerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The number of an error; an open set.
    public struct Code: Hashable, Sendable {
        /// The number.
        public let number: Int
        /// Creates a code.
        package init(_ number: Int) { self.number = number }

        /// The payload is invalid; it was neither sent nor queued.
        public static let invalidPayload = Code(1)
        /// The service is unreachable or temporarily unavailable.
        public static let unavailable = Code(2)
        /// The service refused the credentials or the access.
        public static let unauthorized = Code(3)
        /// The service refused the payload, which is now a dead letter.
        public static let refused = Code(4)
        /// The queue's store failed.
        public static let storeFailed = Code(5)
        /// The queue is full; the payload was not stored.
        public static let queueFull = Code(9)
        /// The disk is full; the payload was not stored.
        public static let diskFull = Code(10)
    }

    /// The error; nil for a success.
    public let code: Code
    /// The error in words, for people.
    public let description: String

    /// Creates an error.
    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// Creates the error of a failed delivery; nil for a success.
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
