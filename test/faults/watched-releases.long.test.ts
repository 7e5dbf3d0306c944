import { expect, test } from 'bun:test'
import { faultsOf } from '../kills/left-behind.ts'
import { watchRounds } from '../load/load.ts'
import { answers, ended, post } from '../load/site.ts'
import type { Kind } from '../load/tally.ts'
import { pathOf } from '../deployments/events.ts'
import { comesTrue, until } from '../support/until.ts'
import { killContainer, underLoad } from './edge.ts'
import type { Scene } from './edge.ts'
import type { Deployment } from './watch.ts'

const rounds = watchRounds
const most = 120_000 + rounds * 60_000

/** What an instance serves one after the other ends with it, and says nothing of the watch. */
const without: Kind[] = ['websocket', 'events', 'upload', 'download']

type Watched = Deployment & {
  watchUntil: string | null
  watch: { end: string | null; lines: string[] } | null
  unwatched: string | null
  error: { code: string } | null
}

const shown = ({ client }: Pick<Scene, 'client'>, deployment: Deployment) =>
  client.get<Watched>(pathOf(deployment))

/** Deploys a version with that fault, and resolves once it is live. */
async function release(scene: Scene, fault: string) {
  const { client, site, load } = scene
  const name = site.commit({ APP_FAULT: fault })
  await load.allow(site.live, name)
  const deployment = await site.trigger(client)
  await ended(client, deployment)
  return { name, deployment }
}

/** As it is once its watch has ended, and all that told is stored. */
async function settled(scene: Scene, deployment: Deployment) {
  let now: Watched | undefined
  await until(async () => {
    now = await shown(scene, deployment)
    return now.watchUntil === null && now.status !== 'deploying'
  }, 120)
  return now!
}

/** Nothing is left half: asked again until it is so, as what was replaced is still drained. */
async function isWhole({ davit }: Scene) {
  let faults: string[] = []
  await comesTrue(60, async () => (faults = await faultsOf(davit)).length === 0)
  expect(faults).toEqual([])
}

type Row = {
  fault: string
  settings?: Record<string, unknown>
  code: string
  /** What makes it happen, where visitors don't. */
  cause?: (scene: Scene, deployment: Deployment) => Promise<unknown>
  /** Visitors may see what the app itself answers. */
  answers?: RegExp
}

const atBad = ({ site }: Scene) => post(site.place, '/bad')

/** The watch isn’t over for that, and what is said of the container is of an hour ago. */
async function anHourLater(scene: Scene, deployment: Deployment) {
  scene.setClock(3_600_000)
  const left = async () => Date.parse((await shown(scene, deployment)).watchUntil!) - Date.now()
  await until(async () => (await left()) > 3_600_000)
  await atBad(scene)
  await until(async () => (await shown(scene, deployment)).status === 'failed')
  scene.setClock(0)
}

const crashes = { code: 'crashed_after_switch' }

/** Visitors see no error. */
const none = /(?!)/

const goesBack: Record<string, Row> = {
  'crashes at its 1st request': { fault: 'crash:1', ...crashes },
  'crashes at its 20th request': { fault: 'crash:20', ...crashes },
  'crashes at its 500th request': { fault: 'crash:500', ...crashes },
  'crashes after 30 s': { fault: 'time:30', ...crashes },
  'crashes on one path only': { fault: 'path:/bad', ...crashes, cause: atBad },
  'crashes in one of three replicas': {
    ...{ fault: 'path:/bad', ...crashes, cause: atBad },
    settings: { processes: [{ name: 'web', replicas: 3 }] },
  },
  'crashes when the clock was put forward': { fault: 'path:/bad', ...crashes, cause: anHourLater },
  'runs out of memory': { fault: 'memory:100', ...crashes, settings: { memoryMb: 160 } },
  'fails its health check': { fault: 'sick:6', code: 'unhealthy_after_switch', answers: none },
  'answers 500 from the start': {
    ...{ fault: 'errors:1', code: 'errors_after_switch', answers: /status 500/ },
    settings: { rollbackOn: ['errors'] },
  },
}

for (const [what, row] of Object.entries(goesBack))
  test(
    `a version that ${what} goes back, and no request fails beyond those it failed`,
    () =>
      underLoad({
        ...{ rounds, without, mayFail: true },
        prepare: ({ client, site }) => client.put(site.path, row.settings ?? {}),
        async round(scene) {
          const before = await scene.load.look()
          const { name, deployment } = await release(scene, row.fault)
          await row.cause?.(scene, deployment)
          const { status, error, watch } = await settled(scene, deployment)
          expect([status, error?.code, watch?.end]).toEqual(['failed', row.code, 'reverted'])
          await scene.load.allow(scene.site.live)
          await isWhole(scene)
          const after = await scene.load.look()
          if (row.answers) {
            expect(after.reasons.filter((reason) => !row.answers!.test(reason))).toEqual([])
            return
          }
          const told = async () => (await shown(scene, deployment)).watch!.lines.join('\n')
          await until(async () => (await told()) !== '')
          const own = Number(/ends with (\d+) open/.exec(await told())?.[1] ?? 0)
          const failed = after.failed - before.failed
          expect(failed, `${name}: ${after.reasons.join('; ')}`).toBeLessThanOrEqual(own)
        },
      }),
    most,
  )

