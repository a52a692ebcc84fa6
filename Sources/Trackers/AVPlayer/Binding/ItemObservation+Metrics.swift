#if canImport(AVFoundation)
internal import AVFoundation
internal import Foundation
internal import Instrument

extension ItemObservation {
    /// Observes the metrics of the item (AVMetrics): what its properties and notifications do not tell.
    ///
    /// Stalls, changes of the rate and errors are not read here: the player and the error log report them as well, and
    /// an event of the metrics that came late would report them twice.
    func observeMetrics(reportsRequests: Bool) {
        let (id, clock, tokens, report) = (id, clock, tokens, report)
        let events = item.allMetrics()
        let task = Task { @MainActor in
            do {
                for try await event in events where !tokens.isCancelled {
                    guard let observation = AVPlayerObservation(event, of: id, reportsRequests) else { continue }
                    report(.observation(observation), clock.instant(of: event.date))
                }
            } catch {
                // Without the metrics the access log has the bit rates.
            }
        }
        tokens.add { task.cancel() }
    }
}

extension AVPlayerObservation {
    /// The observation of an event of the metrics; nil for an event of another kind.
    init?(_ event: AVMetricEvent, of item: ItemID, _ reportsRequests: Bool) {
        switch event {
        case let event as AVMetricPlayerItemVariantSwitchEvent:
            guard event.didSucceed else { return nil }
            self = .variant(item, VariantFacts(event.toVariant))
        case is AVMetricPlayerItemSeekDidCompleteEvent: self = .seekCompleted(item)
        case let event as AVMetricPlayerItemInitialLikelyToKeepUpEvent:
            self = .firstLikelyToKeepUp(item, after: event.timeTaken)
        default:
            guard reportsRequests, let request = MediaRequestFacts(event) else { return nil }
            self = .request(item, request)
        }
    }
}

extension VariantFacts {
    init(_ variant: AVAssetVariant) {
        self.init(
            peakBitrate: variant.peakBitRate,
            averageBitrate: variant.averageBitRate,
            framesPerSecond: variant.videoAttributes?.nominalFrameRate
        )
    }
}

extension MediaRequestFacts {
    /// A request that went over the network; nil for an event of another kind, and for a resource of the cache.
    init?(_ event: AVMetricEvent) {
        let (kind, request): (Kind, AVMetricMediaResourceRequestEvent?) =
            switch event {
            case let event as AVMetricHLSPlaylistRequestEvent: (.manifest, event.mediaResourceRequestEvent)
            case let event as AVMetricHLSMediaSegmentRequestEvent:
                (event.isMapSegment ? .initialization : .segment, event.mediaResourceRequestEvent)
            case let event as AVMetricContentKeyRequestEvent: (.key, event.mediaResourceRequestEvent)
            default: (.segment, nil)
            }
        guard let request, !request.wasReadFromCache else { return nil }
        let isFailed = request.errorEvent != nil
        self.init(
            kind: kind,
            time: request.requestEndTime.timeIntervalSince(request.requestStartTime),
            timeToFirstByte: isFailed ? nil : request.responseStartTime.timeIntervalSince(request.requestStartTime),
            byteCount: request.byteRange.length,
            isFailed: isFailed
        )
    }
}

extension SchedulingClock {
    /// The instant of a date that is past; now for a date of the future, as after a change of the calendar time.
    fileprivate func instant(of date: Date) -> MonotonicInstant {
        let now = timestamp
        let elapsed = Double(now.wallTime.milliseconds) / 1000 - date.timeIntervalSince1970
        return now.instant.advanced(by: .seconds(-min(max(0, elapsed), 3600)))
    }
}
#endif
