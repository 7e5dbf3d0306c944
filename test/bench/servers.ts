import { join } from 'node:path'
import { serverId } from '../support/servers.ts'
import { firstByte } from './pages.ts'
import { processorTime, residentMemory } from './process.ts'
import { percentile } from './ratio.ts'
import type { Row } from './ratio.ts'

const size = { servers: 50, apps: 200, replicas: 5 }
const simulated = `${size.servers} simulated servers, ${size.apps * size.replicas} containers`

/** Loads of a page for one figure, and how many figures. */
const loads = 20
const rounds = 3

/** Milliseconds in which a page begins, and MiB. */
const aims = { page: 150, memory: 150 }

/** Milliseconds in which nobody asks anything. */
const restTime = 20_000

/** Pages among many servers, and the memory of Davit and the simulated engines in one process. */
export async function benchServers(directory: string): Promise<Row[]> {
  const davit = await start(await compile(directory))
  /** The 95th percentile, and the milliseconds of processor for one, in which Davit’s background is included. */
  const page = async (path: string) => {
    const before = processorTime(davit.pid)
    const headers = { Accept: 'text/html', Cookie: davit.cookie }
    const times: number[] = []
    for (let load = 0; load < loads; load++)
      times.push(await firstByte(new URL(path, davit.url).href, headers))
    const computed = ((processorTime(davit.pid) - before) * 1000) / loads
    return { begins: percentile(times, 0.95), computed }
  }
  const rows: Row[] = []
  const add = (row: Pick<Row, 'what' | 'unit' | 'davit'>, aim: number) =>
    rows.push({
      ...{ ...row, what: `${row.what}, ${simulated}` },
      ...{ against: `${aim} ${row.unit}`, floor: row.davit.map(() => aim), aim: '≤ 1' },
    })
  try {
    const before = processorTime(davit.pid)
    await Bun.sleep(restTime)
    const rest = (processorTime(davit.pid) - before) / (restTime / 1000)
    const idle = residentMemory(davit.pid)
    const environment = `/projects/${davit.app.project}/envs/${davit.app.environment}`
    const pages = {
      ...{ dashboard: '/dashboard', containers: '/containers', map: '/map' },
      ...{ search: '/search?q=server7', servers: '/settings/servers' },
      ...{ server: `/settings/servers/${serverId(7)}`, environment },
    }
    for (const [name, path] of Object.entries(pages)) {
      await page(path) // warm
      const found: Awaited<ReturnType<typeof page>>[] = []
      for (let round = 0; round < rounds; round++) found.push(await page(path))
      const begins = found.map((one) => one.begins)
      add(
        { what: `page of ${name}: first byte, 95th percentile`, unit: 'ms', davit: begins },
        aims.page,
      )
      const computed = found.map((one) => one.computed)
      add({ what: `page of ${name}: processor`, unit: 'ms', davit: computed }, aims.page)
    }
    add({ what: 'resident memory at rest', unit: 'MiB', davit: [idle] }, aims.memory)
    const used = residentMemory(davit.pid)
    add({ what: 'resident memory after its pages', unit: 'MiB', davit: [used] }, aims.memory)
    await Bun.sleep(restTime)
    const left = residentMemory(davit.pid)
    const later = `resident memory ${restTime / 1000} s later`
    add({ what: later, unit: 'MiB', davit: [left] }, aims.memory)
    add({ what: 'processor at rest', unit: '% of one', davit: [rest * 100] }, 10)
    return rows
  } finally {
    davit.stop()
  }
}

async function compile(directory: string) {
  const outfile = join(directory, 'servers-davit')
  const source = join(import.meta.dir, 'servers-davit.ts')
  const assets = ['--asset', 'drizzle', '--asset', 'assets', '--asset', 'src/services/templates']
  // as the executable is compiled
  const policy = ['--compile-jit-policy=1000', '--bytecode', '--splitting', '--format=esm']
  const flags = ['--compile', ...policy, '--minify', ...assets]
  const worker = 'src/parse-worker.ts'
  const command = [process.execPath, 'build', ...flags, '--outfile', outfile, source, worker]
  const cwd = join(import.meta.dir, '../..')
  const child = Bun.spawn(command, { cwd, stdout: 'ignore', stderr: 'inherit' })
  if ((await child.exited) !== 0) throw new Error('The simulation does not compile')
  return outfile
}

type Started = { url: string; cookie: string; app: { project: string; environment: string } }

async function start(executable: string) {
  const { servers, apps, replicas } = size
  const child = Bun.spawn([executable, ...[servers, apps, replicas].map(String)], {
    ...{ stdin: 'ignore', stdout: 'pipe', stderr: 'ignore' },
  })
  for await (const chunk of child.stdout) {
    const started = JSON.parse(Buffer.from(chunk).toString()) as Started
    return { ...started, pid: child.pid, stop: () => child.kill('SIGKILL') }
  }
  throw new Error('The simulation does not start')
}
