internal import Instrument

/// A queue of events with its own rules: which events are accepted, and when they are uploaded. Each queue is a backend
/// of the shared queue.
///
/// | rule | ``standard`` | ``deviceProperties`` |
/// |---|---|---|
/// | ``acceptSameEventAfter`` | off | 1 h |
/// | ``uploadWhenMoreThan`` | 32 | 0: every event |
/// | ``uploadWhenOlderThan`` | 60 s | off |
public struct SiftQueue: Hashable, Sendable, CustomStringConvertible {
    /// App state, custom events, events of players.
    public static let standard = SiftQueue(
        "sift-default",
        acceptSameEventAfter: .zero,
        uploadWhenMoreThan: 32,
        uploadWhenOlderThan: .seconds(60)
    )
    /// Device properties: rare, and mostly the same.
    public static let deviceProperties = SiftQueue(
        "sift-devprops",
        acceptSameEventAfter: .seconds(3600),
        uploadWhenMoreThan: 0,
        uploadWhenOlderThan: .zero
    )

    /// The name of the queue and of its backend.
    public let name: String
    /// The period in which an event that equals the previous one is dropped; zero drops none.
    public var acceptSameEventAfter: Duration
    /// More events than this are uploaded at once; negative: the count does not matter.
    public var uploadWhenMoreThan: Int
    /// Events are uploaded when the last upload is longer ago; zero: its age does not matter. The first goes out at
    /// once.
    public var uploadWhenOlderThan: Duration

    /// Creates a queue.
    public init(
        _ name: String,
        acceptSameEventAfter: Duration,
        uploadWhenMoreThan: Int,
        uploadWhenOlderThan: Duration
    ) {
        self.name = name
        self.acceptSameEventAfter = acceptSameEventAfter
        self.uploadWhenMoreThan = uploadWhenMoreThan
        self.uploadWhenOlderThan = uploadWhenOlderThan
    }

    /// The name.
    public var description: String { name }
}

/// The state of a queue between two events.
struct SiftQueueMemory: Hashable, Sendable {
    /// The last event that was taken.
    var lastEvent: SiftEvent?
    /// The time of the last successful upload; 1970 without one.
    var lastUpload = WallTime(milliseconds: 0)
}

extension SiftQueue {
    /// Whether an event is taken: unless it says the same as the last one, too soon.
    func accepts(_ event: SiftEvent, after memory: SiftQueueMemory, now: WallTime) -> Bool {
        guard acceptSameEventAfter > .zero, let last = memory.lastEvent else { return true }
        return now >= last.time.advanced(by: acceptSameEventAfter) || event.content != last.content
    }

    /// Whether this number of events is to be uploaded.
    func isReady(count: Int, after memory: SiftQueueMemory, now: WallTime) -> Bool {
        if uploadWhenMoreThan >= 0, count > uploadWhenMoreThan { return true }
        return count > 0 && isOverdue(after: memory, now: now)
    }

    /// Whether anything there is is to be uploaded, because the last upload is long ago.
    func isOverdue(after memory: SiftQueueMemory, now: WallTime) -> Bool {
        uploadWhenOlderThan > .zero && now > memory.lastUpload.advanced(by: uploadWhenOlderThan)
    }

    /// The time until the upload is due; zero if it is due.
    func timeUntilOverdue(after memory: SiftQueueMemory, now: WallTime) -> Duration {
        let due = memory.lastUpload.advanced(by: uploadWhenOlderThan)
        let (left, overflow) = due.milliseconds.subtractingReportingOverflow(now.milliseconds)
        return overflow || left < 0 ? .zero : .milliseconds(left + 1)
    }

    /// The rules as the shared queue has them; `limit` bounds a body whatever they are.
    func policy(limit: Int, maxBytes: Int) -> DeliveryPolicy {
        let never = Duration.seconds(10 * 365 * 86_400)
        let maxAge = uploadWhenOlderThan > .zero ? uploadWhenOlderThan : never
        let isImmediate = uploadWhenMoreThan == 0
        let threshold = uploadWhenMoreThan < 0 || isImmediate ? limit : min(limit - 1, uploadWhenMoreThan) + 1
        return DeliveryPolicy(
            maxCount: threshold,
            maxBytes: maxBytes,
            maxAge: isImmediate ? .zero : maxAge,
            // A delivery waits while uploads are paused; a running request has its own timeout.
            timeout: nil
        )
    }
}

extension WallTime {
    fileprivate func advanced(by duration: Duration) -> WallTime {
        let (sum, overflow) = milliseconds.addingReportingOverflow(Int64(duration.milliseconds))
        return WallTime(milliseconds: overflow ? .max : sum)
    }
}
