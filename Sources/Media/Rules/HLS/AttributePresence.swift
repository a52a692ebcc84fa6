internal import InstrumentManifests
internal import InstrumentText

/// The attributes that a tag must or must not have beside others (RFC 8216bis sections 4.4.2.3 and 4.4.6).
enum AttributePresence {
    /// A defect: what was found, what the standard expects, and a remedy.
    typealias Defect = (found: String, expected: String, advice: String)

    /// The attributes that a tag must have, and that no other rule asks for.
    private static let required: [String: String] = [
        "EXT-X-MEDIA": "NAME", "EXT-X-SESSION-DATA": "DATA-ID", "EXT-X-START": "TIME-OFFSET",
    ]

    /// The tags that are judged.
    static let tags: Set<String> = Set(required.keys).union(["EXT-X-DEFINE"])

    static func defects(of tag: PlaylistTag, _ list: AttributeList) -> [Defect] {
        var defects: [Defect] = []
        if let name = required[tag.name], list[name] == nil { defects.append(lack(of: name, in: tag.name)) }
        switch tag.name {
        case "EXT-X-MEDIA": defects += ofMedia(list)
        case "EXT-X-SESSION-DATA":
            let given = ["VALUE", "URI"].filter { list[$0] != nil }
            if given.count != 1 { defects.append(choice(given, of: "VALUE or URI", in: tag.name)) }
        case "EXT-X-DEFINE":
            // A definition without any of them ends the playlist.
            let given = ["NAME", "IMPORT", "QUERYPARAM"].filter { list[$0] != nil }
            if given.count > 1 { defects.append(choice(given, of: "NAME, IMPORT or QUERYPARAM", in: tag.name)) }
        default: break
        }
        return defects
    }

    private static func ofMedia(_ list: AttributeList) -> [Defect] {
        var defects: [Defect] = []
        let kind = list["TYPE"] ?? ""
        let tag = "EXT-X-MEDIA of TYPE=\(kind.excerpt())"
        if kind == "CLOSED-CAPTIONS" {
            if let channel = list["INSTREAM-ID"] {
                if !isCaptionChannel(channel) {
                    let found = "`INSTREAM-ID=\"\(channel.excerpt())\"` in EXT-X-MEDIA"
                    defects.append((found, "`CC1` to `CC4`, or `SERVICE1` to `SERVICE63`", "Correct the value."))
                }
            } else {
                defects.append(lack(of: "INSTREAM-ID", in: tag))
            }
            if list["URI"] != nil {
                defects.append(("URI in \(tag)", "no URI: closed captions are in the segments", "Remove the URI."))
            }
        }
        if kind == "SUBTITLES", list["URI"] == nil { defects.append(lack(of: "URI", in: tag)) }
        if list["FORCED"] != nil, ["AUDIO", "VIDEO", "CLOSED-CAPTIONS"].contains(kind) {
            defects.append(("FORCED in \(tag)", "FORCED for subtitles alone", "Remove FORCED."))
        }
        if list["DEFAULT"] == "YES", list["AUTOSELECT"] == "NO" {
            let expected = "AUTOSELECT=YES, or no AUTOSELECT, beside DEFAULT=YES"
            defects.append(("AUTOSELECT=NO beside DEFAULT=YES", expected, "Correct one of the attributes."))
        }
        return defects
    }

    private static func isCaptionChannel(_ text: String) -> Bool {
        for (prefix, last) in [("CC", Int64(4)), ("SERVICE", 63)] where text.hasPrefix(prefix) {
            let digits = text.dropFirst(prefix.count)
            return !digits.hasPrefix("0") && DecimalText.integer(digits).map { $0 <= last } ?? false
        }
        return false
    }

    private static func lack(of name: String, in tag: String) -> Defect {
        ("\(tag) without \(name)", "the attribute \(name)", "Add the attribute.")
    }

    private static func choice(_ given: [String], of names: String, in tag: String) -> Defect {
        let found = given.isEmpty ? "\(tag) without \(names)" : "\(given.joined(separator: " beside ")) in \(tag)"
        return (found, "one of \(names)", given.isEmpty ? "Add one of them." : "Remove all but one of them.")
    }
}
