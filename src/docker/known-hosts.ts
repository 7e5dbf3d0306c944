export type HostKey = { host: string; port: number; key: Buffer }

/** Whether a known_hosts text vouches for the key; one marked as revoked never is. */
export function isKnownHost(knownHosts: string, { host, port, key }: HostKey): boolean {
  const name = port === 22 ? host : `[${host}]:${port}`
  const matching = knownHosts
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .map((words) => (words[0]?.startsWith('@') ? words : ['', ...words]))
    .filter(([, names = '', , base64 = '']) => names && key.equals(Buffer.from(base64, 'base64')))
    .filter(([, names = '']) => names.split(',').some((pattern) => isName(pattern, name)))
    .map(([marker]) => marker)
  return matching.includes('') && !matching.includes('@revoked')
}

/** Names are written as they are, or hashed: `|1|salt|hash`. */
function isName(pattern: string, name: string) {
  if (!pattern.startsWith('|1|')) return pattern === name
  const [, , salt = '', hash = ''] = pattern.split('|')
  return (
    new Bun.CryptoHasher('sha1', Buffer.from(salt, 'base64')).update(name).digest('base64') === hash
  )
}
