// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase, NoLeadingUnderscores

internal import Dispatch
public import Foundation
internal import Synchronization

extension ProcessInfo {
    // NSProcessInfo.h:186, the block NS_SWIFT_SENDABLE. It calls the block on a concurrent queue; once more with true
    // when the time is over while the block runs; with true alone if there is no time.
    @available(iOS 8.2, tvOS 9, watchOS 2, *)
    @available(macOS, unavailable)
    public func performExpiringActivity(withReason reason: String, using block: @escaping @Sendable (Bool) -> Void) {
        precondition(!reason.isEmpty, "a reason is required")
        SimulatedActivity.perform(block)
    }
}

// For tests: the activities that keep the process awake, and their end.
public enum SimulatedActivity {
    private struct State {
        var isRefused = false
        var running: [Int: @Sendable (Bool) -> Void] = [:]
        var count = 0
        var onEnd: @Sendable () -> Void = {}
    }

    private static let state = Mutex(State())

    public static var runningCount: Int { state.withLock { $0.running.count } }

    /// Grants no time from now on, or does again.
    public static func refuse(_ isRefused: Bool) { state.withLock { $0.isRefused = isRefused } }

    /// Calls `body` at each end of an activity.
    public static func onEnd(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onEnd = body } }

    /// The time is over.
    public static func expire() {
        let running = state.withLock { Array($0.running.values) }
        for block in running { block(true) }
    }

    static func perform(_ block: @escaping @Sendable (Bool) -> Void) {
        let number = state.withLock { state -> Int? in
            if state.isRefused { return nil }
            state.count += 1
            state.running[state.count] = block
            return state.count
        }
        Thread.detachNewThread {
            guard let number else { return block(true) }
            block(false)
            let onEnd = state.withLock { state in
                state.running[number] = nil
                return state.onEnd
            }
            onEnd()
        }
    }
}
