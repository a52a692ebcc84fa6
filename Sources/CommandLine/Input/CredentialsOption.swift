package import ArgumentParser
internal import Foundation

/// The place that holds a service's credentials: an environment variable or a file. No message repeats the argument,
/// because a user may have typed a key by mistake.
package struct CredentialsOption: ExpressibleByArgument {
    /// A service that requires credentials.
    package enum Service: String, CaseIterable {
        case sift, xapi, seer
    }

    private static let filePrefix = "file:"
    /// The service of these credentials; nil for every service without credentials under its name.
    package let service: Service?
    private let place: String

    package init(argument: String) {
        service = Service.allCases.first { argument.hasPrefix($0.rawValue + "=") }
        place = service.map { String(argument.dropFirst($0.rawValue.count + 1)) } ?? argument
    }

    /// Reads a name and its secret, separated by a colon. Exits with code 2 if they cannot be read.
    package func pair() throws -> (name: String, secret: String) {
        let text = try place.hasPrefix(Self.filePrefix) ? readFile() : readVariable()
        let parts = text.trimmingCharacters(in: .whitespacesAndNewlines).split(separator: ":", maxSplits: 1)
        guard parts.count == 2, let name = parts.first, let secret = parts.last else { throw Self.noPair }
        return (String(name), String(secret))
    }

    package static var noPair: ValidationError {
        ValidationError("the place that --credentials-from names must hold NAME:SECRET (found something else)")
    }

    private func readFile() throws -> String {
        let path = String(place.dropFirst(Self.filePrefix.count))
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw ValidationError(
                "cannot read the file that --credentials-from names; check the path and its permissions"
            )
        }
        return text
    }

    private func readVariable() throws -> String {
        guard let text = ProcessInfo.processInfo.environment[place] else {
            throw ValidationError(
                "the environment variable that --credentials-from names is not set; set it to NAME:SECRET"
            )
        }
        return text
    }
}
