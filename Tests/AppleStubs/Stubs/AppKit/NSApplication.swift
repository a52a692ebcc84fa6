// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase, NoLeadingUnderscores

public import Dispatch
public import Foundation

/// Of the main actor, as NSResponder (NSResponder.h:20, NS_SWIFT_UI_ACTOR). The constants are not NS_SWIFT_NONISOLATED,
/// also not in the header of macOS 27: they belong to the main actor, too.
@MainActor
public final class NSApplication: NSObject {  // NSApplication.h:189 (macOS 14)
    public class var didBecomeActiveNotification: NSNotification.Name {  // NSApplication.h:629 (macOS 14)
        .init("NSApplicationDidBecomeActiveNotification")
    }
    public class var didResignActiveNotification: NSNotification.Name {  // NSApplication.h:632 (macOS 14)
        .init("NSApplicationDidResignActiveNotification")
    }
    public class var didUnhideNotification: NSNotification.Name {  // NSApplication.h:633 (macOS 14)
        .init("NSApplicationDidUnhideNotification")
    }
    public class var didHideNotification: NSNotification.Name {  // NSApplication.h:630 (macOS 14)
        .init("NSApplicationDidHideNotification")
    }
    public class var willTerminateNotification: NSNotification.Name {  // NSApplication.h:641 (macOS 14)
        .init("NSApplicationWillTerminateNotification")
    }
}

/// Without NS_SWIFT_SENDABLE in a header that is audited for it, and without NS_SWIFT_UI_ACTOR.
public final class NSWorkspace: NSObject {  // NSWorkspace.h:28 (macOS 14)
    nonisolated(unsafe) private static let only = NSWorkspace()
    public class var shared: NSWorkspace { only }  // NSWorkspace.h:31 (macOS 14)
    // NSWorkspace.h:323 (macOS 14)
    public static let didWakeNotification = Notification.Name("NSWorkspaceDidWakeNotification")
    public let notificationCenter = NotificationCenter()  // NSWorkspace.h:34 (macOS 14)
}

// The part of Dispatch that exists on Apple platforms only: documentation/dispatch/dispatchsourcememorypressure
public protocol DispatchSourceMemoryPressure: DispatchSourceProtocol {}

extension DispatchSource: DispatchSourceMemoryPressure {
    // documentation/dispatch/dispatchsource/memorypressureevent
    public struct MemoryPressureEvent: OptionSet, Sendable {
        public let rawValue: UInt  // documentation/dispatch/dispatchsource/memorypressureevent
        // documentation/dispatch/dispatchsource/memorypressureevent
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let normal = MemoryPressureEvent(rawValue: 1)  // dispatch/source.h:255
        public static let warning = MemoryPressureEvent(rawValue: 2)  // dispatch/source.h:256
        public static let critical = MemoryPressureEvent(rawValue: 4)  // dispatch/source.h:257
    }

    // documentation/dispatch/dispatchsource/makememorypressuresource(eventmask:queue:)
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

// For tests: `simulatePressure()` triggers the source.
public enum SimulatedMemoryPressure {
    nonisolated(unsafe) static var latest: (any DispatchSourceUserDataAdd)?

    public static func simulatePressure() { latest?.add(data: 1) }
    public static var isCancelled: Bool { latest?.isCancelled ?? true }
}
