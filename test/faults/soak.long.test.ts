import { expect, onTestFinished, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { connectDocker } from '../../src/docker/index.ts'
import { residentMemory } from '../bench/process.ts'
import { comesTrue } from '../support/until.ts'
import { startLogDavit } from './log-davit.ts'
import type { LogDavit } from './log-davit.ts'
import { LogReader } from './log-reader.ts'

/** Deploys, reads logs to the end, leaves others in the middle, and looks at pages. */
test('rounds of deployments, logs and streams leave nothing behind', async () => {
  const davit = await startLogDavit({ builder: 'auto' })
  onTestFinished(() => davit.remove())
  await round(davit) // caches fill
  const samples = []
  for (let n = 0; n < 2; n++) {
    await round(davit)
    samples.push(await look(davit))
  }
  const [before, after] = samples as [Sample, Sample]
  expect(Math.abs(after.descriptors - before.descriptors)).toBeLessThanOrEqual(5)
  expect(after.memory - before.memory).toBeLessThan(before.memory / 10 + 20)
  expect(after).toMatchObject({ containers: 2, left: 0 })
})

type Sample = { descriptors: number; memory: number; containers: number; left: number }

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

/** When only the container that serves is there, and the one before, stopped. */
async function look({ pid, projectId, temporary }: LogDavit): Promise<Sample> {
  const docker = connectDocker({ host: process.env.DOCKER_HOST })
  const labels = [`davit.project=${projectId}`]
  const count = async () => (await docker.listContainers({ labels, all: true })).length
  let containers = 0
  await comesTrue(15, async () => (containers = await count()) <= 2)
  return {
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    memory: residentMemory(pid),
    containers,
    left: readdirSync(temporary).length,
  }
}
