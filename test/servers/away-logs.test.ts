import { expect, onTestFinished, test } from 'bun:test'
import { labelsFor } from '../../src/docker/labels.ts'
import { resume } from '../../src/serve.ts'
import { getServer, insertServer } from '../../src/servers/store.ts'
import { anEnvironment, linesUntil, marks, written } from '../logs/collecting.ts'
import type { Line } from '../logs/collecting.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import { serverId } from '../support/servers.ts'
import { until } from '../support/until.ts'
import { anotherServer } from './cable.ts'

const second = serverId(2)
const third = serverId(3)

/** An app on a second server that has written a line, which is followed. */
async function aFollowedLog() {
  const { t, ada } = withAda(simulatedApp())
  const environment = await anEnvironment(t, ada)
  const other = anotherServer()
  const stop = new AbortController()
  const { signal } = stop
  const background = [...resume(t.deps, { signal }), t.deps.collector.run({ signal })]
  onTestFinished(async () => {
    stop.abort()
    await Promise.allSettled(background)
  })
  const add = (id: string, { docker }: Pick<typeof other, 'docker'>) => {
    const facts = { nodeId: `node of ${id}`, engine: '0', cpus: 2, memoryMb: 2048 }
    const address = `10.0.0.${id.slice(-1)}`
    insertServer(t.db, { id, name: `server${id.slice(-1)}`, address, ...facts })
    t.engines.add(docker)
  }
  const of = { ownerId: ada.user.id, projectId: environment.projectId }
  const labels = labelsFor({
    ...{ instanceId: t.deps.instanceId, kind: 'app', ...of },
    ...{ environmentId: environment.id, deploymentId: Bun.randomUUIDv7() },
  })
  const limits = { memoryBytes: 32 * 2 ** 20, cpus: 1, pidsLimit: 64 }
  const options = { image: 'busybox', command: ['sleep', '1000000'], network: 'none', ...limits }
  const id = await other.docker.createContainer({ ...options, name: 'app', labels })
  await other.docker.startContainer(id)
  other.write('one')
  add(second, other)
  const followed = (text: string) =>
    linesUntil(ada, environment.output, (line: Line) => line.text === text)
  await followed('one')
  return { t, other, add, followed }
}

test('of a server that is away no log is asked for, and none of it is lost or doubled', async () => {
  const { t, other, followed } = await aFollowedLog()
  const lines = followed('three')
  other.cable.pullAfter = 'two'
  other.write('two')
  await until(() => getServer(t.db, second)!.state === 'away')
  const { calls, logins } = other.cable
  other.write('three')
  await until(() => other.cable.logins === logins + 2)
  expect(other.cable.calls).toBe(calls)

  Object.assign(other.cable, { isPulled: false, pullAfter: '' })
  expect(written(await lines)).toEqual(['one', 'two', 'three'])
  expect(marks(await lines)).toEqual(['It started.'])
})

test('the log of a server that was removed is read on where it is added again', async () => {
  const { t, other, add, followed } = await aFollowedLog()
  t.deps.serverEngines.remove({ id: second })
  const { calls } = other.cable
  add(third, other.again(third))
  other.write('two')
  const lines = followed('three')
  await followed('two')
  other.write('three') // which is read at the next look
  expect(written(await lines)).toEqual(['one', 'two', 'three'])
  expect(marks(await lines)).toEqual(['It started.'])
  expect(other.cable.calls).toBe(calls)
})
