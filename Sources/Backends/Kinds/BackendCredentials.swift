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

/// The credentials of a backend, in the environment variable or the file that the user named. They are read when they
/// are asked for.
///
/// No error contains the credentials.
public struct BackendCredentials: Sendable {
    /// Credentials are short; a file without an end must not fill the memory.
    private static let maxFileSize = 64 << 10
    private let source: SecretReference
    private let option: String
    private let form: String
    private let namesSource: Bool

    /// - Parameters:
    ///   - source: where the credentials are.
    ///   - option: the option or the key that names the source, for messages.
    ///   - form: what the source holds, for messages.
    ///   - namesSource: whether messages name every source. Without it, they name variables whose name no key looks
    ///     like: an argument may be a key that the user typed by mistake.
    package init(_ source: SecretReference, namedBy option: String, form: String, namesSource: Bool = false) {
        (self.source, self.option, self.form, self.namesSource) = (source, option, form, namesSource)
    }

    /// Reads a name and its secret, separated by a colon.
    public func pair() throws(BackendKindError) -> (name: String, secret: String) {
        let parts = try text().split(separator: ":", maxSplits: 1)
        guard parts.count == 2, let name = parts.first, let secret = parts.last else { throw noPair }
        return (String(name), String(secret))
    }

    /// Reads a key or a token: one line.
    public func secret() throws(BackendKindError) -> String {
        let text = try text()
        if text.isEmpty || text.contains(where: \.isNewline) {
            throw BackendKindError("\(place) must hold one line with a key or a token")
        }
        return text
    }

    /// Reads the whole text, without white space at its ends.
    public func text() throws(BackendKindError) -> String {
        switch source {
        case .environment(let name): String(try readVariable(name).trimmingWhitespace)
        case .file(let path): String(try readFile(path).trimmingWhitespace)
        }
    }

    /// The error that the text is no name and secret that the service can use.
    package var noPair: BackendKindError {
        BackendKindError("\(place) must hold NAME:SECRET (found something else)")
    }

    /// The place in a message.
    private var place: String {
        switch source {
        case .file(let path):
            namesSource ? "the file \(path), which \(option) names," : "the file that \(option) names"
        case .environment(let name):
            namesSource || Self.isCertainlyName(name)
                ? "the environment variable \(name), which \(option) names,"
                : "the environment variable that \(option) names"
        }
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

    private func readFile(_ path: String) throws(BackendKindError) -> String {
        // Also a pipe, because shells pass secrets through pipes.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        defer { if descriptor >= 0 { close(descriptor) } }
        guard descriptor >= 0, let bytes = try? SystemFile.read(descriptor, atMost: Self.maxFileSize),
            let text = String(validating: bytes, as: UTF8.self)
        else {
            throw BackendKindError("cannot read \(place) as UTF-8; check the path and its permissions")
        }
        return text
    }

    private func readVariable(_ name: String) throws(BackendKindError) -> String {
        guard let text = getenv(name).map({ String(cString: $0) }) else {
            throw BackendKindError(
                namesSource
                    ? "\(option) names a variable that is not set; set the environment variable \(name) to \(form)"
                    : "\(place) is not set; set it to \(form)"
            )
        }
        return text
    }
}
