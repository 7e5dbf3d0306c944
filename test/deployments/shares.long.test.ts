import { expect, test } from 'bun:test'
import { Watches } from '../../src/deployments/watch/watches.ts'
import { getDeployment } from '../../src/environments/store.ts'
import { figuresOf } from '../../src/deployments/watch/store.ts'
import { labelFilter } from '../../src/docker/labels.ts'
import { until } from '../support/until.ts'
import { sharedEdge } from './edge-app.ts'
import type { Files } from '../support/git-server.ts'

const { t, ada, aSite } = await sharedEdge()

/** Responds with its name; `/cgi-bin/crash` ends it, `/cgi-bin/fail` is an error of this version alone. */
const aVersion = (name: string, isBad = false): Files => ({
  'www/index.html': name,
  'www/cgi-bin/crash': ['#!/bin/sh', 'kill -9 -1'].join('\n'),
  'www/cgi-bin/maybe': [
    '#!/bin/sh',
    `printf '${isBad ? 'Status: 500\\r\\n' : ''}Content-Type: text/plain\\r\\n\\r\\n${name}'`,
  ].join('\n'),
  Dockerfile: [
    'FROM busybox',
    'COPY www /www',
    'RUN chmod +x /www/cgi-bin/*',
    'EXPOSE 8080',
    'CMD ["httpd", "-f", "-p", "8080", "-h", "/www"]',
  ].join('\n'),
})

const asked = { strategy: 'share', percent: 20 }

async function shared({ isBad = false, ...settings } = {}) {
  const { host, project } = await aSite(aVersion('first'), {
    watchSeconds: 600,
    drainSeconds: 5,
    ...settings,
  })
  const first = await project.deploy()
  project.repository.commit(aVersion('second', isBad))
  const deploy = () => project.deploy(asked)
  const path = (id: string) => `/projects/${project.id}/deployments/${id}`
  return { host, project, first, deploy, path }
}

const stored = (id: string) => getDeployment(t.db, id)!

/** So many responses, by what they say. */
async function visits(host: string, count: number, path = '/') {
  const seen: Record<string, number> = {}
  for (let at = 0; at < count; at++) {
    const response = await t.get(host, path)
    const text = await response.text()
    const said = response.ok ? text : String(response.status)
    seen[said] = (seen[said] ?? 0) + 1
  }
  return seen
}

test('under load a share begins, is promoted, and a later one is taken back: no request fails', async () => {
  const { host, project, deploy, path } = await shared()
  const { wrong, count } = await t.visited(host, ['first', 'second', 'third'], async () => {
    const second = await deploy()
    const seen = await visits(host, 300)
    expect(Object.keys(seen).toSorted()).toEqual(['first', 'second'])
    expect(seen.second).toBeGreaterThan(20)
    expect(seen.second).toBeLessThan(110)
    await until(() => figuresOf(t.logDb, stored(second.id) as never).after.requests > 20)
    const { before, after } = figuresOf(t.logDb, stored(second.id) as never)
    const share = after.requests / (after.requests + before.requests)
    expect(share).toBeGreaterThan(0.1)
    expect(share).toBeLessThan(0.3)
    expect((await ada.post(`${path(second.id)}/promote`)).status).toBe(200)
    expect(await visits(host, 50)).toEqual({ second: 50 })
    expect((await ada.post(`${path(second.id)}/keep`)).status).toBe(200)
    project.repository.commit(aVersion('third'))
    const third = await deploy()
    expect(Object.keys(await visits(host, 100)).toSorted()).toEqual(['second', 'third'])
    expect((await ada.post(`${path(third.id)}/cancel`)).status).toBe(200)
    expect(await visits(host, 50)).toEqual({ second: 50 })
    await t.instanceTasks.idle()
  })
  expect(wrong).toEqual([])
  expect(count).toBeGreaterThan(100)
})

test('a crash of the new version in its share goes back, and no request fails but those that it cut off', async () => {
  const { host, deploy } = await shared()
  const second = await deploy()
  const { wrong } = await t.visited(host, ['first', 'second'], async () => {
    const headers = { Cookie: 'davit_share=00' }
    await t.get(host, '/cgi-bin/crash', { method: 'POST', headers }).catch(() => {})
    await until(() => stored(second.id).watch?.end === 'reverted')
    expect(await visits(host, 50)).toEqual({ first: 50 })
  })
  expect(wrong.filter((one) => !/^502|closed|ECONNRESET/.test(one))).toEqual([])
  expect(wrong.length).toBeLessThanOrEqual(3) // one for each visitor, at most
  expect(stored(second.id)).toMatchObject({ status: 'failed', errorCode: 'crashed_after_switch' })
})

test('while the version before is stopped, all requests reach the new one, until it runs again', async () => {
  const { host, first, deploy, path } = await shared()
  const second = await deploy()
  await t.docker.stopContainer(first.containerId)
  await until(async () => Bun.deepEquals(await visits(host, 10), { second: 10 }))
  expect(await visits(host, 50)).toEqual({ second: 50 })
  await t.docker.startContainer(first.containerId)
  await until(async () => (await visits(host, 10)).first !== undefined)
  expect(Object.keys(await visits(host, 100)).toSorted()).toEqual(['first', 'second'])
  expect(stored(second.id).watchUntil).not.toBeNull()
  expect((await ada.post(`${path(second.id)}/cancel`)).status).toBe(200)
})

test('errors of the new version alone count, beside those of the one before', async () => {
  const { host, deploy } = await shared({ isBad: true, rollbackOn: ['errors'] } as never)
  const second = await deploy()
  const isOver = () => stored(second.id).watch?.end !== null
  for (let times = 0; times < 20 && !isOver(); times++) await visits(host, 50, '/cgi-bin/maybe')
  await until(isOver)
  expect(stored(second.id)).toMatchObject({
    errorCode: 'errors_after_switch',
    watch: { figures: { before: { errors: 0 } } },
  })
  await until(() => stored(second.id).watch!.requests.length > 0)
  expect(stored(second.id).watch!.requests).toMatchObject([{ status: 500, path: '/cgi-bin/maybe' }])
})

test('a share continues after a restart of Davit or of Caddy', async () => {
  const { host, deploy, path } = await shared()
  const second = await deploy()
  await t.watches.stop()
  const next = new Watches(t.deps)
  Object.assign(t.watches, {
    begin: next.begin.bind(next),
    end: next.end.bind(next),
    promote: next.promote.bind(next),
  })
  const { edge } = await t.startAgain()
  await edge.sync()
  next.resume()
  const { wrong } = await t.visited(host, ['first', 'second'], async () => {
    expect(Object.keys(await visits(host, 100)).toSorted()).toEqual(['first', 'second'])
  })
  expect(wrong).toEqual([])
  const labels = labelFilter(t.instanceId, { kind: 'edge' })
  const [caddy] = await t.docker.listContainers({ labels, all: true })
  await t.docker.restartContainer(caddy!.id)
  await until(async () => (await t.get(host).catch(() => null))?.ok === true)
  expect(Object.keys(await visits(host, 100)).toSorted()).toEqual(['first', 'second'])
  expect((await ada.post(`${path(second.id)}/promote`)).status).toBe(200)
  expect(await visits(host, 20)).toEqual({ second: 20 })
  await next.stop()
})
