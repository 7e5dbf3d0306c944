/**
 * Converts one line of terminal output to HTML: text is escaped, and colours and weights become classes
 * (`f1`, `b12`, `bold` …). Every other escape sequence and control character is dropped, as are those that
 * reverse the order of letters. Styles end with the line.
 */
export function ansiHtml(text: string) {
  if (!hasControl.test(text)) return escapeHtml(text)
  const style = { ...plain }
  let html = ''
  let open = ''
  let end = 0
  for (const match of text.matchAll(sequence)) {
    add(text.slice(end, match.index))
    end = match.index + match[0].length
    if (match[1] !== undefined) applyCodes(style, match[1])
  }
  add(text.slice(end))
  return open ? `${html}</span>` : html

  function add(piece: string) {
    if (piece === '') return
    const classes = classesOf(style)
    if (classes !== open) {
      if (open) html += '</span>'
      if (classes) html += `<span class="${classes}">`
      open = classes
    }
    html += escapeHtml(piece)
  }
}

/** Drops the same sequences, without HTML. */
export const plainText = (text: string) =>
  hasControl.test(text) ? text.replaceAll(sequence, '') : text

/** The same for a terminal, with its colours, which end with the line. */
export const colouredText = (text: string) => {
  if (!hasControl.test(text)) return text
  const kept = text.replaceAll(sequence, (found, codes?: string) =>
    codes === undefined ? '' : found,
  )
  return `${kept}\u001b[0m`
}

type Style = typeof plain

const plain = {
  /** Palette index 0 to 15; -1 is the log's own colour. */
  foreground: -1,
  background: -1,
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  strike: false,
  inverse: false,
}

const hasControl = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/

/** SGR (its codes are captured), other CSI, strings such as OSC to their end, other escapes, controls. */
const sequence = new RegExp(
  [
    '(?:\\u001b\\[|\\u009b)([0-9;:]*)m',
    '(?:\\u001b\\[|\\u009b)[0-?]*[ -/]*[@-~]?',
    '(?:\\u001b[\\]PX^_]|[\\u0090\\u0098\\u009d-\\u009f])[^\\u0007\\u001b\\u009c]*(?:\\u0007|\\u001b\\\\|\\u009c)?',
    '\\u001b[ -/]*[0-~]?',
    '[\\u0000-\\u0008\\u000a-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]',
  ].join('|'),
  'g',
)

const special = /[&<>]/
const escapeHtml = (text: string) =>
  special.test(text)
    ? text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
    : text

function applyCodes(style: Style, codes: string) {
  const list = codes.split(';')
  for (let at = 0; at < list.length; at++) {
    const [code = 0, ...parts] = list[at]!.split(':').map(Number)
    if (code !== 38 && code !== 48 && code !== 58) applyCode(style, code, parts[0])
    else if (parts.length > 0) setColour(style, code, parts.filter(isGiven))
    else {
      const length = list[at + 1] === '2' ? 4 : 2
      setColour(style, code, list.slice(at + 1, at + 1 + length).map(Number))
      at += length
    }
  }
}

/** Drops the empty colour space of `38:2::r:g:b`, a 0 in front of three others. */
const isGiven = (_: number, at: number, parts: number[]) => !(at === 1 && parts.length === 5)

function setColour(style: Style, code: number, [kind, ...numbers]: number[]) {
  const colour = nearestColour(kind, numbers)
  if (colour === null) return
  if (code === 38) style.foreground = colour
  if (code === 48) style.background = colour
}

function applyCode(style: Style, code: number, part: number | undefined) {
  if (code === 0) Object.assign(style, plain)
  else if (code === 1) style.bold = true
  else if (code === 2) style.dim = true
  else if (code === 3) style.italic = true
  else if (code === 4) style.underline = part !== 0
  else if (code === 7) style.inverse = true
  else if (code === 9) style.strike = true
  else if (code === 21) style.underline = true
  else if (code === 22) style.bold = style.dim = false
  else if (code === 23) style.italic = false
  else if (code === 24) style.underline = false
  else if (code === 27) style.inverse = false
  else if (code === 29) style.strike = false
  else if (code >= 30 && code <= 37) style.foreground = code - 30
  else if (code === 39) style.foreground = -1
  else if (code >= 40 && code <= 47) style.background = code - 40
  else if (code === 49) style.background = -1
  else if (code >= 90 && code <= 97) style.foreground = code - 82
  else if (code >= 100 && code <= 107) style.background = code - 92
}

/**
 * `fi` and `bi` are the log's own two colours, exchanged. On a coloured background a text has the log's own
 * colour: not every pair of colours is legible.
 */
function classesOf(style: Style) {
  const [front, back] = style.inverse
    ? [style.background, style.foreground]
    : [style.foreground, style.background]
  let classes = ''
  if (back >= 0) classes += ` b${back}`
  else if (style.inverse) classes += ' fi bi'
  else if (front >= 0) classes += ` f${front}`
  for (const name of ['bold', 'dim', 'italic', 'underline', 'strike'] as const)
    if (style[name]) classes += ` ${name}`
  return classes.slice(1)
}

/**
 * The nearest of the sixteen terminal colours: a page that follows light and dark can keep sixteen legible,
 * not sixteen million. `kind` is the number after 38 or 48: 5 indexed, 2 red, green, blue.
 */
function nearestColour(kind: number | undefined, numbers: number[]): number | null {
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

/** By hue, not by distance: a pale red is still red. */
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
