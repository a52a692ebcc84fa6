internal import Instrument

/// An interstitial event.
struct InterstitialFacts: Hashable, Sendable {
    /// `AVPlayerInterstitialEvent.Cue`: a place in the content that is not a time.
    enum Cue: Hashable, Sendable { case none, join, leave }

    /// Where the content is when the event begins. Times are seconds, and not finite where AVFoundation knows none.
    struct Content: Hashable, Sendable {
        var position = Double.nan
        var duration = Double.nan
    }

    var identifier: String
    var roll: AdRoll

    init(identifier: String, roll: AdRoll) { (self.identifier, self.roll) = (identifier, roll) }

    /// Creates the facts of an event that begins now.
    ///
    /// - Parameters:
    ///   - identifier: the identifier of the event.
    ///   - cue: the place of the event, where it has one.
    ///   - time: the time of the event in the content, in seconds; not a number if the event has a date instead. The
    ///     position of the content is then the time. A live stream that is joined in a break has no beginning.
    ///   - content: where the content is.
    init(identifier: String, cue: Cue, time: Double, content: Content) {
        let isLive = !content.duration.isFinite
        let place = time.isFinite ? time : isLive ? nil : content.position
        let roll: AdRoll =
            switch cue {
            case .join: .pre
            case .leave: .post
            case .none where place.map({ $0 <= Self.beginTolerance }) ?? false: .pre
            case .none where place.map({ $0 >= content.duration - AVPlayerModel.endTolerance }) ?? false: .post
            case .none: .mid
            }
        self.init(identifier: identifier, roll: roll)
    }

    /// AVFoundation starts an event of a date up to this late, in seconds of the content.
    private static let beginTolerance = 0.5
}
