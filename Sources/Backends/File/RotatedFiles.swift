#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// The files that were set aside: `samples.ndjson` becomes `samples.000001.ndjson`, then `samples.000002.ndjson` ….
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

    /// Sets the current file aside under a number that none before it has had while it stood.
    func setAside() throws(FileBackendError) {
        var number = (numbers.last ?? 0) + 1
        // A hard link fails where a rename would overwrite.
        while link(path, name(number)) != 0 {
            if errno != EEXIST { throw FileBackendError(errno: errno, path, "set it aside") }
            number += 1
        }
        if unlink(path) != 0 { throw FileBackendError(errno: errno, path, "set it aside") }
    }

    /// Deletes all but the latest `count`.
    func keep(_ count: Int) {
        for number in numbers.dropLast(max(0, count)) { unlink(name(number)) }
    }

    /// The paths of what was set aside, the oldest first.
    var paths: [String] { numbers.map(name) }

    private func name(_ number: Int) -> String {
        let digits = String(number)
        return directory + stem + "." + String(repeating: "0", count: max(0, 6 - digits.count)) + digits + ending
    }

    private var numbers: [Int] {
        guard let listing = opendir(directory.isEmpty ? "." : directory) else { return [] }
        defer { closedir(listing) }
        var numbers: [Int] = []
        while let entry = readdir(listing) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: pointer.pointee)) {
                    String(cString: $0)
                }
            }
            guard name.hasPrefix(stem + "."), name.hasSuffix(ending) else { continue }
            let digits = name.dropFirst(stem.count + 1).dropLast(ending.count)
            if digits.count >= 6, digits.allSatisfy(\.isNumber), let number = Int(digits) { numbers.append(number) }
        }
        return numbers.sorted()
    }
}
