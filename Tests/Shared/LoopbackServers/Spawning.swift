package import Foundation
internal import Instrument

// Foundation lists the open descriptors and closes them in a child; `Pipe` opens descriptors that children inherit.
// Without this lock, a pipe that is created between the listing and the start stays open in the child, and a reader of
// that pipe waits for the child's end.
private let spawning = Lock(())

// A shell ignores SIGINT for a program in the background, `nohup` SIGHUP; children inherit that.
private let heedsSignals: Void = {
    for number in [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP] {
        let former = signal(number, SIG_DFL)
        // A handler of a test stays.
        if unsafeBitCast(former, to: Int.self) != unsafeBitCast(SIG_IGN, to: Int.self) { signal(number, former) }
    }
}()

extension Process {
    /// Starts the process, while no pipe of ``Foundation/Pipe/forChild()`` is being created. However the tests were
    /// started, the process ignores no signal.
    package func start() throws {
        _ = heedsSignals
        try spawning.withLock { _ in try run() }
    }
}

extension Pipe {
    /// Creates a pipe that no process inherits but the one that gets it.
    package static func forChild() -> Pipe { spawning.withLock { _ in Pipe() } }
}
