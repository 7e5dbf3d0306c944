import { describe, expect, test } from 'bun:test'
import { insertJob } from '../../src/jobs/store.ts'
import { cancelled, stopping } from '../../src/jobs/task.ts'
import { pack } from '../../src/logs/block.ts'
import { logBounds } from '../../src/logs/log-bounds.ts'
import { saveBlock } from '../../src/logs/store.ts'
import { listLastLines } from '../../src/logs/read-log.ts'
import type { Component } from '../../src/runtime/component.ts'
import { getOnce, listOnce } from '../../src/runtime/once-store.ts'
import { reconcile } from '../../src/runtime/reconcile.ts'
import { stopLive } from '../../src/runtime/restart.ts'
import { Failure } from '../../src/platform/errors.ts'
import { unlessAborted } from '../../src/platform/pause.ts'
import { rollOut } from '../../src/runtime/roll-out.ts'
import { removeOnce, runOnce } from '../../src/runtime/run-once.ts'
import type { Once } from '../../src/runtime/run-once.ts'
import { listInstances } from '../../src/runtime/store.ts'
import { collect } from '../logs/collecting.ts'
import { simulatedApp, testApp, withAda } from '../support/app.ts'
import { until } from '../support/until.ts'
import { aComponent, newWorkload } from './workload.ts'

type Options = Partial<
  Pick<Once, 'timeout' | 'resumes' | 'signal' | 'created' | 'started' | 'slots'>
> & {
  id?: string
  memoryMb?: number
  command?: string[]
}

/** An environment in which commands run once, on the real engine, which collects their output, or a simulated one. */
async function aWorkload({ isSimulated = false } = {}) {
  const { t, ada } = withAda(isSimulated ? simulatedApp() : testApp())
  if (!isSimulated) collect(t)
  const workload = await newWorkload(ada)
  const { id } = workload
  const never = new AbortController().signal
  const labels = [`davit.environment=${id}`]
  return {
    ...t,
    t,
    workload,
    run: (script: string, { id = Bun.randomUUIDv7(), memoryMb, command, ...rest }: Options = {}) =>
      runOnce(t.deps, {
        id,
        workload,
        releaseId: Bun.randomUUIDv7(),
        component: aCommand(command ?? ['sh', '-c', script], memoryMb),
        timeout: 60,
        subject: 'run',
        resumes: false,
        signal: never,
        shutdown: never,
        ...rest,
      }),
    remove: (id: string) => removeOnce(t.deps, { workload, id }),
    look: () => reconcile(t.deps, workload, { orphans: true, signal: never }),
    textsOf: async (logId: string) =>
      (await listLastLines(t.deps, { sourceId: id, logId }, { limit: 100 })).map(
        ({ text }) => text,
      ),
    containers: () => t.docker.listContainers({ labels, all: true }),
    deploy: () =>
      rollOut(t.deps, {
        workload,
        release: { id: 'live', components: [{ ...aCommand(['sleep', '99']), oneShot: false }] },
        hooks: { commit: () => {} },
        signal: never,
        shutdown: never,
      }),
  }
}

function aCommand(command: string[], memoryMb = 32): Component {
  const made = aComponent('once', { name: 'run' })
  const { restart: _, ...options } = made.options
  const memoryBytes = memoryMb * 2 ** 20
  return { ...made, options: { ...options, command, memoryBytes, stopTimeout: 1 }, oneShot: true }
}

