// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase, NoLeadingUnderscores

public import Foundation

/// The part of Foundation's key-value observing that exists on Apple platforms only.
// documentation/foundation/nskeyvalueobservation
public protocol _KeyValueCodingAndObserving {}

/// What changed; the bindings do not use the values.
public struct NSKeyValueObservedChange<Value> {  // documentation/foundation/nskeyvalueobservedchange
    public let newValue: Value?  // documentation/foundation/nskeyvalueobservedchange/newvalue
    public let oldValue: Value?  // documentation/foundation/nskeyvalueobservedchange/oldvalue
}

public struct NSKeyValueObservingOptions: OptionSet, Sendable {  // NSKeyValueObserving.h:18
    public let rawValue: UInt  // NSKeyValueObserving.h:18
    public init(rawValue: UInt) { self.rawValue = rawValue }  // NSKeyValueObserving.h:18
    public static let new = NSKeyValueObservingOptions(rawValue: 1)  // NSKeyValueObserving.h:22
    public static let old = NSKeyValueObservingOptions(rawValue: 2)  // NSKeyValueObserving.h:23
    public static let initial = NSKeyValueObservingOptions(rawValue: 4)  // NSKeyValueObserving.h:27
}

/// An observation, which ends with the last reference to it. It does not keep the observed object alive.
public final class NSKeyValueObservation: NSObject {  // documentation/foundation/nskeyvalueobservation
    private weak var object: ObservableObject?
    private let number: Int

    init(_ object: ObservableObject, number: Int) { (self.object, self.number) = (object, number) }

    deinit { invalidate() }

    // documentation/foundation/nskeyvalueobservation/invalidate()
    public func invalidate() { object?.remove(number) }
}

// For tests: the base class of the declared classes whose properties can be observed. A test changes a property, then
// calls `notify(_:)`.
open class ObservableObject: NSObject, _KeyValueCodingAndObserving, @unchecked Sendable {
    // Sendable: both variables are touched under the lock only; handlers come from parameters that are Sendable.
    private let lock = NSLock()
    private var handlers: [Int: (path: AnyKeyPath, call: (ObservableObject) -> Void)] = [:]
    private var nextNumber = 0

    /// The number of observers that were added and not removed.
    public var observerCount: Int { lock.withLock { handlers.count } }

    /// Calls the handlers of a property, on this thread.
    public func notify(_ path: AnyKeyPath) {
        let called = lock.withLock { handlers.sorted { $0.key < $1.key }.filter { $0.value.path == path } }
        for handler in called { handler.value.call(self) }
    }

    func add(_ path: AnyKeyPath, _ handler: @escaping (ObservableObject) -> Void) -> Int {
        lock.withLock {
            nextNumber += 1
            handlers[nextNumber] = (path, handler)
            return nextNumber
        }
    }

    func remove(_ number: Int) { lock.withLock { _ = handlers.removeValue(forKey: number) } }
}

extension _KeyValueCodingAndObserving {
    // documentation/foundation/nskeyvalueobservation: `observe(_:options:changeHandler:)` of Foundation's overlay.
    public func observe<Value>(
        _ keyPath: KeyPath<Self, Value>,
        options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping @Sendable (Self, NSKeyValueObservedChange<Value>) -> Void
    ) -> NSKeyValueObservation {
        guard let object = self as? ObservableObject else { fatalError("only declared classes can be observed here") }
        let number = object.add(keyPath) { object in
            if let object = object as? Self {
                changeHandler(object, NSKeyValueObservedChange(newValue: nil, oldValue: nil))
            }
        }
        return NSKeyValueObservation(object, number: number)
    }
}
