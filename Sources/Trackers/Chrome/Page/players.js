/* oxlint-disable no-unused-expressions -- The function is called where the text is evaluated. */
// Reads what a player says of the media element `this`, in the page's own world. The page may have changed anything:
// only data properties are read by name, and every value is checked again by the receiver.
(function () {
  "use strict"
  const element = this
  const isObject = (value) => value !== null && typeof value === "object"
  function data(owner, name) {
    const property = Object.getOwnPropertyDescriptor(owner, name)
    return property && "value" in property ? property.value : undefined
  }
  const readers = [
    (player) => {
      if (!Array.isArray(player.levels) || player.media !== element) return null
      const level = player.levels[player.currentLevel]
      return { n: "hls.js", b: level?.bitrate, l: player.latency, t: player.bandwidthEstimate }
    },
    (player) => {
      if (typeof player.getVideoElement !== "function" || player.getVideoElement() !== element) return null
      const current = player.getCurrentRepresentationForType?.("video")
      const list = current ? null : player.getBitrateInfoListFor?.("video")
      const bitrate = current?.bandwidth ?? list?.[player.getQualityFor?.("video")]?.bitrate
      const throughput = player.getAverageThroughput?.("video") * 1000
      return { n: "dash.js", b: bitrate, l: player.getCurrentLiveLatency?.(), t: throughput }
    },
    (player) => {
      if (typeof player.getMediaElement !== "function" || player.getMediaElement() !== element) return null
      const figures = player.getStats?.()
      const latency = player.isLive?.() ? figures?.liveLatency : undefined
      return { n: "shaka", b: figures?.streamBandwidth, l: latency, t: figures?.estimatedBandwidth }
    },
    (player) => {
      if (typeof player.tech !== "function" || typeof player.currentSource !== "function") return null
      const tech = player.tech({ IWillNotUseThisInPlugins: true })
      if (tech?.el?.() !== element) return null
      // Before 7.8 its name was `hls`.
      const streaming = tech.vhs ?? tech.hls
      const bitrate = streaming?.playlists?.media?.()?.attributes?.BANDWIDTH
      return { n: "video.js", b: bitrate, t: streaming?.systemBandwidth ?? streaming?.bandwidth }
    },
  ]
  function read(player) {
    if (!isObject(player)) return null
    for (const reader of readers) {
      try {
        const figures = reader(player)
        if (figures) return figures
      } catch { /* Not a player. */ }
    }
    return null
  }
  const inner = ["hls", "hlsPlayer", "dash", "shaka", "player", "instance", "engine"]
  function look(owner, depth) {
    const names = Object.getOwnPropertyNames(owner)
    for (const name of depth === 0 ? names.slice(0, 2000) : inner) {
      const value = data(owner, name)
      if (!isObject(value) || value === window) continue
      const figures = read(value) ?? (depth < 1 ? look(value, 1) : null)
      if (figures) return figures
    }
    return null
  }
  // Seconds of media ahead of the playhead.
  function ahead() {
    const { buffered, currentTime } = element
    for (let index = 0; index < Math.min(buffered.length, 1000); index += 1) {
      if (buffered.start(index) <= currentTime + 0.1 && buffered.end(index) >= currentTime) {
        return buffered.end(index) - currentTime
      }
    }
    return 0
  }
  function find() {
    const players = typeof window.videojs?.getAllPlayers === "function" ? window.videojs.getAllPlayers() : []
    for (const player of Array.from(players).slice(0, 100)) {
      const figures = read(player)
      if (figures) return figures
    }
    return look(element, 1) ?? look(window, 0)
  }
  try { return JSON.stringify({ ...find(), a: ahead() }) } catch { return null }
})