describe('a command that runs once', () => {
  test('comes to its exit code, with all that it wrote in its job’s log and nowhere else', async () => {
    const { run, remove, textsOf, containers, workload, db } = await aWorkload()
    const id = Bun.randomUUIDv7()
    expect(await run('echo begun; echo done >&2; exit 3', { id })).toEqual({
      exitCode: 3,
      oomKilled: false,
    })
    expect((await textsOf(id)).toSorted()).toEqual(['begun', 'done'])
    expect(await textsOf('')).toEqual([])
    await remove(id)
    expect(await containers()).toEqual([])
    expect(listOnce(db, workload.id)).toEqual([])
  })

  test('that takes too long is stopped, and fails in a sentence', async () => {
    const { run, containers } = await aWorkload({ isSimulated: true })
    const work = run('sleep 99', { timeout: 0.1 })
    await expect(work).rejects.toMatchObject({ code: 'timeout' })
    expect((await containers()).map(({ state }) => state)).toEqual(['exited'])
  })

  test.each([
    ['ahead', 'sleep 99', { timeout: 0.1, is: { code: 'timeout' } }],
    ['behind', 'sleep 0.1; exit 4', { timeout: 60, is: { exitCode: 4 } }],
  ])('has its time where the clock of its server is %s', async (is, script, expected) => {
    const { run, t } = await aWorkload({ isSimulated: true })
    const deviation = is === 'ahead' ? 3_600_000 : -3_600_000
    t.faults.inspectContainer = async (...asked) => {
      const found = await t.docker.inspectContainer(...asked)
      const startedAt = found?.startedAt && new Date(found.startedAt.getTime() + deviation)
      return found && { ...found, startedAt: startedAt ?? null }
    }
    const ended = run(script, { timeout: expected.timeout }).catch((error) => error)
    expect(await ended).toMatchObject(expected.is)
  })

  test('has its time without that for which a backup holds its volumes', async () => {
    const { run, t, workload } = await aWorkload({ isSimulated: true })
    const { signal } = new AbortController()
    const over = Promise.withResolvers<void>()
    const started = () => void t.locks.hold(workload, signal, () => over.promise)
    let waits = 0
    t.faults.waitForExit = (...asked) => {
      waits++
      return t.docker.waitForExit(...asked)
    }
    expect(await run('sleep 0.3; exit 4', { timeout: 0.1, started })).toMatchObject({ exitCode: 4 })
    over.resolve()
    expect(waits).toBeLessThan(3) // what is left of its time doesn't change meanwhile
  })

  test('leaves the slot of its job while it waits for a backup, and has it back before it starts', async () => {
    const { run, workload, locks } = await aWorkload({ isSimulated: true })
    const held = Promise.withResolvers<void>()
    const { signal } = new AbortController()
    const holding = locks.beforeRuns(workload, signal, () => held.promise)
    const calls: string[] = []
    const slots = {
      releaseSlot() {
        calls.push('left')
        held.resolve()
      },
      takeSlot: async () => void calls.push('taken'),
    }
    await run('exit 0', { slots, started: () => calls.push('started') })
    await holding
    expect(calls).toEqual(['left', 'taken', 'started'])
  })

  test('that needs more memory than it may have says so', async () => {
    const { run } = await aWorkload()
    // the engine may not hear of one that ends as it starts
    await until(async () => (await run('tail /dev/zero', { memoryMb: 16 })).oomKilled)
  })

  test('that isn’t in the image ends as in a shell, and says so', async () => {
    const { run, textsOf } = await aWorkload()
    const id = Bun.randomUUIDv7()
    expect(await run('', { id, command: ['no-such-command'] })).toMatchObject({ exitCode: 127 })
    expect((await textsOf(id)).join()).toContain('no-such-command')
  })

  test('whose container someone removes fails with that reason', async () => {
    const { run, docker, db } = await aWorkload({ isSimulated: true })
    const id = Bun.randomUUIDv7()
    const work = run('sleep 99', {
      id,
      started: () => void docker.removeContainer(getOnce(db, id)!.containerId!, { force: true }),
    })
    await expect(work).rejects.toMatchObject({ code: 'container_removed' })
  })
})

test('an engine that goes away meanwhile is waited for, and nothing runs twice', async () => {
  const { run, containers, t } = await aWorkload({ isSimulated: true })
  const gone = () => Promise.reject(new Failure('engine_unreachable', 'It is away.', 'Wait.'))
  let starts = 0
  t.faults.startContainer = async (container) => {
    await t.docker.startContainer(container)
    if (++starts === 1) await gone() // the response is lost
  }
  t.faults.waitForExit = () => {
    delete t.faults.waitForExit
    return gone()
  }
  expect(await run('sleep 0.2; exit 4')).toMatchObject({ exitCode: 4 })
  expect(await containers()).toHaveLength(1)
  expect(starts).toBe(1)
})

