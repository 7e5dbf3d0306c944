import { test } from 'bun:test'
import { ensureRestic } from '../support/images/restic.ts'
import { ensureServiceImages } from '../support/machine.ts'
import { onThreeServers } from './three-servers.ts'

// The scenes themselves are in move.ts.

test('services and apps move between servers with their data, also when Davit is killed', async () => {
  await ensureServiceImages({ say: console.error })
  process.env.DAVIT_RESTIC_IMAGE = await ensureRestic('0.18')
  await onThreeServers('./test/engines/move.ts')
}, 3_600_000)
