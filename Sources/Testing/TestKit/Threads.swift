internal import Dispatch

/// Threads for contracts that call a component from several threads at once.
enum Threads {
    /// Runs each body on a separate thread, and returns once all have ended.
    static func run(_ bodies: [@Sendable () -> Void]) { start(bodies).wait() }

    /// Runs each body on a separate thread, without blocking the caller's thread.
    static func runAsync(_ bodies: [@Sendable () -> Void]) async {
        let group = start(bodies)
        await withCheckedContinuation { continuation in
            group.notify(queue: .global()) { continuation.resume() }
        }
    }

    private static func start(_ bodies: [@Sendable () -> Void]) -> DispatchGroup {
        let group = DispatchGroup()
        for (number, body) in bodies.enumerated() {
            DispatchQueue(label: "instrument.contract.\(number)").async(group: group) { body() }
        }
        return group
    }
}
