import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Shell } from '../containers/shell.ts'
import type { DavitClient } from '../demo/client.ts'
import { readEvents } from '../demo/events.ts'
import { aBuild, anApp, aRepository } from '../deployments/apps.ts'
import { pathOf } from '../deployments/events.ts'
import { watch } from '../faults/watch.ts'
import type { Deployment } from '../faults/watch.ts'
import { site } from '../services/instances.ts'
import { anInstallation } from '../support/installation.ts'
import { runDavit } from '../support/run-davit.ts'
import { until } from '../support/until.ts'
import { engineBehindSsh, engineBehindTls } from './engines.ts'

type Items = { items: { id: string }[] }

/** It says what its service answers, and a line again and again. */
const app = (text: string) => ({
  ...anApp(text),
  Dockerfile: [
    'FROM busybox',
    'COPY www /www',
    'EXPOSE 8080',
    `CMD trap "exit 0" TERM; httpd -p 8080 -h /www; while :; do echo "tick $DB_HOST"; sleep 0.2; done`,
  ].join('\n'),
})

const finished = async (client: DavitClient, deployment: Deployment) => {
  await watch(client, deployment).ended
  return client.get<Deployment & { error: unknown }>(pathOf(deployment))
}

/** Lines of a container, from now on. */
function followed(client: DavitClient, id: string) {
  const lines: string[] = []
  void (async () => {
    const body = await client.stream(`/containers/${id}/logs?format=json`, null)
    for await (const { name, data } of readEvents(body))
      if (name === 'message') lines.push((JSON.parse(data) as { text: string }).text)
  })().catch(() => {}) // Davit is stopped
  return lines
}

test.each([
  ['tcp:// with TLS', engineBehindTls],
  ['ssh://', engineBehindSsh],
])(
  'an app and its service live on an engine behind %s',
  async (_, reach) => {
    await using engine = await reach()
    const settings = {
      DAVIT_SETTLE_TIME: '1',
      DAVIT_EDGE: 'auto',
      DAVIT_PUBLISH_ADDRESS: engine.address,
    }
    const davit = anInstallation({ host: engine.host }, { ...engine.env(), ...settings })
    try {
      const { client, url: own } = await davit.start()
      const repository = aRepository(davit.directory, app('one'))
      const { id } = await client.post<{ id: string }>('/projects', {
        ...{ name: 'site', repositoryUrl: repository.url },
      })
      const path = `/projects/${id}`
      const environment = (await client.get<Items>(`${path}/envs`)).items[0]!.id
      const deploy = async () =>
        finished(client, await client.post<Deployment>(`${path}/deployments`))
      const first = await deploy()
      expect(first).toMatchObject({ status: 'running', error: null })
      expect(first.url).toStartWith(`http://${engine.address}:`)
      const answer = async () => (await fetch(first.url).catch(() => null))?.text() ?? null
      expect(await answer()).toBe('one')

      const lines = followed(client, first.containerId!)
      await until(() => lines.length > 2)
      const Cookie = `svc_session=${client.cookie('svc_session')}`
      const terminal = `${own.replace('http', 'ws')}/containers/${first.containerId}/terminal`
      const shell = new Shell(terminal, { Cookie })
      await until(() => shell.isOpen)
      shell.type('echo of-"the"-shell\n')
      await shell.shows('of-the-shell')
      shell.close()
      const use = `/containers/${first.containerId}/stats?format=json`
      for await (const { data } of readEvents(await client.stream(use, null)))
        if (/"memory\w*":[1-9]/.test(data)) break

      const fields = { name: 'db', compose: site }
      const service = await client.post<{ id: string }>('/services/compose', fields)
      type Service = { status: string; url: string }
      const serviceNow = () => client.get<Service>(`/services/${service.id}`)
      await until(async () => (await serviceNow()).status === 'running')
      await client.post(`/envs/${environment}/links`, { serviceId: service.id })
      repository.commit({ 'www/index.html': 'two' })
      const second = await deploy()
      expect(await answer()).toBe('two')
      const linked = followed(client, second.containerId!)
      await until(() => linked.some((line) => /^tick \S+$/.test(line)))
      await client.post(`/envs/${environment}/restart`)
      await until(async () => (await answer()) === 'two')
      const back = await client.post<Deployment>(`${pathOf(first)}/rollback`)
      expect((await finished(client, back)).status).toBe('running')
      expect(await answer()).toBe('one')
      await client.post(`/envs/${environment}/stop`)
      await until(async () => (await answer()) === null)
      await client.delete(`${path}?volumes=1`)
      await client.delete(`/services/${service.id}?volumes=1`)
      const labels = davit.labels()
      await until(
        async () => (await davit.docker.listContainers({ labels, all: true })).length === 0,
      )
      expect(davit.errors()).toEqual([])
      expect(davit.journal()).not.toContain('can’t be reached')
    } finally {
      await davit.leave()
    }
  },
  120_000,
)

