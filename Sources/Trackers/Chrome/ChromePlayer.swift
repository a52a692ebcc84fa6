internal import Dispatch
public import Instrument

/// A media element of a page in a Chromium: a `video` or `audio` element that was asked to play.
///
/// ``ChromeBrowser`` makes the players. Each has separate playbacks, one after another if its page changes the
/// media, until the page removes the element, goes elsewhere, or crashes.
///
/// The mapping is: `StreamLoad` when playback is requested (`play`; the begin of `loadstart` if the page plays by
/// itself within 10 s), `Start` when pictures move (`requestVideoFrameCallback`), buffering while the element waits
/// for data (`waiting`) and its playhead stands for 100 ms and more, seeking from `seeking` until pictures move
/// again, pauses by `pause` and `play`, quality by `resize`, `End`, `Error` by the element's events, and `Stop` if
/// the page takes the media away.
///
/// Signals come one at a time on a queue of the browser's, with the instants of the page's own clock.
public final class ChromePlayer: Player {
    private struct State {
        var observer: (@Sendable (PlayerSignal) -> Void)?
        /// The signals before an observer came.
        var backlog: [PlayerSignal] = []
        var lastStatus: PlayerStatus?
    }

    private static let maxBacklogCount = 64

    /// Sent as `trackerTarget`.
    public let name: String
    private let queue: DispatchQueue
    /// The tab with a separate profile in which the element is.
    package let tab: ChromeTab?
    private let readStatus: @Sendable () -> PlayerStatus?
    private let readAnswer: @Sendable () -> Answer?
    private let state = Lock(State())

    init(
        _ name: String,
        in tab: ChromeTab?,
        on queue: DispatchQueue,
        status: @escaping @Sendable () -> PlayerStatus?,
        answer: @escaping @Sendable () -> Answer?
    ) {
        (self.name, self.tab, self.queue, readStatus, readAnswer) = (name, tab, queue, status, answer)
    }

    /// What the page answered to the latest question; it is asked every 5 s while it plays.
    package struct Answer: Hashable, Sendable {
        package var instant: MonotonicInstant
        /// Media ahead of the playhead; nil if it is unknown.
        package var buffered: Duration?
    }

    /// The page's latest answer; nil once the element is no more there.
    package var answer: Answer? { readAnswer() }

    /// The current status; after the end of the element its last one.
    public var status: PlayerStatus { readStatus() ?? state.withLock { $0.lastStatus } ?? PlayerStatus() }

    /// What a browser tells in addition to the vocabulary.
    public var declaredFields: PrivacyCatalogue { .chrome }

    /// Reports signals to `observer`, with those that came before the first observer.
    public func report(to observer: (@Sendable (PlayerSignal) -> Void)?) {
        state.withLock { $0.observer = observer }
        if observer != nil { queue.async { [self] in deliver([]) } }
    }

    /// Delivers on the queue, in order.
    func deliver(_ signals: [PlayerSignal]) {
        let (observer, ready) = state.withLock { state in
            state.backlog += signals
            if let status = signals.last?.status { state.lastStatus = status }
            guard state.observer != nil else {
                state.backlog.removeFirst(max(0, state.backlog.count - Self.maxBacklogCount))
                return (state.observer, [PlayerSignal]())
            }
            defer { state.backlog = [] }
            return (state.observer, state.backlog)
        }
        for signal in ready { observer?(signal) }
    }
}
