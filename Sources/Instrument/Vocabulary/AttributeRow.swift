/// Sets a few attributes of one event, one after another.
///
/// Most of them are new to the event. These are appended without a search, and what the storage knows of its elements
/// stays in local values until the end of the row.
struct AttributeRow {
    typealias Header = AttributeStorage.Header

    private let header: UnsafeMutablePointer<Header>
    private let elements: UnsafeMutablePointer<Attributes.Element>
    private var count: Int
    private var present: (low: UInt64, high: UInt64)
    private var payloadSize: Int
    private var largestNumber: UInt32

    /// Begins a row behind the elements of a storage with room for all of it. ``end()`` has to follow.
    @inline(__always)
    init(_ header: UnsafeMutablePointer<Header>) {
        self.header = header
        (elements, count, present) = (header.pointee.elements, header.pointee.count, header.pointee.present)
        (payloadSize, largestNumber) = (header.pointee.payloadSize, header.pointee.largestNumber)
    }

    @inline(__always)
    mutating func set(_ number: Int, for key: AttributeKey<Int>) { set(.int(number), for: key.name) }
    @inline(__always)
    mutating func set(milliseconds: Int, for key: AttributeKey<Duration>) { set(.int(milliseconds), for: key.name) }
    @inline(__always)
    mutating func set(_ truth: Bool, for key: AttributeKey<Bool>) { set(.bool(truth), for: key.name) }
    @inline(__always)
    mutating func set(_ text: String, for key: AttributeKey<String>) { set(.string(text), for: key.name) }

    /// Adds a number unless the name is present.
    @inline(__always)
    mutating func addMissing(_ number: Int, for name: AttributeName) {
        if isAbsent(name) { append(.int(number), name) } else { self = adding(.int(number), name, replaces: false) }
    }

    /// Writes what the storage has to know of the row.
    @inline(__always)
    func end() {
        (header.pointee.count, header.pointee.present) = (count, present)
        header.pointee.note(payloadSize: payloadSize, largestNumber: largestNumber)
    }

    /// Sets a finite value.
    @inline(__always)
    private mutating func set(_ value: consuming AttributeValue, for name: AttributeName) {
        if isAbsent(name) { append(value, name) } else { self = adding(value, name, replaces: true) }
    }

    /// Whether a name is surely absent.
    @inline(__always)
    private func isAbsent(_ name: AttributeName) -> Bool {
        (name.number & 64 == 0 ? present.low : present.high) & Header.bit(of: name) == 0
    }

    @inline(__always)
    private mutating func append(_ value: consuming AttributeValue, _ name: AttributeName) {
        payloadSize += value.payloadSize
        (elements + count).initialize(to: Attributes.Element(name: name, value: value))
        if name.number & 64 == 0 { present.low |= Header.bit(of: name) } else { present.high |= Header.bit(of: name) }
        UnsafeMutableRawPointer(header).storeBytes(
            of: UInt8(truncatingIfNeeded: count),
            toByteOffset: Int(name.number & 127),
            as: UInt8.self
        )
        largestNumber = max(largestNumber, name.number)
        count += 1
    }

    /// The row after a name that is present, or shares its bit with one that is. Changes no row in place, so that the
    /// values of a row can stay in registers.
    @inline(never)
    private func adding(_ value: AttributeValue, _ name: AttributeName, replaces: Bool) -> AttributeRow {
        end()
        if replaces || header.index(of: name) == nil { header.set(value, for: name) }
        return AttributeRow(header)
    }
}
