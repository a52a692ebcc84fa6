/// Named values, each name once, in the order in which they were first set.
///
/// A flat array with a small table of positions beside it, in one allocation: setting, reading and merging cost a few
/// instructions an attribute and hash nothing. Copies share it until one is changed. Equality does not depend on the
/// order.
///
/// NaN and infinity are kept out: setting one removes the attribute and remembers its name, so that the chain can say
/// what was left out.
public struct Attributes: @unchecked Sendable {
    // Sendable, because a storage is changed only while one `Attributes` alone refers to it (`uniqueHeader`,
    // `beginRow`), and what several refer to is only read; elements are Sendable.
    /// One attribute.
    public struct Element: Hashable, Sendable {
        // In this order, the name fills the gap behind the value, and an attribute takes 24 bytes instead of 32.
        /// Its value.
        public var value: AttributeValue
        /// Its name.
        public let name: AttributeName

        /// Creates an attribute.
        public init(name: AttributeName, value: AttributeValue) {
            self.value = value
            self.name = name
        }
    }

    /// About how many attributes the chain adds to an event. Attributes that are made for an event have this room, so
    /// that the chain moves none of them.
    private static var eventRoom: Int { 24 }

    private var storage: AttributeStorage?
    /// The storage's header, for access without reference counting. Valid as long as `storage`.
    private var header: UnsafeMutablePointer<AttributeStorage.Header>?

    /// Creates an empty set of attributes.
    public init() {}

    /// Creates an empty set of attributes with room for at least `capacity` of them. For the attributes of an event: it
    /// has room for those that the chain adds, too.
    public init(minimumCapacity capacity: Int) {
        if capacity > 0 { _ = makeStorage(capacity: capacity + Self.eventRoom) }
    }

    /// Creates an empty set of attributes with room for `capacity` of them, for attributes to which nobody adds others.
    package init(exactCapacity capacity: Int) {
        if capacity > 0 { _ = makeStorage(capacity: capacity) }
    }

    /// Creates attributes of names that all differ, without looking for each among the others. A value that is not
    /// finite is left out and its name remembered, as when it is set.
    package init(distinct elements: [(name: AttributeName, value: AttributeValue)]) {
        self.init(exactCapacity: elements.count)
        for (name, value) in elements {
            if value.isFinite {
                uniqueHeader(forAdding: 1).pointee.append(name, value)
            } else {
                uniqueHeader(forAdding: 0).pointee.refused.append(name)
            }
        }
    }

    /// The memory of attributes that a reader of recordings fills in place: `count` elements that were there before are
    /// initialized, and can be replaced in their order.
    package struct Row {
        package let elements: UnsafeMutablePointer<Element>
        package let count: Int
        package let room: Int
    }

    /// Begins to fill these attributes in place. Their memory and their elements stay; if somebody else refers to them,
    /// these attributes get new memory for at least `room` elements. ``endRow(_:payloadSize:areNamesKnown:)`` has to
    /// follow before these attributes are used.
    package mutating func beginRow(room: Int) -> Row {
        if let header, header.pointee.refused.isEmpty, isKnownUniquelyReferenced(&storage) {
            return Row(elements: header.pointee.elements, count: header.pointee.count, room: header.pointee.room)
        }
        let header = makeStorage(capacity: Swift.max(1, room))
        return Row(elements: header.pointee.elements, count: 0, room: header.pointee.room)
    }

    /// Ends a row of which the first `count` elements, and all that were there before, are initialized. Elements behind
    /// them are dropped.
    ///
    /// - Parameters:
    ///   - count: the number of elements, whose names all differ, and whose values are finite.
    ///   - payloadSize: the bytes of all texts; no value is an array or an object.
    ///   - areNamesKnown: whether each element has the name of the one that was there before.
    package mutating func endRow(_ count: Int, payloadSize: Int, areNamesKnown: Bool) {
        header?.pointee.noteFilled(count, payloadSize: payloadSize, areNamesKnown: areNamesKnown)
    }

    /// The value with the given key; nil if it is absent or of another type. Setting nil removes it.
    @inlinable
    public subscript<Value>(key: AttributeKey<Value>) -> Value? {
        get {
            // In place: a number is read without a copy of the value, which may hold a text.
            defer { withExtendedLifetime(self) {} }
            return element(named: key.name).flatMap { Value(attributeValue: $0.pointee.value) }
        }
        set {
            if let newValue { set(newValue.attributeValue, for: key.name) } else { remove(key.name) }
        }
    }

