/// The memory of an ``Attributes``: elements in a row, and where to find them.
///
/// The header and the elements stand behind the object, in the same allocation, or those of an event in a block of
/// ``AttributeMemory``.
final class AttributeStorage: ManagedBuffer<AttributeStorage.Place, UInt64> {
    /// Where the header is, which the elements follow.
    struct Place {
        let header: UnsafeMutablePointer<Header>
        let isBlock: Bool
    }

    struct Header {
        /// For each set bit of `present`, the index modulo 256 of the last element that set it: where to look first.
        /// Comes first, so that it is read at the header's own address.
        var positions = Positions()
        var count = 0
        let room: Int
        /// The elements, right behind the header.
        let elements: UnsafeMutablePointer<Attributes.Element>
        /// A bit for each name's number modulo 128. A clear bit means absent, so that most additions need no search.
        var present: (low: UInt64, high: UInt64) = (0, 0)
        /// The bytes of all texts, arrays and objects, so that nobody adds them up.
        private(set) var payloadSize = 0
        /// No name has a larger number. After a removal, perhaps no name has this number.
        private(set) var largestNumber: UInt32 = 0
        /// Names whose last value was refused for not being finite.
        var refused: [AttributeName] = []

        init(room: Int, elements: UnsafeMutablePointer<Attributes.Element>) {
            self.room = room
            self.elements = elements
        }
    }

    /// 128 bytes, spelled as words: a vector's alignment would make the allocation expensive.
    struct Positions {
        private var words: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0, 0)
        private var more: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0, 0)
    }

    private static let headerSize = MemoryLayout<Header>.stride
    private static let elementSize = MemoryLayout<Attributes.Element>.stride
    /// The numbers of elements that get a block: with fewer, a storage is small for the allocator, and more are rare.
    ///
    /// Computed, which costs constants: a stored range is asked for at each use whether it has been made.
    static var blockCapacities: ClosedRange<Int> { 34...(AttributeMemory.blockSize - headerSize) / elementSize }

    static func make(capacity: Int) -> AttributeStorage {
        let usesBlock = blockCapacities.contains(capacity)
        let room = usesBlock ? blockCapacities.upperBound : capacity
        let words = usesBlock ? 0 : (headerSize + capacity * elementSize) / MemoryLayout<UInt64>.stride
        let made = AttributeStorage.create(minimumCapacity: words) { buffer in
            let memory =
                usesBlock
                ? AttributeMemory.shared.take()
                : buffer.withUnsafeMutablePointerToElements { UnsafeMutableRawPointer($0) }
            return Place(header: header(at: memory, room), isBlock: usesBlock)
        }
        return unsafeDowncast(made, to: AttributeStorage.self)
    }

    private static func header(at memory: UnsafeMutableRawPointer, _ room: Int) -> UnsafeMutablePointer<Header> {
        let elements = (memory + headerSize).bindMemory(to: Attributes.Element.self, capacity: room)
        let header = memory.bindMemory(to: Header.self, capacity: 1)
        header.initialize(to: Header(room: room, elements: elements))
        return header
    }

    deinit {
        let place = withUnsafeMutablePointerToHeader { $0.pointee }
        let elements = place.header.pointee.elements
        for index in 0..<place.header.pointee.count {
            // Nothing is to be released for most values, and a general loop would ask each of them.
            switch elements[index].value {
            case .int, .double, .bool: break
            case .string, .array, .object: _ = (elements + index).move()
            }
        }
        place.header.deinitialize(count: 1)
        if place.isBlock { AttributeMemory.shared.giveBack(UnsafeMutableRawPointer(place.header)) }
    }

    /// The header's address, which stands as long as the storage does.
    var address: UnsafeMutablePointer<Header> { withUnsafeMutablePointerToHeader { $0.pointee.header } }
}

