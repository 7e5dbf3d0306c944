import { afterEach, expect, setSystemTime, spyOn, test } from 'bun:test'
import { EngineError } from '../../src/docker/index.ts'
import type { EngineEvent, EngineFeed } from '../../src/docker/index.ts'
import { labelsFor } from '../../src/docker/labels.ts'
import { excludeEnded } from '../../src/runtime/exclude-ended.ts'
import { Failure } from '../../src/platform/errors.ts'
import { awaitReturn } from '../../src/runtime/restore-routing.ts'
import { listInstances } from '../../src/runtime/store.ts'
import { until } from '../support/until.ts'
import { aWorkload } from './workload.ts'

afterEach(() => void setSystemTime())

/** How long ago it ended, what happened since, and whether requests are kept from it. */
test.each([
  ['just now', 0, 'nothing', true],
  ['a while ago', 5000, 'it ended', true],
  ['a while ago, before the start of the one that runs', 5000, 'nothing', false],
  ['just now, before it was found healthy', 0, 'found healthy', false],
  ['just now, by a clock that was put back since it was found healthy', 0, 'put back', true],
])(
  'requests are kept from an instance that ended %s, unless it is back',
  async (_, ago, since, isExcluded) => {
    const { roll, workload, ...t } = await aWorkload({ isSimulated: true })
    await roll('first')
    const [instance] = listInstances(t.db, workload.id)
    if (since === 'put back') {
      t.routing.noteWell(instance!)
      setSystemTime(Date.now() - 3_600_000)
    }
    const { id: environmentId, ownerId, projectId } = workload
    const of = { ownerId, projectId, environmentId, deploymentId: 'first' }
    const event: EngineEvent = {
      ...{ type: 'container', action: 'die', id: instance!.containerId! },
      serverId: instance!.serverId,
      attributes: labelsFor({ instanceId: t.instanceId, kind: 'app', ...of }),
      time: new Date(Date.now() - ago),
    }
    if (since === 'it ended') await t.docker.stopContainer(event.id)
    if (since === 'found healthy')
      t.routing.isWellSince = ({ id }, time) => id === instance!.id && time === event.time.getTime()
    Object.defineProperty(t.edge, 'mode', { value: 'caddy' })
    const exclude = spyOn(t.routing, 'exclude')
    const noteWell = spyOn(t.routing, 'noteWell')
    const feed = {
      listen: async function* () {
        yield event
      },
    } as unknown as EngineFeed
    await excludeEnded({ ...t.deps, feed }, { signal: new AbortController().signal })
    if (ago > 0) await until(() => exclude.mock.calls.length + noteWell.mock.calls.length > 0)
    expect(exclude).toHaveBeenCalledTimes(isExcluded ? 1 : 0)
  },
)

const failure = (code: string) => new Failure(code, 'No answer.', 'Wait.')

test.each([
  ['is refused', new EngineError(500, 'something broke')],
  ['isn’t answered', failure('engine_timeout')],
  ['finds the engine away', failure('engine_unreachable')],
])('an inspection that %s doesn’t keep requests from one that returns', async (_, error) => {
  const { roll, workload, deps, ...t } = await aWorkload({ isSimulated: true })
  await roll('first')
  Object.defineProperty(t.edge, 'mode', { value: 'caddy' })
  const [instance] = listInstances(t.db, workload.id)
  t.routing.exclude(workload, [instance!])
  const asked: string[] = []
  t.faults.inspectContainer = async (id, ...rest) => {
    if (asked.push(id) <= 2) throw error
    return t.docker.inspectContainer(id, ...rest)
  }
  awaitReturn(deps, workload, instance!)
  await t.instanceTasks.idle()
  expect(asked).toHaveLength(3)
  expect(listInstances(t.db, workload.id)).toMatchObject([{ id: instance!.id, state: 'live' }])
})
