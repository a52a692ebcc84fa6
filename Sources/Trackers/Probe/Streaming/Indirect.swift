/// A large value behind a reference, so that a copy of what contains it counts one reference instead of each member's.
///
/// A value as before: a change copies it first where others have it, too.
@propertyWrapper
struct Indirect<Value: Sendable>: Sendable {
    private final class Box: @unchecked Sendable {
        // Sendable: the value changes only while one `Indirect` has the box, and that one is changed by one thread.
        var value: Value
        init(_ value: Value) { self.value = value }
    }

    private var box: Box

    init(wrappedValue: Value) { box = Box(wrappedValue) }

    var wrappedValue: Value {
        _read { yield box.value }
        _modify {
            if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
            yield &box.value
        }
    }
}
