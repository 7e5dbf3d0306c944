/** How many numbers each command has. */
const counts: Record<string, number> = {
  m: 2,
  l: 2,
  h: 1,
  v: 1,
  c: 6,
  s: 4,
  q: 4,
  t: 2,
  a: 7,
  z: 0,
}

/** The path of an SVG with its points at tenths of a unit, which no eye sees in a small drawing. */
export function rounded(path: string): string {
  let at = [0, 0]
  let start = at
  let out = ''
  let last = ''

  for (const [, letter, text] of path.matchAll(/([a-z])([^a-z]*)/gi)) {
    const kind = letter!.toLowerCase()
    const numbers = numbersOf(text!, kind)
    if (kind === 'z') {
      out += last = kind
      at = start
    }
    for (let from = 0; from < numbers.length; from += counts[kind]!) {
      const given = numbers.slice(from, from + counts[kind]!)
      const command = kind === 'm' && from > 0 ? 'l' : kind
      const shape = given.splice(0, kind === 'a' ? 5 : 0)
      const axes = kind === 'h' ? [0] : given.map((_, index) => (kind === 'v' ? 1 : index % 2))
      const base = letter === kind ? at : [0, 0]
      const places = given.map((value, index) => base[axes[index]!]! + value)
      // from where the rounded path is, so that errors don't add up
      const moves = places.map((place, index) => tenth(place) - tenth(at[axes[index]!]!))
      at = [...at]
      for (const [index, place] of places.entries()) at[axes[index]!] = place
      if (command === 'm') start = at
      if (command === 'm' || moves.some((move) => tenth(move) !== 0))
        write(command, [...shape, ...moves])
    }
  }
  return out

  function write(command: string, numbers: number[]) {
    const follows = command === last || (last === 'm' && command === 'l')
    const texts = numbers.map((number) => String(tenth(number)).replace(/^(-?)0\./, '$1.'))
    if (!follows) out += command
    for (const [index, text] of texts.entries()) {
      const isApart = (index === 0 && !follows) || text.startsWith('-')
      const goesOn = text.startsWith('.') && /\.\d*$/.test(out)
      out += isApart || goesOn ? text : ` ${text}`
    }
    last = command
  }
}

const tenth = (value: number) => Math.round(value * 10) / 10

/** The fourth and fifth number of an arc are flags, which may stand beside the next without a blank. */
function numbersOf(text: string, kind: string): number[] {
  const numbers: number[] = []
  for (let rest = text.trim(); rest !== '';) {
    const place = numbers.length % 7
    const form = kind === 'a' && (place === 3 || place === 4) ? /^[01]/ : /^[-+]?(\d+\.?\d*|\.\d+)/
    const [number] = form.exec(rest)!
    numbers.push(Number(number))
    rest = rest.slice(number.length).replace(/^[\s,]+/, '')
  }
  return numbers
}
