import { expect, test } from 'bun:test'
import { InstanceTasks } from '../../src/runtime/instance-tasks.ts'
import type { TaskSignals } from '../../src/runtime/instance-tasks.ts'
import { unlessAborted } from '../../src/platform/pause.ts'

const instance = { id: 'instance', workloadId: 'workload' }

/** A removal that waits until it is let go on, and what it did. */
function aRemoval(tasks: InstanceTasks) {
  const [waits, stops] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const did: string[] = []
  const stopping = Promise.withResolvers<void>()
  tasks.begin(instance, 'removal', async ({ kept, mayStop }: TaskSignals) => {
    await unlessAborted(waits.promise, kept).catch(() => did.push('ended'))
    if (!mayStop()) return
    did.push('stops')
    stopping.resolve()
    await stops.promise
    did.push('stopped')
  })
  return { did, goOn: waits.resolve, stopping: stopping.promise, stop: stops.resolve }
}

test('a removal that waits ends without a stop when its container is kept, and another one may follow at once', async () => {
  const tasks = new InstanceTasks()
  const { did } = aRemoval(tasks)
  expect(tasks.isRemoving(instance.id)).toBe(true)
  tasks.keep([instance])
  expect(tasks.isRemoving(instance.id)).toBe(false)
  const next = aRemoval(tasks)
  expect(tasks.isRemoving(instance.id)).toBe(true)
  next.goOn()
  await next.stopping
  expect(did).toEqual(['ended'])
  next.stop()
  await tasks.idle()
  expect(next.did).toEqual(['stops', 'stopped'])
})

test('a removal that stops its container goes on to its end, which those who keep it can await', async () => {
  const tasks = new InstanceTasks()
  const { did, goOn, stopping, stop } = aRemoval(tasks)
  goOn()
  await stopping
  tasks.keep([instance])
  expect(tasks.isRemoving(instance.id)).toBe(true)
  stop()
  await tasks.ended([instance], new AbortController().signal)
  expect(did).toEqual(['stops', 'stopped'])
  expect(tasks.isRemoving(instance.id)).toBe(false)
})
