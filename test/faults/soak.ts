import { readdirSync } from 'node:fs'
import { connectDocker } from '../../src/docker/index.ts'
import { residentMemory } from '../bench/process.ts'
import { comesTrue } from '../support/until.ts'
import { startLogDavit } from './log-davit.ts'
import type { LogDavit } from './log-davit.ts'
import { LogReader } from './log-reader.ts'
import type { FaultReport } from './report.ts'

/** What may differ between the beginning and the end without being a leak. */
const noise = { descriptors: 5, memory: 20 }

type Sample = { descriptors: number; memory: number; containers: number; left: number }

/**
 * Deploys, reads logs to the end, leaves others in the middle, looks at pages, and begins anew, for so
 * many seconds. What Davit holds at the end it must have held after the first rounds.
 */
export async function soak({
  seconds,
  warmUp = 6,
  command,
}: {
  seconds: number
  /** Rounds in which caches fill and the images kept for a rollback come together. */
  warmUp?: number
  command?: string[]
}): Promise<FaultReport> {
  const davit = await startLogDavit({ builder: 'auto', ...(command && { command }) })
  const samples: Sample[] = []
  try {
    const end = performance.now() + seconds * 1000
    while (performance.now() < end || samples.length < warmUp + 2) {
      await round(davit)
      samples.push(await look(davit))
    }
  } finally {
    await davit.remove()
  }
  const settled = samples.slice(warmUp)
  const third = Math.ceil(settled.length / 3)
  const [first, last] = [settled.slice(0, third), settled.slice(-third)]
  const grown = (of: (sample: Sample) => number) => median(last.map(of)) - median(first.map(of))
  const descriptors = grown((sample) => sample.descriptors)
  const memory = grown((sample) => sample.memory)
  const usual = median(first.map((sample) => sample.memory))
  const leaks = [
    Math.abs(descriptors) > noise.descriptors,
    memory > usual / 10 + noise.memory,
    last.some(({ containers }) => containers !== 1),
    last.some(({ left }) => left > 0),
  ]
  return {
    what: `${samples.length} rounds of deployments, logs, streams and pages`,
    unit: 'kinds of thing that pile up',
    rounds: leaks.length,
    bad: leaks.filter(Boolean).length,
    figures: [
      `${signed(descriptors)} descriptors`,
      `${signed(memory)} MiB on ${usual.toFixed(0)}`,
      `${last.at(-1)!.containers} container`,
      `${last.at(-1)!.left} files left in the temporary directory`,
    ].join(', '),
  }
}

async function round(davit: LogDavit) {
  const path = await davit.deploy(app())
  const readers = Array.from(
    { length: 6 },
    () => new LogReader(`${davit.url}${path}/logs`, davit.authorization),
  )
  await Promise.all(readers.slice(0, 3).map((reader) => reader.read()))
  for (const reader of readers) reader.leave()
  for (const page of ['/dashboard', path, path.replace(/\/deployments\/.*/, '')])
    await davit.client.page(page)
  const { status } = await davit.client.get<{ status: string }>(path)
  if (status !== 'running') throw new Error(`A deployment of the soak ended as ${status}`)
}

/** Prints 2,000 lines while it is built, serves, and ends as soon as it is told to. */
const app = () => `FROM busybox
RUN seq 1 2000; mkdir /www; echo ${Bun.randomUUIDv7()} > /www/index.html
EXPOSE 8080
CMD ["sh", "-c", "trap 'exit 0' TERM; httpd -p 8080 -h /www; while :; do sleep 1 & wait; done"]
`

/** When the container that was replaced is gone. */
async function look({ pid, projectId, temporary }: LogDavit): Promise<Sample> {
  const docker = connectDocker({ host: process.env.DOCKER_HOST })
  const labels = [`davit.project=${projectId}`]
  const count = async () => (await docker.listContainers({ labels, all: true })).length
  let containers = 0
  await comesTrue(15, async () => (containers = await count()) <= 1)
  return {
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    memory: residentMemory(pid),
    containers,
    left: readdirSync(temporary).length,
  }
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!
const signed = (value: number) => `${value < 0 ? '' : '+'}${value.toFixed(0)}`
