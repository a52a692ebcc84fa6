public import Instrument

/// The form of attribute names on the wire, computed once for each name.
///
/// Attribute names are interned for the life of the process, so a cache of them is no larger than the table that
/// interns them.
///
/// Public, though no product has this module: encoders of other modules look up every attribute, and the compiler
/// specializes only public code for them. Without that, a lookup costs a fifth of an encoding.
public struct NameCache<Form> {
    @usableFromInline var forms: [Form?] = []

    /// Creates an empty cache.
    @inlinable
    public init() {}

    /// The form of a name; `make` computes it at the first call.
    @inlinable
    public mutating func form(of name: AttributeName, _ make: (String) -> Form) -> Form {
        let index = Int(name.number)
        if index < forms.count, let form = forms[index] { return form }
        return add(make(name.spelling), at: index)
    }

    @inlinable
    mutating func add(_ form: Form, at index: Int) -> Form {
        while forms.count <= index { forms.append(nil) }
        forms[index] = form
        return form
    }
}
