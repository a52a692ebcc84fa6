/* oxlint-disable no-unused-expressions -- The function is called where the text is evaluated. */
// Looks for the players of a page, in the page's own world. The page may have changed anything: only data properties
// are read by name. Returns what the first reader says that says something; `read` gets each object that may be one.
(function (element, read) {
  "use strict"
  const isObject = (value) => value !== null && typeof value === "object"
  function data(owner, name) {
    const property = Object.getOwnPropertyDescriptor(owner, name)
    return property && "value" in property ? property.value : undefined
  }
  function attempt(player) {
    try { return isObject(player) ? read(player) : null } catch { return null /* Not a player. */ }
  }
  const inner = ["hls", "hlsPlayer", "dash", "shaka", "player", "instance", "engine"]
  function look(owner, depth) {
    const names = Object.getOwnPropertyNames(owner)
    for (const name of depth === 0 ? names.slice(0, 2000) : inner) {
      const value = data(owner, name)
      if (!isObject(value) || value === window) continue
      const found = attempt(value) ?? (depth < 1 ? look(value, 1) : null)
      if (found) return found
    }
    return null
  }
  const players = typeof window.videojs?.getAllPlayers === "function" ? window.videojs.getAllPlayers() : []
  for (const player of Array.from(players).slice(0, 100)) {
    const found = attempt(player)
    if (found) return found
  }
  return (element ? look(element, 1) : null) ?? look(window, 0)
})
