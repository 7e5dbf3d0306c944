import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { connectDocker } from '../../src/docker/index.ts'
import { DavitClient } from '../demo/client.ts'
import { startDavit } from '../support/davit.ts'
import { inPairs } from './ratio.ts'
import type { Row } from './ratio.ts'

const count = 200
const requests = 20
const pairs = 7

/** The page of all containers for an admin, against the engine's own list that it is made from. */
export async function benchContainers(directory: string, executable: string): Promise<Row> {
  const fresh = join(directory, 'containers')
  mkdirSync(fresh)
  const env = {
    DAVIT_DATA_DIR: join(fresh, 'data'),
    DAVIT_RATE_LIMIT: '1000000',
    DAVIT_RATE_BURST: '1000000',
  }
  const davit = await startDavit({ directory: fresh, command: [executable], env })
  const client = new DavitClient({ url: davit.url, signal: AbortSignal.timeout(300_000) })
  await client.get('/health') // brings the cookie with the CSRF token
  await client.post('/auth/register', { email: 'bench@example.com', password: Bun.randomUUIDv7() })
  const made = await makeContainers()

  try {
    const page = () => timed(() => expectWhole(client))
    const list = () => timed(engineList)
    await page() // brings the code up to speed
    return {
      what: `page of containers, ${count} of them`,
      against: 'the engine’s own list',
      unit: 'ms',
      ...(await inPairs(pairs, { davit: page, floor: list })),
      aim: '≤ 2',
    }
  } finally {
    await davit.stop()
    await made.remove()
  }
}

/** Milliseconds of one, the mean of many. */
async function timed(ask: () => Promise<unknown>) {
  const from = performance.now()
  for (let request = 0; request < requests; request++) await ask()
  return (performance.now() - from) / requests
}

async function expectWhole(client: DavitClient) {
  const text = await client.page('/containers')
  const all = Number(/ of (\d+)/.exec(text)?.[1] ?? 0)
  if (all < count) throw new Error(`The page knows ${all} containers only`)
}

async function engineList() {
  const unix = process.env.DOCKER_HOST?.replace('unix://', '') ?? '/var/run/docker.sock'
  const answer = await fetch('http://engine/containers/json?all=1', { unix })
  return answer.json()
}

async function makeContainers() {
  const docker = connectDocker({ host: process.env.DOCKER_HOST })
  const ids: string[] = []
  const name = `bench-${Bun.randomUUIDv7().slice(-12)}`
  while (ids.length < count)
    ids.push(
      await docker.createContainer({
        name: `${name}-${ids.length}`,
        image: 'busybox:latest',
        network: 'bridge',
        memoryBytes: 32 * 2 ** 20,
        cpus: 1,
        pidsLimit: 64,
      }),
    )
  const remove = async () => {
    for (const id of ids) await docker.removeContainer(id, { force: true })
  }
  return { remove }
}
