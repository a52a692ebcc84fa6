package import Instrument

extension PrivacyRules {
    /// The name of the field that stands for a macro, for example `adMacroIFA`.
    package static func field(ofMacro name: String) -> AttributeName { AttributeName("adMacro" + name) }

    /// The values with those withheld (`-2`) that may identify a person (``MacroValues/personal``), unless the app
    /// chooses their field, for example `adMacroIFA`, in its `choices`, and no field rule names it.
    package func permitted(_ values: MacroValues) -> MacroValues {
        var result = values
        for name in MacroValues.personal where values[name] != nil {
            let field = Self.field(ofMacro: name)
            if choices[field] != true || fields[field] != nil { result[name] = .withheld }
        }
        return result
    }
}
