internal import InstrumentFiles
internal import InstrumentText

/// The names of the store's folders and files.
///
/// The store neither opens nor deletes files and folders with other names.
enum FolderNames {
    static var lock: String { "lock" }
    static var held: String { "held" }
    static var spare: String { "spare" }
    static var staging: String { "staging" }
    /// The mark of a folder with a segment from another folder. The store appends nothing to it.
    static var moved: String { "moved" }
    static var bookkeeping: String { "bookkeeping.sqlite" }
    private static var folderEnding: String { ".queue" }
    private static var segmentEnding: String { ".segment" }
    private static var setAsideEnding: String { ".damaged" }
    /// The limit of sequence numbers. Sums of numbers below it do not overflow.
    static var maxNumber: UInt64 { 1 << 56 }

    /// The folder's number; nil for any other name.
    static func folderNumber(_ name: String) -> UInt64? { number(name, before: folderEnding, digits: 8) }

    static func folder(_ number: UInt64) -> String { number.padded(8, radix: 16) + folderEnding }

    /// The sequence number of a segment's first sample; nil for any other name.
    static func segmentNumber(_ name: String) -> UInt64? { number(name, before: segmentEnding, digits: 16) }

    static func segment(_ first: UInt64) -> String { first.padded(16, radix: 16) + segmentEnding }

    /// Whether a name belongs to a file of the store.
    static func isFile(_ name: String) -> Bool { rank(name) != nil }

    /// Whether a name belongs to a replacement of a file of the store. A crash may leave such a file.
    static func isReplacement(_ name: String) -> Bool { SmallFile.replaced(by: name) != nil && isFile(name) }

    static func isSetAside(_ name: String) -> Bool { stem(name) != name && isFile(name) }

    /// The store's files among names, in the order of their deletion. The bookkeeping comes after the samples, because
    /// it records that the samples are no longer needed.
    static func inOrderOfDeletion(_ names: [String]) -> [String] {
        names.compactMap { name in rank(name).map { ($0, name) } }.sorted { $0 < $1 }.map(\.1)
    }

    private static func rank(_ name: String) -> Int? {
        let name = stem(name)
        if name == lock { return 3 }
        if ["", "-wal", "-shm", "-journal"].contains(where: { name == bookkeeping + $0 }) { return 2 }
        if [held, staging, moved].contains(name) { return 1 }
        return name == spare || segmentNumber(name) != nil ? 0 : nil
    }

    /// The name without the mark of a replacement or of a damaged file.
    private static func stem(_ name: String) -> String {
        if let replaced = SmallFile.replaced(by: name) { return replaced }
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        let isNumbered = parts.count > 1 && !(parts.last ?? "").isEmpty && (parts.last ?? "").allSatisfy(\.isNumber)
        let marked = isNumbered ? parts.dropLast().joined(separator: "-") : name
        return marked.hasSuffix(setAsideEnding) ? String(marked.dropLast(setAsideEnding.count)) : name
    }

    private static func number(_ name: String, before ending: String, digits: Int) -> UInt64? {
        guard name.hasSuffix(ending) else { return nil }
        let stem = name.utf8.dropLast(ending.utf8.count)
        // Exactly the form that the store writes, so that no two names have the same number.
        guard stem.count == digits || digits < stem.count && stem.count <= 16 && stem.first != UInt8(ascii: "0"),
            stem.allSatisfy({ 0x30...0x39 ~= $0 || 0x61...0x66 ~= $0 }),
            let number = UInt64(String(decoding: stem, as: UTF8.self), radix: 16), number < maxNumber
        else { return nil }
        return number
    }
}
