internal import Instrument

/// Values that several dialects, and the live metrics, share.
extension QualitySession {
    /// `StartTime` of ``Dialect/instrument``.
    var startTime: Int? {
        guard let elapsed = startup.elapsed, !startup.wasPaused, !startup.wasSought, !startup.wasInBackground else {
            return nil
        }
        return elapsed - startup.prerollTime
    }

    /// `PrerollTime` of ``Dialect/instrument``.
    var prerollTime: Int? {
        guard startup.elapsed != nil, startup.prerollTime > 0 else { return nil }
        return startup.prerollTime
    }

    /// `RebufferRatio` of ``Dialect/instrument``.
    var rebufferRatio: Ratio? {
        Ratio(times[.rebuffering], over: times.sum(.playing, .rebuffering))
    }

    /// `RebufferFrequency` of ``Dialect/instrument``.
    var rebufferFrequency: Ratio? { Ratio(interruptions.rebufferCount.scaled(by: 60_000), over: times[.playing]) }

    /// `TimeBetweenRebuffers` of ``Dialect/instrument``, in whole milliseconds.
    var timeBetweenRebuffers: Int? {
        interruptions.rebufferCount > 0 ? times[.playing] / interruptions.rebufferCount : nil
    }

    /// Whose metrics these are: sender, stream and playback, and the weight if it is not 1.
    var identity: Attributes {
        var attributes = Attributes(exactCapacity: 4)
        attributes[.senderId] = senderId
        attributes[.streamId] = streamId
        attributes[.playbackId] = playbackId
        if weight != 1 { attributes[QualityField.sampleWeight] = weight }
        return attributes
    }
}

extension PictureSums {
    /// `LatencyDrift` of ``Dialect/instrument``.
    var latencyDrift: Int? {
        guard let firstLatency, let lastLatency else { return nil }
        return lastLatency - firstLatency
    }
}

extension QualitySession {
    var exoWaitTime: Int { times.sum(.joining, .rebuffering, .seeking) }
    var exoPlayAndWaitTime: Int { exoWaitTime + times[.playing] }

    /// Mux's startup time, in milliseconds.
    var muxStartup: Int? { startup.elapsed.map { $0 - startup.prerollTime } }

    var muxWatchTime: Int { times.sum(.playing, .rebuffering, .seeking) }

    var newRelicRebufferTime: Int { times[.rebuffering] - startup.initialRebufferTime }
}
