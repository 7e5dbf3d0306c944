import { describe, expect, spyOn, test } from 'bun:test'
import { hashPassword, isCommonPassword, isPassword } from '../../src/accounts/passwords.ts'
import commonPasswords from '../../src/accounts/common-passwords.txt' with { type: 'text' }
import { costlyHash } from './visitor.ts'

describe('a hash', () => {
  test('is argon2id with 19 MiB and 2 passes, salted', async () => {
    using _ = spyOn(Bun.password, 'hash').mockImplementation(costlyHash)
    const [one, two] = [await hashPassword('the same'), await hashPassword('the same')]
    expect(one).toStartWith('$argon2id$v=19$m=19456,t=2,p=1$')
    expect(one).not.toBe(two)
    expect([await isPassword('the same', one), await isPassword('the same', two)]).toEqual([
      true,
      true,
    ])
  })

  test('fits one password only, to its last character', async () => {
    const long = 'x'.repeat(255)
    const hash = await hashPassword(`${long}a`)
    expect(await isPassword(`${long}b`, hash)).toBe(false)
    expect(await isPassword(long, hash)).toBe(false)
  })

  test('that is missing fits none', async () => {
    expect(await isPassword('', null)).toBe(false)
  })
})

test('the event loop turns while passwords are hashed', async () => {
  using _ = spyOn(Bun.password, 'hash').mockImplementation(costlyHash)
  let turns = 0
  let isDone = false
  const turn = () => {
    turns += 1
    if (!isDone) setImmediate(turn)
  }
  turn()
  await Promise.all(Array.from({ length: 4 }, () => hashPassword('correct horse')))
  isDone = true
  expect(turns).toBeGreaterThan(50)
})

describe('the list of common passwords', () => {
  const list = commonPasswords.trimEnd().split('\n')

  test('has 3,000 different ones that the length rule does not refuse', () => {
    expect([list.length, new Set(list).size]).toEqual([3000, 3000])
    expect(list.filter((password) => [...password].length < 8)).toEqual([])
    expect(list.filter((password) => password !== password.toLowerCase())).toEqual([])
  })

  test.each(['password', 'PassWord', '12345678', 'qwertyuiop', 'iloveyou'])('has %s', (password) =>
    expect(isCommonPassword(password)).toBe(true),
  )

  test.each(['', 'password ', 'correct horse', 'constructor', '__proto__'])(
    'lacks %p',
    (password) => expect(isCommonPassword(password)).toBe(false),
  )
})
