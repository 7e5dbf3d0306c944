import { expect, test } from 'bun:test'
import {
  defaultBranch,
  followedInWords,
  follows,
  needsRef,
} from '../../src/environments/followed.ts'

type Case = {
  branch?: string | null
  tags?: string | null
  /** The project's. */
  inherited?: string | null
  deploys: string[]
  not: string[]
  byHand: string | null | 'asks'
  said: string
}

/** A ref as `branch main`; HEAD is the branch `main`. */
const cases: Case[] = [
  {
    deploys: ['branch main'],
    not: ['branch dev', 'tag main'],
    byHand: null,
    said: 'default branch',
  },
  {
    ...{ inherited: 'dev', deploys: ['branch dev', 'tag dev'], not: ['branch main'] },
    ...{ byHand: 'dev', said: 'dev' },
  },
  {
    ...{ branch: 'v1', inherited: 'dev', deploys: ['branch v1', 'tag v1'], not: ['branch dev'] },
    ...{ byHand: 'v1', said: 'v1' },
  },
  {
    ...{ branch: 'release/*', inherited: 'dev', deploys: ['branch release/1'] },
    ...{ not: ['branch dev', 'branch main', 'tag release/1'], byHand: 'asks', said: 'release/*' },
  },
  {
    ...{ tags: 'v*', inherited: 'dev', deploys: ['tag v1'] },
    ...{
      not: ['branch v1', 'branch dev', 'branch main', 'tag x'],
      byHand: 'asks',
      said: 'tags v*',
    },
  },
  {
    ...{ branch: 'main', tags: 'v*', deploys: ['branch main', 'tag v1', 'tag main'] },
    ...{ not: ['branch v1'], byHand: 'main', said: 'main, tags v*' },
  },
  {
    ...{ branch: 'r/*', tags: 'v[0-9]', deploys: ['branch r/x', 'tag v1'] },
    ...{ not: ['tag r/x', 'branch v1'], byHand: 'asks', said: 'r/*, tags v[0-9]' },
  },
]

test.each(cases)('%j', ({ branch = null, tags = null, inherited = null, ...expected }) => {
  const of = { environment: { branch, tags }, project: { branch: inherited } }
  const deploys = (ref: string) => {
    const [type, name] = ref.split(' ') as ['branch' | 'tag', string]
    return follows(of, { type, name, isDefault: name === 'main' })
  }
  const all = [...expected.deploys, ...expected.not]
  expect(all.filter(deploys)).toEqual(expected.deploys)
  expect(needsRef(of) ? 'asks' : defaultBranch(of)).toBe(expected.byHand)
  expect(followedInWords(of)).toBe(expected.said)
})
