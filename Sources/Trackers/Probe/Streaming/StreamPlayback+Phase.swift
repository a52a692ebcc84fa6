extension StreamPlayback {
    /// What a stream still loads.
    ///
    /// ```
    ///                ┌─────────── moved ───────────┐
    ///                ▼                             │
    ///  ┌─ moved ─▶ loading ── mediaLoaded ──▶ playingOut
    ///  │             │                             │
    ///  └── over ◀────┴─────────── ended ───────────┘
    /// ```
    ///
    /// | phase | mediaLoaded | ended | moved |
    /// |---|---|---|---|
    /// | loading | playingOut | over | loading |
    /// | playingOut | playingOut | over | loading |
    /// | over | over | over | loading |
    enum Phase: String, CaseIterable, Sendable {
        /// Everything: the manifest, video, audio and subtitles.
        case loading
        /// Subtitles alone: video and audio are loaded to their end.
        case playingOut
        /// Nothing, because of an error or because everything is loaded.
        case over

        enum Change: String, CaseIterable {
            /// Video and audio are loaded to their end, and subtitles are not.
            case mediaLoaded
            /// Everything is loaded, or nothing more can be.
            case ended
            /// Loading continues at another position.
            case moved
        }

        func after(_ change: Change) -> Phase {
            switch (change, self) {
            case (.mediaLoaded, .loading): .playingOut
            case (.mediaLoaded, _): self
            case (.ended, _): .over
            case (.moved, _): .loading
            }
        }

        mutating func change(_ change: Change) { self = after(change) }
    }
}
