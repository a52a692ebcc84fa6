package import Foundation
internal import Instrument

// Foundation lists the open descriptors and closes them in a child; `Pipe` opens descriptors that children inherit.
// Without this lock, a pipe that is created between the listing and the start stays open in the child, and a reader of
// that pipe waits for the child's end.
private let spawning = Lock(())

extension Process {
    /// Starts the process, while no pipe of ``Foundation/Pipe/forChild()`` is being created.
    package func start() throws { try spawning.withLock { _ in try run() } }
}

extension Pipe {
    /// Creates a pipe that no process inherits but the one that gets it.
    package static func forChild() -> Pipe { spawning.withLock { _ in Pipe() } }
}
