import { describe, expect, test } from 'bun:test'
import { containerConfig } from '../../../src/docker/container-config.ts'
import { AppError } from '../../../src/platform/errors.ts'
import type { Component } from '../../../src/runtime/component.ts'
import { optionsOf } from '../../../src/runtime/steps/create.ts'
import { planContainers } from '../../../src/services/compose/containers.ts'
import type { InstanceContext } from '../../../src/services/compose/containers.ts'
import { portsWanted } from '../../../src/services/ports.ts'
import { readStack } from '../../../src/services/compose/read-stack.ts'
import type { Tree } from '../../../src/platform/yaml-source.ts'
import { Source } from '../../../src/platform/yaml-source.ts'
import { refusalOf } from './refusal.ts'
import { fileWith, stackFrom } from './stack.ts'

const context: InstanceContext = {
  id: '0198c0de-0000-7000-8000-00000000cafe',
  name: 'My Site',
  publishAddress: '198.51.100.7',
}
const plan = (text: string, more: Partial<InstanceContext> = {}) =>
  planContainers(stackFrom(text), { ...context, ...more })
const only = (lines: string, more: Partial<InstanceContext> = {}, top = '') =>
  plan(fileWith(lines, top), more)[0]!

/** As the engine is asked for it. */
const configOf = (component: Component) =>
  containerConfig(optionsOf(component, { ...of, labels: own, imageLabels: { ours: '1' } }))

const of = { instanceId: context.id, network: 'davit-net' }
const own = { 'davit.service': context.id }

describe('a service becomes a container', () => {
  test('with the profile of the catalogue and nothing else', () => {
    expect(only('').options).toEqual({
      name: 'davit-my-site-web',
      image: 'nginx:1.27',
      env: {},
      labels: {},
      networkAliases: ['web'],
      ports: [],
      memoryBytes: 512 * 2 ** 20,
      cpus: 1,
      pidsLimit: 1024,
      capabilities: [
        'CHOWN',
        'DAC_OVERRIDE',
        'FOWNER',
        'SETGID',
        'SETUID',
        'NET_BIND_SERVICE',
        'KILL',
      ],
      volumes: [],
      restart: { name: 'unless-stopped' },
      stopTimeout: 10,
      logs: { maxSize: '10m', maxFiles: 3 },
      oomScoreAdj: 500,
    })
  })

  test('with volumes that are named after the instance, so that no file names those of another', () => {
    const lines = 'volumes: ["data:/data", "/cache", "davit-other-data:/x:ro"]'
    const { options } = only(lines, {}, 'volumes: {data: , davit-other-data: }')
    expect(options.volumes!.map(({ name }) => name)).toEqual(
      ['data', 'web-cache', 'davit-other-data'].map((name) => `davit-${context.id}-${name}`),
    )
    expect(options.volumes!.map(({ readOnly }) => readOnly)).toEqual([false, false, true])
  })

  test('with what its file adds to and takes from the capabilities', () => {
    const of = (lines: string) => only(lines).options.capabilities
    const changed = of('cap_add: [FSETID]\ncap_drop: [CHOWN, FOWNER]')!
    expect(changed.join()).toBe('DAC_OVERRIDE,SETGID,SETUID,NET_BIND_SERVICE,KILL,FSETID')
    expect(of('cap_add: [CHOWN]\ncap_drop: [ALL]')).toEqual(['CHOWN'])
  })

  test('with ports that the instance keeps, instead of those in the file', () => {
    const lines = 'ports: ["8080:80", "127.0.0.1:9000:90", "91"]'
    expect(portsWanted({ expose: [] }, stackFrom(fileWith(lines)))).toHaveLength(3)
    const publish = [
      { service: 'web', container: 80, protocol: 'tcp', host: 20_001 },
      { service: 'web', container: 90, protocol: 'tcp', host: 20_002 },
      { service: 'other', container: 70, protocol: 'tcp', host: 20_003 },
    ] as const
    expect(only(lines, { publish: [...publish] }).options.ports).toEqual([
      { container: 80, host: 20_001, protocol: 'tcp', address: '198.51.100.7' },
      { container: 90, host: 20_002, protocol: 'tcp', address: '127.0.0.2' },
      { container: 91, host: 0, protocol: 'tcp', address: '198.51.100.7' },
    ])
    expect(only(lines).options.ports![0]!.host).toBe(8080)
  })

  test('that restarts as its file says, and a one-shot not at all', () => {
    const text = `
services:
  web: {image: a, depends_on: {job: {condition: service_completed_successfully}}}
  job: {image: b}
  own: {image: c, restart: always}
`
    const restarts = plan(text).map(({ name, oneShot, options }) => [
      name,
      oneShot,
      options.restart?.name,
    ])
    expect(restarts).toEqual([
      ['job', true, 'no'],
      ['web', false, 'unless-stopped'],
      ['own', false, 'always'],
    ])
  })

  test('whose health check, limits and identity reach the engine', () => {
    const lines = `
healthcheck: {test: [CMD, a], interval: 1s}
user: "1"
hostname: h
shm_size: 1m
tmpfs: /run
read_only: true
command: a b
mem_limit: 64m
labels: {davits: mine}`
    const config = configOf(only(lines))
    expect(config).toMatchObject({
      Cmd: ['a', 'b'],
      User: '1',
      Hostname: 'h',
      Healthcheck: { Test: ['CMD', 'a'], Interval: 1e9, Timeout: 0 },
      Labels: { ours: '', 'label.davits': 'mine', ...own, 'davit.part': 'web' },
      HostConfig: {
        Memory: 64 * 2 ** 20,
        ShmSize: 2 ** 20,
        ReadonlyRootfs: true,
        Tmpfs: { '/run': '' },
      },
    })
  })

  test('D8: in which the value of `__proto__` arrives', () => {
    const { Env } = configOf(only('environment: {__proto__: p, A: "1\\n2"}'))
    expect(Env).toEqual(['__proto__=p', 'A=1\n2'])
  })

  test('unless it has files to write where nothing can be written', () => {
    const lines = 'read_only: true\nvolumes: [{type: bind, source: ./x, target: /x, content: a}]'
    expect(refusalOf(() => only(lines))).toContain('services.web.read_only')
  })
})

