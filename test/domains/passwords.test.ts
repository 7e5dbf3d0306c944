import { expect, spyOn, test } from 'bun:test'
import { hashPassword, isPassword } from '../../src/accounts/passwords.ts'
import { hashAccounts } from '../../src/domains/save.ts'

test('many passwords of domains delay no login, and too many are refused', async () => {
  const known = await hashPassword('correct horse')
  const { promise, resolve } = Promise.withResolvers<string>()
  using hash = spyOn(Bun.password, 'hash').mockReturnValue(promise)
  const ask = () => hashAccounts([{ username: 'ada', password: 'secret' }])
  const waiting = Array.from({ length: 11 }, ask)
  expect(await ask().catch(({ code }) => code)).toBe('unavailable')
  expect(await isPassword('correct horse', known)).toBe(true)
  resolve('hashed')
  expect(await Promise.all(waiting)).toEqual(
    Array.from({ length: 11 }, () => [{ username: 'ada', hash: 'hashed' }]),
  )
  expect(hash).toHaveBeenCalledTimes(11)
})
