import { expect, test } from 'bun:test'
import { stateInWords } from '../../src/web/status-badge.tsx'
import { changeNote } from '../../src/containers/log-note.ts'

const seen = { state: 'running', exitCode: 0, oomKilled: false, startedAt: new Date(0) } as const

/** What is said of a container that has ended so. */
const said = (exitCode: number, oomKilled: boolean) => {
  const now = { ...seen, state: 'exited', exitCode, oomKilled } as const
  return [
    stateInWords({ ...now, health: null, looping: false }),
    changeNote(seen, now)!.events('json').includes('out of memory'),
  ]
}

test.each([
  ['was killed for its memory', 137, true, ['out of memory', true]],
  ['was killed by someone else', 137, false, ['stopped', false]],
  ['was stopped after the kernel had killed a part of it', 143, true, ['stopped', false]],
  ['failed after the kernel had killed a part of it', 1, true, ['failed (1)', false]],
])('a container that %s', (_, exitCode, oomKilled, expected) =>
  expect(said(exitCode, oomKilled)).toEqual(expected),
)
