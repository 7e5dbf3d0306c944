import { expect, test } from 'bun:test'
import type { Docker } from '../../src/docker/index.ts'
import { Failure } from '../../src/platform/errors.ts'
import { listNamedInPublic, recordGivenImage } from '../../src/runtime/images/store.ts'
import { updateServer } from '../../src/servers/store.ts'
import { anApp, aProject, logOf } from '../deployments/apps.ts'
import { atOnce, realClock } from '../interleavings/engine/at-once.ts'
import { fakeDocker } from '../interleavings/engine/docker.ts'
import { FakeEngine } from '../interleavings/engine/engine.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import { serverId, storeServers } from '../support/servers.ts'

const second = serverId(2)

/** Davit with another server that builds, and a project that runs on Davit's own. */
async function aBuilder(overrides: Partial<Docker> = {}) {
  const other = new FakeEngine(realClock, {
    ...{ containers: [], networks: [], volumes: [], images: [], made: 1000 },
  })
  other.serverId = second
  const there = Object.assign(fakeDocker(other, atOnce), overrides)
  const { t, ada } = withAda(simulatedApp({}, { otherEngines: [there] }))
  storeServers(t.db, [{}, {}])
  updateServer(t.db, second, { roles: ['builds'] })
  const project = await aProject(t, ada, anApp('one'))
  /** The names that this server's Docker has for images of the project. */
  const builtOn = (engine: FakeEngine) =>
    [...engine.images.values()].flatMap(({ tags }) =>
      tags.filter((tag) => tag.includes(project.id)),
    )
  return { t, ada, other, there, project, builtOn }
}

const refusesBuilds: Docker['buildImage'] = async function* () {
  yield* []
  throw new Error('It was built here.')
}

test('an image is built on a server with the role builds, and is brought here', async () => {
  const { t, ada, other, project, builtOn } = await aBuilder()
  t.faults.buildImage = refusesBuilds
  const first = await project.deploy()
  expect([first.status, await logOf(ada, first)]).toEqual(['running', expect.anything()])
  expect(builtOn(t.engine)).toEqual(builtOn(other))
  expect(builtOn(other)).toHaveLength(1)
  expect([t.engine.containers.size, other.containers.size]).toEqual([1, 0])
})

test('so is each image of a Compose file', async () => {
  const { t, ada, other, project, builtOn } = await aBuilder()
  t.faults.buildImage = refusesBuilds
  const service = '{build: ., command: [sleep, "99"]}'
  project.repository.commit({ 'compose.yaml': `services: {web: ${service}, worker: ${service}}` })
  await ada.put(`/projects/${project.id}/settings`, {
    ...{ composeFile: 'compose.yaml', composeService: 'web' },
  })
  await project.configure({ port: 0 })
  const first = await project.deploy()
  expect([first.status, await logOf(ada, first)]).toEqual(['running', expect.anything()])
  expect(builtOn(other)).not.toEqual([])
  expect(builtOn(t.engine)).toEqual(expect.arrayContaining(builtOn(other)))
})

const away = () => Promise.reject(new Failure('engine_unreachable', 'It is away.', 'Wait.'))
const onArm: Docker['frontend'] = async () => ({
  ...{ buildKit: true, heredocs: true, platform: 'linux/arm64' },
})

test.each<[string, Partial<Docker>, boolean]>([
  ['doesn’t respond', { frontend: away }, false],
  ['has another architecture', { frontend: onArm }, false],
  ['is being drained', {}, true],
])('Davit’s own server builds while the other one %s', async (_, overrides, isDraining) => {
  const { t, other, project, builtOn } = await aBuilder(overrides)
  updateServer(t.db, second, { isDraining })
  expect(await project.deploy()).toMatchObject({ status: 'running' })
  expect([builtOn(t.engine).length, builtOn(other).length]).toEqual([1, 0])
})

test('a build whose image can’t be brought here fails, and the version before stays', async () => {
  const { t, project, builtOn } = await aBuilder()
  const first = await project.deploy()
  const before = builtOn(t.engine)
  t.faults.loadImage = away
  project.repository.commit(anApp('two'))
  const second = await project.deploy({ noCache: true })
  expect(second).toMatchObject({ status: 'failed', error: { code: 'engine_unreachable' } })
  expect(builtOn(t.engine)).toEqual(before)
  delete t.faults.loadImage
  expect(first.status).toBe('running')
  expect(await project.deploy()).toMatchObject({ status: 'running' })
})

test('a name by which others could use an image is looked for where it was pulled', async () => {
  const { t, ada, other, there, project } = await aBuilder()
  const publicName = 'registry.example.com/team/base@sha256:1'
  const engines = { [t.docker.serverId]: t.engine, [second]: other }
  for (const [server, engine] of Object.entries(engines)) {
    engine.addImage({ tags: [publicName, `davit.invalid/${server}`], command: ['true'] })
    recordGivenImage(t.db, {
      ...{ ownerId: ada.user.id, reference: publicName, digest: 'sha256:1', serverId: server },
      ...{ name: `davit.invalid/${server}`, publicName },
    })
  }
  expect(await project.deploy()).toMatchObject({ status: 'running' })
  expect([!!other.image(publicName), !!t.engine.image(publicName)]).toEqual([false, true])
  expect(listNamedInPublic(t.db, there)).toEqual([])
  expect(listNamedInPublic(t.db, t.docker)).toHaveLength(1)
})
