import { expect, onTestFinished, test } from 'bun:test'
import { Relocations } from '../../src/apps/relocations.ts'
import { environments } from '../../src/db/schema.ts'
import { insertJob } from '../../src/jobs/store.ts'
import { emit } from '../../src/notifications/emit.ts'
import { diskLow } from '../../src/notifications/texts.ts'
import { updateServer } from '../../src/servers/store.ts'
import { sealComponents } from '../../src/runtime/component.ts'
import { noServer } from '../../src/runtime/placement.ts'
import { insertRelease, makeLive } from '../../src/runtime/store.ts'
import type { Docker } from '../../src/docker/index.ts'
import { atOnce, realClock } from '../interleavings/engine/at-once.ts'
import { fakeDocker } from '../interleavings/engine/docker.ts'
import { FakeEngine } from '../interleavings/engine/engine.ts'
import { aComponent } from '../runtime/workload.ts'
import { simulatedApp } from '../support/app.ts'
import { serverId, storeServers } from '../support/servers.ts'
import { until } from '../support/until.ts'

const second = serverId(2)
const seconds = 30 // until what takes some looks has happened

/** An app on the second of three servers, whose swarm says what a test wants. */
async function anApp({ placement }: { placement: object }) {
  const nodes = new Map<string, boolean>()
  let looks = 0
  let isSilent = false
  const docker = Object.assign(fakeDocker(new FakeEngine(realClock), atOnce), {
    getNode: async (id) => {
      looks++
      if (isSilent) throw new Error('it doesn’t respond')
      const isDown = nodes.get(id) === false
      return { isReady: !isDown, isDown }
    },
  } satisfies Partial<Docker>)
  const t = simulatedApp({}, { docker, jobsWait: true })
  const root = t.logInAsAdmin()
  const repositoryUrl = 'https://git.example.com/team/site.git'
  const project = (await root.post('/projects', { name: 'site', repositoryUrl })).json
  const [env] = (await root.get(`/projects/${project.id}/envs`)).json.items
  storeServers(t.db, [{}, { zone: 'away' }, { zone: 'away' }])
  t.db
    .update(environments)
    .set({ placement: placement as never })
    .run()
  const workload = { id: env.id, kind: 'app' } as const
  const [instance] = insertRelease(t.db, {
    ...{ workload, id: 'r', components: sealComponents(t.secrets, 'r', [aComponent('one', {})]) },
    slots: [{ component: 'web', slot: 0, serverId: second }],
  })
  const states = new Map([[instance!.id, 'live' as const]])
  makeLive(t.db, { workloadId: env.id, releaseId: 'r', states })
  let others = 0
  t.runtime.place = async (_, __, beside) => {
    others++
    expect(beside?.leaving ?? second).toBe(second)
    return [serverId(3)]
  }
  const stop = new AbortController()
  const running = new Relocations(t.deps, { interval: 20 }).run(stop)
  onTestFinished(async () => {
    stop.abort()
    await running
  })
  return {
    ...{ t, root, env, project, instance },
    jobs: () => t.db.$client.query('SELECT kind, subject_id FROM jobs').all(),
    events: () =>
      t.db.$client
        .query<{ event: string }, []>(
          "SELECT kind || ' ' || level AS event FROM events ORDER BY id",
        )
        .all()
        .map(({ event }) => event),
    /** As Davit sees it, and as the swarm does. */
    lose({ isDown }: { isDown: boolean }) {
      nodes.set('node2', !isDown)
      t.engines.setAway({ serverId: second }, true)
      updateServer(t.db, second, { lastSeenAt: new Date() })
      t.serverEngines.publishChange()
    },
    back() {
      nodes.set('node2', true)
      t.engines.setAway({ serverId: second }, false)
      updateServer(t.db, second, { lastSeenAt: null })
      t.serverEngines.publishChange()
    },
    asked: () => others,
    looks: () => looks,
    /** The swarm can’t be asked any more. */
    silence: () => void (isSilent = true),
  }
}

const anywhere = { labels: { zone: 'away' }, spread: 'servers' }

