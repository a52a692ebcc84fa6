#if !canImport(Darwin)
internal import InstrumentHTTP
internal import CCurl
internal import CTransportShim

/// All transfers of a transport; lives and ends on the transport's thread.
struct CurlLoop: ~Copyable {
    let multi: UnsafeMutableRawPointer
    private let settings: CurlSettings
    private var transfers: [UInt64: CurlTransfer] = [:]
    /// Handles that have done their work and serve again, which saves making them.
    private var spare: [UnsafeMutableRawPointer] = []
    private static let maxSpare = 16

    /// libcurl's own preparation, once in a process.
    private static let isPrepared: Bool = {
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
        transport_set_multi_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, limit)
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
            for transfer in transfers.values { transfer.exchange.end(.failure(.cancelled(transfer.url))) }
            return false
        }
        for exchange in news.begun where !exchange.hasEnded { begin(exchange) }
        for number in news.abandoned {
            if let transfer = transfers.removeValue(forKey: number) { retire(transfer) }
        }
        var running: Int32 = 0
        curl_multi_perform(multi, &running)
        endFinished()
        return true
    }

    /// Waits until there is something to do or news.
    func sleep() {
        var ready: Int32 = 0
        // libcurl wakes up earlier for its own deadlines.
        transport_begin_waiting()
        curl_multi_poll(multi, nil, 0, 60_000, &ready)
        transport_end_waiting()
    }

    private mutating func begin(_ exchange: Exchange) {
        let url = exchange.request.url
        guard let easy = spare.popLast() ?? curl_easy_init() else {
            return fail(
                exchange,
                HTTPError(.system, "libcurl cannot allocate memory for a request; free some", url: url)
            )
        }
        let transfer = CurlTransfer(exchange, easy)
        guard transfer.configure(settings), curl_multi_add_handle(multi, easy) == CURLM_OK else {
            curl_easy_cleanup(easy)
            return fail(exchange, HTTPError(.system, "libcurl refused the request; install a newer libcurl", url: url))
        }
        transfers[exchange.number] = transfer
    }

    private func fail(_ exchange: Exchange, _ error: HTTPError) { exchange.end(.failure(error)) }

    private mutating func endFinished() {
        var result = CURLE_OK
        while let easy = transport_next_ended(multi, &result) {
            guard let context = transport_get_context(easy) else { continue }
            let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
            let outcome = transfer.outcome(result)
            transfers.removeValue(forKey: transfer.exchange.number)
            retire(transfer)
            transfer.exchange.end(outcome)
        }
    }

    /// Takes a transfer out; its connection stays if it can serve another.
    private mutating func retire(_ transfer: CurlTransfer) {
        curl_multi_remove_handle(multi, transfer.easy)
        guard spare.count < Self.maxSpare else { return curl_easy_cleanup(transfer.easy) }
        curl_easy_reset(transfer.easy)
        spare.append(transfer.easy)
    }
}
#endif
