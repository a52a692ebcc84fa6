#if !canImport(Darwin)
internal import InstrumentHTTP
internal import CCurl
internal import CTransportShim
internal import Instrument

/// All transfers of a transport; lives and ends on the transport's thread.
struct CurlLoop: ~Copyable {
    let multi: UnsafeMutableRawPointer
    private let settings: CurlSettings
    private let clock = SystemClock()
    private var transfers: [UInt64: CurlTransfer] = [:]
    private var turns: HostTurns
    private let pauses = CurlPauses()
    /// Handles whose transfer has succeeded and that serve again, which saves making them. After any other end, a
    /// handle may keep a part of its transfer's state: after a failed name lookup libcurl 7.88 refuses options of the
    /// next transfer.
    private var spare: [UnsafeMutableRawPointer] = []
    private static let maxSpare = 16

    /// libcurl's own preparation, once in a process.
    static let isPrepared: Bool = {
        let isPrepared = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
        // Afterwards, so that at the end of the process it comes before what libcurl's libraries do there.
        transport_prepare_end_of_process()
        return isPrepared
    }()

    /// Nil if there is no memory.
    init?(_ settings: CurlSettings) {
        guard Self.isPrepared, let multi = curl_multi_init() else { return nil }
        self.multi = multi
        self.settings = settings
        let limit = settings.configuration.maxConnectionsPerHost
        turns = HostTurns(limit: limit)
        // By default libcurl keeps four connections for each request in flight, which has no bound.
        transport_set_multi_long(multi, CURLMOPT_MAXCONNECTS, max(limit, 32))
    }

    deinit {
        for transfer in transfers.values {
            curl_multi_remove_handle(multi, transfer.easy)
            curl_easy_cleanup(transfer.easy)
        }
        for easy in spare { curl_easy_cleanup(easy) }
        curl_multi_cleanup(multi)
    }

    /// Does all that can be done without waiting; false once the transport is shut down.
    mutating func turn(_ news: CurlEngine.News) -> Bool {
        if news.isShutDown {
            for exchange in turns.waiting + transfers.values.map(\.exchange) {
                exchange.end(.failure(.cancelled(exchange.request.url)))
            }
            return false
        }
        for exchange in news.begun where !exchange.hasEnded && turns.admit(exchange) { begin(exchange) }
        for number in news.abandoned {
            if let transfer = transfers.removeValue(forKey: number) { retire(transfer, keepsHandle: false) }
        }
        endLate(hasAbandoned: !news.abandoned.isEmpty)
        for number in pauses.takeDue(at: clock.now) {
            // Offers the bytes again, which may pause the transfer again.
            if let transfer = transfers[number] { curl_easy_pause(transfer.easy, 0) }
        }
        var running: Int32 = 0
        curl_multi_perform(multi, &running)
        endFinished()
        return true
    }

    /// Waits until there is something to do or news.
    func sleep() {
        var ready: Int32 = 0
        let next = [turns.nextDeadline, pauses.next].compactMap(\.self).min()
        let longest = next.map { clock.now.duration(to: $0).milliseconds + 1 } ?? 60_000
        // libcurl wakes up earlier for its own deadlines.
        transport_begin_waiting()
        curl_multi_poll(multi, nil, 0, Int32(clamping: min(max(0, longest), 60_000)), &ready)
        transport_end_waiting()
    }

    /// Begins an admitted request; where it cannot begin, the one that waits for its place.
    private mutating func begin(_ exchange: Exchange) {
        var next: Exchange? = exchange
        while let exchange = next {
            do throws(HTTPError) {
                transfers[exchange.number] = try start(exchange)
                return
            } catch {
                exchange.end(.failure(error))
                next = turns.release(exchange)
            }
        }
    }

    private mutating func start(_ exchange: Exchange) throws(HTTPError) -> CurlTransfer {
        // A used handle that refuses a setting is no reason to refuse the request.
        if let spare = spare.popLast(), let transfer = hand(exchange, to: spare) { return transfer }
        let url = exchange.request.url
        guard let fresh = curl_easy_init() else {
            throw HTTPError(.system, "libcurl cannot allocate memory for a request; free some", url: url)
        }
        guard let transfer = hand(exchange, to: fresh) else {
            throw HTTPError(.system, "libcurl refused the request; install a newer libcurl", url: url)
        }
        return transfer
    }

    /// Has a handle carry out a request; ends the handle and returns nil if libcurl refuses.
    private func hand(_ exchange: Exchange, to easy: UnsafeMutableRawPointer) -> CurlTransfer? {
        let transfer = CurlTransfer(exchange, easy, pauses)
        guard transfer.configure(settings, at: clock.now), curl_multi_add_handle(multi, easy) == CURLM_OK else {
            curl_easy_cleanup(easy)
            return nil
        }
        return transfer
    }

    /// Ends the requests whose time is over before their turn came.
    private mutating func endLate(hasAbandoned: Bool) {
        guard let deadline = turns.nextDeadline else { return }
        let now = clock.now
        guard hasAbandoned || deadline <= now else { return }
        for exchange in turns.removeEnded(at: now) {
            let message =
                "no connection to the host became free in time; allow more connections for each host, or more time"
            exchange.end(.failure(HTTPError(.timedOut, message, url: exchange.request.url)))
        }
    }

    private mutating func endFinished() {
        var result = CURLE_OK
        while let easy = transport_next_ended(multi, &result) {
            guard let context = transport_get_context(easy) else { continue }
            let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
            let outcome = transfer.outcome(result)
            transfers.removeValue(forKey: transfer.exchange.number)
            retire(transfer, keepsHandle: result == CURLE_OK)
            transfer.exchange.end(outcome)
        }
    }

    /// Takes a transfer out; its connection stays if it can serve another. Begins the request that waits for its place.
    private mutating func retire(_ transfer: CurlTransfer, keepsHandle: Bool) {
        curl_multi_remove_handle(multi, transfer.easy)
        pauses.due[transfer.exchange.number] = nil
        if keepsHandle, spare.count < Self.maxSpare {
            curl_easy_reset(transfer.easy)
            spare.append(transfer.easy)
        } else {
            curl_easy_cleanup(transfer.easy)
        }
        if let next = turns.release(transfer.exchange) { begin(next) }
    }
}
#endif
