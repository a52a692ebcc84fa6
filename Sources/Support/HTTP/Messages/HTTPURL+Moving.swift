extension HTTPURL {
    /// The address of the same resource on another server: what follows the directory of `base` is put after the
    /// directory of `other`. `base` itself becomes `other`.
    ///
    /// - Returns: nil if the address does not begin with the directory of `base`.
    package func moved(from base: HTTPURL, to other: HTTPURL) -> HTTPURL? {
        if requestText == base.requestText { return other }
        let directory = base.path.prefixThroughLastSlash
        guard origin == base.origin, path.hasPrefix(directory) else { return nil }
        return HTTPURL(
            isSecure: other.isSecure,
            userInfo: other.userInfo,
            host: other.host,
            port: other.port,
            path: other.path.prefixThroughLastSlash + String(path.dropFirst(directory.count)),
            query: query,
            fragment: fragment
        )
    }

    /// The same address at another host, with the usual port unless `host` has one; nil if `host` is not a host.
    package func moved(toHost host: String) -> HTTPURL? {
        let scheme = isSecure ? "https://" : "http://"
        guard let origin = try? HTTPURL(scheme + host + "/"), origin.path == "/", origin.userInfo == nil,
            origin.query == nil, origin.fragment == nil
        else { return nil }
        return HTTPURL(
            isSecure: isSecure,
            userInfo: nil,
            host: origin.host,
            port: origin.port,
            path: path,
            query: query,
            fragment: fragment
        )
    }
}

extension String {
    fileprivate var prefixThroughLastSlash: String { lastIndex(of: "/").map { String(self[...$0]) } ?? "/" }
}
