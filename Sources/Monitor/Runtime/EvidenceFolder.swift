internal import Instrument
internal import InstrumentFiles
internal import InstrumentJSON
package import InstrumentMonitor

/// Keeps evidence in a folder for the next process: a file for each piece, whose first line says what it is.
///
/// On a disk that takes no more, the newest pieces stay in memory. Each problem is reported once, until a file can be
/// written again.
package final class EvidenceFolder: EvidenceStore {
    private static let ending = ".evidence"
    /// The bytes of the first line of a file.
    private static let mostHeadBytes = 8_192
    /// The bytes of pieces that could not be written.
    private static let mostMemory = 8 << 20

    private let path: String
    private let warn: @Sendable (String) -> Void
    private let unwritten = EvidenceMemory(mostBytes: mostMemory)
    private let hasProblem = Lock(false)

    /// - Parameter warn: reports what a person should know.
    package init(_ path: String, warn: @escaping @Sendable (String) -> Void) { (self.path, self.warn) = (path, warn) }

    /// The pieces that are there. Other files are left alone, and so are pieces that cannot be read now; damaged pieces
    /// are counted in a warning and deleted.
    package func entries() -> [EvidenceEntry] {
        let names: [String]
        do throws(FileError) {
            try Folder.create(path)
            names = try Folder.names(in: path)
        } catch {
            warn("\(error); evidence of earlier faults is not shown")
            return []
        }
        var (entries, damages, failures) = ([EvidenceEntry](), 0, [FileError]())
        for name in names {
            do throws(FileError) {
                if let replaced = SmallFile.replaced(by: name), id(of: replaced) != nil {
                    try SmallFile.remove(path + "/" + name)
                }
                guard let id = id(of: name), let head = try SmallFile.prefix(of: file(id), count: Self.mostHeadBytes)
                else { continue }
                if let entry = Self.parts(of: head)?.entry, entry.id == id {
                    entries.append(entry)
                } else {
                    try SmallFile.remove(file(id))
                    damages += 1
                }
            } catch {
                failures.append(error)
            }
        }
        if damages > 0 {
            let files = damages == 1 ? "1 file" : "\(damages) files"
            warn("\(path): \(files) of evidence cannot be read, and are deleted; the monitor continues without them")
        }
        if let first = failures.first {
            let more = failures.count > 1 ? ", and \(failures.count - 1) more" : ""
            warn("\(first)\(more); these files of evidence are left as they are, and not shown")
        }
        return entries
    }

    package func keep(_ entry: EvidenceEntry, _ bytes: [UInt8]) {
        var head = entry.json
        if case .object(var members) = head {
            members["checksum"] = .string(Self.checksum(bytes))
            head = .object(members)
        }
        do throws(FileError) {
            try SmallFile.write(head.bytes + [UInt8(ascii: "\n")] + bytes, to: file(entry.id))
            hasProblem.withLock { $0 = false }
        } catch {
            unwritten.keep(entry, bytes)
            reportOnce("\(error); new evidence is kept in memory, and lost at the end of the process")
        }
    }

    package func read(_ id: String) -> [UInt8]? {
        if let bytes = unwritten.read(id) { return bytes }
        do throws(FileError) {
            let limit = Self.mostHeadBytes + EvidenceEntry.mostBytes
            guard let file = try SmallFile.read(file(id), atMost: limit), let parts = Self.parts(of: file) else {
                return nil
            }
            let bytes = Array(file[parts.start...])
            guard bytes.count == parts.entry.byteCount, Self.checksum(bytes) == parts.checksum else {
                warn("\(self.file(id)) is damaged; this piece of evidence cannot be shown")
                return nil
            }
            return bytes
        } catch {
            warn("\(error); this piece of evidence cannot be shown")
            return nil
        }
    }

    package func remove(_ id: String) {
        unwritten.remove(id)
        do throws(FileError) { try SmallFile.remove(file(id)) } catch {
            reportOnce("\(error); delete the file yourself")
        }
    }

    private func file(_ id: String) -> String { path + "/" + id + Self.ending }

    /// The identifier that a file's name has; nil for another file.
    private func id(of name: String) -> String? {
        guard name.hasSuffix(Self.ending) else { return nil }
        let id = String(name.dropLast(Self.ending.count))
        return EvidenceEntry.isIdentifier(id) ? id : nil
    }

    private func reportOnce(_ problem: String) {
        let isNew = hasProblem.withLock { known in
            defer { known = true }
            return !known
        }
        if isNew { warn(problem) }
    }

    private static func checksum(_ bytes: [UInt8]) -> String { String(FNV1a.hash64(bytes), radix: 16) }

    /// What a file's first line says, and where the bytes begin; nil for another form.
    private static func parts(of file: [UInt8]) -> (entry: EvidenceEntry, checksum: String, start: Int)? {
        guard let end = file.prefix(mostHeadBytes).firstIndex(of: UInt8(ascii: "\n")),
            let json = try? JSONValue(parsing: Array(file[..<end])), let entry = EvidenceEntry(json),
            let checksum = json["checksum"]?.string
        else { return nil }
        return (entry, checksum, end + 1)
    }
}
