internal import InstrumentJSON

/// A server's report about records that it has rejected, in a response of status 200.
struct OTLPPartialSuccess: Hashable {
    /// How many records or data points were rejected.
    let rejected: Int64
    /// The reason, or a warning if the server has rejected no record.
    let message: String

    /// Reads an answer; nil if it has no partial success.
    init?(_ body: [UInt8], isJSON: Bool) {
        if isJSON { self.init(json: body) } else { self.init(protobuf: body) }
        if rejected == 0, message.isEmpty { return nil }
    }

    private init(json body: [UInt8]) {
        let partial = (try? JSONValue(parsing: body))?["partialSuccess"]
        let number = partial?["rejectedLogRecords"] ?? partial?["rejectedDataPoints"]
        // Integers of 64 bits are texts; some servers send numbers.
        rejected = number?.string.flatMap { Int64($0) } ?? number?.int.map { Int64($0) } ?? 0
        message = partial?["errorMessage"]?.string ?? ""
    }

    private init(protobuf body: [UInt8]) {
        var (rejected, message) = (Int64(0), "")
        var outer = ProtobufReader(body)
        while let (field, value) = outer.next() {
            guard field == 1, case .bytes(let bytes) = value else { continue }
            var inner = ProtobufReader(bytes)
            while let (field, value) = inner.next() {
                switch (field, value) {
                case (1, .varint(let number)): rejected = Int64(bitPattern: number)
                case (2, .bytes(let text)): message = String(decoding: text, as: UTF8.self)
                default: break
                }
            }
        }
        (self.rejected, self.message) = (rejected, message)
    }
}
