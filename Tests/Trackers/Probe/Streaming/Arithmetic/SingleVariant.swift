import Foundation
import Testing

@testable import InstrumentProbe

/// A stream with one variant, as fixtures have it: in one piece, or with its sound apart.
struct SingleVariant: Sendable, CustomTestStringConvertible {
    enum Packaging: String, Sendable, CaseIterable { case transportStream, fragments }

    var packaging: Packaging
    var hasOwnAudio: Bool

    static let all = Packaging.allCases.flatMap { packaging in
        [false, true].map { SingleVariant(packaging: packaging, hasOwnAudio: $0) }
    }

    var testDescription: String { packaging.rawValue + (hasOwnAudio ? ", sound apart" : "") }

    /// A name for folders and sessions.
    var name: String { packaging.rawValue + (hasOwnAudio ? "-apart" : "") }

    private var master: String {
        let media = "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"English\",DEFAULT=YES,URI=\"a/media.m3u8\"\n"
        let variant = "#EXT-X-STREAM-INF:BANDWIDTH=300000" + (hasOwnAudio ? ",AUDIO=\"a\"" : "") + "\n"
        return "#EXTM3U\n" + (hasOwnAudio ? media : "") + variant + "v/media.m3u8\n"
    }

    private func folder(_ track: Substring) -> Result<String, FixtureError> {
        switch (packaging, track, hasOwnAudio) {
        case (.transportStream, "a", _): Fixtures.hlsSound
        case (.transportStream, _, false): Fixtures.hlsTS
        case (.transportStream, _, true): Fixtures.hlsSilent
        case (.fragments, "a", _): Fixtures.hlsSoundMP4
        case (.fragments, _, false): Fixtures.hlsMP4
        case (.fragments, _, true): Fixtures.hlsSilentMP4
        }
    }

    func resource(_ path: String) -> [UInt8]? {
        let parts = path.split(separator: "/")
        guard parts.count == 2 else { return path == "/master.m3u8" ? Array(master.utf8) : nil }
        return (try? Fixtures.data(folder(parts[0]).get() + "/" + parts[1])).map { [UInt8]($0) }
    }

    /// A new folder with a folder for each of the streams, by its name.
    static func folder() throws -> URL {
        let root = FileManager.default.temporaryDirectory.appending(path: "arithmetic-\(UUID().uuidString)")
        for stream in all {
            let folder = root.appending(path: stream.name)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(stream.master.utf8).write(to: folder.appending(path: "master.m3u8"))
            for track in stream.hasOwnAudio ? ["v", "a"] : ["v"] {
                let source = URL(filePath: try stream.folder(track[...]).get())
                try FileManager.default.copyItem(at: source, to: folder.appending(path: track))
            }
        }
        return root
    }

    /// The resources of each track in the order of their requests.
    var lanes: [[ComputedPlayback.Resource]] { (hasOwnAudio ? ["v", "a"] : ["v"]).map(lane) }

    var manifestSize: Int { master.utf8.count }

    private func lane(_ track: String) -> [ComputedPlayback.Resource] {
        func bytes(_ name: String) -> [UInt8] { resource("/\(track)/\(name)") ?? [] }
        let isFragmented = packaging == .fragments
        let initialization = isFragmented ? bytes("init.mp4") : []
        var resources = [ComputedPlayback.Resource(size: bytes("media.m3u8").count)]
        if isFragmented { resources.append(ComputedPlayback.Resource(size: initialization.count)) }
        let playlist = String(decoding: bytes("media.m3u8"), as: UTF8.self)
        var duration = 0.0
        for line in playlist.split(separator: "\n") {
            if line.hasPrefix("#EXTINF:") { duration = Double(line.dropFirst(8).prefix { $0 != "," }) ?? 0 }
            if line.hasPrefix("#") { continue }
            let segment = bytes(String(line))
            let frames = FrameBytesReader.frames(of: segment, initialization: initialization)
            let nanoseconds = Int64((duration * 1_000_000).rounded()) * 1000
            resources.append(ComputedPlayback.Resource(size: segment.count, frames: frames, duration: nanoseconds))
        }
        if isFragmented, resources.count > 2 {
            (resources[1].duration, resources[2].duration) = (resources[2].duration, 0)
        }
        return resources
    }
}
