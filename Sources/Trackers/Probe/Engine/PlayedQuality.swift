internal import Instrument

/// The quality at the playhead, and the quality of the latest media, which the playhead may not have reached.
struct PlayedQuality {
    private(set) var current = Quality(width: 0, height: 0, bitrate: 0)
    /// The quality of the latest media; nil before media arrived, and after a jump dropped the media that was never
    /// shown.
    private var newest: Quality?
    /// Changes that were reported before the tracks were known.
    private var earlyCues: [(quality: Quality, position: Int64)] = []

    /// The tracks are known.
    mutating func opened(_ info: MediaInfo) {
        if info.width > 0 || info.height > 0 {
            current = Quality(width: info.width, height: info.height, bitrate: 0)
        }
    }

    /// Passes the changes that were reported early to the new model.
    mutating func addEarlyCues(to model: inout PlaybackModel, now: MonotonicInstant) {
        for cue in earlyCues { model.addCue(cue.quality, at: cue.position, now: now) }
        earlyCues = []
    }

    /// Media from `position` on has the quality `found`: the model reports the change when the playhead arrives there.
    mutating func approach(
        _ found: Quality,
        at position: Int64,
        in model: inout PlaybackModel?,
        now: MonotonicInstant
    ) {
        let known = newest ?? current
        let isFirst = newest == nil && model?.hasStarted != true
        newest = found
        if found == known { return }
        if isFirst {
            current = found
            model?.setFirstQuality(found)
        } else if model != nil {
            model?.addCue(found, at: position, now: now)
        } else {
            earlyCues.append((found, position))
        }
    }

    /// A jump dropped the media that was not shown.
    mutating func forgetNewest() { newest = nil }

    /// The playhead reached media of this quality. Returns the action to report; nil if nothing changed.
    mutating func reach(_ reached: Quality) -> Action? {
        defer { current = reached }
        if reached == current { return nil }
        return reached.isBetter(than: current) ? .qualityChangeUp : .qualityChangeDown
    }
}
