/// A secret that an option or a configuration names and does not contain.
package enum SecretReference: Hashable, Sendable {
    /// An environment variable.
    case environment(String)
    /// A file.
    case file(String)

    private static let filePrefix = "file:"

    /// The reference that an argument has: `file:PATH`, or the name of an environment variable.
    package init(argument: some StringProtocol) {
        self =
            argument.hasPrefix(Self.filePrefix)
            ? .file(String(argument.dropFirst(Self.filePrefix.count))) : .environment(String(argument))
    }
}
