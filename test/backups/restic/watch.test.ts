import { expect, test } from 'bun:test'
import { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { Watch } from '../../../src/backups/restic/watch.ts'
import { write } from './write.ts'

const late = new Error('late')
const { signal } = new AbortController()

/** Resolves with the reason for which it ended, or null when it didn’t in 5 times its limit. */
const endOf = async (watch: Watch, limit: number) => {
  const ended = new Promise<unknown>((done) =>
    watch.signal.addEventListener('abort', () => done(watch.signal.reason)),
  )
  return Promise.race([ended, sleep(5 * limit, null)])
}

test('who makes no progress is ended, and who waits for us isn’t', async () => {
  const limits = { stall: 50, late: () => late }
  {
    using watch = new Watch(signal, limits)
    expect(await endOf(watch, 50)).toBe(late)
  }
  {
    using watch = new Watch(signal, limits)
    const to = new Writable({ write: (_, __, done) => done() })
    await write('some')(watch.writing(to))
    expect(await endOf(watch, 50)).toBeNull() // the database has nothing yet
    watch.written()
    expect(await endOf(watch, 50)).toBe(late)
  }
  {
    using watch = new Watch(signal, limits)
    const stuck = new Writable({ write() {} })
    watch.writing(stuck).write('some')
    expect(await endOf(watch, 50)).toBe(late)
  }
})

test('a limit of the whole passes in spite of progress', async () => {
  using watch = new Watch(signal, { total: 50, late: () => late })
  const progress = setInterval(() => watch.progressed(), 5)
  expect(await endOf(watch, 50)).toBe(late)
  clearInterval(progress)
})
