internal import InstrumentJSON

/// Attachments (xAPI 1.0.3, Data 2.4.11).
extension Checker {
    private static let required: [(key: String, rule: ValidationRule)] = [
        ("usageType", .attachmentUsageType), ("display", .attachmentDisplay), ("contentType", .attachmentContentType),
        ("length", .attachmentLength), ("sha2", .attachmentSHA2),
    ]
    private static let ofAttachment = Set(required.map(\.key) + ["description", "fileUrl"])

    mutating func attachments(_ value: JSONValue, at path: JSONPath) {
        guard let list = elements(of: value, at: path, rule: .attachments) else { return }
        for (index, value) in list.enumerated() { attachment(value, at: path[index]) }
    }

    private mutating func attachment(_ value: JSONValue, at path: JSONPath) {
        guard let members = members(of: value, at: path, known: Self.ofAttachment, rule: .attachments) else { return }
        for (key, rule) in Self.required where members[key] == nil {
            fail(rule, at: path / key, "is missing; an attachment must have it")
        }
        if let type = members["usageType"] { iri(type, at: path / "usageType", rule: .attachmentUsageType) }
        if let display = members["display"] { languageMap(display, at: path / "display", rule: .attachmentDisplay) }
        if let text = members["description"] {
            languageMap(text, at: path / "description", rule: .attachmentDescription)
        }
        if let url = members["fileUrl"] { iri(url, at: path / "fileUrl", rule: .attachmentFileURL) }
        content(members, at: path)
    }

    private mutating func content(_ members: [String: JSONValue], at path: JSONPath) {
        if let type = members["contentType"],
            let text = string(type, at: path / "contentType", rule: .attachmentContentType),
            !MediaTypeFormat.isValid(text)
        {
            fail(
                .attachmentContentType,
                at: path / "contentType",
                "must be a media type, such as text/plain",
                found: type
            )
        }
        if let length = members["length"], !Self.isCount(length) {
            fail(.attachmentLength, at: path / "length", "must be a whole number of bytes, 0 or more", found: length)
        }
        // SHA-224, 256, 384 and 512.
        if let sum = members["sha2"], let text = string(sum, at: path / "sha2", rule: .attachmentSHA2),
            !Hexadecimal.isText(text, lengths: [56, 64, 96, 128])
        {
            fail(
                .attachmentSHA2,
                at: path / "sha2",
                "must be a SHA-2 checksum of 56, 64, 96 or 128 hexadecimal digits",
                found: sum
            )
        }
    }

    private static func isCount(_ value: JSONValue) -> Bool {
        switch value {
        case .int(let number): number >= 0
        case .double(let number): number >= 0 && number == number.rounded()
        default: false
        }
    }
}
