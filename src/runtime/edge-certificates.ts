import { X509Certificate } from 'node:crypto'
import type { CertificateFiles } from '../edge/other-engine.ts'
import { readTar } from '../git/tar-reader.ts'
import { readCertificates } from './edge-container.ts'
import type { RuntimeDeps } from './deps.ts'

/** Bytes of a file that is no certificate of Caddy's. */
const maxBytes = 256 * 1024

/** The certificates of Davit's own edge by host, of several the one that ends last; never its accounts. */
export async function certificateFiles(
  deps: Pick<RuntimeDeps, 'docker' | 'instanceId'>,
  { signal }: { signal: AbortSignal },
) {
  const folders = new Map<string, { host: string } & Partial<CertificateFiles>>()
  for await (const entry of readTar(readCertificates(deps, { below: '/certificates', signal }))) {
    const [, folder, host, kind] = /^(.+\/([^/]+))\/\2\.(crt|key)$/.exec(entry.path) ?? []
    if (!folder || entry.size > maxBytes) continue
    const chunks: Uint8Array[] = []
    for await (const chunk of entry.content) chunks.push(Uint8Array.from(chunk))
    folders.set(folder, { host: host!, ...folders.get(folder), [kind!]: Buffer.concat(chunks) })
  }
  const whole = [...folders.values()].flatMap(({ host, crt, key }) =>
    crt && key ? { host, crt, key } : [],
  )
  return new Map(whole.toSorted((a, b) => endOf(a) - endOf(b)).map((one) => [one.host, one]))
}

const endOf = ({ crt }: CertificateFiles) => new Date(new X509Certificate(crt).validTo).getTime()
