internal import ArgumentParser
internal import Foundation
internal import InstrumentBackendKinds
internal import InstrumentFiles
internal import InstrumentHTTP

/// Addresses of streams and monitors on the command line.
enum Address {
    /// Reads an address. The error says that `http://` is missing if that is all that is missing.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - owner: what the message begins with: the name of the option or argument.
    static func read(_ text: String, of owner: String) throws(ValidationError) -> HTTPURL {
        do throws(BackendKindError) { return try HTTPURL(address: text, of: owner) } catch {
            throw ValidationError(error.description)
        }
    }

    /// What to do with the path of a local file in the place of an address; nil for other texts.
    static func advice(onFile text: String) -> String? {
        let path = text.hasPrefix("file://") ? String(text.dropFirst("file://".count)) : text
        let isPath = path != text || ["/", "./", "../"].contains { text.hasPrefix($0) }
        guard isPath || !text.contains("://") && FileManager.default.fileExists(atPath: text) else { return nil }
        let name = path.split(separator: "/").last ?? ""
        return
            "'\(text)' is a local file, and streams are read from http and https addresses; serve its folder, as with "
            + "'python3 -m http.server --bind 127.0.0.1 --directory \(Folder.parent(of: path)) 8000', "
            + "and give http://127.0.0.1:8000/\(name)"
    }
}
