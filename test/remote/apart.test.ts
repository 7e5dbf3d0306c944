import { describe, expect, test } from 'bun:test'
import { freeHostPort } from '../../src/addresses/host-ports.ts'
import { placesOf } from '../../src/addresses/places.ts'
import { urlOn } from '../../src/addresses/urls.ts'
import { parseConfig } from '../../src/config.ts'
import { connectDocker, remoteHost } from '../../src/docker/index.ts'
import type { Docker } from '../../src/docker/index.ts'
import { unreachable } from '../../src/docker/failures.ts'
import { parseAddress } from '../../src/docker/address.ts'
import { checkEdge } from '../../src/doctor/edge.ts'
import { checkEngine } from '../../src/doctor/engine.ts'
import { checkPublishing } from '../../src/doctor/publishing.ts'
import { refusedApart } from '../../src/edge/mode.ts'
import { refuseUnreachable } from '../../src/services/local-access.ts'
import { aProject, anApp, logOf } from '../deployments/apps.ts'
import { answer, fakeEngine } from '../docker/fake-engine.ts'
import { engineOverTcp } from '../docker/over-tcp.ts'
import { testApp } from '../support/app.ts'

const away = { DOCKER_HOST: 'tcp://192.0.2.7:2376' }
const to = (DAVIT_PUBLISH_ADDRESS: string) => ({ ...away, DAVIT_PUBLISH_ADDRESS })

describe('with Docker on another machine', () => {
  test.each([
    [to('127.0.0.2'), 'http://127.0.0.2:20001', /Published on 127\.0\.0\.2 of 192\.0\.2\.7, where/],
    [to('0.0.0.0'), 'http://192.0.2.7:20001', null],
    [to('192.0.2.8'), 'http://192.0.2.8:20001', null],
  ])('and %p apps are at %s', (env, url, note) => {
    const t = testApp(env)
    const places = placesOf(t, t.logIn('ada@example.com').user.id)
    expect(urlOn(20_001, places)).toBe(url)
    if (note) expect(places.note).toMatch(note)
    else expect(places.note).toBeNull()
  })

  test('a project gets a port of that machine, whose address isn’t one of this', () => {
    const t = testApp(to('192.0.2.7'))
    const places = placesOf(t, 'anyone')
    const port = freeHostPort({ db: t.db, config: t.config, docker: { remote: true } }, places)
    expect(port).toBeGreaterThanOrEqual(20_000)
    expect(() =>
      freeHostPort({ db: t.db, config: t.config, docker: { remote: false } }, places),
    ).toThrow('in use')
  })

  test('a deployment says what isn’t checked, and who reaches the app', async () => {
    const t = testApp(away, { docker: connectDocker({ host: engineOverTcp() }) })
    const ada = t.logInAsAdmin()
    const project = await aProject(t, ada, anApp('there'))
    const deployment = await project.deploy()
    expect(deployment.status).toBe('running')
    const log = (await logOf(ada, deployment)).join('\n')
    expect(log).toContain('Docker is on another machine and the image has no HEALTHCHECK')
    expect(log).toContain('Published on 127.0.0.2 of 192.0.2.7')
    const { text } = await ada.page('/settings/edge')
    expect(text).toContain('On another machine')
    expect(text).toContain('/docs/remote')
  })

  test('the doctor says so, and who reaches apps', async () => {
    const docker = connectDocker({ host: engineOverTcp() })
    const found = await checkEngine(docker)
    expect(found.find(({ what }) => what === 'place')!.is).toStartWith(
      'Docker is on another machine',
    )
    expect(await checkPublishing(parseConfig(away), docker)).toMatchObject([
      { todo: 'Set DAVIT_PUBLISH_ADDRESS to an address of that machine.' },
    ])
    expect(await checkPublishing(parseConfig(to('192.0.2.7')), docker)).toMatchObject([
      { todo: null },
    ])
    for (const edge of [{ DAVIT_EDGE: 'caddy' }, others])
      expect(await refusal(edge, docker)).toContain(refusedApart('remote').message)
  })
})

