#if canImport(AVFoundation)
internal import AVFoundation
internal import Foundation
internal import Instrument

/// Observes one item: its properties, its notifications, its media selection, its switches of variants.
@MainActor
struct ItemObservation {
    private let item: AVPlayerItem
    private let id: ItemID
    private let clock: any SchedulingClock
    private let tokens: ObservationTokens
    private let report: PlayerNoticeHandler

    init(
        _ item: AVPlayerItem,
        _ id: ItemID,
        _ clock: any SchedulingClock,
        _ tokens: ObservationTokens,
        _ report: @escaping PlayerNoticeHandler
    ) {
        (self.item, self.id, self.clock, self.tokens, self.report) = (item, id, clock, tokens, report)
    }

    func begin() {
        observeProperties()
        observeNotifications()
        observeMediaSelection()
        observeVariants()
    }

    private func observeProperties() {
        let (id, clock, tokens, report) = (id, clock, tokens, report)
        let note:
            @Sendable (AVPlayerItem, @escaping @MainActor @Sendable (AVPlayerItem) -> AVPlayerObservation?) -> Void =
                { item, read in
                    let now = clock.now
                    MainThread.run {
                        guard !tokens.isCancelled, let observation = read(item) else { return }
                        report(.observation(observation), now)
                    }
                }
        let failure: @MainActor @Sendable (AVPlayerItem) -> AVPlayerObservation? = { item in
            item.status == .failed ? .itemFailed(id, PlayerFailure(item.error)) : nil
        }
        let duration: @MainActor @Sendable (AVPlayerItem) -> AVPlayerObservation? = { item in
            .duration(id, CMTimeGetSeconds(item.duration))
        }
        let size: @MainActor @Sendable (AVPlayerItem) -> AVPlayerObservation? = { item in
            let size = item.presentationSize
            return .presentationSize(id, width: Double(size.width), height: Double(size.height))
        }
        let likelihood: @MainActor @Sendable (AVPlayerItem) -> AVPlayerObservation? = { item in
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
        observe(.AVPlayerItemDidPlayToEndTime) { _ in .observation(.playedToEnd(id)) }
        observe(.AVPlayerItemFailedToPlayToEndTime) { notification in
            let error = notification.userInfo?[AVPlayerItemFailedToPlayToEndTimeErrorKey] as? any Error
            return .observation(.failedToPlayToEnd(id, PlayerFailure(error)))
        }
        observe(.AVPlayerItemPlaybackStalled) { _ in .observation(.stalled(id)) }
        observe(.AVPlayerItemNewAccessLogEntry) { _ in .accessLogGrew(id) }
        observe(.AVPlayerItemNewErrorLogEntry) { _ in .errorLogGrew(id) }
        observe(AVPlayerItem.timeJumpedNotification) { [weak item] _ in
            item.map { .observation(.timeJumped(id, to: CMTimeGetSeconds($0.currentTime()))) }
        }
        let now = clock.now
        report(.accessLogGrew(id), now)
        report(.errorLogGrew(id), now)
    }

    /// Notifications of this item alone: other players post the same ones.
    private func observe(_ name: Notification.Name, _ notice: @escaping @Sendable (Notification) -> PlayerNotice?) {
        let (clock, tokens, report) = (clock, tokens, report)
        let token = NotificationCenter.default.addObserver(forName: name, object: item, queue: nil) {
            @Sendable notification in
            let now = clock.now
            guard let notice = notice(notification) else { return }
            MainThread.run { if !tokens.isCancelled { report(notice, now) } }
        }
        tokens.add { NotificationCenter.default.removeObserver(token) }
    }

    private func observeMediaSelection() {
        let (id, clock, tokens, report) = (id, clock, tokens, report)
        let read: @MainActor @Sendable (AVPlayerItem) async -> Void = { item in
            // A group that cannot be loaded is one that the item does not have.
            let audible = try? await item.asset.loadMediaSelectionGroup(for: .audible)
            let legible = try? await item.asset.loadMediaSelectionGroup(for: .legible)
            if tokens.isCancelled { return }
            let selection = item.currentMediaSelection
            let language = audible.flatMap { selection.selectedMediaOption(in: $0)?.extendedLanguageTag }
            let subtitles = legible.flatMap { selection.selectedMediaOption(in: $0)?.extendedLanguageTag }
            report(.observation(.mediaSelection(id, language: language, subtitles: subtitles)), clock.now)
        }
        let first = Task { @MainActor [weak item] in if let item { await read(item) } }
        let name = AVPlayerItem.mediaSelectionDidChangeNotification
        let token = NotificationCenter.default.addObserver(forName: name, object: item, queue: nil) {
            @Sendable [weak item] _ in
            Task { @MainActor in if let item { await read(item) } }
        }
        tokens.add {
            first.cancel()
            NotificationCenter.default.removeObserver(token)
        }
    }

    private func observeVariants() {
        let (id, clock, tokens, report) = (id, clock, tokens, report)
        let switches = item.metrics(forType: AVMetricPlayerItemVariantSwitchEvent.self)
        let task = Task { @MainActor in
            do {
                for try await event in switches where event.didSucceed && !tokens.isCancelled {
                    let variant = event.toVariant
                    let facts = VariantFacts(
                        peakBitrate: variant.peakBitRate,
                        averageBitrate: variant.averageBitRate,
                        framesPerSecond: variant.videoAttributes?.nominalFrameRate
                    )
                    report(.observation(.variant(id, facts)), clock.now)
                }
            } catch {
                // Without the metrics the access log has the bit rates.
            }
        }
        tokens.add { task.cancel() }
    }
}
#endif
