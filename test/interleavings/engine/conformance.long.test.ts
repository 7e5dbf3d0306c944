import { afterEach, describe, expect, test } from 'bun:test'
import { connectDocker } from '../../../src/docker/index.ts'
import type { Docker } from '../../../src/docker/index.ts'
import { fakeDocker } from './docker.ts'
import type { Pace } from './docker.ts'
import { FakeEngine } from './engine.ts'
import { scenarios } from './scenarios.ts'
import type { Stage } from './stage.ts'

/** Answers at once, and by the real clock. */
const atOnce: Pace = {
  turn: async (_, { signal }, work) => (signal?.throwIfAborted(), work()),
  wait: ({ signal }, begin) =>
    new Promise((resolve, reject) => {
      const giveUp = begin(resolve, reject)
      signal?.addEventListener('abort', () => (giveUp(), reject(signal.reason)))
    }),
  hungUp: () => new Error('The connection ended.'),
}

const clock = {
  now: Date.now,
  after(milliseconds: number, work: () => void) {
    const timer = setTimeout(work, milliseconds)
    return () => clearTimeout(timer)
  },
}

const real = connectDocker()
let count = 0
let labels: Record<string, string> = {}

afterEach(async () => {
  const mine = { labels: Object.entries(labels).map((label) => label.join('=')) }
  for (const { id } of await real.listContainers({ ...mine, all: true }))
    await real.removeContainer(id, { force: true, volumes: true })
  for (const { id } of await real.listNetworks(mine)) await real.removeNetwork(id)
  for (const { name } of await real.listVolumes(mine)) await real.removeVolume(name)
})

describe('the fake engine answers as the real one does:', () => {
  for (const [title, scenario] of Object.entries(scenarios))
    test(
      title,
      async () => {
        count++
        const id = Bun.randomUUIDv7().slice(-12)
        labels = { 'test.conformance': id }
        const stage = (docker: Docker): Stage => ({
          docker,
          labels,
          name: (end) => `test-${id}-${end}`,
          subnet: `10.213.${count}.64/26`,
          port: 25_500 + count,
        })
        const answers = await Promise.all([
          scenario(stage(fakeDocker(new FakeEngine(clock), atOnce))),
          scenario(stage(real)),
        ])
        expect(answers[0]).toEqual(answers[1])
      },
      60_000,
    )
})
