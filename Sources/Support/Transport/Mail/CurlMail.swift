#if !canImport(Darwin)
internal import CCurl
internal import CTransportShim
internal import Instrument
internal import InstrumentHTTP
internal import InstrumentText

/// Sends mails with libcurl, which the transport links anyway: TLS, `STARTTLS`, the kinds of login and the checks of
/// certificates are those of its other requests.
///
/// Each mail has a connection and a thread: alerts are few. A task that is cancelled waits no longer, but its mail may
/// still be sent.
package struct CurlMailTransport: MailTransport {
    private let allowsPrivateAddresses: Bool

    package init(allowsPrivateAddresses: Bool = true) { self.allowsPrivateAddresses = allowsPrivateAddresses }

    package func send(_ mail: Mail) async throws(MailError) -> String {
        let allowsPrivateAddresses = allowsPrivateAddresses
        let result: Result<String, MailError> = await withCheckedContinuation { continuation in
            let isStarted = CurlThread.start {
                continuation.resume(returning: CurlMail(mail)?.perform(allowsPrivateAddresses) ?? Self.noMemory)
            }
            if !isStarted {
                let reason = "cannot create a thread for a mail: the process has reached its thread limit"
                continuation.resume(returning: .failure(.temporary(reason)))
            }
        }
        return try result.get()
    }

    private static var noMemory: Result<String, MailError> {
        .failure(.temporary("libcurl cannot allocate memory for a mail; free some"))
    }
}

/// A mail in libcurl's hands; lives on one thread.
private final class CurlMail {
    private let mail: Mail
    private let easy: UnsafeMutableRawPointer
    private var recipients: UnsafeMutablePointer<curl_slist>?
    /// How much of the message libcurl has taken.
    private var sent = 0
    /// The replies of the server.
    private var replies: [UInt8] = []
    private static let mostReplyBytes = 16 << 10
    private let openings: UnsafeMutablePointer<transport_openings>

    /// Nil if there is no memory.
    init?(_ mail: Mail) {
        guard CurlLoop.isPrepared, let easy = curl_easy_init() else { return nil }
        (self.mail, self.easy) = (mail, easy)
        openings = .allocate(capacity: 1)
        openings.initialize(to: transport_openings(has_refused: false, has_opened: false))
    }

    deinit {
        curl_slist_free_all(recipients)
        openings.deallocate()
    }

    /// Sends the mail, once.
    func perform(_ allowsPrivateAddresses: Bool) -> Result<String, MailError> {
        // Here and not later, because libcurl says goodbye to the server, whose reply comes to this object.
        defer { curl_easy_cleanup(easy) }
        if mail.encryption == .none, mail.login != nil {
            return .failure(.unauthorized("a password is not sent without TLS; use TLS"))
        }
        guard [mail.sender, mail.recipient].allSatisfy(Self.isSafe) else {
            return .failure(.refused("an address of a mail must not have white space, brackets or control characters"))
        }
        let authorities: [UInt8]?
        do throws(HTTPError) { authorities = try mail.additionalCAFile.map(CurlAuthorities.read) } catch {
            return .failure(.temporary(error.message))
        }
        guard configure(authorities, allowsPrivateAddresses) else {
            return .failure(.temporary("libcurl refused a setting of a mail; install a libcurl with SMTP and TLS"))
        }
        return outcome(curl_easy_perform(easy))
    }

