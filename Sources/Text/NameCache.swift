package import Instrument

/// The form of attribute names on the wire, computed once for each name.
///
/// Attribute names are interned for the life of the process, so a cache of them is no larger than the table that interns them.
package struct NameCache<Form> {
    private var forms: [Form?] = []

    package init() {}

    /// The form of a name; `make` computes it at the first call.
    @inline(__always)
    package mutating func form(of name: AttributeName, _ make: (String) -> Form) -> Form {
        let index = Int(name.number)
        if index < forms.count, let form = forms[index] { return form }
        return add(make(name.spelling), at: index)
    }

    private mutating func add(_ form: Form, at index: Int) -> Form {
        while forms.count <= index { forms.append(nil) }
        forms[index] = form
        return form
    }
}
