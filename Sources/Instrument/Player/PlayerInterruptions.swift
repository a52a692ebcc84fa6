/// What keeps a playback from moving: a pause, a wait for data, a seek.
///
/// A value in the model of a player. Each change returns the actions that the model reports for it, in their order; a
/// change to what holds already returns none. The time of a pause is the person's, also where the player has no data: a
/// pause ends the wait.
package struct PlayerInterruptions: Hashable, Sendable {
    /// Whether the person has paused.
    package private(set) var isPaused: Bool
    /// Whether playback waits for data.
    package private(set) var isBuffering = false
    /// Whether the player seeks.
    package private(set) var isSeeking = false
    /// Whether the begin of the pause was reported, so that its end has to be.
    private var isPauseReported = false

    /// Creates the interruptions of a playback that begins.
    ///
    /// - Parameter isPaused: whether it begins paused, which is not reported.
    package init(isPaused: Bool = false) { self.isPaused = isPaused }

    /// The person pauses.
    ///
    /// - Parameter isReported: whether the playback has started; a pause before its start is not reported.
    package mutating func pause(isReported: Bool) -> [Action] {
        guard !isPaused else { return [] }
        isPaused = true
        guard isReported else { return [] }
        isPauseReported = true
        return closeBuffering() + [.pauseBegin]
    }

    /// The person plays on.
    package mutating func resume() -> [Action] {
        defer { (isPaused, isPauseReported) = (false, false) }
        return isPauseReported ? [.pauseFinish] : []
    }

    /// The player has started another playback while it is paused, in which the pause was not reported.
    package mutating func forgetReportOfPause() { isPauseReported = false }

    /// Playback waits for data.
    package mutating func openBuffering() -> [Action] {
        defer { isBuffering = true }
        return isBuffering ? [] : [.bufferBegin]
    }

    /// The wait for data ends.
    package mutating func closeBuffering() -> [Action] {
        defer { isBuffering = false }
        return isBuffering ? [.bufferFinish] : []
    }

    /// The player seeks.
    package mutating func openSeek() -> [Action] {
        defer { isSeeking = true }
        return isSeeking ? [] : [.seekBegin]
    }

    /// The seek ends.
    package mutating func closeSeek() -> [Action] {
        defer { isSeeking = false }
        return isSeeking ? [.seekFinish] : []
    }

    /// Everything ends, because the playback ends.
    package mutating func end() -> [Action] { closeBuffering() + closeSeek() + resume() }
}
