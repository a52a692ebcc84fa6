import LoopbackServers

@testable import InstrumentDurableQueue

extension Scratch {
    /// This folder in place of the system's `/dev/shm`, which a container may lack; nil on a system without such
    /// files.
    var stagingDirectory: String? { DirectoryStore.stagingDirectory.map { _ in path } }
}