/// Work on a storage's header and elements in place.
extension AttributeStorage.Header {
    /// Appends an element whose name is not there yet; there has to be room.
    @inline(__always)
    mutating func append(_ name: AttributeName, _ value: consuming AttributeValue) {
        payloadSize += value.payloadSize
        (elements + count).initialize(to: Attributes.Element(name: name, value: value))
        mark(name, at: count)
        count += 1
    }

    /// Notes what a row of elements has changed.
    @inline(__always)
    mutating func note(payloadSize: Int, largestNumber: UInt32) {
        (self.payloadSize, self.largestNumber) = (payloadSize, largestNumber)
    }

    /// Replaces the value of an element.
    @inline(__always)
    mutating func replace(at index: Int, with value: consuming AttributeValue) {
        payloadSize += value.payloadSize - elements[index].value.payloadSize
        elements[index].value = value
    }

    /// Moves all elements over from `old`, which is empty afterwards; there has to be room, and nothing here yet.
    mutating func takeAll(from old: UnsafeMutablePointer<Self>) {
        elements.moveInitialize(from: old.pointee.elements, count: old.pointee.count)
        (count, present, positions) = (old.pointee.count, old.pointee.present, old.pointee.positions)
        (payloadSize, largestNumber) = (old.pointee.payloadSize, old.pointee.largestNumber)
        (refused, old.pointee.count) = (old.pointee.refused, 0)
    }

    /// Notes that the first `count` elements, which somebody has filled in place, are all that there are.
    ///
    /// - Parameter areNamesKnown: whether the names are those that were noted last, in the same order.
    mutating func noteFilled(_ count: Int, payloadSize: Int, areNamesKnown: Bool) {
        if count < self.count { (elements + count).deinitialize(count: self.count - count) }
        self.payloadSize = payloadSize
        if areNamesKnown, count == self.count { return }
        (self.count, present, largestNumber) = (count, (0, 0), 0)
        for index in 0..<count { mark(elements[index].name, at: index) }
    }

    /// Removes an element, keeping the order of the others. Bits stay set: they only say "maybe".
    mutating func remove(at index: Int) {
        payloadSize -= elements[index].value.payloadSize
        (elements + index).deinitialize(count: 1)
        (elements + index).moveInitialize(from: elements + index + 1, count: count - 1 - index)
        count -= 1
        for moved in index..<count { mark(elements[moved].name, at: moved) }
    }

    @inline(__always)
    private mutating func mark(_ name: AttributeName, at index: Int) {
        largestNumber = max(largestNumber, name.number)
        if name.number & 64 == 0 { present.low |= Self.bit(of: name) } else { present.high |= Self.bit(of: name) }
        withUnsafeMutableBytes(of: &positions) { $0[Int(name.number & 127)] = UInt8(truncatingIfNeeded: index) }
    }

    @inline(__always)
    static func bit(of name: AttributeName) -> UInt64 { 1 << UInt64(name.number & 63) }
}

extension UnsafeMutablePointer<AttributeStorage.Header> {
    /// Sets a finite value; there has to be room for one more element.
    @inline(__always)
    func set(_ value: consuming AttributeValue, for name: AttributeName) {
        if let known = index(of: name) { pointee.replace(at: known, with: value) } else { pointee.append(name, value) }
    }

    /// The index of a name. Costs a few instructions unless two names share a bit.
    ///
    /// Only reads, also by the language's rules: several threads may look into a storage that they share. A method of
    /// the header that took the address of its positions would count as a change.
    @inline(__always)
    func index(of name: AttributeName) -> Int? {
        let present = name.number & 64 == 0 ? pointee.present.low : pointee.present.high
        guard present & Pointee.bit(of: name) != 0 else { return nil }
        let likely = Int(UnsafeRawPointer(self).load(fromByteOffset: Int(name.number & 127), as: UInt8.self))
        let (count, elements) = (pointee.count, pointee.elements)
        if likely < count, elements[likely].name.number == name.number { return likely }
        for index in 0..<count where elements[index].name.number == name.number { return index }
        return nil
    }
}
