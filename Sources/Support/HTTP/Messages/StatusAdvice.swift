/// The remedies for error statuses (RFC 9110 section 15), in one place for all messages.
package enum StatusAdvice {
    /// What to do about a status, as a clause without capital letter and full stop.
    package static func remedy(for status: Int) -> String {
        switch status {
        case 300..<400: "check the redirects of the server"
        case 401, 403:
            "check the access rights, whether a token or a signature has expired, and whether a cookie or header is missing"
        case 404: "check the address"
        case 405, 501: "configure the server to answer GET and HEAD"
        case 406, 415: "check the content types that the server offers"
        case 407: "give the proxy's user and password"
        case 408, 425, 429: "try again later, with fewer requests"
        case 410: "remove the address from the playlist or manifest: the server says that the resource will not return"
        case 414, 431: "shorten the address or the headers"
        case 416: "compare the requested byte range with the size of the file"
        case 421: "check which server the name leads to"
        case 451: "check the legal restrictions at this place"
        case 400..<500: "check the address and the request's parameters"
        case 502, 504: "check the server behind the gateway, or try again later"
        case 500...: "check the server's log, or try again later"
        default: "check the server"
        }
    }

    /// The remedy as a sentence.
    package static func sentence(for status: Int) -> String {
        let text = remedy(for: status)
        return text.prefix(1).uppercased() + text.dropFirst() + "."
    }
}
