import { describe, test } from 'bun:test'
import { bothTries, deployment, stopAndRestart } from './apps.ts'
import { releaseCommand, run } from './commands.ts'
import { deploymentByEdge, watchedRelease } from './edge.ts'
import { killDuring } from './harness.ts'
import { watchRounds } from '../load/load.ts'
import { service } from './services.ts'
import { stack } from './stack.ts'
import type { Operation } from './harness.ts'

const operations: Record<string, Operation> = {
  'a deployment of several processes': deployment,
  'a deployment behind the edge, under load': deploymentByEdge,
  'a version that is watched, under load': watchedRelease,
  'both tries of a deployment': bothTries,
  'a stop, a start and a restart of an app': stopAndRestart,
  'a run of a command': run,
  'a release command': releaseCommand,
  'a deployment of a Compose file': stack,
  'a start and a change of a service': service,
}

describe('Davit comes back, and nothing is lost, stuck or left over, after its end during', () => {
  for (const [name, operation] of Object.entries(operations))
    test(name, () => killDuring(operation), 400_000 + watchRounds * 60_000)
})
