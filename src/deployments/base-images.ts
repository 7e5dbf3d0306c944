/**
 * The images that a Dockerfile begins with or copies from, without the stages of its own. Arguments
 * before the first FROM are put in, those given over their defaults.
 */
export function baseImages(dockerfile: string, buildArgs: Record<string, string>): string[] {
  const args = new Map<string, string>()
  const stages = new Set<string>()
  const images = new Set<string>()
  for (const line of instructions(dockerfile)) {
    const [word = '', ...rest] = line.split(/\s+/)
    const instruction = word.toUpperCase()
    if (instruction === 'ARG' && stages.size === 0 && images.size === 0) declare(rest.join(' '))
    if (instruction === 'FROM') {
      const [reference = '', as, name] = rest.filter((part) => !part.startsWith('--'))
      note(reference)
      if (as?.toUpperCase() === 'AS' && name) stages.add(name.toLowerCase())
    }
    if (instruction === 'COPY')
      for (const option of rest)
        if (option.startsWith('--from=')) note(option.slice('--from='.length))
  }
  return [...images]

  function declare(text: string) {
    const [, name = '', value = ''] = /^([A-Za-z_]\w*)(?:=["']?([^"']*)["']?)?/.exec(text) ?? []
    if (name) args.set(name, buildArgs[name] ?? value)
  }

  function note(reference: string) {
    const image = reference.replace(
      /\$(?:\{([A-Za-z_]\w*)(?::-([^}]*))?\}|([A-Za-z_]\w*))/g,
      (_, braced, fallback = '', bare) => args.get(braced ?? bare) || fallback,
    )
    const isImage = image !== '' && image !== 'scratch' && !/^\d+$/.test(image)
    if (isImage && !stages.has(image.toLowerCase())) images.add(image)
  }
}

/** Lines without comments, continued ones joined. */
const instructions = (dockerfile: string) =>
  dockerfile
    .split('\n')
    .filter((line) => !/^\s*#/.test(line))
    .join('\n')
    .replace(/\\[ \t]*\r?\n/g, ' ')
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
