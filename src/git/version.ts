import { tmpdir } from 'node:os'
import { runGit } from './run.ts'

/** The oldest git with all that is used here. */
export const oldestGit = '2.37'

/** Such as `2.39.5`; throws a Failure when there is no git. */
export async function gitVersion({ signal }: { signal: AbortSignal }) {
  const limit = 10_000
  const deadlines = { command: limit, transfer: limit, silence: limit }
  const setup = { home: tmpdir(), allowLocal: false, deadlines }
  const said = (await runGit(setup, { command: 'version', signal })).toString('utf8')
  return /\d+(\.\d+)+/.exec(said)?.[0] ?? said.trim()
}
