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
    'CMD ["sh", "-c", "echo $$ >/tmp/pid; exec httpd -f -p 8080 -h /www"]',
  ].join('\n'),
})

/**
 * What listens ends first, and with it the connection of the request: killed at the same time, it may end later, and
 * the kernel has accepted the next request for it by then.
 */
const crash = 'echo it crashes >/proc/1/fd/1; kill -9 $(cat /tmp/pid); sleep 1'
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

// Caddy sends a GET again that broke off before its response began: to the version before
for (const [at, method, fails] of [
  [1, 'POST', 1],
  [20, 'POST', 1],
  [500, 'GET', 0],
] as const)
  test(`a version that crashes at request ${at}, a ${method}, goes back, and no other fails`, async () => {
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
    expect(failed).toEqual(fails > 0 ? { 502: fails } : {})
    const gone = getDeployment(t.db, second.id)!
    expect(gone).toMatchObject({
      status: 'failed',
      errorStep: 'watching',
      errorCode: 'crashed_after_switch',
      watch: {
        before: first.id,
        end: 'reverted',
        requests: fails > 0 ? [{ status: 502, method, path, count: fails }] : [],
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

/** Deploys the second version, and returns what is stored of it once its watch is over. */
async function deployed(project: Awaited<ReturnType<typeof twoVersions>>['project']) {
  const { id, status } = await project.deploy()
  expect(status).toBe('running')
  return ended(id)
}

test('a version that runs out of memory goes back', async () => {
  const eats = 'tail /dev/zero'
  const { host, project } = await twoVersions({ at: 3, then: eats }, { memoryMb: 16 })
  const visited = await visits(host, 'GET', async () => {
    expect(await deployed(project)).toMatchObject({
      errorCode: 'crashed_after_switch',
      errorMessage: expect.stringContaining('ran out of memory'),
    })
  })
  expect(Object.keys(visited).filter((one) => !['first', 'second'].includes(one))).toEqual([])
})

test('a version of which one of three replicas crashes goes back', async () => {
  const { host, project } = await twoVersions({}, { processes: [{ name: 'web', replicas: 3 }] })
  const visited = await visits(host, 'GET', async () => {
    const { id } = await project.deploy()
    const one = listInstances(t.db, project.environmentId).find(
      ({ releaseId, slot }) => releaseId === id && slot === 1,
    )
    const command = ['kill', '-9', '-1']
    await t.docker.runInContainer(one!.containerId!, { command }).catch(() => {})
    const { errorCode, errorMessage } = await ended(id)
    expect([errorCode, errorMessage]).toEqual([
      'crashed_after_switch',
      expect.stringContaining('replica 2 of 3'),
    ])
  })
  expect(visited['502'] ?? 0).toBeLessThanOrEqual(1) // what it was just answering
  expect(Object.keys(visited).filter((one) => one !== '502')).toEqual(['first', 'second'])
})

const fails = 'printf "Status: 500\\r\\n\\r\\n"; exit'

test('a version that fails its health path three times in a row goes back', async () => {
  const settings = { healthPath: path, watchSeconds: 12 }
  const { project } = await twoVersions({ at: 4, then: fails }, settings)
  expect(await deployed(project)).toMatchObject({
    errorCode: 'unhealthy_after_switch',
  })
})

test('a version whose HEALTHCHECK passes every second time stays', async () => {
  const healthcheck = 'CMD if [ -e /tmp/odd ]; then rm /tmp/odd; exit 1; else touch /tmp/odd; fi'
  const { project } = await twoVersions({ healthcheck }, { watchSeconds: 8 })
  const { status, watch } = await deployed(project)
  expect([status, watch?.end]).toEqual(['running', 'over'])
})

test('a version that answers 500 from the start goes back where errors count, and stays where they don’t', async () => {
  const { host, project } = await twoVersions({ at: 1, then: fails }, { rollbackOn: ['errors'] })
  await visits(host, 'GET', async () => {
    const { errorCode, watch } = await deployed(project)
    expect([errorCode, watch?.requests[0]]).toMatchObject([
      'errors_after_switch',
      { status: 500, method: 'GET', path },
    ])
  })
  const other = await twoVersions({ at: 1, then: fails }, { watchSeconds: 3 })
  await visits(other.host, 'GET', async () => {
    expect(await deployed(other.project)).toMatchObject({ status: 'running' })
  })
})

test('there is no going back to a version that had crashed too', async () => {
  const { host, project, first } = await twoVersions({ at: 1, then: crash })
  await t.docker
    .runInContainer(first.containerId, { command: ['kill', '-9', '-1'] })
    .catch(() => {})
  await until(() => t.observed.crashes.restartsOf(first.containerId) > 0)
  await until(async () => (await t.get(host, path)).status === 200)
  const second = await project.deploy()
  await t.get(host, path, { method: 'POST' })
  const { status, watch } = await ended(second.id)
  expect([status, watch]).toMatchObject(['running', { end: 'stays', verdict: null }])
  expect(watch!.why).toContain('had crashed too')
})

test('a watch ends by hand, or by a newer version, and the one before is stopped', async () => {
  const { project, first } = await twoVersions({})
  const second = await project.deploy()
  const keep = `/projects/${project.id}/deployments/${second.id}/keep`
  expect((await ada.post(keep)).json.watch.end).toBe('kept')
  expect((await ada.post(keep)).status).toBe(409)
  await t.instanceTasks.idle()
  expect((await t.docker.inspectContainer(first.containerId))?.state ?? 'removed').not.toBe(
    'running',
  )
  const third = await project.deployFiles(aVersion('third'))
  const fourth = await project.deployFiles(aVersion('fourth'))
  expect(getDeployment(t.db, third.id)).toMatchObject({
    status: 'superseded',
    watch: { end: 'replaced' },
  })
  expect(getDeployment(t.db, fourth.id)?.watch?.before).toBe(third.id)
})
