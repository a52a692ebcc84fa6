/// The name of a value in a CMCD report.
///
/// The set is open: a key of yours is one line, with a prefix in reverse-DNS notation that contains a hyphen.
///
/// ```swift
/// extension CMCDKey { static let cabin: CMCDKey = "com.example-cabin" }
/// ```
public struct CMCDKey: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The name on the wire.
    public let name: String

    /// Creates a key.
    public init(_ name: String) { self.name = name }
    /// Creates a key.
    public init(stringLiteral name: String) { self.name = name }
    /// The name on the wire.
    public var description: String { name }
}

/// The keys of CTA-5004-B. Bitrates are in kbit/s and times in milliseconds; what is a list has one element for each
/// object type.
extension CMCDKey {
    /// Aggregate encoded bitrate, a list, where the bitrates of the tracks are not known.
    public static let aggregateBitrate: CMCDKey = "ab"
    /// Whether all players of the session are hidden.
    public static let isBackgrounded: CMCDKey = "bg"
    /// Buffer length, a list, rounded to 100 ms.
    public static let bufferLength: CMCDKey = "bl"
    /// Encoded bitrate, a list.
    public static let bitrate: CMCDKey = "br"
    /// Whether the buffer ran empty since the last report.
    public static let isStarved: CMCDKey = "bs"
    /// The numbers of stalls, a list.
    public static let starvationCount: CMCDKey = "bsa"
    /// The durations of the last stall, a list.
    public static let starvationDuration: CMCDKey = "bsd"
    /// The durations of all stalls, a list.
    public static let totalStarvationDuration: CMCDKey = "bsda"
    /// The name of a custom event, at most 64 characters.
    public static let customEventName: CMCDKey = "cen"
    /// The identifier of the content, at most 128 characters.
    public static let contentID: CMCDKey = "cid"
    /// The signature of the content.
    public static let contentSignature: CMCDKey = "cs"
    /// The duration of the requested object.
    public static let objectDuration: CMCDKey = "d"
    /// Dropped frames since the start of the session.
    public static let droppedFrames: CMCDKey = "dfa"
    /// The time until the object must have arrived, rounded to 100 ms.
    public static let deadline: CMCDKey = "dl"
    /// The event, a token of CTA-5004-B, table 1, such as `ps`.
    public static let event: CMCDKey = "e"
    /// Error codes, a list of strings.
    public static let errorCodes: CMCDKey = "ec"
    /// The header `CMSD-Dynamic` of a response, in Base64.
    public static let dynamicServerData: CMCDKey = "cmsdd"
    /// The header `CMSD-Static` of a response, in Base64.
    public static let staticServerData: CMCDKey = "cmsds"
    /// The data of response tracing (CTA-5010) in a response, in Base64.
    public static let responseTracing: CMCDKey = "smrt"
    /// The name of the host, at most 128 characters.
    public static let hostName: CMCDKey = "h"
    /// Lowest aggregated bitrate, a list.
    public static let lowestAggregateBitrate: CMCDKey = "lab"
    /// Lowest bitrate, a list.
    public static let lowestBitrate: CMCDKey = "lb"
    /// Latency of a live stream.
    public static let liveLatency: CMCDKey = "ltc"
    /// The time from the request for playback to its start.
    public static let startDelay: CMCDKey = "msd"
    /// Measured throughput, a list, rounded to 100 kbit/s.
    public static let throughput: CMCDKey = "mtp"
    /// The objects that are requested next, a list of relative paths.
    public static let nextObjects: CMCDKey = "nor"
    /// Whether the player does not render.
    public static let isNotRendering: CMCDKey = "nr"
    /// The type of the requested object; see ``CMCDObjectType``.
    public static let objectType: CMCDKey = "ot"
    /// The bitrate at the playhead, a list.
    public static let playheadBitrate: CMCDKey = "pb"
    /// The playback rate; left out if it is 1.
    public static let playbackRate: CMCDKey = "pr"
    /// The playhead's position.
    public static let playheadTime: CMCDKey = "pt"
    /// The status of a response.
    public static let responseCode: CMCDKey = "rc"
    /// The highest throughput that the player asks for, rounded to 100 kbit/s.
    public static let requestedThroughput: CMCDKey = "rtp"
    /// The streaming format: `d` DASH, `h` HLS, `e` HESP, `s` Smooth Streaming, `o` other.
    public static let streamingFormat: CMCDKey = "sf"
    /// The identifier of the session, at most 64 characters.
    public static let sessionID: CMCDKey = "sid"
    /// The number of the report, from 0 for each session, mode and target.
    public static let sequenceNumber: CMCDKey = "sn"
    /// The type of the stream: `v` on demand, `l` live, `ll` live with low latency.
    public static let streamType: CMCDKey = "st"
    /// The state of the player, a token such as `p` (playing) or `r` (rebuffering).
    public static let state: CMCDKey = "sta"
    /// Whether the object is needed for startup, for a seek or after a stall.
    public static let isStartup: CMCDKey = "su"
    /// Highest aggregated bitrate, a list.
    public static let topAggregateBitrate: CMCDKey = "tab"
    /// Highest bitrate, a list.
    public static let topBitrate: CMCDKey = "tb"
    /// Target buffer length, a list, rounded to 100 ms.
    public static let targetBufferLength: CMCDKey = "tbl"
    /// Highest bitrate that can be played, a list.
    public static let topPlayableBitrate: CMCDKey = "tpb"
    /// The time of an event, since 1970.
    public static let timestamp: CMCDKey = "ts"
    /// The time to the first byte of a response.
    public static let timeToFirstByte: CMCDKey = "ttfb"
    /// The time to the first byte of a response's body.
    public static let timeToFirstBodyByte: CMCDKey = "ttfbb"
    /// The time to the last byte of a response.
    public static let timeToLastByte: CMCDKey = "ttlb"
    /// The address of a request.
    public static let url: CMCDKey = "url"
    /// The version of CMCD; 1 if the key is missing.
    public static let version: CMCDKey = "v"
}

