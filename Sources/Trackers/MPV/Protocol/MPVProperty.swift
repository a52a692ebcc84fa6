/// The observed properties of mpv, with the names of its manual ("Property list").
///
/// mpv reports changes that come together in the order in which they are observed, which is this one: an end under
/// `keep-open` has to be seen before the pause that follows from it.
package enum MPVProperty: String, CaseIterable, Sendable {
    case idleActive = "idle-active"
    case playlistCount = "playlist-count"
    case keepOpen = "keep-open"
    case eofReached = "eof-reached"
    /// The base of relative paths; before `path`, which depends on it.
    case workingDirectory = "working-directory"
    case path
    case mediaTitle = "media-title"
    case duration
    case timePosition = "time-pos"
    /// The decoder's output, in which width and height come together; `width` and `height` report them separately.
    case decodedPicture = "video-dec-params"
    case width
    case height
    case framesPerSecond = "container-fps"
    case videoBitrate = "video-bitrate"
    case audioBitrate = "audio-bitrate"
    case volume
    case isMuted = "mute"
    case language = "current-tracks/audio/lang"
    case subtitles = "current-tracks/sub/lang"
    case bufferedDuration = "demuxer-cache-duration"
    case isPaused = "pause"
    case isPausedForCache = "paused-for-cache"
    case coreIdle = "core-idle"

    /// The properties of one playback, which are invalid in the next one.
    static let ofMedia: [MPVProperty] = [
        .path, .mediaTitle, .duration, .timePosition, .decodedPicture, .width, .height, .framesPerSecond,
        .videoBitrate, .audioBitrate, .language, .subtitles, .bufferedDuration,
    ]

    /// mpv has no value between two pictures or shortly before the end, where the last one still holds.
    var keepsItsValue: Bool {
        switch self {
        case .path, .mediaTitle, .duration, .timePosition, .decodedPicture, .width, .height, .framesPerSecond: true
        default: false
        }
    }
}
