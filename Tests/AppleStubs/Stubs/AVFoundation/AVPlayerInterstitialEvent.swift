// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase, NoLeadingUnderscores

public import Foundation

public final class AVPlayerInterstitialEvent: NSObject, @unchecked Sendable {
    public struct Cue: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public static let noCue = Cue(rawValue: "AVPlayerInterstitialEventNoCue")
        public static let joinCue = Cue(rawValue: "AVPlayerInterstitialEventJoinCue")
        public static let leaveCue = Cue(rawValue: "AVPlayerInterstitialEventLeaveCue")
    }

    public let identifier: String
    public let time: CMTime
    public let cue: Cue

    public init(identifier: String, seconds: Double, cue: Cue = .noCue) {
        self.identifier = identifier
        time = CMTimeMake(value: Int64(seconds * 1000), timescale: 1000)
        self.cue = cue
    }
}

/// One schedule for each primary player, as in the framework.
public final class AVPlayerInterstitialEventMonitor: NSObject, @unchecked Sendable {
    public class var currentEventDidChangeNotification: NSNotification.Name {
        .init("AVPlayerInterstitialEventMonitorCurrentEventDidChangeNotification")
    }

    public private(set) weak var primaryPlayer: AVPlayer?
    public let interstitialPlayer: AVQueuePlayer
    public private(set) var currentEvent: AVPlayerInterstitialEvent?

    /// The player and the monitors that the test's next monitors get.
    nonisolated(unsafe) public static var nextInterstitialPlayer: AVQueuePlayer?
    nonisolated(unsafe) public static weak var latest: AVPlayerInterstitialEventMonitor?

    public init(primaryPlayer: AVPlayer) {
        self.primaryPlayer = primaryPlayer
        interstitialPlayer = Self.nextInterstitialPlayer ?? AVQueuePlayer()
        super.init()
        Self.latest = self
    }

    public func simulate(event: AVPlayerInterstitialEvent?) {
        currentEvent = event
        NotificationCenter.default.post(name: Self.currentEventDidChangeNotification, object: self)
    }
}
