import Foundation
import LoopbackServers

/// The sample that `make play` plays, and where things are.
enum Sample {
    static let root = packageRoot.path

    static let path = MediaCache.sample

    /// The command line.
    static let playerMonitor = siblingProgram("player-monitor")
}