describe('with a rootless Docker', () => {
  test('what it can’t do is known from what it says of itself', async () => {
    const docker = await rootless()
    expect(await docker.info()).toMatchObject({
      rootless: true,
      measures: false,
      unlimited: ['memory', 'processors', 'processes'],
    })
    expect(await docker.whyApart()).toBe('rootless')
    expect(await docker.whyUncapped({ builder: 'buildkit' })).toBe('Docker runs rootless')
    const measured = docker.containerStats('any')
    await expect(measured).rejects.toMatchObject({ code: 'engine_unmeasured' })
    const connected = refuseUnreachable({ docker } as never, AbortSignal.timeout(5000))
    await expect(connected).rejects.toMatchObject({ code: 'engine_rootless' })
  })

  test('the doctor says so, and which limits aren’t enforced', async () => {
    const docker = await rootless()
    const found = await checkEngine(docker)
    expect(found.find(({ what }) => what === 'place')!.is).toStartWith('Docker runs rootless')
    expect(found.find(({ what }) => what === 'limits')).toMatchObject({
      is: 'Docker doesn’t enforce limits of memory, processors, processes',
      todo: expect.stringContaining('control groups v2'),
    })
    for (const edge of [{ DAVIT_EDGE: 'caddy' }, others])
      expect(await refusal(edge, docker)).toContain(refusedApart('rootless').message)
  })
})

const others = { DAVIT_EDGE: 'external', DAVIT_EDGE_ADMIN: '/run/caddy.sock' }

async function refusal(env: Record<string, string>, docker: Docker) {
  const config = parseConfig({ DAVIT_DATA_DIR: '/nonexistent', ...env })
  const found = await checkEdge(config, docker).catch((error: Error) => [{ is: error.message }])
  return found[0]!.is
}

/** A recorded answer of Docker 20.10 without control groups, as far as Davit reads it. */
async function rootless() {
  const info = {
    ...{ NCPU: 2, MemTotal: 25_276_952_576, Driver: 'overlay2', CgroupVersion: '1' },
    ...{ CgroupDriver: 'none', MemoryLimit: false, CpuCfsQuota: false, PidsLimit: false },
    SecurityOptions: ['name=seccomp,profile=default', 'name=rootless'],
    SystemTime: new Date().toISOString(),
    DockerRootDir: '/home/ada/.local/share/docker',
  }
  const Components = [{ Name: 'Engine', Version: '20.10.24' }]
  const version = {
    Version: '20.10.24',
    ApiVersion: '1.41',
    Os: 'linux',
    Arch: 'amd64',
    Components,
  }
  const host = await fakeEngine(({ line, socket }) => {
    const said = line.includes('/info') ? info : line.includes('/version') ? version : []
    answer(socket, 200, JSON.stringify(said))
  })
  return connectDocker({ host })
}

test.each([
  ['unix:///run/docker.sock', null],
  [undefined, null],
  ['ssh://ada@server.example', 'server.example'],
  ['tcp://192.0.2.7:2376', '192.0.2.7'],
])('Docker at %s is on the machine %s', (host, machine) => expect(remoteHost(host)).toBe(machine))

test.each([
  ['error:10000412:SSL routines:OPENSSL_internal:SSLV3_ALERT_BAD_CERTIFICATE', 'cert.pem'],
  ['unable to verify the first certificate', 'isn’t from the authority in ca.pem'],
  ['certificate has expired', 'its certificate has expired'],
  ['error:100000f7:SSL routines:OPENSSL_internal:WRONG_VERSION_NUMBER', 'doesn’t use TLS'],
  ['Host denied (verification failed)', 'known_hosts'],
  ['All configured authentication methods failed', 'ssh refuses the key'],
])('who isn’t trusted is told in plain words: %s', (message, told) => {
  const failure = unreachable(parseAddress('tcp://192.0.2.7:2376'), new Error(message))
  expect(failure.message).toContain(told)
})
