internal import InstrumentManifests

/// The text of a frame rate in playlists and MPDs.
enum FrameRateText {
    /// Frames per second of `25`, `29.970` or `30000/1001`; nil for others, and for 0.
    static func value(_ text: some StringProtocol) -> Double? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { DecimalText.double($0) ?? 0 }
        guard let first = parts.first, parts.count <= 2, parts.allSatisfy({ $0 > 0 }) else { return nil }
        return parts.count == 2 ? first / parts[1] : first
    }
}
