import { expect, onTestFinished, test } from 'bun:test'
import { openDatabase } from '../../src/db/index.ts'
import { labelsFor } from '../../src/docker/labels.ts'
import { contentsOf } from '../../src/server/move/contents.ts'
import { sandbox } from '../docker/sandbox.ts'
import { buildTestImage } from '../support/images.ts'

const { docker, labels, name, tag, options } = sandbox()

test('an image that lost its name to a newer one keeps it, and volumes of others are listed', async () => {
  const instanceId = name()
  const davits = labelsFor({ instanceId, kind: 'service', ownerId: 'ada' })
  const image = tag()
  const make = async (text: string) => {
    const id = await buildTestImage(docker, {
      tag: image,
      dockerfile: `FROM busybox:latest\nRUN echo ${name()} ${text} > /made\nVOLUME /kept\n`,
    })
    const container = await docker.createContainer({
      ...{ ...options(), image, labels: { ...labels, ...davits } },
    })
    return { id, container }
  }
  const looked = () => contentsOf({ db: openDatabase(':memory:'), docker, instanceId })

  const first = await make('first')
  onTestFinished(async () => {
    await docker.removeContainer(first.container, { force: true, volumes: true })
    await docker.removeImage(first.id, { force: true })
  })
  expect(await looked()).toMatchObject({
    images: [{ id: first.id, tag: image, shown: image }],
    others: [{ of: expect.any(String), name: expect.stringMatching(/^[0-9a-f]{64}$/) }],
  })
  const newer = await buildTestImage(docker, {
    tag: image,
    dockerfile: `FROM busybox:latest\nRUN echo ${name()} newer > /made\n`,
  })
  expect((await looked()).images).toMatchObject([{ id: first.id, tag: image, shown: image }])
  await docker.createContainer({ ...options(), image, labels: { ...labels, ...davits } })
  const { images } = await looked()
  expect(new Map(images.map(({ id, tag }) => [id, tag]))).toEqual(
    new Map([
      [first.id, null],
      [newer, image],
    ]),
  )
})

test('a volume of what was deleted is listed as left out', async () => {
  const [instanceId, volume] = [name(), name()]
  const own = labelsFor({ instanceId, kind: 'service', ownerId: 'ada', serviceId: 'deleted' })
  await docker.createVolume({ name: volume, labels: { ...labels, ...own } })
  const { others } = await contentsOf({ db: openDatabase(':memory:'), docker, instanceId })
  expect(others).toEqual([{ of: null, name: volume }])
})
