/// Detects intervals of black pictures.
package struct BlackDetector: Hashable, Sendable {
    /// The mean luma up to which a picture is black, from 0 to 1.
    package static let meanLimit: Float = 0.03
    /// The luma of the brightest cell up to which a picture is black: credits on black are a picture.
    package static let cellLimit: Float = 0.12

    private var tracker: IntervalTracker

    /// Creates a detector that reports intervals of at least `minimum`.
    package init(minimum: Duration) { tracker = IntervalTracker(minimum: minimum) }

    /// Takes the next picture; returns the black interval that the picture ends.
    package mutating func take(_ picture: PictureSummary) -> MediaInterval? {
        tracker.take(picture.time, Self.isBlack(picture))
    }

    /// The black interval that has not ended and is already long enough; nil without one.
    package var current: MediaInterval? { tracker.current }

    /// Ends the media; returns the black interval that lasted until the last picture.
    package mutating func finish() -> MediaInterval? { tracker.finish() }

    /// Whether a picture is black.
    package static func isBlack(_ picture: PictureSummary) -> Bool {
        !picture.cells.isEmpty && picture.meanLuma <= meanLimit && (picture.cells.max() ?? 1) <= cellLimit
    }
}

/// Detects intervals in which the picture does not change.
package struct FreezeDetector: Hashable, Sendable {
    /// The difference of a cell up to which pictures are the same, from 0 to 1: what an encoder's noise leaves of a
    /// mean.
    package static let limit: Float = 0.008

    private var tracker: IntervalTracker
    /// The first picture of the interval; nil before one.
    package private(set) var reference: PictureSummary?

    /// Creates a detector that reports intervals of at least `minimum`.
    package init(minimum: Duration) { tracker = IntervalTracker(minimum: minimum) }

    /// Takes the next picture; returns the frozen interval that the picture ends.
    package mutating func take(_ picture: PictureSummary) -> MediaInterval? {
        // Compared with the first picture of the interval, so that a slow change is no freeze.
        let isSame = reference.map { picture.largestDifference(from: $0) <= Self.limit } ?? false
        if isSame { return tracker.take(picture.time, true) }
        reference = picture
        let ended = tracker.take(picture.time, false)
        // The interval, if one begins, begins with this picture.
        return tracker.take(picture.time, true) ?? ended
    }

    /// The frozen interval that has not ended and is already long enough; nil without one.
    package var current: MediaInterval? { tracker.current }

    /// Ends the media; returns the frozen interval that lasted until the last picture.
    package mutating func finish() -> MediaInterval? {
        reference = nil
        return tracker.finish()
    }
}
