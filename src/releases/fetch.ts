import { z } from 'zod'
import type { Config } from '../config.ts'
import { Failure } from '../platform/errors.ts'
import { isLoopback } from '../platform/hosts.ts'
import { pinnedDownload } from '../platform/pinned-fetch.ts'
import { versionPattern } from '../platform/root.ts'
import { jsonOrNull } from '../platform/json.ts'

/** Bytes of an executable; one has about 130 MB. */
export const mostBytes = 512 * 2 ** 20

/** Bytes of a checksum file or signature. */
export const mostText = 256 * 2 ** 10

type Allowed = Pick<Config, 'allowHosts'>
export type Asking = Allowed & { signal: AbortSignal }

/** Without HTTPS, only hosts that no one else can impersonate are allowed. */
export function releaseUrl(text: string, { allowHosts }: Allowed) {
  const url = URL.canParse(text) ? new URL(text) : null
  const isNear = url && (isLoopback(url.hostname) || allowHosts.includes(url.hostname))
  if (url && !url.username && (url.protocol === 'https:' || (url.protocol === 'http:' && isNear)))
    return url
  throw new Failure(
    'upgrade_address',
    `The address ${text.slice(0, 200)} can’t be used.`,
    'It must start with https:// and have no password. http:// is for hosts in DAVIT_ALLOW_HOSTS.',
  )
}

type Download = { maxBytes: number; timeout: number; take: (chunk: Uint8Array) => Promise<void> }

/** Only for a URL from `releaseUrl`. */
export const download = (url: URL, { allowHosts, signal }: Asking, options: Download) =>
  pinnedDownload(url, {
    ...options,
    signal,
    allow: isLoopback(url.hostname) ? [...allowHosts, url.hostname] : allowHosts,
    onlyHttps: url.protocol === 'https:',
  })

export async function textAt(url: URL, asking: Asking): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = []
  const take = async (chunk: Uint8Array) => void chunks.push(chunk)
  try {
    await download(url, asking, { maxBytes: mostText, timeout: 30_000, take })
    return Buffer.concat(chunks)
  } catch (error) {
    if (error instanceof Failure && error.code === 'download_failed') return null
    throw error
  }
}

const index = z.object({
  version: z.string().regex(versionPattern),
  files: z.record(z.string().max(64), z.string().regex(/^[\w.-]{1,200}$/)),
})

export async function readIndex(url: URL, asking: Asking): Promise<z.infer<typeof index>> {
  const text = await textAt(url, asking)
  const read = text && index.safeParse(jsonOrNull(Buffer.from(text).toString()))
  if (read?.success) return read.data
  throw new Failure(
    'release_index',
    `There is no list of a release at ${url.href}.`,
    'Check the address: it must be that of a release.json.',
  )
}
