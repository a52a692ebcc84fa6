internal import Instrument
package import InstrumentHTTP

/// The headers and cookies with which streams are requested: those of all streams, and those of single ones, which
/// replace the former where they have the same name. A reload of the configuration replaces the latter.
package final class StreamHeaders: Sendable {
    private let common: HTTPHeaders
    /// Whether each session and each check keeps the cookies of its servers until it ends.
    let keepsCookies: Bool
    private let own = Lock<[String: HTTPHeaders]>([:])

    /// - Parameters:
    ///   - common: the headers of all streams; secret ones go to the origin of a stream's address alone.
    ///   - keepsCookies: whether each session and each check keeps the cookies of its servers until it ends.
    package init(_ common: HTTPHeaders = HTTPHeaders(), keepsCookies: Bool = false) {
        (self.common, self.keepsCookies) = (common, keepsCookies)
    }

    /// Replaces the headers of single streams, by the stream's name.
    package func replace(_ headers: [String: HTTPHeaders]) { own.withLock { $0 = headers } }

    /// The headers of a stream.
    func headers(of stream: String) -> HTTPHeaders {
        guard let single = own.withLock({ $0[stream] }) else { return common }
        var headers = common
        for field in single.fields { headers.remove(field.name) }
        for field in single.fields { headers.append(field.name, field.value, isSecret: field.isSecret) }
        return headers
    }
}
