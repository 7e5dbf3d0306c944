import { describe, expect, test } from 'bun:test'
import { connectDocker } from '../../src/docker/index.ts'
import { buildTestImage } from '../support/images.ts'
import { until } from '../support/until.ts'
import { answer, fakeEngine } from './fake-engine.ts'
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

describe('an image that is sent to an engine', () => {
  const begin = 'HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n'

  test('and whose archive breaks off fails with the archive’s own error', async () => {
    const host = await fakeEngine(({ socket }) => void socket.write(begin))
    async function* archive() {
      yield new Uint8Array(512)
      await Bun.sleep(50)
      throw new Error('the first engine went away')
    }
    const load = connectDocker({ host }).loadImage(archive())
    await expect(load).rejects.toThrow('the first engine went away')
  })

  test.each(['refuses it', 'is given up'])('that %s is no longer read', async (how) => {
    const cancel = new AbortController()
    const host = await fakeEngine(({ socket }) => {
      if (how === 'refuses it') answer(socket, 500, '{"message":"no space left"}')
      else cancel.abort(new Error('cancelled'))
      socket.pause()
    })
    let isLeft = false
    async function* archive() {
      try {
        for (;;) yield new Uint8Array(65_536)
      } finally {
        isLeft = true
      }
    }
    const load = connectDocker({ host }).loadImage(archive(), { signal: cancel.signal })
    await expect(load).rejects.toThrow(how === 'refuses it' ? 'no space left' : 'cancelled')
    await until(() => isLeft)
  })
})
