import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Failure } from '../../platform/errors.ts'
import { randomToken } from '../../platform/secrets.ts'
import type { Messages } from './messages.ts'
import { KeptContainer } from '../../runtime/backup-containers.ts'
import { completingRun, gatheredMark, gatheringRun, gatheringRoom } from './gather.ts'
import { readingRun, storedName, storesFrom } from './gather.ts'
import { repositoryOf } from './repository.ts'
import type { Target } from './repository.ts'
import { gatheringFolder, optionsOf, runRestic } from './run.ts'
import type { Opened, ResticDeps } from './run.ts'
import { adoptScript, backup, copiesFolder, openingScript, trialScript } from './scripts.ts'
import { currentIds, findSnapshot, readSnapshots, snapshotsIn, summaryOf } from './snapshots.ts'
import type {
  Abortable,
  Snapshot,
  SnapshotOf,
  Snapshots,
  Storing,
  StoredSnapshot,
} from './snapshots.ts'
import { volumeCalls } from './volumes.ts'

export type { Target } from './repository.ts'
export type { ResticDeps } from './run.ts'
export type { Snapshot, StoredSnapshot } from './snapshots.ts'

export type Restic = ReturnType<typeof openRestic>

type StoringFile = Storing & {
  file: string
  from: (stdin: Writable, signal: AbortSignal) => Promise<void>
}

export type TextFile = { file: string; text: string }

/** What `randomToken` and `Secrets.sign` make. */
const madeKey = /^([\w-]{43}|[0-9a-f]{64})$/

/**
 * restic makes each use of a key take as long as half a second of these does, against guesses: as little as it can
 * for a key of Davit’s. The key of another repository may be a word.
 */
const cpusOfInit = ({ password }: Target) => (madeKey.test(password) ? { cpus: 0.1 } : {})

/**
 * One repository, in which each large file of a backup, its small ones together, and its volumes are a snapshot.
 * Contacts nothing yet. One that keeps a container must be disposed of.
 */
