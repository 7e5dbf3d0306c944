import { expect, test } from 'bun:test'
import { componentsOf } from '../../src/deployments/components.ts'
import type { Run } from '../../src/deployments/context.ts'
import { containerConfig } from '../../src/docker/container-config.ts'
import type { ContainerOptions } from '../../src/docker/index.ts'
import { AppError } from '../../src/platform/errors.ts'
import { environmentForm } from '../../src/environments/forms.ts'
import { harmlessCapabilities } from '../../src/services/compose/dangers.ts'
import { optionsOf as created } from '../../src/runtime/steps/create.ts'
import { planContainers } from '../../src/services/compose/containers.ts'
import { stackFrom } from '../services/compose/stack.ts'
import { aFile, id, random, someSettings } from './random-compose.ts'

/** All that Davit ever asks of an engine for a container that nobody allowed more. */
const allowedKeys = [
  ...['Privileged', 'CapDrop', 'CapAdd', 'SecurityOpt', 'IpcMode', 'PublishAllPorts', 'ExtraHosts'],
  ...['Memory', 'MemorySwap', 'MemoryReservation', 'ShmSize', 'NanoCpus', 'PidsLimit', 'Ulimits'],
  ...['Sysctls', 'ReadonlyRootfs', 'Mounts', 'Tmpfs', 'RestartPolicy', 'Init', 'LogConfig'],
  ...['OomScoreAdj', 'NetworkMode', 'PortBindings'],
]

const network = `davit-${id}`

/** The containers, or null where the file is refused as anything is that a user may read. */
function optionsOf(text: string): ContainerOptions | null {
  try {
    const [component] = planContainers(stackFrom(text), { id, name: 'n', publishAddress: '::1' })
    return created(component!, {
      instanceId: id,
      labels: { 'davit.owner': id },
      imageLabels: {},
      network,
    })
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}

const fixed = {
  Privileged: false,
  PublishAllPorts: false,
  CapDrop: ['ALL'],
  SecurityOpt: ['no-new-privileges:true'],
  IpcMode: 'private',
  NetworkMode: network,
  OomScoreAdj: 500,
}
const ownVolume = new RegExp(`^davit-${id}-[a-z0-9_.-]+$`, 'i')

/** What of a container goes beyond the profile. */
function harmOf(options: ContainerOptions): string[] {
  const { HostConfig: host, NetworkingConfig, Labels } = containerConfig(options)
  const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)
  const set = Object.entries(host)
  const wrong = Object.entries(fixed).filter(([key, value]) => !same(Object(host)[key], value))
  return [
    ...set.map(([key]) => key).filter((key) => !allowedKeys.includes(key)),
    ...wrong.map(([key]) => key),
    ...host.CapAdd.filter((name) => !harmlessCapabilities.includes(name)),
    ...host.Mounts.filter(({ Type }) => Type !== 'volume').map(({ Type }) => Type),
    ...host.Mounts.map(({ Source }) => Source).filter((source) => !ownVolume.test(source)),
    ...Object.values(host.PortBindings)
      .flatMap((bindings) => bindings.map(({ HostIp }) => HostIp))
      .filter((address) => !['::1', '127.0.0.2'].includes(address)),
    ...(same(Object.keys(NetworkingConfig.EndpointsConfig), [network]) ? [] : ['networks']),
    ...(host.Memory > 0 && host.MemorySwap === host.Memory ? [] : ['memory']),
    ...(host.PidsLimit > 0 ? [] : ['processes']),
    ...(host.LogConfig.Type === 'json-file' ? [] : ['log driver']),
    ...(Labels['davit.owner'] === id ? [] : ['owner']),
  ]
}

test('what goes beyond the profile is seen', () => {
  const granted = {
    privileged: true,
    hostNetwork: true,
    binds: [{ source: '/', path: '/x', readOnly: false }],
  }
  const options = optionsOf('services: {web: {image: busybox}}')!
  expect(harmOf(options)).toEqual([])
  expect(harmOf({ ...options, granted, capabilities: ['ALL'] })).toEqual([
    ...['Privileged', 'NetworkMode', 'ALL', 'bind', '/', 'networks'],
  ])
})

test('no Compose file gets a container more than the profile: 2,000 of them', () => {
  const r = random(20_261_121)
  let taken = 0
  for (let i = 0; i < 2_000; i++) {
    const text = JSON.stringify(aFile(r))
    const options = optionsOf(text)
    if (!options) continue
    taken++
    const harm = harmOf(options)
    if (harm.length > 0) expect(harm, text).toEqual([])
  }
  expect(taken).toBeGreaterThan(250)
  expect(taken).toBeLessThan(1_750)
})

test('no settings of an environment get an app more than the profile: 10,000 of them', () => {
  const r = random(7)
  let taken = 0
  for (let i = 0; i < 10_000; i++) {
    const sent = someSettings(r)
    const checked = environmentForm.safeParse(sent)
    if (!checked.success) continue
    taken++
    const settings = Object.entries(checked.data).filter(([, value]) => value != null)
    const web = { name: 'web', command: null, replicas: 1, memoryMb: null, cpus: null }
    const defaults = { memoryMb: 512, cpus: 1, volumes: [], processes: [web] }
    const environment = { ...defaults, ...Object.fromEntries(settings) }
    const run = {
      project: { id, ownerId: id, name: r.pick(['$(id)', '../x', '漢', '--']) },
      environment: { ...environment, id, hostPort: 20_000 },
      deployment: { id },
      places: { publishAddress: '::1' },
      edge: { isOn: r.pick([true, false]) },
      variables: [{ key: 'PATH', value: '$(id)', secret: false, buildTime: false }],
      joins: [],
      instanceId: id,
    } as unknown as Run
    const port = checked.data.port ?? 3000
    const [component] = componentsOf(run, { image: 'busybox', port })
    const options = created(component!, {
      instanceId: id,
      labels: { 'davit.owner': id },
      imageLabels: {},
      network,
    })
    const harm = harmOf(options)
    if (!/^[a-z0-9][a-z0-9-]+$/.test(options.name)) harm.push(options.name)
    if (harm.length > 0) expect(harm, JSON.stringify(sent)).toEqual([])
  }
  expect(taken).toBeGreaterThan(100)
})
