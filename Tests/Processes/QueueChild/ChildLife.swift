import Dispatch
import Foundation
import QueueChildPlan

/// Beats while the process gets CPU time, and ends the process when the test that started it has gone.
final class ChildLife: Sendable {
    private let notes: ChildNotes?
    private let parent: Int32
    private let queue = DispatchQueue(label: "child-life")

    /// - Parameter parent: the test process. It may have ended before this process began.
    init(notes: ChildNotes?, parent: Int32) { (self.notes, self.parent) = (notes, parent) }

    func start() {
        queue.asyncAfter(deadline: .now() + .milliseconds(10)) { [self] in
            notes?.beat()
            if getppid() != parent { _exit(3) }
            start()
        }
    }
}
