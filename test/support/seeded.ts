import { makeInvite } from '../../src/accounts/invite-store.ts'
import { insertSamples } from '../../src/containers/usage/sample-store.ts'
import { insertDeployment, logOf } from '../../src/deployments/store.ts'
import { routeName } from '../../src/accounts/token-scope.ts'
import { traffic, trafficSeries } from '../../src/db/log-schema.ts'
import { insertService } from '../../src/services/store.ts'
import type { ServiceStatus } from '../../src/services/store.ts'
import { sealValues } from '../../src/services/stored-definition.ts'
import { Durations } from '../../src/traffic/durations.ts'
import type { TestApp } from './app.ts'
import { everything, fill, idOf } from './everything.ts'
import type { Ids } from './everything.ts'
import { aSession } from './session.ts'

/** An admin's installation with something on each page, also names of other scripts and of emoji. */
export async function seeded(t: TestApp) {
  const root = t.logInAsAdmin()
  const ids = await everything(t, root)
  const repositoryUrl = 'https://git.example.com/team/shop.git'
  for (const name of ['My shop 🚢', 'متجر الكتب', 'x'.repeat(60)])
    await root.post('/projects', { name, repositoryUrl })
  await root.post(`/envs/${ids.environment}/variables`, { key: 'TOKEN', value: 'x', secret: true })
  const owner = { projectId: ids.project, environmentId: ids.environment, repositoryUrl }
  for (const status of ['superseded', 'cancelled', 'pending'] as const)
    insertDeployment(t.db, {
      ...{ ...owner, status, trigger: 'webhook', triggeredBy: 'push by ada', branch: 'main' },
      ...{ commitHash: '3f2a91c07be4d5a6'.padEnd(40, '0'), commitMessage: 'Sell boats 🚤' },
      finishedAt: new Date(),
    })
  writeLogs(t, ids)
  addServices(t, root.user.id)
  measure(t, ids)
  makeInvite(t.deps, { createdBy: root.user.id })
  t.logIn('a.member.with.a.long.address@mail.example.com')
  return { ids, root, cookie: aSession(t, root.user.id) }
}

/** Every page that a GET route answers with, by the route. */
export async function pagesOf(t: TestApp, ids: Ids, cookie: string) {
  const pages: Record<string, string> = {}
  const routes = t.app.routes.filter(({ method, path }) => method === 'GET' && path !== '*')
  for (const name of new Set(routes.map(routeName))) {
    const path = name.slice('GET '.length)
    if (path.includes('*') || /\/(logs|stream|stats|events|terminal)$/.test(path)) continue
    const address = fill(path.replace('/docs/:name', '/docs/security'), ids, idOf(path))
    const { status, headers, body } = await t.app.request(address, {
      headers: { Accept: 'text/html', Cookie: `svc_session=${cookie}` },
    })
    await body?.cancel()
    if (status === 200 && headers.get('Content-Type')?.startsWith('text/html'))
      pages[path] = address
  }
  return pages
}

const esc = '\u001b['

function writeLogs(t: TestApp, ids: Ids) {
  const colours = Array.from({ length: 8 }, (_, at) => [
    `${esc}3${at}mcolour ${at}${esc}0m ${esc}9${at}mbright${esc}0m ${esc}2mdim${esc}0m`,
    `${esc}30;4${at}mblack on ${at}${esc}0m ${esc}97;10${at}mwhite on bright ${at}${esc}0m ${esc}7;3${at}minverse${esc}0m`,
  ])
  const texts = [
    'Cloning the repository',
    ...colours.flat(),
    '{"level":"error","message":"no database","at":"2026-11-22T20:00:00Z"}',
    'error: the build failed',
  ]
  const lines = texts.map((text, at) => ({
    time: Date.now() - 60_000 + at * 100,
    stream: (['system', 'stdout', 'stderr'] as const)[at % 3]!,
    text,
  }))
  t.logs.write(logOf({ id: ids.deployment, environmentId: ids.environment }), lines)
  t.logs.write({ sourceId: ids.environment, logId: '' }, lines)
}

function addServices(t: TestApp, ownerId: string) {
  const all: [string, string, ServiceStatus][] = [
    ['postgresql', 'Orders', 'running'],
    ['redis', 'cache-2', 'failed'],
    ['memos', 'ملاحظات', 'unhealthy'],
    ['grafana', 'Graphs', 'pulling'],
  ]
  for (const [template, name, status] of all) {
    const id = Bun.randomUUIDv7()
    const values = sealValues(t, { id, values: new Map(), file: { variables: new Map() } })
    const compose = `services: {web: {image: ${template}}}`
    const host = `${template}-1`
    insertService(
      t.db,
      { id, ownerId, name, host, version: '1.2.3', status, template, compose, ...values },
      [],
    )
  }
}

function measure(t: TestApp, ids: Ids) {
  const now = Math.floor(Date.now() / 10_000) * 10
  const samples = Array.from({ length: 300 }, (_, at) => ({
    containerId: ids.container,
    time: now - (300 - at) * 10,
    cpu: 20 + 15 * Math.sin(at / 20) + (at % 7),
    memory: (60 + at / 10) * 2 ** 20,
    received: 4000 + (at % 40) * 300,
    sent: 9000 + (at % 60) * 500,
    read: 0,
    written: 1000,
    pids: 3,
  }))
  insertSamples(t.logDb, samples)
  const durations = new Durations()
  for (let at = 1; at < 50; at++) durations.add(at / 200)
  const { id: seriesId } = t.logDb
    .insert(trafficSeries)
    .values({ sourceId: ids.environment, key: 'shop.example.com' })
    .returning({ id: trafficSeries.id })
    .get()
  const minute = Math.floor(Date.now() / 60_000) * 60
  for (let at = 0; at < 55; at++)
    t.logDb
      .insert(traffic)
      .values({
        ...{ seriesId, span: 60, time: minute - at * 60, requests: 49 + at },
        ...{ status1: 0, status2: 40 + at, status3: 5, status4: 3, status5: 1 },
        ...{ received: 4000, sent: 90_000 + at * 1000, durations: durations.pack() },
      })
      .run()
}
