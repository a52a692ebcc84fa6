/// The outcome of the wish to try a stream now.
package enum TryOutcome: String, Hashable, Sendable {
    /// A session starts now.
    case starts
    /// The session that shows no picture stops, and another one starts at once.
    case restarts
    /// The stream plays: nothing is to be done.
    case plays
    /// Another monitor plays the stream.
    case elsewhere
    /// No stream has this name.
    case unknown
    /// The monitor stops.
    case stopping

    /// Why nothing was tried; nil if there is nothing to say.
    package var refusal: String? {
        switch self {
        case .starts, .restarts, .plays: nil
        case .elsewhere: "the monitor of another place plays this stream; try it there"
        case .unknown: "no stream has this name"
        case .stopping: "the monitor stops, or the stream was removed"
        }
    }
}
