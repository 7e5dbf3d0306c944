import { test } from 'bun:test'
import { onThreeServers } from './three-servers.ts'

// The scenes themselves are in placed-apps.ts, which runs in the network of the first server.

test('apps run on three servers', () => onThreeServers('./test/engines/placed-apps.ts'), 600_000)
