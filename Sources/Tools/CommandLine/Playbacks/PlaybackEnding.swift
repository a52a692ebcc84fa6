/// The end of a playback.
package enum PlaybackEnding: Hashable, Sendable {
    /// The media played to its end.
    case ended
    /// The user or an option stopped the playback.
    case stopped
    /// Playback failed, for a reason with a short code.
    case failed(code: String, message: String)
    /// Playback never began.
    case notPlayed

    /// Whether playback failed.
    package var isFailure: Bool {
        if case .failed = self { true } else { false }
    }

    /// The end in a table's cell.
    var label: String {
        switch self {
        case .ended: "ended"
        case .stopped: "stopped"
        case .failed(let code, _): "failed: \(code)"
        case .notPlayed: "not played"
        }
    }

    /// The end in a sentence.
    package var sentence: String {
        switch self {
        case .ended: "played to its end"
        case .stopped: "stopped"
        case .failed(_, let message): "failed: \(message)"
        case .notPlayed: "not played"
        }
    }
}