test(
  'a health check that fails every second time doesn’t send requests back',
  () =>
    underLoad({
      ...{ rounds, without },
      prepare: ({ client, site }) => client.put(site.path, { watchSeconds: 6 }),
      async round(scene) {
        const { name, deployment } = await release(scene, 'flaps')
        const { status, watch } = await settled(scene, deployment)
        expect([status, watch?.end]).toEqual(['running', 'over'])
        scene.site.live = name
        await isWhole(scene)
      },
    }),
  most,
)

/** In its first seconds, and then never again. */
const crashesOnce = '[ -e /tmp/once ] && exec sleep 1000000; touch /tmp/once; sleep 4; exit 1'

test(
  'an app with a worker isn’t watched and says so; no visitor notices when the worker crashes',
  () =>
    underLoad({
      ...{ rounds, without },
      prepare: ({ client, site }) =>
        client.put(site.path, {
          processes: [{ name: 'web' }, { name: 'worker', command: ['sh', '-c', crashesOnce] }],
        }),
      async round(scene) {
        const { davit, site, load } = scene
        const { name, deployment } = await release(scene, '')
        const { status, unwatched, watch } = await settled(scene, deployment)
        expect([status, unwatched, watch]).toEqual(['running', 'processes', null])
        site.live = name
        await load.allow(name)
        const hasCrashed = async () => {
          const labels = [...davit.labels(), 'davit.kind=app']
          const all = await davit.docker.listContainers({ labels })
          const found = await Promise.all(all.map(({ id }) => davit.docker.inspectContainer(id)))
          return found.some((one) => one !== null && one.restartCount > 0)
        }
        await until(hasCrashed)
        await isWhole(scene)
        expect((await shown(scene, deployment)).status).toBe('running')
      },
    }),
  most,
)

test(
  'there is no going back to a version that had crashed itself',
  () =>
    underLoad({
      ...{ rounds, without, mayFail: true },
      async round(scene) {
        const { site, load, client } = scene
        const bad = await release(scene, 'path:/bad')
        await client.post(`${pathOf(bad.deployment)}/keep`)
        await atBad(scene)
        await until(() => answers(site.place, { version: bad.name }))
        const worse = await release(scene, 'path:/bad')
        await load.allow(bad.name, worse.name)
        await atBad(scene)
        const { status, watch } = await settled(scene, worse.deployment)
        expect([status, watch?.end]).toEqual(['running', 'stays'])
        site.live = worse.name
        await until(() => answers(site.place, { version: worse.name }))
        await load.allow(site.live)
        await isWhole(scene)
      },
    }),
  most,
)

test(
  'a new deployment in a watch ends it, and no visitor notices',
  () =>
    underLoad({
      ...{ rounds, without },
      async round(scene) {
        const second = await release(scene, '')
        const third = scene.site.commit()
        await scene.load.allow(scene.site.live, second.name, third)
        const { status } = await ended(scene.client, await scene.site.trigger(scene.client))
        expect(status).toBe('running')
        const { watch } = await settled(scene, second.deployment)
        expect(watch?.end).toBe('replaced')
        scene.site.live = third
        await scene.load.allow(third)
      },
    }),
  most,
)

test(
  'a version goes back while Caddy is killed, and nothing is left half',
  () =>
    underLoad({
      ...{ rounds, without, mayFail: true }, // while no Caddy runs no one is answered
      async round(scene) {
        const { davit, site, load } = scene
        const { deployment } = await release(scene, 'path:/bad')
        const labels = [...davit.labels(), 'davit.kind=edge']
        const [caddy] = await davit.docker.listContainers({ labels })
        const broken = atBad(scene)
        await killContainer(caddy!.id)
        await broken
        await until(async () => (await post(site.place, '/health')) === 200, 60)
        if ((await shown(scene, deployment)).watchUntil) await atBad(scene) // it never reached the app
        const { status, watch } = await settled(scene, deployment)
        expect([status, watch?.end]).toEqual(['failed', 'reverted'])
        await load.allow(site.live)
        await isWhole(scene)
      },
    }),
  most,
)
