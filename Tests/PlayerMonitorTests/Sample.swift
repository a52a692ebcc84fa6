import Foundation
import LoopbackServers

/// The sample that `make play` plays, and where things are.
enum Sample {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    static let path = MediaCache.sample

    /// The built command line.
    static let playerMonitor = siblingProgram("player-monitor")
}
