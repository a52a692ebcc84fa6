internal import Dispatch
internal import Instrument

/// Observes a media player while somebody listens.
///
/// libVLC calls ``VLCCallback`` on its threads; everything else runs on one serial queue: the model, the listener, and
/// all calls of libVLC, so that no lock is held in a call of libVLC's and no call is made in a callback. A listener may
/// therefore call the player, or end the watch.
final class VLCWatch: Sendable {
    private struct State {
        var isClosed = false
        /// The observers that are attached, with the listening that they serve.
        var token: UInt?
        /// The thread of the input, on which libVLC reports `Opening` and `Buffering`.
        var inputThread: UInt?
        var impossibleCount = 0
        var hasOverflowed = false
        var isSilenceAwaited = false
    }

    /// libVLC computes the counters right behind a `TimeChanged`; they are read this much later.
    private static let countersDelay = Duration.milliseconds(10)
    private static let maxImpossibleCount = 16

    private let library: any VLCLibrary
    private let clock: any SchedulingClock
    private let report: @Sendable (VLCDiagnostic) -> Void
    private let queue = DispatchQueue(label: "instrument.vlc")
    private let outlet = SignalOutlet<VLCModel, PlayerSignal> { VLCModel() }
    private let state = Lock(State())

    /// Creates a watch that observes nothing yet.
    init(
        _ library: any VLCLibrary,
        clock: any SchedulingClock,
        report: @escaping @Sendable (VLCDiagnostic) -> Void
    ) {
        (self.library, self.clock, self.report) = (library, clock, report)
    }

    /// The status at the moment of the call.
    var status: PlayerStatus {
        let now = clock.now
        return outlet.read { $0.status(at: now) }
    }

    /// Delivers signals to `listener` from now on, from a new model; nil ends the observation. Returns at once.
    func listen(_ listener: (@Sendable (PlayerSignal) -> Void)?) {
        let epoch = outlet.listen(listener)
        queue.async { [self] in observe(epoch, isWanted: listener != nil) }
    }

    /// Ends the observation, and gives the handle back on the queue. Returns at once.
    func close() {
        let epoch = outlet.listen(nil)
        queue.async { [self] in
            observe(epoch, isWanted: false)
            let isFirst = state.withLock { state in
                defer { state.isClosed = true }
                return !state.isClosed
            }
            if isFirst { library.release() }
        }
    }

    /// Waits until everything that was asked for before has happened. Not for the queue itself.
    func settle() { queue.sync {} }

    // MARK: - On the queue

    private func observe(_ epoch: Int, isWanted: Bool) {
        let (old, isClosed) = state.withLock { state in
            defer { (state.token, state.inputThread) = (nil, nil) }
            return (state.token, state.isClosed)
        }
        if let old {
            library.endObserving(token: old)
            VLCCallback.close(old, report: report)
        }
        // A later listening may have begun meanwhile; its turn comes behind this one.
        guard isWanted, !isClosed, outlet.isCurrent(epoch) else { return }
        let inbox = VLCInbox(on: queue) { [weak self] events, droppedCount in
            self?.handle(events, droppedCount: droppedCount, epoch)
        }
        let token = VLCCallback.open(inbox, clock: clock)
        state.withLock { $0.token = token }
        if !library.observe(token: token) {
            report(VLCDiagnostic(.cannotObserve, "libVLC refused an observer of its events: the memory is exhausted"))
        }
        guard let isPaused = library.isPaused(), let media = library.media() else { return }
        report(VLCDiagnostic(.joinedLate, "joined a playback that had begun before"))
        change(epoch, .joined(media, isPaused: isPaused), at: clock.now)
        change(epoch, .length(library.length()), at: clock.now)
        readTracks(epoch, isShown: true, at: clock.now)
    }

    private func handle(_ events: [VLCEvent], droppedCount: Int, _ epoch: Int) {
        for event in events {
            guard outlet.isCurrent(epoch) else { return }
            if let value = event.impossibleValue {
                ignore(value)
            } else {
                take(event, epoch)
            }
        }
        let isFirst = state.withLock { state in
            defer { state.hasOverflowed = state.hasOverflowed || droppedCount > 0 }
            return droppedCount > 0 && !state.hasOverflowed
        }
        if isFirst {
            report(VLCDiagnostic(.overflow, "libVLC reported events too fast: \(droppedCount) of them are lost"))
        }
    }