describe('power over the host', () => {
  const lines = 'privileged: true\nvolumes: ["/srv:/data:ro"]\nnetwork_mode: host\npid: host'
  const keys = ['web privileged', 'web host_path /srv', 'web host_namespace network']

  test('is refused, naming all of it', () => {
    const message = refusalOf(() => only(lines))
    expect(message).toContain('all privileges')
    expect(message).toContain('/srv on this server')
    expect(message).toContain('ask an admin')
  })

  test('is refused when not all of it is allowed', () => {
    const message = refusalOf(() => only(lines, { allowed: keys }))
    expect(message).toContain('pid namespace')
    expect(message).not.toContain('/srv')
  })

  test('is there when exactly it is allowed', () => {
    const component = only(lines, { allowed: [...keys, 'web host_namespace pid'] })
    expect(configOf(component).HostConfig).toMatchObject({
      Privileged: true,
      NetworkMode: 'host',
      PidMode: 'host',
      Mounts: [{ Type: 'bind', Source: '/srv', Target: '/data', ReadOnly: true }],
    })
  })
})

describe('D1: whatever a file says', () => {
  const allowedKeys = [
    'Privileged',
    'CapDrop',
    'CapAdd',
    'SecurityOpt',
    'IpcMode',
    'NetworkMode',
    'PortBindings',
    'PublishAllPorts',
    'ExtraHosts',
    'Memory',
    'MemorySwap',
    'MemoryReservation',
    'ShmSize',
    'NanoCpus',
    'PidsLimit',
    'Ulimits',
    'Sysctls',
    'ReadonlyRootfs',
    'Mounts',
    'Tmpfs',
    'RestartPolicy',
    'Init',
    'LogConfig',
    'OomScoreAdj',
  ]
  const map = (object: object): Tree => new Map(Object.entries(object))
  const choices: [string, Tree[]][] = [
    ['privileged', [true, false, 'true', 'yes', 1, null, map({ a: true })]],
    ['network_mode', ['host', 'none', 'bridge', 'container:x', '']],
    ['pid', ['host', 'service:x', '']],
    ['ipc', ['host', 'private', 'shareable', 'container:x']],
    ['userns_mode', ['host']],
    ['security_opt', [['seccomp=unconfined'], []]],
    ['cap_add', [['SYS_ADMIN'], ['ALL'], ['NET_RAW'], ['kill'], 'ALL', [null]]],
    ['cap_drop', [['ALL'], ['CHOWN'], []]],
    ['devices', [['/dev/sda'], [], ['/etc']]],
    [
      'volumes',
      [
        ['/:/h'],
        ['d:/d'],
        ['/var/run/docker.sock:/s'],
        ['/c'],
        [map({ type: 'bind', source: '/', target: '/h' })],
        ['./x:/y'],
        [map({ type: 'volume', source: 'd', target: '/d', volume: map({ driver: 'x' }) })],
      ],
    ],
    ['extra_hosts', [['a:1.2.3.4'], ['a:host-gateway']]],
    ['sysctls', [map({ 'net.core.somaxconn': 5 }), map({ 'kernel.core_pattern': 'x' })]],
    ['ulimits', [map({ nofile: 5 }), map({ x: 5 }), map({ nofile: map({ soft: 1, hard: 2 }) })]],
    ['ports', [['8080:80'], ['22:22'], ['80'], [map({ target: 5 })]]],
    ['environment', [['A=b'], map({ __proto__: 'x' }), map({ A: 1 }), ['=x']]],
    ['labels', [map({ 'davit.owner': 'x' }), ['a=b']]],
    ['tmpfs', ['/run', ['/run:suid'], ['/x:size=1m']]],
    ['read_only', [true, 'false']],
    ['init', [false, true]],
    ['deploy', [map({ resources: map({ limits: map({ memory: '64m', cpus: 0.5, pids: 5 }) }) })]],
    ['mem_limit', ['64m', -1, '1k']],
    ['HostConfig', [map({ Privileged: true })]],
    ['Privileged', [true]],
    ['cgroup_parent', ['/']],
    ['runtime', ['x']],
    ['command', ['a b', ['a'], "'"]],
    ['shm_size', ['64m', 0]],
    ['restart', ['always', 'no', 'on-failure:3', false]],
    ['logging', [map({ driver: 'syslog' }), map({ driver: 'local' })]],
    ['user', ['0', '0:0', 'a b']],
  ]

  test('no key of the engine’s HostConfig but those of the list appears, and never a privilege', () => {
    let made = 0
    let refused = 0
    const source = new Source('compose.yaml', null, { at: null, below: new Map() })
    for (let i = 0; i < 10_000; i++) {
      const service = new Map<string, Tree>([['image', 'a:1']])
      for (let n = pick(4); n > 0; n--) {
        const [key, values] = choices[pick(choices.length)]!
        service.set(key, values[pick(values.length)]!)
      }
      const tree = map({ services: map({ web: service }), volumes: map({ d: null }) })
      try {
        for (const component of planContainers(readStack(tree, source), context)) {
          const { HostConfig } = configOf(component)
          const keys = Object.keys(HostConfig)
          if (keys.some((key) => !allowedKeys.includes(key))) throw new Error(`${keys}`)
          expect(HostConfig).toMatchObject({
            Privileged: false,
            NetworkMode: 'davit-net',
            IpcMode: 'private',
            SecurityOpt: ['no-new-privileges:true'],
            CapDrop: ['ALL'],
          })
          for (const mount of HostConfig.Mounts) {
            expect(Object.keys(mount).filter((key) => key !== 'ReadOnly')).toEqual([
              'Type',
              'Source',
              'Target',
            ])
            expect(mount.Type).toBe('volume')
            expect(mount.Source).toStartWith(`davit-${context.id}-`)
          }
          made++
        }
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        refused++
      }
    }
    expect(made).toBeGreaterThan(2000)
    expect(refused).toBeGreaterThan(2000)
  })

  let state = 42
  /** Below the bound; the same in every run. */
  function pick(bound: number) {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((state / 2 ** 31) * bound)
  }
})
