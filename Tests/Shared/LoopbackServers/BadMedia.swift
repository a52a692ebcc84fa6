internal import Foundation

/// Files that are not what their names say, for real players.
package enum BadMedia: String, CaseIterable, Sendable {
    /// A film of 20 s whose second half is missing: its index is at the beginning.
    case truncated
    /// Bytes of no format.
    case random
    /// A film's sound without its pictures.
    case sound

    /// The path of the file, which is made by the first call.
    package var path: String {
        get throws {
            let folder = MediaCache.folder(of: "bad")
            let path = "\(folder)/\(rawValue).mp4"
            if FileManager.default.fileExists(atPath: path) { return path }
            let film = folder + "/film-\(UUID().uuidString).mp4"
            defer { try? FileManager.default.removeItem(atPath: film) }
            let bytes: Data
            switch self {
            case .random:
                // Fixed, so that every run plays the same; no byte is one that begins a sample of MPEG audio.
                var state: UInt64 = 42
                bytes = Data(
                    (0..<200_000).map { _ in
                        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                        return UInt8(state >> 57)
                    }
                )
            case .truncated, .sound:
                let pictures = self == .sound ? [] : ["-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25:duration=20"]
                let seconds = self == .sound ? 4 : 20
                let script = Process()
                script.executableURL = URL(fileURLWithPath: "/usr/bin/env")
                script.arguments =
                    ["ffmpeg", "-nostdin", "-loglevel", "error", "-y"] + pictures
                    + ["-f", "lavfi", "-i", "sine=duration=\(seconds)", "-c:v", "libx264", "-preset", "ultrafast"]
                    + ["-g", "25", "-pix_fmt", "yuv420p", "-c:a", "aac", "-movflags", "+faststart", film]
                try script.start()
                script.waitUntilExit()
                let whole = try Data(contentsOf: URL(fileURLWithPath: film))
                bytes = self == .sound ? whole : whole.prefix(whole.count / 2)
            }
            try bytes.write(to: URL(fileURLWithPath: path), options: .atomic)
            return path
        }
    }
}
