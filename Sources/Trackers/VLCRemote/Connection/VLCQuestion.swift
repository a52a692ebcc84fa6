internal import Instrument
internal import InstrumentJSON
internal import InstrumentSockets
internal import InstrumentText

/// Asks the HTTP interface of a VLC; one connection for each question, as VLC closes them.
struct VLCQuestion: Sendable {
    /// Why there is no answer.
    enum Failure: Error, Hashable {
        /// Nobody listens, or the connection broke.
        case notThere(String)
        /// The player listens and does not answer in time.
        case silent(String)
        /// The player does not let us in.
        case refused(String)
        /// Something answers, and is no VLC.
        case notVLC(String)
    }

    private static let maxLength = 1 << 20

    let address: HostPort
    private let credentials: String

    init(address: HostPort, password: String) {
        (self.address, credentials) = (address, Base64.encode(Array((":" + password).utf8)))
    }

    /// Asks for a JSON document. Waits, at most as long as the time limit.
    func ask(_ path: String, _ timeout: Duration, isCancelled: @escaping () -> Bool) throws(Failure) -> JSONValue {
        let patience = Patience(timeout, isCancelled)
        let socket: TCPSocket
        switch TCPSocket.connect(to: address, patience) {
        case .success(let connected): socket = connected
        case .failure(let error): throw .notThere(error.description)
        }
        defer { socket.close() }
        let fields = [
            "GET \(path) HTTP/1.0", "Host: \(address)", "Authorization: Basic \(credentials)", "Connection: close",
        ]
        let request = Array((fields.joined(separator: "\r\n") + "\r\n\r\n").utf8)
        if case .failure(let error) = socket.write(request, patience) { throw .notThere(error.description) }
        let (status, body) = try read(socket, patience)
        switch status {
        case 200: break
        case 401: throw .refused("\(address): VLC refuses the password; it must be the value of --http-password")
        case 403: throw .refused("\(address): VLC has no password; start it with --http-password")
        default: throw notVLC("it answers the status \(status)")
        }
        do throws(JSONError) { return try JSONValue(parsing: body) } catch {
            throw notVLC("its answer is not JSON (\(error.code) at byte \(error.offset))")
        }
    }

    /// Reads an answer to its end: up to its declared length, or up to the end of the connection.
    private func read(_ socket: TCPSocket, _ patience: Patience) throws(Failure) -> (status: Int, body: [UInt8]) {
        let separator = Array("\r\n\r\n".utf8)
        var (bytes, head) = ([UInt8](), nil as (status: Int, begin: Int, length: Int?)?)
        while bytes.count <= Self.maxLength {
            if head == nil, let end = bytes.firstRange(of: separator) {
                guard let (status, length) = Self.read(head: bytes[..<end.lowerBound]) else {
                    throw notVLC("its answer is not one of HTTP")
                }
                head = (status, end.upperBound, length)
            }
            if let head, let length = head.length, bytes.count - head.begin >= length {
                return (head.status, Array(bytes[head.begin..<(head.begin + length)]))
            }
            guard socket.waitUntilReady(toWrite: false, patience) else {
                throw .silent("\(address): the player does not answer in time")
            }
            guard case .success(let piece) = socket.readSome(1 << 16) else {
                guard let head else { throw notVLC("it closes the connection") }
                return (head.status, Array(bytes[head.begin...]))
            }
            bytes += piece
        }
        throw notVLC("its answer is longer than \(Self.maxLength) bytes")
    }

    private static func read(head: ArraySlice<UInt8>) -> (status: Int, length: Int?)? {
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else { return nil }
        let length = lines.first { $0.lowercased().hasPrefix("content-length:") }
            .flatMap { Int($0.dropFirst(15).filter { $0 != " " }) }
        return (status, length.flatMap { (0...maxLength).contains($0) ? $0 : nil })
    }

    private func notVLC(_ words: String) -> Failure {
        .notVLC("\(address): no VLC listens there, because \(words); start it with --extraintf http")
    }
}
