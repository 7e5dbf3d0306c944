import { openDatabase } from '../../src/db/index.ts'
import { Jobs } from '../../src/jobs/jobs.ts'
import { insertJob } from '../../src/jobs/store.ts'
import type { Slot } from '../../src/jobs/store.ts'
import type { End, Kind, Work } from '../../src/jobs/task.ts'

type Options = {
  slots?: number
  db?: ReturnType<typeof openDatabase>
  isShared?: () => boolean
}

export const words = { doing: 'it worked', again: 'try again' }

/** Jobs that run until they are ended by name, or are aborted; `begun` has their subjects in order. */
export function scene({ slots = 1, db = openDatabase(':memory:'), ...options }: Options = {}) {
  const published: unknown[] = []
  const logs = { publish: (...event: unknown[]) => void published.push(event) }
  const all = { build: slots, schedule: 5, service: slots, 'clean-up': 1, move: 1, backup: 2 }
  const jobs = new Jobs({ db, logs, ...options, slots: all })
  const begun: string[] = []
  const ended: [string, End][] = []
  const goingOn = new Map<string, { work: Work; end: (error?: Error) => void }>()
  const kind: Kind = ({ subjectId }) => ({
    ...words,
    async run(work) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      begun.push(subjectId)
      goingOn.set(subjectId, { work, end: (error) => (error ? reject(error) : resolve()) })
      work.signal.addEventListener('abort', () => reject(work.signal.reason), { once: true })
      await promise.finally(() => goingOn.delete(subjectId))
    },
    end(end) {
      ended.push([subjectId, end])
      return { status: end.status }
    },
  })
  jobs.handle('deploy', () => kind)
  jobs.handle('start', () => kind)
  const add = (subjectId: string, ownerId: string, slot: Slot | null = 'build') =>
    insertJob(db, { kind: slot === 'service' ? 'start' : 'deploy', subjectId, ownerId, slot })
  const end = async (subjectId: string, error?: Error) => {
    const { work, end } = goingOn.get(subjectId)!
    end(error)
    await jobs.ended(work.job.id)
    await Bun.sleep(0)
  }
  return { db, jobs, begun, ended, published, goingOn, add, end }
}

export const turn = () => Bun.sleep(0)
