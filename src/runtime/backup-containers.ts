import type { ContainerOptions } from '../docker/index.ts'
import { labelFilter, labelsFor, processLabel, thisProcess } from '../docker/labels.ts'
import { endOfName } from './steps/create.ts'
import { ensureNetwork } from './network.ts'
import type { NetworkDeps } from './network.ts'
import type { PipedOptions, PipedResult } from '../docker/piped.ts'
import type { Streams } from '../docker/piped-streams.ts'

export type BackupDeps = NetworkDeps & { instanceId: string }

type Wanted = Omit<PipedOptions, 'name' | 'labels' | 'network' | 'signal'> & {
  signal: AbortSignal
  ownerId: string
  /** What it does, for its name. */
  does: string
  /** False for one without a network, or a container whose network it shares. */
  isOnline: boolean | { sharedWith: string }
  /** Volumes of Davit’s own to create, such as a cache. */
  ownVolumes?: NonNullable<ContainerOptions['volumes']>
}

/** Runs a container of a backup to its end. Online, it is in a network in which nothing but backups is. */
export async function runForBackup(deps: BackupDeps, wanted: Wanted) {
  const { ownerId, does, isOnline, ownVolumes = [], volumes = [], ...options } = wanted
  const { docker, instanceId } = deps
  const { signal } = wanted
  const labels = labelsFor({ instanceId, kind: 'backup', ownerId })
  const network =
    typeof isOnline === 'object'
      ? `container:${isOnline.sharedWith}`
      : isOnline
        ? await ensureBackupNetwork(deps, { signal })
        : 'none'
  for (const { name } of ownVolumes) await docker.createVolume({ name, labels, signal })
  return docker.runPiped({
    ...options,
    name: `davit-${does}-${Bun.randomUUIDv7().slice(-12)}${endOfName(instanceId)}`,
    labels: { ...labels, [processLabel]: thisProcess },
    network,
    volumes: [...ownVolumes, ...volumes],
  })
}

type KeptOptions = Omit<Wanted, keyof Streams | 'entrypoint' | 'command'>

type OptionsOf = (open: { signal: AbortSignal }) => Promise<KeptOptions>

type Command = Streams & { signal: AbortSignal; command: string[]; env?: Record<string, string> }

/**
 * A container in which commands of a backup run, from the first one until it is disposed of, one of them fails to
 * read or write, or this process ends.
 */
export class KeptContainer implements AsyncDisposable {
  readonly #deps: BackupDeps
  readonly #options: OptionsOf
  #current: { id: Promise<string>; over: Promise<void>; stop: AbortController } | null = null

  constructor(deps: BackupDeps, options: OptionsOf) {
    this.#deps = deps
    this.#options = options
  }

  /** Starts it unless it runs. */
  open({ signal }: { signal: AbortSignal }): Promise<string> {
    this.#current ??= this.#start(signal)
    return this.#current.id
  }

  async run({ command, ...streams }: Command): Promise<PipedResult> {
    const id = await this.open(streams)
    const kill = () => this[Symbol.asyncDispose]()
    return this.#deps.docker.execPiped(id, { ...streams, command, kill })
  }

  async [Symbol.asyncDispose]() {
    this.#current?.stop.abort()
    await this.#current?.over
  }

  /** Its first process only reads: the end of its input, which a kill of Davit ends, too, is the end of all. */
  #start(outer: AbortSignal) {
    const stop = new AbortController()
    const started = Promise.withResolvers<string>()
    const run = async () => {
      const signal = AbortSignal.any([outer, stop.signal])
      await runForBackup(this.#deps, {
        ...(await this.#options({ signal })),
        entrypoint: ['cat'],
        signal,
        stdin(to, _, id) {
          started.resolve(id)
          return new Promise((resolve) => to.once('close', resolve))
        },
      })
      throw new Error('It ended.')
    }
    const over = run().catch((error) => {
      started.reject(error)
      if (this.#current === current) this.#current = null
    })
    const current = { id: started.promise, over, stop }
    return current
  }
}

/** Whose containers reach targets, and no app or service. Returns its name. */
export const ensureBackupNetwork = (deps: BackupDeps, { signal }: { signal: AbortSignal }) => {
  const { instanceId } = deps
  return ensureNetwork(deps, {
    name: `davit-backup${endOfName(instanceId)}`,
    filter: labelFilter(instanceId, { kind: 'backup' }),
    labels: labelsFor({ instanceId, kind: 'backup', ownerId: '' }),
    signal,
  })
}

/** Removes what a killed process left: nothing reads the output of these any more. */
export async function removeBackupContainers(
  { docker, instanceId }: Pick<BackupDeps, 'docker' | 'instanceId'>,
  { signal }: { signal: AbortSignal },
) {
  const labels = labelFilter(instanceId, { kind: 'backup' })
  const found = await docker.listContainers({ labels, all: true, signal })
  for (const { id } of found.filter(({ labels }) => labels[processLabel] !== thisProcess))
    await docker.removeContainer(id, { force: true, volumes: true })
}

/** Those of this process that mount these volumes, too: their server was away when they were to be removed. */
export async function removeEndedBackups(
  { docker, instanceId }: Pick<BackupDeps, 'docker' | 'instanceId'>,
  { volumes, signal }: { volumes: string[]; signal: AbortSignal },
) {
  const labels = labelFilter(instanceId, { kind: 'backup' })
  for (const { id } of await docker.listContainers({ labels, all: true, signal })) {
    const found = await docker.inspectContainer(id, { signal })
    const isIts = found?.mounts.some(({ source }) => volumes.includes(source ?? ''))
    if (isIts && found?.state === 'exited') await docker.removeContainer(id, { force: true })
  }
}
