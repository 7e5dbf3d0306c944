import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { Config } from '../config.ts'
import { writeFileAtomically } from '../platform/atomic-write.ts'
import type { Scheduler } from '../platform/scheduler.ts'
import { compareVersions, version, versionPattern } from '../platform/root.ts'

const hour = 3_600_000
const day = 24 * hour

const known = z.object({
  askedAt: z.number(),
  version: z.string().regex(versionPattern).nullable(),
})

/** Checks for a newer version, only if DAVIT_RELEASES is set. */
export class ReleaseWatch {
  readonly #config: Pick<Config, 'releases' | 'dataDir' | 'allowHosts'>
  readonly #found: (version: string) => void
  #known: z.infer<typeof known> | null = null

  /** `found` gets each newer version once, or again after a crash. */
  constructor(
    config: Pick<Config, 'releases' | 'dataDir' | 'allowHosts'>,
    { found = () => {} }: { found?: (version: string) => void } = {},
  ) {
    this.#config = config
    this.#found = found
  }

  get newer(): string | null {
    const newest = this.#config.releases === null ? null : (this.#known?.version ?? null)
    return newest !== null && compareVersions(newest, version) > 0 ? newest : null
  }

  /** Checks once a day until the signal aborts, however often Davit restarts. */
  async run(scheduler: Scheduler, { signal }: { signal: AbortSignal }) {
    if (this.#config.releases === null) return
    this.#known = this.#read()
    await scheduler.repeat(hour, () => this.look({ signal }), {
      signal,
      failed: 'looking for a newer version failed',
    })
  }

  async look({ signal }: { signal: AbortSignal }, now = Date.now()) {
    const { releases } = this.#config
    if (releases === null) return
    const last = this.#known
    if (last && last.askedAt <= now && now - last.askedAt < day) return
    this.#keep({ askedAt: now, version: last?.version ?? null }) // even if the request fails
    const index = await this.#ask(releases, signal)
    if (!index) return
    if (index.version !== last?.version && compareVersions(index.version, version) > 0)
      this.#found(index.version) // before it is kept: else a crash between the two would lose it
    this.#keep({ askedAt: now, version: index.version })
  }

  /** Null when Davit stops meanwhile. */
  async #ask(releases: string, signal: AbortSignal) {
    const { allowHosts } = this.#config
    try {
      const { readIndex, releaseUrl } = await import('./fetch.ts')
      return await readIndex(releaseUrl(releases, { allowHosts }), { allowHosts, signal })
    } catch (error) {
      if (signal.aborted) return null
      throw error
    }
  }

  get #file() {
    return join(this.#config.dataDir, 'newest-release.json')
  }

  #read() {
    try {
      return known.parse(JSON.parse(readFileSync(this.#file, 'utf8')))
    } catch {
      return null // unknown until the next check
    }
  }

  #keep(found: z.infer<typeof known>) {
    this.#known = found
    writeFileAtomically(this.#file, JSON.stringify(found))
  }
}
