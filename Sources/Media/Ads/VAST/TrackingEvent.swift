/// The name of a tracking event; an open set.
public struct TrackingEventName: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The name on the wire.
    public var rawValue: String
    /// Creates a name.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Creates a name.
    public init(_ name: String) { rawValue = name }
    /// The name on the wire.
    public var description: String { rawValue }

    /// A part of the ad is shown.
    package static let creativeView = Self("creativeView")
    /// The media is ready to play.
    package static let loaded = Self("loaded")
    /// The first frame is shown.
    package static let start = Self("start")
    /// 25 % are played.
    package static let firstQuartile = Self("firstQuartile")
    /// 50 % are played.
    package static let midpoint = Self("midpoint")
    /// 75 % are played.
    package static let thirdQuartile = Self("thirdQuartile")
    /// The ad is played to its end.
    package static let complete = Self("complete")
    /// An offset is reached.
    package static let progress = Self("progress")
    /// The person muted the ad.
    package static let mute = Self("mute")
    /// The person unmuted the ad.
    package static let unmute = Self("unmute")
    /// The person paused the ad.
    package static let pause = Self("pause")
    /// The person resumed the ad.
    package static let resume = Self("resume")
    /// The playhead moved backwards.
    package static let rewind = Self("rewind")
    /// The person skipped the ad.
    package static let skip = Self("skip")
    /// The player takes the whole screen (VAST 2 to 4.0).
    package static let fullscreen = Self("fullscreen")
    /// The player leaves the whole screen (VAST 3 and 4.0).
    package static let exitFullscreen = Self("exitFullscreen")
    /// The player grows (VAST 4.1).
    package static let playerExpand = Self("playerExpand")
    /// The player shrinks (VAST 4.1).
    package static let playerCollapse = Self("playerCollapse")
    /// The person closed the ad (VAST 2; non-linear ads of all versions).
    package static let close = Self("close")
    /// The person closed the linear ad (VAST 3).
    package static let closeLinear = Self("closeLinear")
}

extension TrackingEventName {
    private static let second: Set<String> = [
        "creativeView", "start", "firstQuartile", "midpoint", "thirdQuartile", "complete", "mute", "unmute", "pause",
        "rewind",
        "resume", "fullscreen", "expand", "collapse", "acceptInvitation", "close",
    ]
    private static let third: Set<String> = [
        "exitFullscreen", "skip", "progress", "acceptInvitationLinear", "closeLinear",
    ]
    private static let fourthFirst: Set<String> = [
        "playerExpand", "playerCollapse", "loaded", "adExpand", "adCollapse", "minimize", "overlayViewDuration",
        "otherAdInteraction",
    ]

    /// Whether a version of VAST defines the event, or an earlier version did.
    func isDefined(in version: VASTVersion) -> Bool {
        Self.second.contains(rawValue) || version >= .v30 && Self.third.contains(rawValue)
            || version >= .v41 && Self.fourthFirst.contains(rawValue)
            || version >= .v42 && ["interactiveStart", "notUsed"].contains(rawValue)
    }

    /// The event of any version whose name differs in capital letters alone; nil without one. Names are case-sensitive.
    var correctSpelling: String? {
        let name = rawValue.lowercased()
        return Self.second.union(Self.third).union(Self.fourthFirst).first { $0.lowercased() == name }
    }

    /// Whether any version of VAST defines the event.
    var isKnown: Bool { isDefined(in: VASTVersion(major: 4, minor: 3)) }
}

/// An address that is called when an event of an ad occurs.
package struct TrackingEvent: Hashable, Sendable {
    /// The event.
    package var name: TrackingEventName
    /// The offset of a `progress` event; nil for other events.
    package var offset: AdOffset?
    /// The address.
    package var url: AdURL

    /// Creates an event.
    package init(_ name: TrackingEventName, offset: AdOffset? = nil, url: AdURL) {
        (self.name, self.offset, self.url) = (name, offset, url)
    }
}
