internal import Instrument
internal import InstrumentText

extension HTTPURL {
    /// The address that `reference` means when it is met in a document at this one (RFC 3986 section 5.2), as in a
    /// `Location` header or a playlist. User and password go with it only inside the same origin.
    /// - Throws: ``HTTPError`` with the code `invalidURL`.
    public func resolving(_ reference: String) throws(HTTPError) -> HTTPURL {
        let reference = try Self.encoded(reference)
        if Self.hasScheme(reference) { return try HTTPURL(reference).withoutDots }
        if reference.hasPrefix("//") { return try HTTPURL((isSecure ? "https:" : "http:") + reference).withoutDots }
        let (address, fragment) = reference.split(at: "#")
        let (path, query) = address.split(at: "?")
        return with(
            path: path.isEmpty ? self.path : Self.withoutDots(merged(path)),
            query: path.isEmpty && query == nil ? self.query : query.map(String.init),
            fragment: fragment.map(String.init)
        )
    }

    /// The same address with one query parameter, written as `NAME=VALUE`, in place of all parameters of that name.
    /// - Throws: ``HTTPError`` with the code `invalidURL`.
    package func replacingParameter(_ name: String, with parameter: String) throws(HTTPError) -> HTTPURL {
        let others = (query ?? "").split(separator: "&").filter { $0 != name && !$0.hasPrefix(name + "=") }.map(
            String.init
        )
        let query = try Self.encoded((others + [parameter]).joined(separator: "&"))
        return with(path: path, query: query, fragment: fragment)
    }

    /// Whether a reference is an absolute address: it begins with a scheme (RFC 3986 section 3.1).
    package static func hasScheme(_ reference: String) -> Bool {
        let scheme = reference.utf8.prefix { $0.isLetter || $0.isDigit || "+-.".utf8.contains($0) }
        return scheme.first?.isLetter == true && reference.utf8.dropFirst(scheme.count).first == UInt8(ascii: ":")
    }

    func with(userInfo: String?) -> HTTPURL {
        var copy = self
        copy.userInfo = userInfo
        return copy
    }

    private func with(path: String, query: String?, fragment: String?) -> HTTPURL {
        var copy = self
        copy.path = path
        copy.end(query: query, fragment: fragment)
        return copy
    }

    private var withoutDots: HTTPURL { with(path: Self.withoutDots(path), query: query, fragment: fragment) }

    private func merged(_ reference: Substring) -> String {
        if reference.hasPrefix("/") { return String(reference) }
        return (path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? "/") + reference
    }

    /// The path without the parts `.` and `..`.
    private static func withoutDots(_ path: String) -> String {
        // Without a slash before a dot, there is no such part.
        var last: UInt8 = 0
        let mayHaveDots = path.utf8.contains { byte in
            defer { last = byte }
            return last == UInt8(ascii: "/") && byte == UInt8(ascii: ".")
        }
        guard mayHaveDots else { return path }
        var parts: [Substring] = []
        let all = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        for (index, part) in all.enumerated() {
            let isLast = index == all.count - 1
            switch part {
            case ".": if isLast { parts.append("") }
            case "..":
                _ = parts.popLast()
                if isLast { parts.append("") }
            default: parts.append(part)
            }
        }
        return "/" + parts.joined(separator: "/")
    }
}
