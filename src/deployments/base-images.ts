/**
 * The images that a Dockerfile begins with, copies from or mounts, without the stages of its own.
 * Arguments before the first FROM are put in, those given over their defaults. What a frontend of the
 * file's own (`# syntax=`) makes of it is not seen.
 */
export function baseImages(dockerfile: string, buildArgs: Record<string, string>): string[] {
  const args = new Map<string, string>()
  const stages = new Set<string>()
  const images = new Set<string>()
  for (const line of instructions(dockerfile)) {
    const [word = '', ...rest] = line.split(/\s+/)
    const instruction = word.toUpperCase()
    if (instruction === 'ARG' && stages.size === 0 && images.size === 0)
      for (const argument of rest) declare(argument)
    if (instruction === 'FROM') {
      const [reference = '', as, name] = rest.filter((part) => !part.startsWith('--'))
      note(reference)
      if (as?.toUpperCase() === 'AS' && name) stages.add(name.toLowerCase())
    }
    for (const option of rest) {
      const [, from] = /^--(?:from=|mount=(?:.*,)?from=)([^,]+)/.exec(option) ?? []
      if (from && /^(COPY|RUN)$/.test(instruction)) note(from)
    }
  }
  return [...images]

  function declare(text: string) {
    const [, name = '', value = ''] = /^([A-Za-z_]\w*)(?:=["']?([^"']*)["']?)?/.exec(text) ?? []
    if (name) args.set(name, buildArgs[name] ?? value)
  }

  function note(reference: string) {
    const image = filledIn(reference, args).replace(/["'\\]/g, '')
    const isImage = image !== '' && image !== 'scratch' && !/^\d+$/.test(image)
    if (isImage && !stages.has(image.toLowerCase())) images.add(image)
  }
}

/** Innermost first: the fallback of an argument may be another one. */
function filledIn(reference: string, args: Map<string, string>): string {
  const text = reference.replace(
    /\$\{([A-Za-z_]\w*)(?::?([-+])([^${}]*))?\}|\$([A-Za-z_]\w*)/g,
    (_, braced, sign, word = '', bare) => {
      const value = args.get(braced ?? bare) ?? ''
      return sign === '+' ? value && word : value || word
    },
  )
  return text === reference || text.length > 10_000 ? text : filledIn(text, args)
}

/** Lines without comments, continued ones joined, by a backquote where the file begins with saying so. */
const instructions = (dockerfile: string) =>
  dockerfile
    .split('\n')
    .filter((line) => !/^\s*#/.test(line))
    .join('\n')
    .replace(continued(dockerfile), ' ')
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)

const continued = (dockerfile: string) =>
  /^(\s*#.*\n)*\s*#\s*escape\s*=\s*`/i.test(dockerfile) ? /`[ \t]*\r?\n/g : /\\[ \t]*\r?\n/g
