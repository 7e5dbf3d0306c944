import { expect, test } from 'bun:test'
import { getDeployment } from '../../src/environments/store.ts'
import { listInstances } from '../../src/runtime/store.ts'
import { until } from '../support/until.ts'
import { sharedEdge } from './edge-app.ts'
import type { Files } from '../support/git-server.ts'

const { t, ada, aSite } = await sharedEdge()

type Fault = {
  /** The request that it fails with. */
  at?: number
  /** What happens then, as a command of the shell. */
  then?: string
  /** The path that counts. */
  path?: string
  healthcheck?: string
}

/** Responds with its name to each request, and with a fault from one on. */
const aVersion = (name: string, { at = 0, then = ':', healthcheck }: Fault = {}): Files => ({
  'www/cgi-bin/app': [
    '#!/bin/sh',
    'echo x >>/tmp/requests',
    ...(at > 0 ? [`[ $(wc -l </tmp/requests) -lt ${at} ] || { ${then}; }`] : []),
    "printf 'Content-Type: text/plain\\r\\n\\r\\n'",
    `printf ${name}`,
  ].join('\n'),
  Dockerfile: [
    'FROM busybox',
    'COPY www /www',
    'RUN chmod +x /www/cgi-bin/app',
    'EXPOSE 8080',
    ...(healthcheck ? [`HEALTHCHECK --interval=300s ${healthcheck}`] : []),
    'CMD ["httpd", "-f", "-p", "8080", "-h", "/www"]',
  ].join('\n'),
})

const crash = 'echo it crashes >/proc/1/fd/1; kill -9 -1; sleep 1' // all at once, so that no other request reaches it
const path = '/cgi-bin/app'
const watched = { watchSeconds: 600 }

/** Requests one after the other until the work is done. */
async function visits(host: string, method: 'GET' | 'POST', work: () => Promise<unknown>) {
  const seen = new Map<string, number>()
  let isOver = false
  const visitor = (async () => {
    while (!isOver) {
      const answer = await t.get(host, path, { method }).then(
        async (response) => (response.status === 200 ? response.text() : String(response.status)),
        () => 'broken off',
      )
      seen.set(answer, (seen.get(answer) ?? 0) + 1)
    }
  })()
  try {
    await work()
  } finally {
    isOver = true
    await visitor
  }
  return Object.fromEntries(seen)
}

const ended = async (id: string) => {
  await until(() => getDeployment(t.db, id)?.watchUntil === null, 60)
  await t.watches.idle()
  return getDeployment(t.db, id)!
}

async function twoVersions(fault: Fault, settings = {}) {
  const { host, project } = await aSite(aVersion('first'), { ...watched, ...settings })
  const first = await project.deploy()
  expect(getDeployment(t.db, first.id)?.watch).toBeNull() // there is nothing to go back to
  project.repository.commit(aVersion('second', fault))
  return { host, project, first }
}

// Caddy sends a GET that broke off again: to the version before
for (const [at, method, fails] of [
  [1, 'POST', 1],
  [20, 'POST', 1],
  [500, 'GET', 0],
] as const)
  test(`a version that crashes at request ${at}, a ${method}, goes back, and ${fails} fail`, async () => {
    const { host, project, first } = await twoVersions({ at, then: crash })
    let second = first
    const {
      first: _,
      second: served = 0,
      ...failed
    } = await visits(host, method, async () => {
      second = await project.deploy()
      expect(second.status).toBe('running')
      await ended(second.id)
    })
    expect(served).toBe(at - 1)
    expect(failed).toEqual(fails ? { 502: 1 } : {})
    const gone = getDeployment(t.db, second.id)!
    expect(gone).toMatchObject({
      status: 'failed',
      errorStep: 'watching',
      errorCode: 'crashed_after_switch',
      watch: {
        before: first.id,
        end: 'reverted',
        requests: fails ? [{ status: 502, method, path, count: 1 }] : [],
      },
    })
    expect(gone.watch!.lines).toContain('it crashes')
    expect(getDeployment(t.db, first.id)!.status).toBe('running')
    await t.instanceTasks.idle()
    const left = listInstances(t.db, project.environmentId)
    expect(left.map(({ state, releaseId }) => [state, releaseId])).toEqual([['live', first.id]])
    const { items } = (await ada.get('/settings/events')).json
    expect(items[0]).toMatchObject({ kind: 'deployment_reverted' })
  })
