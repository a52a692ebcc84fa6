package import Foundation
internal import Instrument

// Foundation closes, in a child, every descriptor that was open when it looked; `Pipe` opens descriptors that children inherit. Without
// this lock, a pipe that is made between the look and the start stays open in somebody else's child, and whoever reads that pipe
// to its end waits for that child.
private let spawning = Lock(())

extension Process {
    /// Starts the process, while no pipe of ``Foundation/Pipe/forChild()`` is being made.
    package func start() throws { try spawning.withLock { _ in try run() } }
}

extension Pipe {
    /// Creates a pipe that no process inherits but the one that gets it.
    package static func forChild() -> Pipe { spawning.withLock { _ in Pipe() } }
}
