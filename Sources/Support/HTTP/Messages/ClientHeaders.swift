/// What a client adds to each of its requests: headers of the user, and cookies.
///
/// Headers replace those of the same name. Secret ones (`Authorization`, `Cookie` and the like) go only to the origin
/// of the address that the user named, and not to where a redirect leads from there.
package struct ClientHeaders: Hashable, Sendable {
    /// The names that a user cannot set, because the client's own value has a meaning.
    package static let reserved: Set = ["accept-encoding", "range"]

    /// The headers.
    package var headers: HTTPHeaders
    /// The cookies of the servers; nil keeps none.
    package var cookies: CookieJar?

    /// Creates headers; by default none, and no cookies.
    package init(_ headers: HTTPHeaders = HTTPHeaders(), cookies: CookieJar? = nil) {
        (self.headers, self.cookies) = (headers, cookies)
    }

    /// Adds the headers and cookies to a request.
    ///
    /// - Parameter home: the address that the user named.
    package func apply(to request: inout HTTPRequest, home: HTTPURL) {
        request.cookies = cookies
        let isAtHome = request.url.origin == home.origin
        let fields = headers.fields.filter { isAtHome || !$0.isSecret }
        for field in fields { request.headers.remove(field.name) }
        for field in fields {
            request.headers.append(field.name, field.value, isSecret: field.isSecret)
            if field.isSecret { request.headersOfOrigin.append(field.name) }
        }
    }
}
