/// An element of an XML document.
///
/// A wide element (a set with many representations, a timeline with many segments) finds its children by name without a
/// search, so that what each representation asks of its set costs the same however large the set is.
package struct MarkupElement: Hashable, Sendable {
    /// Up to this many children are searched one by one; more have a table.
    private static let mostWithoutTable = 8
    /// The largest number of bytes of a name.
    package static let longestName = 1_024

    /// The name without the prefix that the root has.
    package var name: String
    /// The attributes by their written names.
    package var attributes: [String: String]
    /// The child elements, in document order.
    package private(set) var children: [MarkupElement] = []
    /// The text directly in the element, CDATA sections included, with white space as written.
    package var text = ""
    /// Whether a part of the text was dropped because the text exceeds ``MarkupLimits/textBytes``.
    package var isTextIncomplete = false
    /// The line of the start tag, counted from 1.
    package var line: Int
    /// The positions of the children of each name; empty for an element with few children.
    private var positions: [String: [Int]] = [:]

    package init(name: String, attributes: [String: String], line: Int) {
        (self.name, self.attributes, self.line) = (name, attributes, line)
    }

    package mutating func append(_ child: MarkupElement) {
        children.append(child)
        if children.count == Self.mostWithoutTable + 1 {
            for (position, child) in children.enumerated() { positions[child.name, default: []].append(position) }
        } else if children.count > Self.mostWithoutTable {
            positions[child.name, default: []].append(children.count - 1)
        }
    }

    /// Inserts children in front of a place, which costs time in proportion to the number of children.
    package mutating func insert(_ new: [MarkupElement], at place: Int) {
        children.insert(contentsOf: new, at: min(max(place, 0), children.count))
        index()
    }

    /// Replaces a child, which costs time in proportion to the number of children; without `new`, removes it.
    package mutating func replaceChild(at place: Int, with new: [MarkupElement] = []) {
        guard children.indices.contains(place) else { return }
        children.replaceSubrange(place...place, with: new)
        index()
    }

    /// Changes the element at a path, whose parts are places among children; false if there is no such element. The
    /// change must not rename the element.
    package mutating func change<Failure>(
        at path: ArraySlice<Int>,
        _ body: (inout MarkupElement) throws(Failure) -> Void
    ) throws(Failure) -> Bool {
        guard let first = path.first else {
            try body(&self)
            return true
        }
        guard children.indices.contains(first) else { return false }
        return try children[first].change(at: path.dropFirst(), body)
    }

    private mutating func index() {
        positions = [:]
        guard children.count > Self.mostWithoutTable else { return }
        for (position, child) in children.enumerated() { positions[child.name, default: []].append(position) }
    }

    /// The children of that name, in document order.
    package func all(_ name: String) -> NamedElements {
        if children.count > Self.mostWithoutTable { return NamedElements(children, at: positions[name] ?? []) }
        return NamedElements(children, at: children.indices.filter { children[$0].name == name })
    }

    /// The first child of that name.
    package func first(_ name: String) -> MarkupElement? {
        if children.count > Self.mostWithoutTable { return positions[name]?.first.map { children[$0] } }
        return children.first { $0.name == name }
    }

    /// The same element, in which no element has a prefix, given with its colon.
    package func removingPrefix(_ prefix: some StringProtocol) -> MarkupElement {
        let isPrefixed = name.hasPrefix(prefix)
        let own = isPrefixed ? String(name.dropFirst(prefix.count)) : name
        var copy = MarkupElement(name: own, attributes: attributes, line: line)
        (copy.text, copy.isTextIncomplete) = (text, isTextIncomplete)
        for child in children { copy.append(child.removingPrefix(prefix)) }
        return copy
    }

    /// The value of an attribute; nil if the element does not have it.
    package subscript(attribute: String) -> String? { attributes[attribute] }
}

/// The children of an element that have one name. Making and indexing it takes no time that grows with their number.
package struct NamedElements: RandomAccessCollection, Sendable {
    private let elements: [MarkupElement]
    private let positions: [Int]

    package init(_ elements: [MarkupElement] = [], at positions: [Int] = []) {
        (self.elements, self.positions) = (elements, positions)
    }

    /// 0.
    package var startIndex: Int { 0 }
    /// The number of elements.
    package var endIndex: Int { positions.count }
    /// The element at a place.
    package subscript(place: Int) -> MarkupElement { elements[positions[place]] }
}
