import { test } from 'bun:test'
import { onThreeServers } from './three-servers.ts'

// The scenes themselves are in edges.ts, which runs in the network of the first server.

test(
  'two edges serve apps of three servers',
  () => onThreeServers('./test/engines/edges.ts'),
  900_000,
)