    /// Nothing that ends the command in which the address stands.
    private static func isSafe(_ address: String) -> Bool {
        !address.isEmpty && address.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x3C && $0 != 0x3E }
    }

    private func configure(_ authorities: [UInt8]?, _ allowsPrivateAddresses: Bool) -> Bool {
        configureEnvelope() && configureSecurity(authorities) && configureStreams()
            && (allowsPrivateAddresses || transport_refuse_private_addresses(easy, openings) == CURLE_OK)
    }

    private func configureEnvelope() -> Bool {
        recipients = curl_slist_append(nil, "<\(mail.recipient)>")
        guard let recipients else { return false }
        let url = "\(mail.encryption == .implicit ? "smtps" : "smtp")://\(mail.server)"
        let limit = min(max(1, mail.timeout.milliseconds), Int(Int32.max))
        return set(CURLOPT_URL, url) && transport_restrict_to_mail(easy) == CURLE_OK
            && set(CURLOPT_NOSIGNAL, 1) && set(CURLOPT_PROXY, "")
            && set(CURLOPT_TIMEOUT_MS, limit) && set(CURLOPT_CONNECTTIMEOUT_MS, min(limit, 10_000))
            && set(CURLOPT_MAIL_FROM, "<\(mail.sender)>")
            && transport_set_pointer(easy, CURLOPT_MAIL_RCPT, recipients) == CURLE_OK
    }

    private func configureSecurity(_ authorities: [UInt8]?) -> Bool {
        let trust = authorities?.withUnsafeBytes { transport_set_authorities(easy, $0.baseAddress, $0.count) }
        let encryption = mail.encryption == .none ? CURLUSESSL_NONE : CURLUSESSL_ALL
        if let login = mail.login {
            guard set(CURLOPT_USERNAME, login.user), set(CURLOPT_PASSWORD, login.password) else { return false }
        }
        return set(CURLOPT_USE_SSL, Int(encryption.rawValue)) && (trust ?? CURLE_OK) == CURLE_OK
            && set(CURLOPT_SSL_VERIFYPEER, 1) && set(CURLOPT_SSL_VERIFYHOST, 2)
            && set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    }

    private func configureStreams() -> Bool {
        // The pointers stay valid: this object outlives the transfer.
        let context = Unmanaged.passUnretained(self).toOpaque()
        return set(CURLOPT_UPLOAD, 1)
            && transport_set_large(easy, CURLOPT_INFILESIZE_LARGE, Int64(mail.message.count)) == CURLE_OK
            && [CURLOPT_READDATA, CURLOPT_HEADERDATA, CURLOPT_WRITEDATA].allSatisfy {
                transport_set_pointer(easy, $0, context) == CURLE_OK
            }
            && transport_set_receiver(easy, CURLOPT_READFUNCTION) { buffer, size, count, context in
                guard let buffer, let context else { return 0 }
                return Unmanaged<CurlMail>.fromOpaque(context).takeUnretainedValue().give(buffer, size * count)
            } == CURLE_OK
            && transport_set_receiver(easy, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
                guard let bytes, let context else { return 0 }
                Unmanaged<CurlMail>.fromOpaque(context).takeUnretainedValue()
                    .take(UnsafeRawBufferPointer(start: bytes, count: size * count))
                return size * count
            } == CURLE_OK
            && transport_set_receiver(easy, CURLOPT_WRITEFUNCTION) { _, size, count, _ in size * count } == CURLE_OK
    }

    private func give(_ buffer: UnsafeMutablePointer<CChar>, _ capacity: Int) -> Int {
        let piece = mail.message[sent...].prefix(capacity)
        UnsafeMutableRawBufferPointer(start: buffer, count: capacity).copyBytes(from: piece)
        sent += piece.count
        return piece.count
    }

    /// Keeps the latest replies.
    private func take(_ line: UnsafeRawBufferPointer) {
        replies.append(contentsOf: line.prefix(Self.mostReplyBytes))
        if replies.count > Self.mostReplyBytes { replies.removeFirst(replies.count - Self.mostReplyBytes) }
    }

    private func outcome(_ result: CURLcode) -> Result<String, MailError> {
        let code = transport_get_long(easy, CURLINFO_RESPONSE_CODE)
        let words = words(code)
        if result == CURLE_OK { return .success(words ?? "\(code)") }
        let cause = String(cString: curl_easy_strerror(result))
        let reason = "SMTP: " + (words.map { "\($0) (\(cause))" } ?? cause)
        if openings.pointee.has_refused, !openings.pointee.has_opened {
            return .failure(
                .temporary("SMTP: the server has a private address, which --refuse-private-addresses refuses")
            )
        }
        if result == CURLE_LOGIN_DENIED { return .failure(.unauthorized(reason)) }
        // The code of an earlier reply says nothing about a connection or TLS that failed after it.
        let isReply = [CURLE_SEND_ERROR, CURLE_WEIRD_SERVER_REPLY, CURLE_REMOTE_ACCESS_DENIED, CURLE_RECV_ERROR]
            .contains(result)
        return .failure(isReply ? Self.error(code, reason) : .temporary(reason))
    }

    private static func error(_ code: Int, _ reason: String) -> MailError {
        switch code {
        case 530, 534, 535, 538: .unauthorized(reason)
        case 552: .tooLarge(reason)
        case 500...599: .refused(reason)
        default: .temporary(reason)
        }
    }

    /// The lines of the latest reply with the code; the reply to the goodbye may follow.
    private func words(_ code: Int) -> String? {
        let lines = String(decoding: replies, as: UTF8.self).split(whereSeparator: \.isNewline)
        let isReply = { (line: Substring) -> Bool in line.hasPrefix("\(code)") }
        let end = lines.lastIndex(where: isReply) ?? lines.startIndex
        let start = lines[..<end].lastIndex { !isReply($0) }.map { $0 + 1 } ?? lines.startIndex
        let last = lines.isEmpty ? "" : lines[start...end].joined(separator: " ")
        let secrets = mail.login.map { login in
            // Also as the kinds of login send it (RFC 4616, RFC 4954).
            [login.password, Base64.encode(Array(login.password.utf8))]
                + [Base64.encode(Array("\0\(login.user)\0\(login.password)".utf8))]
        }
        return ServerWords.words(last, hiding: secrets ?? [])
    }

    private func set(_ option: CURLoption, _ value: Int) -> Bool { transport_set_long(easy, option, value) == CURLE_OK }

    private func set(_ option: CURLoption, _ text: String) -> Bool {
        text.withCString { transport_set_pointer(easy, option, $0) == CURLE_OK }
    }
}
#endif