/// The events of event mode, as values of ``CMCDKey/event``.
package enum CMCDEvent: String, Hashable, Sendable, CaseIterable {
    /// An ad break begins.
    case adBreakStart = "abs"
    /// An ad break ends.
    case adBreakEnd = "abe"
    /// An ad ends.
    case adEnd = "ae"
    /// An ad begins.
    case adStart = "as"
    /// The player is hidden or shown again.
    case backgrounded = "b"
    /// The bitrate changed.
    case bitrateChange = "bc"
    /// Other content begins.
    case contentID = "c"
    /// A custom event.
    case custom = "ce"
    /// An error.
    case error = "e"
    /// The host changed.
    case hostName = "h"
    /// The sound was switched off.
    case mute = "m"
    /// The player was made smaller.
    case playerCollapse = "pc"
    /// The player was made larger.
    case playerExpand = "pe"
    /// The playback rate changed.
    case playbackRate = "pr"
    /// The player's state changed.
    case playState = "ps"
    /// A response was received.
    case responseReceived = "rr"
    /// An ad was skipped.
    case skip = "sk"
    /// A regular report.
    case timeInterval = "t"
    /// The sound was switched on.
    case unmute = "um"

    /// The key, besides `e`, `ts` and `v`, that a report of this event must have (CTA-5004-B, Table 1).
    package var requiredKey: CMCDKey? {
        switch self {
        case .playState: .state
        case .error: .errorCodes
        case .responseReceived: .url
        case .custom: .customEventName
        default: nil
        }
    }

    /// The key that the event is about, which Table 1 does not require. `b` without `bg` means that the player is shown
    /// again, and `pr` without `pr` a rate of 1.
    var describedKey: CMCDKey? {
        switch self {
        case .contentID: .contentID
        case .bitrateChange: .bitrate
        case .hostName: .hostName
        default: nil
        }
    }
}

/// The states of a player, as values of ``CMCDKey/state``.
package enum CMCDPlayerState: String, Hashable, Sendable, CaseIterable {
    /// Playback was requested and has not begun.
    case starting = "s"
    /// Media is rendered.
    case playing = "p"
    /// The playhead moves to another position.
    case seeking = "k"
    /// Media stopped because the buffer is empty.
    case rebuffering = "r"
    /// Playback is paused.
    case paused = "a"
    /// The player waits for another reason.
    case waiting = "w"
    /// The media reached its end.
    case ended = "e"
    /// An error ended playback.
    case fatalError = "f"
    /// The person ended playback.
    case quit = "q"
    /// Media is loaded ahead of a request for playback.
    case preloading = "d"
}

/// The types of objects, as values of ``CMCDKey/objectType`` and as parameters of list elements.
public enum CMCDObjectType: String, Hashable, Sendable, CaseIterable {
    /// A manifest or a playlist.
    case manifest = "m"
    /// Audio alone.
    case audio = "a"
    /// Video alone.
    case video = "v"
    /// Audio and video together.
    case muxed = "av"
    /// An initialization segment.
    case initialization = "i"
    /// Captions or subtitles.
    case caption = "c"
    /// A timed text track in ISO BMFF.
    case timedText = "tt"
    /// A key, a license or a certificate.
    case key = "k"
    /// Something else.
    case other = "o"
}
