public import Instrument
internal import InstrumentFiles

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Identifiers that are made once and kept: which installation this is, and which device it first saw.
///
/// Each identifier is a file in a directory (mode 0700, files 0600) and is written as a whole or not at all. Of processes that
/// start for the first time at the same moment, one makes the identifier and all read the same: they take turns by a lock
/// (`flock`). Methods wait for the disk.
public struct InstallationIdentifiers: Sendable {
    private let directory: String
    private let randomness: RandomSource

    /// Creates a store in `directory`, which is made when something is first written.
    public init(directory: String, randomness: RandomSource = RandomSource()) {
        (self.directory, self.randomness) = (directory, randomness)
    }

    /// Creates a store for an app where the user's state belongs (XDG Base Directory Specification): `$XDG_STATE_HOME`, if it
    /// is an absolute path, else `~/.local/state`; nil if there is no home.
    public init?(app: String, environment: [String: String], randomness: RandomSource = RandomSource()) {
        let name = String(app.map { $0 == "/" || $0 == "\0" ? "_" : $0 })
        guard !name.isEmpty, name != ".", name != "..", let state = Self.stateDirectory(environment) else { return nil }
        self.init(directory: state + "/" + name, randomness: randomness)
    }

    /// Which installation this is: a random UUID.
    /// - Throws: ``SensorError`` if it can neither be read nor kept; do without one then, because another would come next time.
    public func installation() throws(SensorError) -> String {
        try kept("installation-id", otherwise: randomness.identifier())
    }

    /// The identifier of the device that this installation saw first; `present` is kept if none was.
    /// - Throws: ``SensorError`` if it can neither be read nor kept.
    public func initialVendor(present: String) throws(SensorError) -> String {
        try kept("initial-vendor-id", otherwise: present)
    }

    private static func stateDirectory(_ environment: [String: String]) -> String? {
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return state }
        guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
        return home + "/.local/state"
    }

    private func kept(_ name: String, otherwise new: @autoclosure () -> String) throws(SensorError) -> String {
        let path = directory + "/" + name
        if let known = read(path) { return known }
        try makeDirectory()
        let lock = open(directory + "/.lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw SensorError(FileError("write \(directory)/.lock", number: errno)) }
        // Closing lets go of the lock.
        defer { close(lock) }
        while flock(lock, LOCK_EX) != 0 {
            guard errno == EINTR else { throw SensorError(FileError("lock \(directory)/.lock", number: errno)) }
        }
        // Somebody may have been quicker. What is there and is no identifier is replaced.
        if let known = read(path) { return known }
        let identifier = new()
        do throws(FileError) {
            // A crash may have left copies; the lock keeps other writers out. In a folder that cannot be listed they stay.
            try? SmallFile.removeLeftovers(of: path)
            try SmallFile.write(Array((identifier + "\n").utf8), to: path)
        } catch { throw SensorError(error) }
        return identifier
    }

    /// A UUID in a file; nil for anything else.
    private func read(_ path: String) -> String? {
        guard case .text(let text) = FileTree(root: "").text(path), UUIDText.isValid(text) else { return nil }
        return text
    }

    private func makeDirectory() throws(SensorError) {
        var path = ""
        for part in directory.split(separator: "/", omittingEmptySubsequences: true) {
            path += (path.isEmpty && !directory.hasPrefix("/") ? "" : "/") + part
            if mkdir(path, 0o700) != 0, errno != EEXIST, errno != EISDIR, errno != EROFS {
                throw SensorError(FileError("make \(path)", number: errno))
            }
        }
    }
}

extension UUIDText {
    /// Whether it has the form of a UUID (RFC 9562, section 4).
    static func isValid(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count == 36 else { return false }
        return bytes.enumerated().allSatisfy { index, byte in
            if [8, 13, 18, 23].contains(index) { return byte == UInt8(ascii: "-") }
            return byte.isHexDigit
        }
    }
}
