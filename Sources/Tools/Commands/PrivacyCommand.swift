internal import ArgumentParser
internal import Instrument
internal import InstrumentChrome
internal import InstrumentCommandLine
internal import InstrumentJSON
internal import InstrumentProbe
internal import InstrumentQuality
internal import InstrumentSensors
internal import InstrumentTerminal
internal import InstrumentText
internal import InstrumentTrackers

/// `player-monitor privacy`: prints the fields that may be collected, with their purposes.
struct PrivacyCommand: ParsableCommand {
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case table, json
        case appleManifest = "apple-manifest"
    }

    static let configuration = CommandConfiguration(
        commandName: "privacy",
        abstract: "Print the catalogue of all fields that may be collected.",
        discussion: """
            'table' prints one line per field: name, type, kind of data, purposes, whether the field alone identifies a person, \
            whether it is collected by default, and a description. 'json' prints the same for programs. 'apple-manifest' prints a \
            property list for an app's PrivacyInfo.xcprivacy.
            """
    )

    @Option(help: "Output format.")
    var format = Format.table

    /// All fields that the trackers and metrics may contain. The vocabulary covers those of the mpv tracker and of this
    /// program.
    static let catalogue =
        [.probe, .chrome, .quality, .lifecycle, .monitor, AppState.declaredFields, DeviceProperties.declaredFields]
        .reduce(PrivacyCatalogue.vocabulary) { $0.merging($1) }

    func run() throws {
        let text =
            switch format {
            case .table: Self.table
            case .json: Self.json
            case .appleManifest: PrivacyManifest(Self.catalogue).propertyList
            }
        // The catalogue contains no text from outside.
        try Terminal(isQuiet: true).output(TerminalText(trusted: text))
    }

    private static var table: String {
        let heads = ["NAME", "TYPE", "DATA", "PURPOSES", "LINKED", "DEFAULT", "SUMMARY"]
        let rows = ([heads] + catalogue.fields.map(columns)).map { $0.map { TerminalText(trusted: $0) } }
        return ColumnTable(rows).lines.map { $0.string + "\n" }.joined()
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
