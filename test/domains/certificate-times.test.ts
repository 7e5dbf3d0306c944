import { expect, test } from 'bun:test'
import {
  keepCertificates,
  listByTime,
  longestWait,
  setCertificate,
} from '../../src/domains/certificate-store.ts'
import { testApp } from '../support/app.ts'

test('a clock that was ahead doesn’t keep a host from its next look', () => {
  const { db } = testApp()
  const now = new Date()
  const inSoLong = (milliseconds: number) => new Date(now.getTime() + milliseconds)
  const times = {
    'limited.test': inSoLong(longestWait),
    'soon.test': inSoLong(1000),
    'stranded.test': inSoLong(365 * 86_400_000),
    'ahead.test': inSoLong(3 * 86_400_000 + 1000),
    'again.test': inSoLong(2000),
  }
  const ahead = { checkedAt: inSoLong(3 * 86_400_000) }
  keepCertificates(db, new Set(Object.keys(times)), now)
  for (const [host, nextTryAt] of Object.entries(times))
    setCertificate(db, host, { nextTryAt, ...(/^a/.test(host) && ahead) })
  const { due, next } = listByTime(db, now)
  expect(due.map(({ host }) => host)).toEqual(['ahead.test', 'stranded.test'])
  expect(next).toEqual(times['soon.test'])
})
