import { harmlessCapabilities } from '../../src/services/compose/dangers.ts'

/** Of what is being made: the names of its volumes begin with it. */
export const id = '0198c0de-0000-7000-8000-00000000cafe'

/** Random, and the same each time: a failure can be looked at again. */
export function random(seed: number) {
  const next = () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    return seed / 2 ** 32
  }
  const upTo = (count: number) => Math.floor(next() * count)
  const pick = <Item>(items: readonly Item[]) => items[upTo(items.length)]!
  const some = <Item>(items: readonly Item[], most: number) =>
    Array.from({ length: upTo(most + 1) }, () => pick(items))
  return { upTo, pick, some }
}

type Random = ReturnType<typeof random>

const paths = ['/', '/data', '/var/run/docker.sock', '..', './x', '~', '/proc', '/etc', '/a b']
const names = ['data', 'other', `davit-${id}-x`, '../x', 'A', '__proto__', 'constructor', '']
const odd = [true, false, 0, -1, 1e9, '', 'host', 'none', null, [], {}, 'container:x', '${X}']
const capabilities = [
  'SYS_ADMIN',
  'ALL',
  'KILL',
  'NET_RAW',
  'CAP_SYS_PTRACE',
  'chown',
  'SYS_MODULE',
]

/** A value for a key of a service: often a good one, often what an attack would write. */
const values: Record<string, (r: Random) => unknown> = {
  privileged: (r) => r.pick([true, false, 'true', 'yes', 1]),
  network_mode: (r) => r.pick(['host', 'bridge', 'none', 'container:x', 'service:a']),
  pid: (r) => r.pick(['host', 'container:x', 'private', '']),
  ipc: (r) => r.pick(['host', 'private', 'shareable', 'container:x']),
  uts: (r) => r.pick(odd),
  userns_mode: (r) => r.pick(odd),
  cap_add: (r) => r.some([...capabilities, ...harmlessCapabilities], 3),
  cap_drop: (r) => r.some(['ALL', 'CHOWN', ...capabilities], 2),
  security_opt: (r) => r.some(['seccomp=unconfined', 'apparmor=unconfined', 'label:disable'], 2),
  devices: (r) => r.some(['/dev/sda', '/dev/fuse:/dev/fuse:rwm', '/etc/passwd'], 2),
  sysctls: (r) => ({ [r.pick(['net.core.somaxconn', 'kernel.core_pattern', 'vm.x'])]: r.upTo(9) }),
  ulimits: (r) => ({ [r.pick(['nofile', 'nproc', 'x'])]: r.pick([1, { soft: 1, hard: 2 }, 'x']) }),
  volumes: (r) =>
    r
      .some(names, 3)
      .map(
        (name) => `${r.pick([name, r.pick(paths)])}:${r.pick(paths)}${r.pick(['', ':ro', ':z'])}`,
      ),
  tmpfs: (r) => r.some(['/run', '/tmp:size=1m', '/run:suid', '/x:exec,dev'], 2),
  ports: (r) =>
    r.some(['80', '8080:80', '0.0.0.0:22:22', '127.0.0.1:9000:90', '1-70000', '53/udp'], 2),
  extra_hosts: (r) => r.some(['a:10.0.0.1', 'b:host-gateway', 'c'], 2),
  labels: (r) => ({ [r.pick(['a', 'davit.owner', 'davit.instance', 'x.y'])]: 'z' }),
  logging: (r) => ({ driver: r.pick(['json-file', 'syslog', 'none', 'gelf', 'local']) }),
  restart: (r) => r.pick(['always', 'no', 'on-failure:3', 'unless-stopped', 'x']),
  read_only: (r) => r.pick([true, false, 'x']),
  init: (r) => r.pick([true, false]),
  user: (r) => r.pick(['root', '0:0', '1000', '0; id']),
  mem_limit: (r) => r.pick(['64m', '1g', '1k', 0, -1]),
  shm_size: (r) => r.pick(['1m', '1g', -1]),
  cgroup_parent: (r) => r.pick(odd),
  runtime: (r) => r.pick(odd),
  oom_kill_disable: (r) => r.pick(odd),
  oom_score_adj: (r) => r.pick([-1000, 0]),
  volumes_from: (r) => r.pick(odd),
  group_add: (r) => r.pick(odd),
  links: (r) => r.pick(odd),
  command: (r) => r.pick(['sh -c "id"', ['a'], '$(id)']),
  environment: (r) => ({ [r.pick(names)]: r.pick(['x', 'a\nb', '${X}']) }),
}

export function aFile(r: Random) {
  const service: Record<string, unknown> = { image: 'busybox' }
  const keys = Object.keys(values)
  for (const key of new Set(r.some(keys, 4))) service[key] = values[key]!(r)
  const volumes = Object.fromEntries(names.filter(Boolean).map((name) => [name, null]))
  return { services: { web: service }, volumes: r.pick([volumes, { data: null, other: null }]) }
}

/** What is sent for an environment: good and bad, and some that no user may set. */
export const someSettings = (r: Random) => ({
  name: r.pick(['production', 'pr-1', '../x']),
  port: r.pick([0, 80, 65_535, -1, null]),
  memoryMb: r.pick([16, 512, 4_194_304, 0]),
  cpus: r.pick([0.05, 1, 512, 0]),
  volumes: r.some(names, 2).map((name) => `${r.pick([name, r.pick(paths)])}:${r.pick(paths)}`),
  privileged: true,
  capAdd: ['ALL'],
})
