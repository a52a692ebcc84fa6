/// Where media is: a file on this machine, or an HTTP(S) address.
///
/// Its description, which goes into logs, errors and the `source` attribute, carries no credentials: user, password, query
/// and fragment are left out.
public struct MediaSource: Hashable, Sendable {
    enum Location: Hashable {
        case file(path: String)
        case http(url: String)
        case unsupported(scheme: String)
    }

    let location: Location

    /// Creates a source from a path, a `file:` URL, or an `http:` or `https:` URL.
    public init(_ text: String) {
        guard let (scheme, rest) = Self.split(text) else {
            location = .file(path: text)
            return
        }
        switch scheme.lowercased() {
        case "http", "https": location = .http(url: text)
        case "file": location = .file(path: Self.path(ofFileURL: rest))
        default: location = .unsupported(scheme: scheme)
        }
    }

    /// The scheme and what follows `://`; nil for a path.
    private static func split(_ text: String) -> (scheme: String, rest: String)? {
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://"), colon != text.startIndex,
            text[..<colon].allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) })
        else { return nil }
        return (String(text[..<colon]), String(text[text.index(colon, offsetBy: 3)...]))
    }

    /// The path after the host, with `%xx` decoded.
    private static func path(ofFileURL rest: String) -> String {
        let path = rest.firstIndex(of: "/").map { rest[$0...] } ?? rest[...]
        var bytes: [UInt8] = []
        var left = Array(path.utf8)[...]
        while let byte = left.popFirst() {
            let digits = String(decoding: left.prefix(2), as: UTF8.self)
            if byte == UInt8(ascii: "%"), digits.utf8.count == 2, let decoded = UInt8(digits, radix: 16) {
                bytes.append(decoded)
                left = left.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether it is played by a playlist or a manifest, as the ending of its path says.
    var isStream: Bool {
        guard case .http = location else { return false }
        let path = description.lowercased()
        return [".m3u8", ".m3u", ".mpd"].contains { path.hasSuffix($0) }
    }

    /// The last part of the path, for people who gave no title.
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
        case .http(let url):
            guard let (scheme, rest) = Self.split(url) else { return "" }
            let address = rest.prefix { $0 != "?" && $0 != "#" }
            let authority = address.prefix { $0 != "/" }
            let host = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
            return scheme.lowercased() + "://" + host + address[authority.endIndex...]
        }
    }
}
