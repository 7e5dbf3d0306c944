import { expect, test } from 'bun:test'
import { FrameParts, FrameSplitter } from '../../src/docker/log-entries.ts'

const frame = (stream: number, text: string) =>
  Buffer.concat([Buffer.from([stream, 0, 0, 0, 0, 0, 0, text.length]), Buffer.from(text)])

const bytes = Buffer.concat([frame(1, 'one\n'), frame(2, ''), frame(2, 'oh\n'), frame(1, 'two')])

test('frames are found wherever the connection cuts them', () => {
  for (let size = 1; size <= bytes.length; size++) {
    const splitter = new FrameSplitter()
    const frames: [string, string][] = []
    for (let from = 0; from < bytes.length; from += size)
      splitter.push(bytes.subarray(from, from + size), (stream, lent, start, end) =>
        frames.push([stream, lent.toString('utf8', start, end)]),
      )
    expect(frames).toEqual([
      ['stdout', 'one\n'],
      ['stderr', ''],
      ['stderr', 'oh\n'],
      ['stdout', 'two'],
    ])
  }
})

test('parts of frames are passed on as they arrive, and are of the chunk’s own memory', () => {
  for (let size = 1; size <= bytes.length; size++) {
    const frames = new FrameParts()
    const texts = { stdout: '', stderr: '' }
    for (let from = 0; from < bytes.length; from += size) {
      const chunk = Uint8Array.from(bytes.subarray(from, from + size))
      frames.push(chunk, (stream, part) => {
        expect(part.buffer).toBe(chunk.buffer)
        texts[stream] += Buffer.from(part).toString()
      })
    }
    expect(texts).toEqual({ stdout: 'one\ntwo', stderr: 'oh\n' })
  }
})
