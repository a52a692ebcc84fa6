// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase, NoLeadingUnderscores

public import Foundation

/// NS_SWIFT_NONSENDABLE. Its properties can be changed (`MutableEvents`), except here.
public final class AVPlayerInterstitialEvent: NSObject {  // AVPlayerInterstitialEventController.h:59
    // AVPlayerInterstitialEventController.h:30
    public struct Cue: RawRepresentable, Hashable, Sendable {
        public let rawValue: String  // AVPlayerInterstitialEventController.h:30
        public init(rawValue: String) { self.rawValue = rawValue }  // AVPlayerInterstitialEventController.h:30
        // AVPlayerInterstitialEventController.h:32
        public static let noCue = Cue(rawValue: "AVPlayerInterstitialEventNoCue")
        // AVPlayerInterstitialEventController.h:34
        public static let joinCue = Cue(rawValue: "AVPlayerInterstitialEventJoinCue")
        // AVPlayerInterstitialEventController.h:36
        public static let leaveCue = Cue(rawValue: "AVPlayerInterstitialEventLeaveCue")
    }

    public private(set) weak var primaryItem: AVPlayerItem?  // AVPlayerInterstitialEventController.h:108
    public let identifier: String  // AVPlayerInterstitialEventController.h:113
    // kCMTimeInvalid if the event has a date.
    public let time: CMTime  // AVPlayerInterstitialEventController.h:118
    public let date: Date?  // AVPlayerInterstitialEventController.h:123
    public let cue: Cue  // AVPlayerInterstitialEventController.h:156

    // For tests.
    public init(identifier: String, seconds: Double, cue: Cue = .noCue, primaryItem: AVPlayerItem? = nil) {
        self.identifier = identifier
        time = CMTimeMake(value: Int64(seconds * 1000), timescale: 1000)
        (self.cue, date, self.primaryItem) = (cue, nil, primaryItem)
    }

    // For tests.
    public init(identifier: String, date: Date, primaryItem: AVPlayerItem?) {
        (self.identifier, self.date, self.primaryItem) = (identifier, date, primaryItem)
        (time, cue) = (.invalid, .noCue)
    }
}

/// NS_SWIFT_SENDABLE. One schedule for each primary player, as in the framework.
// AVPlayerInterstitialEventController.h:250
public final class AVPlayerInterstitialEventMonitor: NSObject, @unchecked Sendable {
    // AVPlayerInterstitialEventController.h:294
    public class var currentEventDidChangeNotification: NSNotification.Name {
        .init("AVPlayerInterstitialEventMonitorCurrentEventDidChangeNotification")
    }

    // AVPlayerInterstitialEventController.h:338
    @available(iOS 26, macOS 26, tvOS 26, visionOS 26, watchOS 26, *)
    public class var currentEventSkippedNotification: NSNotification.Name {
        .init("AVPlayerInterstitialEventMonitorCurrentEventSkippedNotification")
    }
    // AVPlayerInterstitialEventController.h:343
    @available(iOS 26, macOS 26, tvOS 26, visionOS 26, watchOS 26, *)
    public class var currentEventSkippedEventKey: String {
        "AVPlayerInterstitialEventMonitorCurrentEventSkippedEventKey"
    }
    // AVPlayerInterstitialEventController.h:350
    @available(iOS 26, macOS 26, tvOS 26, visionOS 26, watchOS 26, *)
    public class var interstitialEventWasUnscheduledNotification: NSNotification.Name {
        .init("AVPlayerInterstitialEventMonitorInterstitialEventWasUnscheduledNotification")
    }
    // AVPlayerInterstitialEventController.h:355
    @available(iOS 26, macOS 26, tvOS 26, visionOS 26, watchOS 26, *)
    public class var interstitialEventWasUnscheduledEventKey: String {
        "AVPlayerInterstitialEventMonitorInterstitialEventWasUnscheduledEventKey"
    }
    // AVPlayerInterstitialEventController.h:360
    @available(iOS 26, macOS 26, tvOS 26, visionOS 26, watchOS 26, *)
    public class var interstitialEventWasUnscheduledErrorKey: String {
        "AVPlayerInterstitialEventMonitorInterstitialEventWasUnscheduledErrorKey"
    }

    public private(set) weak var primaryPlayer: AVPlayer?  // AVPlayerInterstitialEventController.h:262
    public let interstitialPlayer: AVQueuePlayer  // AVPlayerInterstitialEventController.h:265
    // AVPlayerInterstitialEventController.h:275
    public private(set) var currentEvent: AVPlayerInterstitialEvent?

    // For tests: the player that the next monitors get.
    nonisolated(unsafe) public static var nextInterstitialPlayer: AVQueuePlayer?
    // For tests.
    nonisolated(unsafe) public static weak var latest: AVPlayerInterstitialEventMonitor?

    // AVPlayerInterstitialEventController.h:259
    public init(primaryPlayer: AVPlayer) {
        self.primaryPlayer = primaryPlayer
        interstitialPlayer = Self.nextInterstitialPlayer ?? AVQueuePlayer()
        super.init()
        Self.latest = self
    }
}

// For tests.
extension AVPlayerInterstitialEventMonitor {
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
