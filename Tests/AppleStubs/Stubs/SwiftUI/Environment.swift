// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase, NoLeadingUnderscores

public protocol EnvironmentKey {  // documentation/swiftui/environmentkey
    associatedtype Value  // documentation/swiftui/environmentkey/value
    static var defaultValue: Self.Value { get }  // documentation/swiftui/environmentkey/defaultvalue
}

public struct EnvironmentValues {  // documentation/swiftui/environmentvalues
    private var values: [ObjectIdentifier: Any] = [:]
    public init() {}  // documentation/swiftui/environmentvalues/init()

    // documentation/swiftui/environmentvalues/subscript(_:)
    public subscript<K: EnvironmentKey>(key: K.Type) -> K.Value {
        get { values[ObjectIdentifier(key)] as? K.Value ?? K.defaultValue }
        set { values[ObjectIdentifier(key)] = newValue }
    }
}

protocol EnvironmentReader { func read(_ environment: EnvironmentValues) }

@propertyWrapper
public struct Environment<Value>: EnvironmentReader {  // documentation/swiftui/environment
    private final class Storage { var value: Value? }

    private let keyPath: KeyPath<EnvironmentValues, Value>
    private let storage = Storage()

    // documentation/swiftui/environment/init(_:)
    public init(_ keyPath: KeyPath<EnvironmentValues, Value>) { self.keyPath = keyPath }

    // documentation/swiftui/environment/wrappedvalue
    public var wrappedValue: Value { storage.value ?? EnvironmentValues()[keyPath: keyPath] }

    func read(_ environment: EnvironmentValues) { storage.value = environment[keyPath: keyPath] }
}
