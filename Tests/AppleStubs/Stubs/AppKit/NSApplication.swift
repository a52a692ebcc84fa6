// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase, NoLeadingUnderscores

public import Dispatch
public import Foundation

/// NSApplication.h: NS_SWIFT_UI_ACTOR.
@MainActor
public final class NSApplication: NSObject {
    nonisolated public static let didBecomeActiveNotification = Notification.Name(
        "NSApplicationDidBecomeActiveNotification"
    )
    nonisolated public static let didResignActiveNotification = Notification.Name(
        "NSApplicationDidResignActiveNotification"
    )
    nonisolated public static let didUnhideNotification = Notification.Name("NSApplicationDidUnhideNotification")
    nonisolated public static let didHideNotification = Notification.Name("NSApplicationDidHideNotification")
    nonisolated public static let willTerminateNotification = Notification.Name(
        "NSApplicationWillTerminateNotification"
    )
}

/// NSWorkspace.h. Whether it is NS_SWIFT_SENDABLE is not verified; here it is not.
public final class NSWorkspace: NSObject {
    nonisolated(unsafe) private static let only = NSWorkspace()
    public class var shared: NSWorkspace { only }
    public static let didWakeNotification = Notification.Name("NSWorkspaceDidWakeNotification")
    public let notificationCenter = NotificationCenter()
}

/// The part of Dispatch that exists on Apple platforms only.
public protocol DispatchSourceMemoryPressure: DispatchSourceProtocol {}

extension DispatchSource: DispatchSourceMemoryPressure {
    public struct MemoryPressureEvent: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let normal = MemoryPressureEvent(rawValue: 1)
        public static let warning = MemoryPressureEvent(rawValue: 2)
        public static let critical = MemoryPressureEvent(rawValue: 4)
    }

    /// A source that ``SimulatedMemoryPressure`` triggers.
    public static func makeMemoryPressureSource(
        eventMask: MemoryPressureEvent,
        queue: DispatchQueue? = nil
    ) -> any DispatchSourceMemoryPressure {
        let source = makeUserDataAddSource(queue: queue)
        SimulatedMemoryPressure.latest = source
        guard let source = source as? DispatchSource else { fatalError("Dispatch has sources of one class") }
        return source
    }
}

/// The memory pressure of a test.
public enum SimulatedMemoryPressure {
    nonisolated(unsafe) static var latest: (any DispatchSourceUserDataAdd)?

    public static func simulatePressure() { latest?.add(data: 1) }
    public static var isCancelled: Bool { latest?.isCancelled ?? true }
}
