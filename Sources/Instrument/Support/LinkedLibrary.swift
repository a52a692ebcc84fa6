/// A library of the system that the process runs with. The target that owns a library describes it, at run time: a
/// newer library may be installed than the one that the program was built with.
package struct LinkedLibrary: Hashable, Sendable, CustomStringConvertible {
    /// The library's own name.
    package let name: String
    /// The version that runs.
    package let version: String
    /// What else matters to somebody who installs or redistributes the program: features, the licence.
    package let details: [String]

    package init(_ name: String, _ version: String, details: [String] = []) {
        (self.name, self.version, self.details) = (name, version, details)
    }

    /// For example `libcurl 8.14.1 (OpenSSL/3.5.1, HTTP/2)`.
    package var description: String {
        details.isEmpty ? "\(name) \(version)" : "\(name) \(version) (\(details.joined(separator: ", ")))"
    }
}
