/** Characters of a line that is laid out; longer ones stay as they are. */
const longest = 32 * 1024

/** What of a summary and of a tree is shown. */
const most = { pairs: 20, value: 160, lines: 500 }

/** What other parts of the row say already, and what is the sentence. */
const times = ['time', 'timestamp', 'ts', '@timestamp', 't', 'datetime', 'date']
const levels = ['level', 'severity', 'lvl', 'loglevel', 'levelname']
const sentences = ['msg', 'message', 'event', 'error', 'err']

/** Levels of objects in each other beyond which a line stays as it is: laid out it would be very long. */
const deepest = 50

/** The object that a line is, or null. */
export function objectOf(text) {
  if (text.length > longest || !/^\s*\{.*\}\s*$/s.test(text)) return null
  if (depthOf(text) > deepest) return null
  try {
    const value = JSON.parse(text)
    return value !== null && typeof value === 'object' && Object.keys(value).length > 0
      ? value
      : null
  } catch {
    return null
  }
}

/** At most so many levels: a brace in a string counts too. */
function depthOf(text) {
  let [depth, most] = [0, 0]
  for (const character of text)
    if (character === '{' || character === '[') most = Math.max(most, ++depth)
    else if (character === '}' || character === ']') depth--
  return most
}

/** An object in a line: its sentence, then `key=value`. */
export function summaryOf(value) {
  const summary = document.createDocumentFragment()
  const sentence = sentences.find((key) => typeof value[key] === 'string')
  const level = levels.find((key) => ['string', 'number'].includes(typeof value[key]))
  if (level) summary.append(piece('json-level', levelName(value[level])), ' ')
  if (sentence) summary.append(piece('json-sentence', value[sentence]))
  const pairs = Object.entries(value).filter(
    ([key]) => key !== sentence && key !== level && !times.includes(key),
  )
  for (const [key, of] of pairs.slice(0, most.pairs))
    summary.append(' ', piece('json-key', `${key}=`), piece('json-value', short(of)))
  if (pairs.length > most.pairs) summary.append(' …')
  return summary
}

/** The same, laid out. */
export function treeOf(value) {
  const tree = document.createElement('div')
  tree.className = 'json-tree'
  const lines = JSON.stringify(value, null, 2).split('\n')
  for (const line of lines.slice(0, most.lines)) {
    const [, before = '', key, rest = line] = /^(\s*)("(?:[^"\\]|\\.)*":)(.*)$/s.exec(line) ?? []
    const row = document.createElement('div')
    row.append(before)
    if (key) row.append(piece('json-key', key))
    row.append(visible(rest))
    tree.append(row)
  }
  if (lines.length > most.lines) tree.append(`… ${lines.length - most.lines} more lines`)
  return tree
}

const short = (value) => {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > most.value ? `${text.slice(0, most.value)}…` : text
}

function piece(name, text) {
  const element = document.createElement('span')
  element.className = name
  element.textContent = visible(text)
  return element
}

/** What was escaped in the line, and would turn round the order of what stands around it, stays so. */
const visible = (text) =>
  String(text).replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** Numbers as pino and bunyan write them. */
const numbered = { 10: 'trace', 20: 'debug', 30: 'info', 40: 'warn', 50: 'error', 60: 'fatal' }

const levelName = (level) => numbered[Number(level)] ?? level
