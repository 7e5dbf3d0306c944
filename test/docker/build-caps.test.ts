import { expect, test } from 'bun:test'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildCaps, classicCaps } from '../../src/docker/build-caps.ts'
import { capContainer } from '../../src/docker/buildkit-caps.ts'
import type { ControlGroups } from '../../src/docker/control-groups.ts'
import { findControlGroups } from '../../src/docker/control-groups.ts'
import { aFolder } from '../support/folder.ts'

const GiB = 2 ** 30

test.each([
  [1, 1, 1, 0.5, 0.75],
  [2, 2, 1, 1, 1.5],
  [4, 2, 1, 8 / 3, 1.5],
  [24, 8, 1, 16, 7.5],
  [24, 8, 4, 4, 1.87],
  [1, 1, 64, 1 / 128, 0.1],
])(
  'of %d GiB and %d processors one of %d builds may use %d GiB and %d',
  (memory, cpus, builds, share, processors) => {
    const settings = { buildMemory: null, buildCpus: null, buildConcurrency: builds }
    expect(buildCaps(settings, { memoryBytes: memory * GiB, cpus })).toEqual({
      memoryBytes: Math.floor(share * GiB),
      cpus: processors,
      builds,
    })
  },
)

test('what is set counts, but no machine has more processors than it has', () => {
  const settings = { buildMemory: 512, buildCpus: 8, buildConcurrency: 2 }
  const caps = buildCaps(settings, { memoryBytes: 4 * GiB, cpus: 2 })
  expect(caps).toEqual({ memoryBytes: 512, cpus: 2, builds: 2 })
  expect(classicCaps(caps)).toEqual({
    memory: 512,
    memswap: 512,
    cpuperiod: 100_000,
    cpuquota: 200_000,
  })
})

/** A tree as the second version of control groups has it, where a group has its files from the start. */
function aTree(...groups: string[]) {
  const root = aFolder()
  for (const group of ['.', ...groups]) {
    mkdirSync(join(root, group), { recursive: true })
    for (const file of ['cgroup.procs', 'memory.max', 'memory.swap.max', 'cpu.max'])
      writeFileSync(join(root, group, file), '')
  }
  const read = (group: string) =>
    ['memory.max', 'memory.swap.max', 'cpu.max'].map((file) =>
      readFileSync(join(root, group, file), 'utf8'),
    )
  const tree: ControlGroups = { version: 2, memory: root, cpu: root }
  return { root, tree, read }
}

const lives = async () => true
const untouched = ['', '', '']

test('builds that share a group are held together', async () => {
  const { tree, read } = aTree('docker/buildkit', 'docker/buildkit/one')
  const caps = { memoryBytes: GiB, cpus: 1.5, builds: 1 }
  await capContainer(tree, { group: '/docker/buildkit/one', lives }, caps)
  expect(read('docker/buildkit')).toEqual([String(GiB), '0', '150000 100000'])
  expect(read('docker/buildkit/one')).toEqual(untouched)
})

test('one build of several that share a group is held by its own too', async () => {
  const { tree, read } = aTree('docker/buildkit', 'docker/buildkit/one')
  const caps = { memoryBytes: GiB, cpus: 0.5, builds: 3 }
  await capContainer(tree, { group: '/docker/buildkit/one', lives }, caps)
  expect(read('docker/buildkit')).toEqual([String(3 * GiB), '0', '150000 100000'])
  expect(read('docker/buildkit/one')).toEqual([String(GiB), '0', '50000 100000'])
})

test('a build in a group of its own among those of systemd is found by its name', async () => {
  const place = 'system.slice/system.slice:docker:one'
  const { tree, read } = aTree('system.slice', place)
  const caps = { memoryBytes: GiB, cpus: 1, builds: 1 }
  await capContainer(tree, { group: 'system.slice:docker:one', lives }, caps)
  expect(read(place)).toEqual([String(GiB), '0', '100000 100000'])
  expect(read('system.slice')).toEqual(untouched)
})

test('a build that has ended before its group was there is let be', async () => {
  const { tree, read } = aTree()
  let looks = 3
  const container = { group: 'system.slice:docker:one', lives: async () => looks-- > 0 }
  await capContainer(tree, container, { memoryBytes: GiB, cpus: 1, builds: 1 })
  expect(read('.')).toEqual(untouched)
})

test('control groups are found where they are mounted, of either version', async () => {
  const { root } = aTree('memory', 'cpu,cpuacct')
  const mountinfo = (...mounts: string[]) => {
    const file = join(root, 'mountinfo')
    writeFileSync(file, mounts.join('\n'))
    return findControlGroups(file)
  }
  const first = (controllers: string) =>
    `31 30 0:26 / ${root}/${controllers} rw shared:9 - cgroup cgroup rw,${controllers}`
  const second = (path: string, from = '/') =>
    `32 30 0:27 ${from} ${path} rw,nosuid - cgroup2 cgroup2 rw`
  expect(await mountinfo(second('/none'), first('memory'), first('cpu,cpuacct'))).toEqual({
    version: 1,
    memory: `${root}/memory`,
    cpu: `${root}/cpu,cpuacct`,
  })
  expect(await mountinfo(second(root))).toEqual({ version: 2, memory: root, cpu: root })
  expect(await mountinfo(second(root, '/docker/abc'))).toBeNull()
  expect(await mountinfo(second('/none'))).toBeNull()
  expect(await mountinfo('22 1 8:1 / / rw - ext4 /dev/vda rw')).toBeNull()
})
