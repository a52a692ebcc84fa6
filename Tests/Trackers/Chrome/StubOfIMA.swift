/// A script that behaves as Google documents its IMA SDK for HTML5, which comes from Google's servers alone: it is not
/// the SDK.
///
/// The ads are parts of the film, in an element of the container. `adTagUrl` says what is played: numbers are the
/// durations of the pod's ads in seconds, `error` fails as a response without ads does.
enum StubOfIMA {
    static let script = """
        window.google = window.google ?? {}
        google.ima = (() => {
          class Emitter {
            #listeners = new Map()
            addEventListener(types, listener) {
              for (const type of [types].flat()) this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener])
            }
            removeEventListener(type, listener) {
              this.#listeners.set(type, (this.#listeners.get(type) ?? []).filter((other) => other !== listener))
            }
            emit(type, event) { for (const listener of this.#listeners.get(type) ?? []) listener(Object.assign(event, { type })) }
          }
          class AdEvent {
            static Type = { LOADED: "loaded", STARTED: "start", FIRST_QUARTILE: "firstQuartile", MIDPOINT: "midpoint",
              THIRD_QUARTILE: "thirdQuartile", COMPLETE: "complete", SKIPPED: "skip", PAUSED: "pause", RESUMED: "resume",
              CLICK: "click", AD_BUFFERING: "adBuffering", AD_PROGRESS: "adProgress", LOG: "log",
              CONTENT_PAUSE_REQUESTED: "contentPauseRequested", CONTENT_RESUME_REQUESTED: "contentResumeRequested",
              ALL_ADS_COMPLETED: "allAdsCompleted" }
            constructor(ad, data = {}) { this.ad = ad; this.data = data }
            getAd() { return this.ad }
            getAdData() { return this.data }
          }
          class AdError {
            constructor(code, message) { this.code = code; this.message = message }
            getErrorCode() { return this.code }
            getVastErrorCode() { return this.code }
            getType() { return "adLoadError" }
            getMessage() { return this.message }
          }
          class AdErrorEvent {
            static Type = { AD_ERROR: "adError" }
            constructor(error) { this.error = error }
            getError() { return this.error }
          }
          class Ad {
            constructor(facts) { this.facts = facts }
            getAdId() { return this.facts.id }
            getTitle() { return "Soap" }
            getAdSystem() { return "Stub" }
            getDuration() { return this.facts.duration }
            // Relative, as an ad server may write it.
            getMediaUrl() { return this.facts.url.replace("http:", "") }
            getVastMediaBitrate() { return 800 }
            isLinear() { return this.facts.isLinear ?? true }
            getAdPodInfo() {
              return { getPodIndex: () => this.facts.pod, getAdPosition: () => this.facts.index, getTotalAds: () => this.facts.count }
            }
          }
          class AdDisplayContainer {
            constructor(element, content) { this.element = element; this.content = content }
            initialize() {}
          }
          class AdsManager extends Emitter {
            constructor(container, durations, pod) {
              super()
              this.container = container
              this.durations = durations
              this.pod = pod
            }
            init() {}
            getRemainingTime() { return this.video ? this.ad.getDuration() - (this.video.currentTime - this.begin) : -1 }
            tell(name, data) { this.emit(AdEvent.Type[name], new AdEvent(this.ad, data)) }
            async start() {
              const count = this.durations.length
              for (const [index, duration] of this.durations.entries()) {
                const url = "FILM&ad=" + this.pod + index
                this.ad = new Ad({ id: `ad-${this.pod}-${index + 1}`, duration, pod: this.pod, index: index + 1, count, url })
                this.tell("LOADED")
                if (index === 0) this.tell("CONTENT_PAUSE_REQUESTED")
                if (this.isDestroyed || !await this.play(url, duration)) return
              }
              this.container.element.replaceChildren()
              this.tell("CONTENT_RESUME_REQUESTED")
              this.ad = null
              this.tell("ALL_ADS_COMPLETED")
            }
            async play(url, duration) {
              const video = this.video = document.createElement("video")
              video.muted = true
              video.src = url + "#t=0,100"
              this.container.element.replaceChildren(video)
              await video.play()
              this.begin = video.currentTime
              this.tell("STARTED")
              const quartiles = ["FIRST_QUARTILE", "MIDPOINT", "THIRD_QUARTILE"]
              return new Promise((done) => {
                const timer = setInterval(() => {
                  const share = (video.currentTime - this.begin) / duration
                  this.tell("AD_PROGRESS")
                  while (quartiles.length > 0 && share >= (4 - quartiles.length) / 4) this.tell(quartiles.shift())
                  if (share < 1 && !this.isSkipped && !this.isDestroyed) return
                  clearInterval(timer)
                  video.pause()
                  if (!this.isDestroyed) this.tell(this.isSkipped ? "SKIPPED" : "COMPLETE")
                  this.isSkipped = false
                  done(!this.isDestroyed)
                }, 50)
              })
            }
            pause() { this.video.pause(); this.tell("PAUSED") }
            resume() { this.video.play(); this.tell("RESUMED") }
            skip() { this.isSkipped = true }
            destroy() { this.isDestroyed = true }
          }
          class AdsManagerLoadedEvent {
            static Type = { ADS_MANAGER_LOADED: "adsManagerLoaded" }
            #manager
            constructor(manager) { this.#manager = manager }
            getAdsManager(content) { this.#manager.content = content; return this.#manager }
          }
          class AdsLoader extends Emitter {
            constructor(container) { super(); this.container = container; this.pod = 0 }
            contentComplete() { this.pod = -1 }
            requestAds(request) {
              const pod = request.pod ?? this.pod
              setTimeout(() => {
                if (request.adTagUrl === "error") {
                  return this.emit("adError", new AdErrorEvent(new AdError(303, "no ads of https://ads.example/?token=secret")))
                }
                const manager = new AdsManager(this.container, request.adTagUrl.split(",").map(Number), pod)
                this.emit("adsManagerLoaded", new AdsManagerLoadedEvent(manager))
              }, 20)
            }
          }
          class AdsRequest {}
          return { Ad, AdDisplayContainer, AdError, AdErrorEvent, AdEvent, AdsLoader, AdsManagerLoadedEvent, AdsRequest }
        })()
        """