    private func ignore(_ value: String) {
        let isReported = state.withLock { state in
            state.impossibleCount += 1
            return state.impossibleCount <= Self.maxImpossibleCount
        }
        if isReported { report(VLCDiagnostic(.impossibleValue, "libVLC reported \(value); the tracker ignores it")) }
    }

    private func take(_ event: VLCEvent, _ epoch: Int) {
        let now = event.instant
        switch event.kind {
        case .opening:
            state.withLock { $0.inputThread = event.thread }
            change(epoch, .opening(library.media() ?? VLCMedia()), at: now)
        case .buffering(let percent):
            state.withLock { $0.inputThread = event.thread }
            if percent >= 100, let counters = library.counters() { change(epoch, .counters(counters), at: now) }
            change(epoch, .buffering(percent), at: now)
        case .time(let milliseconds):
            guard isFromInput(event) else { return change(epoch, .seekAsked, at: now) }
            readCounters(time: milliseconds, epoch, at: now)
        case .position: if !isFromInput(event) { change(epoch, .seekAsked, at: now) }
        case .playing: change(epoch, .playing, at: now)
        case .paused: change(epoch, .paused, at: now)
        case .stopped: change(epoch, .stopped, at: now)
        case .endReached: change(epoch, .endReached, at: now)
        case .failed: change(epoch, .failed, at: now)
        case .mediaChanged: change(epoch, .mediaChanged, at: now)
        case .length(let milliseconds): change(epoch, .length(milliseconds), at: now)
        case .pictureOutputs(let count): if count > 0 { readTracks(epoch, isShown: true, at: now) }
        case .trackSelected: readTracks(epoch, isShown: false, at: now)
        case .volume(let volume): change(epoch, .volume(volume), at: now)
        case .muted(let isMuted): change(epoch, .muted(isMuted), at: now)
        case .message(let text): change(epoch, .message(SourceText.redactedAddresses(in: text)), at: now)
        }
    }

    /// The app's threads report a time when the app asks for a seek.
    private func isFromInput(_ event: VLCEvent) -> Bool {
        state.withLock { state in
            if state.inputThread == nil { state.inputThread = event.thread }
            return state.inputThread == event.thread
        }
    }

    private func readTracks(_ epoch: Int, isShown: Bool, at instant: MonotonicInstant) {
        if let tracks = library.tracks() { change(epoch, .tracks(tracks, isShown: isShown), at: instant) }
    }

    private func readCounters(time: Int64, _ epoch: Int, at instant: MonotonicInstant) {
        after(Self.countersDelay, epoch) { [weak self] in
            guard let self else { return }
            let progress = VLCProgress(time: time, counters: library.counters(), rate: library.rate())
            if progress.counters?.displayed ?? 0 > 0, outlet.read({ $0.lacksTracks }) {
                readTracks(epoch, isShown: true, at: instant)
            }
            change(epoch, .progress(progress), at: instant)
            awaitSilence(epoch)
        }
    }

    /// Looks again when an input that sends no further event has nothing left to play; one timer at a time.
    private func awaitSilence(_ epoch: Int) {
        let now = clock.now
        guard let dry = outlet.read({ $0.runsDry }) else { return }
        let isNeeded = state.withLock { state in
            defer { state.isSilenceAwaited = true }
            return !state.isSilenceAwaited
        }
        guard isNeeded else { return }
        after(max(.zero, now.duration(to: dry)) + .milliseconds(50), epoch) { [weak self] in
            guard let self else { return }
            state.withLock { $0.isSilenceAwaited = false }
            let now = clock.now
            // A player that is being stopped is silent, too.
            if library.isPaused() == false { change(epoch, .silence, at: now) }
            awaitSilence(epoch)
        }
    }

    /// Runs `body` later on the queue, unless the listening has ended.
    private func after(_ delay: Duration, _ epoch: Int, _ body: @escaping @Sendable () -> Void) {
        _ = clock.schedule(at: clock.now.advanced(by: delay)) { [weak self] in
            self?.queue.async { [weak self] in
                if self?.outlet.isCurrent(epoch) == true { body() }
            }
        }
    }

    private func change(_ epoch: Int, _ observation: VLCObservation, at instant: MonotonicInstant) {
        outlet.change(in: epoch) { $0.observe(observation, at: instant) }
    }
}
