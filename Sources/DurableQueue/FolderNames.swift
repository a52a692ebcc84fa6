internal import InstrumentFiles
internal import InstrumentText

/// The names that the store gives to its folders and files.
///
/// Everything else in a directory belongs to somebody else: the store neither opens nor deletes it.
enum FolderNames {
    static var lock: String { "lock" }
    static var held: String { "held" }
    static var spare: String { "spare" }
    static var staging: String { "staging" }
    /// Marks a folder whose segment was moved out of another one: nothing is appended to it.
    static var moved: String { "moved" }
    static var bookkeeping: String { "bookkeeping.sqlite" }
    private static var folderEnding: String { ".queue" }
    private static var segmentEnding: String { ".segment" }
    private static var setAsideEnding: String { ".damaged" }
    /// Sums of numbers below it cannot overflow.
    static var maxNumber: UInt64 { 1 << 56 }

    /// The folder's number; nil if the name is none that the store gives.
    static func folderNumber(_ name: String) -> UInt64? { number(name, before: folderEnding, digits: 8) }

    static func folder(_ number: UInt64) -> String { number.padded(8, radix: 16) + folderEnding }

    /// The number of a segment's first sample; nil if the name is none that the store gives.
    static func segmentNumber(_ name: String) -> UInt64? { number(name, before: segmentEnding, digits: 16) }

    static func segment(_ first: UInt64) -> String { first.padded(16, radix: 16) + segmentEnding }

    /// Whether a file in a folder is one of the store's, by its name.
    static func isFile(_ name: String) -> Bool { rank(name) != nil }

    /// Whether a file in a folder was about to replace one of the store's; a crash may leave such a file.
    static func isReplacement(_ name: String) -> Bool { SmallFile.replaced(by: name) != nil && isFile(name) }

    static func isSetAside(_ name: String) -> Bool { stem(name) != name && isFile(name) }

    /// The store's files among names, in the order in which they are deleted: the bookkeeping says that the samples are not
    /// needed any more, so that it goes after them.
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

    /// The name without what marks it as a replacement or as set aside.
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
        // As the store writes it, so that no two names have one number.
        guard stem.count == digits || digits < stem.count && stem.count <= 16 && stem.first != UInt8(ascii: "0"),
            stem.allSatisfy({ 0x30...0x39 ~= $0 || 0x61...0x66 ~= $0 }),
            let number = UInt64(String(decoding: stem, as: UTF8.self), radix: 16), number < maxNumber
        else { return nil }
        return number
    }
}
