import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { newId } from '../../src/db/new-id.ts'
import type { BackupDeps } from '../../src/backups/deps.ts'
import { Failure } from '../../src/platform/errors.ts'

type Restic = Awaited<ReturnType<BackupDeps['openRestic']>>
type Stored = { id: string; at: Date; tags: string[]; paths: string[]; bytes: number }

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

  /** The tags that name the backups it has. */
  get backups() {
    const tags = this.snapshots.flatMap(({ tags }) => tags)
    return [...new Set(tags.filter((tag) => tag.startsWith('backup=')))]
  }

  add(one: Pick<Stored, 'tags' | 'paths' | 'bytes'>) {
    const snapshot = { ...one, id: newId().replaceAll('-', '').repeat(2), at: new Date() }
    this.snapshots.push(snapshot)
    return { id: snapshot.id, bytes: one.bytes, addedBytes: Math.ceil(one.bytes / 2), seconds: 0 }
  }

  #calls(turn: Turn): Pick<Restic, Call> {
    const gathered = new Map<string, number>()
    return {
      ready: ({ signal }) => turn('restic ready', { signal }, () => null),
      store: async ({ file, tags, ...storing }) =>
        this.add({ tags, paths: [`/${file}`], bytes: await this.#read(storing) }),
      gather: async ({ file, ...storing }) => {
        gathered.set(file, await this.#read(storing))
        return null
      },
      storeGathered: ({ tags, signal }) => {
        const paths = [...gathered.keys()].map((file) => `/files/${file}`)
        const bytes = gathered.values().reduce((sum, one) => sum + one, 0)
        return turn('restic store', { signal, changes: true }, () => {
          gathered.clear()
          return this.add({ tags, paths, bytes })
        })
      },
      storeVolumes: async ({ volumes, tags, progress, signal }) => {
        const one = { tags, paths: volumes.map(({ path }) => path), bytes: 1000 }
        progress?.({ bytes: 1, total: 1000 })
        return turn('restic store', { signal, changes: true }, () => this.add(one))
      },
      measureVolumes: ({ snapshot, signal }) =>
        turn('restic restore', { signal }, () => this.#find(snapshot).bytes),
      read: async ({ snapshot, to, signal }) => {
        const bytes = Buffer.alloc(this.#find(snapshot).bytes)
        await to(Readable.from([bytes]), signal)
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
    const { length: bytes } = await read
    progress?.({ bytes, total: null })
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
