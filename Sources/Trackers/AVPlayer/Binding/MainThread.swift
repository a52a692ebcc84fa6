#if canImport(AVFoundation)
internal import Dispatch
internal import Foundation

/// AVPlayer and its items belong to the main thread.
enum MainThread {
    /// Runs `body` at once on the main thread, else in the main queue's order.
    static func run(_ body: @escaping @MainActor @Sendable () -> Void) {
        if Thread.isMainThread {
            MainActor.assumeIsolated { body() }
        } else {
            DispatchQueue.main.async { MainActor.assumeIsolated { body() } }
        }
    }

    /// Begins an observation on the main thread. The result ends it there, once: also before it has begun.
    static func observe(_ begin: @escaping @MainActor @Sendable (ObservationTokens) -> Void) -> Observation {
        let tokens = ObservationTokens()
        run { if !tokens.isCancelled { begin(tokens) } }
        return Observation { run { tokens.cancel() } }
    }
}

/// The registrations of an observation, which are cancelled on the main thread when the observation ends.
@MainActor
final class ObservationTokens {
    private var undo: [@MainActor () -> Void] = []
    private(set) var isCancelled = false

    nonisolated init() {}

    /// Adds an undoing; runs it at once if the observation has ended.
    func add(_ undo: @escaping @MainActor () -> Void) {
        if isCancelled { undo() } else { self.undo.append(undo) }
    }

    func cancel() {
        isCancelled = true
        let undo = undo
        self.undo = []
        for undo in undo { undo() }
    }
}
#endif
