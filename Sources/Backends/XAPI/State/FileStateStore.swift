internal import Instrument
internal import InstrumentFiles

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Keeps memories in a directory, a file each, which the user alone may read. For one process at a time.
public struct FileStateStore: XAPIStateStore {
    /// Memories are small: a larger file holds something else.
    private static var maxSize: Int { 8 << 20 }
    private static var ending: String { ".xapi-state" }

    /// The directory; made when something is saved for the first time.
    package let root: String

    /// Creates a store in the directory `root`, whose parent has to exist.
    public init(root: String) { self.root = root }

    /// The contents of the key's file; nil if it does not exist.
    public func load(_ key: String) throws(XAPIStateError) -> [UInt8]? {
        let path = try path(of: key)
        do throws(FileError) {
            return try SmallFile.read(path, atMost: Self.maxSize)
        } catch {
            throw error.isTooLarge
                ? XAPIStateError("a state in \(root) is larger than \(Self.maxSize) bytes; give another directory")
                : failure(error)
        }
    }

    /// Writes a new file beside the old one, and renames it into place once it is on the disk.
    public func save(_ bytes: [UInt8], under key: String) throws(XAPIStateError) {
        let path = try path(of: key)
        if mkdir(root, 0o700) != 0, errno != EEXIST { throw failure(FileError("make \(root)", number: errno)) }
        // The queue relies on the new name once this returns, also after a loss of power.
        do throws(FileError) { try SmallFile.write(bytes, to: path) } catch { throw failure(error) }
    }

    /// Deletes the key's file.
    public func remove(_ key: String) throws(XAPIStateError) { try delete(try path(of: key)) }

    /// Deletes the files of memories and what crashes left of them, and nothing else.
    public func removeAll() throws(XAPIStateError) {
        let names: [String]
        do throws(FileError) {
            names = try Folder.names(in: root)
        } catch {
            if error.number == ENOENT { return }
            throw failure(error)
        }
        for name in names where (SmallFile.replaced(by: name) ?? name).hasSuffix(Self.ending) {
            try delete(root + "/" + name)
        }
    }

    private func delete(_ path: String) throws(XAPIStateError) {
        if unlink(path) != 0, errno != ENOENT { throw failure(FileError("delete \(path)", number: errno)) }
    }

    private func path(of key: String) throws(XAPIStateError) -> String {
        let isName = !key.isEmpty && key.utf8.allSatisfy { $0.isDigit || $0.isLetter }
        guard isName else { throw XAPIStateError("the key of a state is made of letters and digits") }
        return root + "/" + key + Self.ending
    }

    private func failure(_ error: FileError) -> XAPIStateError {
        XAPIStateError("\(error); check the permissions of \(root), and whether the disk is full")
    }
}
