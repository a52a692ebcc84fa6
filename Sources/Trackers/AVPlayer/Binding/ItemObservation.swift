#if canImport(AVFoundation)
internal import AVFoundation
internal import Foundation
internal import Instrument

/// Observes one item: its properties, its notifications, its media selection, its metrics.
@MainActor
struct ItemObservation {
    let item: AVPlayerItem
    let id: ItemID
    let clock: any SchedulingClock
    let tokens: ObservationTokens
    let report: PlayerNoticeHandler

    init(
        _ item: AVPlayerItem,
        _ id: ItemID,
        _ clock: any SchedulingClock,
        _ tokens: ObservationTokens,
        _ report: @escaping PlayerNoticeHandler
    ) {
        (self.item, self.id, self.clock, self.tokens, self.report) = (item, id, clock, tokens, report)
    }

    func begin(reportsRequests: Bool) {
        observeProperties()
        observeNotifications()
        observeMediaSelection()
        observeMetrics(reportsRequests: reportsRequests)
    }

    private func observeProperties() {
        let (id, clock, tokens, report) = (id, clock, tokens, report)
        let note: @Sendable (AVPlayerItem, (AVPlayerItem) -> AVPlayerObservation?) -> Void = { item, read in
            let now = clock.now
            guard let observation = read(item) else { return }
            MainThread.run { if !tokens.isCancelled { report(.observation(observation), now) } }
        }
        let failure: @Sendable (AVPlayerItem) -> AVPlayerObservation? = { item in
            item.status == .failed ? .itemFailed(id, PlayerFailure(item.error)) : nil
        }
        let duration: @Sendable (AVPlayerItem) -> AVPlayerObservation? = { item in
            .duration(id, CMTimeGetSeconds(item.duration))
        }
        let size: @Sendable (AVPlayerItem) -> AVPlayerObservation? = { item in
            let size = item.presentationSize
            return .presentationSize(id, width: Double(size.width), height: Double(size.height))
        }
        let likelihood: @Sendable (AVPlayerItem) -> AVPlayerObservation? = { item in
            .likelyToKeepUp(id, item.isPlaybackLikelyToKeepUp)
        }
        let observations = [
            item.observe(\.status) { @Sendable item, _ in note(item, failure) },
            item.observe(\.duration) { @Sendable item, _ in note(item, duration) },
            item.observe(\.presentationSize) { @Sendable item, _ in note(item, size) },
            item.observe(\.isPlaybackLikelyToKeepUp) { @Sendable item, _ in note(item, likelihood) },
        ]
        tokens.add { for observation in observations { observation.invalidate() } }
        for read in [failure, duration, size, likelihood] { note(item, read) }
    }

    private func observeNotifications() {
        let (id, report) = (id, report)
        observe(AVPlayerItem.didPlayToEndTimeNotification) { _ in [.observation(.playedToEnd(id))] }
        observe(AVPlayerItem.failedToPlayToEndTimeNotification) { notification in
            let error = notification.userInfo?[AVPlayerItemFailedToPlayToEndTimeErrorKey] as? any Error
            return [.observation(.failedToPlayToEnd(id, PlayerFailure(error)))]
        }
        observe(AVPlayerItem.playbackStalledNotification) { _ in [.observation(.stalled(id))] }
        observe(AVPlayerItem.newAccessLogEntryNotification) { _ in [.accessLogGrew(id)] }
        observe(AVPlayerItem.newErrorLogEntryNotification) { _ in [.errorLogGrew(id)] }
        observe(AVPlayerItem.timeJumpedNotification) { [weak item] _ in
            guard let item else { return [] }
            // The live edge first, by which the model judges the jump.
            let window = SeekableWindow(item).map { PlayerNotice.observation(.seekableWindow(id, $0)) }
            let jump = PlayerNotice.observation(.timeJumped(id, to: CMTimeGetSeconds(item.currentTime())))
            return [window, jump].compactMap { $0 }
        }
        let now = clock.now
        report(.accessLogGrew(id), now)
        report(.errorLogGrew(id), now)
    }

    /// Notifications of this item alone: other players post the same ones.
    private func observe(_ name: Notification.Name, _ notices: @escaping @Sendable (Notification) -> [PlayerNotice]) {
        let (clock, tokens, report) = (clock, tokens, report)
        let token = NotificationCenter.default.addObserver(forName: name, object: item, queue: nil) {
            @Sendable notification in
            let (now, notices) = (clock.now, notices(notification))
            MainThread.run { if !tokens.isCancelled { for notice in notices { report(notice, now) } } }
        }
        tokens.add { NotificationCenter.default.removeObserver(token) }
    }

    private func observeMediaSelection() {
        let name = AVPlayerItem.mediaSelectionDidChangeNotification
        let (tokens, read) = (tokens, readSelection)
        let token = NotificationCenter.default.addObserver(forName: name, object: item, queue: nil) {
            @Sendable [weak item] _ in
            MainThread.run { if let item, !tokens.isCancelled { read(item) } }
        }
        tokens.add { NotificationCenter.default.removeObserver(token) }
        read(item)
    }

    /// Reports the languages of the selected options.
    private var readSelection: @MainActor @Sendable (AVPlayerItem) -> Void {
        let (id, clock, tokens, report) = (id, clock, tokens, report)
        return { item in
            Self.loadLanguage(of: .audible, in: item) { item, language in
                Self.loadLanguage(of: .legible, in: item) { _, subtitles in
                    let selection = AVPlayerObservation.mediaSelection(id, language: language, subtitles: subtitles)
                    if !tokens.isCancelled { report(.observation(selection), clock.now) }
                }
            }
        }
    }

    /// Passes on the language of the selected option, while the item is there. A group that cannot be loaded is one
    /// that the item does not have.
    private static func loadLanguage(
        of characteristic: AVMediaCharacteristic,
        in item: AVPlayerItem,
        then body: @escaping @MainActor @Sendable (AVPlayerItem, String?) -> Void
    ) {
        item.asset.loadMediaSelectionGroup(for: characteristic) { @Sendable [weak item] group, _ in
            // The item's selection belongs to the main thread. A group is not Sendable and may be sent there: none of
            // its properties can be changed.
            nonisolated(unsafe) let group = group
            MainThread.run { [weak item] in
                guard let item else { return }
                let option = group.flatMap { item.currentMediaSelection.selectedMediaOption(in: $0) }
                body(item, option?.extendedLanguageTag)
            }
        }
    }
}
#endif
