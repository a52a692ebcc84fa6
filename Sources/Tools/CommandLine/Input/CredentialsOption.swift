package import ArgumentParser
internal import Instrument
internal import InstrumentFiles
internal import InstrumentText

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The place that holds a service's credentials: an environment variable or a file. A message repeats the argument only
/// if it certainly is the name of a variable, because a user may have typed a key by mistake.
package struct CredentialsOption: ExpressibleByArgument {
    /// A service that requires credentials.
    package enum Service: String, CaseIterable {
        case sift, xapi, seer, influx, newrelic, otlp, kafka, nats

        /// What the variable or the file holds.
        package var form: String {
            switch self {
            case .sift: "ACCOUNT:KEY"
            case .xapi, .kafka: "USER:PASSWORD"
            case .seer: "CLIENT:SECRET"
            case .influx: "USER:PASSWORD, or a token"
            case .newrelic: "a license key"
            case .otlp: "HEADER:VALUE"
            case .nats: "USER:PASSWORD, a token, a seed, or the text of a credentials file"
            }
        }
    }

    private static let filePrefix = "file:"
    /// Credentials are short; a file without an end must not fill the memory.
    private static let maxFileSize = 64 << 10
    /// The service of these credentials; nil for every service without credentials under its name.
    package let service: Service?
    private let place: String

    package init(argument: String) {
        service = Service.allCases.first { argument.hasPrefix($0.rawValue + "=") }
        place = service.map { String(argument.dropFirst($0.rawValue.count + 1)) } ?? argument
    }

    /// Reads a name and its secret, separated by a colon. Exits with code 2 if they cannot be read.
    package func pair() throws -> (name: String, secret: String) {
        let parts = try text().split(separator: ":", maxSplits: 1)
        guard parts.count == 2, let name = parts.first, let secret = parts.last else { throw noPair }
        return (String(name), String(secret))
    }

    /// Reads a key or a token: the whole text. Exits with code 2 if it cannot be read.
    package func secret() throws -> String {
        let text = try text()
        if text.isEmpty || text.contains(where: \.isNewline) {
            throw ValidationError("\(placeText) must hold one line with a key or a token")
        }
        return text
    }

    /// Reads the whole text. Exits with code 2 if it cannot be read.
    package func text() throws -> String {
        let text = try place.hasPrefix(Self.filePrefix) ? readFile() : readVariable()
        return String(text.trimmingWhitespace)
    }

    /// That the text is no name and secret.
    package var noPair: ValidationError {
        ValidationError("\(placeText) must hold NAME:SECRET (found something else)")
    }

    /// The place in a message.
    private var placeText: String {
        if place.hasPrefix(Self.filePrefix) { return "the file that --credentials-from names" }
        guard Self.isCertainlyName(place) else { return "the environment variable that --credentials-from names" }
        return "the environment variable \(place), which --credentials-from names,"
    }

    /// Whether a text consists of words of capital letters, and perhaps a number, joined by underscores: what people
    /// call variables, and what no generated key looks like.
    private static func isCertainlyName(_ text: String) -> Bool {
        let words = text.split(separator: "_", omittingEmptySubsequences: false)
        return text.utf8.count <= 40 && words.first?.first?.isNumber == false
            && words.allSatisfy { word in
                let isNumber = word.utf8.count <= 2 && word.utf8.allSatisfy(\.isDigit)
                let isWord = word.utf8.count <= 14 && word.utf8.allSatisfy { (0x41...0x5A).contains($0) }
                return !word.isEmpty && (isNumber || isWord)
            }
    }

    private func readFile() throws -> String {
        // Also a pipe, because shells pass secrets through pipes.
        let descriptor = open(String(place.dropFirst(Self.filePrefix.count)), O_RDONLY | O_CLOEXEC)
        defer { if descriptor >= 0 { close(descriptor) } }
        guard descriptor >= 0, let bytes = try? SystemFile.read(descriptor, atMost: Self.maxFileSize),
            let text = String(validating: bytes, as: UTF8.self)
        else {
            throw ValidationError(
                "cannot read the file that --credentials-from names as UTF-8; check the path and its permissions"
            )
        }
        return text
    }

    private func readVariable() throws -> String {
        guard let text = getenv(place).map({ String(cString: $0) }) else {
            let form = service?.form ?? "the credentials"
            throw ValidationError("\(placeText) is not set; set it to \(form)")
        }
        return text
    }
}
