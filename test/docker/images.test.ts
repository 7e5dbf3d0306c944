import { expect, test } from 'bun:test'
import { buildTestImage } from '../support/images.ts'
import { sandbox } from './sandbox.ts'

const s = sandbox()
const { docker } = s

test('an image that several calls remove at once is gone for each of them', async () => {
  for (let round = 0; round < 3; round++) {
    const tags = Array.from({ length: 4 }, () => s.tag())
    const dockerfile = `FROM busybox:latest\nRUN echo ${tags[0]} > /made\n`
    const id = await buildTestImage(docker, { tag: tags[0]!, dockerfile })
    for (const tag of tags.slice(1)) await docker.tagImage(id, tag)
    await Promise.all([...tags, ...tags].map((tag) => docker.removeImage(tag)))
    expect(await docker.hasImage(id)).toBe(false)
  }
})
