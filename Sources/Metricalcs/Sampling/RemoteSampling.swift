public import Instrument
internal import InstrumentFiles
public import InstrumentHTTP
public import InstrumentQuality

/// Keeps the sampling of an app up to date with a document in a file or at an address (``SamplingConfiguration``).
///
/// ```swift
/// let settings = SamplingSettings()
/// let sampling = RemoteSampling(
///     .url(url), app: "com.example.tv", key: samplingKey, settings: settings, transport: transport
/// )
/// let updates = Task { await sampling.run(every: .seconds(3600)) { print("sampling: \($0)") } }
/// ```
///
/// A document that is unreachable, damaged, unsigned, wrongly signed or older than the last one changes nothing: the
/// last good configuration remains in force. An address must be trusted: either a key is set and the document is
/// signed, or the address is `https` and its host is listed. Redirects are not followed. The app trusts a file because
/// it names the path; with a key, the file has to be signed, too.
public final class RemoteSampling: Sendable {
    /// The address of the document.
    public enum Source: Hashable, Sendable {
        /// A file of at most `maximumSize` bytes.
        case file(String)
        /// An address.
        case url(HTTPURL)
    }

    /// The largest number of bytes of a document.
    package static let maximumSize = 1 << 20

    /// The sampling that this object changes.
    public let settings: SamplingSettings
    private let source: Source
    private let app: String
    private let key: SamplingKey?
    private let trustedHosts: Set<String>
    private let transport: (any HTTPTransport)?
    private let accepted = Lock<SamplingConfiguration?>(nil)

    /// Creates a reader; nothing is read before ``refresh()``.
    ///
    /// - Parameters:
    ///   - source: where the document is.
    ///   - app: the identifier of this app in the document.
    ///   - key: the shared key of signed documents.
    ///   - trustedHosts: hosts, in lower case, whose documents need no signature over `https`.
    ///   - settings: what to change.
    ///   - transport: sends the requests; a file needs none.
    public init(
        _ source: Source,
        app: String,
        key: SamplingKey? = nil,
        trustedHosts: Set<String> = [],
        settings: SamplingSettings,
        transport: (any HTTPTransport)? = nil
    ) {
        self.source = source
        self.app = app
        self.key = key
        self.trustedHosts = trustedHosts
        self.settings = settings
        self.transport = transport
    }

    /// The configuration in force; nil before the first good document.
    public var configuration: SamplingConfiguration? { accepted.withLock { $0 } }

    /// Reads the document once and applies it. A file is read on the caller's thread.
    ///
    /// - Throws: ``SamplingError``; then the last good configuration remains in force.
    public func refresh() async throws(SamplingError) {
        let found = try SamplingConfiguration(reading: await read(), key: key)
        let settings = settings
        let app = app
        let older = accepted.withLock { accepted -> Int? in
            if let known = accepted, found.version < known.version { return known.version }
            accepted = found
            settings.current = found.sampling(of: app)
            return nil
        }
        if let older {
            throw SamplingError(
                .outdated,
                "found version \(found.version), and version \(older) is in force; raise `version`"
            )
        }
    }

    /// Refreshes now and after each interval, until the task is cancelled.
    ///
    /// - Parameters:
    ///   - interval: the time between two attempts; an error does not shorten it.
    ///   - clock: measures the interval.
    ///   - onError: receives the error of each attempt that failed.
    public func run(
        every interval: Duration,
        clock: any SchedulingClock = SystemClock(),
        onError: @Sendable (SamplingError) -> Void = { _ in }
    ) async {
        while !Task.isCancelled {
            do throws(SamplingError) { try await refresh() } catch { onError(error) }
            do { try await clock.sleep(for: max(interval, .seconds(1))) } catch { return }
        }
    }

    private func read() async throws(SamplingError) -> [UInt8] {
        switch source {
        case .file(let path): return try read(file: path)
        case .url(let url): return try await read(url)
        }
    }

    private func read(file path: String) throws(SamplingError) -> [UInt8] {
        do throws(FileError) {
            if let bytes = try SmallFile.read(path, atMost: Self.maximumSize, followsLinks: true) { return bytes }
        } catch {
            throw SamplingError(
                .unreachable,
                "\(error); the file must be readable and at most \(Self.maximumSize) bytes"
            )
        }
        throw SamplingError(.unreachable, "no file at \(path); create it, or correct the path")
    }

    private func read(_ url: HTTPURL) async throws(SamplingError) -> [UInt8] {
        guard key != nil || (url.isSecure && trustedHosts.contains(url.host)) else {
            throw SamplingError(
                .untrusted,
                "\(url.origin) is not trusted; set a key and sign the document, or use https and list the host"
            )
        }
        guard let transport else {
            throw SamplingError(.unreachable, "an address needs a transport; pass one, for example a SystemTransport")
        }
        let response: HTTPResponse
        do throws(HTTPError) {
            response = try await transport.send(HTTPRequest(.get, url, maxResponseBytes: Self.maximumSize))
        } catch {
            throw SamplingError(.unreachable, error.description)
        }
        guard response.status == 200 else {
            throw SamplingError(.unreachable, "\(url) answered \(response.status); expected 200")
        }
        return response.body
    }
}
