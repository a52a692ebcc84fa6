/// The location of media for logs, errors and the `source` attribute: without user, password, query and fragment.
package enum SourceText {
    /// Schemes whose addresses are `host/path` (RFC 3986, section 3); of others nothing but the scheme is shown,
    /// because what follows may be anything, a stream's key or the media itself.
    private static let hosted: Set<String> = ["http", "https", "ftp", "ftps", "sftp", "smb"]

    /// The path, or the address without its secrets.
    package static func redacted(_ text: String) -> String {
        guard let (scheme, rest) = split(text) else {
            return text.lowercased().hasPrefix("data:") ? "data:…" : text
        }
        if scheme == "file" { return path(ofFileURL: rest) }
        guard hosted.contains(scheme) else { return scheme + "://…" }
        let address = rest.prefix { $0 != "?" && $0 != "#" }
        let authority = address.prefix { $0 != "/" }
        // By bytes: to find the last character of a text of flags, all before it have to be looked at, for each step.
        let at = authority.utf8.lastIndex(of: UInt8(ascii: "@"))
        let host = at.map { authority[authority.utf8.index(after: $0)...] } ?? authority
        return scheme + "://" + host + address[authority.endIndex...]
    }

    /// The `source` attribute: the address without its secrets, or the canonical path of a local file, so that one file
    /// has one name. A relative path counts from `directory`, or from that of this process. Asks the file system.
    package static func location(_ text: String, in directory: String? = nil) -> String {
        guard let (scheme, rest) = split(text) else {
            let isPath = text != "-" && !text.lowercased().hasPrefix("data:")
            return isPath ? LocalPath.canonical(text, in: directory) : redacted(text)
        }
        return scheme == "file" ? LocalPath.canonical(path(ofFileURL: rest)) : redacted(text)
    }

    /// The last part of the path, for media that has no title.
    package static func fileName(_ text: String) -> String {
        String(redacted(text).split(separator: "/").last ?? "")
    }

    /// The scheme in lower case and what follows `://`; nil for a path.
    package static func split(_ text: String) -> (scheme: String, rest: String)? {
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://"), colon != text.startIndex,
            text[..<colon].allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) })
        else { return nil }
        return (text[..<colon].lowercased(), String(text[text.index(colon, offsetBy: 3)...]))
    }

    /// The path after the host, with `%xx` decoded.
    package static func path(ofFileURL rest: String) -> String {
        decoded(rest.firstIndex(of: "/").map { rest[$0...] } ?? rest[...])
    }

    /// The text with `%xx` decoded.
    package static func decoded(_ text: Substring) -> String {
        String(decoding: PercentCoding.decoded(text), as: UTF8.self)
    }
}
