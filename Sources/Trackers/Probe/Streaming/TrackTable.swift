/// The tracks of a stream that playback needs.
///
/// Not a dictionary, whose every access copies a track: each event asks for them many times.
struct TrackTable: Sendable {
    private var main: TrackLoading?
    private var audio: TrackLoading?

    /// The track of a role; nil before it is known, and for subtitles, which ``SubtitleLoading`` has.
    subscript(role: StreamRole) -> TrackLoading? {
        _read {
            switch role {
            case .main: yield main
            case .audio: yield audio
            case .subtitles: yield nil
            }
        }
        _modify {
            switch role {
            case .main: yield &main
            case .audio: yield &audio
            case .subtitles:
                var none: TrackLoading?
                yield &none
                assert(none == nil, "subtitles are no track of this table")
            }
        }
    }

    /// The roles of the tracks that are known.
    var roles: [StreamRole] { StreamRole.media.filter { self[$0] != nil } }

    /// The tracks that are known.
    var all: [TrackLoading] { [main, audio].compactMap(\.self) }
}
