import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { connectDocker } from '../../src/docker/index.ts'
import { startDavit } from '../support/davit.ts'
import { inPairs } from './ratio.ts'
import type { Row } from './ratio.ts'
import { logInToBench } from './reader.ts'

const pairs = 7
const seconds = 10

/** 75 bytes with the line break. */
const line = '2026-11-20T23:59:59 INFO request served path=/api/items status=200 dur=12ms'

/** The log of a container that prints as fast as it can, to one client, against the engine's own. */
export async function benchContainerLogs(directory: string, executable: string[]): Promise<Row> {
  const fresh = join(directory, 'container-logs')
  mkdirSync(fresh)
  const env = { DAVIT_DATA_DIR: join(fresh, 'data') }
  const davit = await startDavit({ directory: fresh, command: executable, env })
  const authorization = await logInToBench(davit.url)
  const output = join(fresh, 'output')
  try {
    const fromDavit = (id: string) => [
      ...['-H', authorization, '-H', 'Accept: text/event-stream'],
      `${davit.url}/containers/${id}/logs?tail=0&format=html`,
    ]
    const fromEngine = (id: string) => [
      ...socketOption(),
      `http://engine/containers/${id}/logs?stdout=1&stderr=1&timestamps=1&follow=1&tail=0`,
    ]
    const values = await inPairs(pairs, {
      davit: () => linesPerSecond(fromDavit, output),
      floor: () => linesPerSecond(fromEngine, output),
    })
    const what = 'log of a container that prints without pause, one client'
    return { what, against: 'curl on the engine’s logs', unit: 'lines/s', ...values, aim: '≥ 0.90' }
  } finally {
    await davit.stop()
  }
}

/** Each time of a container of its own, lest one reads what the other left in the engine's files. */
async function linesPerSecond(argumentsFor: (id: string) => string[], output: string) {
  const docker = connectDocker({ host: process.env.DOCKER_HOST })
  const id = await docker.createContainer({
    name: `bench-${Bun.randomUUIDv7().slice(-12)}`,
    image: 'busybox:latest',
    command: ['yes', line],
    network: 'none',
    memoryBytes: 32 * 2 ** 20,
    cpus: 1,
    pidsLimit: 16,
  })
  try {
    await docker.startContainer(id)
    await Bun.sleep(1000)
    const command = ['curl', '-sN', '--max-time', String(seconds), '-o', output]
    await Bun.spawn([...command, ...argumentsFor(id)]).exited
    return (await countLines(output)) / seconds
  } finally {
    await docker.removeContainer(id, { force: true })
  }
}

/** The engine tells many lines twice when its files rotate in a hurry: only different ones count. */
async function countLines(path: string) {
  const seen = new Set<string>()
  let rest = ''
  for await (const chunk of Bun.file(path).stream().pipeThrough(new TextDecoderStream())) {
    const text = rest + chunk
    for (const [timestamp] of text.matchAll(/\d{4}-\d\d-\d\dT[\d:]{8}\.\d{9}Z/g))
      seen.add(timestamp)
    rest = text.slice(-40)
  }
  return seen.size
}

function socketOption() {
  const path = process.env.DOCKER_HOST?.replace('unix://', '') ?? '/var/run/docker.sock'
  return ['--unix-socket', path]
}
