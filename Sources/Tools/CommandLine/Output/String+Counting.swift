extension String {
    /// A number with its noun: `1 break`, `2 breaks`. The plural of the noun must end in `s`.
    package init(counting number: Int, _ noun: String) { self = "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
