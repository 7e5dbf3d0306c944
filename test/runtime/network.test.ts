import { expect, test } from 'bun:test'
import { labelFilter, labelsFor } from '../../src/docker/labels.ts'
import { ensureNetwork } from '../../src/runtime/network.ts'
import { testApp } from '../support/app.ts'

test('a network that many need at once is created once, and of two of a name one goes', async () => {
  const t = testApp()
  const projectId = Bun.randomUUIDv7()
  const wanted = {
    name: `davit-${projectId}`,
    filter: labelFilter(t.instanceId, { projectId }),
    labels: labelsFor({ instanceId: t.instanceId, kind: 'app', ownerId: 'ada', projectId }),
    signal: new AbortController().signal,
  }
  const count = async () => (await t.docker.listNetworks({ labels: wanted.filter })).length
  await Promise.all(Array.from({ length: 4 }, () => ensureNetwork(t, wanted)))
  expect(await count()).toBe(1)

  const { name, labels } = wanted
  const [{ id } = { id: '' }] = await t.docker.listNetworks({ labels: wanted.filter })
  await t.docker.removeNetwork(id)
  await Promise.allSettled([1, 2, 3].map(() => t.docker.createNetwork({ name, labels })))
  expect(await ensureNetwork(t, wanted)).toBe(name)
  expect(await count()).toBe(1)
})
