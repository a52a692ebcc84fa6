package import InstrumentHTTP

extension HTTPURL {
    /// Reads an address of a command line. The error says that `http://` is missing if that is all that is missing.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - owner: what the message begins with: the name of the option, argument or backend.
    ///   - prefix: what stands in front of the address in the argument.
    package init(address text: String, of owner: String, prefix: String = "") throws(BackendKindError) {
        if text.isEmpty {
            throw BackendKindError("\(owner) needs an address, such as \(prefix)https://example.org")
        }
        do throws(HTTPError) { try self.init(text) } catch {
            if let advice = Self.advice(on: text, prefix: prefix) {
                throw BackendKindError("\(owner) needs http:// or https:// in front of the address; \(advice)")
            }
            throw BackendKindError("\(owner): \(error.message)")
        }
    }

    /// What to write for an address whose scheme was forgotten; nil for any other text.
    private static func advice(on text: String, prefix: String) -> String? {
        guard !text.contains("://"), let url = try? HTTPURL("https://" + text), looksLikeHost(url.host) else {
            return nil
        }
        let scheme = url.host == "localhost" || url.host.hasPrefix("127.") || url.host == "[::1]" ? "http" : "https"
        return "write \(prefix)\(scheme)://\(text)"
    }

    /// Whether the text is a name with a dot, an address, or this machine.
    private static func looksLikeHost(_ host: String) -> Bool {
        host == "localhost" || host.hasPrefix("[")
            || (host.contains(".") && !host.hasPrefix(".") && !host.hasSuffix("."))
    }
}
