public import Instrument
internal import InstrumentFiles
internal import InstrumentText

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Stored identifiers: of the installation, and of the first device of this installation.
///
/// Each identifier is a file in a directory (mode 0700, files 0600), written atomically. Processes that start at the
/// same time agree on one identifier through a lock (`flock`). Methods wait for the disk.
public struct InstallationIdentifiers: Sendable {
    private static let mostBytes = 4096

    private let directory: String
    private let randomness: RandomSource

    /// Creates a store in `directory`, which the first write creates.
    public init(directory: String, randomness: RandomSource = RandomSource()) {
        (self.directory, self.randomness) = (directory, randomness)
    }

    /// Creates a store for an app in the user's state directory (XDG Base Directory Specification):
    /// `$XDG_STATE_HOME`, if it is an absolute path, else `~/.local/state`; nil without a home directory.
    public init?(app: String, environment: [String: String], randomness: RandomSource = RandomSource()) {
        let name = String(app.map { $0 == "/" || $0 == "\0" ? "_" : $0 })
        guard !name.isEmpty, name != ".", name != "..", let state = Self.stateDirectory(environment) else { return nil }
        self.init(directory: state + "/" + name, randomness: randomness)
    }

    /// Returns the identifier of the installation: a random UUID.
    /// - Throws: ``SensorError`` if it can neither be read nor stored; use none then, because the next call would
    ///   give another.
    package func installation() throws(SensorError) -> String {
        try kept("installation-id", otherwise: randomness.identifier())
    }

    /// Returns the identifier of the first device of this installation; stores `present` if none is stored.
    /// - Throws: ``SensorError`` if it can neither be read nor stored.
    package func initialVendor(present: String) throws(SensorError) -> String {
        try kept("initial-vendor-id", otherwise: present)
    }

    private static func stateDirectory(_ environment: [String: String]) -> String? {
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return state }
        guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
        return home + "/.local/state"
    }

    private func kept(_ name: String, otherwise new: @autoclosure () -> String) throws(SensorError) -> String {
        let path = directory + "/" + name
        if let known = try read(path) { return known }
        try makeDirectory()
        let lock = open(directory + "/.lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw SensorError(FileError("write \(directory)/.lock", number: errno)) }
        // Closing releases the lock.
        defer { close(lock) }
        while flock(lock, LOCK_EX) != 0 {
            guard errno == EINTR else { throw SensorError(FileError("lock \(directory)/.lock", number: errno)) }
        }
        // Another process may have stored one. Replaces content that is no identifier.
        if let known = try read(path) { return known }
        let identifier = new()
        do throws(FileError) {
            // A crash may have left copies; the lock excludes other writers. In a folder that cannot be listed they
            // remain.
            try? SmallFile.removeLeftovers(of: path)
            try SmallFile.write(Array((identifier + "\n").utf8), to: path)
        } catch { throw SensorError(error) }
        return identifier
    }

    /// Returns the UUID in a file; nil for other content. A file that cannot be read may hold one, and is not replaced.
    private func read(_ path: String) throws(SensorError) -> String? {
        do throws(FileError) {
            let bytes = try SmallFile.read(path, atMost: Self.mostBytes, followsLinks: true) ?? []
            let text = String(decoding: bytes, as: UTF8.self).trimmingWhitespace
            return UUIDText.isValid(String(text)) ? String(text) : nil
        } catch {
            if error.isMissing || error.isTooLarge { return nil }
            throw SensorError(error)
        }
    }

    private func makeDirectory() throws(SensorError) {
        do throws(FileError) { try Folder.create(directory) } catch { throw SensorError(error) }
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
