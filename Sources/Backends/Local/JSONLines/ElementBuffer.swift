internal import Instrument

/// The attributes of the line that is read: the memory is kept from line to line, and the attributes are moved out of
/// it.
final class ElementBuffer {
    private var elements = UnsafeMutableBufferPointer<Attributes.Element>.allocate(capacity: 64)
    private var count = 0

    deinit {
        removeAll()
        elements.deallocate()
    }

    /// Adds an attribute; its name must differ from the others, and its value be finite.
    @inline(__always)
    func append(_ element: consuming Attributes.Element) {
        if count == elements.count { grow() }
        elements.initializeElement(at: count, to: element)
        count += 1
    }

    /// Removes all attributes and returns them.
    func take() -> Attributes {
        defer { count = 0 }
        return Attributes(moving: UnsafeMutableBufferPointer(rebasing: elements[..<count]))
    }

    /// Removes all attributes.
    func removeAll() {
        elements[..<count].deinitialize()
        count = 0
    }

    private func grow() {
        let larger = UnsafeMutableBufferPointer<Attributes.Element>.allocate(capacity: 2 * elements.count)
        _ = larger[..<count].moveInitialize(fromContentsOf: elements[..<count])
        elements.deallocate()
        elements = larger
    }
}
