import { expect, test } from 'bun:test'
import { FrameSplitter } from '../../src/docker/log-entries.ts'

const frame = (stream: number, text: string) =>
  Buffer.concat([Buffer.from([stream, 0, 0, 0, 0, 0, 0, text.length]), Buffer.from(text)])

test('frames are found wherever the connection cuts them', () => {
  const bytes = Buffer.concat([frame(1, 'one\n'), frame(2, ''), frame(2, 'oh\n'), frame(1, 'two')])
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
