import { afterEach, describe, expect, test } from 'bun:test'
import { connectDocker } from '../../../src/docker/index.ts'
import type { Docker } from '../../../src/docker/index.ts'
import { atOnce, realClock } from './at-once.ts'
import { fakeDocker } from './docker.ts'
import { FakeEngine } from './engine.ts'
import { pauseScenarios } from './pause.ts'
import { scenarios } from './scenarios.ts'
import type { Stage } from './stage.ts'

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
  for (const [title, scenario] of Object.entries({ ...scenarios, ...pauseScenarios }))
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
          scenario(stage(fakeDocker(new FakeEngine(realClock), atOnce))),
          scenario(stage(real)),
        ])
        expect(answers[0]).toEqual(answers[1])
      },
      60_000,
    )
})
