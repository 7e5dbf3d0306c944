import { join } from 'node:path'
import { tarContext } from '../support/images.ts'
import { failingBuild, startLogDavit } from '../faults/log-davit.ts'
import type { LogDavit } from '../faults/log-davit.ts'
import { inPairs } from './ratio.ts'
import type { Row } from './ratio.ts'

const pairs = 7
const lines = 100_000
const readers = 10

/** Line by line, as tools print, when the readers are there. */
const script = `sleep 1; i=0; while [ $i -lt ${lines} ]; do i=$((i+1)); echo "$i INFO request served path=/api/items status=200 dur=12ms"; done`

/** The log of a long build, stored and read by many while it grows, against the engine's own answer. */
export async function benchDeploymentLog(command: string[]): Promise<Row> {
  const davit = await startLogDavit({ command })
  try {
    const values = await inPairs(pairs, {
      davit: async () => {
        const path = await davit.deploy(failingBuild(script))
        const { duration, lines: read, misplaced } = await readByMany(davit, path)
        if (misplaced > 0) throw new Error(`${misplaced} lines came twice, or not in order`)
        if (read.some((count) => count !== lines)) throw new Error(`Some readers got ${read} lines`)
        return perSecond(duration)
      },
      floor: async () => perSecond(await readFromEngine(failingBuild(script))),
    })
    return {
      what: `a build’s log of ${lines} lines, stored, and read by ${readers}`,
      against: 'curl on the engine’s answer',
      unit: 'lines/s',
      ...values,
      aim: '≥ 0.50',
    }
  } finally {
    await davit.remove()
  }
}

const perSecond = (milliseconds: number) => (lines / milliseconds) * 1000

type Read = { duration: number; lines: number[]; misplaced: number }

async function readByMany({ url, authorization }: LogDavit, path: string): Promise<Read> {
  const program = join(import.meta.dir, 'deployment-log-readers.ts')
  const options = [`${url}${path}/logs`, `Authorization: ${authorization}`, String(readers)]
  const command = [process.execPath, program, ...options]
  const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'inherit' })
  return JSON.parse(await new Response(child.stdout).text())
}

/** Milliseconds from the first line to the last. */
async function readFromEngine(dockerfile: string) {
  const context = tarContext({ Dockerfile: dockerfile })
  const path = process.env.DOCKER_HOST?.replace('unix://', '') ?? '/var/run/docker.sock'
  const options = ['-sN', '--unix-socket', path, '-H', 'Content-Type: application/x-tar']
  const call = ['--data-binary', '@-', 'http://engine/build?rm=1&forcerm=1']
  const child = Bun.spawn(['curl', ...options, ...call], { stdin: context, stdout: 'pipe' })
  let [first, last] = [0, 0]
  let end = ''
  for await (const piece of child.stdout) {
    const text = end + Buffer.from(piece).toString('latin1')
    if (text.includes('"1 INFO')) first ||= performance.now()
    if (text.includes(`\\n${lines} INFO`) || text.includes(`"${lines} INFO`))
      last = performance.now()
    end = text.slice(-20)
  }
  if (!first || !last) throw new Error('The engine’s answer has not all lines')
  return last - first
}
