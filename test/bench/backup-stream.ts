import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectDocker } from '../../src/docker/index.ts'
import { ensureRestic } from '../support/images/restic.ts'
import { removeFromEngine } from '../support/remove-from-engine.ts'
import { residentMemory } from './process.ts'
import type { Row } from './ratio.ts'

/** GB of a dump that nothing compresses. */
const gigabytes = Number(process.env.BENCH_GB ?? 5)
const bytes = gigabytes * 1e9

/** MiB. */
const memoryAim = 150

/** A large dump from one container into another's restic and back, against restic that makes it itself. */
export async function benchBackupStream(): Promise<Row[]> {
  const image = await ensureRestic('0.18')
  const instanceId = Bun.randomUUIDv7()
  const docker = connectDocker({ host: process.env.DOCKER_HOST })
  const folder = mkdtempSync(join(tmpdir(), 'davit-bench-target-'))
  try {
    const alone = await storeAlone({ docker, image, instanceId, path: join(folder, 'alone') })
    rmSync(join(folder, 'alone'), { recursive: true })
    const davit = await storeThroughDavit({ image, instanceId, path: join(folder, 'davit') })
    return [
      {
        what: `${gigabytes} GB stored from another container`,
        ...{ against: 'restic alone', unit: 's', aim: '≤ 1.2' },
        ...{ davit: [davit.store], floor: [alone.store] },
      },
      {
        what: `${gigabytes} GB read back`,
        ...{ against: 'restic alone', unit: 's', aim: '≤ 1.2' },
        ...{ davit: [davit.read], floor: [alone.read] },
      },
      {
        what: 'resident memory meanwhile',
        ...{ against: `${memoryAim} MiB`, unit: 'MiB', aim: '≤ 1' },
        ...{ davit: [davit.peak], floor: [memoryAim] },
      },
    ]
  } finally {
    await removeFromEngine(docker, [`davit.instance=${instanceId}`])
    rmSync(folder, { recursive: true, force: true })
  }
}

type Place = { image: string; instanceId: string; path: string }

async function storeThroughDavit({ path, ...given }: Place) {
  makeFolder(path)
  const target = { id: 'bench', kind: 'directory', password: 'key', path }
  const child = Bun.spawn(
    [
      process.execPath,
      join(import.meta.dir, 'backup-stream-davit.ts'),
      JSON.stringify({ ...given, target, bytes }),
    ],
    { stdout: 'pipe', stderr: 'inherit' },
  )
  let peak = 0
  const look = setInterval(() => (peak = Math.max(peak, memoryOf(child.pid))), 100)
  const output = await child.stdout.text()
  clearInterval(look)
  if ((await child.exited) !== 0) throw new Error('The backup failed')
  return { ...(JSON.parse(output) as { store: number; read: number }), peak }
}

function memoryOf(pid: number) {
  try {
    return residentMemory(pid)
  } catch {
    return 0 // it has ended
  }
}

/** With the same limits. */
async function storeAlone({
  docker,
  image,
  instanceId,
  path,
}: Place & { docker: ReturnType<typeof connectDocker> }) {
  makeFolder(path)
  const { cpus, memoryBytes } = await docker.machine()
  const run = async (line: string) => {
    const started = performance.now()
    const { exitCode, stderr } = await docker.runPiped({
      name: `test-bench-${crypto.randomUUID()}`,
      image,
      labels: { 'davit.instance': instanceId },
      network: 'none',
      entrypoint: ['sh', '-c', line],
      env: { RESTIC_REPOSITORY: '/target', RESTIC_PASSWORD: 'key', HOME: '/tmp' },
      tmpfs: [{ path: '/tmp', options: 'size=1g' }],
      ...{ cpus: Math.max(0.5, cpus / 2), memoryBytes: memoryBytes / 2, pidsLimit: 256 },
      granted: { binds: [{ source: path, path: '/target', readOnly: false }] },
    })
    if (exitCode !== 0) throw new Error(stderr)
    return (performance.now() - started) / 1000
  }
  await run('restic init')
  const store = await run(`head -c ${bytes} /dev/urandom | restic backup --stdin`)
  return { store, read: await run('restic dump latest /stdin >/dev/null') }
}

const makeFolder = (path: string) => Bun.spawnSync(['mkdir', '-p', path])
