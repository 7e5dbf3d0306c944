import { expect, test } from 'bun:test'
import { parseConfig } from '../../src/config.ts'
import { anApp, aProject } from '../deployments/apps.ts'
import { made, site } from '../services/instances.ts'
import { testApp } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import { execIn } from '../support/exec.ts'
import { tarContext } from '../support/images.ts'
import { askEngine } from '../support/machine/engine.ts'
import golden from './host-config.json'

type HostConfig = Record<string, unknown>

type Inspected = {
  Id: string
  HostConfig: HostConfig
  Config: { Labels: Record<string, string>; StopTimeout: number }
  NetworkSettings: { Networks: Record<string, { IPAddress: string; Gateway: string }> }
}

const inspect = async (id: string) =>
  (await (await askEngine(`/containers/${id}/json`)).json()) as Inspected

/** What an image can say to be taken for more than it is, and to get more than it should. */
const hostileImage = (victim: Record<string, string>) => [
  'FROM busybox',
  `LABEL ${Object.entries(victim)
    .map(([key, value]) => `${key}=${value}`)
    .join(' ')}`,
  'USER root',
  'RUN mkdir /www',
  'VOLUME /var/lib/other',
  'EXPOSE 8080 9000-9899',
  `CMD ${JSON.stringify([
    'sh',
    '-c',
    'grep -E "^(NoNewPrivs|Seccomp|CapEff|CapBnd):" /proc/self/status > /www/index.html; ' +
      'exec httpd -f -p 8080 -h /www',
  ])}`,
]

test('app, service and build have the profile and nothing else, whatever an image says', async () => {
  const t = testApp()
  const [ada, bob] = [t.logIn('ada@example.com'), t.logIn('bob@example.com')]
  const service = await made(t, bob, site)
  expect(service.error).toBeNull()
  const [serviceId] = service.containers.map(({ id }: { id: string }) => id)
  const inService = await inspect(serviceId)

  // an image that says it belongs to the service of someone else, in every word that we use
  const Dockerfile = hostileImage({
    ...inService.Config.Labels,
    'davit.unknown': 'x',
  }).join('\n')
  const project = await aProject(
    t,
    ada,
    { ...anApp('x'), Dockerfile },
    { port: 8080, memoryMb: 64, cpus: 0.5, volumes: ['store:/data'] },
  )
  const deployment = await project.deploy()
  expect(deployment.status, JSON.stringify(deployment.error)).toBe('running')
  const inApp = await inspect(deployment.containerId)

  expect(notable(inApp.HostConfig)).toEqual(golden.app)
  expect(notable(inService.HostConfig)).toEqual(golden.service)
  expect(notable(await buildContainer(t))).toEqual(golden.build)

  expect(inApp.Config.StopTimeout).toBe(10)

  // its labels are ours, and so nobody else finds or loses anything by it
  expect(inApp.Config.Labels).toMatchObject({
    'davit.instance': t.instanceId,
    'davit.kind': 'app',
    'davit.owner': ada.user.id,
    'davit.project': project.id,
    'davit.deployment': deployment.id,
    'davit.service': '',
  })
  const listOf = async (client: typeof ada) =>
    (await client.get('/containers/api')).json.containers.map(({ id }: { id: string }) => id)
  expect(await listOf(ada)).toEqual([inApp.Id])
  expect(await listOf(bob)).toEqual([inService.Id])

  // root in it has seven capabilities, and a setuid program gives no more
  const status = (await (await fetch(deployment.url)).text()).trim().split('\n')
  const seven = '00000000000004eb'
  expect(status).toEqual([
    `CapEff:\t${seven}`,
    `CapBnd:\t${seven}`,
    'NoNewPrivs:\t1',
    'Seccomp:\t2',
  ])

  // it is in one network, from which neither the other's containers nor our own port are reached
  const networks = Object.entries(inApp.NetworkSettings.Networks)
  expect(networks.map(([name]) => name)).toEqual([`davit-${project.id}`])
  const [[, { Gateway, IPAddress }]] = networks as [
    [string, { Gateway: string; IPAddress: string }],
  ]
  const [other] = Object.values(inService.NetworkSettings.Networks)
  expect((await fetch(`http://${other!.IPAddress}/`)).status).toBe(200)
  let hits = 0
  const panel = Bun.serve({
    hostname: parseConfig({}).host,
    port: 0,
    fetch: () => new Response(`${++hits}`),
  })
  const reach = async (address: string, port: number) => {
    const line = `echo hello | nc -w 2 ${address} ${port}`
    return (await execIn(inApp.Id, ['sh', '-c', line])).output
  }
  const [own, foreign, gateway] = await Promise.all([
    reach(IPAddress, 8080),
    reach(other!.IPAddress, 80),
    reach(Gateway, panel.port!),
  ])
  panel.stop(true)
  expect(own).toContain('HTTP/1.1')
  expect(foreign).not.toContain('HTTP/1.1')
  expect(gateway).not.toContain('HTTP/1.1')
  expect(hits).toBe(0)
})

/** What the engine makes a step of a build in; only the classic builder lets it be seen. */
async function buildContainer({ docker, instanceId }: TestApp) {
  const abort = new AbortController()
  const build = docker.buildImage({
    context: tarContext({ Dockerfile: `FROM busybox\nRUN sleep 600 # ${Bun.randomUUIDv7()}\n` }),
    dockerfile: 'Dockerfile',
    tag: `davit/${Bun.randomUUIDv7()}`,
    labels: { 'davit.instance': instanceId },
    builder: 'classic',
    signal: abort.signal,
  })
  try {
    for await (const part of build) {
      if (part.kind !== 'line') continue
      const [, id] = /^ ---> Running in (\w+)$/.exec(part.text) ?? []
      if (id) return (await inspect(id)).HostConfig
    }
  } finally {
    abort.abort()
  }
  throw new Error('The build was not seen at work.')
}

/**
 * Every setting that is not what an engine gives of itself, in words that hold for any project: one
 * that is new to us in a later engine, and set, is a privilege to look at before it is added.
 */
function notable({ MaskedPaths, ReadonlyPaths, CgroupnsMode, ConsoleSize, ...config }: HostConfig) {
  expect(MaskedPaths).toEqual(expect.arrayContaining(golden.maskedPaths))
  expect(ReadonlyPaths).toEqual(expect.arrayContaining(golden.readonlyPaths))
  expect(CgroupnsMode).toBeOneOf(['host', 'private']) // as the engine's version has it
  const set = Object.entries(config).filter(([, value]) => !isEmpty(value))
  return JSON.parse(
    JSON.stringify(Object.fromEntries(set))
      .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')
      .replace(/"HostPort":"\d+"/g, '"HostPort":"<port>"'),
  )
}

const isEmpty = (value: unknown) =>
  !value || (typeof value === 'object' && Object.keys(value).length === 0)
