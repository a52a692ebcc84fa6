package import Instrument
package import InstrumentHTTP

/// The answer of a server that a manifest names beside its media: a steering server, or one with patches of an MPD.
package struct ServerAnswer: Sendable {
    /// The purpose of a request.
    package enum Purpose: Hashable, Sendable {
        /// A steering manifest (RFC 8216bis section 7; ETSI TS 103 998).
        case steering
        /// A patch of the MPD that was read before (ISO/IEC 23009-1 clause 5.15).
        case patch
    }

    /// What the server sent.
    package enum Response: Hashable, Sendable {
        /// The body of a response with a status of success.
        case body([UInt8])
        /// No such response: the reason, without secrets, and the status.
        case failure(String, status: Int?)
    }

    /// The purpose of the request.
    package var purpose: Purpose
    /// The address, after redirects where the server answered.
    package var url: HTTPURL
    /// What the server sent.
    package var response: Response
    /// The time at which the answer was there.
    package var fetched: Timestamp

    /// Creates an answer.
    package init(_ purpose: Purpose, url: HTTPURL, response: Response, fetched: Timestamp) {
        (self.purpose, self.url, self.response, self.fetched) = (purpose, url, response, fetched)
    }
}