    /// The value with the given name. Setting nil removes it; setting what is not finite does, too.
    public subscript(name: AttributeName) -> AttributeValue? {
        get {
            guard let header, let index = header.index(of: name) else { return nil }
            return header.pointee.elements[index].value
        }
        set {
            if let newValue { set(newValue, for: name) } else { remove(name) }
        }
    }

    /// Where an attribute is, as long as these attributes are neither changed nor released; nil if it is absent.
    @usableFromInline
    func element(named name: AttributeName) -> UnsafePointer<Element>? {
        guard let header, let index = header.index(of: name) else { return nil }
        return UnsafePointer(header.pointee.elements + index)
    }

    /// Sets a value; one that is not finite removes what was there.
    public mutating func set(_ value: consuming AttributeValue, for name: AttributeName) {
        if !value.isFinite { return refuse(name) }
        uniqueHeader(forAdding: 1).set(value, for: name)
    }

    /// Adds or replaces at most `count` finite values, with one check of the storage for all.
    @inline(__always)
    mutating func setFinite(_ count: Int, _ body: (inout AttributeRow) -> Void) {
        var row = AttributeRow(uniqueHeader(forAdding: count))
        body(&row)
        row.end()
    }

    /// Removes what has the given name.
    public mutating func remove(_ name: AttributeName) {
        guard header?.index(of: name) != nil else { return }
        let header = uniqueHeader(forAdding: 0)
        if let index = header.index(of: name) { header.pointee.remove(at: index) }
    }

    /// Adds everything in `other`; where both have a name, `other` wins.
    public mutating func merge(_ other: Attributes) {
        guard let added = other.header else { return }
        if storage == nil {
            (storage, header) = (other.storage, other.header)
            return
        }
        let header = uniqueHeader(forAdding: added.pointee.count)
        let (mine, others) = (header.pointee.present, added.pointee.present)
        let mayShare = mine.low & others.low | mine.high & others.high != 0
        for index in 0..<added.pointee.count {
            let name = added.pointee.elements[index].name
            if mayShare, let known = header.index(of: name) {
                header.pointee.replace(at: known, with: added.pointee.elements[index].value)
            } else {
                header.pointee.append(name, added.pointee.elements[index].value)
            }
        }
        if !added.pointee.refused.isEmpty { header.pointee.refused.append(contentsOf: added.pointee.refused) }
        withExtendedLifetime(other) {}
    }

    /// Adds what is in `other` under names that are absent here.
    mutating func addMissing(_ other: Attributes) {
        guard let added = other.header else { return }
        let header = uniqueHeader(forAdding: added.pointee.count)
        for index in 0..<added.pointee.count {
            let name = added.pointee.elements[index].name
            if header.index(of: name) == nil {
                header.pointee.append(name, added.pointee.elements[index].value)
            }
        }
        if !added.pointee.refused.isEmpty { header.pointee.refused.append(contentsOf: added.pointee.refused) }
        withExtendedLifetime(other) {}
    }

    /// Whether there is a value with the name.
    @inline(__always)
    func has(_ name: AttributeName) -> Bool {
        defer { withExtendedLifetime(storage) {} }
        return header?.index(of: name) != nil
    }

    /// Whether a name is among the first `count`.
    func has(_ name: AttributeName, amongFirst count: Int) -> Bool {
        guard count > 0, let index = header?.index(of: name) else { return false }
        return index < count
    }

    /// Makes room for `capacity` attributes in all.
    mutating func reserveCapacity(_ capacity: Int) { _ = uniqueHeader(forAdding: Swift.max(0, capacity - count)) }

    /// Names whose last value was refused for not being finite.
    package var refused: [AttributeName] { header?.pointee.refused ?? [] }

    package var hasRefused: Bool { header.map { !$0.pointee.refused.isEmpty } ?? false }

    package mutating func forgetRefused() { if hasRefused { uniqueHeader(forAdding: 0).pointee.refused = [] } }

    private mutating func refuse(_ name: AttributeName) {
        remove(name)
        uniqueHeader(forAdding: 0).pointee.refused.append(name)
    }

