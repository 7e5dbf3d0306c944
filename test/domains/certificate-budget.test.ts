import { expect, test } from 'bun:test'
import { CertificateBudget } from '../../src/domains/certificate-budget.ts'
import { testApp } from '../support/app.ts'

const hour = 3_600_000
const day = 24 * hour

function aBudget() {
  const t = testApp()
  const [bob, cid] = [t.logIn('bob@example.com'), t.logIn('cid@example.com')]
  const budget = new CertificateBudget({ db: t.db, config: { domain: 'davit.example' } })
  const take = (count: number, { user }: { user: { id: string } }, domain: string, now: number) =>
    Array.from({ length: count }, (_, at) => budget.take(user.id, `n${at}.${domain}`, now))
      .filter((waits) => waits !== null)
      .map(({ nextTryAt }) => nextTryAt!.getTime())
  return { t, bob, cid, budget, take }
}

test('a member has a share of the requests of three hours, and of a week below Davit’s domain', () => {
  const { bob, cid, take } = aBudget()
  const now = Date.now()
  expect(take(26, bob, 'davit.example', now)).toEqual([now + 7 * day])
  expect(take(76, bob, 'other.example', now)).toEqual([now + 3 * hour])
  expect(take(25, cid, 'davit.example', now)).toEqual([])
  expect(take(100, bob, 'other.example', now + 3 * hour)).toEqual([])
  expect(take(1, bob, 'davit.example', now + 7 * day - 1)).toEqual([now + 7 * day])
  expect(take(1, bob, 'davit.example', now + 7 * day)).toEqual([])
})

test('an admin, and names of Davit’s own, have no share', () => {
  const { t, budget } = aBudget()
  const { user } = t.logInAsAdmin()
  for (const owner of [user.id, null])
    for (let at = 0; at < 200; at++) expect(budget.take(owner, `n${at}.davit.example`)).toBeNull()
})
