internal import ArgumentParser
internal import InstrumentAds
internal import InstrumentCommandLine
internal import InstrumentJSON
internal import InstrumentTerminal

/// `player-monitor scte35`: decodes splice information.
struct SCTE35Command: ParsableCommand {
    enum Format: String, ExpressibleByArgument, CaseIterable { case text, json }

    static let configuration = CommandConfiguration(
        commandName: "scte35",
        abstract: "Decode SCTE-35 sections; exit code 1 if any section is malformed.",
        discussion: """
            Each text is a section in base64, in hexadecimal after '0x', or in XML (SpliceInfoSection, or Signal), as HLS and DASH \
            carry it. '-' reads texts from standard input, one per line, and '@FILE' from a file; a document of XML may have any \
            number of lines. The fields of a section with a wrong checksum are under 'section', beside the error.

            Examples:
              player-monitor scte35 /DAhAAAAAAAAAP/wEAUAAALRf+9//gAaF7DAAAAAAAA+MhNj
              grep -o 'SCTE35-OUT=0x[0-9A-F]*' live.m3u8 | cut -d= -f2 \\
                  | player-monitor scte35 --format json -
            """
    )

    @Argument(help: "Sections in base64 or hexadecimal; '-' reads standard input, '@FILE' reads a file.")
    var text: [String]

    @Option(help: "Output format: 'text' for one field per line, 'json' for one JSON object per section and line.")
    var format = Format.text

    func run() throws {
        let terminal = Terminal(isQuiet: true)
        var isValid = true
        for argument in text {
            guard argument == "-" || argument.hasPrefix("@") else {
                isValid = try show(argument, to: terminal) && isValid
                continue
            }
            var reader = try LineReader(path: argument == "-" ? argument : String(argument.dropFirst()))
            while let line = try reader.next() {
                if line.allSatisfy({ " \t\r".utf8.contains($0) }) { continue }
                var text = String(decoding: line, as: UTF8.self)
                // The whole rest is one document.
                if SpliceInfoSection.isXML(text) {
                    while text.utf8.count <= SpliceInfoSection.mostXMLBytes, let line = try reader.next() {
                        text += "\n" + String(decoding: line, as: UTF8.self)
                    }
                }
                isValid = try show(text, to: terminal) && isValid
            }
        }
        if !isValid { throw ExitCode(ExitStatus.failed.rawValue) }
    }

    /// Prints a section, or the reason why it cannot be decoded; false for the latter.
    private func show(_ text: String, to terminal: Terminal) throws -> Bool {
        let (json, isValid) = Self.result(of: text)
        switch format {
        case .json: try terminal.output(json: json.bytes)
        case .text: try terminal.output(FieldLines.text(of: json) + "\n")
        }
        return isValid
    }

    private static func result(of text: String) -> (json: JSONValue, isValid: Bool) {
        do throws(SpliceError) {
            if SpliceInfoSection.isXML(text) { return (try SpliceInfoSection(xml: text).json, true) }
            return (try SpliceInfoSection(text: text).json, true)
        } catch {
            var members: [String: JSONValue] = [
                "error": .string(error.code.description), "message": .string(error.message),
            ]
            if error.code == .checksum { members["section"] = (try? SpliceInfoSection(ofManifest: text))?.json }
            return (.object(members), false)
        }
    }
}
