#if canImport(AVFoundation)
internal import AVFoundation
internal import Foundation
internal import Instrument

/// An AVPlayer as a watch observes it. Holds the player and its item weakly.
///
/// Values are read where the system notifies, with their instant and the playhead. An item is taken on the main thread.
final class AVPlayerAdapter: ObservedPlayer {
    private struct State {
        weak var player: AVPlayer?
        weak var item: AVPlayerItem?
        var itemID: ItemID?
        var itemCount = 0
    }

    private let state: Lock<State>
    private let clock: any SchedulingClock
    private let reportsRequests: Bool

    init(_ player: AVPlayer, clock: any SchedulingClock, reportsRequests: Bool = false) {
        state = Lock(State(player: player))
        (self.clock, self.reportsRequests) = (clock, reportsRequests)
    }

    var player: AVPlayer? { state.withLock { $0.player } }

    private func item(_ id: ItemID) -> AVPlayerItem? { state.withLock { $0.itemID == id ? $0.item : nil } }

    func observePlayer(_ report: @escaping PlayerNoticeHandler) -> Observation {
        MainThread.observe { [weak self] tokens in
            guard let self, let player else { return }
            begin(player, tokens, report)
        }
    }

    func observeItem(_ id: ItemID, _ report: @escaping PlayerNoticeHandler) -> Observation {
        MainThread.observe { [weak self] tokens in
            guard let self, let item = item(id) else { return }
            ItemObservation(item, id, clock, tokens, report).begin(reportsRequests: reportsRequests)
        }
    }

    func accessLog(of id: ItemID) -> [AccessLogEntry] {
        (item(id)?.accessLog()?.events ?? []).map { event in
            AccessLogEntry(
                indicatedBitrate: event.indicatedBitrate,
                indicatedAverageBitrate: event.indicatedAverageBitrate,
                observedBitrate: event.observedBitrate,
                droppedFrameCount: event.numberOfDroppedVideoFrames
            )
        }
    }

    func errorLog(of id: ItemID) -> [PlayerFailure] {
        (item(id)?.errorLog()?.events ?? []).map { event in
            PlayerFailure(domain: event.errorDomain, code: event.errorStatusCode, message: event.errorComment)
        }
    }

