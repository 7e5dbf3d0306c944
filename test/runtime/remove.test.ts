import { expect, test } from 'bun:test'
import { Engines } from '../../src/docker/index.ts'
import type { ContainerKey } from '../../src/docker/index.ts'
import { labelsFor } from '../../src/docker/labels.ts'
import { onEngines } from '../../src/runtime/on-engine.ts'
import { removeFromEngine, volumesOf } from '../../src/runtime/remove.ts'
import { sandbox } from '../docker/sandbox.ts'

const { docker, labels, name, run } = sandbox()

test('a container whose data stays is given its time to end, and what others use stays', async () => {
  const instanceId = Bun.randomUUIDv7()
  const of = { instanceId, kind: 'service', ownerId: 'ada', serviceId: 'db' } as const
  const own = { ...labels, ...labelsFor(of) }
  const volumes = [{ name: name(), path: '/data' }]
  const network = name()
  await docker.createVolume({ name: volumes[0]!.name, labels: own })
  await docker.createNetwork({ name: network, labels: own })
  const id = await run('trap "echo written > /data/end; exit" TERM; sleep 99 & wait', {
    labels: own,
    network,
    volumes,
  })
  const stranger = await run('sleep 99', { network })

  const finished: string[] = []
  const collector = { finish: async ({ id }: ContainerKey) => void finished.push(id) }
  const on = onEngines(new Engines([docker]))
  const remove = (volumes: boolean) => {
    const what = { kind: 'service', serviceId: 'db', volumes } as const
    return removeFromEngine({ ...on, collector, instanceId }, what)
  }
  expect(await remove(false)).toMatchObject([{ kind: 'container' }])
  expect(finished).toEqual([id])
  expect(await volumesOf({ ...on, instanceId }, { serviceId: 'db' })).toEqual([volumes[0]!.name])
  const left = await run('cat /data/end', { volumes })
  expect(await docker.waitForExit(left)).toEqual({ exitCode: 0 })

  await docker.removeContainer(stranger, { force: true })
  await docker.removeContainer(left)
  expect(await remove(true)).toEqual([
    { kind: 'network', name: network },
    { kind: 'volume', name: volumes[0]!.name },
  ])
  expect(await remove(true)).toEqual([])
})