export function openRestic(deps: ResticDeps, target: Target) {
  const opened: Opened = { ...deps, target, repository: repositoryOf(target) }
  if (deps.inOne) opened.kept = new KeptContainer(deps, (open) => optionsOf(opened, open))
  const gathered = gatheringRoom()
  /** As read last, while its container is kept and nothing was changed. */
  let known: Snapshots | null = null

  function remember(read: Snapshots) {
    if (opened.kept) known = read
    return read
  }

  const snapshots = async (options: Abortable) => remember(await readSnapshots(opened, options))

  /** Throws a Failure when none is such a one, or it can’t be read. */
  const findBy = async ({ is, signal }: Abortable & { is: (one: StoredSnapshot) => boolean }) =>
    findSnapshot(opened, known ?? (await snapshots({ signal })), is)

  const find = ({ snapshot, signal }: SnapshotOf) =>
    findBy({ is: ({ id }) => id.startsWith(snapshot), signal })

  /** Starts the container that is kept, to be there when it is needed: whoever needs it is told why it isn't. */
  const begin = (open: Abortable) => void opened.kept?.open(open).catch(() => {})

  async function open(command: string[], how: Abortable & { cpus?: number }) {
    const args = ['--json', ...command]
    const opening = { args, isQuick: true, script: openingScript, ...how }
    return hostKeyOf((await runRestic(opened, opening)).messages)
  }

  /** Throws a Failure unless the repository is there and its key is the target's. */
  const ready = ({ signal }: Abortable) => open(['cat', 'config'], { signal })

  /** Creates the repository when it is missing. Returns the key of an ssh host. */
  async function prepare({ signal }: Abortable): Promise<{ hostKey: string | null }> {
    try {
      return { hostKey: await ready({ signal }) }
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'target_missing') throw error
    }
    return { hostKey: await open(['init'], { signal, ...cpusOfInit(target) }) }
  }

  /** Counts what an interrupted run has sent as there, so that the next one doesn’t send it again. */
  async function adopt({ signal }: Abortable) {
    known = null
    await runRestic(opened, { args: [], script: adoptScript, isAlone: true, signal })
  }

  /** Stores what `from` writes. When that fails, nothing is stored. */
  async function store({ file, from, ...storing }: StoringFile): Promise<Snapshot> {
    known = null
    const args = [...backup(storing.tags), '--stdin', '--stdin-filename', storedName(file)]
    return summaryOf(await runRestic(opened, { args, stdin: from, ...storing }))
  }

  /** Keeps what `from` writes for `storeGathered`, and returns null; a large file is stored at once. */
  async function gather(storing: StoringFile): Promise<Snapshot | null> {
    const name = storedName(storing.file)
    const settle = opened.kept ? gathered.take(name) : null
    if (!settle) return store(storing)
    known = null
    const result = await runRestic(opened, {
      args: [...backup(storing.tags), '--stdin', '--stdin-filename', name],
      script: gatheringRun,
      env: { DAVIT_FILE: name, DAVIT_LIMIT: String(storesFrom) },
      ...{ stdin: storing.from, storesFrom },
      ...{ progress: storing.progress, signal: storing.signal },
    })
    const line = result.messages.texts.find((text) => text.startsWith(gatheredMark))
    settle(line === undefined ? null : Number(line.slice(gatheredMark.length)))
    return line === undefined ? summaryOf(result) : null
  }

  /**
   * Stores what was gathered and one more file as one snapshot, completely or not at all. Null for nothing. Neither tags
   * nor names have spaces.
   */
  async function storeGathered({
    tags,
    last,
    ...storing
  }: Storing & { last?: TextFile | null }): Promise<Snapshot | null> {
    const lastName = last ? [storedName(last.file)] : []
    const names = [...gathered.names, ...lastName]
    if (names.length === 0) return null
    known = null
    const result = await runRestic(opened, {
      ...{ args: [], script: completingRun, ...storing },
      env: {
        DAVIT_BACKUP: [...backup(tags), '--force', '--', ...names].join(' '),
        DAVIT_FILE: lastName.join(''),
        DAVIT_BYTES: String(Buffer.byteLength(last?.text ?? '')),
      },
      ...(last && {
        stdin: (to, signal) => pipeline([last.text], to, { signal, end: false }),
        ...{ isRepeatable: true, storesFrom: Infinity },
      }),
    })
    remember(snapshotsIn(result))
    return summaryOf(result)
  }

  /** Reads a file that was stored. Resolves when all of it was read. */
  async function read({
    snapshot,
    file,
    to,
    signal,
  }: SnapshotOf & {
    file: string
    to: (stdout: AsyncIterable<Uint8Array>, signal: AbortSignal) => Promise<void>
  }) {
    const { current, paths } = await find({ snapshot, signal })
    const name = storedName(file)
    const together = opened.kept && paths.every((path) => path.startsWith(`${gatheringFolder}/`))
    const args = together
      ? ['restore', current, '--target', `${gatheringFolder}/part`]
      : ['dump', current, paths.includes(copiesFolder) ? '/' : `/${name}`]
    await runRestic(opened, {
      ...{ args, stdout: to, signal },
      ...(together && { script: readingRun, env: { DAVIT_SNAPSHOT: current, DAVIT_FILE: name } }),
    })
  }

  /** Removes snapshots and the data that only they have. Those that don't exist are ignored. */
  async function forget({ snapshots: ids, signal }: Abortable & { snapshots: string[] }) {
    const current = currentIds(known ?? (await snapshots({ signal })), ids)
    if (current.length === 0) return
    known = null
    await runRestic(opened, { args: ['forget', '--prune', ...current], isAlone: true, signal })
  }

  /** Writes, reads and removes a snapshot, in a repository that is created if it is missing. */
  async function tryOut({ signal }: Abortable): Promise<{ hostKey: string | null }> {
    const prepared = await prepare({ signal })
    const { target, repository } = opened
    const known = { ...target, hostKey: target.hostKey ?? prepared.hostKey }
    const { kept: _, ...rest } = opened // it doesn’t know the host key
    const trial = { ...rest, target: known, repository: { ...repository, ...repositoryOf(known) } }
    await runRestic(trial, {
      args: [],
      script: trialScript,
      env: { DAVIT_TRIAL: randomToken() },
      isAlone: true,
      isQuick: true,
      signal,
    })
    return prepared
  }

  /** Oldest first. */
  async function list({ tag, signal }: Abortable & { tag?: string }) {
    const { snapshots: all } = known ?? (await snapshots({ signal }))
    return all.filter(({ tags }) => tag === undefined || tags.includes(tag))
  }

  return {
    begin,
    ready,
    prepare,
    adopt,
    tryOut,
    store,
    gather,
    storeGathered,
    read,
    ...volumeCalls(opened, { find, changed: () => (known = null) }),
    list,
    findBy,
    forget,
    [Symbol.asyncDispose]: async () => opened.kept?.[Symbol.asyncDispose](),
  }
}

function hostKeyOf({ texts }: Messages) {
  const line = texts.find((text) => text.startsWith('davit-host-key '))
  return line?.split(' ').slice(1, 3).join(' ') ?? null
}
