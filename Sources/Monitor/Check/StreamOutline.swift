internal import InstrumentManifests
internal import InstrumentRules
internal import InstrumentText

/// What a publisher configures, and what stays the same while a stream runs, by subject: the version of the playlist,
/// the target duration, the ladder, the encryption. Another value says that somebody changed something.
enum StreamOutline {
    static func values(of history: StreamHistory) -> [String: Set<String>] {
        guard let presentation = history.presentation else { return [:] }
        var values: [String: Set<String>] = ["ladder": Set(presentation.variants.map { text(of: $0) })]
        let playlists = history.renditions.compactMap { $0.current?.playlist }
        guard presentation.format == .hls, !playlists.isEmpty else { return values }
        // A media playlist that is read for the first time must not look like a change: the largest value decides.
        let version = playlists.map(\.version).max().map { max($0, history.multivariant?.playlist.version ?? 1) }
        values["playlist version"] = version.map { ["\($0)"] }
        values["target duration"] = playlists.map(\.targetDuration).max().map {
            [(Double($0) / 1e9).fixed(digits: 0) + " s"]
        }
        values["encryption"] = Set(
            playlists.compactMap { $0.segments.last }.map { segment -> String in
                switch segment.encryption?.method {
                case .aes128: "AES-128"
                case .samples(let method), .unsupported(let method): method
                case nil: "none"
                }
            }
        )
        return values
    }

    private static func text(of variant: Variant) -> String {
        let size = variant.resolution.map { " \($0.width) × \($0.height)" } ?? ""
        let codecs = variant.codecs.isEmpty ? "" : " " + variant.codecs.joined(separator: ",")
        return (Double(variant.peakBitrate) / 1e6).fixed(digits: 2) + " Mbit/s" + size + codecs
    }
}
