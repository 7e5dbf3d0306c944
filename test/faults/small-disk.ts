import { appendFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DavitClient } from '../demo/client.ts'
import { requireRoot, run } from '../support/machine/command.ts'
import { until } from '../support/until.ts'

/** MiB; little is soon full. */
const size = 12

/** A place for Davit's data, and a file of others beside it. */
export async function aSmallDisk() {
  requireRoot('a small disk')
  const path = await mkdtemp(join(tmpdir(), 'davit-disk-'))
  const mounted = await run(['mount', '-t', 'tmpfs', '-o', `size=${size}m`, 'davit-disk', path])
  if (mounted.exitCode !== 0) throw new Error(`A small disk is not mounted: ${mounted.output}`)
  const dataDir = join(path, 'data')
  await mkdir(dataDir)
  return {
    dataDir,
    /** What takes the room, and is not ours. */
    others: join(path, 'others'),
    async [Symbol.asyncDispose]() {
      await run(['umount', path])
      await rm(path, { recursive: true, force: true })
    },
  }
}

/** Others fill the disk to its last byte. */
export function takeAll(path: string) {
  const zeros = Buffer.alloc(65_536)
  for (let length = zeros.length; length > 0; length >>= 1)
    try {
      for (;;) appendFileSync(path, zeros.subarray(0, length))
    } catch {
      // no room for so much; for less there may be
    }
}

/** Fills the disk again and again, because Davit gives up what it has. */
export const fill = (client: DavitClient, disk: { others: string }) =>
  until(() => {
    takeAll(disk.others)
    const project = { name: Bun.randomUUIDv7(), repositoryUrl: 'https://git.example.com/a/b.git' }
    return client.post('/projects', project).then(
      () => false,
      (error: Error) => error.message.includes('disk_full'),
    )
  })
