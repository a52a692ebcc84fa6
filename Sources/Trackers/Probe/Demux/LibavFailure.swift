internal import CFFmpeg
internal import CProbeShim
internal import InstrumentHTTP

/// A libav error code with the flags of the interrupt: after an abort or a timeout, the code alone is wrong.
struct LibavFailure {
    let code: Int32
    let isAborted: Bool
    let didTimeOut: Bool

    init(_ code: Int32, _ interrupt: Interrupt) {
        self.code = code
        isAborted = interrupt.isAborted
        didTimeOut = interrupt.didTimeOut
    }

    /// Whether the bytes are to blame, and not their transfer.
    var isOfContent: Bool { !isAborted && !didTimeOut && [ffmpeg_error_invalid_data, ffmpeg_error_eof].contains(code) }

    /// - Parameter proxy: the address of the proxy through which the source is opened, if any; may contain a password.
    func error(_ phase: ProbeError.Phase, _ source: MediaSource, through proxy: String? = nil) -> ProbeError {
        let (code, message) = meaning(phase)
        guard let proxy, code == .connection || code == .timedOut else {
            return ProbeError(code, phase, source, message)
        }
        // libav does not say which of both failed; a connection is one to the proxy.
        let place = ProxyAddress.place(of: proxy)
        guard code == .connection else {
            return ProbeError(code, phase, source, "\(message); it is opened through the proxy \(place)")
        }
        let found = "the proxy \(place) cannot be reached; check the address of the proxy, and whether it runs"
        return ProbeError(.proxy, phase, source, found)
    }

    private func meaning(_ phase: ProbeError.Phase) -> (ProbeError.Code, String) {
        if isAborted { return (.stopped, "stopped") }
        if didTimeOut { return (.timedOut, "no answer in time; try again, or allow more time") }
        switch code {
        case ffmpeg_error_http_not_found: return (.notFound, "the server has no such thing (404); check the address")
        case ffmpeg_error_http_unauthorized, ffmpeg_error_http_forbidden:
            return (.httpStatus, "the server does not let us (401 or 403); check the credentials")
        case ffmpeg_error_http_bad_request, ffmpeg_error_http_other_4xx:
            return (.httpStatus, "the server refused the request (4xx); check the address")
        case ffmpeg_error_http_server_error: return (.httpStatus, "the server failed (5xx); try again later")
        case -ENOENT: return (.notFound, "there is no such file")
        case -EACCES, -EPERM: return (.unreadable, "it may not be read; check its permissions")
        case -ECONNREFUSED: return (.connection, "the server refused the connection; is it running?")
        case -ETIMEDOUT: return (.timedOut, "the server did not answer in time")
        case -EHOSTUNREACH, -ENETUNREACH, -ECONNRESET, -EPIPE:
            return (.connection, "the connection failed: \(Self.text(code))")
        case ffmpeg_error_invalid_data, ffmpeg_error_demuxer_not_found, -EINVAL:
            return (.unsupportedFormat, "this is no media that the probe plays, or it is damaged")
        case ffmpeg_error_eof where phase != .read:
            return (.unsupportedFormat, "it ends inside its headers: the file is cut off")
        case -EIO where phase == .open:
            return (.connection, "no connection: check host name, network and, for https, the certificate")
        default: return (.readFailed, Self.text(code))
        }
    }

    /// libav's text for a code.
    static func text(_ code: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard let start = buffer.baseAddress else { return "error \(code)" }
            probe_error_text(code, start, buffer.count)
            return String(cString: start)
        }
    }
}
