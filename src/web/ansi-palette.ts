/**
 * The nearest of the sixteen terminal colours: a page that follows light and dark can keep sixteen
 * legible, not sixteen million. `kind` is the number after 38 or 48: 5 indexed, 2 red, green, blue.
 */
export function nearestColour(kind: number | undefined, numbers: number[]): number | null {
  if (!numbers.every((number) => number >= 0 && number <= 255)) return null
  const [first, second, third] = numbers
  if (kind === 5 && first !== undefined) return indexed(first)
  if (kind === 2 && first !== undefined && second !== undefined && third !== undefined)
    return nearest(first, second, third)
  return null
}

function indexed(index: number) {
  if (index < 16) return index
  if (index >= 232) return grey(8 + (index - 232) * 10)
  const at = index - 16
  const [red, green, blue] = [Math.floor(at / 36), Math.floor(at / 6) % 6, at % 6].map((level) =>
    level === 0 ? 0 : 55 + level * 40,
  ) as [number, number, number]
  return nearest(red, green, blue)
}

/** By hue, not by distance: a pale red is still meant to be red. */
function nearest(red: number, green: number, blue: number) {
  const high = Math.max(red, green, blue)
  const spread = high - Math.min(red, green, blue)
  if (spread < 32 || spread < high * 0.2) return grey((red + green + blue) / 3)
  const hue = hueOf({ red, green, blue, high, spread })
  return hues[Math.round(hue) % 6]! + (high > 205 ? 8 : 0)
}

/** Sixths of the circle from red: yellow 1, green 2, cyan 3, blue 4, magenta 5. */
function hueOf(of: { red: number; green: number; blue: number; high: number; spread: number }) {
  if (of.high === of.red) return ((of.green - of.blue) / of.spread + 6) % 6
  if (of.high === of.green) return (of.blue - of.red) / of.spread + 2
  return (of.red - of.green) / of.spread + 4
}

const hues = [1, 3, 2, 6, 4, 5]

function grey(level: number) {
  if (level < 48) return 0
  if (level < 144) return 8
  return level < 224 ? 7 : 15
}
