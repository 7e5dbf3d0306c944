import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeFileAtomically } from '../platform/atomic-write.ts'
import { Failure } from '../platform/errors.ts'
import { certificateFile } from './elsewhere.ts'
import { certificatesInside } from './container.ts'
import { plainHandler } from './pages.ts'
import { namesPath } from './plan.ts'
import type { Authority, Plan } from './plan.ts'

/** Uploaded certificates, those of Davit's own edge on another, and those that Caddy may request on demand. */
export function certificatesOf({ hosts, authority, home, ports }: Omit<Plan, 'listeners'>) {
  const own = hosts.flatMap(({ https }) =>
    https.kind === 'own'
      ? [{ certificate: https.certificate, key: https.key, tags: [uploaded] }]
      : [],
  )
  const endpoint = `http://127.0.0.1:${ports.http}${permissionPath}`
  const files = Object.entries(home?.certified ?? {}).map(([host, end]) => ({
    certificate: `${certificatesInside.path}/${certificateFile(host, end, 'crt')}`,
    key: `${certificatesInside.path}/${certificateFile(host, end, 'key')}`,
  }))
  return {
    certificates: {
      ...(own.length > 0 && { load_pem: own }),
      ...(files.length > 0 && { load_files: files }),
    },
    ...(authority && {
      automation: {
        on_demand: { permission: { module: 'http', endpoint } },
        policies: [{ on_demand: true, issuers: [issuer(authority)] }],
      },
    }),
  }
}

const uploaded = 'uploaded'

/** Caddy keeps what it requested for a host, and would go on with that instead of what was uploaded since. */
export function connectionPolicies({ hosts }: Pick<Plan, 'hosts'>) {
  const sni = hosts.flatMap(({ name, https }) => (https.kind === 'own' ? name : []))
  return [
    ...(sni.length > 0 ? [{ match: { sni }, certificate_selection: { any_tag: [uploaded] } }] : []),
    {},
  ]
}

const permissionPath = '/davit/certificate'

/**
 * Caddy queries itself whether it may request a certificate for a name: a file allows it, so that this works
 * while Davit is down. No one else may send this request, and no user's host has this name.
 */
export function permissionRoutes(folder: string) {
  const asked = { host: ['127.0.0.1'], path: [permissionPath], remote_ip: { ranges: loopback } }
  const file = {
    root: namesPath(folder, 'certificates'),
    try_files: ['/{http.request.uri.query.domain}'],
  }
  const routes = [
    { match: [{ file }], handle: [plainHandler(200, 'It may.')], terminal: true },
    { handle: [plainHandler(403, 'It may not.')] },
  ]
  return [{ match: [asked], handle: [{ handler: 'subroute', routes }], terminal: true }]
}

const loopback = ['127.0.0.0/8', '::1']

const issuer = ({ directory, email, root }: Authority) => ({
  module: 'acme',
  ...(directory && { ca: directory }),
  ...(email && { email }),
  ...(root && { trusted_roots_pem_files: [root] }),
  // one challenge type: each failure counts against the authority's limits
  challenges: { 'tls-alpn': { disabled: true } },
})

/**
 * Copies an authority's root certificate to a folder that Caddy reads. Its name is a hash of its content, so
 * that another one changes the configuration. If it can't be read, the authority is used without it, and the
 * returned Failure says so.
 */
export function placeAuthority(
  folder: string,
  authority: Authority | null,
  { folderInside }: { folderInside: string },
): { authority: Authority | null; failure: Failure | null } {
  if (!authority?.root) return { authority, failure: null }
  const text = readRoot(authority.root)
  if (text instanceof Failure) return { authority: { ...authority, root: null }, failure: text }
  const hash = new Bun.CryptoHasher('sha256').update(text).digest('hex').slice(0, 16)
  const name = `authority-${hash}.pem`
  if (!existsSync(join(folder, name))) writeFileAtomically(join(folder, name), text)
  return { authority: { ...authority, root: `${folderInside}/${name}` }, failure: null }
}

function readRoot(path: string) {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    return new Failure(
      'acme_root',
      `The file of DAVIT_ACME_CA can’t be read (${(cause as NodeJS.ErrnoException).code}).`,
      'Check its path, and that the user who runs Davit may read it.',
      { cause },
    )
  }
}
