type Lookups<Mention> = {
  valueOf: (mention: Mention) => string
  /** Returns the URL under `://`, or under a port such as `:3000`; undefined if the variable isn't a host. */
  addressOf: (mention: Mention, at: string) => string | undefined
}

/**
 * Joins texts and references. Templates are written for a proxy, with other ports. So a host within an
 * address, such as `https://${HOST}`, `http://${HOST}:3000` or `${HOST}/path`, is replaced by its published
 * host and port, and the scheme by the one that is used there.
 */
export function join<Mention extends object>(
  parts: readonly (string | Mention)[],
  { valueOf, addressOf }: Lookups<Mention>,
): string {
  const made: string[] = []
  /** The port after the last reference, which its address replaces. */
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

  /** False when the reference isn't part of an address. */
  function addAddress(part: Mention, next: string): boolean {
    // The scheme may come from a reference too.
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