    @MainActor
    private func begin(_ player: AVPlayer, _ tokens: ObservationTokens, _ report: @escaping PlayerNoticeHandler) {
        // Handlers are called on any thread, so that none of them may belong to the main actor (`@Sendable`). A change
        // of the transport comes with the playhead of its moment.
        let note: @Sendable (AVPlayer, AVPlayerObservation?) -> Void = { [clock, weak self] player, observation in
            let (now, position, item) = (clock.now, CMTimeGetSeconds(player.currentTime()), player.currentItem)
            let window = item.flatMap(SeekableWindow.init)
            MainThread.run {
                guard let self, !tokens.isCancelled else { return }
                // The next item's time may be there before the notice of the item.
                let (known, id) = self.state.withLock { ($0.item, $0.itemID) }
                if item === known {
                    if let id, let window { report(.observation(.seekableWindow(id, window)), now) }
                    report(.observation(.time(position)), now)
                }
                if let observation { report(.observation(observation), now) }
            }
        }
        var observations = [
            player.observe(\.actionAtItemEnd) { @Sendable player, _ in
                note(player, .advancesAtEnd(player.actionAtItemEnd == .advance))
            },
            player.observe(\.volume) { @Sendable player, _ in note(player, .volume(Double(player.volume))) },
            player.observe(\.isMuted) { @Sendable player, _ in note(player, .muted(player.isMuted)) },
            player.observe(\.rate) { @Sendable player, _ in note(player, .rate(Double(player.rate))) },
            player.observe(\.timeControlStatus) { @Sendable player, _ in
                note(player, .timeControl(TimeControl(of: player)))
            },
            player.observe(\.reasonForWaitingToPlay) { @Sendable player, _ in
                let control = TimeControl(of: player)
                note(player, control.isWaiting ? .timeControl(control) : nil)
            },
            player.observe(\.status) { @Sendable player, _ in
                note(player, Self.failure(of: player).map { .playerFailed($0) })
            },
            player.observe(\.currentItem) { @Sendable [clock, weak self] player, _ in
                let (now, item) = (clock.now, player.currentItem)
                note(player, nil)
                MainThread.run { [weak self] in
                    guard let self, !tokens.isCancelled else { return }
                    let change = itemChanged(to: item, of: player, isFirst: false)
                    if let change { report(.observation(change), now) }
                }
            },
        ]
        #if !os(watchOS) && !os(visionOS)
        observations.append(
            player.observe(\.isExternalPlaybackActive) { @Sendable player, _ in
                note(player, .externalPlayback(player.isExternalPlaybackActive))
            }
        )
        #endif
        #if !os(watchOS)
        observations.append(
            player.observe(\.isOutputObscuredDueToInsufficientExternalProtection) { @Sendable player, _ in
                note(player, .outputObscured(player.isOutputObscuredDueToInsufficientExternalProtection))
            }
        )
        observeRateReasons(of: player, tokens, report)
        #endif
        tokens.add { [observations] in for observation in observations { observation.invalidate() } }
        let timer = player.addPeriodicTimeObserver(forInterval: CMTimeMake(value: 1, timescale: 4), queue: .main) {
            @Sendable [weak player] _ in
            // The playhead of this moment, not that for which the timer was scheduled.
            if let player { note(player, nil) }
        }
        tokens.add { [weak player] in player?.removeTimeObserver(timer) }
        reportPresent(of: player, report)
    }

    #if !os(watchOS)
    /// Notices of this player alone: other players post the same ones.
    @MainActor
    private func observeRateReasons(
        of player: AVPlayer,
        _ tokens: ObservationTokens,
        _ report: @escaping PlayerNoticeHandler
    ) {
        let (clock, key) = (clock, AVPlayer.rateDidChangeReasonKey)
        let name = AVPlayer.rateDidChangeNotification
        let token = NotificationCenter.default.addObserver(forName: name, object: player, queue: nil) {
            @Sendable [weak player] notification in
            guard let player, let text = notification.userInfo?[key] as? String else { return }
            let (now, rate) = (clock.now, Double(player.rate))
            let reason = RateChangeReason(AVPlayer.RateDidChangeReason(rawValue: text))
            MainThread.run {
                if !tokens.isCancelled { report(.observation(.rateChangeReason(reason, rate: rate)), now) }
            }
        }
        tokens.add { NotificationCenter.default.removeObserver(token) }
    }
    #endif

    /// Reports the values at the beginning of the observation. The item is the last one, so that the model judges it
    /// with all other values.
    @MainActor
    private func reportPresent(of player: AVPlayer, _ report: PlayerNoticeHandler) {
        let now = clock.now
        var present: [AVPlayerObservation?] = [
            .advancesAtEnd(player.actionAtItemEnd == .advance), .volume(Double(player.volume)),
            .muted(player.isMuted), .rate(Double(player.rate)),
            .timeControl(TimeControl(of: player)),
        ]
        #if !os(watchOS) && !os(visionOS)
        present.append(.externalPlayback(player.isExternalPlaybackActive))
        #endif
        present.append(itemChanged(to: player.currentItem, of: player, isFirst: true))
        #if !os(watchOS)
        present.append(.outputObscured(player.isOutputObscuredDueToInsufficientExternalProtection))
        #endif
        present.append(Self.failure(of: player).map { .playerFailed($0) })
        present.append(.time(CMTimeGetSeconds(player.currentTime())))
        for observation in present { if let observation { report(.observation(observation), now) } }
    }

