internal import ArgumentParser
internal import Instrument
internal import InstrumentJSON
internal import InstrumentProbe
internal import InstrumentSensors
internal import InstrumentTerminal
internal import InstrumentText
internal import InstrumentTrackers

/// `player-monitor privacy`: what may be collected, and what for.
struct PrivacyCommand: ParsableCommand {
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case table, json
        case appleManifest = "apple-manifest"
    }

    static let configuration = CommandConfiguration(
        commandName: "privacy",
        abstract: "Prints the catalogue of all fields that may be collected.",
        discussion: """
            'table' has a line for each field: name, type, kind of data, purposes, whether it tells by itself who a person is, \
            whether it is collected unless chosen otherwise, and what it is. 'json' is the same for programs. 'apple-manifest' is \
            a property list for an app's PrivacyInfo.xcprivacy.
            """
    )

    @Option(help: "'table', 'json' or 'apple-manifest'.")
    var format = Format.table

    /// Everything that Instrument's trackers may collect: the vocabulary has all that mpv's tells and this program
    /// itself says.
    static let catalogue = [.probe, .lifecycle, AppState.declaredFields, DeviceProperties.declaredFields]
        .reduce(PrivacyCatalogue.vocabulary) { $0.merging($1) }

    func run() throws {
        let text =
            switch format {
            case .table: Self.table
            case .json: Self.json
            case .appleManifest: PrivacyManifest(Self.catalogue).propertyList
            }
        // The catalogue is the program's own: nothing in it comes from outside.
        try Terminal(isQuiet: true).output(TerminalText(trusted: text))
    }

    private static var table: String {
        let heads = ["NAME", "TYPE", "DATA", "PURPOSES", "LINKED", "DEFAULT", "SUMMARY"]
        let rows = [heads] + catalogue.fields.map(columns)
        let widths = heads.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = zip(row, widths).map { $0 + String(repeating: " ", count: max(0, $1 - $0.count)) }
            return String(cells.joined(separator: "  ").trimmingSpaces) + "\n"
        }.joined()
    }

    private static func columns(_ field: FieldDeclaration) -> [String] {
        [
            field.name.spelling, field.type.rawValue, field.category.description,
            field.purposes.map(\.description).sorted().joined(separator: ","), field.isLinked ? "linked" : "not linked",
            field.isOn ? "on" : "off", field.summary,
        ]
    }

    private static var json: String {
        let fields = catalogue.fields.map { field -> JSONValue in
            let purposes = field.purposes.map(\.description).sorted()
            return [
                "name": .string(field.name.spelling), "type": .string(field.type.rawValue),
                "category": .string(field.category.description), "purposes": .array(purposes.map(JSONValue.string)),
                "linked": .bool(field.isLinked), "default": .bool(field.isOn), "summary": .string(field.summary),
            ]
        }
        return JSONValue.object(["fields": .array(fields)]).description + "\n"
    }
}
