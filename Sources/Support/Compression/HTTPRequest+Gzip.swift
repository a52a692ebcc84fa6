public import InstrumentHTTP

extension HTTPRequest {
    /// The same request with its body packed by gzip and `Content-Encoding: gzip`, for servers that unpack it.
    ///
    /// Stays as it is if that would not make it smaller, or if it has a `Content-Encoding` already.
    public func gzipped() -> HTTPRequest {
        guard !body.isEmpty, headers["Content-Encoding"] == nil, let packed = Gzip.compress(body),
            packed.count < body.count
        else { return self }
        var request = self
        request.body = packed
        request.headers.append("Content-Encoding", "gzip")
        return request
    }
}
