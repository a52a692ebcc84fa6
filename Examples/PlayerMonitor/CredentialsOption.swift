internal import ArgumentParser
internal import Foundation
internal import InstrumentSift

/// Where account and key are read from. No message repeats what was given: it may have been a key, by mistake.
struct CredentialsOption: ExpressibleByArgument {
    /// A service that wants to know who sends.
    enum Service: String, CaseIterable {
        case sift, xapi, seer
    }

    private static let filePrefix = "file:"
    /// Whom they are for; nil for whoever has none of its own.
    let service: Service?
    private let place: String

    init(argument: String) {
        service = Service.allCases.first { argument.hasPrefix($0.rawValue + "=") }
        place = service.map { String(argument.dropFirst($0.rawValue.count + 1)) } ?? argument
    }

    /// Account and key; ends with 2 if there are none.
    func read() throws -> SiftCredentials {
        let (account, key) = try pair()
        guard let credentials = SiftCredentials(accountID: account, beaconKey: key) else { throw Self.noPair }
        return credentials
    }

    /// A name and its secret, with a colon in between; ends with 2 if there are none.
    func pair() throws -> (name: String, secret: String) {
        let text = try place.hasPrefix(Self.filePrefix) ? readFile() : readVariable()
        let parts = text.trimmingCharacters(in: .whitespacesAndNewlines).split(separator: ":", maxSplits: 1)
        guard parts.count == 2, let name = parts.first, let secret = parts.last else { throw Self.noPair }
        return (String(name), String(secret))
    }

    private static var noPair: ValidationError {
        ValidationError("what --credentials-from names does not hold NAME:SECRET")
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
