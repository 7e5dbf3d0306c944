import { describe, expect, test } from 'bun:test'
import { growth, linear } from '../../support/cost.ts'
import { refusalOf } from './refusal.ts'
import { fileWith, stackFrom, web } from './stack.ts'

describe('ports', () => {
  test('have one form, short or long', () => {
    const lines = `
ports:
  - 80
  - "8080:80"
  - "127.0.0.1:9000:90/udp"
  - "[::1]:9001:91"
  - "127.0.0.1::92"
  - target: 5432
    published: "15432"
    host_ip: 0.0.0.0
    protocol: tcp
    mode: host`
    expect(web(lines).ports).toEqual([
      { container: 80, host: null, protocol: 'tcp', loopback: false },
      { container: 80, host: 8080, protocol: 'tcp', loopback: false },
      { container: 90, host: 9000, protocol: 'udp', loopback: true },
      { container: 91, host: 9001, protocol: 'tcp', loopback: true },
      { container: 92, host: null, protocol: 'tcp', loopback: true },
      { container: 5432, host: 15432, protocol: 'tcp', loopback: false },
    ])
  })

  test.each([
    '0:80',
    '65536:80',
    '8080:0',
    '8080:65536',
    '8080-8090:80-91',
    '3000-3128',
    '3005-3000',
    '80-',
    '80/sctp',
    '192.168.1.1:8080:80',
    '8080:80:90:100',
    'abc',
    '-1:80',
  ])('D7: %s is refused', (port) => {
    expect(refusalOf(() => web(`ports: ["${port}"]`))).toContain('services.web.ports[0]')
  })

  test.each([22, 80, 443, 1023, 2375, 2376])(
    'D7: port %p of the host isn’t given away, but another one is chosen',
    (port) => {
      const { services, notes } = stackFrom(fileWith(`ports: ["${port}:80"]`))
      expect(services.get('web')!.ports).toMatchObject([{ container: 80, host: null }])
      expect(notes).toEqual([
        `services.web.ports[0] uses port ${port} of this server, which isn’t available. Davit chooses one.`,
      ])
    },
  )

  test('of a range are one each, and one port may have any of several', () => {
    const lines = `
ports: ["7000-7002:70-72/udp", "90-91", "8000-8010:80", {target: 5000-5001, published: "5000-5001"}]
expose: ["3000-3002/tcp"]`
    const { ports, expose } = web(lines)
    expect(ports.map(({ container, host, protocol }) => [container, host, protocol])).toEqual([
      [70, 7000, 'udp'],
      [71, 7001, 'udp'],
      [72, 7002, 'udp'],
      [90, null, 'tcp'],
      [91, null, 'tcp'],
      [80, null, 'tcp'],
      [5000, 5000, 'tcp'],
      [5001, 5001, 'tcp'],
    ])
    expect(expose).toEqual([3000, 3001, 3002])
    expect(refusalOf(() => web('ports: ["1000-1100:1000-1100", "2000-2100:2000-2100"]'))).toContain(
      'services.web.ports are 202 ports; the maximum is 128',
    )
  })

  test('D7: two services on one port of the host are refused', () => {
    const text =
      'services:\n  a: {image: a, ports: ["8080:1"]}\n  b: {image: b, ports: ["8080:2"]}\n'
    expect(refusalOf(() => stackFrom(text))).toContain('host port 8080/tcp twice')
    expect(stackFrom(text.replace('"8080:2"', '"8080:2/udp"')).services.size).toBe(2)
  })
})

