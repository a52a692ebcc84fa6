internal import InstrumentFiles

/// Keeps settings in a file that the user alone may read.
public struct SiftSettingsFile: SiftSettingsStore {
    /// Settings are small: a larger file holds something else.
    private static var maxSize: Int { 1 << 20 }

    /// The file's path; its directory has to exist.
    package let path: String

    /// Creates a store in the file at `path`, which need not exist yet. For one process at a time.
    public init(path: String) { self.path = path }

    /// The contents of the file; nil if it does not exist.
    public func load() throws(SiftSettingsError) -> [UInt8]? {
        do throws(FileError) {
            guard let bytes = try SmallFile.read(path, atMost: Self.maxSize, followsLinks: true) else { return nil }
            // A crash may have left copies, which are as personal as the settings. In a folder that cannot be listed
            // they stay.
            try? SmallFile.removeLeftovers(of: path)
            return bytes
        } catch {
            throw error.isTooLarge
                ? SiftSettingsError(
                    "\(path) is larger than \(Self.maxSize) bytes, so it holds no settings; give another path"
                )
                : failure(error)
        }
    }

    /// Writes a new file beside the old one and renames it into place.
    public func save(_ bytes: [UInt8]) throws(SiftSettingsError) {
        do throws(FileError) { try SmallFile.write(bytes, to: path) } catch { throw failure(error) }
    }

    private func failure(_ error: FileError) -> SiftSettingsError {
        SiftSettingsError("\(error); check the directory and its permissions")
    }
}