    /// A page that plays the film with ads as the guides of the SDK do it, and then `body` in an asynchronous function.
    static func page(_ body: String, before: String = "") -> String {
        """
        <!doctype html><title>A film</title><video id="v" muted src="FILM"></video><div id="ads"></div>
        <script src="/ima3.js"></script><script>\(before)
        const video = document.getElementById("v")
        const ima = google.ima
        const container = new ima.AdDisplayContainer(document.getElementById("ads"), video)
        const loader = new ima.AdsLoader(container)
        let waiting = null
        loader.addEventListener(ima.AdsManagerLoadedEvent.Type.ADS_MANAGER_LOADED, (event) => {
          const manager = event.getAdsManager(video, {})
          manager.addEventListener(ima.AdEvent.Type.CONTENT_PAUSE_REQUESTED, () => video.pause())
          manager.addEventListener(ima.AdEvent.Type.CONTENT_RESUME_REQUESTED, () => {
            if (!video.ended) video.play()
            waiting?.()
          })
          manager.addEventListener(ima.AdErrorEvent.Type.AD_ERROR, () => { manager.destroy(); video.play() })
          manager.init(640, 360, "normal")
          window.adsManagerOfPage = manager
          manager.start()
        })
        loader.addEventListener(ima.AdErrorEvent.Type.AD_ERROR, () => { video.play(); waiting?.() })
        function show(adTagUrl, pod) {
          const request = new ima.AdsRequest()
          Object.assign(request, { adTagUrl, pod })
          container.initialize()
          return new Promise((done) => { waiting = done; loader.requestAds(request) })
        }
        const next = (name, element = video) => new Promise((done) => element.addEventListener(name, done, { once: true }))
        const pass = async (seconds, element = video) => {
          const begin = element.currentTime
          while (element.currentTime < begin + seconds) await next("timeupdate", element)
        }
        ;(async () => { \(body) })()
        </script>
        """
    }
}
