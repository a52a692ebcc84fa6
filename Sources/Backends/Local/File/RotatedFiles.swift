internal import InstrumentFiles
internal import InstrumentText

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// The rotated files: `samples.ndjson` becomes `samples.000001.ndjson`, then `samples.000002.ndjson` ….
struct RotatedFiles {
    private let path: String
    private let directory: String
    private let stem: String
    private let ending: String

    init(of path: String) {
        self.path = path
        let slash = path.lastIndex(of: "/")
        directory = slash.map { String(path[...$0]) } ?? ""
        let name = slash.map { path[path.index(after: $0)...] } ?? path[...]
        // A dot at the beginning is part of the name.
        let dot = name.dropFirst().firstIndex(of: ".") ?? name.endIndex
        stem = String(name[..<dot])
        ending = String(name[dot...])
    }

    /// Renames the current file to an unused number that is higher than all existing ones.
    func setAside() throws(FileBackendError) {
        let target = try reserve()
        // Replaces the empty file that reserves the name; a plain rename could overwrite another file.
        if rename(path, target) != 0 {
            let error = FileBackendError(errno: errno, path, "set it aside")
            unlink(target)
            throw error
        }
    }

    /// Creates an empty file under the next number. Not a hard link, because some file systems do not support them.
    private func reserve() throws(FileBackendError) -> String {
        var number = (numbers.last ?? 0) + 1
        while true {
            let descriptor = open(name(number), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            if descriptor >= 0 {
                close(descriptor)
                return name(number)
            }
            if errno != EEXIST { throw FileBackendError(errno: errno, path, "set it aside") }
            number += 1
        }
    }

    /// Deletes all but the latest `count`.
    func keep(_ count: Int) {
        for number in numbers.dropLast(max(0, count)) { unlink(name(number)) }
    }

    /// The paths of the rotated files, the oldest first.
    var paths: [String] { numbers.map(name) }

    private func name(_ number: Int) -> String {
        directory + stem + "." + number.padded(6) + ending
    }

    private var numbers: [Int] {
        let names = (try? Folder.names(in: directory.isEmpty ? "." : directory)) ?? []
        return names.compactMap(number).sorted()
    }

    /// The number in the name of a rotated file, of at most 18 digits, so that the next number does not overflow.
    private func number(in entryName: String) -> Int? {
        let digits = entryName.dropFirst(stem.count + 1).dropLast(ending.count)
        guard (6...18).contains(digits.count), let number = Int(digits), number >= 0 else { return nil }
        return name(number) == directory + entryName ? number : nil
    }
}

extension FileBackend {
    /// The rotated files of a file, the oldest first. A symbolic link is followed.
    package static func rotatedPaths(of path: String) -> [String] { RotatedFiles(of: SampleFile.resolve(path)).paths }
}
