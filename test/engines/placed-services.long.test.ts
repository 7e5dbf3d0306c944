import { test } from 'bun:test'
import { ensureServiceImages } from '../support/machine.ts'
import { onThreeServers } from './three-servers.ts'

// The scenes themselves are in placed-services.ts.

test('services and their volumes are on other servers', async () => {
  await ensureServiceImages({ say: console.error })
  await onThreeServers('./test/engines/placed-services.ts')
}, 900_000)
