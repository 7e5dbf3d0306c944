import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { newId } from '../../src/db/new-id.ts'
import type { BackupDeps } from '../../src/backups/deps.ts'
import { Failure } from '../../src/platform/errors.ts'
import { unlessAborted } from '../../src/platform/pause.ts'

type Restic = Awaited<ReturnType<BackupDeps['openRestic']>>
type Stored = { id: string; at: Date; tags: string[]; paths: string[]; bytes: number }

/** Kept as it was written; of other files a test only needs the size. */
const description = 'backup.json'

type Call =
  | 'ready'
  | 'store'
  | 'gather'
  | 'storeGathered'
  | 'storeVolumes'
  | 'measureVolumes'
  | 'read'
  | 'readVolumes'
  | 'list'
  | 'findBy'
  | 'forget'

/** Decides when a call is done, and whether. */
type Turn = <T>(
  call: string,
  options: { signal?: AbortSignal; changes?: boolean },
  work: () => T,
) => Promise<T>

/** A repository in memory. A call that is set on `faults` stands in for the usual one. */
export class SimulatedRestic {
  readonly snapshots: Stored[] = []
  /** By snapshot. */
  readonly descriptions = new Map<string, Buffer>()
  /** The snapshots that volumes were restored from. */
  readonly restored: string[] = []
  readonly faults: Partial<Restic> = {}
  readonly usual = this.#calls(async (_, __, work) => work())
  readonly open = this.opener(async (_, __, work) => work())

  opener(turn: Turn): BackupDeps['openRestic'] {
    const usual = Object.entries(this.#calls(turn))
    const called = usual.map(([name, call]) => [
      name,
      (options: never) =>
        (this.faults[name as keyof Restic] ?? (call as never as () => unknown))(options),
    ])
    const idle = { begin() {}, [Symbol.asyncDispose]: async () => {} }
    return async () => ({ ...Object.fromEntries(called), ...idle }) as Restic
  }

  /** Lets a call go on until it is aborted. Resolves once it began. */
  stall(call: 'list' | 'measureVolumes' | 'readVolumes'): Promise<void> {
    const began = Promise.withResolvers<void>()
    this.faults[call] = ({ signal }: { signal: AbortSignal }) => {
      began.resolve()
      return unlessAborted(new Promise<never>(() => {}), signal)
    }
    return began.promise
  }

  /** Lets a call last until it is told to go on, or is aborted. */
  heldUp(call: 'storeVolumes' | 'measureVolumes' | 'readVolumes') {
    const begun = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    this.faults[call] = async (options: any) => {
      begun.resolve()
      await unlessAborted(goOn.promise, options.signal)
      return this.usual[call](options) as never
    }
    return { begun: begun.promise, goOn: goOn.resolve }
  }

  /** The tags that name the backups it has. */
  get backups() {
    const tags = this.snapshots.flatMap(({ tags }) => tags)
    return [...new Set(tags.filter((tag) => tag.startsWith('backup=')))]
  }

  add(one: Pick<Stored, 'tags' | 'paths' | 'bytes'>) {
    const snapshot = { ...one, id: newId().replaceAll('-', '').repeat(2), at: new Date() }
    this.snapshots.push(snapshot)
    return { id: snapshot.id, bytes: one.bytes, addedBytes: Math.ceil(one.bytes / 2) }
  }

  #calls(turn: Turn): Pick<Restic, Call> {
    const gathered = new Map<string, Buffer>()
    return {
      ready: ({ signal }) => turn('restic ready', { signal }, () => null),
      store: async ({ file, tags, ...storing }) =>
        this.add({ tags, paths: [`/${file}`], bytes: (await this.#read(storing)).length }),
      gather: async ({ file, ...storing }) => {
        gathered.set(file, await this.#read(storing))
        return null
      },
      storeGathered: ({ tags, last, signal }) => {
        if (last) gathered.set(last.file, Buffer.from(last.text))
        const paths = [...gathered.keys()].map((file) => `/files/${file}`)
        const bytes = gathered.values().reduce((sum, { length }) => sum + length, 0)
        return turn('restic store', { signal, changes: true }, () => {
          const stored = this.add({ tags, paths, bytes })
          const described = gathered.get(description)
          if (described) this.descriptions.set(stored.id, described)
          gathered.clear()
          return stored
        })
      },
      storeVolumes: async ({ volumes, tags, progress, signal }) => {
        const one = { tags, paths: volumes.map(({ path }) => path), bytes: 1000 }
        progress?.({ bytes: 1, total: 1000 })
        return turn('restic store', { signal, changes: true }, () => this.add(one))
      },
      measureVolumes: ({ snapshot, signal }) =>
        turn('restic restore', { signal }, () => this.#find(snapshot).bytes),
      read: async ({ snapshot, file, to, signal }) => {
        const described = file === description && this.descriptions.get(snapshot)
        await to(Readable.from([described || Buffer.alloc(this.#find(snapshot).bytes)]), signal)
      },
      readVolumes: ({ snapshot, signal }) =>
        turn('restic restore', { signal, changes: true }, () => {
          this.restored.push(this.#find(snapshot).id)
        }),
      list: ({ tag, signal }) =>
        turn('restic list', { signal }, () =>
          this.snapshots
            .filter(({ tags }) => !tag || tags.includes(tag))
            .map((one) => ({ ...one, current: one.id })),
        ),
      findBy: ({ is, signal }) =>
        turn('restic list', { signal }, () => {
          const found = this.snapshots.findLast(is)
          if (found) return { ...found, current: found.id }
          throw new Failure('backup_missing', 'It isn’t there.', 'Choose another.')
        }),
      forget: ({ snapshots, signal }) =>
        turn('restic forget', { signal, changes: true }, () => this.#remove(snapshots)),
    }
  }

  async #read({ from, progress, signal }: Omit<Parameters<Restic['store']>[0], 'file' | 'tags'>) {
    const stdin = new PassThrough()
    const read = buffer(stdin)
    read.catch(() => {})
    try {
      await from(stdin, signal)
    } catch (error) {
      stdin.destroy()
      throw error
    }
    stdin.end()
    const bytes = await read
    progress?.({ bytes: bytes.length, total: null })
    return bytes
  }

  #find(snapshot: string) {
    return this.snapshots.find(({ id }) => id === snapshot)!
  }

  #remove(ids: string[]) {
    const left = this.snapshots.filter(({ id }) => !ids.includes(id))
    this.snapshots.splice(0, Infinity, ...left)
  }
}

export const away = () => new Failure('target_away', 'The target doesn’t respond.', 'Try again.')

/** Stands in for a call. */
export const unreachable = async (): Promise<never> => {
  throw away()
}
