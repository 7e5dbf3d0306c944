/* Stores half of a stream, says so, and waits to be killed. Its argument says where. */
import { bareRestic } from './bare-restic.ts'
import { write } from './write.ts'

const { restic } = bareRestic(JSON.parse(process.argv[2]!))
await restic.gather({
  file: 'dump',
  tags: ['backup=killed'],
  signal: new AbortController().signal,
  async from(to) {
    await write(crypto.getRandomValues(new Uint8Array(50_000)))(to)
    process.stdout.write('half\n')
    await new Promise(() => setInterval(() => {}, 1000))
  },
})
