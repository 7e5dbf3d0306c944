type Lookups<Mention> = {
  valueOf: (mention: Mention) => string
  /** The URL at `://`, or the one at a port such as `:3000`; undefined of what is no host. */
  addressOf: (mention: Mention, at: string) => string | undefined
}

/**
 * A text and what it mentions. A host that is mentioned as part of an address, as in
 * `https://${HOST}`, `http://${HOST}:3000` or `${HOST}/path`, comes with its port on this host, behind
 * the scheme that is spoken there: templates are written for a proxy, which has both otherwise.
 */
export function join<Mention extends object>(
  parts: readonly (string | Mention)[],
  { valueOf, addressOf }: Lookups<Mention>,
): string {
  const made: string[] = []
  /** What follows the last mention and is said by its address already. */
  let port = ''
  for (const [index, part] of parts.entries()) {
    if (typeof part !== 'string') {
      const next = parts[index + 1]
      if (!addAddress(part, typeof next === 'string' ? next : '')) made.push(valueOf(part))
      continue
    }
    made.push(part.slice(port.length))
    port = ''
  }
  return made.join('')

  /** False where the mention is part of no address. */
  function addAddress(part: Mention, next: string): boolean {
    // the scheme may be a mention too
    if (made.at(-1)?.startsWith('://') && made.length > 1) made.push(made.splice(-2).join(''))
    const before = made.at(-1) ?? ''
    const [scheme = '', kind] = /(http|ws)s?:\/\/$/.exec(before.slice(-8)) ?? []
    if (scheme === '' && !next.startsWith('/')) return false
    const [own = ''] = /^:(\d{1,5}(?!\d))?/.exec(next) ?? []
    const url = URL.parse(addressOf(part, own || '://') ?? '')
    if (!url) return false
    port = own
    const secure = url.protocol === 'https:' ? 's' : ''
    if (scheme !== '')
      made[made.length - 1] = `${before.slice(0, -scheme.length)}${kind}${secure}://`
    made.push(url.host)
    return true
  }
}
