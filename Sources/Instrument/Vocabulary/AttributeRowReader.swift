extension Attributes {
    /// Looks at the place behind the last attribute that was read, and looks a name up only if it is elsewhere.
    package struct RowReader {
        private let header: UnsafeMutablePointer<AttributeStorage.Header>?
        private var next = 0

        init(header: UnsafeMutablePointer<AttributeStorage.Header>?) { self.header = header }

        /// The truth value of a name; nil if it is absent or of another type.
        @inline(__always)
        package mutating func truth(_ key: AttributeKey<Bool>) -> Bool? {
            if let place = place(of: key.name), case .bool(let value) = place.pointee.value { value } else { nil }
        }

        /// The whole number of a duration, in milliseconds; nil if it is absent or of another type.
        @inline(__always)
        package mutating func milliseconds(_ key: AttributeKey<Duration>) -> Int? {
            if let place = place(of: key.name), case .int(let value) = place.pointee.value { value } else { nil }
        }

        @inline(__always)
        private mutating func place(of name: AttributeName) -> UnsafeMutablePointer<Element>? {
            guard let header else { return nil }
            let elements = header.pointee.elements
            if next >= header.pointee.count || elements[next].name.number != name.number {
                guard let index = header.index(of: name) else { return nil }
                next = index
            }
            next += 1
            return elements + (next - 1)
        }
    }
}
