package import Instrument
internal import InstrumentText

/// The cookies of one client, kept as a browser keeps them (RFC 6265): in memory, for the hosts, paths and times that
/// each cookie names.
///
/// A jar belongs to the requests that hold it. Two jars are equal if they are the same jar.
package final class CookieJar: Sendable {
    private static let mostCookies = 300
    private static let mostBytes = 4096

    private struct Cookie {
        var name: String
        var value: String
        var domain: String
        var path: String
        /// Whether the cookie is for this host alone, and not for those below it.
        var isOfHost: Bool
        var isSecure: Bool
        /// The end of the cookie's life; nil for the life of the jar.
        var expires: WallTime?

        func isSame(as other: Cookie) -> Bool {
            name == other.name && domain == other.domain && path == other.path
        }

        func applies(to url: HTTPURL, at now: WallTime) -> Bool {
            (expires.map { $0 > now } ?? true) && (!isSecure || url.isSecure)
                && (url.host == domain || !isOfHost && CookieJar.isBelow(url.host, domain))
                && CookieJar.isInside(url.path, path)
        }
    }

    private let cookies = Lock([Cookie]())

    /// Creates an empty jar.
    package init() {}

    /// The value of the header `Cookie` for an address; nil without cookies. The longest paths come first.
    package func header(for url: HTTPURL, at now: WallTime) -> String? {
        let found = cookies.withLock { cookies in
            cookies.removeAll { $0.expires.map { $0 <= now } ?? false }
            return cookies.filter { $0.applies(to: url, at: now) }
        }
        guard !found.isEmpty else { return nil }
        let ordered = found.enumerated().sorted { first, second in
            let (one, other) = (first.element.path.utf8.count, second.element.path.utf8.count)
            return one == other ? first.offset < second.offset : one > other
        }
        return ordered.map { "\($0.element.name)=\($0.element.value)" }.joined(separator: "; ")
    }

    /// Keeps the cookies that a response sets, and removes those that it ends.
    package func take(_ response: HTTPResponse, at now: WallTime) {
        for line in response.headers.values(of: "Set-Cookie") {
            guard line.utf8.count <= Self.mostBytes, let cookie = Self.cookie(line, response.url, now) else { continue }
            cookies.withLock { cookies in
                let place = cookies.firstIndex { $0.isSame(as: cookie) }
                let hasEnded = cookie.expires.map { $0 <= now } ?? false
                switch (place, hasEnded) {
                case (let place?, true): cookies.remove(at: place)
                case (let place?, false): cookies[place] = cookie
                case (nil, true): break
                case (nil, false):
                    if cookies.count >= Self.mostCookies { cookies.removeFirst() }
                    cookies.append(cookie)
                }
            }
        }
    }

    /// RFC 6265 sections 5.2 and 5.3.
    private static func cookie(_ line: String, _ url: HTTPURL, _ now: WallTime) -> Cookie? {
        var parts = line.split(separator: ";", omittingEmptySubsequences: false)[...]
        guard let pair = parts.popFirst(), let equals = pair.firstIndex(of: "=") else { return nil }
        let name = String(pair[..<equals].trimmingSpaces)
        guard !name.isEmpty else { return nil }
        var cookie = Cookie(
            name: name,
            value: String(pair[pair.index(after: equals)...].trimmingSpaces),
            domain: url.host,
            path: directory(of: url.path),
            isOfHost: true,
            isSecure: false
        )
        var lifetime: Int64?
        for part in parts {
            let (key, text) = part.split(at: "=")
            let value = (text ?? "").trimmingSpaces
            switch key.trimmingSpaces.lowercased() {
            case "secure": cookie.isSecure = true
            case "path": if value.hasPrefix("/") { cookie.path = String(value) }
            case "max-age": lifetime = Int64(value)
            case "expires":
                let date = String(value).split(separator: "-").joined(separator: " ")
                cookie.expires = HTTPDate.parse(date, now: now) ?? cookie.expires
            case "domain":
                let domain = value.drop { $0 == "." }.lowercased()
                if domain.isEmpty || domain == url.host && url.isAddress { continue }
                // A name without a dot is that of a whole domain of the first level.
                guard domain == url.host || domain.contains(".") && isBelow(url.host, domain) else { return nil }
                (cookie.domain, cookie.isOfHost) = (domain, false)
            default: break
            }
        }
        if let lifetime {
            cookie.expires = WallTime(milliseconds: now.milliseconds + min(max(lifetime, -1), 400 * 86_400) * 1000)
        }
        return cookie
    }

    private static func isBelow(_ host: String, _ domain: String) -> Bool {
        host.hasSuffix("." + domain) && !host.utf8.allSatisfy { $0.isDigit || $0 == UInt8(ascii: ".") }
    }

    private static func isInside(_ path: String, _ folder: String) -> Bool {
        path == folder || path.hasPrefix(folder.hasSuffix("/") ? folder : folder + "/")
    }

    /// The default path (section 5.1.4).
    private static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }
}

extension CookieJar: Hashable {
    package static func == (first: CookieJar, second: CookieJar) -> Bool { first === second }
    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension HTTPRequest {
    /// Adds the cookies of the request's jar, behind those that the request has.
    mutating func addCookies(at now: WallTime) {
        guard let known = cookies?.header(for: url, at: now) else { return }
        let own = headers.values(of: "Cookie")
        headers.remove("Cookie")
        headers.append("Cookie", (own + [known]).joined(separator: "; "), isSecret: true)
    }
}
