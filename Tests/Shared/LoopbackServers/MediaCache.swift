internal import Foundation

/// Media that ffmpeg makes for tests. The folder stays between runs, because to make the media takes longer than most
/// tests.
package enum MediaCache {
    /// The folder of this user: another user's folder of the same temporary directory cannot be written.
    package static let folder = NSTemporaryDirectory() + "instrument-test-media-\(getuid())"

    /// The folder of the test origin's media.
    package static let origin = folder + "/origin"

    /// The folder of a suite, which exists.
    package static func folder(of suite: String) -> String {
        let path = folder + "/" + suite
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }

    /// Twelve seconds in three renditions: the film of `make play`, made by the same script.
    package static let sample: String = {
        let path = folder + "/three-renditions.ts"
        let root = packageRoot
        let script = Process()
        script.executableURL = root.appendingPathComponent("scripts/make-sample.sh")
        script.arguments = [path]
        try? script.start()
        script.waitUntilExit()
        return path
    }()
}
