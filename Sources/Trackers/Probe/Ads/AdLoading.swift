internal import Instrument
internal import InstrumentAds
internal import InstrumentHTTP
internal import InstrumentManifests

/// What a break needs from the network.
enum AdRequest: Hashable, Sendable {
    /// A VAST or VMAP document.
    case document(AdURL)
    /// The ads of a break of a document.
    case adBreak(AdPlan.Served)
    /// The assets of an interstitial.
    case list(HTTPURL)
}

/// The outcome of a request.
enum AdAnswer: Sendable {
    case schedule(VMAPDocument, HTTPURL)
    /// The address is that of the document; nil if nothing was fetched.
    case selection(AdSelection, HTTPURL?)
    case assets(AssetList)
    case failed(AdFailure)
}

/// Fetches documents of ad servers and lists of assets, each within its time.
struct AdLoader: Sendable {
    let fetcher: any AdFetching
    let configuration: AdConfiguration
    let clock: any SchedulingClock
    let randomness: RandomSource

    private var resolver: AdResolver {
        AdResolver(fetcher, limits: configuration.limits, clock: clock, randomness: randomness)
    }

    func load(_ request: AdRequest) async -> AdAnswer {
        switch request {
        case .document(let tag): return await document(tag)
        case .adBreak(let served):
            let selection = await resolver.ads(
                of: served.adBreak,
                at: served.url,
                macros: configuration.permittedMacros
            )
            return .selection(selection, served.url)
        case .list(let url): return await assets(url)
        }
    }

    private func document(_ tag: AdURL) async -> AdAnswer {
        let values = configuration.permittedMacros.merging(.perCall(now: clock.wallTime, randomness: randomness))
        do throws(HTTPError) {
            let url = try values.expand(tag).resolved()
            let found: AdDocument
            do throws(AdFetchError) {
                found = try await fetcher.fetch(url, timeout: configuration.limits.fetchTimeout)
            } catch {
                return .failed(AdFailure(.wrapperUnavailable, error.description, urls: []))
            }
            return await read(found)
        } catch {
            return .failed(AdFailure(.wrapperUnavailable, error.message, urls: []))
        }
    }

    private func read(_ document: AdDocument) async -> AdAnswer {
        guard !document.bytes.allSatisfy(\.isWhitespace) else {
            return .failed(AdFailure(.noAds, "the response is empty", urls: []))
        }
        do throws(VASTError) {
            switch try AdDocumentKind(parsing: document.bytes, limits: configuration.limits) {
            case .vmap(let schedule): return .schedule(schedule, document.url)
            case .vast(let response):
                let macros = configuration.permittedMacros
                return .selection(await resolver.ads(of: response, at: document.url, macros: macros), document.url)
            }
        } catch {
            return .failed(AdFailure(error.code, error.message, urls: []))
        }
    }

    private func assets(_ url: HTTPURL) async -> AdAnswer {
        do throws(AdFetchError) {
            let found = try await fetcher.fetch(url, timeout: configuration.limits.fetchTimeout)
            do throws(AssetListError) {
                return .assets(try AssetList(parsing: found.bytes, at: found.url, limits: configuration.limits))
            } catch {
                return .failed(AdFailure(.schema, error.description, urls: []))
            }
        } catch {
            return .failed(AdFailure(error.isTimeOut ? .fileTimeOut : .fileNotFound, error.description, urls: []))
        }
    }
}
