/// Named values, each name once, in the order in which they were first set.
///
/// A flat array: with the few dozen attributes that an event carries, finding one by comparing integers is faster than
/// hashing, and making an event costs one allocation. Equality does not depend on the order.
///
/// NaN and infinity are kept out: setting one removes the attribute and remembers its name, so that the chain can say
/// what was left out.
public struct Attributes: Sendable {
    /// One attribute.
    public struct Element: Hashable, Sendable {
        /// Its name.
        public let name: AttributeName
        /// Its value.
        public var value: AttributeValue

        /// Creates an attribute.
        public init(name: AttributeName, value: AttributeValue) {
            self.name = name
            self.value = value
        }
    }

    private var elements: ContiguousArray<Element> = []
    /// A bit for each name's number modulo 128. A clear bit means absent, so that most additions need no search.
    private var present: (low: UInt64, high: UInt64) = (0, 0)
    /// Names whose last value was refused for not being finite.
    package private(set) var refused: [AttributeName] = []

    /// Creates an empty set of attributes.
    public init() {}

    /// Creates an empty set of attributes with room for `capacity` of them.
    public init(minimumCapacity capacity: Int) { elements.reserveCapacity(capacity) }

    /// The value with the given key; nil if it is absent or of another type. Setting nil removes it.
    public subscript<Value>(key: AttributeKey<Value>) -> Value? {
        get { self[key.name].flatMap(Value.init(attributeValue:)) }
        set { self[key.name] = newValue?.attributeValue }
    }

    /// The value with the given name. Setting nil removes it; setting what is not finite does, too.
    public subscript(name: AttributeName) -> AttributeValue? {
        get {
            guard mayContain(name), let index = index(of: name) else { return nil }
            return elements[index].value
        }
        set {
            guard let newValue else { return remove(name) }
            set(newValue, for: name)
        }
    }

    @inline(__always)
    package mutating func set(_ value: AttributeValue, for name: AttributeName) {
        if !Self.isSimple(value), !value.isFinite { return refuse(name) }
        if mayContain(name), let index = index(of: name) {
            elements[index].value = value
        } else {
            mark(name)
            elements.append(Element(name: name, value: value))
        }
    }

    /// Adds everything in `other`; where both have a name, `other` wins.
    public mutating func merge(_ other: Attributes) {
        for element in other.elements { set(element.value, for: element.name) }
        refused.append(contentsOf: other.refused)
    }

    package mutating func forgetRefused() { refused = [] }

    @inline(__always)
    private static func isSimple(_ value: AttributeValue) -> Bool {
        switch value {
        case .string, .int, .bool: true
        case .double, .array, .object: false
        }
    }

    private mutating func refuse(_ name: AttributeName) {
        remove(name)
        refused.append(name)
    }

    private mutating func remove(_ name: AttributeName) {
        if mayContain(name), let index = index(of: name) { elements.remove(at: index) }
    }

    @inline(__always)
    private func index(of name: AttributeName) -> Int? {
        elements.withUnsafeBufferPointer { buffer in
            for index in buffer.indices where buffer[index].name.number == name.number { return index }
            return nil
        }
    }

    @inline(__always)
    private func mayContain(_ name: AttributeName) -> Bool {
        let bit = UInt64(1) << UInt64(name.number & 63)
        return (name.number & 64 == 0 ? present.low : present.high) & bit != 0
    }

    @inline(__always)
    private mutating func mark(_ name: AttributeName) {
        let bit = UInt64(1) << UInt64(name.number & 63)
        if name.number & 64 == 0 { present.low |= bit } else { present.high |= bit }
    }
}

extension Attributes: RandomAccessCollection {
    /// Zero.
    public var startIndex: Int { elements.startIndex }
    /// The number of attributes.
    public var endIndex: Int { elements.endIndex }
    /// The attribute at a position.
    public subscript(position: Int) -> Element { elements[position] }
}

extension Attributes: Hashable {
    /// The same names with the same values, in any order.
    public static func == (left: Attributes, right: Attributes) -> Bool {
        left.count == right.count && left.elements.allSatisfy { right[$0.name] == $0.value }
    }

    /// Hashes names and values independently of their order.
    public func hash(into hasher: inout Hasher) {
        var sum = 0
        for element in elements { sum &+= element.hashValue }
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
        elements.map { "\($0.name): \($0.value)" }.sorted().joined(separator: ", ")
    }
}
