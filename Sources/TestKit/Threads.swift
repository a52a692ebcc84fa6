internal import Dispatch

/// Threads of their own for a contract that tries a component from several at once.
enum Threads {
    /// Runs each body on a thread of its own, and returns once all have ended.
    static func run(_ bodies: [@Sendable () -> Void]) { start(bodies).wait() }

    /// Runs each body on a thread of its own, without blocking the caller's.
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
