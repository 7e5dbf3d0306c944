/* Stores what one container writes with restic in another, reads it into nothing, and prints the seconds of both. */
import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { bareRestic } from '../backups/restic/bare-restic.ts'

const { bytes, ...given } = JSON.parse(process.argv[2]!) as { bytes: number } & Parameters<
  typeof bareRestic
>[0]
const { docker, restic } = bareRestic(given)
const { signal } = new AbortController()
await restic.prepare({ signal })

const dump = (to: Writable) =>
  docker
    .runPiped({
      name: `test-bench-${crypto.randomUUID()}`,
      image: 'busybox:latest',
      labels: { 'davit.instance': given.instanceId },
      network: 'none',
      command: [
        ...['sh', '-c'],
        `head -c ${bytes} /dev/urandom && printf %s "$DAVIT_END" && read -r _; :`,
      ],
      ...{ memoryBytes: 64 * 2 ** 20, cpus: 1, pidsLimit: 16, isMarked: true },
      async stdout(from) {
        await pipeline(hashed(from, hashes.stored), to)
      },
    })
    .then(() => {})

const hashes = { stored: new Bun.CryptoHasher('sha1'), read: new Bun.CryptoHasher('sha1') }

async function* hashed(from: AsyncIterable<Uint8Array>, hash: Bun.CryptoHasher) {
  for await (const chunk of from) {
    hash.update(chunk)
    yield chunk
  }
}

const started = performance.now()
const { id } = await restic.store({ file: 'dump', tags: ['bench'], from: dump, signal })
const stored = performance.now()
await restic.read({
  ...{ snapshot: id, file: 'dump', signal },
  async to(from) {
    for await (const _ of hashed(from, hashes.read)) continue
  },
})
if (hashes.stored.digest('hex') !== hashes.read.digest('hex'))
  throw new Error('What was read differs from what was stored')
const seconds = { store: (stored - started) / 1000, read: (performance.now() - stored) / 1000 }
process.stdout.write(JSON.stringify(seconds))
process.exit(0)
