import { test } from 'bun:test'
import { isAppAway } from '../../src/db/restored.ts'
import { listInstances, updateInstance } from '../../src/runtime/store.ts'
import { atOnce } from '../interleavings/engine/at-once.ts'
import { fakeDocker } from '../interleavings/engine/docker.ts'
import { wrapped } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import { serverId, storeServers } from '../support/servers.ts'
import { until } from '../support/until.ts'
import { aNewEngine, anEnvironment, deployFirst, deployMeanwhile, expectLive } from './restoring.ts'
import type { Scene } from './restoring.ts'

const other = serverId(2)

/** Puts what the database has of the environment onto another server. */
function moveThere({ db }: TestApp, { project }: Scene) {
  storeServers(db, [{}, {}])
  for (const { id } of listInstances(db, project.environmentId))
    updateInstance(db, id, { serverId: other })
}

test.each(['creating', 'starting'] as const)(
  'a deployment that was %s when Davit was backed up, and went live since on a server that is reached after the start, is the live one',
  async (moment) => {
    const scene = await anEnvironment()
    await deployFirst(scene, 'running')
    const meanwhile = await deployMeanwhile(scene, moment)
    await expectLive(scene, meanwhile, {
      engine: aNewEngine(),
      prepare(next) {
        moveThere(next, scene)
        scene.t.engine.serverId = other
        const isAway = () => isAppAway(next.db, scene.project.environmentId)
        const there = wrapped(fakeDocker(scene.t.engine, atOnce), (name, call) =>
          name !== 'events'
            ? call
            : async function* (...args: unknown[]) {
                await until(isAway)
                yield* call(...args) as AsyncIterable<unknown>
              },
        )
        next.engines.add(there)
      },
    })
  },
)
