import { expect, test } from 'bun:test'
import { buildTestImage } from '../support/images.ts'
import { sandbox } from './sandbox.ts'

const s = sandbox()
const { docker } = s

test('shows what containers, volumes and images take, and what uses what', async () => {
  const volume = s.name()
  await docker.createVolume({ name: volume, labels: s.labels })
  const network = s.name()
  await docker.createNetwork({ name: network, labels: s.labels, subnet: '10.213.7.0/28' })
  const id = await s.run('head -c 200000 /dev/zero > /kept; head -c 70000 /dev/zero > /data/a', {
    volumes: [{ name: volume, path: '/data' }],
    network,
  })
  await s.ended(id)
  const use = await docker.diskUse()

  const container = use.containers.find((found) => found.id === id)!
  expect(container).toMatchObject({ state: 'exited', volumes: [volume], labels: s.labels })
  expect(container.networks).toEqual([network]) // though it does not run
  expect(container.size).toBeGreaterThanOrEqual(200_000)
  const found = use.volumes.find(({ name }) => name === volume)!
  expect(found).toMatchObject({ labels: s.labels })
  expect(found.size).toBeGreaterThanOrEqual(70_000)
  const image = use.images.find(({ id }) => id === container.imageId)!
  expect(image.tags).toContain('busybox:latest')
  expect(image.size).toBeLessThanOrEqual(use.layersSize)
})

test('an image says which of its bytes are another’s too', async () => {
  const tag = s.tag()
  const dockerfile = 'FROM busybox:latest\nRUN head -c 300000 /dev/urandom > /kept\n'
  const id = await buildTestImage(docker, { tag, dockerfile })
  const { images } = await docker.diskUse()
  const image = images.find((found) => found.id === id)!
  expect(image.tags).toEqual([tag])
  expect(image.size - image.sharedSize).toBe(300_000)
})

test('removes one entry of the build cache, and its parents only after it', async () => {
  const tag = s.tag()
  const before = new Set((await docker.diskUse()).buildCache.map(({ id }) => id))
  const dockerfile = `FROM busybox:latest\nRUN head -c 1000 /dev/urandom > /a\nRUN echo ${tag} > /b\n`
  await buildTestImage(docker, { tag, dockerfile })
  await docker.removeImage(tag)
  const cache = async () => (await docker.diskUse()).buildCache
  const mine = (await cache()).filter(
    ({ id, description }) => !before.has(id) && /exec .*(urandom|\/b$)/.test(description),
  )
  const child = mine.find(({ description }) => description.includes(tag))!
  const parent = mine.find(({ id }) => child.parents.includes(id))!
  expect(parent).toMatchObject({ size: 1000, inUse: false, shared: false })

  expect(await docker.removeBuildCache(parent.id)).toBeNull()
  expect(await docker.removeBuildCache(child.id)).toBe(child.size)
  expect(await docker.removeBuildCache(parent.id)).toBe(1000)
  expect(await docker.removeBuildCache(parent.id)).toBeNull()
  const left = (await cache()).map(({ id }) => id)
  expect(left).not.toContain(parent.id)
  expect(left).not.toContain(child.id)
})

test('an id of the build cache is no pattern', async () => {
  const tag = s.tag()
  await buildTestImage(docker, { tag, dockerfile: `FROM busybox:latest\nRUN echo ${tag} > /a\n` })
  const mine = async () =>
    (await docker.diskUse()).buildCache.some(({ description }) => description.includes(tag))
  expect(await mine()).toBe(true)
  for (const id of ['.*', '', 'a|b', '[a-z]*']) expect(await docker.removeBuildCache(id)).toBeNull()
  expect(await mine()).toBe(true)
})

test('knows the folder of the engine', async () => {
  expect((await docker.machine()).folder).toStartWith('/')
})

test('two who ask at once are both told, though the engine looks for one at a time', async () => {
  const [one, other] = await Promise.all([docker.diskUse(), docker.diskUse()])
  for (const { images } of [one, other])
    expect(images.some(({ tags }) => tags.includes('busybox:latest'))).toBe(true)
})
