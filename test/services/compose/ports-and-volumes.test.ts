import { describe, expect, test } from 'bun:test'
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
    '22:22',
    '80:80',
    '443:443',
    '2375:80',
    '2376:80',
    '1023:80',
    '0:80',
    '65536:80',
    '8080:0',
    '8080:65536',
    '8080-8090:80-90',
    '3000-3005',
    '80/sctp',
    '192.168.1.1:8080:80',
    '8080:80:90:100',
    'abc',
    '-1:80',
  ])('D7: %s is refused', (port) => {
    expect(refusalOf(() => web(`ports: ["${port}"]`))).toContain('services.web.ports[0]')
  })

  test('D7: two services on one port of the host are refused', () => {
    const text =
      'services:\n  a: {image: a, ports: ["8080:1"]}\n  b: {image: b, ports: ["8080:2"]}\n'
    expect(refusalOf(() => stackFrom(text))).toContain('port 8080/tcp of the host twice')
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
    expect(service.volumes).toEqual([
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
    'volumes: {data: {external: true}}',
    'volumes: {data: {driver: nfs}}',
    'volumes: {"../x": }',
  ])('D3, D4: %s is refused', (top) => {
    expect(refusalOf(() => web('volumes: []', { top }))).toContain('volumes.')
  })
})
