import { ownChangesOf } from '../db/queries.ts'
import type { Db } from '../db/index.ts'
import { timeOfId } from '../db/new-id.ts'
import type { Container } from '../docker/index.ts'
import {
  listPastSecrets,
  listSecretVariables,
  openPastSecret,
  openSecretVariable,
  openServiceSecrets,
  secretSources,
  secretsState,
} from './secret-store.ts'
import { readLabels } from '../docker/labels.ts'
import { noMask, SecretSet } from './mask.ts'
import type { Mask } from './mask.ts'
import { secretsInEnv } from './secret-names.ts'
import type { Secrets } from '../platform/secrets.ts'
import { isTurnOver, pause } from '../platform/pause.ts'

/** Masks the secrets of an environment or service. `state` changes whenever the secrets do. */
export type SourceMask = { mask: Mask; state: string }

type Also = {
  /** A container's environment (`KEY=value`), which may be older than the last change. */
  env?: string[]
  secrets?: string[]
}

type MaskDeps = { db: Db; secrets: Secrets }
type CachedMask = { state: string; made: Promise<SourceMask & { bytes: number }>; bytes: number }

/** Maximum bytes of cached masks. */
const mostBytes = 32 * 2 ** 20

export const nothingHidden: SourceMask = { mask: noMask, state: '' }

/**
 * Masks secrets in logs: current ones everywhere, and former ones in what was written while they were secret,
 * or by containers created before that ended. Request a mask for each batch of lines; it is cached while it
 * is valid.
 */
export class Masks {
  readonly #deps: MaskDeps
  readonly #made = new Map<string, CachedMask>()
  readonly #states = new Map<string, { changes: number; state: string }>()

  constructor(deps: MaskDeps) {
    this.#deps = deps
  }

  /** Identifies the current secrets of an environment or service. */
  stateOf(sourceId: string): string {
    const { db } = this.#deps
    const changes = ownChangesOf(db)
    const known = this.#states.get(sourceId)
    if (known?.changes === changes) return known.state
    const state = secretsState(db, sourceId)
    this.#states.set(sourceId, { changes, state: state === known?.state ? known.state : state })
    return state
  }

  async of(sourceId: string, also: Also = {}): Promise<SourceMask> {
    const state = this.stateOf(sourceId)
    const { env = [], secrets = [] } = also
    const key = `${sourceId} ${Bun.hash([...env, ...secrets].join('\0'))}`
    const known = this.#made.get(key)
    this.#made.delete(key) // reinserted, so that the map is ordered by last use
    const entry = known?.state === state ? known : this.#make(key, { sourceId, state, also })
    this.#made.set(key, entry)
    return entry.made
  }

  /** Masks the secrets in a container's output. One of neither an environment nor a service has none. */
  async ofContainer({ labels, env }: Pick<Container, 'labels' | 'env'>): Promise<SourceMask> {
    const { serviceId, environmentId, deploymentId } = readLabels(labels)
    const sourceId = serviceId || environmentId
    if (!sourceId) return nothingHidden
    const { mask, state } = await this.of(sourceId, { env })
    const since = serviceId ? undefined : timeOfId(deploymentId)
    if (mask === noMask || since === undefined) return { mask, state }
    return { mask: (text, place) => mask(text, { ...place, since: place?.since ?? since }), state }
  }

  #make(key: string, of: { sourceId: string; state: string; also: Also }): CachedMask {
    const made = this.#read(of)
    const entry: CachedMask = { state: of.state, made, bytes: 0 }
    made.then(
      ({ bytes }) => {
        entry.bytes = bytes
        this.#forget()
      },
      () => this.#made.get(key) === entry && this.#made.delete(key),
    )
    return entry
  }

  async #read({ sourceId, state, also }: { sourceId: string; state: string; also: Also }) {
    const deps = this.#deps
    const { db } = deps
    const set = new SecretSet()
    const add = async (secret: string, until?: number) => {
      for (const _ of set.adding(secret, until)) if (isTurnOver()) await pause()
    }
    const { env = [], secrets: others = [] } = also
    const variables = listSecretVariables(db, sourceId)
    const sources = secretSources(db, sourceId)
    const opened = [
      ...variables.map(({ id }) => () => [openSecretVariable(deps, id)]),
      ...sources.map((id) => () => openServiceSecrets(deps, id)),
    ]
    for (const open of opened)
      try {
        for (const value of open()) await add(value)
      } catch {
        set.hideAll() // a value that can't be decrypted may appear anywhere
      }
    const keys = new Set(variables.map(({ key }) => key))
    for (const entry of env) {
      const at = entry.indexOf('=')
      if (keys.has(entry.slice(0, at))) await add(entry.slice(at + 1))
    }
    for (const value of [...secretsInEnv(env), ...others]) await add(value)
    for (const { id, endedAt } of sources.flatMap((source) => listPastSecrets(db, source))) {
      const until = Math.max(endedAt.getTime(), timeOfId(id) ?? 0) // the clock may have been set back
      await add(openPastSecret(deps, id), until)
    }
    return { mask: set.mask, state, bytes: set.bytes }
  }

  /** Drops the least recently used masks above the limit. */
  #forget() {
    let bytes = 0
    for (const [key, entry] of [...this.#made].reverse())
      if ((bytes += entry.bytes) > mostBytes) this.#made.delete(key)
    for (const key of this.#states.keys())
      if (this.#states.size > mostStates) this.#states.delete(key)
  }
}

const mostStates = 1000
