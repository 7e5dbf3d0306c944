import { expect, test } from 'bun:test'
import { readFrames } from '../../src/docker/frames.ts'
import { collect } from './sandbox.ts'

const frame = (stream: number, text: string) =>
  Buffer.concat([Buffer.from([stream, 0, 0, 0, 0, 0, 0, text.length]), Buffer.from(text)])

test('frames are found wherever the connection cuts them', async () => {
  const bytes = Buffer.concat([frame(1, 'one\n'), frame(2, ''), frame(2, 'oh\n'), frame(1, 'two')])
  for (let size = 1; size <= bytes.length; size++) {
    const chunks = async function* () {
      for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size)
    }
    const frames = await collect(readFrames(chunks()))
    expect(frames.map(({ stream, bytes }) => [stream, Buffer.from(bytes).toString()])).toEqual([
      ['stdout', 'one\n'],
      ['stderr', ''],
      ['stderr', 'oh\n'],
      ['stdout', 'two'],
    ])
  }
})
