internal import InstrumentHTTP

extension HTTPURL {
    /// The path that leads from this address to another one (RFC 3986, section 4.2); nil for another origin and for
    /// an address with a query, to which no path alone leads.
    func relativePath(to other: HTTPURL) -> String? {
        guard origin == other.origin, other.requestText == origin + other.path, other.path.hasPrefix("/")
        else { return nil }
        let from = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        let to = other.path.split(separator: "/", omittingEmptySubsequences: false)
        let common = zip(from, to.dropLast()).prefix { $0 == $1 }.count
        let steps = [Substring](repeating: "..", count: from.count - common) + to.dropFirst(common)
        let relative = steps.joined(separator: "/")
        // An empty path, and one that looks like a scheme or an absolute path, need a step that stays.
        let needsDot = relative.isEmpty || relative.hasPrefix("/") || (steps.first?.contains(":") ?? false)
        return needsDot ? "./" + relative : relative
    }
}
