/* oxlint-disable no-unused-expressions -- The function is called where the text is evaluated. */
// Tells what the ads of one document do, from the page's own world, where the objects of its players are. Listens to
// them as the page itself does, and replaces three functions of the IMA SDK, which hand over these objects, by proxies
// that do the same. No failure of this script reaches the page, and it leaves no name there. The news go to the observer
// as events of the content's element, or of the document, whose type nobody else knows.
(function (signal, search) {
  "use strict"
  const { apply, defineProperty, getOwnPropertyDescriptor } = Reflect
  const { stringify } = JSON
  const [later, now] = [setTimeout, performance.now.bind(performance)]
  const [News, Media, Page, Handler] = [CustomEvent, HTMLMediaElement, document, Proxy]
  const [dispatch, listen] = [EventTarget.prototype.dispatchEvent, EventTarget.prototype.addEventListener]
  // The shortest time between two searches for players, in milliseconds.
  const pace = 250
  const { has, add } = WeakSet.prototype
  const known = Object.assign(new WeakSet(), { has, add })
  let managers = 0
  let searched = -Infinity
  let waiting = false

  const isObject = (value) => value !== null && (typeof value === "object" || typeof value === "function")
  // Whatever the page throws, nothing happens.
  function attempt(body) { try { return body() } catch { return undefined } }
  function data(owner, name) {
    const property = isObject(owner) ? getOwnPropertyDescriptor(owner, name) : undefined
    return property && "value" in property ? property.value : undefined
  }
  function isNew(value) {
    if (!isObject(value) || known.has(value)) return false
    known.add(value)
    return true
  }
  function text(value, length) { return typeof value === "string" ? value.slice(0, length ?? 300) : undefined }
  function number(value) { return typeof value === "number" && Number.isFinite(value) ? value : undefined }

  function tell(source, kind, element, more) {
    attempt(() => {
      const news = { detail: stringify({ s: source.name, m: source.number, l: source.place, e: kind, ...more }), cancelable: true }
      // An element of which the observer does not know is none.
      if (element && !apply(dispatch, element, [new News(signal, news)])) return
      apply(dispatch, Page, [new News(signal, news)])
    })
  }

  // What an ad says of itself, to the IMA SDK and to Shaka Player.
  function facts(ad) {
    if (!isObject(ad)) return {}
    const ask = (name, owner) => attempt(() => (owner ?? ad)[name]())
    const pod = ask("getAdPodInfo")
    const podAsk = (name) => isObject(pod) ? ask(name, pod) : undefined
    const address = text(ask("getMediaUrl"), 2000)
    return {
      id: text(ask("getAdId")), ti: text(ask("getTitle")), de: text(ask("getDescription")), sy: text(ask("getAdSystem")),
      an: text(ask("getAdvertiserName")), ci: text(ask("getCreativeId") ?? ask("getCreativeAdId")),
      du: number(ask("getDuration")), kb: number(ask("getVastMediaBitrate")), wi: number(ask("getVastMediaWidth")),
      he: number(ask("getVastMediaHeight")), mu: address && attempt(() => text(new URL(address, Page.baseURI).href, 2000)),
      ro: number(podAsk("getPodIndex") ?? ask("getTimeOffset")),
      ix: number(podAsk("getAdPosition") ?? ask("getPositionInSequence")),
      of: number(podAsk("getTotalAds") ?? ask("getSequenceLength")),
    }
  }

  function failure(error, isFatal) {
    const ask = (name) => attempt(() => error[name]())
    return {
      ec: number(ask("getVastErrorCode")) > 0 ? ask("getVastErrorCode") : number(ask("getErrorCode")),
      et: text(ask("getType"), 80), em: text(ask("getMessage") ?? data(error, "message"), 500), fa: isFatal,
    }
  }

  // A function that does what it did before, after which `then` hears of its object, its arguments and its result.
  function wrap(owner, name, then) {
    const property = isObject(owner) ? getOwnPropertyDescriptor(owner, name) : undefined
    if (typeof property?.value !== "function" || known.has(property.value)) return
    const value = new Handler(property.value, {
      __proto__: null,
      apply: (original, self, values) => {
        const result = apply(original, self, values)
        attempt(() => then(self, values, result))
        return result
      },
    })
    known.add(value)
    defineProperty(owner, name, { __proto__: null, ...property, value })
  }

  // Google's IMA SDK: ads of the page in elements of the SDK, and ads in the stream (dynamic ad insertion).

  // Names of `AdEvent.Type` and `StreamEvent.Type`.
  const kinds = {
    LOADED: "loaded", STARTED: "start", FIRST_QUARTILE: "q1", MIDPOINT: "q2", THIRD_QUARTILE: "q3", COMPLETE: "complete",
    SKIPPED: "skip", PAUSED: "pause", RESUMED: "resume", CLICK: "click", AD_BUFFERING: "wait", AD_PROGRESS: "progress",
    CONTENT_PAUSE_REQUESTED: "break", CONTENT_RESUME_REQUESTED: "over", ALL_ADS_COMPLETED: "over", LOG: "log",
    AD_BREAK_STARTED: "break", AD_BREAK_ENDED: "over", ERROR: "error",
  }

  function watchManager(source, manager, types, element) {
    let isWaiting = false
    for (const name of Object.keys(kinds)) {
      const type = data(types, name)
      if (typeof type !== "string") continue
      attempt(() => manager.addEventListener(type, (event) => attempt(() => {
        const kind = kinds[name]
        const ad = attempt(() => event.getAd())
        // An ad beside the content, or on it, interrupts nothing.
        if (isObject(ad) && attempt(() => ad.isLinear()) === false) return
        if (kind === "progress" && !isWaiting) return
        isWaiting = kind === "wait"
        if (kind === "error") {
          return tell(source, kind, element, { em: text(attempt(() => event.getStreamData().errorMessage), 500), fa: true })
        }
        if (kind === "log") {
          const error = attempt(() => event.getAdData().adError)
          if (isObject(error)) tell(source, "error", element, failure(error, false))
          return
        }
        const described = facts(ad)
        const left = number(attempt(() => manager.getRemainingTime()))
        if (left >= 0 && described.du > 0) described.po = Math.max(0, described.du - left)
        tell(source, kind === "progress" ? "flow" : kind, element, described)
      })))
    }
  }

  function watchErrors(source, emitter, sdk, element) {
    const type = data(data(data(sdk, "AdErrorEvent"), "Type"), "AD_ERROR") ?? "adError"
    attempt(() => emitter.addEventListener(type, (event) => attempt(() => {
      tell(source, "error", element, failure(attempt(() => event.getError()), true))
    })))
  }

  function findIMA() {
    const sdk = data(data(window, "google"), "ima")
    if (!isObject(sdk)) return
    const prototype = (owner, name) => data(data(owner, name), "prototype")
    wrap(prototype(sdk, "AdsManagerLoadedEvent"), "getAdsManager", (_, [content], manager) => {
      if (!isNew(manager)) return
      const element = content instanceof Media ? content : null
      const source = { name: "ima", number: managers += 1, place: "other" }
      watchManager(source, manager, data(data(sdk, "AdEvent"), "Type"), element)
      watchErrors(source, manager, sdk, element)
    })
    wrap(prototype(sdk, "AdsLoader"), "requestAds", (loader) => {
      if (isNew(loader)) watchErrors({ name: "ima", number: managers += 1, place: "other" }, loader, sdk, null)
    })
    const streams = data(data(sdk, "dai"), "api")
    wrap(prototype(streams, "StreamManager"), "requestStream", (manager) => {
      if (!isNew(manager)) return
      const source = { name: "dai", number: managers += 1, place: "stream" }
      watchManager(source, manager, data(data(streams, "StreamEvent"), "Type"), null)
    })
  }

  // hls.js: interstitials, from version 1.6 on.

  function watchHLS(player, element) {
    const source = { name: "hls.js", number: managers += 1 }
    let asset = null
    const roll = (event) => event?.cue?.pre ? 0 : event?.cue?.post ? -1 : 1
    const told = (event, kind, more) => {
      source.place = event?.appendInPlace ? "stream" : "element"
      tell(source, kind, element, { ro: roll(event), ...more })
    }
    const on = (name, body) => player.on(name, (_, event) => attempt(() => body(event)))
    on("hlsInterstitialStarted", ({ event }) => told(event, "break", { id: text(event.identifier) }))
    on("hlsInterstitialAssetStarted", ({ asset: item, assetListIndex, event, player }) => {
      asset = { item, event, player, position: 0, quartile: 0 }
      told(event, "start", { id: text(item.identifier), du: number(item.duration), ix: number(assetListIndex) + 1,
        of: number(event.assetList?.length) })
    })
    on("hlsInterstitialAssetEnded", ({ event, asset: item }) => {
      look()
      const duration = number(item.duration) ?? 0
      // An end before the end, which no limit and no failure explains, is somebody's jump over the ad.
      const isEarly = asset?.item === item && duration - asset.position > 1 && !event.playoutLimit && !item.error && !event.error
      told(event, isEarly ? "skip" : "complete", { id: text(item.identifier), du: duration, po: asset?.position })
      asset = null
    })
    on("hlsInterstitialAssetError", ({ event, error, details, fatal }) => {
      told(event, "error", { et: text(details, 80), em: text(data(error, "message"), 500), fa: false })
      if (fatal) asset = null
      if (fatal) told(event, "stop")
    })
    on("hlsInterstitialEnded", ({ event }) => {
      asset = null
      told(event, "over")
    })
    function look() {
      const { item, event, player, position } = asset ?? {}
      const at = number(attempt(() => player.currentTime))
      if (!item || !(at >= position)) return
      asset.position = at
      const quartile = Math.min(3, Math.floor(at / item.duration * 4))
      if (!(quartile > asset.quartile)) return
      asset.quartile = quartile
      told(event, `q${quartile}`, { po: at })
    }
    apply(listen, element, ["timeupdate", () => attempt(look)])
  }

  // Shaka Player: interstitials, and ads of the IMA SDK, MediaTailor and others, by the same events.

  function watchShaka(player, element) {
    const manager = player.getAdManager()
    const source = { name: "shaka", number: managers += 1, place: "element" }
    const events = {
      "ad-break-started": "break", "ad-break-ended": "over", "ad-started": "start", "ad-first-quartile": "q1",
      "ad-midpoint": "q2", "ad-third-quartile": "q3", "ad-complete": "complete", "ad-stopped": "stop", "ad-skipped": "skip",
      "ad-paused": "pause", "ad-resumed": "resume", "ad-clicked": "click", "ad-buffering": "wait", "ad-error": "error",
      "ad-content-pause-requested": "break", "ad-content-resume-requested": "over", "all-ads-completed": "over",
    }
    let ad = null
    for (const name of Object.keys(events)) {
      manager.addEventListener(name, (event) => attempt(() => {
        const kind = events[name]
        const isBegin = kind === "start"
        if (isBegin) ad = attempt(() => event.ad)
        if (attempt(() => ad.isLinear()) === false) return
        if (isBegin) {
          const isStream = attempt(() => ad.isClientRendering()) === false
          source.place = attempt(() => ad.isUsingAnotherMediaElement()) ? "other" : isStream ? "stream" : "element"
        }
        const left = number(attempt(() => ad.getRemainingTime()))
        const told = kind === "error" ? failure(attempt(() => event.originalEvent.getError()), true) : facts(ad)
        if (left >= 0 && told.du > 0) told.po = Math.max(0, told.du - left)
        tell(source, kind, element, told)
      }))
    }
  }

  // Video.js with the events of videojs-contrib-ads, which plugins of ads trigger.

  function watchVideoJS(player, element) {
    const source = { name: "contrib-ads", number: managers += 1, place: "element" }
    const events = {
      adstart: "break", adend: "over", "ads-ad-started": "start", "ads-ad-ended": "complete", "ads-ad-skipped": "skip",
      "ads-first-quartile": "q1", "ads-midpoint": "q2", "ads-third-quartile": "q3", "ads-pause": "pause", "ads-play": "resume",
      "ads-click": "click", adserror: "error",
    }
    player.on(Object.keys(events), (event) => attempt(() => {
      // The content of the player is the element that plays now: a plugin may have another one for its ads.
      tell(source, events[event.type], element, events[event.type] === "error" ? { em: text(data(event, "message"), 500), fa: true } : {})
    }))
  }

  function find() {
    waiting = false
    searched = now()
    attempt(findIMA)
    // Looks at every player: none is the one that is looked for.
    attempt(() => search(null, (player) => {
      if (known.has(player)) return null
      if (Array.isArray(player.levels) && typeof player.on === "function" && player.media instanceof Media) {
        if (isNew(player)) watchHLS(player, player.media)
      } else if (typeof player.getAdManager === "function" && typeof player.getMediaElement === "function") {
        const element = player.getMediaElement()
        if (element instanceof Media && isNew(player)) watchShaka(player, element)
      } else if (typeof player.tech === "function" && typeof player.currentSource === "function") {
        const element = player.tech({ IWillNotUseThisInPlugins: true })?.el?.()
        if (element instanceof Media && isNew(player)) watchVideoJS(player, element)
      }
      return null
    }))
  }

  function look() {
    if (waiting) return
    const rest = searched + pace - now()
    if (!(rest > 0)) return find()
    waiting = true
    apply(later, undefined, [find, rest])
  }
  // Scripts have come, or an element begins: the page may have made a player.
  apply(listen, Page, ["load", (event) => {
    if (event.target?.nodeName !== "SCRIPT") return
    attempt(findIMA)
    look()
  }, true])
  for (const name of ["DOMContentLoaded", "loadstart", "loadedmetadata", "play", "playing"]) {
    apply(listen, Page, [name, () => attempt(look), true])
  }
})
