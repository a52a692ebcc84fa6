extension PlayerProfile {
    /// All named profiles.
    public static let named: [PlayerProfile] = [
        .standard, .exoPlayer, .avPlayer, .hlsJS, .hlsJSWithoutWorker, .dashJS, .shaka, .mpv,
    ]

    /// The profile of a name, as `--profile` takes it; nil for an unknown name.
    public init?(named name: String) {
        guard let profile = Self.named.first(where: { $0.name == name }) else { return nil }
        self = profile
    }
}