    /// The header of a storage that is no longer shared, with room for `count` more.
    @inline(__always)
    private mutating func uniqueHeader(forAdding count: Int) -> UnsafeMutablePointer<AttributeStorage.Header> {
        if let header, header.pointee.count + count <= header.pointee.room, isKnownUniquelyReferenced(&storage) {
            return header
        }
        return makeUnique(forAdding: count)
    }

    @inline(never)
    private mutating func makeUnique(forAdding added: Int) -> UnsafeMutablePointer<AttributeStorage.Header> {
        let needed = count + added
        let capacity = Swift.max(8, added > 1 ? needed : needed + needed / 2)
        if isKnownUniquelyReferenced(&storage), let old = storage, let oldHeader = header {
            let new = makeStorage(capacity: capacity)
            new.pointee.takeAll(from: oldHeader)
            withExtendedLifetime(old) {}
            return new
        }
        let old = self
        let new = makeStorage(capacity: capacity)
        for element in old { new.pointee.append(element.name, element.value) }
        new.pointee.refused = old.refused
        return new
    }

    private mutating func makeStorage(capacity: Int) -> UnsafeMutablePointer<AttributeStorage.Header> {
        let made = AttributeStorage.make(capacity: capacity)
        let address = made.address
        (storage, header) = (made, address)
        return address
    }
}

extension Attributes: RandomAccessCollection {
    /// Zero.
    public var startIndex: Int { 0 }
    /// The number of attributes.
    public var endIndex: Int { header?.pointee.count ?? 0 }
    /// The attribute at a position.
    public subscript(position: Int) -> Element {
        guard let header, position >= 0, position < header.pointee.count else {
            preconditionFailure("attribute index \(position) is out of range")
        }
        return header.pointee.elements[position]
    }

    /// The attributes in a row, in place: for encoders, which each event passes.
    package func withElements<Result>(_ body: (UnsafeBufferPointer<Element>) -> Result) -> Result {
        defer { withExtendedLifetime(storage) {} }
        guard let header else { return body(UnsafeBufferPointer(start: nil, count: 0)) }
        return body(UnsafeBufferPointer(start: header.pointee.elements, count: header.pointee.count))
    }

    /// Reads several attributes, in place, of which each probably stands behind the one before: a hub sets its
    /// attributes in the same order with every event.
    package func readRow<Result>(_ body: (inout RowReader) -> Result) -> Result {
        defer { withExtendedLifetime(storage) {} }
        var reader = RowReader(header: header)
        return body(&reader)
    }

    /// Whether all names surely have numbers below `limit`; each event is asked.
    @inline(__always)
    func hasOnlyNames(below limit: UInt32) -> Bool {
        guard let header, header.pointee.count > 0 else { return true }
        defer { withExtendedLifetime(storage) {} }
        return header.pointee.largestNumber < limit
    }

    /// Whether the value with a name is this text; nil stands for no text. Copies nothing.
    package func hasText(_ text: String?, for name: AttributeName) -> Bool {
        guard let header, let index = header.index(of: name) else { return text == nil }
        defer { withExtendedLifetime(storage) {} }
        if case .string(let found) = header.pointee.elements[index].value { return found == text }
        return text == nil
    }

    /// Whether both are the same memory: then nothing was changed since one was copied from the other.
    func isSameStorage(as other: Attributes) -> Bool { storage === other.storage }

    /// The bytes of all texts, arrays and objects.
    package var payloadSize: Int {
        defer { withExtendedLifetime(storage) {} }
        return header?.pointee.payloadSize ?? 0
    }
}

extension Attributes: Hashable {
    /// The same names with the same values, in any order.
    public static func == (left: Attributes, right: Attributes) -> Bool {
        left.count == right.count && left.allSatisfy { right[$0.name] == $0.value }
    }

    /// Hashes names and values independently of their order.
    public func hash(into hasher: inout Hasher) {
        var sum = 0
        for element in self { sum &+= element.hashValue }
        hasher.combine(sum)
    }
}

extension Attributes: ExpressibleByDictionaryLiteral, CustomStringConvertible {
    /// Creates attributes of names and values; of two with the same name the later wins.
    public init(dictionaryLiteral elements: (AttributeName, AttributeValue)...) {
        self.init(minimumCapacity: elements.count)
        for (name, value) in elements { set(value, for: name) }
    }

    /// `name: value`, sorted by name.
    public var description: String {
        map { "\($0.name): \($0.value)" }.sortedByBytes(of: \.self).joined(separator: ", ")
    }
}