test('a connection through ssh that breaks comes back, and nothing is shown that isn’t so', async () => {
  await using engine = await engineBehindSsh()
  const davit = anInstallation({ host: engine.host }, { ...engine.env(), DAVIT_SETTLE_TIME: '1' })
  try {
    const { client } = await davit.start()
    const repository = aRepository(davit.directory, app('one'))
    const { id } = await client.post<{ id: string }>('/projects', {
      ...{ name: 'site', repositoryUrl: repository.url },
    })
    const path = `/projects/${id}`
    const trigger = () => client.post<Deployment>(`${path}/deployments`)
    const first = await finished(client, await trigger())
    expect(first.status).toBe('running')
    const lines = followed(client, first.containerId!)
    await until(() => lines.length > 2)

    repository.commit(aBuild('echo be""gun; sleep 3333'))
    const building = await trigger()
    await watch(client, building).hears('begun')
    engine.server.cut()
    const broken = await finished(client, building)
    expect(broken).toMatchObject({ status: 'failed', error: { code: 'engine_unreachable' } })
    const count = lines.length
    await until(() => lines.length > count + 5)
    expect((await finished(client, first)).status).toBe('running')

    // it ends while no one can see it
    engine.server.allow('')
    engine.server.cut()
    await davit.docker.stopContainer(first.containerId!, { timeoutSeconds: 1 })
    await until(async () => (await client.ask('GET', '/containers/api')).status === 503)
    engine.letIn()
    const stateNow = async () => {
      const { containers } = await client.get<{ containers: { id: string; state: string }[] }>(
        '/containers/api',
      )
      return containers.find(({ id }) => id === first.containerId)?.state
    }
    await until(async () => (await stateNow()) === 'exited')
    type Live = { items: { live: { instances: { state: string }[] } | null }[] }
    await until(async () => {
      const { items } = await client.get<Live>(`${path}/envs`)
      return items[0]!.live?.instances.every(({ state }) => state !== 'running') ?? true
    })
  } finally {
    await davit.leave()
  }
}, 120_000)

/** What the doctor says of the engine. */
async function engineLine(env: Record<string, string>) {
  const DAVIT_DATA_DIR = mkdtempSync(join(tmpdir(), 'davit-doctor-'))
  const { stdout } = await runDavit(['doctor'], { env: { ...env, DAVIT_DATA_DIR } })
  rmSync(DAVIT_DATA_DIR, { recursive: true })
  return stdout.match(/^.* engine .*$/m)![0].trim()
}

test('who may not use an engine behind TLS is told why', async () => {
  await using engine = await engineBehindTls()
  const { expired, foreign, missing } = engine.folders
  const { DOCKER_HOST } = engine.env()
  expect(await engineLine(engine.env())).toMatch(/^ok +engine +Docker \d/)
  expect(await engineLine(engine.env(expired))).toContain('it refuses the certificate in cert.pem')
  expect(await engineLine(engine.env(foreign))).toContain('ca.pem')
  expect(await engineLine(engine.env(missing))).toContain(`${missing}/ca.pem can’t be read`)
  expect(await engineLine({ DOCKER_HOST })).toContain('it needs TLS. Set DOCKER_TLS_VERIFY=1')
}, 60_000)

test('who may not use an engine behind sshd is told why', async () => {
  await using engine = await engineBehindSsh()
  const { server, env } = engine
  expect(await engineLine(env())).toMatch(/^ok +engine +Docker \d/)
  engine.seal('a passphrase')
  expect(await engineLine(env())).toContain('has a passphrase or can’t be read')
  engine.seal('')
  server.allow('')
  expect(await engineLine(env())).toMatch(/^to do +engine .*\bssh\b/)
  await server.changeHostKey()
  expect(await engineLine(env())).toContain('its host key isn’t the one in known_hosts')
}, 60_000)
