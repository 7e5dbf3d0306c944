import { mkdirSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { tarHead, tarPadding } from '../../docker/index.ts'
import { Failure } from '../../platform/errors.ts'
import { pinnedDownload } from '../../platform/pinned-fetch.ts'
import type { RemoteFile } from '../dockerfile/sources.ts'
import type { Run } from '../context.ts'

/** In milliseconds, for one file. */
const timeoutMs = 10 * 60_000

type Fetched = { path: string; place: string; size: number; checksum: string }

/** Orphans of a killed process are removed at the next start. */
export const downloadsIn = (dataDir: string) => join(dataDir, 'downloads')

/** Files that ADD references by address, fetched for one build, and removed when disposed of. */
export class RemoteFiles implements AsyncDisposable {
  readonly #folder: string
  readonly #fetched = new Map<string, Fetched>()
  #size = 0

  constructor({ config, deployment }: Pick<Run, 'config' | 'deployment'>) {
    this.#folder = join(downloadsIn(config.dataDir), deployment.id)
  }

  /** Returns the path in the context for each address. */
  async fetch(run: Run, remotes: RemoteFile[]): Promise<Record<string, string>> {
    for (const { address, checksum } of remotes) {
      const fetched = this.#fetched.get(address) ?? (await this.#fetchOne(run, address))
      this.#fetched.set(address, fetched)
      if (checksum !== null && checksum !== fetched.checksum)
        throw mismatch(address, checksum, fetched)
    }
    return Object.fromEntries([...this.#fetched].map(([address, { path }]) => [address, path]))
  }

  async #fetchOne({ config, log, signal }: Run, address: string): Promise<Fetched> {
    const url = new URL(address)
    const name = basename(url.pathname)
    if (!/^[\w.~+,=@-]+$/.test(name) || /^\.+$/.test(name)) throw nameless(address)
    log(`Fetching ${url.origin}${url.pathname}`)
    const number = String(this.#fetched.size)
    const place = join(this.#folder, number)
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
    const hash = new Bun.CryptoHasher('sha256')
    let size = 0
    const file = await open(place, 'w', 0o600)
    try {
      await pinnedDownload(url, {
        allow: config.allowHosts,
        signal,
        timeout: timeoutMs,
        maxBytes: config.repositorySize - this.#size,
        async take(chunk) {
          hash.update(chunk)
          size += chunk.length
          await file.write(chunk)
        },
      })
    } finally {
      await file.close()
    }
    this.#size += size
    const checksum = `sha256:${hash.digest('hex')}`
    return { path: `.davit-added/${number}/${name}`, place, size, checksum }
  }

  /** Yields tar entries like those ADD would create: readable only by root. */
  async *entries(): AsyncGenerator<Uint8Array> {
    for (const { path, place, size } of this.#fetched.values()) {
      yield tarHead({ path, mode: 0o600, size })
      yield* Bun.file(place).stream()
      yield tarPadding(size)
    }
  }

  async [Symbol.asyncDispose]() {
    await rm(this.#folder, { recursive: true, force: true })
  }
}

const nameless = (address: string) =>
  new Failure(
    'add_refused',
    `Build failed: the address ${address} in ADD doesn’t end with a plain file name.`,
    'Fetch it with RUN, and set the file name there.',
  )

const mismatch = (address: string, wanted: string, { checksum }: Fetched) =>
  new Failure(
    'checksum_mismatch',
    `Build failed: the file from ${new URL(address).host} in ADD has the checksum ${checksum}, not ${wanted}.`,
    'Check the address and the checksum in the Dockerfile.',
  )