    /// The observation of another item; nil if the item is the same.
    @MainActor
    private func itemChanged(to item: AVPlayerItem?, of player: AVPlayer, isFirst: Bool) -> AVPlayerObservation? {
        let (id, isNew) = state.withLock { state -> (ItemID?, Bool) in
            if !isFirst, item === state.item, (item == nil) == (state.itemID == nil) { return (state.itemID, false) }
            state.item = item
            if item != nil { state.itemCount += 1 }
            state.itemID = item == nil ? nil : ItemID(number: state.itemCount)
            return (state.itemID, true)
        }
        guard isNew else { return nil }
        guard let item, let id else { return .item(nil) }
        let address = (item.asset as? AVURLAsset)?.url.absoluteString
        let isUnderWay = isFirst && player.timeControlStatus == .playing
        return .item(
            ItemFacts(
                id: id,
                source: address.map { SourceText.redacted($0) },
                title: address.map { SourceText.fileName($0) },
                isUnderWay: isUnderWay
            )
        )
    }

    private static func failure(of player: AVPlayer) -> PlayerFailure? {
        player.status == .failed ? PlayerFailure(player.error) : nil
    }
}

extension TimeControl {
    init(of player: AVPlayer) {
        switch player.timeControlStatus {
        case .paused: self = .paused
        case .playing: self = .playing
        case .waitingToPlayAtSpecifiedRate: self = .waiting(player.reasonForWaitingToPlay.map(WaitingReason.init))
        @unknown default: self = .paused
        }
    }
}

extension WaitingReason {
    init(_ reason: AVPlayer.WaitingReason) {
        switch reason {
        case .toMinimizeStalls: self = .toMinimizeStalls
        case .evaluatingBufferingRate: self = .evaluatingBufferingRate
        case .noItemToPlay: self = .noItemToPlay
        case .interstitialEvent: self = .interstitialEvent
        default:
            #if !os(watchOS)
            if reason == .waitingForCoordinatedPlayback {
                self = .coordinatedPlayback
                return
            }
            #endif
            self = .other(reason.rawValue)
        }
    }
}

#if !os(watchOS)
extension RateChangeReason {
    init(_ reason: AVPlayer.RateDidChangeReason) {
        switch reason {
        case .setRateCalled: self = .setRateCalled
        case .setRateFailed: self = .setRateFailed
        case .audioSessionInterrupted: self = .audioSessionInterrupted
        case .appBackgrounded: self = .appBackgrounded
        default: self = .other(reason.rawValue)
        }
    }
}
#endif

extension SeekableWindow {
    /// The seekable part of an item without an end; nil for an item that has one.
    init?(_ item: AVPlayerItem) {
        guard !CMTimeGetSeconds(item.duration).isFinite else { return nil }
        let ranges = item.seekableTimeRanges.map(\.timeRangeValue)
        guard let first = ranges.first, let last = ranges.last else { return nil }
        self.init(
            start: CMTimeGetSeconds(first.start),
            end: CMTimeGetSeconds(last.end),
            keepsOffset: item.automaticallyPreservesTimeOffsetFromLive
        )
    }
}

extension PlayerFailure {
    /// An error as AVFoundation gives it; an unknown one where it gives none.
    init(_ error: (any Error)?) {
        // Through `Any`, which works with and without the Objective-C runtime.
        let known = error.flatMap { ($0 as Any) as? NSError }
        self.init(
            domain: known?.domain ?? error.map { "\(type(of: $0))" } ?? "unknown",
            code: known?.code ?? 0,
            message: error?.localizedDescription,
            cause: known.flatMap(Self.cause)
        )
    }

    /// The innermost of the underlying errors; errors that name each other end after a few.
    private static func cause(of error: NSError) -> Code? {
        var innermost = error
        for _ in 0..<8 {
            guard let next = innermost.userInfo[NSUnderlyingErrorKey] as? NSError else { break }
            innermost = next
        }
        return innermost === error ? nil : Code(domain: innermost.domain, number: innermost.code)
    }
}
#endif
