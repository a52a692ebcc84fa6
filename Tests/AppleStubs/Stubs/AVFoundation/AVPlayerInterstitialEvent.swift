// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase, NoLeadingUnderscores

public import Foundation

// AVPlayerInterstitialEventController.h of the iOS 26 SDK.

/// NS_SWIFT_NONSENDABLE
public final class AVPlayerInterstitialEvent: NSObject {
    public struct Cue: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public static let noCue = Cue(rawValue: "AVPlayerInterstitialEventNoCue")
        public static let joinCue = Cue(rawValue: "AVPlayerInterstitialEventJoinCue")
        public static let leaveCue = Cue(rawValue: "AVPlayerInterstitialEventLeaveCue")
    }

    public private(set) weak var primaryItem: AVPlayerItem?
    public let identifier: String
    /// kCMTimeInvalid if the event has a date.
    public let time: CMTime
    public let date: Date?
    public let cue: Cue

    public init(identifier: String, seconds: Double, cue: Cue = .noCue, primaryItem: AVPlayerItem? = nil) {
        self.identifier = identifier
        time = CMTimeMake(value: Int64(seconds * 1000), timescale: 1000)
        (self.cue, date, self.primaryItem) = (cue, nil, primaryItem)
    }

    public init(identifier: String, date: Date, primaryItem: AVPlayerItem?) {
        (self.identifier, self.date, self.primaryItem) = (identifier, date, primaryItem)
        (time, cue) = (.invalid, .noCue)
    }
}

/// NS_SWIFT_SENDABLE. One schedule for each primary player, as in the framework.
public final class AVPlayerInterstitialEventMonitor: NSObject, @unchecked Sendable {
    public class var currentEventDidChangeNotification: NSNotification.Name {
        .init("AVPlayerInterstitialEventMonitorCurrentEventDidChangeNotification")
    }

    @available(iOS 26, macOS 26, tvOS 26, visionOS 26, watchOS 26, *)
    public class var currentEventSkippedNotification: NSNotification.Name {
        .init("AVPlayerInterstitialEventMonitorCurrentEventSkippedNotification")
    }
    @available(iOS 26, macOS 26, tvOS 26, visionOS 26, watchOS 26, *)
    public class var currentEventSkippedEventKey: String {
        "AVPlayerInterstitialEventMonitorCurrentEventSkippedEventKey"
    }
    @available(iOS 26, macOS 26, tvOS 26, visionOS 26, watchOS 26, *)
    public class var interstitialEventWasUnscheduledNotification: NSNotification.Name {
        .init("AVPlayerInterstitialEventMonitorInterstitialEventWasUnscheduledNotification")
    }
    @available(iOS 26, macOS 26, tvOS 26, visionOS 26, watchOS 26, *)
    public class var interstitialEventWasUnscheduledEventKey: String {
        "AVPlayerInterstitialEventMonitorInterstitialEventWasUnscheduledEventKey"
    }
    @available(iOS 26, macOS 26, tvOS 26, visionOS 26, watchOS 26, *)
    public class var interstitialEventWasUnscheduledErrorKey: String {
        "AVPlayerInterstitialEventMonitorInterstitialEventWasUnscheduledErrorKey"
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

    public func simulate(skipOf event: AVPlayerInterstitialEvent) {
        NotificationCenter.default.post(
            name: Self.currentEventSkippedNotification,
            object: self,
            userInfo: [Self.currentEventSkippedEventKey: event]
        )
    }

    public func simulate(removalOf event: AVPlayerInterstitialEvent, because error: (any Error)?) {
        var information: [String: Any] = [Self.interstitialEventWasUnscheduledEventKey: event]
        if let error { information[Self.interstitialEventWasUnscheduledErrorKey] = error }
        NotificationCenter.default.post(
            name: Self.interstitialEventWasUnscheduledNotification,
            object: self,
            userInfo: information
        )
    }
}
