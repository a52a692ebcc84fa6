internal import Instrument

/// An answer that says nothing about the samples of a batch, because it may come from another server than the service:
/// a proxy, the sign-in page of a network, or a server at a wrong address.
enum ForeignAnswer: Hashable, Sendable {
    /// A redirect that was not followed.
    case elsewhere
    /// A status about the address, the method or the form of the request, which are the same for every sample.
    case address
    /// A web page in place of a service's answer.
    case page

    /// Reads a status; nil if a service answers with it about samples, credentials or its own condition.
    init?(status: Int) {
        switch status {
        case 300...399: self = .elsewhere
        case 400, 401, 403, 407, 408, 409, 410, 413, 422, 425, 429: return nil
        case 402...499: self = .address
        default: return nil
        }
    }

    /// Reads a response; nil if it may be the service's.
    init?(_ response: HTTPResponse) {
        if 200...299 ~= response.status, Self.isPage(response.body) {
            self = .page
        } else {
            self.init(status: response.status)
        }
    }

    /// The cause and what to do.
    var remedy: String {
        switch self {
        case .elsewhere:
            "the server redirects to another address, as the sign-in page of a network does; sign in, or configure the"
                + " service's address"
        case .address: "this concerns the address, not what was sent to it; check the address"
        case .page:
            "this is no answer of the service, but perhaps the sign-in page of a network; sign in, or check the"
                + " service's address"
        }
    }

    /// The beginnings of a web page, in small letters.
    private static let beginnings = ["<!doctype html", "<html"].map { Array($0.utf8) }

    private static func isPage(_ body: [UInt8]) -> Bool {
        var start = body.prefix(1_024)
        if start.starts(with: [0xEF, 0xBB, 0xBF]) { start = start.dropFirst(3) }
        let text = start.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
        return beginnings.contains { beginning in
            text.prefix(beginning.count).elementsEqual(beginning) { ($0 | 0x20) == ($1 | 0x20) }
        }
    }
}
