internal import Instrument

/// The location of media: a file on this machine, or an HTTP(S) address.
///
/// Its description, which goes into logs and errors, carries no credentials: user, password, query and fragment are
/// left out. The `source` attribute is the same for an address, and the canonical path for a file.
public struct MediaSource: Hashable, Sendable {
    enum Location: Hashable {
        case file(path: String)
        case http(url: String)
        case unsupported(scheme: String)
    }

    let location: Location

    /// Creates a source from a path, a `file:` URL, or an `http:` or `https:` URL.
    public init(_ text: String) {
        guard let (scheme, rest) = SourceText.split(text) else {
            location = .file(path: text)
            return
        }
        switch scheme {
        case "http", "https": location = .http(url: text)
        case "file": location = .file(path: SourceText.path(ofFileURL: rest))
        default: location = .unsupported(scheme: scheme)
        }
    }

    /// The value of the `source` attribute: the canonical path of a file, however it was given. Reads the file system.
    var sourceText: String {
        if case .file(let path) = location { LocalPath.canonical(path) } else { description }
    }

    /// Whether it is fetched over a network.
    var isRemote: Bool {
        if case .http = location { true } else { false }
    }

    /// Whether the ending of the path names a playlist or a manifest.
    var isStream: Bool {
        guard case .http = location else { return false }
        let path = description.lowercased()
        return [".m3u8", ".m3u", ".mpd"].contains { path.hasSuffix($0) }
    }

    /// Whether this is no playlist and no manifest: a file of this machine, or an address with the ending of a media
    /// file.
    package var isFile: Bool {
        switch location {
        case .file: return true
        case .unsupported: return false
        case .http:
            let path = description.lowercased()
            return Self.fileEndings.contains { path.hasSuffix($0) }
        }
    }

    private static let fileEndings = [
        ".mp4", ".m4v", ".m4a", ".mov", ".mkv", ".webm", ".ts", ".mp3", ".aac", ".flac", ".ogg", ".wav", ".avi", ".flv",
    ]

    /// The last part of the path, for sources without a title.
    var fileName: String {
        String(description.split(separator: "/").last ?? "")
    }
}

extension MediaSource: CustomStringConvertible {
    /// The path, or the URL without user, password, query and fragment.
    public var description: String {
        switch location {
        case .file(let path): return path
        case .unsupported(let scheme): return scheme + "://…"
        case .http(let url): return SourceText.redacted(url)
        }
    }
}
