/* oxlint-disable no-unused-expressions -- The function is called where the text is evaluated. */
// Reads what a player says of the media element `this`, in the page's own world. Every value is checked again by the
// receiver.
(function (search) {
  "use strict"
  const element = this
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
    for (const reader of readers) {
      try {
        const figures = reader(player)
        if (figures) return figures
      } catch { /* Not a player. */ }
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
  try { return JSON.stringify({ ...search(element, read), a: ahead() }) } catch { return null }
})