describe('volumes', () => {
  const top = 'volumes: {data: , other: {driver: local}}'

  test('have one form, short or long, and a name of their own where the file gives none', () => {
    const lines = `
volumes:
  - data:/data
  - data:/again:ro,z
  - /var/cache/nginx
  - {type: volume, source: other, target: /other/, read_only: true}
  - {type: tmpfs, target: /run, tmpfs: {size: 64m, mode: 1777}}
tmpfs: [/tmp, "/var/tmp:size=1m,mode=0700"]`
    const service = web(lines, { top })
    expect(service.volumes).toMatchObject([
      { volume: 'data', path: '/data', readOnly: false },
      { volume: 'data', path: '/again', readOnly: true },
      { volume: 'web-var-cache-nginx', path: '/var/cache/nginx', readOnly: false },
      { volume: 'other', path: '/other', readOnly: true },
    ])
    expect(service.tmpfs).toEqual([
      { path: '/run', options: 'size=67108864,mode=1777' },
      { path: '/tmp', options: '' },
      { path: '/var/tmp', options: 'size=1m,mode=0700' },
    ])
  })

  test('whose content is given become files to write, never mounts of the host', () => {
    const files = new Map([
      ['./init.sql', 'select 1'],
      ['conf/a.xml', '<a/>'],
      ['./conf/sub/run.sh', '#!/bin/sh\n'],
    ])
    const lines = `
volumes:
  - ./init.sql:/docker-entrypoint-initdb.d/init.sql:ro
  - ./conf:/etc/app
  - {type: bind, source: ./x, target: /etc/x, content: "hello"}
configs: [plain, {source: other, target: /etc/other, mode: 0600}]`
    const top = 'configs: {plain: {content: a}, other: {file: ./conf/a.xml}}'
    const stack = stackFrom(fileWith(lines, top), { files })
    const service = stack.services.get('web')!
    expect(service.files).toEqual([
      { path: '/docker-entrypoint-initdb.d/init.sql', content: 'select 1', mode: 0o644 },
      { path: '/etc/app/a.xml', content: '<a/>', mode: 0o644 },
      { path: '/etc/app/sub/run.sh', content: '#!/bin/sh\n', mode: 0o755 },
      { path: '/etc/x', content: 'hello', mode: 0o644 },
      { path: '/plain', content: 'a', mode: 0o644 },
      { path: '/etc/other', content: '<a/>', mode: 0o600 },
    ])
    expect([...service.binds, ...service.volumes, ...stack.dangers]).toEqual([])
  })

  test('may come from other services, with the network names that links give', () => {
    const text = `services:
  web: {image: a, links: ["db:database", cache], volumes_from: [db], volumes: ["own:/data/a"]}
  db: {image: b, volumes: ["data:/data", "other:/data/a"], configs: [c]}
  cache: {image: c}
volumes: {own: , data: , other: }
configs: {c: {content: x}}
`
    const { services } = stackFrom(text)
    const { volumes, files, dependsOn } = services.get('web')!
    expect(volumes.map(({ volume, path }) => [volume, path])).toEqual([
      ['own', '/data/a'],
      ['data', '/data'],
    ])
    expect(files).toMatchObject([{ path: '/c' }])
    expect(dependsOn.map(({ service }) => service)).toEqual(['db', 'cache'])
    expect(services.get('db')!.aliases).toEqual(['database'])
  })

  test('that many services share cost no more than they are', () => {
    const share = (count: number) => {
      const names = Array.from({ length: count }, (_, index) => `c${index}`)
      const users = ['b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'].map((name) => `${name}: *user`)
      stackFrom(`
x-config: &config {content: x}
x-user: &user {image: b, volumes_from: [${Array(30).fill('a').join(',')}]}
configs: {${names.map((name) => `${name}: *config`).join(',')}}
services: {a: {image: a, configs: [${names.join(',')}]}, ${users.join(',')}}
`)
    }
    expect(growth(share, 250)).toBeLessThan(linear)
  })

  test('mounted twice in the same way are mounted once', () => {
    expect(web('volumes: ["data:/x", "data:/x"]', { top }).volumes).toHaveLength(1)
    expect(refusalOf(() => web('volumes: ["data:/x", "other:/x"]', { top }))).toContain('second')
  })

  test('of a file for another platform need no declaration, and stand in for directories', () => {
    const lines =
      'volumes: ["new:/a", "./data/:/b", "~/x:/c", "../files/conf:/d", {type: bind, source: ./e, target: /e, isDirectory: true}]'
    const stack = stackFrom(fileWith(lines), { foreign: true })
    expect(stack.services.get('web')!.volumes.map(({ volume, path }) => [volume, path])).toEqual([
      ['new', '/a'],
      ['data', '/b'],
      ['x', '/c'],
      ['files-conf', '/d'],
      ['e', '/e'],
    ])
    expect(stack.dangers).toEqual([])
    expect(stackFrom(fileWith('volumes: ["/x:/y"]'), { foreign: true }).dangers).toHaveLength(1)
  })

  test.each([
    ['of two paths', ['/a/b', '/a-b'], ['web-a-b', 'web-a-b-*']],
    ['of a path and a named one', ['/a/b', 'web-a-b:/x'], ['web-a-b-*', 'web-a-b']],
    ['of two directories', ['./data/db:/a', './data-db:/b'], ['data-db', 'data-db-*']],
    ['of a directory and a named one', ['./data:/a', 'data:/b'], ['data-*', 'data']],
    ['of one directory', ['./data:/a', './data/:/b'], ['data', 'data']],
    ['of another spelling', ['./data:/a', './x/../data:/b'], ['data', 'x-data']],
  ])('%s have one name only where they are one', (_, mounts, names) => {
    const top = 'volumes: {web-a-b: , data: }'
    const { services } = stackFrom(fileWith(`volumes: ${JSON.stringify(mounts)}`, top), {
      foreign: true,
    })
    const found = services.get('web')!.volumes.map(({ volume }) => volume)
    expect(found.map((name) => name.replace(/-[0-9a-f]{8}$/, '-*'))).toEqual(names)
  })

  test.each(['./x:/y', '~:/y', '~/x:/y', '..:/y', '.:/y', '../../etc:/y', 'a/b:/y'])(
    'D2: %s is refused',
    (mount) => {
      expect(refusalOf(() => web(`volumes: ["${mount}"]`))).toContain('named volume')
    },
  )

  test.each([
    'data:y',
    'data:/',
    'data:/a/../..',
    'data:/x:rshared',
    'data:/x:ro:z',
    'un:/x',
    '$x:/x',
  ])('D2: %s is refused too', (mount) => {
    expect(refusalOf(() => web(`volumes: ["${mount}"]`, { top }))).toContain('volumes[0]')
  })

  test.each([
    ['/:/host', 'host_path', '/'],
    ['/var/run/docker.sock:/s', 'engine_socket', '/var/run/docker.sock'],
    ['/run//containerd/containerd.sock:/s:ro', 'engine_socket', '/run/containerd/containerd.sock'],
    ['/data/../etc:/x', 'host_path', '/etc'],
  ])('D2: %s is a danger, by its real path', (mount, kind, value) => {
    const { dangers } = stackFrom(fileWith(`volumes: ["${mount}"]`))
    expect(dangers).toMatchObject([{ service: 'web', kind, value, key: `web ${kind} ${value}` }])
  })

  test.each([
    'volumes: {data: {driver_opts: {type: none, o: bind, device: /}}}',
    'volumes: {data: {driver_opts: {type: "", device: /}}}',
    'volumes: {data: {external: true}}',
    'volumes: {data: {driver: nfs}}',
    'volumes: {"../x": }',
  ])('D3, D4: %s is refused', (top) => {
    expect(refusalOf(() => web('volumes: []', { top }))).toContain('volumes.')
  })
})
