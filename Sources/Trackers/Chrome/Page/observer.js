/* oxlint-disable no-unused-expressions -- The function is called where the text is evaluated. */
// Observes the media elements of one document, from an isolated world: the page sees neither the function nor its
// listeners, and its changes of prototypes do not reach it. Times are those of the page's clock in milliseconds.
(function (report, api, signal) {
  "use strict"
  const maxElements = 64
  const maxText = 2000
  const maxNews = 8000
  // Reports that a document may send at once, and for each second after that; those that say only what holds now, as
  // that of the volume, leave room for those without which a playback cannot be told.
  const burst = 200
  const refill = 60
  const reserve = 100
  const minor = new Set(["volumechange", "ratechange", "resize", "encrypted", "ad"])
  // Reports of an element that wait until there is room.
  const maxMissed = 8
  // How long a page may take to put an element into another place, in milliseconds.
  const moveTime = 1000
  // A playhead that stands for so long, in milliseconds, while the element waits for data is a stall.
  const patience = 100
  const names = [
    "loadstart", "loadedmetadata", "play", "playing", "pause", "waiting", "seeking", "seeked", "ratechange",
    "volumechange", "resize", "ended", "error", "encrypted", "emptied",
  ]
  const states = new Map()
  const numbers = new WeakMap()
  let count = 0
  let budget = burst
  let refilled = performance.now()
  let isCatchingUp = false
  let isCrowdReported = false
  const collected = new FinalizationRegistry(forget)

  function text(value, length) { return String(value ?? "").slice(0, length ?? maxText) }

  // Whether a report may be sent now, and leaves room for this number of others.
  function take(rest) {
    const now = performance.now()
    budget = Math.min(burst, budget + (now - refilled) * refill / 1000)
    refilled = now
    if (budget < 1 + rest) return false
    budget -= 1
    return true
  }

  function bufferedAhead(element) {
    const { buffered, currentTime } = element
    for (let index = 0; index < buffered.length; index += 1) {
      if (buffered.start(index) <= currentTime + 0.1 && buffered.end(index) >= currentTime) {
        return buffered.end(index) - currentTime
      }
    }
    return 0
  }

  function send(kind, state, element, time, more) {
    if (!take(minor.has(kind) ? reserve : 0)) {
      if (!minor.has(kind)) {
        state.missed.push({ kind, time, more })
        if (state.missed.length > maxMissed) state.missed.shift()
      }
      if (isCatchingUp) return
      isCatchingUp = true
      setTimeout(catchUp, 1000)
      return
    }
    const message = {
      k: kind, i: state.number, t: time, z: performance.now(), p: element.currentTime, r: element.playbackRate, v: element.volume,
      m: element.muted, f: element.paused, s: element.seeking, e: element.ended, h: document.hidden,
      b: bufferedAhead(element), a: element.autoplay, u: navigator.userActivation?.isActive === true,
    }
    if (Number.isFinite(element.duration)) message.d = element.duration
    if (element.videoWidth > 0) {
      message.w = element.videoWidth
      message.y = element.videoHeight
      message.q = element.getVideoPlaybackQuality().droppedVideoFrames
    }
    report(JSON.stringify(Object.assign(message, more)))
  }

  // Not all that happened meanwhile is reported: the latest changes of each element, and what holds now.
  function catchUp() {
    isCatchingUp = false
    report(JSON.stringify({ k: "overflow", t: performance.now() }))
    for (const state of states.values()) {
      const element = state.reference.deref()
      if (!element) continue
      const missed = state.missed
      state.missed = []
      budget = Math.max(budget, missed.length + 1)
      for (const { kind, time, more } of missed) send(kind, state, element, time, more)
      send("state", state, element, performance.now())
    }
  }

  // Nothing more comes of an element.
  function forget(number) {
    if (!states.has(number)) return
    if (!take(0)) {
      setTimeout(() => forget(number), 1000)
      return
    }
    states.delete(number)
    report(JSON.stringify({ k: "gone", i: number, t: performance.now() }))
  }

  // Gives up an element that nobody has asked to play; false if there is none.
  function makeRoom() {
    if (!take(0)) return false
    budget += 1
    for (const [number, state] of states) {
      const element = state.reference.deref()
      if (!element || state.wasPlayed || !element.paused) continue
      for (const name of [...names, "timeupdate"]) element.removeEventListener(name, listen)
      element.removeEventListener(signal, hear)
      numbers.delete(element)
      collected.unregister(state)
      forget(number)
      return states.size < maxElements
    }
    return false
  }

  function source(element) {
    return { c: text(element.currentSrc || element.src), g: text(location.href),
      n: text(navigator.mediaSession?.metadata?.title || document.title, 300) }
  }

  // Since when pictures move: counted back from the second picture of the motion.
  function awaitMotion(state, element) {
    state.anchor = { position: element.currentTime, time: performance.now() }
    state.generation += 1
    state.isAwaiting = true
    if (!element.requestVideoFrameCallback) return
    const generation = state.generation
    let before = null
    const look = (_, frame) => {
      const element = state.reference.deref()
      if (!element || !state.isAwaiting || state.generation !== generation) return
      const shown = frame.expectedDisplayTime || frame.presentationTime
      const gap = before ? (frame.mediaTime - before.media) * 1000 / (element.playbackRate || 1) : 0
      if (gap > 0 && gap < 1000 && !element.paused) {
        const frames = Math.max(1, frame.presentedFrames - before.frames)
        const rate = frames * 1000 / ((frame.mediaTime - before.media) * 1000)
        return moved(state, element, Math.max(before.shown, shown - gap), rate)
      }
      before = { media: frame.mediaTime, shown, frames: frame.presentedFrames }
      element.requestVideoFrameCallback(look)
    }
    element.requestVideoFrameCallback(look)
  }

  function moved(state, element, time, rate) {
    state.isAwaiting = false
    state.waiting = null
    send("moves", state, element, time, rate > 0 && rate < 1000 ? { x: rate } : undefined)
  }

  // Without pictures (sound alone, a hidden page, a picture outside of the view), the playhead tells.
  function advanced(state, element, time) {
    if (!state.isAwaiting || element.paused || element.seeking || !state.anchor) return
    const gone = element.currentTime - state.anchor.position
    const hasPictures = element.videoWidth > 0 && !document.hidden && element.requestVideoFrameCallback
    if (gone <= 0 || (hasPictures && gone < 1)) return
    moved(state, element, Math.max(state.anchor.time, time - gone * 1000 / (element.playbackRate || 1)))
  }

  // Whether the playhead of an element that waits for data stands.
  function watch(state, waiting) {
    setTimeout(() => {
      const element = state.reference.deref()
      if (!element || state.waiting !== waiting || element.paused || element.seeking || element.ended) return
      if (element.readyState >= 3) return
      const position = element.currentTime
      if (Math.abs(position - waiting.position) > 0.03) {
        waiting.position = position
        waiting.time = performance.now()
        return watch(state, waiting)
      }
      stands(state, element, waiting)
    }, patience)
  }

  // The browser pauses an element that the page takes out of the document, and out of its shadow trees.
  function awaitReturn(state, time) {
    setTimeout(() => {
      const element = state.reference.deref()
      if (element && element.paused && !element.isConnected) send("removed", state, element, time)
    }, moveTime)
  }

  function stands(state, element, waiting) {
    state.waiting = null
    send("stands", state, element, waiting.time)
    awaitMotion(state, element)
  }

  function follow(state, element, event) {
    const time = event.timeStamp
    state.wasConnected ||= element.isConnected
    state.wasPlayed ||= !element.paused || element.autoplay
    switch (event.type) {
    case "loadstart":
      send("loadstart", state, element, time, source(element))
      awaitMotion(state, element)
      return
    case "playing": {
      const waiting = state.waiting
      state.waiting = null
      if (waiting && time - waiting.time >= patience && Math.abs(element.currentTime - waiting.position) < 0.03) {
        stands(state, element, waiting)
      }
      if (state.isAwaiting) state.anchor = { position: element.currentTime, time }
      break
    }
    case "waiting":
      if (element.seeking || element.paused) break
      state.waiting = { time, position: element.currentTime }
      watch(state, state.waiting)
      break
    case "pause":
      state.waiting = null
      if (state.wasConnected && !element.isConnected) awaitReturn(state, time)
      break
    case "emptied": case "ended":
      state.waiting = null
      break
    case "play": case "seeking":
      state.waiting = null
      awaitMotion(state, element)
      break
    case "seeked":
      if (state.isAwaiting) state.anchor = { position: element.currentTime, time }
      break
    case "error":
      send("error", state, element, time, { o: element.error?.code ?? 0, x: text(element.error?.message, 500) })
      return
    }
    send(event.type, state, element, time)
  }

  function listen(event) {
    // A page's own events are no news of the browser's.
    if (!event.isTrusted) return
    const element = event.target
    const state = states.get(numbers.get(element))
    if (!state) return
    if (event.type === "timeupdate") advanced(state, element, event.timeStamp)
    else follow(state, element, event)
  }

  // Returns the number of an element, from now on observed; 0 for one that is not.
  function adopt(element, isLate) {
    if (!(element instanceof HTMLMediaElement)) return 0
    const known = numbers.get(element)
    if (known) return known
    for (const [number, state] of states) if (!state.reference.deref()) forget(number)
    if (states.size >= maxElements) {
      // One that only loads may wait until it plays.
      if (element.paused && !element.autoplay) return 0
      if (!makeRoom()) {
        if (!isCrowdReported && take(0)) {
          isCrowdReported = true
          report(JSON.stringify({ k: "crowd", t: performance.now() }))
        }
        return 0
      }
    }
    count += 1
    const state = { number: count, reference: new WeakRef(element), generation: 0, isAwaiting: false, waiting: null,
      anchor: null, missed: [], wasConnected: element.isConnected, wasPlayed: !element.paused || element.autoplay }
    states.set(count, state)
    numbers.set(element, count)
    collected.register(element, count, state)
    for (const name of names) element.addEventListener(name, listen)
    element.addEventListener("timeupdate", listen)
    element.addEventListener(signal, hear)
    if (isLate && (element.currentSrc || element.src)) join(state, element)
    return count
  }

  // An element whose playback began before it was observed.
  function join(state, element) {
    const isUnderWay = element.currentTime > 0 && !element.paused
    send(isUnderWay ? "joined" : "loadstart", state, element, performance.now(), source(element))
    awaitMotion(state, element)
  }

  // News of ads, from the page's own world: those of an element, or of the document. Whoever cancels them has heard them.
  function hear(event) {
    if (event.defaultPrevented || typeof event.detail !== "string" || event.detail.length > maxNews) return
    const { target } = event
    const state = states.get(target instanceof HTMLMediaElement ? adopt(target, false) : 0)
    const element = state?.reference.deref()
    if (target !== document && !element) return
    event.preventDefault()
    // An ad may come before the content loads.
    if (states.size === 0) find(document)
    let news = null
    try { news = JSON.parse(event.detail) } catch { return }
    if (element) send("ad", state, element, event.timeStamp, { n: news })
    else if (take(reserve)) report(JSON.stringify({ k: "ad", i: 0, t: event.timeStamp, z: performance.now(), n: news }))
  }
  addEventListener(signal, hear, true)

  // Events of media elements do not bubble, but a document sees those of its elements before they do. Those of a
  // shadow tree do not leave it.
  function discover(event) {
    const element = event.target
    if (!event.isTrusted || !(element instanceof HTMLMediaElement) || numbers.has(element)) return
    adopt(element, event.type !== "loadstart")
  }
  for (const name of ["loadstart", "play", "playing", "timeupdate"]) addEventListener(name, discover, true)
  addEventListener("pagehide", (event) => {
    if (event.isTrusted) report(JSON.stringify({ k: "left", t: event.timeStamp }))
  })
  addEventListener("pageshow", (event) => {
    if (!event.isTrusted || !event.persisted) return
    report(JSON.stringify({ k: "hello", t: performance.now() }))
    for (const state of states.values()) {
      const element = state.reference.deref()
      if (element) join(state, element)
    }
  })
  function find(root) {
    for (const element of root.querySelectorAll("*")) {
      if (element instanceof HTMLMediaElement) adopt(element, true)
      if (element.shadowRoot) find(element.shadowRoot)
    }
  }
  globalThis[api] = {
    adopt: (element) => adopt(element, true),
    element: (number) => states.get(number)?.reference.deref() ?? null,
  }
  report(JSON.stringify({ k: "hello", t: performance.now() }))
  if (document.readyState !== "loading") find(document)
})