test('what writes without end fills no log: that says so, and the command goes on', async () => {
  const { run, textsOf, logDb, workload } = await aWorkload()
  const id = Bun.randomUUIDv7()
  const log = { sourceId: workload.id, logId: id }
  const times = { firstTime: Date.now(), lastTime: Date.now() }
  const last = logBounds.lines - 10
  saveBlock(logDb, { id: null, ...log, first: 1, last, ...times, data: pack('') })
  expect(await run('seq 1 5000; exit 6', { id })).toMatchObject({ exitCode: 6 })
  const texts = (await textsOf(id)).filter((text) => text !== '')
  expect(texts.slice(0, 10)).toEqual(Array.from({ length: 10 }, (_, at) => String(at + 1)))
  expect(texts.slice(10)).toEqual([expect.stringMatching(/1,000,000 lines /)])
})

describe('a command that is cut short', () => {
  test('by its signal is stopped, with its last lines kept', async () => {
    const { run, textsOf, containers } = await aWorkload()
    const [id, abort] = [Bun.randomUUIDv7(), new AbortController()]
    const work = run('trap "echo bye; exit" TERM; echo hello; while :; do sleep 1; done', {
      id,
      signal: abort.signal,
    })
    work.catch(() => {})
    await until(async () => (await textsOf(id)).includes('hello'))
    abort.abort(cancelled)
    expect(await work.catch((error) => error)).toBe(cancelled)
    expect(await textsOf(id)).toEqual(['hello', 'bye'])
    expect((await containers()).map(({ state }) => state)).toEqual(['exited'])
  })

  test('by the stop of Davit keeps running if it resumes, and no line is lost', async () => {
    const { run, textsOf, containers } = await aWorkload()
    const [id, abort] = [Bun.randomUUIDv7(), new AbortController()]
    const script = 'echo one; sleep 3; echo two; exit 5'
    const first = run(script, { id, resumes: true, signal: abort.signal })
    first.catch(() => {})
    await until(async () => (await textsOf(id)).includes('one'))
    abort.abort(stopping)
    expect(await first.catch((error) => error)).toBe(stopping)
    expect((await containers()).map(({ state }) => state)).toEqual(['running'])
    expect(await run(script, { id, resumes: true })).toMatchObject({ exitCode: 5 })
    expect(await textsOf(id)).toEqual(['one', 'two'])
    expect(await containers()).toHaveLength(1)
  })

  test('and that ends before the next start has its own end, however long that took', async () => {
    const { run, containers, t } = await aWorkload({ isSimulated: true })
    const [id, abort] = [Bun.randomUUIDv7(), new AbortController()]
    const first = run('sleep 0.05; exit 5', {
      ...{ id, resumes: true, signal: abort.signal },
      started: () => abort.abort(stopping),
    })
    expect(await first.catch((error) => error)).toBe(stopping)
    await until(async () => (await containers()).every(({ state }) => state === 'exited'))
    t.faults.waitForExit = (_, { signal } = {}) => unlessAborted(new Promise(() => {}), signal!)
    expect(await run('', { id, resumes: true, timeout: 0.01 })).toMatchObject({ exitCode: 5 })
  })
})

describe('a look at the workload', () => {
  test('leaves alone what someone is at work on, and removes it when no one is', async () => {
    const { run, look, containers } = await aWorkload({ isSimulated: true })
    const work = run('sleep 0.3')
    await until(async () => (await containers()).some(({ state }) => state === 'running'))
    await look()
    expect(await work).toMatchObject({ exitCode: 0 })
    expect(await containers()).toHaveLength(1)
    await look()
    expect(await containers()).toEqual([])
  })

  test('leaves a run to its job, whose process may have died', async () => {
    const { run, look, containers, workload, db } = await aWorkload({ isSimulated: true })
    const { id } = insertJob(db, {
      kind: 'run',
      subjectId: Bun.randomUUIDv7(),
      ownerId: workload.ownerId,
      slot: null,
      input: null,
    })
    await run('exit 0', { id })
    await look()
    expect(await containers()).toHaveLength(1)
  })

  test('and a roll-out, a stop and the release’s state are none of its matters', async () => {
    const { run, deploy, containers, workload, db, t } = await aWorkload({ isSimulated: true })
    const work = run('sleep 0.5; exit 7')
    await until(async () => (await containers()).some(({ state }) => state === 'running'))
    await deploy()
    await stopLive(t.deps, { workload, signal: new AbortController().signal })
    expect(await work).toMatchObject({ exitCode: 7 })
    expect(listInstances(db, workload.id)).toMatchObject([{ releaseId: 'live', state: 'stopped' }])
  })
})