test('an app is moved once from a server that the swarm calls down, and its return is told', async () => {
  const s = await anApp({ placement: anywhere })
  s.lose({ isDown: true })
  await until(() => s.jobs().length > 0, seconds)
  expect(s.jobs()).toEqual([{ kind: 'relocate-app', subject_id: s.env.id }])
  expect(s.events()).toEqual(['server_away failure'])
  expect(s.t.engines.isLost({ serverId: second })).toBe(true)
  const shown = (await s.root.get(`/projects/${s.project.id}/envs/${s.env.id}`)).json
  expect(shown.waitsFor).toEqual(['server2'])
  expect(shown.live.instances).toMatchObject([{ serverId: second, state: 'unknown' }])
  expect((await s.root.page(`/projects/${s.project.id}/envs/${s.env.id}`)).text).toContain(
    'server2',
  )
  s.back()
  await until(() => s.events().length === 2)
  expect(s.events()).toEqual(['server_away failure', 'server_away resolved'])
  expect(s.t.engines.isLost({ serverId: second })).toBe(false)
  expect(s.jobs()).toHaveLength(1)
})

test('what was told of a disk ends when its server is removed', async () => {
  const s = await anApp({ placement: anywhere })
  const disk = diskLow({ free: 1, size: 9, needed: 2 }, { server: 'server2' })
  emit(s.t.db, { ...disk, subject: 'server2', href: '/', of: `disk_low ${second}` })
  s.t.serverEngines.publishChange()
  s.t.serverEngines.remove({ id: second })
  await until(() => s.events().length === 2)
  expect(s.events()).toEqual(['disk_low failure', 'disk_low resolved'])
})

test('a look that fails doesn’t take a server that is down for one that runs', async () => {
  const s = await anApp({ placement: anywhere })
  s.lose({ isDown: true })
  await until(() => s.events().length > 0, seconds)
  s.silence()
  const before = s.looks()
  s.t.serverEngines.publishChange()
  await until(() => s.looks() > before + 1, seconds)
  expect(s.t.engines.isLost({ serverId: second })).toBe(true)
  expect(s.events()).toEqual(['server_away failure'])
})

test('nothing is moved from a server that Davit alone can’t reach, and that is told', async () => {
  const s = await anApp({ placement: anywhere })
  s.lose({ isDown: false })
  await until(() => s.events().length > 0, 2 * seconds)
  expect(s.events()).toEqual(['server_away warning'])
  expect(s.t.engines.isLost({ serverId: second })).toBe(false)
  expect(s.jobs()).toEqual([])
})

test('apps move from a server that is drained, when no other work on them goes on', async () => {
  const s = await anApp({ placement: anywhere })
  const busy = { id: 'other', kind: 'restart-app', subjectId: s.env.id, ownerId: null } as const
  insertJob(s.t.db, busy)
  const path = `/settings/servers/${second}`
  const [moves] = (await s.root.get(`${path}/drain`)).json.moves
  expect(moves).toMatchObject({ kind: 'environment', id: s.env.id, name: 'site production' })
  const dialog = (await s.root.page(`${path}/drain`)).text
  expect(dialog).toContain('site production')
  expect((await s.root.post(`${path}/drain`)).json).toMatchObject({ state: 'draining' })
  await until(() => s.asked() > 0)
  expect(s.jobs()).toHaveLength(1)
  s.t.db.$client.run("DELETE FROM jobs WHERE id = 'other'")
  await until(() => s.jobs().length > 0)
  expect(s.jobs()).toEqual([{ kind: 'relocate-app', subject_id: s.env.id }])
})

test.each<[string, (s: Awaited<ReturnType<typeof anApp>>) => void]>([
  ['is stopped', (s) => void s.t.db.$client.run("UPDATE instances SET state = 'stopped'")],
  [
    'has volumes there',
    (s) => void s.t.db.$client.run(`UPDATE workloads SET pinned_to = '${second}'`),
  ],
])('an app that %s stays, and the preview says what to do', async (_, prepare) => {
  const s = await anApp({ placement: anywhere })
  prepare(s)
  const path = `/settings/servers/${second}`
  const preview = (await s.root.get(`${path}/drain`)).json
  expect(preview).toMatchObject({ moves: [], stays: [{ id: s.env.id }] })
  const [{ why, todo }] = preview.stays
  const dialog = (await s.root.page(`${path}/drain`)).text
  for (const text of [why, todo]) expect(dialog).toContain(text)
  await s.root.post(`${path}/drain`)
  await s.root.post(`${path}/activate`)
  expect(s.jobs()).toEqual([])
})

test('an app whose placement no other server fulfils stays, with the reason', async () => {
  const s = await anApp({ placement: { server: second } })
  s.t.runtime.place = () => Promise.reject(noServer('server2 is being drained'))
  const preview = (await s.root.get(`/settings/servers/${second}/drain`)).json
  expect(preview).toMatchObject({ moves: [], stays: [{ id: s.env.id }] })
})
