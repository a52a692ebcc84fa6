/// The status of HTTP that an error message of libVLC names.
enum HTTPStatusText {
    /// Returns `HTTP 503` for messages such as `HTTP 503 error` and `error: HTTP/1.1 503 Service Unavailable`; nil for
    /// others.
    static func code(in message: String) -> String? {
        let words = message.split { $0 == " " || $0 == ":" }
        for (word, next) in zip(words, words.dropFirst()) where word == "HTTP" || word.hasPrefix("HTTP/") {
            if next.utf8.count == 3, let status = Int(next), (400...599).contains(status) { return "HTTP \(status)" }
        }
        return nil
    }
}
