internal import ArgumentParser
internal import Instrument
internal import InstrumentAds
internal import InstrumentCommandLine
internal import InstrumentJSON
internal import InstrumentTerminal
internal import InstrumentTransport

/// `player-monitor ads`: responses of ad servers.
struct AdsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ads",
        abstract: "Check responses of ad servers (VAST, VMAP).",
        subcommands: [ValidateAdsCommand.self]
    )
}

struct ValidateAdsCommand: AsyncParsableCommand {
    enum Format: String, ExpressibleByArgument, CaseIterable { case text, json }

    static let configuration = CommandConfiguration(
        commandName: "validate",
        abstract: "Validate a VAST or VMAP document; exit code 1 if it has errors.",
        discussion: """
            Prints what is wrong, with the clause of the standard, and what a player would call when, with the macros filled in. \
            Wrappers and the tags of breaks are fetched, and nothing else is: no media, no beacon.

            Examples:
              player-monitor ads validate vast.xml
              player-monitor ads validate --macro CONTENTID=film-7 \\
                  'https://ads.example.org/vmap?c=[CONTENTID]'
              player-monitor ads validate --format json - < vmap.xml
            """
    )

    @Argument(help: "File or address of a VAST or VMAP document; '-' reads standard input.")
    var source: String

    @Option(help: "Output format: 'text', or 'json' for one JSON object.")
    var format = Format.text

    @Option(name: .customLong("macro"), help: "Value of a macro, NAME=VALUE; can be given more than once.")
    var macros: [String] = []

    @Flag(help: "Do not fetch wrappers and tags of breaks.")
    var offline = false

    @Flag(help: "Refuse addresses of this machine and its network.")
    var refusePrivateAddresses = false

    func validate() throws {
        if source.isEmpty || source.contains("://") && !AdURL(source).isOfServer {
            throw ValidationError("the document must be a file, or an http or https address (found '\(source)')")
        }
        _ = try MacroValues(arguments: macros, of: "--macro")
    }

    func run() async throws {
        let values = try MacroValues(arguments: macros, of: "--macro")
        let transport = try SystemTransport.ofProgram(refusingPrivateAddresses: refusePrivateAddresses)
        let fetcher: any AdFetching = offline ? OfflineFetcher() : TransportAdFetcher(transport)
        let document = try await document(transport, values)
        let report = await AdReport(document.bytes, at: document.url, fetcher, values)
        let terminal = Terminal(isQuiet: true)
        switch format {
        case .json: try terminal.output(json: report.json.bytes)
        case .text: try terminal.output(report.text)
        }
        if report.hasErrors { throw ExitCode(ExitStatus.failed.rawValue) }
    }

    private func document(
        _ transport: SystemTransport,
        _ macros: MacroValues
    ) async throws -> (bytes: [UInt8], url: HTTPURL?) {
        if source.lowercased().hasPrefix("http://") || source.lowercased().hasPrefix("https://") {
            do {
                let call = MacroValues.perCall(now: SystemClock().wallTime, randomness: RandomSource()).merging(macros)
                let url = try HTTPURL(call.expand(AdURL(source)).secretText)
                let timeout = AdLimits().fetchTimeout
                let found = try await TransportAdFetcher(transport).fetch(url, timeout: timeout)
                return (found.bytes, found.url)
            } catch {
                Terminal(isQuiet: true).note("player-monitor: the document cannot be fetched: \("\(error)")")
                throw ExitCode(ExitStatus.failed.rawValue)
            }
        }
        var bytes: [UInt8] = []
        var reader = try LineReader(path: source)
        while let line = try reader.next() {
            bytes += line + [UInt8(ascii: "\n")]
            // One byte more than allowed is enough to be refused.
            if bytes.count > AdLimits().bytes { break }
        }
        return (bytes, nil)
    }
}

/// Fetches nothing.
struct OfflineFetcher: AdFetching {
    /// The reason of every failure.
    static let message = "not fetched, because of --offline"

    func fetch(_ url: HTTPURL, timeout: Duration) async throws(AdFetchError) -> AdDocument {
        throw AdFetchError(Self.message)
    }
}
