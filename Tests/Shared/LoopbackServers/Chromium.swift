internal import Foundation

/// How tests run Chromium: without a window, without a home directory, without a request to anything but this machine.
package enum Chromium {
    /// The path of the program; nil if it is not installed.
    package static let program: String? = {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return folders.map { $0 + "/chromium" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }()

    /// The options that every run has; `folder` receives everything that the browser writes.
    package static func options(_ folder: Scratch) -> [String] {
        [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--mute-audio",
            "--no-first-run", "--disable-background-networking", "--disable-component-update", "--no-proxy-server",
            // No page of a test needs a resolver. The rule applies to addresses as well.
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--lang=en-US",
            "--user-data-dir=\(folder.path)/profile",
        ]
    }

    /// The environment of this process, with the folder in place of the user's home and of the temporary directory,
    /// where the path of Chromium's socket could be too long.
    package static func environment(_ folder: Scratch) -> [String: String] {
        let names = ["HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "TMPDIR"]
        let own = Dictionary(uniqueKeysWithValues: names.map { ($0, folder.path) })
        return ProcessInfo.processInfo.environment.merging(own) { $1 }
    }
}
