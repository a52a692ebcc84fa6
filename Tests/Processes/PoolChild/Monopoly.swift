import Dispatch
import Foundation
import Synchronization

/// Keeps every thread of Swift's pool busy: spinning, or blocked.
final class Monopoly: Sendable {
    enum Kind: String { case spinning, blocked }

    private let isOver = Atomic(false)
    private let running = DispatchSemaphore(value: 0)
    private let release = DispatchSemaphore(value: 0)
    private let count = 2 * ProcessInfo.processInfo.activeProcessorCount

    /// Starts twice as many tasks as there are processors, and returns when as many of them run as can.
    ///
    /// - Parameter others: how many threads of the pool other tasks hold now.
    init(_ kind: Kind, besides others: Int) {
        for _ in 0..<count {
            Task.detached { [self] in
                running.signal()
                switch kind {
                case .spinning: while !isOver.load(ordering: .relaxed) {}
                case .blocked: _ = release.wait(timeout: .now() + 540)
                }
            }
        }
        for _ in 0..<max(0, count / 2 - others) { running.wait() }
    }

    /// Whether a task gets no thread of the pool within the time.
    func starves(for seconds: Double) -> Bool {
        let ran = DispatchSemaphore(value: 0)
        Task.detached { ran.signal() }
        return ran.wait(timeout: .now() + seconds) == .timedOut
    }

    /// Ends the tasks.
    func end() {
        isOver.store(true, ordering: .relaxed)
        for _ in 0..<count { release.signal() }
    }
}
