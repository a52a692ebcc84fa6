internal import Instrument

/// An element of an MPD.
///
/// A wide element (a set with many representations, a timeline with many segments) finds its children by name without a
/// search, so that what each representation asks of its set costs the same however large the set is.
struct ManifestElement: Hashable, Sendable {
    /// Up to this many children are searched one by one; more have a table.
    private static let mostWithoutTable = 8

    /// The name without the prefix that the root has.
    var name: String
    var attributes: [String: String]
    private(set) var children: [ManifestElement] = []
    var text = ""
    var line: Int
    /// The positions of the children of each name; empty for an element with few children.
    private var positions: [String: [Int]] = [:]

    init(name: String, attributes: [String: String], line: Int) {
        (self.name, self.attributes, self.line) = (name, attributes, line)
    }

    mutating func append(_ child: ManifestElement) {
        children.append(child)
        if children.count == Self.mostWithoutTable + 1 {
            for (position, child) in children.enumerated() { positions[child.name, default: []].append(position) }
        } else if children.count > Self.mostWithoutTable {
            positions[child.name, default: []].append(children.count - 1)
        }
    }

    /// The children of that name, in their order.
    func all(_ name: String) -> NamedElements {
        if children.count > Self.mostWithoutTable { return NamedElements(children, at: positions[name] ?? []) }
        return NamedElements(children, at: children.indices.filter { children[$0].name == name })
    }

    /// The first child of that name.
    func first(_ name: String) -> ManifestElement? {
        if children.count > Self.mostWithoutTable { return positions[name]?.first.map { children[$0] } }
        return children.first { $0.name == name }
    }

    subscript(attribute: String) -> String? { attributes[attribute] }
}

/// The children of an element that have one name. Making and indexing it takes no time that grows with their number.
struct NamedElements: RandomAccessCollection, Sendable {
    private let elements: [ManifestElement]
    private let positions: [Int]

    init(_ elements: [ManifestElement] = [], at positions: [Int] = []) {
        (self.elements, self.positions) = (elements, positions)
    }

    var startIndex: Int { 0 }
    var endIndex: Int { positions.count }
    subscript(place: Int) -> ManifestElement { elements[positions[place]] }
}

extension ManifestElement {
    /// No keyword, number or date of an MPD is longer, in bytes. A longer one counts as absent, so that an attribute
    /// that thousands of representations inherit does not cost each of them its whole length.
    static let longestWord = 1_024

    /// An attribute that is a keyword, a list of keywords or a number, and no address.
    func word(_ attribute: String) -> String? {
        attributes[attribute].flatMap { $0.utf8.count <= Self.longestWord ? $0 : nil }
    }

    func integer(_ attribute: String) -> Int64? { word(attribute).flatMap { DecimalText.integer($0) } }
    func duration(_ attribute: String) -> Int64? { word(attribute).flatMap { CalendarText.nanoseconds(duration: $0) } }

    /// `FIRST-LAST`, both in.
    func byteRange(_ attribute: String) -> ByteRange? {
        let parts = (word(attribute) ?? "").split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let first = DecimalText.integer(parts[0]) else { return nil }
        if parts[1].isEmpty { return ByteRange(offset: first, length: nil) }
        guard let last = DecimalText.integer(parts[1]), last >= first else { return nil }
        return ByteRange(offset: first, length: last.saturatingSubtract(first).saturatingAdd(1))
    }
}
