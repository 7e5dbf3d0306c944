import { expect, onTestFinished } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startLoad, watchRounds } from '../load/load.ts'
import { aSite, anEdgeOfItsOwn, answers, ended, post } from '../load/site.ts'
import type { Kind } from '../load/tally.ts'
import { pathOf } from '../deployments/events.ts'
import { buildExecutable } from '../support/executable.ts'
import { until } from '../support/until.ts'
import type { Deployment } from '../faults/watch.ts'
import { stored } from './harness.ts'
import type { Operation } from './harness.ts'

/** Queries that find a row at a moment of a deployment. */
const moments = {
  building: "SELECT 1 FROM deployments WHERE status = 'building'",
  deploying: "SELECT 1 FROM deployments WHERE status = 'deploying'",
  starting: "SELECT 1 FROM instances WHERE state = 'starting'",
  draining: "SELECT 1 FROM instances WHERE state = 'draining'",
}

/** No visitor may notice; the streams of each last longer than Davit is away. */
export const deploymentByEdge: Operation = async (start) => {
  const { settings, ...ports } = await anEdgeOfItsOwn()
  const davit = await start({ ...settings, DAVIT_WATCH_SECONDS: '5' }) // until the version before stops
  const site = await aSite(davit, { ports })
  const load = await startLoad(site.place, { versions: [site.live], ticks: 60 })
  onTestFinished(() => load[Symbol.dispose]())
  let next: string
  let deployment: Deployment
  const moment = (name: string, comes: () => Promise<unknown>) => ({
    name,
    async begin() {
      next = site.commit()
      await load.allow(site.live, next)
      deployment = await site.trigger(davit.client)
      await comes()
    },
    /** The edge serves without it. */
    meanwhile: () => Bun.sleep(1000),
    async end() {
      const { status, error } = await ended(davit.client, deployment)
      expect([status, error], name).toEqual(['running', null])
      site.live = next
      await load.allow(next)
    },
  })
  return {
    moments: [
      ...Object.entries(moments).map(([name, sql]) =>
        moment(name, () => stored(davit, sql, { within: 150 })),
      ),
      moment('it has ended', () => ended(davit.client, deployment)),
    ],
    async faults() {
      const { failed, cut, reasons } = await load.look()
      return failed + cut > 0 ? reasons : []
    },
  }
}

type Watched = Deployment & { watchUntil: string | null; watch: { end: string | null } | null }

/**
 * A version that crashes at a request goes back, whenever Davit is killed; one that is kept stays. By the executable,
 * as visitors wait for the next Davit to start.
 */
export const watchedRelease: Operation = async (start) => {
  const { settings, ...ports } = await anEdgeOfItsOwn()
  const directory = mkdtempSync(join(tmpdir(), 'davit-kills-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const executable = join(directory, 'davit')
  await buildExecutable(executable)
  const davit = await start(settings, { command: [executable, 'serve'] })
  const site = await aSite(davit, { ports })
  // what the instance that crashes serves otherwise ends with it
  const without: Kind[] = ['websocket', 'events', 'upload', 'download']
  const load = await startLoad(site.place, { versions: [site.live], without })
  onTestFinished(() => load[Symbol.dispose]())
  let name: string
  let deployment: Deployment
  const release = async (env: Record<string, string> = {}, asked = {}) => {
    name = site.commit(env)
    await load.allow(site.live, name)
    deployment = await site.trigger(davit.client, asked)
    await ended(davit.client, deployment)
  }
  const domains = `/envs/${site.environmentId}/domains`
  const share = () => release({}, { strategy: 'share', percent: 50 })
  /** It may be done already, or its answer ends with Davit. */
  const ask = (verb: string) =>
    davit.client.post(`${pathOf(deployment)}/${verb}`).catch(() => undefined)
  const crash = () => post(site.place, '/bad')
  const settled = async (end: string) => {
    let now!: Watched
    await until(async () => {
      now = await davit.client.get<Watched>(pathOf(deployment))
      return now.watchUntil === null
    }, 60)
    expect(now.watch?.end).toBe(end)
    if (end !== 'reverted' && end !== 'cancelled') site.live = name
    await load.allow(site.live)
  }
  const goesBack = (moment: string, comes: () => Promise<unknown>, then = async () => {}) => ({
    name: moment,
    async begin() {
      await release({ APP_FAULT: 'path:/bad' })
      await comes()
    },
    meanwhile: () => Bun.sleep(500),
    async end() {
      await then()
      await settled('reverted')
    },
  })
  type Asked = { of: () => Promise<void>; verb: string; end: () => Promise<void> }
  /** Davit is killed while it does what it was asked for; then it is asked again. */
  const asked = (moment: string, { of, verb, end }: Asked) => ({
    name: moment,
    async begin() {
      await of()
      void ask(verb)
      await Bun.sleep(Math.random() * 60)
    },
    async end() {
      await ask(verb)
      await end()
    },
  })
  const decided = "SELECT 1 FROM deployments WHERE watch ->> '$.verdict' IS NOT NULL"
  const each = [
    goesBack(
      'watching',
      async () => {},
      async () => void (await crash()),
    ),
    goesBack('it crashes', async () => void crash()),
    goesBack('it is decided', async () => {
      void crash()
      await stored(davit, `${decided} AND id = '${deployment.id}'`, { within: 80 })
    }),
    {
      name: 'a share is under way',
      begin: share,
      async end() {
        // waits for a check of the edge, which fills its slots
        const { id } = await davit.client.post<{ id: string }>(domains, {
          host: 'other.test',
          https: 'off',
        })
        for (const version of [site.live, name])
          await until(() => answers(site.place, { version }), 10)
        await davit.client.delete(`/domains/${id}`)
        await ask('cancel')
        await settled('cancelled')
      },
    },
    asked('it is kept', { of: release, verb: 'keep', end: () => settled('kept') }),
    asked('a share is promoted', {
      ...{ of: share, verb: 'promote' },
      async end() {
        await ask('keep')
        await settled('kept')
      },
    }),
    asked('a share is taken back', { of: share, verb: 'cancel', end: () => settled('cancelled') }),
    {
      name: 'the next one is deployed',
      async begin() {
        await release()
        const second = name
        name = site.commit()
        await load.allow(site.live, second, name)
        deployment = await site.trigger(davit.client)
        await stored(davit, moments.deploying, { within: 300 })
      },
      async end() {
        expect((await ended(davit.client, deployment)).status).toBe('running')
        await davit.client.post(`${pathOf(deployment)}/keep`)
        await settled('kept')
      },
    },
  ]
  return {
    moments: Array.from({ length: watchRounds }, () => each).flat(),
    async faults() {
      const { failed, reasons } = await load.look()
      return failed > 0 ? reasons : []
    },
  }
}
