import { counted } from '../../src/web/units.ts'
import { anEdgeOfItsOwn } from '../load/site.ts'
import { askEngine } from '../support/machine/engine.ts'
import { startDavit } from '../support/davit.ts'
import { anInstallation } from '../support/installation.ts'
import { until } from '../support/until.ts'
import { residentMemory } from './process.ts'
import type { Row } from './ratio.ts'

/** Hosts, and whether someone has visited Davit since its start. */
const cases = [
  { count: 1, isVisited: false },
  { count: 50, isVisited: false },
  { count: 500, isVisited: false },
  { count: 50, isVisited: true },
]

/** Hosts of one environment. */
const most = 50

/** MiB; idle, with 50 hosts. */
const aim = 130

/** Milliseconds after which a server that nobody asks anything counts as idle. */
const settleTime = 10_000

/** Resident memory of Davit and its Caddy together, with so many hosts, idle. */
export async function benchEdgeMemory(_: string, executable: string): Promise<Row[]> {
  const rows: Row[] = []
  for (const one of cases) {
    const used = [await memoryWith(one, executable), await memoryWith(one, executable)]
    const { count, isVisited } = one
    rows.push({
      what: `memory of Davit and Caddy, idle, ${counted(count, 'host')}${isVisited ? ', after a visit' : ''}`,
      ...{ against: `${aim} MiB`, unit: 'MiB', davit: used, floor: used.map(() => aim) },
      aim: count > most || isVisited ? '–' : '≤ 1',
    })
  }
  return rows
}

async function memoryWith({ count, isVisited }: (typeof cases)[number], executable: string) {
  const { settings, http } = await anEdgeOfItsOwn()
  const command = [executable, 'serve']
  const davit = anInstallation({ command }, settings)
  try {
    const first = await davit.start()
    const names = Array.from({ length: count }, (_, n) => `host-${n}.test`)
    for (let from = 0; from < count; from += most) {
      const site = { name: `site-${from}`, repositoryUrl: 'https://git.example.com/a/b.git' }
      const { id } = await first.client.post<{ id: string }>('/projects', site)
      const envs = `/projects/${id}/envs`
      const { items } = await first.client.get<{ items: { id: string }[] }>(envs)
      const domains = names.slice(from, from + most)
      await first.client.put(`${envs}/${items[0]!.id}`, { domains })
    }
    await untilAnswers(http, names.at(-1)!)
    await davit.stop()
    // as after a restart: what creating them took is gone
    const again = await startDavit({ directory: davit.directory, command, env: davit.settings })
    try {
      if (isVisited) await fetch(`${again.url}/auth/login`)
      await untilAnswers(http, names.at(-1)!)
      await Bun.sleep(settleTime)
      return residentMemory(again.pid) + residentMemory(await caddyOf(davit))
    } finally {
      await again.stop()
    }
  } finally {
    await davit.leave()
  }
}

const untilAnswers = (port: number, host: string) =>
  until(async () => {
    const headers = { Host: host }
    const response = await fetch(`http://127.0.0.1:${port}/`, { headers }).catch(() => null)
    return response?.status === 503 // nothing is deployed there
  })

async function caddyOf(davit: ReturnType<typeof anInstallation>) {
  const labels = [...davit.labels(), 'davit.kind=edge']
  const [found] = await davit.docker.listContainers({ labels })
  const answer = await askEngine(`/containers/${found!.id}/json`)
  return ((await answer.json()) as { State: { Pid: number } }).State.Pid
}
