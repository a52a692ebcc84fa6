import Foundation
import LoopbackServers

/// The sample that `make play` plays, and where things are.
enum Sample {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    /// The sample's path; made once, by the project's own script.
    static let path: String = {
        let path = root + "/sample/three-renditions.ts"
        let script = Process()
        script.executableURL = URL(fileURLWithPath: root + "/scripts/make-sample.sh")
        script.arguments = [path]
        try? script.start()
        script.waitUntilExit()
        return path
    }()

    /// The command line.
    static let playerMonitor = siblingProgram("player-monitor")
}
