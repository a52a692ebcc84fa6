/// A version of VAST; an open set.
package struct VASTVersion: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The number before the point.
    package var major: Int
    /// The number behind the point.
    package var minor: Int

    /// VAST 2.0.
    package static let v20 = VASTVersion(major: 2, minor: 0)
    /// VAST 3.0.
    package static let v30 = VASTVersion(major: 3, minor: 0)
    /// VAST 4.0.
    package static let v40 = VASTVersion(major: 4, minor: 0)
    /// VAST 4.1.
    package static let v41 = VASTVersion(major: 4, minor: 1)
    /// VAST 4.2.
    package static let v42 = VASTVersion(major: 4, minor: 2)

    /// Creates a version.
    package init(major: Int, minor: Int) { (self.major, self.minor) = (major, minor) }

    /// Reads `4.2`, `2.0.1` or `3`; nil if the text has another form.
    init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard 1...3 ~= parts.count else { return nil }
        let numbers = parts.compactMap { $0.utf8.count <= 4 && $0.utf8.allSatisfy { 48...57 ~= $0 } ? Int($0) : nil }
        guard numbers.count == parts.count, let major = numbers.first else { return nil }
        self.init(major: major, minor: numbers.count > 1 ? numbers[1] : 0)
    }

    /// Whether this decoder supports the version: 2.0 to 4.x.
    var isSupported: Bool { 2...4 ~= major }

    /// The versions that the IAB has published. VAST 4.3 is an addendum of macros to 4.2.
    private static let published: Set<VASTVersion> = [v20, v30, v40, v41, v42, VASTVersion(major: 4, minor: 3)]

    /// Whether the IAB has published the version. Any other supported version is read as the latest one before it.
    var isPublished: Bool { Self.published.contains(self) }

    /// `4.2`
    package var description: String { "\(major).\(minor)" }
    /// Orders versions by their numbers.
    package static func < (left: VASTVersion, right: VASTVersion) -> Bool {
        (left.major, left.minor) < (right.major, right.minor)
    }
}
