internal import ArgumentParser
internal import Foundation
internal import InstrumentSift

/// Where account and key are read from. No message repeats what was given: it may have been a key, by mistake.
struct CredentialsOption: ExpressibleByArgument {
    private static let filePrefix = "file:"
    private let place: String

    init(argument: String) { place = argument }

    /// Account and key; ends with 2 if there are none.
    func read() throws -> SiftCredentials {
        let text = try place.hasPrefix(Self.filePrefix) ? readFile() : readVariable()
        let parts = text.trimmingCharacters(in: .whitespacesAndNewlines).split(separator: ":", maxSplits: 1)
        guard parts.count == 2,
            let credentials = SiftCredentials(accountID: String(parts[0]), beaconKey: String(parts[1]))
        else { throw ValidationError("what --credentials-from names does not hold ACCOUNT:KEY") }
        return credentials
    }

    private func readFile() throws -> String {
        let path = String(place.dropFirst(Self.filePrefix.count))
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw ValidationError("the file of --credentials-from cannot be read")
        }
        return text
    }

    private func readVariable() throws -> String {
        guard let text = ProcessInfo.processInfo.environment[place] else {
            throw ValidationError("the environment has no variable of the name that --credentials-from gives")
        }
        return text
    }
}
